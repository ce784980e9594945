"""Rows of text laid out in columns."""

from __future__ import annotations

from delegate_sim_cli.text.elements.tables import table

ROWS = [
    ("model", "delegate", "nodes", "kernels", "first cause", "without it"),
    ("a.tflite", "nnapi", "1,200", "3", "operator:GELU:and-much-more", "100 %"),
]
NUMBERS = (2, 3)


def test_columns_that_fit_are_one_table():
    assert len(table(ROWS, NUMBERS, 90, 4, keys=2)) == 2


def test_columns_that_do_not_fit_are_a_table_of_their_own():
    lines = table(ROWS, NUMBERS, 62, 4, keys=2)
    assert [line.split() for line in lines if "delegate" in line] == [
        ["model", "delegate", "nodes", "kernels"],
        ["model", "delegate", "first", "cause", "without", "it"],
    ]


def test_no_column_is_hidden():
    lines = table(ROWS, NUMBERS, 40, 4, keys=2)
    assert lines == [
        "  model     delegate  nodes  kernels",
        "  a.tflite  nnapi     1,200        3",
        "",
        "  model     delegate  first cause",
        "  a.tflite  nnapi     operator:GELU:a...",
        "",
        "  model     delegate  without it",
        "  a.tflite  nnapi     100 %",
    ]


def test_only_text_at_the_end_of_a_line_is_cut():
    for width in range(30, 90):
        lines = table(ROWS, NUMBERS, width, 4, keys=2)
        assert all(len(line) <= width for line in lines)
        assert any("1,200" in line for line in lines), width
        assert any(line.endswith("100 %") for line in lines), width
