"""Words for the outcome of nodes: a delegate's are delegated, a compiler plugin's are selected.

Selected by the plugin, compiled by the vendor's compiler and running on the chip are three states: only the first is simulated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...delegates.registry import LIVE_ONLY_NAMES, PLUGIN_NAMES

SELECTED = "selected"


@dataclass(frozen=True, slots=True)
class OutcomeWords:
    """What a taken node is, where others stay or go, how those are counted, and what taken ones are grouped into."""

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
        """The share of nodes that are taken."""
        return f"{self.taken} share"


DELEGATED = OutcomeWords("delegated", "on the CPU", "to the CPU", "fallback nodes", "delegate kernel")
_PLUGIN = OutcomeWords(SELECTED, "off the NPU", "from the NPU", "nodes off the NPU", "partition to compile")


def words_of(delegate: str) -> OutcomeWords:
    """Return the words for the delegate of this name."""
    return _PLUGIN if delegate in PLUGIN_NAMES or delegate in LIVE_ONLY_NAMES else DELEGATED


def taken_by(delegates: Iterable[str]) -> str:
    """Return the word for nodes that any of these delegates takes, for the heading of a column."""
    found = {words_of(delegate).taken for delegate in delegates}
    return found.pop() if len(found) == 1 else "taken"
