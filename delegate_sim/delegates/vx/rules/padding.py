"""Padding."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE
from ....rules.vocabulary import refused_if
from .checks import OUTPUT_WITH_DIMENSIONS, vx_rule


def _unknown_mirror_mode(node: NodeView) -> bool:
    """Return whether the mirror mode is missing or unknown."""
    return not node.options.table or node.options.mode not in (0, 1)


_MIRROR_PAD = (
    OUTPUT_WITH_DIMENSIONS,
    refused_if(ATTRIBUTE, "mode REFLECT or SYMMETRIC", _unknown_mirror_mode, "an unknown mode"),
)

RULES = {
    "MIRROR_PAD": vx_rule("MirrorPadMapper::IsOpSupported", *_MIRROR_PAD),
    "PAD": vx_rule("PadMapper::IsOpSupported", OUTPUT_WITH_DIMENSIONS),
}
