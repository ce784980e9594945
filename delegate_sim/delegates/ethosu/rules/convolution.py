"""Convolutions."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model import schema
from ....rules.kinds import ATTRIBUTE, SHAPE, TENSOR_TYPE
from ....rules.operands import operand
from ....rules.vocabulary import check, constant, typed
from .bias import bias
from .checks import FUSED, ethosu_rule, size, upstream
from .windows import DILATED_FILTER, STRIDES, WIDE_STRIDES

WEIGHTS = operand(1, "weights")
CONSTANT_WEIGHTS = upstream(
    "ConstraintWeights",
    typed(WEIGHTS, ("UINT8", "INT8"), kind=TENSOR_TYPE, hint="quantize the weights to INT8"),
    constant(WEIGHTS),
)


def _uneven_groups(node: NodeView) -> str | None:
    """Return the numbers of channels and filters unless the channels can be divided into groups.

    If the filter has more channels than the input, upstream divides by 0. On the board's processor, this division gives 0.
    """
    source, weights = node.input(0), node.input(1)
    depth, filter_depth, filters = size(source, -1), size(weights, len(source.shape) - 1), size(weights, 0)
    groups = depth // filter_depth if filter_depth else 0
    met = groups > 0 and filters % groups == 0 and depth % filter_depth == 0
    return None if met else f"{depth} input channels, {filter_depth} filter channels and {filters} filters"


_GROUPS = upstream(
    "ConstraintConvGroupsIfmDepth",
    check(SHAPE, "groups that divide the input's channels and the number of filters evenly", _uneven_groups),
)


def _other_multiplier(node: NodeView) -> str | None:
    multiplier = node.options.depth_multiplier
    channels = size(node.input(0), 3), size(node.output(0), 3)
    return (
        None if multiplier <= 1 or channels == (1, multiplier) else f"depth multiplier {multiplier} with {channels[0]} channels"
    )


_MULTIPLIER = upstream(
    "ConstraintDepthMultiplier",
    check(
        ATTRIBUTE, "a depth multiplier of 1 unless the input has one channel", _other_multiplier, "use a depth multiplier of 1"
    ),
)


def _other_transposed_stride(node: NodeView) -> str | None:
    across, down = node.options.stride_w, node.options.stride_h
    flat = size(node.input(2), 1) == size(node.input(1), 1) == 1
    met = (across, down) in ((1, 1), (2, 2)) or ((across, down) == (2, 1) and flat)
    return None if met else f"strides {across} (across) and {down} (down)"


def _other_transposed_size(node: NodeView) -> str | None:
    """Return the shapes unless the output is twice as large as the input. Upstream requires this size even for a stride of 1."""
    source, weights, result = node.input(2), node.input(1), node.output(0)
    padding = node.options.padding
    for axis in (1, 2):
        added = max(size(weights, axis) - 2, 0) if padding == schema.enum_values("Padding")["VALID"] else 0
        if size(result, axis) != size(source, axis) * 2 + added:
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

RULES = {
    "CONV_2D": ethosu_rule(
        *FUSED, *WIDE_STRIDES, *DILATED_FILTER, *CONSTANT_WEIGHTS, *bias(2), *_GROUPS, weights=(1,), per_channel=True
    ),
    "DEPTHWISE_CONV_2D": ethosu_rule(
        *FUSED, *STRIDES, *DILATED_FILTER, *CONSTANT_WEIGHTS, *bias(2), *_MULTIPLIER, weights=(1,), per_channel=True
    ),
    "TRANSPOSE_CONV": ethosu_rule(
        *STRIDES,
        *DILATED_FILTER,
        *CONSTANT_WEIGHTS,
        *bias(3),
        *_TRANSPOSED,
        operands=(2,),
        weights=(1,),
        per_channel=True,
    ),
}
