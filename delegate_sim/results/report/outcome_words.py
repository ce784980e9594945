"""Words for the outcome of nodes: "delegated" for the nodes of a delegate, "selected" for the nodes of a compiler plugin.

The plugin selects a node, the vendor's compiler may compile it, and the chip then runs it. Only the plugin's selection is
simulated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...delegates.registry import LIVE_ONLY_NAMES, PLUGIN_NAMES

SELECTED = "selected"


@dataclass(frozen=True, slots=True)
class OutcomeWords:
    """The words that a report uses for the nodes of a delegate or compiler plugin.

    ``taken`` and ``kernel`` are words for nodes that are delegated or selected. ``left``, ``back`` and ``left_nodes`` are words
    for all other nodes.
    """

    taken: str
    left: str
    back: str
    left_nodes: str
    kernel: str

    @property
    def kernels(self) -> str:
        """The plural of ``kernel``."""
        return self.kernel.replace("kernel", "kernels").replace("partition", "partitions")

    @property
    def share(self) -> str:
        """The title for the share of nodes that are delegated or selected."""
        return f"{self.taken} share"


DELEGATED = OutcomeWords("delegated", "on the CPU", "to the CPU", "fallback nodes", "delegate kernel")
_PLUGIN = OutcomeWords(SELECTED, "off the NPU", "from the NPU", "nodes off the NPU", "partition to compile")


def words_of(delegate: str) -> OutcomeWords:
    """Return the words for the delegate with this name."""
    return _PLUGIN if delegate in PLUGIN_NAMES or delegate in LIVE_ONLY_NAMES else DELEGATED


def taken_by(delegates: Iterable[str]) -> str:
    """Return the column heading for the nodes that these delegates take."""
    words = {words_of(delegate).taken for delegate in delegates}
    return words.pop() if len(words) == 1 else "taken"
