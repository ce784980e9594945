"""Prepare of activation functions and conversions."""

from __future__ import annotations

import pytest

from delegate_sim.model.model import Allocation, Sparsity
from delegate_sim.prepare.tensors import PrepareError

RELU, RELU_N1_TO_1, RELU6, TANH = 1, 2, 3, 4
"""Values of the schema's ActivationFunctionType, as options hold them."""


@pytest.mark.parametrize("op", ["RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "LEAKY_RELU", "EXP"])
def test_int16_activation_is_symmetric(kernels, op):
    source, result = kernels.arena("INT16", 3), kernels.arena("INT16", 3)
    kernels.prepare(op, [source], [result])
    with pytest.raises(PrepareError, match="a zero point is not 0"):
        kernels.prepare(op, [kernels.quantized(source, 0.5, zero_point=1)], [result])


@pytest.mark.parametrize(
    ("op", "kind", "scale", "zero_point"),
    [
        ("LOGISTIC", "UINT8", 1 / 256, 7),
        ("LOGISTIC", "INT8", 1 / 256, 7),
        ("LOGISTIC", "INT16", 1 / 32768, 0),
        ("TANH", "INT8", 0.1, 7),
        ("TANH", "INT16", 1 / 32768, 0),
        ("SOFTMAX", "UINT8", 0.1, 7),
        ("SOFTMAX", "INT8", 1 / 256 * 1.0005, -128),
        ("SOFTMAX", "INT16", 1 / 32768, 0),
        ("LOG_SOFTMAX", "UINT8", 1 / 16, 255),
        ("LOG_SOFTMAX", "INT8", 1 / 16, 127),
        ("L2_NORMALIZATION", "UINT8", 1 / 128, 128),
        ("L2_NORMALIZATION", "INT8", 1 / 128, 0),
        ("HARD_SWISH", "INT8", 0.0079, 7),
    ],
)
def test_quantization_that_activations_accept(kernels, op, kind, scale, zero_point):
    source = kernels.quantized(kernels.arena(kind, 3), 1.0)
    result = kernels.quantized(kernels.arena(kind), scale, zero_point=zero_point)
    kernels.assert_static(kernels.prepare(op, [source], [result]), (3,))


@pytest.mark.parametrize(
    ("op", "kind", "scale", "zero_point", "message"),
    [
        ("LOGISTIC", "UINT8", 1 / 255, 0, "the output has a scale that the kernel does not support"),
        ("LOGISTIC", "INT16", 1 / 32768, 1, "a zero point is not 0"),
        ("TANH", "INT16", 1 / 16384, 0, "the scale of the output is not 1/32768"),
        ("TANH", "INT16", 1 / 32768 * 1.01, 0, "the scale of the output is not 1/32768"),
        ("TANH", "INT16", 1 / 32768, 1, "a zero point is not 0"),
        ("SOFTMAX", "INT8", 1 / 256, 0, "the output has a zero point that the kernel does not support"),
        ("SOFTMAX", "INT8", 1 / 256 * 1.002, -128, "the output has a scale that the kernel does not support"),
        ("SOFTMAX", "INT16", 1 / 256, 0, "the output has a scale that the kernel does not support"),
        ("LOG_SOFTMAX", "INT8", 1 / 16, 0, "the output has a zero point that the kernel does not support"),
        ("LOG_SOFTMAX", "UINT8", 1 / 256, 255, "the output has a scale that the kernel does not support"),
        ("L2_NORMALIZATION", "INT8", 1 / 128, 1, "the output has a zero point that the kernel does not support"),
        ("HARD_SWISH", "UINT8", 1 / 128, 0, "the output scale is too small for the input scale"),
    ],
)
def test_quantization_that_activations_refuse(kernels, op, kind, scale, zero_point, message):
    source = kernels.quantized(kernels.arena(kind, 3), 1.0)
    result = kernels.quantized(kernels.arena(kind, 3), scale, zero_point=zero_point)
    with pytest.raises(PrepareError, match=message):
        kernels.prepare(op, [source], [result])


def test_softmax_takes_different_types_but_no_scalar(kernels):
    kernels.assert_static(kernels.prepare("SOFTMAX", [kernels.arena("INT8", 3)], [kernels.arena("INT16")]), (3,))
    with pytest.raises(PrepareError, match="the input is a scalar"):
        kernels.prepare("SOFTMAX", [kernels.arena("FLOAT32")], [kernels.arena("FLOAT32")])


def test_prelu_takes_a_float16_alpha(kernels):
    operands = [kernels.arena("FLOAT32", 1, 4, 4, 3), kernels.constant([[[0.5] * 3]], "FLOAT16")]
    node = kernels.prepare("PRELU", operands, [kernels.arena("FLOAT16")])
    kernels.assert_static(node, (1, 4, 4, 3))
    assert node.output().type == "FLOAT32"


def test_prelu_refuses_an_alpha_larger_than_the_input(kernels):
    with pytest.raises(PrepareError, match="alpha cannot be broadcast to the shape of the input"):
        kernels.prepare("PRELU", [kernels.arena("FLOAT32", 1, 3), kernels.arena("FLOAT32", 4, 3)], [kernels.arena("FLOAT32")])


def test_l2_normalization_refuses_an_activation(kernels):
    operands = [kernels.arena("FLOAT32", 2, 3)], [kernels.arena("FLOAT32")]
    kernels.assert_static(kernels.prepare("L2_NORMALIZATION", *operands, fused_activation_function=0), (2, 3))
    with pytest.raises(PrepareError, match="there is a fused activation"):
        kernels.prepare("L2_NORMALIZATION", *operands, fused_activation_function=RELU)


def test_local_response_normalization_takes_four_dimensions_of_float32(kernels):
    op = "LOCAL_RESPONSE_NORMALIZATION"
    kernels.assert_static(kernels.prepare(op, [kernels.arena("FLOAT32", 1, 2, 3, 4)], [kernels.arena("FLOAT32")]), (1, 2, 3, 4))
    for kind, shape, message in (
        ("FLOAT32", (2, 3, 4), "the input does not have 4 dimensions"),
        ("FLOAT16", (1, 2, 3, 4), "tensor 1 is FLOAT16"),
    ):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare(op, [kernels.arena(kind, *shape)], [kernels.arena(kind)])


def test_cast_keeps_the_declared_type_and_computes_nothing(kernels):
    node = kernels.prepare("CAST", [kernels.persistent([1, 2])], [kernels.arena("FLOAT32")])
    kernels.assert_static(node, (2,))
    assert node.output().type == "FLOAT32"


@pytest.mark.parametrize(
    ("source", "shape", "result", "expected"),
    [
        ("FLOAT32", (2, 3), "INT32", (2, 3)),
        ("FLOAT32", (2, 3), "UINT8", (2, 3, 4)),
        ("INT16", (2, 4), "INT64", (2,)),
        ("INT4", (2, 3), "UINT8", (2, 3)),
    ],
)
def test_bitcast(kernels, source, shape, result, expected):
    kernels.assert_static(kernels.prepare("BITCAST", [kernels.arena(source, *shape)], [kernels.arena(result)]), expected)


@pytest.mark.parametrize(
    ("source", "shape", "result", "message"),
    [
        ("INT16", (2, 3), "INT64", "the last dimension of the input does not have the size of one output element"),
        ("INT8", (), "INT16", "the last dimension of the input does not have the size of one output element"),
        ("STRING", (2,), "INT8", "elements of type STRING have no size"),
    ],
)
def test_bitcast_refuses(kernels, source, shape, result, message):
    with pytest.raises(PrepareError, match=message):
        kernels.prepare("BITCAST", [kernels.arena(source, *shape)], [kernels.arena(result)])


@pytest.mark.parametrize(
    ("source", "result"), [("FLOAT32", "INT16"), ("FLOAT32", "INT4"), ("INT16", "INT32"), ("INT32", "INT8"), ("UINT8", "INT8")]
)
def test_quantize(kernels, source, result):
    operands = [kernels.quantized(kernels.arena(source, 3), 0.5)], [kernels.quantized(kernels.arena(result), 0.5)]
    kernels.assert_static(kernels.prepare("QUANTIZE", *operands), (3,))


@pytest.mark.parametrize(
    ("source", "result", "message"),
    [
        ("FLOAT32", "INT32", "tensor 1 is INT32"),
        ("FLOAT16", "INT8", "tensor 0 is FLOAT16"),
        ("INT8", "INT32", "tensor 1 is INT32"),
        ("INT16", "UINT8", "tensor 1 is UINT8"),
        ("INT4", "INT8", "tensor 0 is INT4"),
    ],
)
def test_quantize_refuses_types(kernels, source, result, message):
    operands = [kernels.quantized(kernels.arena(source, 3), 0.5)], [kernels.quantized(kernels.arena(result), 0.5)]
    with pytest.raises(PrepareError, match=message):
        kernels.prepare("QUANTIZE", *operands)


def test_quantize_needs_quantization(kernels):
    with pytest.raises(PrepareError, match="the output has no affine quantization"):
        kernels.prepare("QUANTIZE", [kernels.arena("FLOAT32", 3)], [kernels.arena("INT8", 3)])


def test_quantize_from_int16_to_int16_is_symmetric(kernels):
    source = kernels.quantized(kernels.arena("INT16", 3), 0.5, zero_point=1)
    kernels.prepare("QUANTIZE", [source], [kernels.quantized(kernels.arena("INT8"), 0.5)])
    with pytest.raises(PrepareError, match="a zero point is not 0"):
        kernels.prepare("QUANTIZE", [source], [kernels.quantized(kernels.arena("INT16"), 0.5)])


def test_dequantize_makes_float32(kernels):
    node = kernels.prepare("DEQUANTIZE", [kernels.arena("INT8", 3)], [kernels.arena("FLOAT16")])
    kernels.assert_static(node, (3,))
    assert node.output().type == "FLOAT32"


def test_dequantize_keeps_what_it_makes_of_a_constant(kernels):
    result = kernels.prepare("DEQUANTIZE", [kernels.constant([1, 2], "FLOAT16")], [kernels.arena("FLOAT32")]).output()
    assert (result.allocation, result.shape) == (Allocation.VARIABLE, (2,))


def test_dequantize_refuses(kernels):
    asymmetric = kernels.quantized(kernels.arena("INT16", 3), 0.5, zero_point=1)
    for source, message in (
        (kernels.arena("FLOAT32", 3), "tensor 0 is FLOAT32"),
        (kernels.arena("INT32", 3), "tensor 0 is INT32"),
        (asymmetric, "a zero point is not 0"),
    ):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("DEQUANTIZE", [source], [kernels.arena("FLOAT32")])


def test_fake_quant_refuses_a_narrow_range(kernels):
    operands = [kernels.arena("FLOAT32", 3)], [kernels.arena("FLOAT32")]
    kernels.assert_static(kernels.prepare("FAKE_QUANT", *operands, narrow_range=False), (3,))
    with pytest.raises(PrepareError, match="narrow_range is supported only for weights"):
        kernels.prepare("FAKE_QUANT", *operands, narrow_range=True)


def test_bucketize_makes_int32_of_sorted_boundaries(kernels):
    operands = [kernels.arena("FLOAT32", 3)], [kernels.arena("FLOAT32")]
    node = kernels.prepare("BUCKETIZE", *operands, boundaries=(1.0, 1.0, 2.0))
    kernels.assert_static(node, (3,))
    assert node.output().type == "INT32"
    with pytest.raises(PrepareError, match="the boundaries are not in order"):
        kernels.prepare("BUCKETIZE", *operands, boundaries=(2.0, 1.0))


def test_densify_keeps_its_result(kernels):
    sparse = kernels.constant([[0, 1], [2, 3]], "FLOAT16", sparsity=Sparsity((0, 1), (), ((True, 2), (False, 0))))
    node = kernels.prepare("DENSIFY", [sparse], [kernels.arena("FLOAT32")])
    assert node.output().allocation is Allocation.VARIABLE
    assert (node.output().type, node.output().shape) == ("FLOAT16", (2, 2))
    with pytest.raises(PrepareError, match="not constant"):
        kernels.prepare("DENSIFY", [sparse._replace(allocation=Allocation.ARENA)], [kernels.arena("FLOAT32")])
    with pytest.raises(PrepareError, match="not sparse"):
        kernels.prepare("DENSIFY", [sparse._replace(sparsity=None)], [kernels.arena("FLOAT32")])
