"""The tensors that the Prepare functions of CPU kernels read and change, and their values."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..foundation.late_numpy import MOST_ARRAY_DIMENSIONS, np
from ..foundation.limits import element_count, is_above_limit
from ..graph.graph import DynamicTensor, Graph
from ..model import schema
from ..model.model import OPTIONAL_TENSOR, Allocation, Model, Quantization, Tensor
from ..model.numbers import FlatNumbers, RepeatedNumber, StoredNumbers, as_list, flat, read_as
from ..refusal import Refusal

if TYPE_CHECKING:
    import numpy.typing as npt

_GREATEST_LOGARITHM_ERROR = 1e-3


class PrepareError(Exception):
    """Raised if the CPU kernel refuses to prepare a node. The message is the reason.

    ``lines`` has log lines that the runtime prints before the line about the node, for example lines about a node in a called
    subgraph. ``kernel`` is a delegate kernel that failed in a called subgraph. ``unregistered`` is the name of a custom
    operator that is not registered.
    """

    def __init__(
        self, message: str, lines: tuple[str, ...] = (), kernel: tuple[int, int] | None = None, unregistered: str = ""
    ) -> None:
        super().__init__(message)
        self.lines = lines
        self.kernel = kernel
        self.unregistered = unregistered


class KernelTensor:
    """A tensor during preparation. Its type, shape, allocation and value may change."""

    __slots__ = ("allocation", "computed", "model", "shape", "source", "type")

    def __init__(self, model: Model, source: Tensor) -> None:
        self.model = model
        self.source = source
        self.type = source.type
        self.shape = source.shape
        self.allocation = source.allocation
        self.computed: FlatNumbers | None = source.value

    @property
    def index(self) -> int:
        """The tensor's index in its subgraph."""
        return self.source.index

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def element_count(self) -> int:
        """The number of elements."""
        return element_count(self.shape)

    @property
    def quantization(self) -> Quantization | None:
        """The quantization parameters."""
        return self.source.quantization

    @property
    def scale(self) -> float:
        """The scale of a tensor with one scale. 0 for all other tensors."""
        return self.source.scale

    @property
    def zero_point(self) -> int:
        """The zero point of a tensor with one zero point. 0 for all other tensors."""
        return self.source.zero_point

    @property
    def is_variable(self) -> bool:
        """True if the tensor keeps its value between invocations."""
        return self.source.is_variable

    @property
    def is_constant(self) -> bool:
        """True if the value is in the model file (``IsConstantTensor``)."""
        return self.allocation is Allocation.CONSTANT

    @property
    def is_constant_or_persistent(self) -> bool:
        """True if the value is known after preparation (``IsConstantOrPersistentTensor``)."""
        return self.allocation in (Allocation.CONSTANT, Allocation.PERSISTENT)

    @property
    def is_dynamic(self) -> bool:
        """True if the size of the tensor is known only at run time (``IsDynamicTensor``)."""
        return self.allocation is Allocation.DYNAMIC

    def value(self) -> FlatNumbers:
        """Return the elements as a flat sequence in C order. Raise PrepareError if the elements are not known."""
        elements = self.known_value()
        if elements is None:
            raise PrepareError(f"the value of tensor {self.index} is not known")
        return elements

    def known_value(self) -> FlatNumbers | None:
        """Return the elements as a flat sequence in C order, or None if the elements are not known.

        Elements in the model file are read as elements of the tensor's current type.
        """
        if self.computed is not None and (self.computed is not self.source.value or self.type == self.source.type):
            return flat(self.computed)
        if not self.is_constant:
            return None
        if self.computed is None:
            source = self.source if self.type == self.source.type else self.source._replace(type=self.type)
            return self.model.constant(source)
        kind = schema.NUMPY_TYPES.get(self.type)
        return None if kind is None else StoredNumbers.read(kind, self.computed.tobytes())

    def integers(self) -> list[int]:
        """Return the elements as Python integers."""
        return list(map(int, as_list(self.value())))

    def freeze(self) -> Tensor:
        """Return the tensor in its current state."""
        source = self.source
        if (
            self.type == source.type
            and self.shape == source.shape
            and self.allocation is source.allocation
            and self.computed is source.value
        ):
            return source
        return source._replace(type=self.type, shape=self.shape, allocation=self.allocation, value=self.computed)


class KernelTensors(dict[int, KernelTensor]):
    """The tensors of a subgraph by index. Each tensor is created when it is first used."""

    def __init__(self, model: Model, tensors: Sequence[Tensor]) -> None:
        super().__init__()
        self._model = model
        self._tensors = tensors

    def __missing__(self, index: int) -> KernelTensor:
        if index < 0:
            return self[index + len(self._tensors)]
        tensor = self[index] = KernelTensor(self._model, self._tensors[index])
        return tensor


class KernelSubgraph:
    """A subgraph during preparation.

    If the subgraph is prepared a second time, it keeps the sizes that calling nodes set and the types that kernels set.
    """

    def __init__(self, model: Model, graph: Graph) -> None:
        self.graph = graph
        self.inputs = list(graph.inputs)
        """The tensor indices of the inputs. An input that no node reads has the index -1."""
        self.outputs = graph.outputs
        self.nodes = list(graph.nodes)
        self.tensors = KernelTensors(model, graph.tensors)
        self.dynamic: DynamicTensor | None = None
        self.failure: Refusal | None = None

    @functools.cached_property
    def read_tensors(self) -> frozenset[int]:
        """The tensors that nodes read, and the outputs of the subgraph (``GetInputTensorsCount``)."""
        return frozenset(self.outputs).union(*[node.inputs for node in self.nodes])

    def remove_unused_inputs(self) -> None:
        """Replace each input that no node reads with -1 (``RemoveUnusedInputs``)."""
        self.inputs = [index if index in self.read_tensors else OPTIONAL_TENSOR for index in self.inputs]

    def freeze(self) -> Graph:
        """Return the graph in its current state."""
        own = self.graph.tensors
        others = {index: frozen for index, tensor in self.tensors.items() if (frozen := tensor.freeze()) is not own[index]}
        tensors = list(own)
        for index, tensor in others.items():
            tensors[index] = tensor
        has_changed = others or self.dynamic or self.failure or self._has_changed_nodes or tuple(self.inputs) != self.graph.inputs
        if not has_changed:
            return self.graph
        return replace(
            self.graph,
            inputs=tuple(self.inputs),
            nodes=tuple(self.nodes) if self._has_changed_nodes else self.graph.nodes,
            tensors=tuple(tensors) if others else own,
            dynamic=self.dynamic,
            failure=self.failure,
        )

    @property
    def _has_changed_nodes(self) -> bool:
        return any(map(operator.is_not, self.nodes, self.graph.nodes))


def first_unknown(*tensors: KernelTensor) -> KernelTensor | None:
    """Return the first tensor with an unknown value, or None if the values of all tensors are known."""
    return next((tensor for tensor in tensors if not tensor.is_constant_or_persistent), None)


def broadcast_shape(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    """Return the broadcast shape of two shapes (``CalculateShapeForBroadcast``, ``kernels/kernel_util.cc``).

    Raise PrepareError if the shapes cannot be broadcast together.
    """
    if first == second:
        return tuple(first)
    rank = max(len(first), len(second))
    left = (1,) * (rank - len(first)) + tuple(first)
    right = (1,) * (rank - len(second)) + tuple(second)
    shape = []
    for one, other in zip(left, right, strict=True):
        if one != other and 1 not in (one, other):
            raise PrepareError(f"the shapes {list(first)} and {list(second)} cannot be broadcast together")
        shape.append(0 if one == 0 or other == 0 else max(one, other))
    return tuple(shape)


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


def affine_quantization(tensor: KernelTensor) -> Quantization | None:
    """Return a tensor's affine quantization parameters, or None if the tensor has none."""
    quantization = tensor.quantization
    return quantization if quantization is not None and quantization.is_affine else None


def power_of_two_exponent(tensor: KernelTensor) -> int | None:
    """Return the exponent of the power of two that is close to a tensor's scale.

    Return None if no power of two is close. Upstream: ``internal/quantization_util.cc: CheckedLog2``.
    """
    if tensor.scale <= 0:
        return None
    logarithm = math.log2(tensor.scale)
    exponent = round(logarithm)
    return exponent if abs(logarithm - exponent) < _GREATEST_LOGARITHM_ERROR else None
