"""Convolutions."""

from __future__ import annotations

from ..optional_inputs import FALSE, ONE, OptionalInputs
from ..refusal import Concern, OperandPart, ProcessAborted, Rule, Violation
from ..types import AndroidRelease, OperandType, OperationType
from .levels import REAL_1, REAL_3
from .shared import integers, product_level
from .signature import (
    BIAS,
    BOOL,
    FILTER,
    INT32,
    SAME,
    TENSOR_INT32,
    Form,
    OperationRule,
    OperationView,
    SignatureCheck,
    form,
    operation_rule,
)

_T = OperandType
_O = OperationType


CONV_RANK = operation_rule(
    "conv-rank",
    Concern.RANK,
    "The input and the filter of a CONV_2D must have 4 dimensions.",
    "Conv2D.cpp: conv_2d::validate",
    AndroidRelease.ANDROID_11,
)
FILTER_CHANNEL = operation_rule(
    "filter-channel",
    Concern.CHANNELS,
    "The scales of a per-channel filter must lie along the filter's first dimension.",
    "Conv2D.cpp, GroupedConv2D.cpp, TransposeConv2D.cpp: validate",
)
DEPTHWISE_CHANNEL = operation_rule(
    "depthwise-filter-channel",
    Concern.CHANNELS,
    "The scales of a DEPTHWISE_CONV_2D's per-channel filter must lie along the filter's fourth dimension.",
    "DepthwiseConv2D.cpp: depthwise_conv_2d::validate",
    AndroidRelease.ANDROID_11,
)


_TENSORS = (SAME, FILTER, BIAS)


def _padded_forms(implicit: int) -> tuple[Form, ...]:
    """Return the allowed lists of a convolution's inputs.

    Each list has tensors, and then INT32 scalars. From level 3 on, a layout flag and dilation factors may follow. A list with a
    padding scheme has ``implicit`` scalars. A list with explicit padding has four sizes in place of the padding scheme.
    """
    forms: list[Form] = []
    for numbers in (implicit, implicit + 3):
        base = (*_TENSORS, *integers(numbers))
        forms += [form(*base), form(*base, BOOL, level=3), form(*base, BOOL, INT32, INT32, level=3)]
    return tuple(forms)


def _layout_and_dilation(place: int) -> tuple[OptionalInputs, ...]:
    """Return two descriptions of the optional inputs for layout and dilation: for explicit padding and for a padding scheme.

    ``place`` is the position of the layout input in the form with a padding scheme.
    """
    defaults = (FALSE, ONE, ONE)
    return (
        OptionalInputs(place + 3, defaults, (place, _T.INT32), place + 5),
        OptionalInputs(place, defaults, (place, _T.BOOL), place + 2),
    )


def _filter_channel(dimension: int, rule: Rule) -> SignatureCheck:
    def find(view: OperationView) -> Violation | None:
        filter_ = view.inputs[1]
        if filter_.type != _T.TENSOR_QUANT8_SYMM_PER_CHANNEL:
            return None
        if filter_.channels is None:
            raise ProcessAborted(f"the per-channel filter of {view.name} has no scales")
        if filter_.channels.dimension == dimension:
            return None
        return OperandPart("input", 1, "channel dimension"), filter_.channels.dimension, dimension

    return SignatureCheck(rule, find)


def _rank_4(view: OperationView) -> Violation | None:
    for index in (0, 1):
        rank = view.inputs[index].rank
        if rank not in {0, 4}:
            return OperandPart("input", index, "rank"), rank, "4"
    return None


def _scale_level(view: OperationView) -> int:
    """Return the feature level that the output's scale needs. By mistake, the runtime reads the input's scale instead."""
    return product_level(view, view.inputs[0].scale)


def _depthwise_scale_level(view: OperationView) -> int:
    """Return the feature level that the output's scale needs.

    From Android 11 on, the runtime reads the input's scale instead.
    """
    is_real = view.android < AndroidRelease.ANDROID_11
    return product_level(view, (view.outputs if is_real else view.inputs)[0].scale)


RULES: dict[int, OperationRule] = {
    _O.CONV_2D: OperationRule(
        "Conv2D.cpp: conv_2d::validate",
        REAL_1,
        _padded_forms(4),
        checks=(SignatureCheck(CONV_RANK, _rank_4), _filter_channel(0, FILTER_CHANNEL)),
        raises=(_scale_level,),
        optional=_layout_and_dilation(7),
    ),
    _O.DEPTHWISE_CONV_2D: OperationRule(
        "DepthwiseConv2D.cpp: depthwise_conv_2d::validate",
        REAL_1,
        _padded_forms(5),
        checks=(_filter_channel(3, DEPTHWISE_CHANNEL),),
        raises=(_depthwise_scale_level,),
        optional=_layout_and_dilation(8),
    ),
    _O.GROUPED_CONV_2D: OperationRule(
        "GroupedConv2D.cpp: grouped_conv2d::validate",
        REAL_3,
        (form(*_TENSORS, *integers(5), BOOL), form(*_TENSORS, *integers(8), BOOL)),
        checks=(_filter_channel(0, FILTER_CHANNEL),),
    ),
    _O.TRANSPOSE_CONV_2D: OperationRule(
        "TransposeConv2D.cpp: transpose_conv_2d::validate",
        REAL_3,
        (form(*_TENSORS, TENSOR_INT32, *integers(4), BOOL), form(*_TENSORS, *integers(7), BOOL)),
        checks=(_filter_channel(0, FILTER_CHANNEL),),
    ),
}
