"""Several calls that replace nodes, one after another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.graph import calls
from delegate_sim.graph.calls import partition_in_calls
from delegate_sim.graph.graph import file_graphs
from delegate_sim.graph.partition import partition
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder


def graph_of(sources, stateful=()):
    """One node for each entry, which reads the results of the nodes before it that the entry names, or the input.

    The nodes ``stateful`` also read a variable.
    """
    builder = ModelBuilder()
    subgraph = builder.subgraph("main")
    results = [subgraph.input("x", "FLOAT32", [1])]
    variable = subgraph.input("v", "RESOURCE", [])
    for number, read in enumerate(sources):
        result = subgraph.tensor("r", "FLOAT32", [1])
        operands = [results[index % len(results)] for index in read] or results[:1]
        subgraph.node("ADD_N", [*operands, *([variable] if number in stateful else [])], [result])
        results.append(result)
    subgraph.outputs(*results[-2:])
    return file_graphs(load(builder.bytes()))[0]


GRAPHS = st.lists(st.lists(st.integers(0, 20), max_size=3), min_size=1, max_size=12)


@given(GRAPHS, st.sets(st.integers(0, 11)))
def test_one_call_is_the_partitioner_s(sources, taken):
    graph = graph_of(sources)
    nodes = sorted(node for node in taken if node < len(sources))
    found, expected = partition_in_calls(graph, [nodes], "kernel"), partition(graph, nodes)
    assert found.subsets == expected
    assert found.calls == (calls.ReplacingCall(len(nodes), len(sources), len(expected)),)


@given(GRAPHS, st.permutations(range(12)), st.integers(1, 5))
def test_each_call_takes_its_nodes_and_the_plan_still_runs(sources, order, count):
    graph = graph_of(sources)
    singles = [[node] for node in order if node < len(sources)][:count]
    found = partition_in_calls(graph, singles, "kernel")
    assert found.is_exact
    assert sorted(subset.nodes for subset in found.subsets if subset.is_delegated) == sorted(map(tuple, singles))
    made = set(graph.inputs)
    for subset in found.subsets:
        assert made.issuperset(subset.inputs)
        made.update(tensor for node in subset.nodes for tensor in graph.nodes[node].outputs)
        assert made.issuperset(subset.outputs)
    assert sorted(node for subset in found.subsets for node in subset.nodes) == list(range(len(sources)))


@given(GRAPHS, st.permutations(range(12)), st.integers(1, 5), st.sets(st.integers(0, 11)))
def test_calls_together_do_what_calls_one_after_another_do(sources, order, count, stateful):
    graph = graph_of(sources, stateful)
    singles = [[node] for node in order if node < len(sources) and node not in stateful][:count]
    together = partition_in_calls(graph, singles, "kernel")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calls, "_in_single_calls", lambda graph, calls: None)
        patch.setattr(calls, "_MOST_CALLS", count)
        assert partition_in_calls(graph, singles, "kernel") == together


@pytest.mark.parametrize("limit", [{"_MOST_BITS": 24}, {"_MOST_CALLS": 2, "_in_single_calls": lambda graph, calls: None}])
def test_work_is_bounded(monkeypatch, limit):
    for name, value in limit.items():
        monkeypatch.setattr(calls, name, value)
    found = partition_in_calls(graph_of([[index] for index in range(6)]), [[0], [2], [4]], "kernel")
    assert not found.is_exact
    assert len(found.calls) == 2
    assert [subset.nodes for subset in found.subsets if subset.is_delegated] == [(0,), (2,), (4,)]
