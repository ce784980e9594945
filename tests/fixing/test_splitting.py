"""Trailing nodes as a model of their own."""

from __future__ import annotations

import importlib.util

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from delegate_sim import load
from delegate_sim.errors import FixError
from delegate_sim.fixing.applying import start
from delegate_sim.fixing.fix import continuation, fix, second_path_of
from delegate_sim.fixing.flatbuffer.model_writing import write
from delegate_sim.fixing.search import search, split_tail
from delegate_sim.fixing.splitting import first_model, second_model, trailing
from delegate_sim.hypothetical.model_editing import NodeKey
from delegate_sim.inference.difference import compare
from delegate_sim.inference.inputs import generated_inputs
from fixtures.builder import ModelBuilder
from tests.support.fixing.targets import target
from tests.support.models import chain_model

needs_runtime = pytest.mark.skipif(
    importlib.util.find_spec("ai_edge_litert") is None, reason="needs the runtime: install the extra 'fix'"
)
NNAPI = target("nnapi", feature_level="28")


def detector():
    """Nodes that NNAPI takes, then some that it does not; they read an input, a constant, and an output of the model."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, p = graph.input("x", "FLOAT32", [1, 4]), graph.input("p", "FLOAT32", [1, 4])
    y, z, u, v, w = (graph.tensor(name, "FLOAT32", [1, 4]) for name in "yzuvw")
    constant = graph.tensor("c", "FLOAT32", [1, 4], data=range(4))
    only = graph.tensor("only", "FLOAT32", [1, 4], data=range(1, 5))
    graph.node("ADD", [x, constant], [y], 1, {})
    graph.node("ADD", [y, y], [z], 1, {})
    graph.node("SIGN", [z], [u], 1)
    graph.node("ATAN2", [u, p], [v], 1)
    graph.node(0, [v, y], [v2 := graph.tensor("v2", "FLOAT32", [1, 4])], custom="Mine", custom_options=b"\x01\x02 options")
    graph.node("ATAN2", [v2, only], [w], 1)
    graph.outputs(w, z)
    builder.signature("serve", graph, {"in": x, "other": p}, {"out": w, "middle": z})
    builder.metadata("TFLITE_METADATA", b"describes w and z")
    builder.metadata("min_runtime_version", b"1.5.0")
    return load(builder.bytes())


def written(split):
    first = first_model(split)
    chunks, numbers = second_model(split)
    contents = (write(split.whole.model, first.change, first.weights), chunks)
    return (*[b"".join([bytes(chunk) for chunk in each]) for each in contents], numbers)


def test_the_parts_of_a_model():
    plan = split_tail(search(detector(), [NNAPI]))
    first, second, _ = written(plan.split)
    first, second = load(first), load(second)
    assert [[node.op for node in model.subgraphs[0].nodes] for model in (first, second)] == [
        ["ADD", "ADD"],
        ["SIGN", "ATAN2", "Mine", "ATAN2"],
    ]
    names = [[model.subgraphs[0].tensors[index].name for index in model.subgraphs[0].outputs] for model in (first, second)]
    assert names == [["z", "y"], ["w"]]
    assert [second.subgraphs[0].tensors[index].name for index in second.subgraphs[0].inputs] == ["z", "p", "y"]
    assert plan.after[0].measures.fallback_nodes == 0


def test_signatures_name_what_the_parts_hand_on():
    first, second, _ = written(split_tail(search(detector(), [NNAPI])).split)
    found = [[(each.key, list(each.inputs), list(each.outputs)) for each in load(model).signatures] for model in (first, second)]
    assert found == [[("serve", ["in", "other"], ["middle", "y"])], [("serve", ["middle", "other", "y"], ["out"])]]


def test_metadata_that_describes_other_outputs_is_left_out():
    first, second, _ = written(split_tail(search(detector(), [NNAPI])).split)
    assert [list(load(model).metadata) for model in (first, second)] == [["min_runtime_version"], []]


def test_constants_and_custom_options_come_along():
    _, second, _ = written(split_tail(search(detector(), [NNAPI])).split)
    model = load(second)
    graph = model.subgraphs[0]
    (offset, size) = graph.nodes[2].custom_options
    assert bytes(model.content[offset : offset + size]) == b"\x01\x02 options"
    assert model.constant(graph.tensors[graph.nodes[3].inputs[1]]).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("ops", [("ADD", "ADD"), ("NEG", "NEG"), ("NEG", "ADD")])
def test_models_without_trailing_nodes_stay_whole(ops):
    plan = search(load(chain_model(ops).bytes()), [NNAPI], passes={})
    assert split_tail(plan) is plan


def test_nodes_with_state_stay_in_the_first_model():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y, z = graph.input("x", "FLOAT32", [1]), graph.tensor("y", "FLOAT32", [1]), graph.tensor("z", "FLOAT32", [1])
    state = graph.tensor("state", "FLOAT32", [1], variable=True)
    graph.node("ADD", [x, x], [y], 1, {})
    graph.node("ATAN2", [y, state], [z], 1)
    graph.outputs(z)
    assert trailing(start(load(builder.bytes())), {NodeKey(0, 1)}) is None


@st.composite
def graphs(draw):
    """A random graph, and nodes of it that are to stay on the CPU."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensors = [graph.input(name, "FLOAT32", [2, 3]) for name in "ab"]
    tensors.append(graph.tensor("c", "FLOAT32", [2, 3], data=range(6)))
    count = draw(st.integers(2, 8))
    for number in range(count):
        result = graph.tensor(f"t{number}", "FLOAT32", [2, 3])
        graph.node("MAXIMUM", [draw(st.sampled_from(tensors)), draw(st.sampled_from(tensors))], [result], 1)
        tensors.append(result)
    more = draw(st.lists(st.sampled_from(tensors[3:]), max_size=3))
    graph.outputs(*more, tensors[-1])
    return builder.bytes(), draw(st.sets(st.integers(0, count - 1), min_size=1))


@needs_runtime
@settings(max_examples=6, suppress_health_check=list(HealthCheck), derandomize=True, database=None, deadline=None)
@given(graphs())
def test_both_parts_compute_what_the_whole_did(tmp_path_factory, drawn):
    content, on_cpu = drawn
    model = load(content)
    split = trailing(start(model), {NodeKey(0, index) for index in on_cpu} | {NodeKey(0, len(model.subgraphs[0].nodes) - 1)})
    if split is None:
        return
    first, second, numbers = written(split)
    path = tmp_path_factory.mktemp("parts") / "second.tflite"
    path.write_bytes(second)
    inputs = [generated_inputs(model, model.subgraphs[0], 0, {})]
    then = continuation(split, str(path), numbers)
    found = compare(model, load(first), inputs, {node.outputs[0]: "" for node in split.nodes}, is_timed=False, then=then)
    assert found.is_same
    assert len(load(first).subgraphs[0].nodes) + len(split.nodes) == len(model.subgraphs[0].nodes)


@needs_runtime
def test_both_files_are_written_and_neither_replaces_another(tmp_path):
    plan = split_tail(search(load(chain_model(("ADD", "ADD", "NEG")).bytes()), [NNAPI], passes={}))
    path = str(tmp_path / "fixed.tflite")
    found = fix(plan, path)
    assert (found.second_path, found.difference.is_same) == (str(tmp_path / "fixed.tail.tflite"), True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["fixed.tail.tflite", "fixed.tflite"]
    (tmp_path / "fixed.tflite").unlink()
    with pytest.raises(FixError, match=r"fixed.tail.tflite: already exists"):
        fix(plan, path)
    assert [each.name for each in tmp_path.iterdir()] == ["fixed.tail.tflite"]


def test_where_the_second_model_goes():
    assert [second_path_of(path) for path in ("a/b.tflite", "a.b/c")] == ["a/b.tail.tflite", "a.b/c.tail"]
