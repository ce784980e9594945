"""PAD."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import SHAPE
from ....rules.vocabulary import check
from .checks import FOUR_DIMENSIONS, INPUT_TYPE, MACS, OUTPUT_TYPE, WITH_DIMENSIONS, neutron_rule


def _channels(node: NodeView) -> tuple[int, int] | None:
    source, result = node.input(0).shape, node.output(0).shape
    return (source[3], result[3]) if len(source) == len(result) == 4 else None


def _uneven(node: NodeView) -> str | None:
    channels = _channels(node)
    return f"{channels[1]} output channels" if channels and channels[1] % MACS else None


def _fewer(node: NodeView) -> str | None:
    channels = _channels(node)
    return f"{channels[1]} channels from {channels[0]}" if channels and channels[0] > channels[1] else None


def _many(node: NodeView) -> str | None:
    channels = _channels(node)
    return (
        f"{channels[1] - channels[0]} more output channels than input channels"
        if channels and channels[1] - channels[0] > MACS + 1
        else None
    )


RULES = {
    "PAD": neutron_rule(
        INPUT_TYPE,
        OUTPUT_TYPE,
        WITH_DIMENSIONS,
        FOUR_DIMENSIONS,
        check(
            SHAPE, f"a number of output channels that is a multiple of {MACS}", _uneven, f"pad channels to a multiple of {MACS}"
        ),
        check(SHAPE, "at least as many output channels as input channels", _fewer),
        check(
            SHAPE,
            f"at most {MACS + 1} more output channels than input channels",
            _many,
            f"pad channels to the next multiple of {MACS}",
        ),
    )
}
