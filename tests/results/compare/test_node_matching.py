from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from delegate_sim import load
from delegate_sim.results.compare.model_changes import NodeChange, compare_outlines, match_nodes
from delegate_sim.results.compare.model_outline import Constant, NodeOutline, Output, SubgraphOutline, outline
from tests.support.gate_models import classifier, reshaper

OPS = ("ADD", "MUL", "CONV_2D", "RELU")


@st.composite
def subgraphs(draw):
    """A subgraph whose nodes read earlier results, the input and constants."""
    size = draw(st.integers(1, 12))
    names = ["x"]
    nodes = []
    for index in range(size):
        operands = draw(st.lists(st.one_of(st.sampled_from(names), st.just(Constant("FLOAT32[4]")), st.none()), max_size=3))
        nodes.append(NodeOutline(draw(st.sampled_from(OPS)), 1, tuple(operands), (Output(f"t{index}", "FLOAT32[4]"),)))
        names.append(f"t{index}")
    return SubgraphOutline("main", (Output("x", "FLOAT32[4]"),), tuple(nodes))


@st.composite
def reordered(draw):
    """A subgraph, and the same with its nodes in another order that respects what they read; and where each came from."""
    subgraph = draw(subgraphs())
    waiting = list(range(len(subgraph.nodes)))
    made = {"x"}
    order = []
    while waiting:
        ready = [
            index for index in waiting if all(name in made for name in subgraph.nodes[index].inputs if isinstance(name, str))
        ]
        index = draw(st.sampled_from(ready))
        waiting.remove(index)
        order.append(index)
        made.add(subgraph.nodes[index].name)
    return subgraph, replace(subgraph, nodes=tuple(subgraph.nodes[index] for index in order)), order


def renamed(subgraph: SubgraphOutline) -> SubgraphOutline:
    def new(name):
        return f"renamed/{name}"

    nodes = [
        replace(
            node,
            inputs=tuple(new(operand) if isinstance(operand, str) else operand for operand in node.inputs),
            outputs=tuple(Output(new(output.name), output.type) for output in node.outputs),
        )
        for node in subgraph.nodes
    ]
    return SubgraphOutline(subgraph.name, tuple(Output(new(name), kind) for name, kind in subgraph.inputs), tuple(nodes))


@given(reordered())
def test_names_find_every_node_in_any_order(case):
    old, new, order = case
    assert match_nodes(old, new) == dict(enumerate(order))


@given(subgraphs())
def test_structure_finds_nodes_whose_tensors_were_all_renamed(subgraph):
    matched = match_nodes(subgraph, renamed(subgraph))
    assert matched == {index: index for index in range(len(subgraph.nodes))}


@given(reordered())
def test_each_node_is_matched_once_and_with_its_operator(case):
    old, new, _ = case
    matched = match_nodes(old, renamed(new))
    assert len(set(matched.values())) == len(matched) == len(new.nodes)
    assert all(old.nodes[was].op == new.nodes[now].op for now, was in matched.items())


@given(subgraphs(), st.data())
def test_a_node_that_was_put_in_is_the_only_one_added(subgraph, data):
    place = data.draw(st.integers(0, len(subgraph.nodes)))
    inserted = NodeOutline("CAST", 1, ("x",), (Output("cast", "INT32[4]"),))
    new = replace(subgraph, nodes=(*subgraph.nodes[:place], inserted, *subgraph.nodes[place:]))
    matching = compare_outlines([subgraph], [new])
    assert [(change.node, change.what) for change in matching.changes] == [(place, "added")]
    back = compare_outlines([new], [subgraph])
    assert [(change.old_node, change.what) for change in back.changes] == [(place, "removed")]


def outline_of(builder):
    return outline(load(builder.bytes()))


def test_a_version_is_seen_behind_other_names_and_another_order():
    matching = compare_outlines(outline_of(classifier()), outline_of(classifier(9, names="v2/", swapped=True)))
    assert matching.old_of == ({0: 1, 1: 0, 2: 2, 3: 3},)
    (change,) = matching.changes
    assert change == NodeChange(0, 1, 0, "FULLY_CONNECTED", "v2/left", "version", "1", "9")


def test_an_operand_that_is_not_constant_any_more_is_named():
    matching = compare_outlines(outline_of(reshaper()), outline_of(reshaper(is_dynamic=True)))
    words = [(change.op, change.what, change.old, change.new) for change in matching.changes]
    assert ("RESHAPE", "input 1", "constant INT32[2]", "computed") in words
    assert ("", "subgraph input", "", "INT32[2]") in words


def test_subgraphs_come_and_go():
    one = outline_of(classifier())
    matching = compare_outlines(one, ())
    assert matching.old_of == ()
    assert {change.what for change in matching.changes} == {"removed", "subgraph input"}
    matching = compare_outlines((), one)
    assert matching.old_of == ({},)
    assert {change.what for change in matching.changes} == {"added", "subgraph input"}


def chain(ops, prefix="t"):
    """Nodes one after another, whose tensors are numbered as they come."""
    nodes = [
        NodeOutline(op, 1, (f"{prefix}{index - 1}" if index else "x",), (Output(f"{prefix}{index}", "FLOAT32[4]"),))
        for index, op in enumerate(ops)
    ]
    return SubgraphOutline("main", (Output("x", "FLOAT32[4]"),), tuple(nodes))


@given(st.lists(st.sampled_from(OPS), min_size=1, max_size=20), st.data())
def test_numbered_tensors_do_not_mislead(ops, data):
    place = data.draw(st.integers(0, len(ops)))
    changed = [*ops[:place], "CAST", *ops[place:]]
    matching = compare_outlines([chain(ops)], [chain(changed)])
    assert [(change.node, change.op, change.what) for change in matching.changes] == [(place, "CAST", "added")]


def test_a_node_matches_only_a_node_of_its_own_operator():
    matching = compare_outlines([chain(["ADD", "BATCH_MATMUL", "RELU"])], [chain(["ADD", "RESHAPE", "RELU"])])
    assert matching.old_of == ({0: 0, 2: 2},)
    assert [(change.op, change.what) for change in matching.changes] == [("RESHAPE", "added"), ("BATCH_MATMUL", "removed")]


def test_a_tensor_with_several_writers_and_readers():
    shared = (Output("h", "FLOAT32[4]"),)
    writers = [NodeOutline(op, 1, ("x",), shared) for op in ("RELU", "RELU", "ABS")]
    readers = [NodeOutline("NEG", 1, ("h",), (Output(f"y{number}", "FLOAT32[4]"),)) for number in range(3)]
    nodes = (*writers, readers[0], writers[0], *readers[1:])
    subgraph = SubgraphOutline("main", (Output("x", "FLOAT32[4]"),), nodes)
    assert match_nodes(subgraph, subgraph) == {index: index for index in range(len(nodes))}


@given(subgraphs(), st.data())
def test_known_origins_come_first_if_the_operator_is_the_same(subgraph, data):
    count = len(subgraph.nodes)
    origins = data.draw(st.permutations(range(count)))
    known = {index: origin for index, origin in enumerate(origins) if subgraph.nodes[index].op == subgraph.nodes[origin].op}
    assert known.items() <= match_nodes(subgraph, subgraph, origins).items()
