"""The forms of a graph's nodes. A check that reads only a node and its operands gives nodes of one form the same verdict."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..model.model import Model, Node, Tensor
from .graph import Graph

_SMALL_CONSTANT = 64
"""Largest size in bytes of a constant that is compared by value, such as a shape, axes or a permutation."""


def node_forms(graph: Graph) -> Sequence[int]:
    """Return the form of each node of a graph, as a number.

    Nodes of one form have the same operator, version, options and operands. They differ only in the indices and names of nodes
    and tensors, and in buffers. Large constants and lists of scales are equal only if they are the same.
    """
    return graph.results.get("forms", (), lambda: _numbered(graph))


def _numbered(graph: Graph) -> Sequence[int]:
    numbers: dict[Hashable, int] = {}

    def number(form: Hashable) -> int:
        return numbers.setdefault(form, len(numbers))

    tensors = [*[number(_form_of_tensor(graph.model, tensor)) for tensor in graph.tensors], -1]
    """The form of each tensor. The last element is for omitted tensors, whose index is -1."""

    def form_of(node: Node) -> Hashable:
        operands = (*node.inputs, *node.outputs, *node.intermediates)
        first = {operand: place for place, operand in reversed([*enumerate(operands)])}
        repeated = None if len(first) == len(operands) else tuple([first[operand] for operand in operands])
        counts = len(node.inputs), len(node.outputs)
        kind = node.op, node.builtin_code, node.version, graph.model.options(node), node.options is None, node.custom_options
        return *kind, *counts, repeated, *[tensors[operand] for operand in operands]

    return [number(form_of(node)) for node in graph.nodes]


def _form_of_tensor(model: Model, tensor: Tensor) -> Hashable:
    shape = tensor.has_rank, tensor.shape, tensor.shape_signature
    place: Hashable = tensor.data
    if tensor.data is not None and tensor.data[1] <= _SMALL_CONSTANT:
        offset, size = tensor.data
        place = bytes(model.content[offset : offset + size])
    storage = tensor.allocation, tensor.is_variable, tensor.external_buffer, tensor.sparsity, place, id(tensor.value)
    return tensor.type, *shape, *storage, _form_of_quantization(tensor)


def _form_of_quantization(tensor: Tensor) -> Hashable:
    given = tensor.quantization
    if given is None:
        return None
    if given.is_affine and len(given.scales) == len(given.zero_points) == 1 and given.scale > 0:
        return given.scale, given.zero_point, given.dimension
    return id(given)
