from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim_cli.console.layout import counted, cut, item_list, name, node_list, ranges, wrapped


@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        ([], ""),
        ([7], "7"),
        ([3, 4, 5, 6, 7, 12], "3-7, 12"),
        ([0, 2, 3], "0, 2-3"),
    ],
)
def test_node_list(indices, expected):
    assert node_list(indices) == expected


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (17, "1, 3-9, 11, 13-20"),
        (30, "1, 3-9, 11, 13-20"),
        (16, "1, ... and 16 more"),
        (1, "1, ... and 16 more"),
    ],
)
def test_node_list_that_does_not_fit(room, expected):
    assert node_list([1, *range(3, 10), 11, *range(13, 21)], room) == expected


def test_as_many_as_fit_are_shown():
    assert node_list(range(0, 2000, 2), 40) == "0, 2, 4, 6, 8, 10, 12, ... and 993 more"
    assert item_list(["ADD 3", "MUL 2", "SUB 1"], 15) == "ADD 3, +2 more"


@pytest.mark.slow
@given(st.sets(st.integers(0, 60)))
def test_ranges_hold_the_indices(indices):
    found = ranges(sorted(indices))
    spans = [tuple(map(int, text.split("-"))) for text, _ in found]
    assert [number for span in spans for number in range(span[0], span[-1] + 1)] == sorted(indices)
    assert [size for _, size in found] == [span[-1] - span[0] + 1 for span in spans]


@pytest.mark.parametrize(("number", "expected"), [(0, "0 nodes"), (1, "1 node"), (1170, "1,170 nodes")])
def test_counted(number, expected):
    assert counted(number, "node") == expected


def test_names_are_cut_and_escaped():
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abc..."
    assert name("\x1b" * 100) == "\\x1b" * 14 + "\\..."


def test_wrapped():
    assert wrapped("one two three", 9, "- ", "  ") == ["- one two", "  three"]
    assert wrapped("unbreakable", 6) == ["unbrea", "kable"]
    assert wrapped("", 9) == [""]


def test_a_number_and_its_unit_stay_together():
    text = "the share of multiply-adds is 95.1 % of 12 ms and 30 bytes in 5 nodes"
    for width in range(16, 60):
        lines = wrapped(text, width)
        assert " ".join(lines) == text
        assert not any(line.startswith(("%", "ms", "bytes")) for line in lines)
