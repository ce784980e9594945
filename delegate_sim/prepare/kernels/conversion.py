"""Prepare functions of type conversion and quantization."""

from __future__ import annotations

import itertools

from ...model import schema
from ...model.model import Allocation
from ..kernel import KernelNode, KernelTensor, kernel
from ..operands import only_operand
from ..quantization import affine_quantization, check_symmetric

_BUCKETIZE_TYPES = ("INT32", "FLOAT32", "INT64", "FLOAT64")
_QUANTIZE_TYPES = {
    "FLOAT32": ("UINT8", "INT8", "INT16"),
    "INT32": ("INT8", "INT16"),
    "INT16": ("INT8", "INT16", "INT32"),
    "INT8": ("UINT8", "INT8"),
    "UINT8": ("UINT8", "INT8"),
}
"""The output types that QUANTIZE supports in every release, by input type."""
_LATER_QUANTIZE_TYPES = {
    "FLOAT32": {"litert-2.1.0": ("INT4",), "litert-2.1.2": ("UINT4",)},
    "INT8": {"litert-2.1.3": ("INT16",)},
    "UINT8": {"litert-2.1.3": ("INT16",)},
}
"""The output types that QUANTIZE supports since a release, by input type."""
_LATER_DEQUANTIZE_TYPES = {"tf-2.18": ("INT4",), "litert-2.1.0": ("INT2",), "litert-2.1.3": ("UINT4",)}


@kernel("CAST")
def prepare_cast(node: KernelNode) -> None:
    """``kernels/cast.cc: Prepare``. The result keeps its type from the model file. The type in the options is ignored."""
    source, result = only_operand(node)
    node.resize(result, source.shape)


@kernel("BITCAST")
def prepare_bitcast(node: KernelNode) -> None:
    """``kernels/bitcast.cc: Prepare, CalculateShape``.

    If the result's elements are smaller than the input's elements, the result has one more dimension than the input.
    """
    source, result = only_operand(node)
    source_size, result_size = _unpacked_size(node, source), _unpacked_size(node, result)
    if source_size > result_size:
        node.resize(result, (*source.shape, source_size // result_size))
    elif source_size < result_size:
        is_whole = source.shape[-1:] == (result_size // source_size,)
        node.ensure(is_whole, "the last dimension of the input does not have the size of one output element")
        node.resize(result, source.shape[:-1])
    else:
        node.resize(result, source.shape)


def _unpacked_size(node: KernelNode, tensor: KernelTensor) -> int:
    """Return the size of an element in bytes, at least 1 (``util.cc: GetSizeOfType``)."""
    bits = schema.BITS_PER_ELEMENT.get(tensor.type)
    if bits is None:
        node.fail(f"elements of type {tensor.type} have no size")
    return (bits + 7) // 8


@kernel("QUANTIZE", changed_in=("litert-2.1.0", "litert-2.1.2", "litert-2.1.3"))
def prepare_quantize(node: KernelNode) -> None:
    """``kernels/quantize.cc: Prepare``."""
    source, result = only_operand(node)
    node.ensure(affine_quantization(result) is not None, "the output has no affine quantization")
    node.ensure_type(source, _QUANTIZE_TYPES)
    node.ensure_type(result, _QUANTIZE_TYPES[source.type], _LATER_QUANTIZE_TYPES.get(source.type, {}))
    if source.type == result.type == "INT16":
        check_symmetric(node, source, result)
    node.resize(result, source.shape)


@kernel("DEQUANTIZE", changed_in=_LATER_DEQUANTIZE_TYPES)
def prepare_dequantize(node: KernelNode) -> None:
    """``kernels/dequantize.cc: Prepare``. If the operand is constant, the result is kept between invocations."""
    source, result = only_operand(node)
    node.ensure_type(source, ("UINT8", "INT8", "INT16", "FLOAT16"), _LATER_DEQUANTIZE_TYPES)
    if source.type == "INT16":
        check_symmetric(node, source)
    result.type = "FLOAT32"
    if source.is_constant:
        result.allocation = Allocation.VARIABLE
    node.resize(result, source.shape)


@kernel("FAKE_QUANT")
def prepare_fake_quant(node: KernelNode) -> None:
    """``kernels/fake_quant.cc: Prepare``."""
    source, result = only_operand(node)
    node.ensure(not node.options.narrow_range, "narrow_range is supported only for weights")
    result.type = source.type
    node.resize(result, source.shape)


@kernel("BUCKETIZE")
def prepare_bucketize(node: KernelNode) -> None:
    """``kernels/bucketize.cc: Prepare``."""
    source, result = only_operand(node)
    boundaries = node.options.boundaries
    is_sorted = not any(later < earlier for earlier, later in itertools.pairwise(boundaries))
    node.ensure(is_sorted, "the boundaries are not in order")
    node.ensure_type(source, _BUCKETIZE_TYPES)
    result.type = "INT32"
    node.resize(result, source.shape)


@kernel("DENSIFY")
def prepare_densify(node: KernelNode) -> None:
    """``kernels/densify.cc: Prepare``. The result is kept between invocations."""
    source, result = only_operand(node)
    node.ensure(source.type != "STRING", "strings cannot be sparse")
    node.ensure(source.is_constant, "the input is not constant")
    node.ensure(source.source.sparsity is not None, "the input is not sparse")
    result.type = source.type
    result.allocation = Allocation.VARIABLE
    node.resize(result, source.shape)
