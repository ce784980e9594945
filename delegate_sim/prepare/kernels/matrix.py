"""Prepare functions of matrix products, reductions and running sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...foundation.late_numpy import np
from ...foundation.limits import element_count
from ...graph.graph import fused_activation
from ...model import schema
from ...model.precompiled import FlexbufferMap
from .. import operands
from ..kernel import PERSISTENT_SINCE, KernelNode, kernel
from ..tensors import KernelTensor, affine_quantization, broadcast_shape, first_unknown, known_array, wrapped

if TYPE_CHECKING:
    import numpy.typing as npt


_CUMSUM_TYPES = ("INT32", "FLOAT32", "INT64")


@kernel("CUMSUM")
def prepare_cumsum(node: KernelNode) -> None:
    """``kernels/cumsum.cc: Prepare``."""
    source, axis, result = node.operands(2)
    node.ensure_type(source, _CUMSUM_TYPES)
    node.ensure_type(axis, "INT32")
    node.ensure(axis.element_count == 1, "the axis is not a single number")
    node.ensure(source.rank >= 1, "the input is a scalar")
    node.resize(result, source.shape)


_LARGEST_COMPUTED_RESULT = 8
"""Largest number of elements of a result that REDUCE_PROD computes during Prepare.

A small result may be a product of sizes that other Prepare functions read.
"""

_REDUCED_TYPES = frozenset({"FLOAT32", "INT32", "INT64", "UINT8", "INT8", "INT16", "BOOL"})
_QUANTIZED_PRODUCT_TYPES = frozenset({"INT8", "INT16"})
_COMPUTED_PRODUCT_TYPES = frozenset({"FLOAT32", "INT32", "INT64"})
_ARG_TYPES = frozenset({"FLOAT32", "UINT8", "INT8", "INT32", "BOOL"})


@kernel("REDUCE_MAX", "REDUCE_MIN", "MEAN", "SUM", changed_in=("litert-2.2.0",))
def prepare_reduction(node: KernelNode) -> None:
    """``kernels/reduce.cc: PrepareSimple, PrepareMeanOrSum``, without temporary tensors and multipliers."""
    source, axis, result = node.operands(2)
    node.ensure_type(axis, "INT32")
    node.ensure_type(source, _REDUCED_TYPES)
    if source.type == "INT16":
        node.ensure(source.zero_point == 0 and result.zero_point == 0, "a zero point of INT16 is not 0")
    if axis.is_constant_or_persistent:
        node.resize(result, _reduced_shape(node, source, _resolved_axes(node, source, axis)))
    else:
        node.set_dynamic(result, axis)


@kernel("REDUCE_ANY", "REDUCE_ALL", changed_in=("litert-2.2.0",))
def prepare_all_or_any(node: KernelNode) -> None:
    """``kernels/reduce.cc: PrepareAllOrAny``."""
    node.ensure_type(node.input(0), "BOOL")
    prepare_reduction(node)


@kernel("REDUCE_PROD", changed_in=(PERSISTENT_SINCE, "litert-2.1.5", "litert-2.2.0"))
def prepare_product(node: KernelNode) -> None:
    """``kernels/reduce.cc: PrepareProd``."""
    prepare_reduction(node)
    source, axis, result = node.input(0), node.input(1), node.output()
    if not axis.is_constant_or_persistent:
        return
    if node.since("litert-2.2.0"):
        node.ensure(source.element_count <= operands.INT32_MAX, "the number of elements overflows")
    if source.quantization is not None and node.since("litert-2.1.5"):
        node.ensure(source.quantization.is_affine, "the quantization is not affine")
        node.ensure_type(source, _QUANTIZED_PRODUCT_TYPES)
    if first_unknown(source) is not None or result.element_count > _LARGEST_COMPUTED_RESULT:
        return
    if source.quantization is None and source.type in ("UINT8", "INT8", "INT16"):
        operands.check_same_quantization(node, source, result)
    node.set_persistent(result, result.shape, _product(source, _resolved_axes(node, source, axis), result.shape))


def _resolved_axes(node: KernelNode, source: KernelTensor, axis: KernelTensor) -> set[int]:
    """Return the axes to reduce, counted from the front, or no axes for a scalar (``kernels/reduce.cc: ResolveAxisForShape``).

    If the option ``keep_dims`` is set, releases before LiteRT 2.2 ignore an axis out of range.
    """
    if source.rank == 0:
        return set()
    axes = {wrapped(number, source.rank) for number in axis.integers()[: axis.element_count]}
    inside = {number for number in axes if 0 <= number < source.rank}
    if not node.options.keep_dims or node.since("litert-2.2.0"):
        node.ensure(inside == axes, "an axis is out of range")
    return inside


def _reduced_shape(node: KernelNode, source: KernelTensor, axes: set[int]) -> list[int]:
    if node.options.keep_dims:
        return [1 if number in axes else size for number, size in enumerate(source.shape)]
    return [size for number, size in enumerate(source.shape) if number not in axes]


def _product(source: KernelTensor, axes: set[int], shape: Sequence[int]) -> npt.NDArray[Any] | None:
    array = known_array(source) if source.type in _COMPUTED_PRODUCT_TYPES and source.quantization is None else None
    if array is None:
        return None
    with np.errstate(over="ignore"):
        # bounded: the elements of the array have a fixed width
        product: npt.NDArray[Any] = np.asarray(np.prod(array, tuple(axes), dtype=array.dtype))
    return product.reshape(shape)


@kernel("ARG_MAX", "ARG_MIN", changed_in=("litert-2.2.0",))
def prepare_arg_max(node: KernelNode) -> None:
    """``kernels/arg_min_max.cc: Prepare``."""
    node.ensure_counts(2, 1)
    source, axis = node.input(0), node.input(1)
    node.ensure(axis.element_count == 1, "the axis is not a single number")
    node.ensure_type(axis, ("INT32", "INT64"))
    result = node.output()
    output_type = schema.tensor_type_name(node.options.output_type)
    node.ensure(output_type in ("INT32", "INT64"), "the type of the output is not INT32 or INT64")
    result.type = output_type
    node.ensure_type(source, _ARG_TYPES)
    node.ensure(source.rank >= 1, "the input is a scalar")
    if node.made_dynamic(result, axis):
        return
    position = wrapped(axis.integers()[0], source.rank)
    node.ensure(0 <= position < source.rank, "the axis is out of range")
    if node.since("litert-2.2.0"):
        node.ensure(source.shape[position] > 0, "the dimension to search is empty")
    outer, inner = source.shape[:position], source.shape[position + 1 :]
    node.ensure(
        element_count(outer) <= operands.INT32_MAX and element_count(inner) <= operands.INT32_MAX,
        "the number of elements overflows",
    )
    shape = (*outer, *inner)
    node.ensure(element_count(shape) <= operands.INT32_MAX, "the number of elements of the result overflows")
    node.resize(result, shape)


_QUANTIZED_TYPES = ("UINT8", "INT8", "INT16")
_INTEGER_BIAS_TYPES = ("INT32", "INT64")
_SPECIFICATION = "cint2_fp32_int4_e8m0_drq"
"""The only quantization that ``quant_spec`` of a FULLY_CONNECTED may name."""
_SPECIFICATION_BLOCK = 32
_DEFAULT_WEIGHTS, _SHUFFLED_WEIGHTS = 0, 1


@kernel("FULLY_CONNECTED", changed_in=("litert-2.1.4", "litert-2.1.5", "litert-2.4"))
def prepare_fully_connected(node: KernelNode) -> None:
    """``kernels/fully_connected.cc: Prepare, PrepareImpl``."""
    source, weights = node.input(0), node.input(1)
    if node.options.quant_spec and node.since("litert-2.4"):
        _check_specification(node, source, weights)
    _check_fully_connected_options(node, source, weights)
    options = node.options
    node.ensure_counts((2, 3), 1 if options.weights_format == _DEFAULT_WEIGHTS else 2)
    bias, result = node.optional_input(2), node.output()
    _check_fully_connected_types(node, source, weights, bias, result)
    node.ensure_rank(weights, 2)
    units, depth = weights.shape
    if depth == 0:
        rows = element_count(source.shape[:-1])
        node.resize(result, (*source.shape[:-1], units) if options.keep_num_dims else (rows, units))
        return
    if bias is not None:
        node.ensure(bias.element_count == units, "the bias does not have one element for each unit")
    if source.type in _QUANTIZED_TYPES:
        _check_fully_connected_quantization(node, source, weights, bias, result)
    elif weights.source.sparsity is not None and weights.type in operands.HYBRID_WEIGHT_TYPES and node.since("litert-2.4"):
        stored = [is_dense for is_dense, _ in weights.source.sparsity.dimensions]
        node.ensure(stored[:2] == [True, False], "the sparse weights are not stored as rows of compressed columns")
    if source.type == result.type == "INT16":
        operands.check_symmetric(node, source, result)
        operands.check_quantized_bias_type(node, bias)
    if options.keep_num_dims:
        node.ensure(source.shape[-1] == depth, "the last dimension of the input differs from the last dimension of the weights")
        node.resize(result, (*source.shape[:-1], units))
    else:
        node.resize(result, (source.element_count // depth, units))


def _check_specification(node: KernelNode, source: KernelTensor, weights: KernelTensor) -> None:
    """Check the quantization that ``quant_spec`` names. The checks and their order were measured with a wheel.

    The runtime compares the number of scales with the number of units only when the node runs.
    """
    entries = FlexbufferMap(bytes(node.options.quant_spec or ()))
    node.ensure(entries.is_valid, "quant_spec is not a flexbuffer")
    node.ensure(entries.text("spec") == _SPECIFICATION, "quant_spec names an unknown quantization")
    is_hybrid = source.type == "FLOAT32" and weights.type in operands.HYBRID_WEIGHT_TYPES
    node.ensure(is_hybrid, "quant_spec needs a float input and quantized weights")
    node.ensure_type(weights, "INT2")
    node.ensure_rank(weights, 2)
    node.ensure(weights.shape[1] % _SPECIFICATION_BLOCK == 0, f"the input channels are not a multiple of {_SPECIFICATION_BLOCK}")
    dilation = entries.number("act_dilation")
    node.ensure(dilation is not None and math.isfinite(dilation) and dilation >= 0, "quant_spec has no usable act_dilation")
    node.ensure(weights.source.sparsity is None, "quant_spec does not support sparse weights")


def _check_fully_connected_options(node: KernelNode, source: KernelTensor, weights: KernelTensor) -> None:
    is_hybrid = source.type == "FLOAT32" and weights.type in operands.HYBRID_WEIGHT_TYPES
    node.ensure(is_hybrid or fused_activation(node) not in ("TANH", "SIGN_BIT"), "the fused activation is not supported")
    quantization = affine_quantization(weights)
    if weights.type in ("INT4", "INT2") and quantization is not None:
        node.ensure(not quantization.zero_points.any(), "a zero point of the weights is not 0")


def _check_fully_connected_types(
    node: KernelNode, source: KernelTensor, weights: KernelTensor, bias: KernelTensor | None, result: KernelTensor
) -> None:
    is_quantized = weights.type in operands.HYBRID_WEIGHT_TYPES or (weights.type == "INT16" and node.since("litert-2.1.4"))
    expected: tuple[str | tuple[str, ...], str | tuple[str, ...], str | tuple[str, ...]]
    if is_quantized and node.options.weights_format == _SHUFFLED_WEIGHTS:
        node.ensure_type(weights, "UINT8")
        expected = ("UINT8", "INT16", _INTEGER_BIAS_TYPES)
    elif not is_quantized:
        node.ensure_type(weights, "FLOAT32")
        expected = ("FLOAT32", "FLOAT32", "FLOAT32")
    elif weights.type == "INT16":
        expected = ("INT16", "INT16", _INTEGER_BIAS_TYPES)
    elif source.type == "FLOAT32":
        expected = ("FLOAT32", "FLOAT32", "FLOAT32")
    else:
        expected = (_QUANTIZED_TYPES, _QUANTIZED_TYPES, _INTEGER_BIAS_TYPES)
    node.ensure_type(source, expected[0])
    node.ensure_type(result, expected[1])
    if bias is not None:
        node.ensure_type(bias, expected[2])


def _check_fully_connected_quantization(
    node: KernelNode, source: KernelTensor, weights: KernelTensor, bias: KernelTensor | None, result: KernelTensor
) -> None:
    node.ensure(affine_quantization(source) is not None, "the input has no affine quantization")
    quantization = operands.weights_quantization(node, weights)
    if quantization.is_per_channel:
        node.ensure_type(source, ("INT8", "INT16"))
        node.ensure_type(weights, ("INT8", "INT4", "INT2", "INT16"))
        if node.since("litert-2.1.5"):
            node.ensure(quantization.dimension == 0, "the scales are not along the units")
        slices = weights.shape[quantization.dimension]
        node.ensure(len(quantization.scales) == slices, "the weights do not have one scale for each unit")
    else:
        operands.check_product_scale(node, source, weights, bias, result)
    if source.type == "UINT8" and result.type == "INT16":
        node.ensure_type(weights, "UINT8")
    operands.check_activation_range(node, result)


@kernel("BATCH_MATMUL", changed_in=("litert-2.1.4",))
def prepare_batch_matmul(node: KernelNode) -> None:
    """``kernels/batch_matmul.cc: Prepare``."""
    left, right, result = node.operands(2)
    _check_batch_matmul_types(node, left, right, result)
    node.ensure(2 <= left.rank <= 5 and 2 <= right.rank <= 5, "an input does not have 2 to 5 dimensions")
    rows, left_depth = left.shape[-2:]
    right_depth, columns = right.shape[-2:]
    if node.options.adj_x:
        rows, left_depth = left_depth, rows
    if node.options.adj_y:
        right_depth, columns = columns, right_depth
    node.ensure(left_depth == right_depth, "the columns of the left matrix do not match the rows of the right matrix")
    node.resize(result, (*broadcast_shape(left.shape[:-2], right.shape[:-2]), rows, columns))


def _check_batch_matmul_types(node: KernelNode, left: KernelTensor, right: KernelTensor, result: KernelTensor) -> None:
    if left.type in ("INT8", "INT16") and result.type != "INT32":
        operands.check_product_scale(node, left, right, None, result)
    operands.check_int16(node, left, right, result)
    node.ensure_type(left, ("FLOAT32", "INT8", "INT16"))
    if left.type == "INT8":
        node.ensure_type(right, "INT8")
    else:
        has_hybrid = left.type != "INT16" or node.since("litert-2.1.4")
        node.ensure_type(right, (left.type, "INT8") if has_hybrid else left.type)


@kernel("MATRIX_DIAG")
def prepare_matrix_diag(node: KernelNode) -> None:
    """``kernels/matrix_diag.cc: Prepare``."""
    source, result = node.operands(1)
    node.ensure(source.rank >= 1, "the input is a scalar")
    result.type = source.type
    node.resize(result, (*source.shape, source.shape[-1]))


@kernel("MATRIX_SET_DIAG")
def prepare_matrix_set_diag(node: KernelNode) -> None:
    """``kernels/matrix_set_diag.cc: Prepare``. The kernel does not check the diagonal operand."""
    node.ensure_counts(2, 1)
    source, result = node.input(0), node.output()
    node.ensure(source.rank >= 2, "the input has fewer than 2 dimensions")
    node.make_like(result, source)
