"""Prepare of changes of type and encoding."""

from __future__ import annotations

import pytest

from delegate_sim.model.model import Allocation, Sparsity
from delegate_sim.prepare.kernel import PrepareError


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
