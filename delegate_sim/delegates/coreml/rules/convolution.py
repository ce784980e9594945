"""Convolutions."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import SHAPE
from ....rules.operands import operand
from ....rules.vocabulary import check, constant, given, where_given
from .checks import NO_SIGN_BIT, builder, coreml_rule

_SOURCE = builder("convolution_op_builder.cc", "IsConvolutionOpSupported")
_DEPTHWISE_SOURCE = (_SOURCE, _SOURCE.with_symbol("IsDepthwiseConvolutionOpSupported"))
_TRANSPOSE_SOURCE = (_SOURCE, _SOURCE.with_symbol("IsTransposeConvolutionOpSupported"))
_MAX_FILTER = 16384
_FILTER, _BIAS = operand(1, "filter"), operand(2, "bias")
_OUTPUT_SHAPE = operand(0, "output shape")


def _large_filter(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return f"a filter of shape {list(shape)}" if max(shape[1:3], default=0) > _MAX_FILTER else None


_FILTERED = (
    *where_given(_FILTER, constant(_FILTER)),
    check(SHAPE, f"a filter of at most {_MAX_FILTER} x {_MAX_FILTER}", _large_filter),
)
_CONVOLUTION = (NO_SIGN_BIT, *_FILTERED, given(_BIAS), constant(_BIAS))

RULES = {
    "CONV_2D": coreml_rule(*_CONVOLUTION, source=(_SOURCE,)),
    "DEPTHWISE_CONV_2D": coreml_rule(*_CONVOLUTION, source=_DEPTHWISE_SOURCE, version=2),
    "TRANSPOSE_CONV": coreml_rule(*_FILTERED, given(_OUTPUT_SHAPE), constant(_OUTPUT_SHAPE), source=_TRANSPOSE_SOURCE, data=2),
}
