"""Nodes as ranges in a baseline."""

from __future__ import annotations

import pytest

from delegate_sim.gate.baseline import packing
from delegate_sim.gate.baseline.packing import ranges, read_ranges


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
