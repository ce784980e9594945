"""Joining and splitting."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Allocation
from ....rules.vocabulary import refused_if
from ..kinds import DYNAMIC_SHAPE
from .checks import of_inputs, quantized_8_bits, vx_rule


def _is_dynamic(node: NodeView) -> bool:
    """Return whether the first result has a dynamic type (``kTfLiteDynamic``): STRING, RESOURCE or VARIANT."""
    return node.output(0).allocation is Allocation.DYNAMIC


_SPLIT = (
    refused_if(
        DYNAMIC_SHAPE,
        "an output that is not allocated at run time",
        _is_dynamic,
        "an output that is allocated at run time",
        "convert with another type for this tensor",
    ),
    *of_inputs(quantized_8_bits()),
)

RULES = {
    "CONCATENATION": vx_rule("ConcatenationMapper"),
    "PACK": vx_rule("PackMapper"),
    "SPLIT": vx_rule("SplitMapper::IsOpSupported", *_SPLIT),
    "SPLIT_V": vx_rule("SplitVMapper::IsOpSupported", *_SPLIT),
    "UNPACK": vx_rule("UnpackMapper"),
}
