"""Pooling."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE
from ....rules.vocabulary import check
from .checks import NO_ACTIVATION, QUANT8, UP_TO_2, hexagon_rule, inputs

_MAX_WINDOW = 12


_SAME = 0


def _large_padded_window(node: NodeView) -> str | None:
    options = node.options
    is_large = max(options.filter_height, options.filter_width) > _MAX_WINDOW
    if not is_large or options.table is None or options.padding != _SAME:
        return None
    return f"a window of {options.filter_height} x {options.filter_width} with padding _SAME"


RULES = {
    "MAX_POOL_2D": hexagon_rule(
        *inputs(QUANT8),
        check(
            ATTRIBUTE,
            f"a window of at most {_MAX_WINDOW} x {_MAX_WINDOW}, or padding VALID",
            _large_padded_window,
            "pad with a separate operator, or split the pooling",
        ),
        NO_ACTIVATION,
        version_in=UP_TO_2,
    ),
    "AVERAGE_POOL_2D": hexagon_rule(*inputs(QUANT8), NO_ACTIVATION, version_in=UP_TO_2),
}
