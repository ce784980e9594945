from __future__ import annotations

import numpy as np
import pytest

from delegate_sim import load
from delegate_sim.hypothetical.fixed_inputs import open_inputs
from delegate_sim.hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey, changed, changed_model
from delegate_sim.model.options import Options
from delegate_sim.model.schema import enum_names
from delegate_sim.prepare.constants import evaluate
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from tests.support.type_conversions import convolutions, first_step, open_batch


def operators(edited):
    return [node.op for node in edited.model.subgraphs[0].nodes]


def test_open_inputs_are_those_of_the_first_subgraph():
    builder = ModelBuilder()
    for name, signature in (("main", [-1, 3]), ("body", [-1, 4])):
        graph = builder.subgraph(name)
        known = graph.input(f"{name} known", "FLOAT32", [1, 3])
        graph.outputs(graph.input(f"{name} open", "FLOAT32", [1, signature[1]], signature=signature), known)
    assert [tensor.name for tensor in open_inputs(load(builder.bytes()))] == ["main open"]


def test_an_input_may_be_the_first_tensor():
    assert [tensor.name for tensor in open_inputs(load(open_batch().bytes()))] == ["image"]


def test_a_node_that_there_is_not_stems_from_none():
    edited = changed(load(open_batch().bytes()), HypotheticalChanges(batch=1))
    assert edited.origin(NodeKey(0, len(edited.model.subgraphs[0].nodes))) is None


@pytest.mark.parametrize("batch", [1, 8])
def test_with_a_known_batch_the_shapes_are_folded(batch):
    edited = changed(load(open_batch().bytes()), HypotheticalChanges(batch=batch))
    assert operators(edited) == ["RELU", "RESHAPE"]
    assert edited.origins == ((0, 4),)
    tensors = edited.model.subgraphs[0].tensors
    relu, reshape = edited.model.subgraphs[0].nodes
    assert tensors[relu.outputs[0]].shape == (batch, 4, 4, 2)
    assert edited.model.constant(tensors[reshape.inputs[1]]).tolist() == [batch, 32]
    assert tensors[reshape.outputs[0]].shape == (batch, 32)
    assert all(tensor.shape_signature is None for tensor in tensors)


def test_what_is_computed_of_a_state_of_zeros_is_gone_with_a_known_batch():
    model = load(first_step().bytes())
    edited = changed(model, HypotheticalChanges(fixed_inputs=True))
    assert operators(edited) == ["RESHAPE", "STRIDED_SLICE", "FULLY_CONNECTED", "TANH"]
    layer = edited.model.subgraphs[0].nodes[2]
    assert edited.model.subgraphs[0].tensors[layer.inputs[2]].shape == (8,), "what was added is the bias"
    assert operators(changed(model, HypotheticalChanges(batch=2)))[0] == "TRANSPOSE", "it moves more than dimensions of size 1"


def test_nodes_keep_their_places_for_other_suppositions():
    edited = changed(load(open_batch().bytes()), HypotheticalChanges(fixed_inputs=True, node_versions={NodeKey(0, 4): 7}))
    assert [node.version for node in edited.model.subgraphs[0].nodes] == [1, 7]
    assert edited.origin(NodeKey(0, 1)) == NodeKey(0, 4)
    assert edited.present([NodeKey(0, 2), NodeKey(0, 4)]) == {NodeKey(0, 4): NodeKey(0, 1)}


def test_quantized_to_integers_and_back():
    model = load(convolutions().bytes())
    edited = changed(model, HypotheticalChanges(conversion="int8"))
    assert operators(edited) == ["QUANTIZE", "CONV_2D", "CONV_2D", "DEQUANTIZE"]
    assert edited.origins == ((-1, 0, 1, -1),)
    assert [node.version for node in edited.model.subgraphs[0].nodes] == [1, 3, 3, 2]
    names = enum_names("BuiltinOperator")
    assert [names[node.builtin_code] for node in edited.model.subgraphs[0].nodes] == operators(edited)
    weights = edited.model.subgraphs[0].tensors[edited.model.subgraphs[0].nodes[1].inputs[1]]
    assert (weights.type, weights.is_per_channel) == ("INT8", True)
    back = changed(edited.model, HypotheticalChanges(conversion="float"))
    assert operators(back) == ["CONV_2D", "CONV_2D"]
    assert not any(tensor.quantization for tensor in back.model.subgraphs[0].tensors if tensor.index in (0, 1, 2, 3))


def test_without_float16_weights_nothing_is_widened():
    edited = changed(load(convolutions("FLOAT16").bytes()), HypotheticalChanges(conversion="float"))
    assert operators(edited) == ["CONV_2D", "CONV_2D"]


def test_a_float_model_is_not_changed_by_converting_it_in_float():
    model = load(convolutions().bytes())
    assert changed(model, HypotheticalChanges(conversion="float")).model is model


@pytest.mark.parametrize(
    ("op", "options", "operands", "result"),
    [
        ("STRIDED_SLICE", {"begin_mask": 1}, [[1, 2, 3, 4], [2], [3], [1]], [1, 2, 3]),
        ("STRIDED_SLICE", {"shrink_axis_mask": 1}, [[1, 2, 3, 4], [2], [3], [1]], 3),
        ("DIV", {}, [[-7], [2]], [-3]),
        ("FLOOR_DIV", {}, [[-7], [2]], [-4]),
        ("FLOOR_MOD", {}, [[-7], [2]], [1]),
        ("CONCATENATION", {}, [[1], [2, 3]], [1, 2, 3]),
        ("REDUCE_PROD", {"keep_dims": True}, [[2, 3], [0]], [6]),
        ("FILL", {}, [[2], 5], [5, 5]),
        ("DIV", {}, [[1], [0]], None),
        ("FILL", {}, [[1 << 15, 1 << 15], 5], None),
        ("CONV_2D", {}, [[1]], None),
    ],
)
def test_what_is_computed_from_constants(op, options, operands, result):
    found = evaluate(op, Options(op, options), [np.array(operand, np.int32) for operand in operands], ["INT32"])
    assert (found if found is None else found[0].tolist()) == result


@pytest.mark.parametrize(("conversion", "has_several"), [("int8", True), ("int8-per-tensor", False)])
def test_weights_have_a_scale_for_each_channel_unless_told_otherwise(conversion, has_several):
    model = changed_model(load(convolutions().bytes()), HypotheticalChanges(conversion=conversion))
    constants = [tensor for tensor in model.subgraphs[0].tensors if tensor.is_constant and tensor.quantization is not None]
    assert {tensor.type for tensor in constants} == {"INT8", "INT32"}
    assert any(len(tensor.quantization.scales) > 1 for tensor in constants) == has_several


def test_constants_that_are_joined_have_the_scale_of_the_result():
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    x = layers.input("FLOAT32", 1, 4, 8)
    layers.node("CONCATENATION", (layers.weights("FLOAT32", 1, 1, 8), x), shape=(1, 5, 8), options={"axis": 1})
    layers.finish()
    model = changed_model(load(builder.bytes()), HypotheticalChanges(conversion="int8"))
    joined = next(node for node in model.subgraphs[0].nodes if node.op == "CONCATENATION")
    scales = {model.subgraphs[0].tensors[index].scale for index in (*joined.inputs, *joined.outputs)}
    assert len(scales) == 1, "the CPU kernel refuses operands of another scale"


@pytest.mark.parametrize(("written", "expected"), [(4, 1), (5, 5)])
def test_versions_follow_what_known_shapes_make_of_the_nodes(written, expected):
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    x = layers.input("FLOAT32", 1, 4, signature=(-1, 4))
    shape = layers.node("SHAPE", (x,), "INT64", (2,), options={"out_type": 4})
    added = layers.node("ADD", (shape, layers.constant("INT64", [0, 0])), version=written)
    reshaped = layers.node("RESHAPE", (x, layers.node("CAST", (added,), "INT32")), shape=(1, 4))
    layers.node("ADD", (reshaped, reshaped), version=written)
    layers.finish()
    model = changed_model(load(builder.bytes()), HypotheticalChanges(fixed_inputs=True))
    versions = [node.version for node in model.subgraphs[0].nodes if node.op == "ADD"]
    assert versions == [expected], "only where the version in the file is what the nodes demand"


def test_a_model_of_known_shapes_is_not_changed_by_fixing_its_inputs():
    model = load(convolutions().bytes())
    assert changed(model, HypotheticalChanges(fixed_inputs=True)).model is model
    assert changed(model, HypotheticalChanges(batch=2)).model is not model


def test_what_the_file_says_of_other_things_stays():
    builder = open_batch()
    for name in ("aaa", "zzz"):
        builder.metadata(name, b"content")
    model = load(builder.bytes())
    assert changed(model, HypotheticalChanges(batch=8)).model.metadata == model.metadata


def hybrid():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, y = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    weights = graph.tensor("w", "INT8", [4, 4], data=[1] * 16, scale=[0.5, 0.25, 0.5, 0.5])
    bias = graph.tensor("b", "FLOAT32", [4], data=[0] * 4)
    graph.node("FULLY_CONNECTED", [x, weights, bias], [y], 12, {"asymmetric_quantize_inputs": True})
    graph.outputs(y)
    return load(builder.bytes())


@pytest.mark.parametrize(
    ("conversion", "ops", "version", "scales"),
    [
        ("float16", ["DEQUANTIZE", "DEQUANTIZE", "FULLY_CONNECTED"], 1, 0),
        ("per-tensor", ["FULLY_CONNECTED"], 9, 1),
        ("dense-per-tensor", ["FULLY_CONNECTED"], 9, 1),
        ("dynamic-range-per-tensor", ["FULLY_CONNECTED"], 3, 1),
    ],
)
def test_other_weights(conversion, ops, version, scales):
    model = changed_model(hybrid(), HypotheticalChanges(conversion=conversion))
    subgraph = model.subgraphs[0]
    assert [node.op for node in subgraph.nodes] == ops
    dense = subgraph.nodes[-1]
    weights = subgraph.tensors[dense.inputs[1]]
    assert dense.version == version
    assert (len(weights.quantization.scales) if weights.quantization else 0) == scales
    if conversion == "float16":
        assert subgraph.tensors[subgraph.nodes[0].inputs[0]].type == "FLOAT16"


@pytest.mark.parametrize(
    ("kind", "change"), [("INT8", {"conversion": "float"}), ("INT32", {"float_nodes": frozenset([NodeKey(0, 0), NodeKey(0, 1)])})]
)
def test_constants_over_the_same_bytes_are_converted_once(kind, change):
    builder, count = ModelBuilder(), 16 if kind == "INT8" else 4
    graph = builder.subgraph("main")
    quantization = {"scale": 0.5, "zero_point": 0} if kind == "INT8" else {}
    tensor, shared = graph.input("x", kind, [count], **quantization), builder.buffer(bytes(range(16)))
    for _ in range(2):
        constant, result = (
            graph.tensor("", kind, [count], buffer=shared, **quantization),
            graph.tensor("", kind, [count], **quantization),
        )
        graph.node("ADD", [tensor, constant], [result], 1, {})
        tensor = result
    graph.outputs(tensor)
    model = changed_model(load(builder.bytes()), HypotheticalChanges(**change))
    values = [one.value for one in model.subgraphs[0].tensors if one.is_constant and one.type == "FLOAT32"]
    assert values[0] is values[1]
