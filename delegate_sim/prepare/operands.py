"""Helpers that read the values of operands during Prepare."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..foundation.late_numpy import MOST_ARRAY_DIMENSIONS, np
from ..foundation.limits import is_above_limit
from ..model.numbers import FlatNumbers, RepeatedNumber, as_list, read_as
from .kernel import KernelNode, KernelTensor

if TYPE_CHECKING:
    import numpy.typing as npt


HALF_TYPES_LATER = {"litert-1.3.0": ("FLOAT16", "BFLOAT16")}
"""The types that several kernels accept since a release, by the name of that release (see ``KernelNode.ensure_type``)."""


def only_operand(node: KernelNode) -> tuple[KernelTensor, KernelTensor]:
    """Return the operand and the result of an operator with one operand and one result."""
    node.ensure_counts(1, 1)
    return node.input(0), node.output()


def first_unknown(*tensors: KernelTensor) -> KernelTensor | None:
    """Return the first tensor with an unknown value, or None if the values of all tensors are known."""
    for tensor in tensors:
        if not tensor.is_constant_or_persistent:
            return tensor
    return None


def known_elements(tensor: KernelTensor) -> FlatNumbers | None:
    """Return the elements of a constant or persistent tensor as a flat sequence, or None if they cannot be read."""
    values = tensor.known_value()
    if values is None or len(values) < tensor.element_count:
        return None
    elements: FlatNumbers = values[: tensor.element_count]
    return elements


def known_array(tensor: KernelTensor) -> npt.NDArray[Any] | None:
    """Return a constant or persistent tensor as an array with the tensor's shape.

    Return None if the elements cannot be read, or if there are too many elements or dimensions for an array.
    """
    elements = known_elements(tensor)
    if elements is None or tensor.rank > MOST_ARRAY_DIMENSIONS:
        return None
    if isinstance(elements, RepeatedNumber) and is_above_limit(len(elements)):
        return None
    return np.asarray(elements).reshape(tensor.shape)


def positions_in(axes: Sequence[tuple[int, Iterable[int]]]) -> Iterator[int]:
    """Yield the flat positions of selected elements of a tensor.

    ``axes`` has a pair for each dimension: the size of the dimension, and the selected indices.
    """
    along, distance = [], 1
    for size, taken in reversed(axes):
        along.append([distance * index for index in taken])
        distance *= size
    return map(sum, itertools.product(*reversed(along)))


def as_int32(tensor: KernelTensor) -> list[int]:
    """Return a tensor's data, read as 32-bit integers. Some kernels do so for data of any type."""
    return as_list(read_as(tensor.value(), "<i4"))


def has_unspecified_dimension(tensor: KernelTensor) -> bool:
    """Return whether a tensor's shape signature has an unknown size. The runtime drops the signatures of constants.

    Upstream: ``kernels/kernel_util.cc: HasUnspecifiedDimension``.
    """
    return tensor.source.has_unspecified_dimension and not tensor.source.is_constant


def wrapped(axis: int, rank: int) -> int:
    """Return a non-negative axis. A negative ``axis`` is counted from the last dimension."""
    return axis + rank if axis < 0 else axis
