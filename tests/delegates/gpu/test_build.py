"""Building the delegate's own model of a partition: what cannot be built, and by what code that is said."""

from __future__ import annotations

import string

import numpy as np
import pytest

from delegate_sim.delegates.gpu import failures
from delegate_sim.delegates.gpu.build import PARSERS, build_partition
from delegate_sim.delegates.gpu.rules import RULES
from delegate_sim.graph.graph import file_graph
from delegate_sim.graph.partition import partition
from delegate_sim.model.reader import load
from delegate_sim.releases.catalogue import NEWEST
from fixtures.builder import ModelBuilder

SPARSITY = ((0, 1, 2, 3), (), ((True, 1), (True, 1), (True, 1), (True, 4)))
RELU, TANH, SIGN_BIT = 1, 4, 5
_NUMPY_TYPES = {
    "FLOAT32": "f4",
    "FLOAT16": "f2",
    "INT64": "i8",
    "INT32": "i4",
    "INT16": "i2",
    "INT8": "i1",
    "UINT8": "u1",
    "BOOL": "u1",
}


class Sketch:
    """A graph under construction, whose nodes all belong to one partition."""

    def __init__(self):
        self.builder = ModelBuilder()
        self.subgraph = self.builder.subgraph("main")

    def input(self, *shape, type="FLOAT32", **arguments):
        return self.subgraph.input("input", type, shape, **arguments)

    def variable(self, *shape, type="FLOAT32"):
        return self.subgraph.tensor("state", type, shape, variable=True)

    def constant(self, *shape, type="FLOAT32", value=1, **arguments):
        data = np.broadcast_to(np.asarray(value, _NUMPY_TYPES[type]), shape)
        return self.subgraph.tensor("constant", type, shape, data, **arguments)

    def vector(self, *values, type="INT32"):
        return self.constant(len(values), type=type, value=values)

    def node(self, op, inputs, *shapes, type="FLOAT32", custom=None, words=None, scale=None, **options):
        made = [self.subgraph.tensor("result", type, shape, scale=scale) for shape in shapes]
        packed = None if words is None else np.array(words, "<i4").tobytes()
        self.subgraph.node(op, inputs, made, options=options or None, custom=custom, custom_options=packed)
        return made if len(made) > 1 else made[0]

    def build(self, *outputs, allow_quant_ops=True, release=NEWEST):
        self.subgraph.outputs(*outputs)
        model = load(self.builder.bytes())
        graph = file_graph(model, model.subgraphs[0])
        (subset,) = partition(graph, graph.execution_plan)
        return build_partition(graph, subset, allow_quant_ops=allow_quant_ops, release=release)


@pytest.fixture
def sketch():
    return Sketch()


def assert_fails(failure, code, node, tensor=None):
    assert failure is not None
    assert (failure.code, failure.node) == (code, node)
    assert tensor is None or failure.tensor == tensor
    assert failure.is_crash == failures.is_crash(code)


# What every node's operands must be


@pytest.mark.parametrize("shape", [(2,), (2, 3), (2, 3, 4), (1, 2, 3, 4)])
def test_ranks_that_the_model_has(sketch, shape):
    assert sketch.build(sketch.node("ABS", [sketch.input(*shape)], shape)) is None


def test_scalar_input_of_a_partition_gpu_build_rank(sketch):
    assert_fails(sketch.build(sketch.node("ABS", [sketch.input()], ())), "gpu-build-rank", None, tensor=0)


def test_scalar_between_nodes_gpu_build_rank(sketch):
    scalar = sketch.node("SUM", [sketch.input(2, 3), sketch.vector(0, 1)], ())
    assert_fails(sketch.build(sketch.node("ABS", [scalar], (2,))), "gpu-build-rank", 0, tensor=scalar)


def test_quantised_value_without_parameters_gpu_build_quantization(sketch):
    result = sketch.node("ABS", [sketch.input(2, type="INT8")], (2,), type="INT8", scale=0.5)
    assert_fails(sketch.build(result), "gpu-build-quantization", None, tensor=0)


def test_quantised_value_per_channel_gpu_build_quantization(sketch):
    result = sketch.node("ABS", [sketch.input(2, type="UINT8", scale=[0.5, 0.25])], (2,))
    assert_fails(sketch.build(result), "gpu-build-quantization", None, tensor=0)


def test_quantised_values_without_quantised_operators_are_like_others(sketch):
    result = sketch.node("ABS", [sketch.input(2, type="INT8")], (2,), type="INT8")
    assert sketch.build(result, allow_quant_ops=False) is None


def test_variable_that_is_only_read_gpu_build_variable(sketch):
    state = sketch.variable(2)
    assert_fails(sketch.build(sketch.node("ABS", [state], (2,))), "gpu-build-variable", 0, tensor=state)


def test_result_that_is_the_operand_gpu_build_in_place(sketch):
    x = sketch.node("ABS", [sketch.input(2)], (2,))
    sketch.subgraph.node("NEG", [x], [x])
    sketch.subgraph.outputs(x)
    model = load(sketch.builder.bytes())
    graph = file_graph(model, model.subgraphs[0])
    subset = partition(graph, (0,))[0]._replace(nodes=(0, 1))
    assert_fails(build_partition(graph, subset, allow_quant_ops=True), "gpu-build-in-place", 1, tensor=x)


def test_float16_dequantize_is_passed_over(sketch):
    wide = sketch.node("DEQUANTIZE", [sketch.constant(2, type="FLOAT16")], (2,))
    assert sketch.build(wide, sketch.node("ABS", [sketch.input(2)], (2,))) is None


# Elementwise


@pytest.mark.parametrize("op", ["ADD", "MUL", "ADD_N"])
def test_operand_twice_is_rewritten(sketch, op):
    x = sketch.input(2, 3)
    assert sketch.build(sketch.node(op, [x, x], (2, 3))) is None


@pytest.mark.parametrize("op", ["DIV", "SUB", "MAXIMUM", "POW"])
def test_operand_twice_gpu_build_repeated_operand(sketch, op):
    x = sketch.input(2, 3)
    assert_fails(sketch.build(sketch.node(op, [x, x], (2, 3))), "gpu-build-repeated-operand", 0, tensor=x)


@pytest.mark.parametrize("op", ["ADD", "DIV", "MUL", "SUB"])
def test_activation_gpu_build_activation(sketch, op):
    inputs = [sketch.input(2), sketch.input(2)]
    assert_fails(sketch.build(sketch.node(op, inputs, (2,), fused_activation_function=SIGN_BIT)), "gpu-build-activation", 0)


@pytest.mark.parametrize("activation", [0, RELU, TANH, 9])
def test_other_activations(sketch, activation):
    inputs = [sketch.input(2), sketch.input(2)]
    assert sketch.build(sketch.node("ADD", inputs, (2,), fused_activation_function=activation)) is None


@pytest.mark.parametrize("shape", [(), (1, 1), (3,), (1, 1, 3), (2, 3), (2, 2, 3), (1, 2, 2, 3)])
def test_shapes_of_a_constant_operand(sketch, shape):
    assert sketch.build(sketch.node("MAXIMUM", [sketch.constant(*shape), sketch.input(1, 2, 2, 3)], (1, 2, 2, 3))) is None


def test_batches_of_a_constant_operand_gpu_build_constant_shape(sketch):
    constant = sketch.constant(2, 2, 2, 3)
    result = sketch.node("MAXIMUM", [sketch.input(2, 2, 2, 3), constant], (2, 2, 2, 3))
    assert_fails(sketch.build(result), "gpu-build-constant-shape", 0, tensor=constant)


@pytest.mark.parametrize("kind", ["INT64", "INT16"])
def test_type_of_a_constant_operand_gpu_build_constant_type(sketch, kind):
    constant = sketch.constant(2, type=kind)
    assert_fails(sketch.build(sketch.node("ADD", [sketch.input(2), constant], (2,))), "gpu-build-constant-type", 0, constant)


def test_constant_without_scale_gpu_build_unscaled_constant(sketch):
    constant = sketch.constant(2, type="INT8")
    assert_fails(sketch.build(sketch.node("ADD", [sketch.input(2), constant], (2,))), "gpu-build-unscaled-constant", 0, constant)


def test_operand_left_out_gpu_build_operand_count(sketch):
    assert_fails(sketch.build(sketch.node("ABS", [sketch.input(2), -1], (2,))), "gpu-build-operand-count", 0)


@pytest.mark.parametrize("shape", [(3,), (1, 3), (4, 2, 3), (1, 4, 2, 3)])
def test_slopes(sketch, shape):
    assert sketch.build(sketch.node("PRELU", [sketch.input(1, 4, 2, 3), sketch.constant(*shape)], (1, 4, 2, 3))) is None


@pytest.mark.parametrize("shape", [(2,), (4, 2, 2), (1, 2, 4, 3)])
def test_slopes_gpu_build_shape(sketch, shape):
    slopes = sketch.constant(*shape)
    assert_fails(
        sketch.build(sketch.node("PRELU", [sketch.input(1, 4, 2, 3), slopes], (1, 4, 2, 3))), "gpu-build-shape", 0, slopes
    )


def test_slopes_gpu_build_runtime_operand(sketch):
    inputs = [sketch.input(1, 4, 2, 3), sketch.input(3)]
    assert_fails(sketch.build(sketch.node("PRELU", inputs, (1, 4, 2, 3))), "gpu-build-runtime-operand", 0, inputs[1])


def test_select(sketch):
    condition = sketch.input(1, 2, 2, 3, type="BOOL")
    constants = [sketch.constant(1), sketch.constant(2, 2, 3)]
    assert sketch.build(sketch.node("SELECT_V2", [condition, *constants], (1, 2, 2, 3))) is None


def test_select_of_a_constant_condition_gpu_build_constant_operand(sketch):
    condition = sketch.constant(2, type="BOOL")
    result = sketch.node("SELECT_V2", [condition, sketch.input(2), sketch.input(2)], (2,))
    assert_fails(sketch.build(result), "gpu-build-constant-operand", 0, condition)


def test_select_of_three_dimensions_gpu_build_constant_shape(sketch):
    value = sketch.constant(2, 2, 3)
    result = sketch.node("SELECT", [sketch.input(2, 2, 3, type="BOOL"), value, sketch.input(2, 2, 3)], (2, 2, 3))
    assert_fails(sketch.build(result), "gpu-build-constant-shape", 0, value)


# Convolutions and products


def conv(sketch, x, weights, *more, op="CONV_2D", shape=(1, 4, 4, 2), **options):
    steps = {"stride_h": 1, "stride_w": 1, **options}
    return sketch.node(op, [x, weights, *more], shape, **steps)


@pytest.mark.parametrize("kind", ["FLOAT32", "FLOAT16"])
def test_convolution(sketch, kind):
    weights = sketch.constant(2, 3, 3, 2, type=kind)
    assert sketch.build(conv(sketch, sketch.input(1, 4, 4, 2), weights, sketch.constant(2))) is None


def test_convolution_with_runtime_weights(sketch):
    assert sketch.build(conv(sketch, sketch.input(1, 4, 4, 2), sketch.input(2, 3, 3, 2))) is None


def test_groups_with_runtime_weights_gpu_build_shape(sketch):
    weights = sketch.input(2, 3, 3, 1)
    assert_fails(sketch.build(conv(sketch, sketch.input(1, 4, 4, 2), weights)), "gpu-build-shape", 0, weights)


def test_weights_gpu_build_constant_type(sketch):
    weights = sketch.subgraph.tensor("w", "INT4", (2, 1, 1, 2), bytes(2), scale=0.5)
    assert_fails(sketch.build(conv(sketch, sketch.input(1, 4, 4, 2), weights)), "gpu-build-constant-type", 0, weights)


@pytest.mark.parametrize("bias", [(2, "INT64"), (2, "INT16")], ids=str)
def test_bias_that_cannot_be_read_counts_as_none(sketch, bias):
    bias = sketch.constant(bias[0], type=bias[1])
    assert sketch.build(conv(sketch, sketch.input(1, 4, 4, 2), sketch.constant(2, 3, 3, 2), bias)) is None


def test_runtime_bias_gpu_build_runtime_operand(sketch):
    bias = sketch.input(2)
    result = conv(sketch, sketch.input(1, 4, 4, 2), sketch.constant(2, 3, 3, 2), bias)
    assert_fails(sketch.build(result), "gpu-build-runtime-operand", 0, bias)


def test_depthwise_multiplier_with_runtime_weights_gpu_build_runtime_operand(sketch):
    weights = sketch.input(1, 3, 3, 4)
    arguments = {"op": "DEPTHWISE_CONV_2D", "shape": (1, 4, 4, 4)}
    result = conv(sketch, sketch.input(1, 4, 4, 2), weights, depth_multiplier=2, **arguments)
    assert_fails(sketch.build(result), "gpu-build-runtime-operand", 0, weights)


def test_fully_connected(sketch):
    flat = sketch.node("FULLY_CONNECTED", [sketch.input(2, 4), sketch.constant(3, 4), -1], (2, 3), weights_format=0)
    assert sketch.build(flat) is None


def test_fully_connected_that_folds_gpu_build_shape(sketch):
    weights = sketch.constant(3, 8)
    result = sketch.node("FULLY_CONNECTED", [sketch.input(2, 2, 4), weights, -1], (2, 3), weights_format=0)
    assert_fails(sketch.build(result), "gpu-build-shape", 0, weights)


def test_fully_connected_with_runtime_weights(sketch):
    result = sketch.node("FULLY_CONNECTED", [sketch.input(2, 3, 4), sketch.input(5, 4), -1], (6, 5), weights_format=0)
    assert sketch.build(result) is None


def test_product(sketch):
    result = sketch.node("BATCH_MATMUL", [sketch.input(2, 3, 4), sketch.constant(4, 5)], (2, 3, 5))
    assert sketch.build(result) is None


def test_product_with_batches_of_a_constant_gpu_build_shape(sketch):
    constant = sketch.constant(2, 4, 5)
    result = sketch.node("BATCH_MATMUL", [sketch.input(2, 3, 4), constant], (2, 3, 5))
    assert_fails(sketch.build(result), "gpu-build-shape", 0, constant)


def test_product_with_itself_gpu_build_repeated_operand(sketch):
    x = sketch.input(2, 3, 3)
    assert_fails(sketch.build(sketch.node("BATCH_MATMUL", [x, x], (2, 3, 3))), "gpu-build-repeated-operand", 0, x)


# Shapes


def test_concatenation_copies_what_stands_twice(sketch):
    x = sketch.input(1, 2, 2, 3)
    assert sketch.build(sketch.node("CONCATENATION", [x, x, sketch.constant(1, 2, 2, 3)], (1, 2, 2, 9), axis=3)) is None


def test_concatenation_of_a_constant_gpu_build_constant_shape(sketch):
    constant = sketch.constant(2, 3)
    result = sketch.node("CONCATENATION", [sketch.input(2, 3), constant], (2, 6), axis=1)
    assert_fails(sketch.build(result), "gpu-build-constant-shape", 0, constant)


def test_pack(sketch):
    assert sketch.build(sketch.node("PACK", [sketch.input(2, 3), sketch.input(2, 3)], (2, 2, 3), axis=1, values_count=2)) is None


def test_pack_of_what_stands_twice_gpu_build_repeated_operand(sketch):
    x = sketch.input(2, 3)
    result = sketch.node("PACK", [x, x], (2, 2, 3), axis=1, values_count=2)
    assert_fails(sketch.build(result), "gpu-build-repeated-operand", 0, x)


def test_pack_gpu_build_axis(sketch):
    result = sketch.node("PACK", [sketch.input(2), sketch.input(2)], (2, 2), axis=2, values_count=2)
    assert_fails(sketch.build(result), "gpu-build-axis", 0, result)


def test_unpack(sketch):
    assert sketch.build(*sketch.node("UNPACK", [sketch.input(2, 3)], (3,), (3,), axis=0, num=2)) is None


def test_unpack_of_a_vector_gpu_build_rank(sketch):
    results = sketch.node("UNPACK", [sketch.input(2)], (), (), axis=0, num=2)
    assert_fails(sketch.build(*results), "gpu-build-rank", None, results[0])


@pytest.mark.parametrize(("op", "order"), [("SPLIT", "ax"), ("SPLIT_V", "xsa")])
def test_split(sketch, op, order):
    operands = {"x": sketch.input(2, 4), "a": sketch.constant(type="INT32"), "s": sketch.vector(2, 2)}
    results = sketch.node(op, [operands[name] for name in order], (2, 2), (2, 2), num_splits=2)
    assert sketch.build(*results) is None


def test_split_along_a_runtime_axis_gpu_build_runtime_operand(sketch):
    axis = sketch.input(1, type="INT32")
    results = sketch.node("SPLIT", [axis, sketch.input(2, 4)], (2, 2), (2, 2), num_splits=2)
    assert_fails(sketch.build(*results), "gpu-build-runtime-operand", 0, axis)


def test_split_into_one_that_has_two_results_gpu_build_output_count(sketch):
    operands = [sketch.constant(type="INT32", value=0), sketch.input(2, 4)]
    first, second = sketch.node("SPLIT", operands, (2, 4), (2, 4), num_splits=1)
    assert_fails(sketch.build(second, sketch.node("ABS", [first], (2, 4))), "gpu-build-output-count", 0)


def test_gather_gpu_build_axis(sketch):
    x = sketch.input(2, 3)
    assert_fails(sketch.build(sketch.node("GATHER", [x, sketch.vector(0)], (1, 3), axis=2)), "gpu-build-axis", 0, x)


@pytest.mark.parametrize("kind", ["INT32", "INT64"])
def test_transpose(sketch, kind):
    assert sketch.build(sketch.node("TRANSPOSE", [sketch.input(2, 3), sketch.vector(1, 0, type=kind)], (3, 2))) is None


def test_transpose_of_a_vector_gpu_build_shape(sketch):
    assert_fails(sketch.build(sketch.node("TRANSPOSE", [sketch.input(2), sketch.vector(0)], (2,))), "gpu-build-shape", 0)


def test_slice_without_sizes_gpu_build_missing_operand(sketch):
    result = sketch.node("SLICE", [sketch.input(1, 4, 4, 2), sketch.vector(0, 0, 0, 0), -1], (1, 2, 2, 2))
    assert_fails(sketch.build(result), "gpu-build-missing-operand", 0)


@pytest.mark.parametrize(
    ("shape", "starts", "sizes", "result"),
    [
        ((1, 4, 4, 2), (0, 1, 1, 0), (1, 2, -1, 2), (1, 2, 3, 2)),
        ((1, 4, 4, 2), (1, 1, 0), (2, 3, 2), (1, 2, 3, 2)),
        ((4, 4, 2), (1, 1, 0), (2, 3, -1), (2, 3, 2)),
    ],
)
def test_slice(sketch, shape, starts, sizes, result):
    operands = [sketch.input(*shape), sketch.vector(*starts), sketch.vector(*sizes)]
    assert sketch.build(sketch.node("SLICE", operands, result)) is None


@pytest.mark.parametrize(
    ("shape", "starts", "sizes", "result"),
    [
        ((1, 4, 4, 2), (0, 1), (1, 2), (1, 2, 3, 2)),
        ((4, 4, 2), (1, 1, 0), (2, 3), (2, 3, 2)),
        ((1, 4, 4, 2), (0, 1, 1, 0), (1, 2, 3, 2), (1, 2, 2, 2)),
    ],
)
def test_slice_gpu_build_slice(sketch, shape, starts, sizes, result):
    operands = [sketch.input(*shape), sketch.vector(*starts), sketch.vector(*sizes)]
    assert_fails(sketch.build(sketch.node("SLICE", operands, result)), "gpu-build-slice", 0)


@pytest.mark.parametrize(
    ("shape", "starts", "ends", "strides", "masks", "result"),
    [
        ((1, 4, 4, 2), (0, 0, 1, 0), (1, 4, -1, 2), (1, 2, 1, 1), (0, 0), (1, 2, 2, 2)),
        ((1, 4, 4, 2), (9, 9, 9, 9), (9, 9, 9, 9), (1, 1, 1, 1), (15, 15), (1, 4, 4, 2)),
        ((1, 4, 4, 2), (1, 1, 0), (3, 3, 2), (1, 1, 1), (0, 0), (1, 2, 2, 2)),
        ((1, 4, 2), (0, 1, 0), (1, 3, 2), (1, 1, 1), (0, 0), (1, 2, 2)),
    ],
)
def test_strided_slice(sketch, shape, starts, ends, strides, masks, result):
    operands = [sketch.input(*shape), *(sketch.vector(*values) for values in (starts, ends, strides))]
    assert sketch.build(sketch.node("STRIDED_SLICE", operands, result, begin_mask=masks[0], end_mask=masks[1])) is None


@pytest.mark.parametrize(
    ("shape", "starts", "ends", "strides", "result"),
    [
        ((2, 4, 2), (0, 1, 0), (2, 3, 2), (1, 1, 1), (2, 2, 2)),
        ((1, 4, 4, 2), (0, 0), (1, 4), (1, 1), (1, 4, 4, 2)),
        ((1, 4, 4, 2), (0, 0, 3, 0), (1, 4, 0, 2), (1, 1, -1, 1), (1, 4, 3, 2)),
    ],
)
def test_strided_slice_gpu_build_slice(sketch, shape, starts, ends, strides, result):
    operands = [sketch.input(*shape), *(sketch.vector(*values) for values in (starts, ends, strides))]
    assert_fails(sketch.build(sketch.node("STRIDED_SLICE", operands, result, begin_mask=0)), "gpu-build-slice", 0)


# Reductions


def test_reduction_without_kept_dimensions(sketch):
    assert sketch.build(sketch.node("SUM", [sketch.input(1, 4, 4, 2), sketch.vector(1, 2)], (1, 2), keep_dims=False)) is None


def test_mean_gpu_build_axis(sketch):
    x = sketch.input(2, 3)
    assert_fails(sketch.build(sketch.node("MEAN", [x, sketch.vector(2)], (2, 3), keep_dims=True)), "gpu-build-axis", 0, x)


# Quantisation


def test_quantize_and_dequantize(sketch):
    small = sketch.node("QUANTIZE", [sketch.input(2, 3)], (2, 3), type="INT8", scale=0.5)
    assert sketch.build(sketch.node("DEQUANTIZE", [small], (2, 3))) is None


def test_quantize_to_a_type_without_rounding_gpu_build_quantization(sketch):
    result = sketch.node("QUANTIZE", [sketch.input(2, 3)], (2, 3), type="INT16", scale=0.5)
    assert_fails(sketch.build(result), "gpu-build-quantization", 0, result)


def test_dequantize_of_a_constant_gpu_build_constant_shape(sketch):
    constant = sketch.constant(2, 3, type="INT8", scale=0.5)
    assert_fails(sketch.build(sketch.node("DEQUANTIZE", [constant], (2, 3))), "gpu-build-constant-shape", 0, constant)


def test_densify_gpu_build_sparsity(sketch):
    constant = sketch.constant(1, 1, 1, 4)
    assert_fails(sketch.build(sketch.node("DENSIFY", [constant], (1, 1, 1, 4))), "gpu-build-sparsity", 0, constant)


# LSTM


def lstm(sketch, *, batch=1, variable=True, **replaced):
    state = sketch.variable if variable else sketch.input
    operands = [sketch.input(batch, 4), *(sketch.constant(4, 4) for _ in range(8)), -1, -1, -1]
    operands += [sketch.constant(4) for _ in range(4)] + [-1, -1, state(batch, 4), state(batch, 4)]
    for position, tensor in replaced.items():
        operands[int(position.removeprefix("at"))] = tensor
    return sketch.node("LSTM", operands, (batch, 4), fused_activation_function=TANH)


def test_lstm_gpu_build_lstm(sketch):
    assert_fails(sketch.build(lstm(sketch)), "gpu-build-lstm", 0)


def test_lstm_of_batches_gpu_build_shape(sketch):
    assert_fails(sketch.build(lstm(sketch, batch=2)), "gpu-build-shape", 0)


def test_lstm_without_variables_gpu_build_variable(sketch):
    assert_fails(sketch.build(lstm(sketch, variable=False)), "gpu-build-variable", 0)


def test_lstm_with_runtime_weights_gpu_build_runtime_operand(sketch):
    weights = sketch.input(4, 4)
    assert_fails(sketch.build(lstm(sketch, at6=weights)), "gpu-build-runtime-operand", 0, weights)


def test_lstm_without_weights_gpu_build_missing_operand(sketch):
    assert_fails(sketch.build(lstm(sketch, at2=-1)), "gpu-build-missing-operand", 0)


def test_lstm_with_8_bit_weights_takes_them_as_they_are(sketch):
    weights = sketch.constant(4, 4, type="INT8", scale=0.5)
    assert_fails(sketch.build(lstm(sketch, at2=weights)), "gpu-build-lstm", 0)


def test_lstm_with_8_bit_weights_gpu_build_unscaled_constant(sketch):
    weights = sketch.constant(4, 4, type="INT8")
    assert_fails(sketch.build(lstm(sketch, at2=weights)), "gpu-build-unscaled-constant", 0, weights)


def test_basic_lstm(sketch):
    operands = [sketch.input(1, 4), sketch.input(1, 4), sketch.constant(16, 8), sketch.constant(16), sketch.input(1, 4)]
    results = sketch.node("LSTM", operands, (1, 4), (1, 4), (1, 8), (1, 16), fused_activation_function=TANH, kernel_type=1)
    assert sketch.build(*results) is None


# Custom operators


def test_custom_operators(sketch):
    x, words = sketch.input(1, 4, 4, 2), (1, 2, 2, 2, 2, RELU)
    transposed = sketch.node(
        "CUSTOM", [x, sketch.constant(2, 3, 3, 2)], (1, 8, 8, 2), custom="Convolution2DTransposeBias", words=words
    )
    pooled, indices = sketch.node("CUSTOM", [x], (1, 2, 2, 2), (1, 2, 2, 2), custom="MaxPoolingWithArgmax2D", words=words)
    unpooled = sketch.node("CUSTOM", [pooled, indices], (1, 4, 4, 2), custom="MaxUnpooling2D", words=words)
    resampled = sketch.node("CUSTOM", [unpooled, x], (1, 4, 4, 2), custom="Resampler")
    assert sketch.build(transposed, resampled) is None


# The clean-up


@pytest.mark.parametrize("op", ["RESHAPE", "SLICE"])
def test_identity_beside_its_operand_gpu_build_identity(sketch, op):
    x = sketch.input(1, 4, 4, 2)
    more = {"RESHAPE": [], "SLICE": [sketch.vector(0, 0, 0, 0), sketch.vector(1, 4, 4, 2)]}[op]
    same = sketch.node(op, [x, *more], (1, 4, 4, 2))
    failure = sketch.build(sketch.node("ADD", [x, same], (1, 4, 4, 2)))
    assert_fails(failure, "gpu-build-identity", 0, x)
    assert "node 1 reads both" in failure.message


def test_identity_of_a_quantised_value_is_rounded_apart(sketch):
    quantised = {"type": "INT8", "scale": 0.5}
    x = sketch.node("ABS", [sketch.input(2, 3, **quantised)], (2, 3), **quantised)
    same = sketch.node("RESHAPE", [x], (2, 3), **quantised)
    assert sketch.build(sketch.node("ADD", [x, same], (2, 3), **quantised)) is None


def test_identity_that_is_a_result_stays(sketch):
    x = sketch.input(1, 4, 4, 2)
    same = sketch.node("RESHAPE", [x], (1, 4, 4, 2))
    assert sketch.build(same, sketch.node("ADD", [x, same], (1, 4, 4, 2))) is None


def test_change_of_shape_stays(sketch):
    x = sketch.input(2, 3)
    other = sketch.node("RESHAPE", [x], (3, 2))
    assert sketch.build(sketch.node("ADD", [x, other], (2, 3))) is None


@pytest.mark.parametrize("value", [0, 1])
def test_zeros_that_are_joined_twice_gpu_build_shared_constant(sketch, value):
    constant = sketch.constant(1, 2, 2, 1, type="INT8", value=value + 3, scale=0.5, zero_point=3)
    zeros = sketch.node("DEQUANTIZE", [constant], (1, 2, 2, 1))
    joined = [
        sketch.node("CONCATENATION", [sketch.input(1, 2, 2, 3), zeros], (1, 2, 2, 4), axis=3),
        sketch.node("CONCATENATION", [sketch.input(1, 2, 2, 3), zeros], (1, 2, 2, 4), axis=3),
    ]
    failure = sketch.build(*joined)
    if value:
        assert failure is None
    else:
        assert_fails(failure, "gpu-build-shared-constant", 0, zeros)


@pytest.mark.parametrize("uses", [1, 2])
def test_sparse_weights_of_two_convolutions_gpu_build_shared_constant(sketch, uses):
    sparse = sketch.constant(1, 1, 1, 4, sparsity=SPARSITY)
    weights = sketch.node("DENSIFY", [sparse], (1, 1, 1, 4))
    x = sketch.input(1, 4, 4, 4)
    failure = sketch.build(*[conv(sketch, x, weights, shape=(1, 4, 4, 1)) for _ in range(uses)])
    if uses == 1:
        assert failure is None
    else:
        assert_fails(failure, "gpu-build-shared-constant", 0, weights)


# Nothing is left out


def test_every_operator_that_is_taken_has_a_parser():
    assert set(PARSERS) == set(RULES)


def test_every_failure_is_worded_with_what_it_is_given():
    known = {"tensor", "type", "shape", "found", "needed", "wanted", "axis", "consumer"}
    for wording in failures._WORDINGS.values():
        assert {name for _, name, _, _ in string.Formatter().parse(wording.message) if name} <= known


def test_every_code_has_a_test():
    tested = " ".join(name for name in globals() if name.startswith("test_"))
    missing = {code for code in failures.EXPLANATIONS if code.replace("-", "_") not in tested}
    assert not missing
