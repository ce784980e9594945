"""Prepare functions of elementwise arithmetic, comparison, logic and selection."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from ...foundation.late_numpy import np
from ...foundation.limits import element_count
from ...graph.graph import fused_activation
from ..kernel import PERSISTENT_SINCE, KernelNode, kernel
from ..operands import HALF_TYPES_LATER, check_activation_range, check_int16, check_symmetric
from ..tensors import KernelTensor, affine_quantization, broadcast_shape, first_unknown, known_array, power_of_two_exponent

if TYPE_CHECKING:
    import numpy.typing as npt

_ZERO_POINT_RANGES = {"UINT8": (0, 255), "INT8": (-128, 127), "INT16": (-32768, 32767)}
_BITS_FOR_SUMS = {"UINT8": 20, "INT8": 20, "INT16": 15}
"""The number of bits by which ADD and SUB shift quantized operands to the left before they rescale them."""
_SQUARED_DIFFERENCE_BITS = 14

_PAIR_TYPES = {
    "POW": ("INT32", "FLOAT32"),
    "FLOOR_DIV": ("FLOAT32", "INT32", "INT16", "INT8"),
    "FLOOR_MOD": ("INT8", "INT16", "INT32", "FLOAT32", "INT64"),
    "LOGICAL_AND": ("BOOL",),
    "LOGICAL_OR": ("BOOL",),
}
_UNARY_TYPES = {
    "ABS": ("FLOAT32", "INT8", "INT16", "INT32"),
    "LOG": ("FLOAT32", "INT8", "INT16"),
    "RSQRT": ("FLOAT32", "INT8", "INT16"),
    "LOGICAL_NOT": ("BOOL",),
    **dict.fromkeys(("COS", "SIN", "SQRT", "SQUARE"), ("FLOAT32",)),
}
_LATER_UNARY_TYPES: Mapping[str, Mapping[str, Collection[str]]] = {
    "COS": {"litert-2.1.6": ("FLOAT16",)},
    "SIN": {"litert-2.1.6": ("FLOAT16",)},
    "SQRT": {"litert-2.0.2": ("INT8", "INT16")},
}
"""The types that unary operators support since a release."""
_MULTIPLIED_TYPES = ("FLOAT32", "INT32", "INT64", "COMPLEX64", "UINT32")
_COMPUTED_PRODUCTS = ("FLOAT32", "INT32", "INT64")
"""Types of products that this module computes. Prepare functions of later kernels may read such a product."""
_ACTIVATION_RANGES: dict[str, tuple[int, int | None]] = {"RELU": (0, None), "RELU6": (0, 6), "RELU_N1_TO_1": (-1, 1)}

_SELECT_MAX_RANK = 8


def _pair_of_one_type(node: KernelNode) -> tuple[KernelTensor, KernelTensor, KernelTensor]:
    first, second, result = node.operands(2)
    node.ensure(first.type == second.type, "the operands have different types")
    return first, second, result


def _resize_to_broadcast(node: KernelNode, first: KernelTensor, second: KernelTensor, result: KernelTensor) -> None:
    node.resize(result, broadcast_shape(first.shape, second.shape))


@kernel("ADD")
def prepare_add(node: KernelNode) -> None:
    """``kernels/add.cc: Prepare``."""
    first, second, result = _pair_of_one_type(node)
    result.type = first.type
    shape = broadcast_shape(first.shape, second.shape)
    if result.type in ("UINT8", "INT8"):
        _check_rescaled_sum(node, first, second, result)
    elif result.type == "INT16" and first.quantization is not None:
        _check_int16_sum(node, first, second, result)
    node.resize(result, shape)


@kernel("SUB")
def prepare_sub(node: KernelNode) -> None:
    """``kernels/sub.cc: Prepare, PrepareGeneralSubOp, PrepareInt16SubOpPOT``."""
    first, second, result = _pair_of_one_type(node)
    result.type = first.type
    shape = broadcast_shape(first.shape, second.shape)
    if result.type in ("UINT8", "INT8"):
        _check_zero_points(node, first, second, result)
        _check_rescaled_sum(node, first, second, result, may_enlarge=True)
    elif result.type == "INT16":
        _check_int16_sum(node, first, second, result, may_enlarge=True)
    node.resize(result, shape)


def _check_int16_sum(
    node: KernelNode, first: KernelTensor, second: KernelTensor, result: KernelTensor, may_enlarge: bool = False
) -> None:
    """Check the quantization of an INT16 sum.

    If the option ``pot_scale_int16`` is set and all scales are powers of two, the kernel shifts one operand. In all other cases,
    the kernel rescales both operands.
    """
    check_symmetric(node, first, second, result)
    has_powers_of_two = all(power_of_two_exponent(tensor) is not None for tensor in (first, second, result))
    if node.options.pot_scale_int16 and has_powers_of_two:
        greater = max(first, second, key=lambda operand: operand.scale)
        is_kept = power_of_two_exponent(greater) == power_of_two_exponent(result)
        node.ensure(is_kept, "the output scale is not the larger input scale")
        check_activation_range(node, result)
    else:
        _check_rescaled_sum(node, first, second, result, may_enlarge)


def _check_rescaled_sum(
    node: KernelNode, first: KernelTensor, second: KernelTensor, result: KernelTensor, may_enlarge: bool = False
) -> None:
    """Refuse the node if the runtime would abort because of the scales of a sum.

    The runtime aborts if the multiplier of the result is 1. If ``may_enlarge`` is false, the runtime also aborts if a
    multiplier is above 1.
    """
    common_scale = _common_scale(node, first, second)
    result_scale = result.scale * (1 << _BITS_FOR_SUMS[result.type])
    is_usable = common_scale != result_scale if may_enlarge else common_scale < result_scale
    node.ensure(is_usable, "the runtime aborts, because the output scale does not fit the input scales")
    check_activation_range(node, result)


def _common_scale(node: KernelNode, first: KernelTensor, second: KernelTensor) -> float:
    node.ensure(first.scale > 0 and second.scale > 0, "the runtime aborts, because an input has no scale")
    return 2 * max(first.scale, second.scale)


def _check_zero_points(node: KernelNode, *tensors: KernelTensor) -> None:
    for tensor in tensors:
        low, high = _ZERO_POINT_RANGES[tensor.type]
        node.ensure(low <= tensor.zero_point <= high, "a zero point is out of range")


@kernel("MUL", changed_in=(PERSISTENT_SINCE, "litert-2.1.6"))
def prepare_mul(node: KernelNode) -> None:
    """``kernels/mul.cc: Prepare``. The result keeps its type from the model file."""
    first, second, result = _pair_of_one_type(node)
    if result.type == "COMPLEX64":
        node.ensure(fused_activation(node) == "NONE", "a multiplication of COMPLEX64 cannot have a fused activation")
    shape = broadcast_shape(first.shape, second.shape)
    is_quantized_int16 = result.type == "INT16" and result.quantization is not None
    if result.type in ("UINT8", "INT8") or is_quantized_int16:
        check_activation_range(node, result)
    if first_unknown(first, second) is None:
        _check_product_types(node, first, second, result)
        node.set_persistent(result, shape, _product(node, first, second, result, element_count(shape)))
    else:
        node.resize(result, shape)


def _check_product_types(node: KernelNode, first: KernelTensor, second: KernelTensor, result: KernelTensor) -> None:
    """Check the types of a product of known values, which the kernel computes during Prepare.

    Upstream: ``kernels/mul.cc: EvalImpl, EvalQuantized``.
    """
    if result.type in _MULTIPLIED_TYPES or (result.type == "INT16" and result.quantization is None):
        return
    if result.type == "FLOAT16" and node.since("litert-2.1.6"):
        return
    node.ensure_type(result, ("UINT8", "INT8", "INT16"))
    node.ensure(first.type in (result.type, "INT16"), "the kernel does not multiply these types")
    if result.type == "INT16":
        check_symmetric(node, first, second, result)


def _product(
    node: KernelNode, first: KernelTensor, second: KernelTensor, result: KernelTensor, count: int
) -> npt.NDArray[Any] | None:
    is_computed = result.type == first.type and result.type in _COMPUTED_PRODUCTS and node.elements.take(count)
    left = known_array(first) if is_computed else None
    right = known_array(second) if is_computed else None
    if left is None or right is None:
        return None
    with np.errstate(all="ignore"):
        product = np.multiply(left, right)
    bounds = _ACTIVATION_RANGES.get(fused_activation(node))
    return np.asarray(product if bounds is None else np.clip(product, *bounds))


@kernel("DIV", changed_in=("litert-1.4.0", "litert-2.0.2"))
def prepare_div(node: KernelNode) -> None:
    """``kernels/div.cc: Prepare``."""
    first, second, result = _pair_of_one_type(node)
    result.type = first.type
    shape = broadcast_shape(first.shape, second.shape)
    is_int8 = result.type == "INT8" and node.since("litert-1.4.0")
    is_int16 = result.type == "INT16" and node.since("litert-2.0.2")
    if result.type == "UINT8" or is_int8 or is_int16:
        check_activation_range(node, result)
    node.resize(result, shape)


@kernel(*_PAIR_TYPES, "MAXIMUM", "MINIMUM", "BITWISE_XOR", "RIGHT_SHIFT")
def prepare_pair(node: KernelNode) -> None:
    """``maximum_minimum.cc``, ``bitwise_xor.cc``, ``right_shift.cc``, ``pow.cc``, ``logical.cc``, ``floor_*.cc``."""
    first, second, result = _pair_of_one_type(node)
    if node.op in _PAIR_TYPES:
        node.ensure_type(first, _PAIR_TYPES[node.op])
    result.type = first.type
    _resize_to_broadcast(node, first, second, result)


@kernel("SQUARED_DIFFERENCE")
def prepare_squared_difference(node: KernelNode) -> None:
    """``kernels/squared_difference.cc: Prepare``."""
    first, second, result = _pair_of_one_type(node)
    result.type = first.type
    if result.type == "INT8":
        _check_zero_points(node, first, second, result)
        squared_scale = _common_scale(node, first, second) ** 2
        is_usable = squared_scale < result.scale * (1 << _SQUARED_DIFFERENCE_BITS)
        node.ensure(is_usable, "the runtime aborts, because the output scale does not fit the input scales")
    _resize_to_broadcast(node, first, second, result)


@kernel("ATAN2", changed_in=HALF_TYPES_LATER)
def prepare_atan2(node: KernelNode) -> None:
    """``kernels/atan2.cc: Atan2Prepare``. The operands must have the same rank, but not the same sizes."""
    first, second, result = _pair_of_one_type(node)
    node.ensure(first.rank == second.rank, "the operands have different numbers of dimensions")
    node.ensure(first.type == result.type, "input and output have different types")
    node.ensure_type(first, ("FLOAT32", "FLOAT64"), HALF_TYPES_LATER)
    node.resize(result, first.shape)


@kernel("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")
def prepare_comparison(node: KernelNode) -> None:
    """``kernels/comparisons.cc: ComparisonPrepareCommon``."""
    first, second, result = _pair_of_one_type(node)
    if node.op not in ("EQUAL", "NOT_EQUAL"):
        node.ensure(first.type != "STRING", "strings cannot be ordered")
    result.type = "BOOL"
    _resize_to_broadcast(node, first, second, result)


@kernel("SIN", "COS", changed_in=_LATER_UNARY_TYPES["SIN"])
@kernel("SQRT", changed_in=_LATER_UNARY_TYPES["SQRT"])
@kernel("ABS", "LOG", "LOGICAL_NOT", "RSQRT", "SQUARE")
def prepare_unary(node: KernelNode) -> None:
    """``kernels/elementwise.cc: GenericPrepare``."""
    source, result = node.operands(1)
    node.ensure(source.type == result.type, "input and output have different types")
    node.ensure_type(source, _UNARY_TYPES[node.op], _LATER_UNARY_TYPES.get(node.op, {}))
    if source.type == "INT8" or (source.type == "INT16" and source.quantization is not None):
        _check_unary_quantization(node, source, result)
    node.resize(result, source.shape)


def _check_unary_quantization(node: KernelNode, *tensors: KernelTensor) -> None:
    for tensor in tensors:
        quantization = affine_quantization(tensor)
        if quantization is None or not len(quantization.zero_points):
            node.fail("input and output must have affine quantization")
        if tensor.type == "INT16":
            node.ensure(quantization.zero_point == 0, "the zero point of INT16 is not 0")


@kernel("CEIL")
def prepare_ceil(node: KernelNode) -> None:
    """``kernels/ceil.cc: Prepare``."""
    source, result = node.operands(1)
    node.ensure_type(source, "FLOAT32")
    node.make_like(result, source)


@kernel("FLOOR", "ROUND", changed_in=HALF_TYPES_LATER)
def prepare_rounding(node: KernelNode) -> None:
    """``kernels/floor.cc: Prepare``, ``kernels/round.cc: Prepare``."""
    source, result = node.operands(1)
    node.ensure_type(source, "FLOAT32", HALF_TYPES_LATER)
    node.make_like(result, source)


@kernel("NEG", "ZEROS_LIKE")
def prepare_neg(node: KernelNode) -> None:
    """``kernels/neg.cc: Prepare``, ``kernels/zeros_like.cc: Prepare``."""
    source, result = node.operands(1)
    node.make_like(result, source)


@kernel("EXP")
def prepare_exp(node: KernelNode) -> None:
    """``kernels/exp.cc: Prepare``."""
    source, result = node.operands(1)
    result.type = source.type
    check_int16(node, source, result)
    node.resize(result, source.shape)


@kernel("SIGN")
def prepare_sign(node: KernelNode) -> None:
    """``kernels/sign.cc: PointwiseUnaryOpPrepare``."""
    node.ensure(node.input_count == 1, "does not have exactly one input")
    source, result = node.input(0), node.output()
    node.ensure(source.type == result.type, "input and output have different types")
    node.resize(result, source.shape)


@kernel("ADD_N")
def prepare_add_n(node: KernelNode) -> None:
    """``kernels/add_n.cc: Prepare``."""
    node.ensure(node.input_count >= 2 and node.output_count == 1, "does not have at least two inputs and exactly one output")
    first, result = node.input(0), node.output()
    result.type = first.type
    for position in range(1, node.input_count):
        other = node.input(position)
        node.ensure(first.shape == other.shape, "the inputs have different shapes")
        node.ensure(first.type == other.type, "the inputs have different types")
    node.resize(result, first.shape)


@kernel("SELECT", "SELECT_V2", changed_in=("litert-2.2.0",))
def prepare_select(node: KernelNode) -> None:
    """``kernels/select.cc: SelectPrepare``."""
    condition, first, second, result = node.operands(3)
    node.ensure_type(condition, "BOOL")
    node.ensure(first.type == second.type, "the operands have different types")
    result.type = first.type
    if all(tensor.element_count == 1 for tensor in (condition, first, second, result)):
        node.resize(result, result.shape)
    elif condition.shape == first.shape == second.shape:
        node.resize(result, first.shape)
    elif node.op == "SELECT":
        is_by_row = condition.rank == 1 and condition.shape == first.shape[:1]
        node.ensure(condition.rank == 0 or is_by_row, "the shape of the condition does not match the operands")
        node.ensure(first.shape == second.shape, "the operands have different shapes")
        node.resize(result, first.shape)
    else:
        shape = broadcast_shape(broadcast_shape(condition.shape, first.shape), second.shape)
        if node.since("litert-2.2.0"):
            node.ensure(len(shape) <= _SELECT_MAX_RANK, "the result has more than 8 dimensions")
        node.resize(result, shape)
