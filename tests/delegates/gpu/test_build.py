"""Building the delegate's own model of a partition: what every operand must be, elementwise operators and convolutions."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.build import build_partition
from delegate_sim.graph.graph import file_graph
from delegate_sim.graph.partition import partition
from delegate_sim.model.reader import load
from tests.support.delegates.gpu_sketch import RELU, SIGN_BIT, TANH, assert_fails, conv

# What every node's operands must be


@pytest.mark.parametrize("shape", [(2,), (2, 3), (2, 3, 4), (1, 2, 3, 4)])
def test_ranks_that_the_model_has(sketch, shape):
    assert sketch.build(sketch.node("ABS", [sketch.input(*shape)], shape)) is None


def test_scalar_input_of_a_partition_gpu_build_rank(sketch):
    assert_fails(sketch.build(sketch.node("ABS", [sketch.input()], ())), "gpu-build-rank", None, tensor=0)


def test_scalar_between_nodes_gpu_build_rank(sketch):
    scalar = sketch.node("SUM", [sketch.input(2, 3), sketch.vector(0, 1)], ())
    assert_fails(sketch.build(sketch.node("ABS", [scalar], (2,))), "gpu-build-rank", 0, tensor=scalar)


def test_quantized_value_without_parameters_gpu_build_quantization(sketch):
    result = sketch.node("ABS", [sketch.input(2, type="INT8")], (2,), type="INT8", scale=0.5)
    assert_fails(sketch.build(result), "gpu-build-quantization", None, tensor=0)


def test_quantized_value_per_channel_gpu_build_quantization(sketch):
    result = sketch.node("ABS", [sketch.input(2, type="UINT8", scale=[0.5, 0.25])], (2,))
    assert_fails(sketch.build(result), "gpu-build-quantization", None, tensor=0)


def test_quantized_values_without_quantized_operators_are_like_others(sketch):
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
