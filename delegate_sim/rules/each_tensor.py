"""Checks that a delegate applies to several tensors of a node, one tensor after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ..graph.graph import NodeView
from ..model.model import Tensor
from .kinds import Kind
from .rule import Check
from .vocabulary import check

TensorFinder = Callable[[Tensor], str | None]
"""A function that describes a tensor that fails a check, or returns None if the tensor passes."""
NamedTensors = Callable[[NodeView], Iterable[tuple[str, Tensor]]]
"""A function that returns named tensors of a node, in the order in which the delegate checks them."""


@dataclass(frozen=True, slots=True)
class TensorDemand:
    """A demand that several tensors of a node must meet."""

    kind: Kind
    needed: str
    finder: TensorFinder
    hint: str = ""


def inputs(node: NodeView, positions: slice = slice(None)) -> Iterator[tuple[str, Tensor]]:
    """Yield the operands of a node at some positions. Omitted operands are left out."""
    for position, index in enumerate(node.node.inputs[positions], positions.start or 0):
        if index >= 0:
            yield f"input {position}", node.graph.tensors[index]


def outputs(node: NodeView) -> Iterator[tuple[str, Tensor]]:
    """Yield the results of a node. Omitted results are left out."""
    for position, index in enumerate(node.node.outputs):
        if index >= 0:
            yield f"output {position}", node.graph.tensors[index]


def of_tensors(tensors: NamedTensors, *demands: TensorDemand) -> tuple[Check[object], ...]:
    """Return one check for each demand.

    The delegate applies all demands to one tensor before it reads the next tensor. It stops at the first tensor that fails a
    demand.
    """

    def check_of(demand: TensorDemand) -> Check[object]:
        def find(node: NodeView) -> str | None:
            before: list[Tensor] = []
            for name, tensor in tensors(node):
                description = demand.finder(tensor)
                if description is not None:
                    is_first = all(other.finder(earlier) is None for earlier in before for other in demands)
                    return f"{name} {description}" if is_first else None
                before.append(tensor)
            return None

        return check(demand.kind, demand.needed, find, demand.hint)

    return tuple(map(check_of, demands))
