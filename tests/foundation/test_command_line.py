"""Command lines that users copy."""

from __future__ import annotations

import shlex

import pytest

from delegate_sim.foundation.printable import command_line, typed_path


@pytest.mark.parametrize(
    ("path", "typed"),
    [
        (None, "-"),
        ("-", "-"),
        ("-m.tflite", "./-m.tflite"),
        ("--force", "./--force"),
        ("m.tflite", "m.tflite"),
        ("a/-m.tflite", "a/-m.tflite"),
    ],
)
def test_a_path_is_never_an_option(path, typed):
    assert typed_path(path) == typed


def test_a_shell_reads_the_words_again():
    words = ["analyze", typed_path("-my model;rm.tflite"), "--delegate", "gpu"]
    assert shlex.split(command_line(words)) == ["delegate-sim", *words]
