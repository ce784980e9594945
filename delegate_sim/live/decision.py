"""The decision of a delegate's real code about a model, in a form that can be compared with a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..delegates.decision import FileNode


@dataclass(frozen=True, slots=True)
class LiveNode:
    """A delegated node: the operator, and the node's place in the model file (None if the node cannot be identified)."""

    op: str
    place: FileNode | None = None

    @property
    def words(self) -> str:
        """The node's name for messages."""
        if self.place is None:
            return self.op
        subgraph, node = self.place
        return f"node {node} {self.op}" if subgraph == 0 else f"subgraph {subgraph} node {node} {self.op}"


LivePartition = tuple[LiveNode, ...]

NPU, CPU, GONE, UNKNOWN = "npu", "cpu", "gone", "unknown"
"""Places of nodes: on the NPU, on the CPU, in no place because the compiler removed the node, or not known."""


@dataclass(frozen=True, slots=True)
class LivePlacement:
    """The place that a compiler gave to a node."""

    subgraph: int
    node: int
    op: str
    place: str
    reason: str = ""
    """The first check that the compiler reported for the node, as the compiler printed it; empty if it printed none."""
    is_listed: bool = True
    """Whether the compiler's database lists the node.

    If not, the place follows from the compiled file.
    """
    kernel: int | None = None
    """The number of the operator in the compiled file that runs the node on the NPU; None if the compiler gave no commands."""

    def to_dict(self) -> dict[str, Any]:
        """Return the placement as plain data."""
        return {
            "subgraph": self.subgraph,
            "node": self.node,
            "op": self.op,
            "place": self.place,
            "reason": self.reason,
            "listed": self.is_listed,
            "kernel": self.kernel,
        }


_MEMORIES = {
    "sram_bytes": "SRAM",
    "dram_bytes": "DRAM",
    "on_chip_flash_bytes": "on-chip flash",
    "off_chip_flash_bytes": "off-chip flash",
}


def figures_text(figures: Mapping[str, int | float | str]) -> str:
    """Return a compiler's own estimates for the compiled file as text; empty if there are none."""
    if not figures:
        return ""
    memories = [f"{title} {figures[key]:,} bytes, " for key, title in _MEMORIES.items() if figures[key]]
    return (
        f"{''.join(memories)}{figures['npu_cycles']:,} NPU cycles, {figures['total_cycles']:,} cycles in all: the "
        f"compiler's estimates for {figures['system_config']}, {figures['memory_mode']}"
    )


@dataclass(frozen=True, slots=True)
class LiveDecision:
    """The decision of a delegate's real code, or of the simulation.

    ``lines`` holds the log lines that are compared. ``partitions`` is None if the partitions are unknown, such as after a crash.
    """

    has_failed: bool
    end: str = ""
    """Description of a failure or crash; empty if there was none."""
    lines: tuple[str, ...] = ()
    partitions: tuple[LivePartition, ...] | None = None
    lacks: str = ""
    """Requirements that were found to be missing on this host when the code ran; empty if nothing is missing."""
    is_closed: bool = False
    """True if closed-source code made the decision. Such a decision is not compared with the simulated one."""
    placements: tuple[LivePlacement, ...] | None = None
    """The place of every node, from a compiler that states it; None if the code does not state places."""
    figures: Mapping[str, int | float | str] = field(default_factory=dict)
    """Figures that the code printed about the compiled model, such as its memory and cycles, by name."""
    has_further: bool = False
    """True if ``partitions`` may include nodes that the delegate did not select, such as nodes that are always compiled."""
    is_decided: bool = False
    """True if the decision is valid although a later step failed."""
