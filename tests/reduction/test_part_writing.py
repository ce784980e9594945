"""Files with a part of a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from delegate_sim import load
from delegate_sim.errors import FixError
from delegate_sim.reduction.part_writing import ContentKind, ModelPart, PartWriter
from fixtures.builder import ModelBuilder

MODELS = sorted((Path(__file__).resolve().parents[2] / "fixtures" / "models").glob("*.tflite"))
NEUTRAL = frozenset(ContentKind)


def whole(model, index=0, **changes):
    return ModelPart(index, tuple(range(len(model.subgraphs[index].nodes))), **changes)


def described(model, graph, node, *, has_names):
    """Return everything about a node but indices."""
    tensors = [graph.tensors[index] for index in (*node.inputs, *node.outputs, *node.intermediates) if index >= 0]
    facts = [
        (own.name if has_names else "", own.type, own.shape, own.shape_signature, own.scale, own.zero_point, own.sparsity)
        for own in tensors
    ]
    data = [None if own.data is None else bytes(model.content[own.data[0] : sum(own.data)]) for own in tensors]
    options = [(name, value) for name, value in model.options(node) if "subgraph" not in name and "name" not in name]
    return node.op, node.version, node.custom_code, options, facts, data


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_copy_has_the_same_nodes(path):
    model = load(path)
    writer = PartWriter(model)
    for neutral in (frozenset(), frozenset({ContentKind.NAMES, ContentKind.METADATA})):
        part = whole(model, neutral=neutral)
        copy = load(writer.write(part))
        assert len(copy.subgraphs) == len(writer.subgraphs_of(part))
        for index, graph in zip(writer.subgraphs_of(part), copy.subgraphs, strict=True):
            old = model.subgraphs[index]
            has_names = not neutral
            assert [described(copy, graph, node, has_names=has_names) for node in graph.nodes] == [
                described(model, old, node, has_names=has_names) for node in old.nodes
            ]


@pytest.fixture
def model():
    """Return x -> ADD secret weights -> a custom operator -> ABS -> y, with names and metadata that nobody should see."""
    builder = ModelBuilder("secret description")
    graph = builder.subgraph("secret_graph")
    x = graph.input("secret_x", "FLOAT32", [4])
    weights = graph.tensor("secret_w", "FLOAT32", [4], [1.5, 2.5, 3.5, 4.5])
    a, b, y = (graph.tensor(f"secret_{name}", "FLOAT32", [4]) for name in "aby")
    graph.node("ADD", [x, weights], [a], 1, {})
    graph.node("CUSTOM", [a], [b], custom="Own", custom_options=b"secret options")
    graph.node("ABS", [b], [y], 1, {})
    graph.outputs(y)
    builder.signature("secret_key", graph, {"secret_in": x}, {"secret_out": y})
    builder.metadata("secret_metadata", b"secret labels")
    return load(builder.bytes())


def test_neutral_content_leaves_nothing_of_the_original(model):
    writer = PartWriter(model)
    weights = np.array([1.5, 2.5, 3.5, 4.5], "<f4").tobytes()
    assert b"secret" in writer.write(whole(model))
    part = whole(model, neutral=NEUTRAL, generated=frozenset(writer.constants(whole(model))))
    content = writer.write(part)
    assert b"secret" not in content
    assert weights not in content
    copy = load(content)
    assert [node.custom_code or node.op for node in copy.subgraphs[0].nodes] == ["ADD", "Own", "ABS"]
    assert (copy.signatures[0].key, copy.metadata) == ("part", {})


@pytest.mark.parametrize(
    ("nodes", "inputs", "outputs"),
    [
        ((0,), ["secret_x"], ["secret_a"]),
        ((1, 2), ["secret_a"], ["secret_y"]),
        ((0, 2), ["secret_x", "secret_b"], ["secret_a", "secret_y"]),
        ((), [], []),
    ],
)
def test_the_ends_of_some_nodes(model, nodes, inputs, outputs):
    (graph,) = load(PartWriter(model).write(ModelPart(0, nodes))).subgraphs
    assert [graph.tensors[index].name for index in graph.inputs] == inputs
    assert [graph.tensors[index].name for index in graph.outputs] == outputs
    assert len(graph.nodes) == len(nodes)


def test_called_subgraphs_come_along():
    (path,) = [path for path in MODELS if path.stem == "control_flow"]
    model = load(path)
    caller = next(node for node in model.subgraphs[0].nodes if node.op == "WHILE")
    part = ModelPart(0, (caller.index,))
    copy = load(PartWriter(model).write(part))
    options = copy.options(copy.subgraphs[0].nodes[0])
    assert sorted((options.cond_subgraph_index, options.body_subgraph_index)) == [1, 2]
    assert len(copy.subgraphs) == 3
    old = model.options(caller)
    conditions, bodies = [(own.cond_subgraph_index, own.body_subgraph_index) for own in (options, old)]
    for number, index in zip(conditions, bodies, strict=True):
        assert [node.op for node in copy.subgraphs[number].nodes] == [node.op for node in model.subgraphs[index].nodes]


def test_shared_buffers_stay_shared():
    builder = ModelBuilder()
    graph = builder.subgraph()
    x = graph.input("x", "FLOAT32", [256])
    shared = builder.buffer(bytes(1024))
    first, second = (graph.tensor(name, "FLOAT32", [256], buffer=shared) for name in "ab")
    y, z = (graph.tensor(name, "FLOAT32", [256]) for name in "yz")
    graph.node("ADD", [x, first], [y], 1, {})
    graph.node("ADD", [y, second], [z], 1, {})
    graph.outputs(z)
    model = load(builder.bytes())
    for generated in (frozenset(), frozenset({(0, first), (0, second)})):
        assert 1024 < len(PartWriter(model).write(whole(model, generated=generated))) < 2048


def test_a_constant_in_another_file():
    builder = ModelBuilder()
    graph = builder.subgraph()
    x, y = graph.input("x", "FLOAT32", [4]), graph.tensor("y", "FLOAT32", [4])
    graph.node("ADD", [x, graph.tensor("w", "FLOAT32", [4], external_buffer=1)], [y], 1, {})
    graph.outputs(y)
    model = load(builder.bytes())
    with pytest.raises(FixError, match="in another file"):
        PartWriter(model).write(whole(model))
