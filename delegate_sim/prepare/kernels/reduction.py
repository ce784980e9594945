"""Prepare functions of reductions and running sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...foundation.late_numpy import np
from ...foundation.limits import element_count
from ...model import schema
from ..kernel import PERSISTENT_SINCE, KernelNode, KernelTensor, kernel
from ..operands import INT32_MAX, check_same_quantization, first_unknown, known_array, wrapped

if TYPE_CHECKING:
    import numpy.typing as npt
_CUMSUM_TYPES = ("INT32", "FLOAT32", "INT64")


@kernel("CUMSUM")
def prepare_cumsum(node: KernelNode) -> None:
    """``kernels/cumsum.cc: Prepare``."""
    node.ensure_counts(2, 1)
    source, axis, result = node.input(0), node.input(1), node.output()
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
    node.ensure_counts(2, 1)
    source, axis, result = node.input(0), node.input(1), node.output()
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
        node.ensure(source.element_count <= INT32_MAX, "the number of elements overflows")
    if source.quantization is not None and node.since("litert-2.1.5"):
        node.ensure(source.quantization.is_affine, "the quantization is not affine")
        node.ensure_type(source, _QUANTIZED_PRODUCT_TYPES)
    if first_unknown(source) is not None or result.element_count > _LARGEST_COMPUTED_RESULT:
        return
    if source.quantization is None and source.type in ("UINT8", "INT8", "INT16"):
        check_same_quantization(node, source, result)
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
    if not axis.is_constant_or_persistent:
        node.set_dynamic(result, axis)
        return
    position = wrapped(axis.integers()[0], source.rank)
    node.ensure(0 <= position < source.rank, "the axis is out of range")
    if node.since("litert-2.2.0"):
        node.ensure(source.shape[position] > 0, "the dimension to search is empty")
    outer, inner = source.shape[:position], source.shape[position + 1 :]
    node.ensure(element_count(outer) <= INT32_MAX and element_count(inner) <= INT32_MAX, "the number of elements overflows")
    shape = (*outer, *inner)
    node.ensure(element_count(shape) <= INT32_MAX, "the number of elements of the result overflows")
    node.resize(result, shape)
