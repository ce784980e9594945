"""The decision of real code about a model, in a form comparable with a simulation."""

from __future__ import annotations

from dataclasses import dataclass

from ..delegates.base import FileNode


@dataclass(frozen=True, slots=True)
class LiveNode:
    """A node that a delegate takes: its operator, and where it stands in the file if that can be told."""

    op: str
    place: FileNode | None = None

    @property
    def words(self) -> str:
        """Return the node as it is named in messages."""
        if self.place is None:
            return self.op
        subgraph, node = self.place
        return f"node {node} {self.op}" if subgraph == 0 else f"subgraph {subgraph} node {node} {self.op}"


LivePartition = tuple[LiveNode, ...]


@dataclass(frozen=True, slots=True)
class LiveDecision:
    """What was decided, live or simulated.

    ``lines`` are the log lines that both print. ``partitions`` is None where they are not known, as after a failure or a crash.
    """

    has_failed: bool
    end: str = ""
    """How it failed or crashed, in words; empty where it did not."""
    lines: tuple[str, ...] = ()
    partitions: tuple[LivePartition, ...] | None = None
    lacks: str = ""
    """What is missing on this host, where that showed only when it was run."""
    is_closed: bool = False
    """True if closed code decided, which nothing is held against."""
    has_further: bool = False
    """True if ``partitions`` may hold more than what was selected, such as what is compiled in any case."""
    is_decided: bool = False
    """True if the decision stands although something failed after it."""
