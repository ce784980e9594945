"""The decision of real code about a model, in a form comparable with a simulation."""

from __future__ import annotations

from dataclasses import dataclass

from ..delegates.decision import FileNode


@dataclass(frozen=True, slots=True)
class LiveNode:
    """A delegated node: its operator, and its place in the file if it can be identified."""

    op: str
    place: FileNode | None = None

    @property
    def words(self) -> str:
        """Return the node's name for messages."""
        if self.place is None:
            return self.op
        subgraph, node = self.place
        return f"node {node} {self.op}" if subgraph == 0 else f"subgraph {subgraph} node {node} {self.op}"


LivePartition = tuple[LiveNode, ...]


@dataclass(frozen=True, slots=True)
class LiveDecision:
    """A decision, live or simulated.

    ``lines`` are the log lines that both print. ``partitions`` is None if they are unknown, as after a failure or a crash.
    """

    has_failed: bool
    end: str = ""
    """Description of a failure or crash; empty if there was none."""
    lines: tuple[str, ...] = ()
    partitions: tuple[LivePartition, ...] | None = None
    lacks: str = ""
    """Missing requirements of this host that only a run reveals."""
    is_closed: bool = False
    """True if closed code decided, with which nothing is compared."""
    has_further: bool = False
    """True if ``partitions`` may include nodes that were not selected, such as those that are always compiled."""
    is_decided: bool = False
    """True if the decision is valid although something failed after it."""
