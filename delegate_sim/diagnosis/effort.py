"""Limit the number of simulations per search (such as a diagnosis), so that a search on a large model takes only seconds."""

from __future__ import annotations

from collections.abc import Hashable

from ..foundation.limits import raised
from ..graph.graph import Graph, file_graphs
from ..model.model import Model, Node, Tensor

_MOST_NODES = 200_000
"""Largest total number of nodes in all simulations of one search."""
_OF_A_FORM = 25
"""Number of further nodes of one form that together count as much as the form's first node."""
_SMALL_CONSTANT = 64
"""Largest size in bytes of a constant whose values distinguish forms, such as a shape, axes, or a permutation."""


def simulations_of(model: Model, at_least: int, at_most: int) -> int:
    """Return how many simulations a search may run, from ``at_least`` for large models to ``at_most`` for small models."""
    nodes = sum([len(graph.nodes) + _OF_A_FORM * _count_forms(graph) for graph in file_graphs(model)])
    return min(at_most, max(at_least, raised(_MOST_NODES) // max(nodes, 1)))


def _count_forms(graph: Graph) -> int:
    """Count the distinct forms of nodes.

    A form consists of the operator, version, options, and static properties of the operands.
    """
    forms = [*[_form_of(graph.model, tensor) for tensor in graph.tensors], None]

    def form_of(node: Node) -> Hashable:
        operands = node.inputs + node.outputs
        repeated = len(set(operands)) < len(operands) and tuple(map(operands.index, operands))
        return node.op, node.version, graph.model.options(node), repeated, *[forms[index] for index in operands]

    return len({form_of(node) for node in graph.nodes})


def _form_of(model: Model, tensor: Tensor) -> Hashable:
    offset, size = tensor.data or (0, 0)
    value = bytes(model.content[offset : offset + size]) if size <= _SMALL_CONSTANT else size
    kind, scales, zero_points, *rest = tensor.quantization or ("", (), ())
    quantization = kind, tensor.scale, tensor.zero_point, len(scales), len(zero_points), *rest
    shape = tensor.has_rank, tensor.shape, tensor.shape_signature
    return tensor.type, shape, tensor.allocation, quantization, value


class Tries:
    """A budget of tries."""

    def __init__(self, count: int) -> None:
        self._left = count

    @property
    def are_over(self) -> bool:
        """True if the budget is used up."""
        return self._left <= 0

    def take(self) -> bool:
        """Use one try; return whether the budget still had one."""
        self._left -= 1
        return self._left >= 0
