"""Pooling windows."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, SHAPE
from ....rules.number_sets import exactly
from ....rules.vocabulary import check, option
from .checks import FOUR_DIMENSIONS, INPUT_TYPE, OUTPUT_TYPE, WITH_DIMENSIONS, neutron_rule


def _batch(node: NodeView) -> str | None:
    batches = node.input(0).shape[:1], node.output(0).shape[:1]
    return None if batches == ((1,), (1,)) else f"input {list(node.input(0).shape)} and output {list(node.output(0).shape)}"


def _empty_window(node: NodeView) -> str | None:
    """Return the window unless its height and width are positive.

    Upstream intends to compare the window with the padding. By mistake, it reads the padding while the padding is still 0.
    """
    height, width = node.options.filter_height, node.options.filter_width
    return None if min(height, width) > 0 else f"window of {height} * {width}"


RULES = {
    "AVERAGE_POOL_2D": neutron_rule(INPUT_TYPE, OUTPUT_TYPE),
    "MAX_POOL_2D": neutron_rule(
        INPUT_TYPE,
        OUTPUT_TYPE,
        WITH_DIMENSIONS,
        FOUR_DIMENSIONS,
        option("stride_h", exactly(1, 2), hint="use a vertical stride of 1 or 2"),
        check(SHAPE, "a batch of 1", _batch, "run with a batch of 1"),
        check(ATTRIBUTE, "a window larger than 0", _empty_window),
    ),
}
