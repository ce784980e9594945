"""The partitioner against a literal, quadratic reading of the original's passes, and its documented cases."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.graph.graph import Graph, file_graph
from delegate_sim.graph.partition import PartitionError, Subset, partition
from delegate_sim.model.model import Allocation, Node
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder

NOT_READY = -1
ALWAYS_READY = -2


def make_graph(nodes, tensor_count, outputs=(), resources=(), control_edges=None):
    """A graph of ADDs whose nodes are (inputs, outputs); ``resources`` are tensors of variables."""
    builder = ModelBuilder()
    subgraph = builder.subgraph("main")
    for number in range(tensor_count):
        subgraph.tensor(f"t{number}", "RESOURCE" if number in resources else "FLOAT32", (1,))
    model = load(builder.bytes())
    template = file_graph(model, model.subgraphs[0])
    made = tuple(
        Node(index, "ADD", 0, None, 1, tuple(inputs), tuple(results), (), None, None)
        for index, (inputs, results) in enumerate(nodes)
    )
    return replace(
        template, nodes=made, outputs=tuple(outputs), execution_plan=tuple(range(len(made))), control_edges=control_edges
    )


class Passes:
    """Partition as literally as graph_info.cc does: scan all nodes until a scan changes nothing."""

    def __init__(self, graph: Graph, delegated):
        self.graph, self.delegated = graph, delegated
        self.nodes = [graph.nodes[index] for index in graph.execution_plan]
        self.edges = sorted(set(self._control_edges()))
        self.incoming = [sum(after == position for _, after in self.edges) for position in range(len(self.nodes))]
        self.tensor_epoch = [ALWAYS_READY] * len(graph.tensors)
        for node in self.nodes:
            for tensor in present(node.outputs):
                self.tensor_epoch[tensor] = NOT_READY
        self.node_epoch = [NOT_READY] * len(self.nodes)
        self.subsets = []
        """Of each: kind, nodes, inputs and outputs."""

    def _control_edges(self):
        """Those of the model, or a chain of the nodes with side effects."""
        if self.graph.control_edges is not None:
            return self.graph.control_edges
        tensors = self.graph.tensors
        stateful = [
            position
            for position, node in enumerate(self.nodes)
            if any(tensors[index].type == "RESOURCE" for index in present((*node.inputs, *node.outputs)))
        ]
        return zip(stateful, stateful[1:], strict=False)

    def run(self):
        """Return the subsets, None if some node never gets ready."""
        while True:
            self.subsets.append([None, [], set(), set()])
            self._fill()
            if not self.subsets[-1][1]:
                self.subsets.pop()
                break
        if NOT_READY in self.node_epoch:
            return None
        for tensor in present(self.graph.outputs):
            if self.tensor_epoch[tensor] >= 0:
                self.subsets[self.tensor_epoch[tensor]][3].add(tensor)
        return tuple(
            Subset(kind, tuple(nodes), tuple(sorted(inputs)), tuple(sorted(outputs)))
            for kind, nodes, inputs, outputs in self.subsets
        )

    def _fill(self):
        while True:
            changed = False
            for position in range(len(self.nodes)):
                if self._update(position):
                    changed = True
            if not changed:
                return

    def _update(self, position):
        """Add a node to the subset at hand, if it is ready and of its kind."""
        kind, *_ = subset = self.subsets[-1]
        if not self._is_ready(position):
            return False
        own = self.graph.execution_plan[position] in self.delegated
        if kind is None:
            subset[0] = kind = own
        if kind != own:
            return False
        self._add(position)
        return True

    def _is_ready(self, position):
        if self.node_epoch[position] != NOT_READY or self.incoming[position]:
            return False
        return all(self.tensor_epoch[tensor] != NOT_READY for tensor in present(self.nodes[position].inputs))

    def _add(self, position):
        node, epoch = self.nodes[position], len(self.subsets) - 1
        _, members, inputs, _ = self.subsets[-1]
        self.node_epoch[position] = epoch
        members.append(self.graph.execution_plan[position])
        for tensor in present(node.outputs):
            self.tensor_epoch[tensor] = epoch
        for tensor in present(node.inputs):
            if self.tensor_epoch[tensor] != epoch:
                inputs.add(tensor)
                if self.tensor_epoch[tensor] >= 0:
                    self.subsets[self.tensor_epoch[tensor]][3].add(tensor)
        for before, after in self.edges:
            if before == position:
                self.incoming[after] -= 1


def present(tensors):
    """Return the tensors that are not left out."""
    return [tensor for tensor in tensors if tensor >= 0]


@st.composite
def graphs(draw):
    """Graphs of up to 14 nodes in any order, with optional, shared, doubly written and stateful tensors, and cycles."""
    tensor_count = draw(st.integers(1, 18))
    tensor = st.integers(-1, tensor_count - 1)
    nodes = draw(st.lists(st.tuples(st.lists(tensor, max_size=3), st.lists(tensor, min_size=1, max_size=2)), max_size=14))
    resources = draw(st.sets(st.integers(0, tensor_count - 1), max_size=2))
    position = st.integers(0, max(len(nodes) - 1, 0))
    edges = draw(st.none() | st.lists(st.tuples(position, position), max_size=4)) if nodes else None
    outputs = draw(st.lists(tensor, max_size=3))
    graph = make_graph(nodes, tensor_count, outputs, resources, tuple(edges) if edges is not None else None)
    return graph, draw(st.sets(st.integers(0, max(len(nodes) - 1, 0))))


@st.composite
def acyclic_graphs(draw):
    """Graphs in which each tensor has one producer, in running order or shuffled, with control edges that point forward."""
    count = draw(st.integers(1, 16))
    nodes = []
    for index in range(count):
        inputs = draw(st.lists(st.integers(-1, index), max_size=3))
        nodes.append((inputs, [index + 1]))
    order = draw(st.permutations(range(count))) if draw(st.booleans()) else range(count)
    position = st.integers(0, count - 1)
    pairs = draw(st.none() | st.lists(st.tuples(position, position), max_size=4)) if order == range(count) else None
    edges = None if pairs is None else tuple([(before, after) for before, after in pairs if before < after])
    graph = make_graph([nodes[index] for index in order], count + 1, [count], control_edges=edges)
    return graph, draw(st.sets(st.integers(0, count - 1)))


@given(graphs() | acyclic_graphs())
def test_same_subsets_as_the_original(case):
    graph, delegated = case
    expected = Passes(graph, delegated).run()
    if expected is None:
        with pytest.raises(PartitionError, match="some nodes wait for each other's results"):
            partition(graph, delegated)
    else:
        assert partition(graph, delegated) == expected


@given(acyclic_graphs())
def test_every_node_runs_once_and_after_its_operands(case):
    graph, delegated = case
    subsets = partition(graph, delegated)
    order = [node for subset in subsets for node in subset.nodes]
    assert sorted(order) == list(graph.execution_plan)
    made = {tensor for node in graph.nodes for tensor in node.outputs}
    ready = set(range(len(graph.tensors))) - made
    for index in order:
        assert {tensor for tensor in graph.nodes[index].inputs if tensor >= 0} <= ready
        ready.update(graph.nodes[index].outputs)
    assert all(set(subset.nodes) <= delegated or not set(subset.nodes) & delegated for subset in subsets)


def test_a_subset_gathers_nodes_past_others():
    graph = make_graph([([0], [1]), ([1], [2]), ([0], [3]), ([2, 3], [4])], 5, [4])
    assert [subset.nodes for subset in partition(graph, {0, 2, 3})] == [(0, 2), (1,), (3,)]


def test_a_model_input_that_is_also_an_output_belongs_to_no_subset():
    graph = make_graph([([0], [1])], 2, [0, 1])
    assert partition(graph, {0}) == (Subset(True, (0,), (0,), (1,)),)


def test_a_left_out_operand_is_always_ready():
    graph = make_graph([([0, -1], [1])], 2, [1])
    assert partition(graph, ()) == (Subset(False, (0,), (0,), (1,)),)


def test_a_left_out_result_is_no_tensor():
    """Its index is that of the last tensor, counted from the end."""
    graph = make_graph([([1], [-1, 0])], 2, [0])
    assert partition(graph, ()) == (Subset(False, (0,), (1,), (0,)),)


def test_a_result_of_the_graph_may_be_left_out():
    assert partition(make_graph([([0], [1])], 2, [-1]), {0}) == (Subset(True, (0,), (0,), ()),)


def test_the_tensor_of_index_0_may_be_the_result():
    assert partition(make_graph([([1], [0])], 2, [0]), {0}) == (Subset(True, (0,), (1,), (0,)),)


def test_a_tensor_that_two_nodes_write_is_waited_for_once():
    """Node 3 waits for node 4 too, although its other operand is written twice before."""
    graph = make_graph([([0], [1]), ([0], [2]), ([0], [2]), ([2, 3], [4]), ([2], [3])], 5, [4])
    assert [subset.nodes for subset in partition(graph, {0, 4})] == [(0,), (1, 2), (4,), (3,)]


def test_nodes_with_side_effects_keep_their_order():
    nodes = [([0], [1]), ([1], [2]), ([0], [3])]
    free = partition(make_graph(nodes, 4, [2, 3]), {0, 2})
    assert [subset.nodes for subset in free] == [(0, 2), (1,)]
    chained = partition(make_graph([([0, 4], [1]), ([1, 4], [2]), ([0, 4], [3])], 5, [2, 3], resources={4}), {0, 2})
    assert [subset.nodes for subset in chained] == [(0,), (1,), (2,)]


def test_control_edges_of_the_model_replace_the_chain():
    nodes = [([0, 4], [1]), ([1, 4], [2]), ([0, 4], [3])]
    graph = make_graph(nodes, 5, [2, 3], resources={4}, control_edges=((1, 2),))
    assert [subset.nodes for subset in partition(graph, {0, 2})] == [(0,), (1,), (2,)]
    assert [subset.nodes for subset in partition(replace(graph, control_edges=()), {0, 2})] == [(0, 2), (1,)]


THREE = [([0], [1]), ([0], [2]), ([0], [3])]
"""Nodes that do not read each other's results."""


def test_control_edges_from_and_to_the_first_and_the_last_node():
    graph = make_graph(THREE, 4, control_edges=((2, 0), (0, 1)))
    assert [subset.nodes for subset in partition(graph, {0})] == [(2,), (0,), (1,)]


@pytest.mark.parametrize("edge", [(-1, 0), (0, -1), (3, 0), (0, 3), (-300, 2), (2, 300)])
def test_control_edges_of_nodes_that_are_not_there_are_ignored(edge):
    graph = make_graph(THREE, 4, control_edges=(edge,))
    assert [subset.nodes for subset in partition(graph, {1})] == [(0, 2), (1,)]


def test_the_tensor_of_index_0_is_waited_for_as_any_other():
    """Node 1 waits for what node 0 writes, whichever its index."""
    graph = make_graph([([1], [0]), ([0], [2]), ([1], [3])], 4, [0, 3])
    assert [(subset.nodes, subset.inputs, subset.outputs) for subset in partition(graph, {1})] == [
        ((0, 2), (1,), (0, 3)),
        ((1,), (0,), ()),
    ]


def test_a_cycle_is_an_error():
    with pytest.raises(PartitionError, match="some nodes wait for each other's results"):
        partition(make_graph([([1], [0]), ([0], [1])], 2), {0})


def test_tensors_are_described_by_allocation():
    graph = make_graph([([0], [1])], 2, [1])
    assert {tensor.allocation for tensor in graph.tensors} == {Allocation.ARENA}
