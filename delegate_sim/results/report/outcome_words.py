"""The words for the results of delegates and of compiler plugins.

Nodes that a compiler plugin selects are also called delegated. The vendor's compiler is not simulated.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...delegates.registry import CLOSED_PLUGIN_NAMES, PLUGIN_NAMES


@dataclass(frozen=True, slots=True)
class OutcomeWords:
    """The words that a report uses for the nodes of a delegate or compiler plugin.

    ``actor`` takes nodes. ``kernel`` is a group of delegated nodes. ``left``, ``back`` and ``left_nodes`` describe nodes that are
    not delegated.
    """

    actor: str
    left: str
    back: str
    left_nodes: str
    kernel: str

    @property
    def kernels(self) -> str:
        """The plural of ``kernel``."""
        return self.kernel.replace("kernel", "kernels").replace("partition", "partitions")


DELEGATED = OutcomeWords("delegate", "on the CPU", "to the CPU", "fallback nodes", "delegate kernel")
_PLUGIN = OutcomeWords("plugin", "off the NPU", "from the NPU", "nodes off the NPU", "partition to compile")


def words_of(delegate: str) -> OutcomeWords:
    """Return the words for the delegate with this name."""
    return _PLUGIN if delegate in PLUGIN_NAMES or delegate in CLOSED_PLUGIN_NAMES else DELEGATED
