"""Convolutions, pooling and resizing, and checks of their strides and filters."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...model import schema
from ...model.model import Tensor
from ...rules.kinds import ATTRIBUTE, OPERAND_VALUE, RANK, SHAPE, TENSOR_TYPE
from ...rules.operands import exactly, operand
from ...rules.vocabulary import check, constant, operand_count, typed
from .checks import FUSED, bias, constraint, ethosu_rule, int32_values, reads, same_type, upstream

_STRIDES = range(1, 4)


def is_global_pooling(node: NodeView) -> bool:
    """Return whether a pooling window and its strides are as large as the input.

    For such a window, the delegate assumes strides of 1 and no padding (``NeedFixedStrideAndPadding``).
    """
    if node.op not in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        return False
    height, width = node.input(0).size(1), node.input(0).size(2)
    options = node.options
    return (width, height) == (options.filter_width, options.filter_height) == (options.stride_w, options.stride_h)


def strides(node: NodeView) -> tuple[int, int]:
    """Return the horizontal and the vertical stride that the delegate assumes."""
    return (1, 1) if is_global_pooling(node) else (node.options.stride_w, node.options.stride_h)


def is_valid_padding(node: NodeView) -> bool:
    """Return whether the delegate assumes VALID padding."""
    return is_global_pooling(node) or node.options.padding == schema.enum_values("Padding")["VALID"]


@constraint("ConstraintStrideRange", ATTRIBUTE, "strides of 1 to 3", "use strides of 1 to 3")
def _stride_range(node: NodeView) -> str | None:
    across, down = strides(node)
    return None if across in _STRIDES and down in _STRIDES else f"strides {across} (across) and {down} (down)"


def _reduced(stride: int, width: int) -> int:
    if stride <= 1:
        return stride
    folded = stride
    if width % stride:
        divisor = next((part for part in (2, 3) if stride % part == 0), 1)
        folded = stride // divisor if divisor > 1 else 1
    return stride // folded


def _allows_wide_stride(node: NodeView) -> bool:
    """Return whether both strides are 1 to 3, or the horizontal stride can be reduced to 1 to 3.

    Upstream also allows any stride along a dimension of size 1. By mistake, it tests the dimension of the input instead of the
    dimension of the output.
    """
    across, down = strides(node)
    height, width = node.input(0).size(1), node.input(0).size(2)
    return (height == 1 or down in _STRIDES) and (width == 1 or (across >= 1 and _reduced(across, width) <= 3))


@constraint(
    "ConstraintStrideWidthNoUpperLimit",
    ATTRIBUTE,
    "strides of 1 to 3, or a horizontal stride that divides the width or is a multiple of 2 or 3",
    "use strides of 1 to 3",
)
def _stride_width(node: NodeView) -> str | None:
    across, down = strides(node)
    text = f"strides {across} (across) and {down} (down) on an input of shape {list(node.input(0).shape)}"
    return None if _allows_wide_stride(node) else text


@constraint(
    "ConstraintStrideRangeNoPadding", ATTRIBUTE, "VALID padding, or a horizontal stride of at most 3", "use strides of 1 to 3"
)
def _stride_without_padding(node: NodeView) -> str | None:
    across, _ = strides(node)
    met = _allows_wide_stride(node) and (is_valid_padding(node) or across <= 3)
    return None if met else f"horizontal stride {across} with SAME padding"


LARGEST_DILATED_HEIGHT = 64


@constraint(
    "ConstraintDilatedRange",
    SHAPE,
    f"a dilated filter of height 1 to {LARGEST_DILATED_HEIGHT} with at most {LARGEST_DILATED_HEIGHT**2} elements",
    "use a smaller filter or less dilation",
)
def _dilated_filter(node: NodeView) -> str | None:
    options, weights = node.options, node.input(1)
    across, down = (getattr(options, f"dilation_{side}_factor", 1) for side in "wh")
    if node.op == "TRANSPOSE_CONV":
        across = down = 1
    height, width = (weights.size(1) - 1) * down + 1, (weights.size(2) - 1) * across + 1
    met = 1 <= height <= LARGEST_DILATED_HEIGHT and 1 <= height * width <= LARGEST_DILATED_HEIGHT**2
    return None if met else f"a dilated filter of {height} * {width}"


WEIGHTS = operand(1, "weights")
CONSTANT_WEIGHTS = upstream(
    "ConstraintWeights",
    typed(WEIGHTS, ("UINT8", "INT8"), kind=TENSOR_TYPE, hint="quantize the weights to INT8"),
    constant(WEIGHTS),
)


@constraint("ConstraintConvGroupsIfmDepth", SHAPE, "groups that divide the input's channels and the number of filters evenly")
def _even_groups(node: NodeView) -> str | None:
    """Return the numbers of channels and filters unless the channels can be divided into groups.

    If the filter has more channels than the input, upstream divides by 0. On the board's processor, this division gives 0.
    """
    source, weights = node.input(0), node.input(1)
    depth, filter_depth, filters = source.size(-1), weights.size(len(source.shape) - 1), weights.size(0)
    groups = depth // filter_depth if filter_depth else 0
    met = groups > 0 and filters % groups == 0 and depth % filter_depth == 0
    return None if met else f"{depth} input channels, {filter_depth} filter channels and {filters} filters"


@constraint(
    "ConstraintDepthMultiplier",
    ATTRIBUTE,
    "a depth multiplier of 1 unless the input has one channel",
    "use a depth multiplier of 1",
)
def _depth_multiplier(node: NodeView) -> str | None:
    multiplier = node.options.depth_multiplier
    channels = node.input(0).size(3), node.output(0).size(3)
    return (
        None if multiplier <= 1 or channels == (1, multiplier) else f"depth multiplier {multiplier} with {channels[0]} channels"
    )


def _other_transposed_stride(node: NodeView) -> str | None:
    across, down = node.options.stride_w, node.options.stride_h
    flat = node.input(2).size(1) == node.input(1).size(1) == 1
    met = (across, down) in ((1, 1), (2, 2)) or ((across, down) == (2, 1) and flat)
    return None if met else f"strides {across} (across) and {down} (down)"


def _other_transposed_size(node: NodeView) -> str | None:
    """Return the shapes unless the output is twice as large as the input. Upstream requires this size even for a stride of 1."""
    source, weights, result = node.input(2), node.input(1), node.output(0)
    padding = node.options.padding
    for axis in (1, 2):
        added = max(weights.size(axis) - 2, 0) if padding == schema.enum_values("Padding")["VALID"] else 0
        if result.size(axis) != source.size(axis) * 2 + added:
            return f"an output of {list(result.shape)} from an input of {list(source.shape)}"
    return None


_TRANSPOSED = upstream(
    "ConstraintTconv",
    check(
        ATTRIBUTE,
        "strides of 1 * 1 or 2 * 2, or strides of 2 * 1 if the input and the filter have height 1",
        _other_transposed_stride,
        "use strides of 2",
    ),
    check(
        SHAPE,
        "an output twice as large as the input; with VALID padding, add the filter's size minus 2 if this is positive",
        _other_transposed_size,
        "use strides of 2, or UpSampling and CONV_2D",
    ),
)

_LARGEST_HEIGHT = 256
_LARGEST_PRODUCT = 256 * 256
_PADDED_SIZES = range(1, 9)
_SMALLER = "use a smaller window, or several consecutive poolings"


def _window(node: NodeView) -> str:
    return f"a window of {node.options.filter_height} * {node.options.filter_width}"


def _is_tall(node: NodeView) -> bool:
    return not 1 <= node.options.filter_height <= _LARGEST_HEIGHT


def _is_large(node: NodeView) -> bool:
    return not 1 <= node.options.filter_height * node.options.filter_width <= _LARGEST_PRODUCT


@constraint(
    "ConstraintFilterRangeValidPad",
    ATTRIBUTE,
    f"a window of at most 8 * 8 with SAME padding; with VALID padding, at most {_LARGEST_HEIGHT} high and at most "
    f"{_LARGEST_PRODUCT:,} elements",
    _SMALLER,
)
def _average_window(node: NodeView) -> str | None:
    options = node.options
    if is_valid_padding(node):
        return _window(node) if _is_large(node) or _is_tall(node) else None
    wide = options.filter_width not in _PADDED_SIZES and options.stride_w != options.filter_width
    return f"{_window(node)} with SAME padding" if wide or options.filter_height not in _PADDED_SIZES else None


_MAXIMUM_WINDOW = (
    *upstream(
        "ConstraintFilterHeightRange",
        check(
            ATTRIBUTE,
            f"a window of height 1 to {_LARGEST_HEIGHT}",
            lambda node: _window(node) if _is_tall(node) else None,
            _SMALLER,
        ),
    ),
    *upstream(
        "ConstraintFilterProductRange",
        check(
            ATTRIBUTE,
            f"a window of at most {_LARGEST_PRODUCT:,} elements",
            lambda node: _window(node) if _is_large(node) else None,
            _SMALLER,
        ),
    ),
)


def _other_rank(node: NodeView) -> str | None:
    ranks = node.input(0).rank, node.output(0).rank
    return None if ranks == (4, 4) else f"input of rank {ranks[0]} and output of rank {ranks[1]}"


def _is_single(tensor: Tensor) -> bool:
    return tensor.size(1) == tensor.size(2) == 1


def _other_factor(node: NodeView) -> str | None:
    """Return the shapes unless the output is 2, 4 or 8 times as large as the input.

    Quotients are rounded down. On the board's processor, a division by 0 gives 0.
    """
    source, result = node.input(0), node.output(0)
    if _is_single(source) or source.shape == result.shape:
        return None
    less = 1 if node.options.align_corners else 0
    sizes = [(source.size(axis) - less, result.size(axis) - less) for axis in (1, 2)]
    factors = {larger // smaller if smaller else 0 for smaller, larger in sizes}
    if len(factors) == 1 and not factors.isdisjoint((2, 4, 8)):
        return None
    return f"an output of {list(result.shape)} from an input of {list(source.shape)}"


_FACTOR = upstream(
    "ConstraintResize",
    check(RANK, "input and output of rank 4", _other_rank),
    check(
        SHAPE,
        "an output of the input's shape, or 2, 4 or 8 times as high and as wide (with align_corners, subtract 1 from all sizes "
        "first)",
        _other_factor,
        "resize by 2, 4 or 8",
    ),
)
_SIZE = operand(1, "size")


def _other_size(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape == (2,) else f"size of shape {list(shape)}"


def _contradicted_size(node: NodeView) -> str | None:
    values, result = int32_values(node, _SIZE), node.output(0)
    return None if values == [result.size(1), result.size(2)] else f"size {values} and output {list(result.shape)}"


_SIZE_CHECKS = upstream(
    "ConstraintResizeSize",
    operand_count(inputs=exactly(2)),
    check(SHAPE, "a size of two elements", _other_size),
    reads(_SIZE),
    check(OPERAND_VALUE, "a size that is the output's height and width", _contradicted_size, "fix the shapes before converting"),
)


@constraint(
    "ConstraintResizeAttrs", ATTRIBUTE, "at most one of align_corners and half_pixel_centers", "use one of the two settings"
)
def _one_setting(node: NodeView) -> str | None:
    options = node.options
    return "align_corners and half_pixel_centers" if options.align_corners and options.half_pixel_centers else None


@constraint(
    "ConstraintResizebiHalfPixelCentersDims",
    SHAPE,
    "an output twice as large as the input if half_pixel_centers is set",
    "resize by 2",
)
def _doubled_half_pixels(node: NodeView) -> str | None:
    source, result = node.input(0), node.output(0)
    if not node.options.half_pixel_centers or _is_single(source):
        return None
    doubles = all(source.size(axis) and result.size(axis) // source.size(axis) == 2 for axis in (1, 2))
    return None if doubles else f"an output of {list(result.shape)} from an input of {list(source.shape)}"


RULES = {
    "CONV_2D": ethosu_rule(
        *FUSED, _stride_width, _dilated_filter, *CONSTANT_WEIGHTS, *bias(2), _even_groups, weights=(1,), per_channel=True
    ),
    "DEPTHWISE_CONV_2D": ethosu_rule(
        *FUSED, _stride_range, _dilated_filter, *CONSTANT_WEIGHTS, *bias(2), _depth_multiplier, weights=(1,), per_channel=True
    ),
    "TRANSPOSE_CONV": ethosu_rule(
        _stride_range, _dilated_filter, *CONSTANT_WEIGHTS, *bias(3), *_TRANSPOSED, operands=(2,), weights=(1,), per_channel=True
    ),
    "AVERAGE_POOL_2D": ethosu_rule(same_type, *FUSED, _stride_width, _stride_without_padding, _average_window),
    "MAX_POOL_2D": ethosu_rule(same_type, *FUSED, _stride_range, *_MAXIMUM_WINDOW),
    "RESIZE_BILINEAR": ethosu_rule(*_FACTOR, *_SIZE_CHECKS, _one_setting, _doubled_half_pixels),
    "RESIZE_NEAREST_NEIGHBOR": ethosu_rule(*_FACTOR, *_SIZE_CHECKS, _one_setting),
}
