"""What the delegate knows while it visits the nodes of a subgraph one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from ...graph.watched import LooksFurther
from ...releases.catalogue import Release
from .target import XnnpackTarget
from .unpacking import Unpacking
from .variables import Variables


@dataclass(slots=True, eq=False)
class Visit:
    """A visit of the nodes: the target, and what the nodes so far have shown. Rules only read it."""

    target: XnnpackTarget = field(default_factory=XnnpackTarget)
    unpacking: Unpacking = field(init=False)
    variables: Variables = field(default_factory=Variables, init=False)

    def __post_init__(self) -> None:
        self.unpacking = Unpacking(self.release)

    @property
    def release(self) -> Release:
        """The release of the runtime."""
        return self.target.release


class WatchedVisit:
    """A visit of which rules see the target only (``rules.alike``): what else it has changes from node to node."""

    def __init__(self, target: XnnpackTarget) -> None:
        self.target = target
        self.release = target.release

    def __getattr__(self, name: str) -> NoReturn:
        raise LooksFurther
