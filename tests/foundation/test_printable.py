from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.foundation.printable import command_line, percentages, printable, share, shortened, suggestion, typed_path


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


@pytest.mark.parametrize(
    ("fractions", "expected"),
    [
        ((1.0, 0.5), ["100 %", "50 %"]),
        ((0.97834, 0.84173), ["97.8 %", "84.1 %"]),
        ((0.399959,), ["39.9 %"]),
        ((0.84173, 0.84169, 0.84169), ["84.17 %", "84.16 %", "84.16 %"]),
        ((1.0, 0.9999999), ["100 %", "99.9 %"]),
        ((0.9999998, 0.9999999), ["99.99998 %", "99.99999 %"]),
        ((0.29, 0.0), ["29 %", "0 %"]),
    ],
)
def test_different_fractions_look_different_and_only_all_is_100_percent(fractions, expected):
    assert percentages(*fractions) == expected


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


_NAMES = ("nnapi", "gpu", "npu-google", "npu-intel", "tf-2.15", "tf-2.10", "litert-2.1")


@pytest.mark.parametrize(
    ("word", "clause"),
    [
        ("nnpai", "; did you mean nnapi?"),
        ("GPUU", "; did you mean gpu?"),
        ("npu", "; did you mean npu-google, npu-intel?"),
        ("2.15", "; did you mean tf-2.15?"),
        ("2.1", "; did you mean litert-2.1?"),
        ("other", ""),
        ("", ""),
    ],
)
def test_near_matches(word, clause):
    assert suggestion(word, _NAMES) == clause


def test_a_cutoff_leaves_out_names_that_are_less_similar():
    assert suggestion("tf-9", ("tf-2.19",)) == "; did you mean tf-2.19?"
    assert suggestion("tf-9", ("tf-2.19",), cutoff=0.75) == ""


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 0, "0 %"), (0, 5, "0 %"), (1, 1001, "< 0.1 %"), (1, 1000, "0.1 %"), (9997, 10000, "99.9 %"), (7, 7, "100 %")],
)
def test_only_nothing_is_0_percent_and_only_the_whole_is_100_percent(part, whole, text):
    assert share(part, whole) == text
