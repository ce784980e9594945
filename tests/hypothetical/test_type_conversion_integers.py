"""The result of a full integer quantization: types, scales, and where tensors are converted in between."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim import load
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.hypothetical.hypothetical_changes import HypotheticalChanges, changed, simulate_if
from delegate_sim.model.model import OPTIONAL_TENSOR
from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.runtime.target import Target
from delegate_sim.runtime.unloadable_tensors import invalid_tensors
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from tests.support.diagnoses import target
from tests.support.models import lstm
from tests.support.type_conversions import convolutions


def build(make):
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    make(layers, layers.input("FLOAT32", 1, 4, 4, 2))
    layers.finish()
    return load(builder.bytes())


class Quantized:
    """A model made by a function and quantized; nodes by operator, tensors by what they are."""

    def __init__(self, make, conversion="int8"):
        self.edited = changed(build(make), HypotheticalChanges(conversion=conversion))
        (self.subgraph,) = self.edited.model.subgraphs
        self.ops = [node.op for node in self.subgraph.nodes]

    def nodes(self, op):
        return [node for node in self.subgraph.nodes if node.op == op]

    def tensors(self, indices):
        return [self.subgraph.tensors[index] for index in indices]

    def result(self, op):
        (node,) = self.nodes(op)
        return self.subgraph.tensors[node.outputs[0]]


@pytest.mark.parametrize(
    ("op", "scale", "zero_point"),
    [
        ("LOGISTIC", 1 / 256, -128),
        ("SOFTMAX", 1 / 256, -128),
        ("TANH", 1 / 128, 0),
        ("LOG_SOFTMAX", 1 / 16, 127),
        ("L2_NORMALIZATION", 1 / 128, 0),
    ],
)
def test_results_have_the_scale_that_their_kernel_demands(op, scale, zero_point):
    found = Quantized(lambda layers, x: layers.node(op, (x,))).result(op)
    assert (found.type, found.scale, found.zero_point) == ("INT8", scale, zero_point)
    assert (found.quantization.scales.tolist(), found.quantization.zero_points.tolist()) == ([scale], [zero_point])
    assert found.quantization.dimension == 0


@pytest.mark.parametrize(
    ("op", "kind"), [("LOG", "INT8"), ("SQRT", "INT8"), ("DIV", "INT8"), ("ELU", "FLOAT32"), ("POW", "FLOAT32")]
)
def test_operators_are_quantized_as_by_the_newest_converter(op, kind):
    found = Quantized(lambda layers, x: layers.node(op, (x, x) if op in ("DIV", "POW") else (x,)))
    assert found.result(op).type == kind
    assert found.ops == (["QUANTIZE", op, "DEQUANTIZE"] if kind == "INT8" else [op])


def test_what_only_moves_elements_keeps_the_scale():
    found = Quantized(lambda layers, x: layers.node("RELU", (layers.node("LOGISTIC", (x,)),)))
    assert (found.result("RELU").scale, found.result("RELU").zero_point) == (1 / 256, -128)
    assert found.ops == ["QUANTIZE", "LOGISTIC", "RELU", "DEQUANTIZE"]


def test_the_scale_is_that_of_the_first_quantized_operand():
    def make(layers, x):
        gate = layers.node("LOGISTIC", (x,))
        layers.node("MAXIMUM", (gate, layers.node("TANH", (x,))))

    found = Quantized(make).result("MAXIMUM")
    assert (found.scale, found.zero_point) == (1 / 256, -128)


def test_a_condition_has_no_scale_to_give():
    def make(layers, x):
        gate, other = layers.node("LOGISTIC", (x,)), layers.node("LOGISTIC", (x,))
        layers.node("SELECT_V2", (layers.node("LESS", (x, x), "BOOL"), gate, other), "FLOAT32")

    found = Quantized(make).result("SELECT_V2")
    assert (found.scale, found.zero_point) == (1 / 256, -128)


def test_other_results_have_a_scale_that_only_data_would_tell():
    found = Quantized(lambda layers, x: layers.node("ADD", (layers.node("LOGISTIC", (x,)), x))).result("ADD")
    assert (found.scale, found.zero_point) == (float(np.float32(0.05)), 0)


def test_joined_operands_are_brought_to_the_scale_of_the_result():
    def make(layers, x):
        other = layers.node("LOG_SOFTMAX", (x,))
        layers.node("CONCATENATION", (layers.node("LOGISTIC", (x,)), layers.node("ADD", (x, x)), x, other), shape=(1, 4, 4, 8))

    found = Quantized(make)
    (joined,) = found.nodes("CONCATENATION")
    assert {(tensor.scale, tensor.zero_point) for tensor in found.tensors((*joined.inputs, *joined.outputs))} == {
        (float(np.float32(0.05)), 0)
    }
    assert found.ops.count("QUANTIZE") == 3, "at the input, behind LOGISTIC and LOG_SOFTMAX; the others have the scale"


def test_a_node_that_stays_in_float_reads_and_writes_float():
    found = Quantized(lambda layers, x: layers.node("RELU", (layers.node("SIN", (layers.node("RELU", (x,)),)),)))
    assert found.ops == ["QUANTIZE", "RELU", "DEQUANTIZE", "SIN", "QUANTIZE", "RELU", "DEQUANTIZE"]
    (sine,) = found.nodes("SIN")
    assert {tensor.type for tensor in found.tensors((*sine.inputs, *sine.outputs))} == {"FLOAT32"}
    assert found.edited.origins == ((-1, 0, -1, 1, -1, 2, -1),)


def test_a_tensor_is_converted_once_for_all_its_readers():
    def make(layers, x):
        inner = layers.node("RELU", (x,))
        for op in ("SIN", "SIN"):
            layers.node(op, (inner,))
        layers.node("ADD", (x, inner))

    assert Quantized(make).ops == ["QUANTIZE", "RELU", "DEQUANTIZE", "SIN", "SIN", "ADD", "DEQUANTIZE"]


def test_what_is_asked_for_its_shape_is_not_converted():
    found = Quantized(
        lambda layers, x: layers.node("SHAPE", (layers.node("RELU", (x,)),), "INT32", (4,), options={"out_type": 2})
    )
    assert found.ops == ["QUANTIZE", "RELU", "SHAPE"]
    (shape,) = found.nodes("SHAPE")
    assert [tensor.type for tensor in found.tensors((*shape.inputs, *shape.outputs))] == ["INT8", "INT32"]


def test_results_of_other_types_stay_as_they_are():
    found = Quantized(
        lambda layers, x: layers.node("ARG_MAX", (x, layers.constant("INT32", 3)), "INT64", (1, 4, 4), options={"output_type": 4})
    )
    assert found.ops == ["QUANTIZE", "ARG_MAX"]
    assert (found.result("ARG_MAX").type, found.result("ARG_MAX").quantization) == ("INT64", None)


def test_the_first_tensor_of_the_file_is_an_operand_as_any_other():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    inner, source, result = (
        graph.tensor("inner", "FLOAT32", [4]),
        graph.input("x", "FLOAT32", [4]),
        graph.tensor("y", "FLOAT32", [4]),
    )
    graph.node("LOGISTIC", [source], [inner])
    graph.node("RELU", [inner], [result])
    graph.outputs(result)
    model = changed(load(builder.bytes()), HypotheticalChanges(conversion="int8")).model
    moved = next(node for node in model.subgraphs[0].nodes if node.op == "RELU")
    assert [model.subgraphs[0].tensors[index].scale for index in (*moved.inputs, *moved.outputs)] == [1 / 256] * 2


def test_inputs_and_outputs_stay_float():
    found = Quantized(lambda layers, x: layers.node("LOGISTIC", (x,)))
    ends = found.tensors((*found.subgraph.inputs, *found.subgraph.outputs))
    assert [(tensor.type, tensor.quantization) for tensor in ends] == [("FLOAT32", None)] * 2


def connected(channels, has_bias=True):
    def make(layers, x):
        flat = layers.node("RESHAPE", (x, layers.constant("INT32", (1, 32))), shape=(1, 32))
        bias = layers.weights("FLOAT32", channels) if has_bias else OPTIONAL_TENSOR
        layers.node("FULLY_CONNECTED", (flat, layers.weights("FLOAT32", channels, 32), bias), shape=(1, channels))

    return make


@pytest.mark.parametrize(
    ("channels", "conversion", "count"), [(1, "int8", 1), (2, "int8", 2), (3, "int8", 3), (3, "int8-per-tensor", 1)]
)
def test_weights_and_bias_have_a_scale_for_each_of_several_channels(channels, conversion, count):
    found = Quantized(connected(channels), conversion)
    (layer,) = found.nodes("FULLY_CONNECTED")
    weights, bias = found.tensors(layer.inputs[1:])
    assert (weights.type, bias.type) == ("INT8", "INT32")
    for tensor, scale in ((weights, np.float32(0.01)), (bias, np.float32(0.05) * np.float32(0.01))):
        assert len(tensor.quantization.scales) == len(tensor.quantization.zero_points) == count
        assert set(tensor.quantization.scales.tolist()) == {float(scale)}
        assert set(tensor.quantization.zero_points.tolist()) == {0}
        assert tensor.scale == (float(scale) if count == 1 else 0.0)
        assert tensor.quantization.dimension == 0
        assert tensor.is_constant
        assert not tensor.value.any()


def dense(layers, gate):
    return layers.node("FULLY_CONNECTED", (gate, layers.weights("FLOAT32", 3, 2), layers.weights("FLOAT32", 3)), shape=(16, 3))


def convolved(layers, gate):
    options = {"stride_w": 1, "stride_h": 1}
    operands = gate, layers.weights("FLOAT32", 3, 1, 1, 2), layers.weights("FLOAT32", 3)
    return layers.node("CONV_2D", operands, shape=(1, 4, 4, 3), options=options)


def upsampled(layers, gate):
    shape = layers.constant("INT32", (1, 4, 4, 3))
    operands = shape, layers.weights("FLOAT32", 3, 1, 1, 2), gate, layers.weights("FLOAT32", 3)
    return layers.node("TRANSPOSE_CONV", operands, "FLOAT32", (1, 4, 4, 3), options={"stride_w": 1, "stride_h": 1})


@pytest.mark.parametrize(("conversion", "count"), [("int8", 3), ("int8-per-tensor", 1)])
@pytest.mark.parametrize(("layer", "position"), [(dense, 2), (convolved, 2), (upsampled, 3)])
def test_the_bias_scale_is_the_product_of_the_scales_of_data_and_weights(layer, position, conversion, count):
    found = Quantized(lambda layers, x: layer(layers, layers.node("LOGISTIC", (x,))), conversion)
    bias = found.tensors(found.subgraph.nodes[2].inputs)[position]
    assert (bias.type, bias.quantization.scales.tolist()) == ("INT32", [float(np.float32(0.01)) / 256] * count)


def test_biases_shared_by_layers_have_a_scale_for_each_input():
    def make(layers, x):
        weights, bias = layers.weights("FLOAT32", 3, 2), layers.weights("FLOAT32", 3)
        for data in (x, layers.node("LOGISTIC", (x,))):
            layers.node("FULLY_CONNECTED", (data, weights, bias), shape=(16, 3))

    found = Quantized(make, "int8-per-tensor")
    scales = [found.tensors(node.inputs)[2].scale for node in found.nodes("FULLY_CONNECTED")]
    assert scales == [float(np.float32(0.05) * np.float32(0.01)), float(np.float32(0.01)) / 256]


@pytest.mark.parametrize("conversion", ["int8", "int8-per-tensor"])
@pytest.mark.parametrize("layer", [dense, convolved, upsampled])
def test_the_cpu_can_prepare_what_is_quantized(layer, conversion):
    found = find_delegate("nnapi")
    target = Target(found, parse_options("nnapi", found.options, {}, "benchmark"), defaults="benchmark")
    run = simulate_if(build(layer), target, HypotheticalChanges(conversion=conversion))
    assert run.refusal is None or run.refusal.code != "cpu-kernel-not-prepared"


def test_a_bias_that_is_left_out_stays_so():
    (layer,) = Quantized(connected(2, has_bias=False)).nodes("FULLY_CONNECTED")
    assert layer.inputs[2] == OPTIONAL_TENSOR


def test_operands_of_other_types_stay_as_they_are():
    found = Quantized(connected(2))
    (reshape,) = found.nodes("RESHAPE")
    assert [tensor.type for tensor in found.tensors(reshape.inputs)] == ["INT8", "INT32"]


# Back to float


def test_a_small_quantized_constant_has_the_values_that_it_stands_for():
    def make(layers, x):
        quantized = layers.node("QUANTIZE", (x,), "INT8", scale=0.5, zero_point=3)
        stored = layers.constant("INT8", [[[[1, 3, 5, -7]]]], scale=0.25, zero_point=3)
        layers.node("ADD", (quantized, stored), shape=(1, 4, 4, 4), scale=0.5, zero_point=3)

    model = changed(build(make), HypotheticalChanges(conversion="float")).model
    (added,) = model.subgraphs[0].nodes
    source, stored, result = (model.subgraphs[0].tensors[index] for index in (*added.inputs, *added.outputs))
    assert list(stored.value) == [-0.5, 0.0, 0.5, -2.5]
    assert [(tensor.type, tensor.quantization, tensor.scale, tensor.zero_point) for tensor in (source, stored, result)] == [
        ("FLOAT32", None, 0.0, 0)
    ] * 3
    assert (source.value, result.value) == (None, None)


def test_a_constant_with_a_scale_for_each_channel_has_its_stored_elements():
    def make(layers, x):
        quantized = layers.node("QUANTIZE", (x,), "INT8", scale=0.5, zero_point=0)
        stored = layers.constant("INT8", [[[[2, 4]]]], scale=[0.5, 0.25], zero_point=[0, 0], axis=3)
        layers.node("ADD", (quantized, stored), scale=0.5, zero_point=0)

    model = changed(build(make), HypotheticalChanges(conversion="float")).model
    (added,) = model.subgraphs[0].nodes
    assert list(model.subgraphs[0].tensors[added.inputs[1]].value) == [2.0, 4.0]


def test_constants_have_the_zero_point_0():
    model = changed(load(convolutions().bytes()), HypotheticalChanges(conversion="int8")).model
    constants = [tensor for tensor in model.subgraphs[0].tensors if tensor.is_constant and tensor.quantization is not None]
    assert {tensor.type for tensor in constants} == {"INT8", "INT32"}
    assert {tensor.zero_point for tensor in constants} == {0}
    assert {int(zero_point) for tensor in constants for zero_point in tensor.quantization.zero_points} == {0}


@pytest.mark.parametrize("conversion", ["float", "int8", "int8-per-tensor"])
def test_the_runtime_loads_the_tensors_of_what_is_converted(conversion):
    model = load(convolutions().bytes())
    assert invalid_tensors(changed(model, HypotheticalChanges(conversion=conversion)).model, NEWEST) == ()


# Known shapes in a model with float16 weights


def test_what_becomes_a_constant_is_kept_in_float16_as_the_weights_are():
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    x = layers.input("FLOAT32", 1, 4, signature=(-1, 4))
    weights = layers.node("DEQUANTIZE", (layers.weights("FLOAT16", 4),), "FLOAT32", (4,), version=3)
    shape = layers.node("SHAPE", (x,), "INT32", (2,), options={"out_type": 2})
    sizes = layers.node("CAST", (shape,), "FLOAT32", (2,))
    count = layers.node("CAST", (layers.node("RANK", (x,), "INT32", ()),), "FLOAT32", ())
    scaled = layers.node("MUL", (layers.node("ADD", (x, weights), signature=(-1, 4)), count), signature=(-1, 4))
    layers.node("SUB", (sizes, layers.node("SUM", (scaled, layers.constant("INT32", [0, 1])), shape=())), shape=(2,))
    layers.finish()
    edited = changed(load(builder.bytes()), HypotheticalChanges(batch=3))
    (subgraph,) = edited.model.subgraphs
    made = [node for node in subgraph.nodes if node.op == "DEQUANTIZE"]
    assert [node.version for node in made] == [3, 3]
    narrow = [subgraph.tensors[node.inputs[0]] for node in made]
    assert [(tensor.type, tensor.is_constant) for tensor in narrow] == [("FLOAT16", True)] * 2
    assert [tensor.value.tolist() for tensor in narrow if tensor.value is not None] == [[3.0, 4.0]]
    order = [node.op for node in subgraph.nodes]
    assert order[:2] == ["DEQUANTIZE", "DEQUANTIZE"]
    product = next(node for node in subgraph.nodes if node.op == "MUL")
    single = subgraph.tensors[product.inputs[1]]
    assert (single.type, single.is_constant, float(single.value)) == ("FLOAT32", True, 2.0), "a single number is not widened"


def test_what_became_a_constant_is_widened_before_the_first_node_reads_it():
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    x = layers.input("FLOAT32", 1, 2, signature=(-1, 2))
    shape = layers.node("SHAPE", (x,), "INT32", (2,), options={"out_type": 2})
    scaled = layers.node("MUL", (x, layers.node("CAST", (shape,), "FLOAT32", (2,))), signature=(-1, 2))
    layers.node("ADD", (scaled, layers.node("DEQUANTIZE", (layers.weights("FLOAT16", 2),), "FLOAT32", (2,), version=3)))
    layers.finish()
    (subgraph,) = changed(load(builder.bytes()), HypotheticalChanges(batch=3)).model.subgraphs
    assert [node.op for node in subgraph.nodes] == ["DEQUANTIZE", "MUL", "DEQUANTIZE", "ADD"]
    assert subgraph.nodes[0].outputs[0] in subgraph.nodes[1].inputs


def masked(value):
    """A sum of scores and a mask: 1 less the input, times a large number."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    one, factor = graph.tensor("one", "FLOAT32", [1], data=[1.0]), graph.tensor("value", "FLOAT32", [1], data=[value])
    mask, scores = graph.input("mask", "FLOAT32", [1, 4]), graph.input("scores", "FLOAT32", [1, 4])
    kept, product, result = [graph.tensor(name, "FLOAT32", [1, 4]) for name in ("kept", "product", "result")]
    graph.node("SUB", [one, mask], [kept])
    graph.node("MUL", [kept, factor], [product])
    graph.node("ADD", [scores, product], [result])
    graph.outputs(result)
    return load(builder.bytes())


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (-3.4e38, "nnapi-runtime-operation-mul-output-scale-signed"),
        (-1e4, "nnapi-runtime-operation-mul-output-scale-signed"),
        (-100.0, None),
    ],
)
def test_the_mask_of_an_attention_has_the_scale_of_its_constant(value, code):
    """Measured with TensorFlow: the converter gives the kept positions the scale of the mask, because both share memory."""
    refusal = simulate_if(masked(value), target("nnapi"), HypotheticalChanges(conversion="int8")).refusal
    assert (None if refusal is None else refusal.code) == code


def test_a_large_factor_of_an_input_does_not_change_the_scale_of_the_input():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, factor = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("factor", "FLOAT32", [1], data=[1000.0])
    result = graph.tensor("result", "FLOAT32", [1, 4])
    graph.node("MUL", [x, factor], [result])
    graph.outputs(result)
    run = simulate_if(load(builder.bytes()), target("nnapi"), HypotheticalChanges(conversion="int8"))
    assert run.refusal is None


def lstm_types(model, conversion):
    (subgraph,) = changed(model, HypotheticalChanges(conversion=conversion)).model.subgraphs
    (node,) = [node for node in subgraph.nodes if node.op == "UNIDIRECTIONAL_SEQUENCE_LSTM"]
    return node, [
        [subgraph.tensors[index] for index in indices if index >= 0]
        for indices in (node.inputs, node.outputs, node.intermediates)
    ]


@pytest.mark.parametrize("is_quantized", [False, True])
def test_an_lstm_is_quantized_with_its_states(is_quantized):
    """Compared with ``lstm_mnist.f32`` and ``lstm_mnist.int8`` of TensorFlow 2.15: the types of all tensors are equal."""
    node, (inputs, outputs, intermediates) = lstm_types(load(lstm(is_quantized=is_quantized).bytes()), "int8")
    assert [tensor.type for tensor in inputs] == ["INT8"] * 9 + ["INT32"] * 4 + ["INT8", "INT16"]
    assert [len(tensor.quantization.scales) for tensor in inputs] == [1] * 15
    assert [tensor.is_variable for tensor in inputs] == [False] * 13 + [True] * 2
    assert inputs[9].scale == np.float32(inputs[0].scale * inputs[1].scale)
    assert (outputs[0].type, outputs[0].scale) == ("INT8", inputs[13].scale)
    assert [(tensor.type, tensor.shape) for tensor in intermediates] == [("FLOAT32", (0,))] * 4 + [("INT8", (0,))]
    assert node.version == 1


def test_an_lstm_in_float_has_no_intermediate_tensors():
    node, (inputs, *_) = lstm_types(load(lstm(is_quantized=True).bytes()), "float")
    assert node.intermediates == ()
    assert {tensor.type for tensor in inputs} == {"FLOAT32"}


def test_an_lstm_of_a_form_that_was_not_measured_stays_in_float():
    _, (inputs, outputs, _) = lstm_types(load(lstm(peephole=True).bytes()), "int8")
    assert {tensor.type for tensor in (*inputs, *outputs)} == {"FLOAT32"}


@pytest.mark.parametrize("delegate", ["vx-nxp", "nnapi"])
def test_a_quantized_lstm_has_the_verdict_of_a_real_file(delegate):
    """``lstm_mnist.int8`` of TensorFlow 2.15: VX takes all nodes, and NNAPI refuses the model."""
    run = simulate_if(load(lstm().bytes()), target(delegate), HypotheticalChanges(conversion="int8"))
    assert (run.refusal is None) == (delegate == "vx-nxp")
