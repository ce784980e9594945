from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.foundation.printable import printable, shortened


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model.tflite", "model.tflite"),
        ("modèle 模型 🙂.tflite", "modèle 模型 🙂.tflite"),
        ("C:\\models\\a b.tflite", "C:\\models\\a b.tflite"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("two\nlines\r\x00", "two\\nlines\\r\\x00"),
        ("\x9b2J", "\\x9b2J"),
        ("a\u202egnp.\u2066", "a\\u202egnp.\\u2066"),
        ("line\u2028and\u2029paragraph", "line\\u2028and\\u2029paragraph"),
        ("\udcff", "\\udcff"),
        ("[bold]not markup[/bold]", "[bold]not markup[/bold]"),
    ],
)
def test_what_a_terminal_would_act_on_is_escaped(text, expected):
    assert printable(text) == expected


@given(st.text(st.characters()))
def test_the_result_is_one_printable_line(text):
    result = printable(text)
    assert result.isprintable()
    assert len(result.splitlines()) <= 1
    result.encode("utf-8")


@pytest.mark.parametrize(("text", "expected"), [("", ""), ("seven..", "seven.."), ("eight...", "eigh...")])
def test_long_text_is_shortened(text, expected):
    assert shortened(text, 7) == expected
