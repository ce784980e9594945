"""What the delegate knows while it visits the nodes of a subgraph one after the other."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NoReturn

from ...graph.watched import LooksFurther, Numbering, number_of
from ...model.model import NO_TENSOR, OPTIONAL_TENSOR, Node, Tensor
from ...releases.catalogue import Release
from .target import XnnpackTarget
from .unpacking import Unpacking
from .variables import Variables


class Visit:
    """A visit of the nodes: the target, and what the nodes so far have shown. Rules only read it."""

    __slots__ = ("target", "unpacking", "variables")

    def __init__(self, target: XnnpackTarget | None = None) -> None:
        self.target = target or XnnpackTarget()
        self.unpacking = Unpacking(self.release)
        self.variables = Variables()

    @property
    def release(self) -> Release:
        """The release of the runtime."""
        return self.target.release

    def has_shown(self, node: Node) -> bool:
        """Whether the nodes so far have shown anything of a node's operands: that they are unpacked, or of variables."""
        operands = node.inputs + node.outputs
        return not self.unpacking.producers.keys().isdisjoint(operands) or self.variables.are_among(operands)


class WatchedVisit:
    """A visit of which rules see what ``noted`` tells of one node, and the target (``rules.alike``)."""

    def __init__(self, visit: Visit, node: Node) -> None:
        self.unpacking = _WatchedUnpacking(visit.unpacking, node)
        self.target = visit.target
        self.release = visit.release

    def __getattr__(self, name: str) -> NoReturn:
        raise LooksFurther


def noted(visit: Visit, node: Node) -> Hashable:
    """Return what the nodes so far have shown of a node's operands: which of them are unpacked."""
    unpacking, operands = visit.unpacking, node.inputs + node.outputs
    if not unpacking.producers or unpacking.producers.keys().isdisjoint(operands):
        return None
    return tuple([(index in unpacking.producers, index in unpacking.elided_float16) for index in operands])


class _WatchedUnpacking:
    """What was found of the operands of one node."""

    def __init__(self, unpacking: Unpacking, node: Node) -> None:
        self._unpacking = unpacking
        self._tensors = Numbering(node).indices

    def makes(self, tensor: Tensor) -> bool:
        return self._own(tensor) in self._unpacking.producers

    def is_elided(self, tensor: Tensor) -> bool:
        return self._own(tensor) in self._unpacking.elided_float16

    def _own(self, tensor: Tensor) -> int:
        return OPTIONAL_TENSOR if tensor is NO_TENSOR else self._tensors[number_of(tensor)]

    def __getattr__(self, name: str) -> NoReturn:
        raise LooksFurther
