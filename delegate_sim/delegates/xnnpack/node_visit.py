"""The delegate's state while it visits the nodes of a subgraph in order."""

from __future__ import annotations

from ...releases.catalogue import Release
from .target import XnnpackTarget
from .unpacking import Unpacking
from .variables import Variables


class Visit:
    """The target, and the state that the visited nodes have set. Rules only read this state."""

    __slots__ = ("target", "unpacking", "variables")

    def __init__(self, target: XnnpackTarget | None = None) -> None:
        self.target = target or XnnpackTarget()
        self.unpacking = Unpacking(self.release)
        self.variables = Variables()

    @property
    def release(self) -> Release:
        """The release of the runtime."""
        return self.target.release
