"""The layout in layers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.page.layered_layout import layered_layout
from delegate_sim.page.layout import _layered, _layers

CHAIN = [(0, 1), (1, 2)]
DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]


def placed(edges):
    return _layered(layered_layout(_layers(edges), edges))


def test_a_chain_is_one_column():
    assert placed(CHAIN) == {0: (0.0, 0.0), 1: (0.0, 1.0), 2: (0.0, 2.0)}


def test_a_node_is_in_the_middle_of_its_branches():
    places = placed(DIAMOND)
    assert places[0] == (0.5, 0.0)
    assert places[3] == (0.5, 2.0)
    assert {places[1], places[2]} == {(0.0, 1.0), (1.0, 1.0)}


def test_a_node_that_is_read_late_is_placed_late():
    assert placed([(0, 1), (1, 2), (2, 3), (4, 5), (5, 3)])[4][1] == 1


def test_edges_that_cross_are_uncrossed():
    """The order of the numbers would give three crossings."""
    places = placed([(0, 1), (0, 2), (0, 3), (1, 6), (2, 5), (3, 4), (4, 7), (5, 7), (6, 7)])
    assert [places[a][0] for a in (1, 2, 3)] == [places[b][0] for b in (6, 5, 4)]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=30))
def test_nodes_of_any_graph_do_not_overlap(edges):
    """Edges may also form a cycle, or lead from a node to itself."""
    connected = [(number, number + 1) for number in range(13)]
    places = layered_layout(_layers([*edges, *connected]), [*edges, *connected])
    rows: dict[float, list[float]] = {}
    for _, (x, y) in places:
        rows.setdefault(y, []).append(x)
    assert sorted(node for node, _ in places) == list(range(14))
    for row in rows.values():
        row.sort()
        assert all(b - a >= 1 - 1e-9 for a, b in zip(row, row[1:], strict=False))
