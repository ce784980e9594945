from __future__ import annotations

import pytest

from delegate_sim_cli.console.progress import _line


@pytest.mark.parametrize("width", [10, 24, 44, 60, 79])
@pytest.mark.parametrize("share", [-1.0, 0.0, 0.5, 2.0])
def test_a_line_is_never_wider_than_the_terminal(width, share):
    assert len(_line(f"trying passes on {'a/' * 60}model.tflite: a-pass", share, width)) <= width


def test_a_wide_line_has_a_bar_and_the_end_of_the_text():
    line = _line(f"12 of 99 models: {'folder/' * 20}model.tflite", 0.5, 79)
    assert line.startswith("[##########..........] 12 of 99")
    assert line.endswith("model.tflite")
