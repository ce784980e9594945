"""Nodes as ranges in a baseline."""

from __future__ import annotations

import base64
import zlib

import pytest

from delegate_sim.errors import LimitError
from delegate_sim.foundation import work_budget
from delegate_sim.gate import baseline_content as packing
from delegate_sim.gate.baseline_content import ranges, read_ranges, unpacked


def test_nodes_as_ranges():
    assert ranges({9, 3, 4, 5}) == "3-5,9"
    assert ranges(()) == ""
    for nodes in (set(), {0}, {0, 1, 5, 7, 8}):
        assert set(read_ranges(ranges(nodes))) == nodes
    for text in ("x", "5-3", "-1", "1-99999999999"):
        with pytest.raises(ValueError, match=r"invalid|range"):
            read_ranges(text)


def test_nodes_below_the_limit_are_read(monkeypatch):
    monkeypatch.setattr(packing, "_MOST_NODES", 10)
    assert read_ranges("9") == [9]
    with pytest.raises(ValueError, match="not a range of nodes"):
        read_ranges("10")


@pytest.mark.parametrize("text", ["a", "1-a", "3-2", "-1", "1--2", "1,", "16777216", "\u0661", "1" * 5000])
def test_a_text_that_is_no_range_is_not_quoted(text):
    with pytest.raises(ValueError, match=r"^there is a text that is not a range of nodes, such as 3-5$"):
        read_ranges(text)


def test_all_ranges_of_a_file_share_a_budget(monkeypatch):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 1000)
    with work_budget.work_budget():
        assert len(read_ranges("0-599")) == 600
        with pytest.raises(LimitError, match="reading the baseline takes more than the limit of 1,000 steps"):
            read_ranges("0-599")


def test_a_range_is_limited_before_it_is_expanded(monkeypatch):
    def expanded(*bounds):
        raise AssertionError(bounds)

    monkeypatch.setattr(packing, "range", expanded, raising=False)
    with pytest.raises(LimitError), work_budget.work_budget():
        read_ranges(f"0-{(1 << 24) - 1}")


def test_an_outline_that_expands_without_end_uses_up_the_budget(monkeypatch):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 10_000)
    text = base64.b64encode(zlib.compress(b"[" + bytes(50 << 20))).decode("ascii")
    with work_budget.work_budget(), pytest.raises(LimitError, match="reading the baseline"):
        unpacked(text)


@pytest.mark.parametrize(
    "item",
    ['["",[],[]]', '["",[],[' + ",".join(['["",0,[],[]]'] * 3) + "]]", '["",[' + ",".join(['["",""]'] * 20) + "],[]]"],
    ids=["subgraphs", "nodes", "inputs"],
)
def test_what_an_outline_has_uses_up_the_budget(monkeypatch, item):
    text = f"[{','.join([item] * 100)}]"
    content = base64.b64encode(zlib.compress(text.encode())).decode("ascii")
    assert len(unpacked(content)) == 100
    monkeypatch.setattr(work_budget, "_MOST_STEPS", len(text) // 6 + 800)
    with work_budget.work_budget(), pytest.raises(LimitError, match="reading the baseline"):
        unpacked(content)


@pytest.mark.parametrize("options", ["[]", '{"a":1}', "3", '"text"'])
def test_options_that_are_no_object_of_strings_are_refused(options):
    text = f'[["",[],[["ADD",1,[],[],{options}]]]]'
    with pytest.raises(ValueError, match="it is not an outline"):
        unpacked(base64.b64encode(zlib.compress(text.encode())).decode("ascii"))
