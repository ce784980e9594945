"""The node and the tensors that the Prepare functions of CPU kernels read and change.

A Prepare function is written like the kernel's own: it reads operands, may refuse with ``KernelNode.ensure``, and sets the
type, shape and allocation of the results. Only what a delegate or the report can see is carried over; temporaries and
quantization multipliers are not.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NoReturn, Protocol

from ..foundation.limits import raised
from ..graph.graph import DynamicTensor, Graph, PrepareFailure
from ..model import schema
from ..model.model import OPTIONAL_TENSOR, Allocation, Model, Node, Quantization, Tensor
from ..model.numbers import FlatNumbers, StoredNumbers, flat
from ..model.options import Options
from ..releases.catalogue import NEWEST, Release

_MOST_COMPUTED_AT_ONCE = 1 << 16
_MOST_COMPUTED = 1 << 18
_WITHOUT_SIZE = frozenset({"STRING", "RESOURCE", "VARIANT"})
"""Types whose tensors have no size in bytes before they have a value."""


class PrepareError(Exception):
    """The CPU kernel refuses to prepare this node; the text says why.

    ``lines`` are what is printed before the runtime names the node, such as those of nodes that it calls. ``kernel`` is the
    delegate's kernel that is to blame there, and ``unregistered`` the custom operator that nobody registered, if any.
    """

    def __init__(
        self,
        message: str,
        lines: tuple[str, ...] = (),
        kernel: tuple[int, int] | None = None,
        unregistered: str = "",
    ) -> None:
        super().__init__(message)
        self.lines = lines
        self.kernel = kernel
        self.unregistered = unregistered


class KernelTensor:
    """A tensor while its graph is being prepared: type, shape, allocation and value may change."""

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
        return math.prod(self.shape)

    @property
    def quantization(self) -> Quantization | None:
        """The quantization parameters."""
        return self.source.quantization

    @property
    def scale(self) -> float:
        """The scale of a per-tensor quantized tensor, else 0."""
        return self.source.scale

    @property
    def zero_point(self) -> int:
        """The zero point of a per-tensor quantized tensor, else 0."""
        return self.source.zero_point

    @property
    def is_variable(self) -> bool:
        """Whether the tensor keeps its value between invocations."""
        return self.source.is_variable

    @property
    def is_constant(self) -> bool:
        """``IsConstantTensor``: the value is in the file."""
        return self.allocation is Allocation.CONSTANT

    @property
    def is_constant_or_persistent(self) -> bool:
        """``IsConstantOrPersistentTensor``: the value is known once the graph is prepared."""
        return self.allocation in (Allocation.CONSTANT, Allocation.PERSISTENT)

    @property
    def is_dynamic(self) -> bool:
        """``IsDynamicTensor``."""
        return self.allocation is Allocation.DYNAMIC

    def value(self) -> FlatNumbers:
        """The elements, flat, in C order; raises PrepareError if they are not known or their type cannot be read."""
        elements = self.known_value()
        if elements is None:
            raise PrepareError(f"the value of tensor {self.index} is not known")
        return elements

    def known_value(self) -> FlatNumbers | None:
        """The elements, flat, in C order, None if they are not known; those in the file are read as the type of the moment."""
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
        """The elements as Python integers."""
        return list(map(int, self.value()))

    def freeze(self) -> Tensor:
        """Return the tensor in its present state."""
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
    """The tensors of a subgraph by index, each made when it is first asked for: most are never."""

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
    """A subgraph while it is being prepared. Its state outlasts a preparation: callers resize inputs, kernels set types."""

    def __init__(self, model: Model, graph: Graph) -> None:
        self.graph = graph
        self.inputs = list(graph.inputs)
        """Tensor indices; -1 for an input that was found unused."""
        self.outputs = graph.outputs
        self.nodes = list(graph.nodes)
        self.tensors = KernelTensors(model, graph.tensors)
        self.dynamic: DynamicTensor | None = None
        self.failure: PrepareFailure | None = None

    @functools.cached_property
    def read_tensors(self) -> frozenset[int]:
        """The tensors that nodes read, and the outputs (``GetInputTensorsCount``)."""
        return frozenset(self.outputs).union(*[node.inputs for node in self.nodes])

    def remove_unused_inputs(self) -> None:
        """``RemoveUnusedInputs``: inputs that nothing reads become -1."""
        self.inputs = [index if index in self.read_tensors else OPTIONAL_TENSOR for index in self.inputs]

    def freeze(self) -> Graph:
        """Return the graph in its present state."""
        own = self.graph.tensors
        others = {index: frozen for index, tensor in self.tensors.items() if (frozen := tensor.freeze()) is not own[index]}
        tensors = list(own)
        for index, tensor in others.items():
            tensors[index] = tensor
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


class Interpreter(Protocol):
    """The interface of the interpreter for kernels that call other subgraphs."""

    def subgraph_count(self) -> int:
        """The number of subgraphs."""

    def subgraph(self, index: int) -> KernelSubgraph:
        """A subgraph; raises PrepareError if there is none of this index."""

    def current_subgraph(self) -> KernelSubgraph:
        """The subgraph whose node is being prepared."""

    def allocate_tensors(self, subgraph: KernelSubgraph) -> None:
        """``AllocateTensors``: prepare another subgraph; raises PrepareError if one of its nodes cannot be."""


class ComputedElements:
    """The number of elements that a preparation still computes: later kernels only read shapes, axes and the like.

    A hostile file would have far more computed than it holds.
    """

    def __init__(self) -> None:
        self.left, self._most_at_once = raised(_MOST_COMPUTED), raised(_MOST_COMPUTED_AT_ONCE)

    def take(self, count: int) -> bool:
        """Whether a result of this many elements is computed; if so, that many fewer are left."""
        is_taken = count <= min(self.left, self._most_at_once)
        if is_taken:
            self.left -= max(count, 0)
        return is_taken


class KernelNode:
    """A node while its graph is being prepared."""

    __slots__ = ("_options", "cause", "elements", "has_open_result", "interpreter", "model", "node", "release", "tensors")

    def __init__(
        self,
        model: Model,
        node: Node,
        tensors: KernelTensors,
        interpreter: Interpreter,
        release: Release = NEWEST,
        elements: ComputedElements | None = None,
    ) -> None:
        self.model = model
        self.node = node
        self.tensors = tensors
        self.interpreter = interpreter
        self.release = release
        """The release of the runtime whose kernel this is."""
        self.elements = elements or ComputedElements()
        """The elements of results that may still be computed."""
        self.cause: int | None = None
        """The operand that would have to be constant for the results not to be dynamic."""
        self.has_open_result = False
        """Whether the kernel has said that it does not know the size of its result."""
        self._options: Options | None = None

    @property
    def op(self) -> str:
        """The operator's name."""
        return self.node.op

    @property
    def options(self) -> Options:
        """The builtin options."""
        if self._options is None:
            self._options = self.model.options(self.node)
        return self._options

    @property
    def input_count(self) -> int:
        """The number of operands, omitted ones included."""
        return len(self.node.inputs)

    @property
    def output_count(self) -> int:
        """The number of results."""
        return len(self.node.outputs)

    def input(self, position: int) -> KernelTensor:
        """``GetInputSafe``: the operand at a position; refuses if it is omitted or missing."""
        inputs = self.node.inputs
        index = inputs[position] if 0 <= position < len(inputs) else -1
        if index < 0:
            raise PrepareError(f"input {position} is missing")
        return self.tensors[index]

    def optional_input(self, position: int) -> KernelTensor | None:
        """``GetOptionalInputTensor``: the operand at a position, None if it is omitted or missing."""
        inputs = self.node.inputs
        index = inputs[position] if 0 <= position < len(inputs) else -1
        return self.tensors[index] if index >= 0 else None

    def output(self, position: int = 0) -> KernelTensor:
        """``GetOutputSafe``: the result at a position; refuses if it is missing."""
        outputs = self.node.outputs
        index = outputs[position] if 0 <= position < len(outputs) else -1
        if index < 0:
            raise PrepareError(f"output {position} is missing")
        return self.tensors[index]

    def intermediate(self, position: int) -> KernelTensor:
        """The intermediate tensor at a position; refuses if it is missing."""
        indices = self.node.intermediates
        index = indices[position] if 0 <= position < len(indices) else -1
        if index < 0:
            raise PrepareError(f"intermediate {position} is missing")
        return self.tensors[index]

    def leave_out_result(self, position: int) -> None:
        """Replace a result by -1, in this preparation and all later ones."""
        outputs = list(self.node.outputs)
        outputs[position] = OPTIONAL_TENSOR
        self.node = self.node._replace(outputs=tuple(outputs))

    def ensure(self, condition: bool, message: str) -> None:
        """``TF_LITE_ENSURE``: refuse unless the condition holds. ``message`` says in our words what is wrong."""
        if not condition:
            raise PrepareError(message)

    def ensure_counts(self, inputs: int | tuple[int, ...], outputs: int) -> None:
        """Refuse unless there are exactly this many operands (one of these counts) and results."""
        allowed = (inputs,) if isinstance(inputs, int) else inputs
        if len(self.node.inputs) not in allowed or len(self.node.outputs) != outputs:
            raise PrepareError(f"has {self.input_count} inputs and {self.output_count} outputs")

    def ensure_type(self, tensor: KernelTensor, types: str | Iterable[str]) -> None:
        """Refuse unless the tensor has one of these types."""
        if tensor.type != types if isinstance(types, str) else tensor.type not in types:
            raise PrepareError(f"tensor {tensor.index} is {tensor.type}")

    def ensure_rank(self, tensor: KernelTensor, rank: int) -> None:
        """Refuse unless the tensor has this number of dimensions."""
        if len(tensor.shape) != rank:
            raise PrepareError(f"tensor {tensor.index} has {tensor.rank} dimensions, not {rank}")

    def ensure_shape(self, tensor: KernelTensor, shape: tuple[int, ...]) -> None:
        """Refuse unless the tensor has this shape."""
        if tensor.shape != shape:
            raise PrepareError(f"tensor {tensor.index} has the shape {list(tensor.shape)}, not {list(shape)}")

    def fail(self, message: str) -> NoReturn:
        """Refuse."""
        raise PrepareError(message)

    def resize(self, tensor: KernelTensor, shape: Iterable[int]) -> None:
        """``ResizeTensor``: set the shape; a constant must keep the size that it has, and a size in bytes must be one."""
        sizes = tuple(shape)
        if tensor.is_constant:
            if sizes == tensor.shape and tensor.source._replace(type=tensor.type).byte_size == tensor.source.byte_size:
                return
            raise PrepareError(f"tensor {tensor.index} is constant and cannot be resized")
        if sizes and min(sizes) < 0 and tensor.type not in _WITHOUT_SIZE:
            raise PrepareError(f"the shape {list(sizes)} has a negative size")
        tensor.shape = sizes

    def set_dynamic(self, tensor: KernelTensor, cause: KernelTensor | None = None) -> None:
        """``SetTensorToDynamic``: the size is known only at run time, because ``cause`` is not constant."""
        if tensor.allocation is not Allocation.DYNAMIC:
            tensor.allocation = Allocation.DYNAMIC
            tensor.computed = None
        if cause is not None and self.cause is None:
            self.cause = cause.index

    def leave_open(self, cause: KernelTensor) -> None:
        """``kTfLiteOutputShapeNotKnown``: the size of the result is known only at run time, and it stays where it is."""
        self.has_open_result = True
        if self.cause is None:
            self.cause = cause.index

    @property
    def has_dynamic_result(self) -> bool:
        """Whether the size of a result is known only at run time."""
        dynamic = [index for index in self.node.outputs if index >= 0 and self.tensors[index].is_dynamic]
        return self.has_open_result or bool(dynamic)

    def set_persistent(self, tensor: KernelTensor, shape: Iterable[int], value: FlatNumbers | None = None) -> None:
        """``SetTensorToPersistentRo`` and resize: the value is computed now and stays; give it if it is known."""
        tensor.allocation = Allocation.PERSISTENT
        self.resize(tensor, shape)
        tensor.computed = value


Kernel = Callable[[KernelNode], None]
KERNELS: dict[str, Kernel] = {}
"""The Prepare function of each operator. An operator without one leaves its results as they are in the file."""
CHANGED_IN: dict[str, tuple[Release, ...]] = {}
"""The releases in which the Prepare function of each operator changed."""


def kernel(*ops: str, changed_in: tuple[Release, ...] = ()) -> Callable[[Kernel], Kernel]:
    """Register a Prepare function for these operators; ``changed_in`` holds every release that it compares with."""

    def register(function: Kernel) -> Kernel:
        for op in ops:
            if op in KERNELS:
                raise ValueError(f"two Prepare functions for {op}")
            KERNELS[op] = function
            CHANGED_IN[op] = changed_in
        return function

    return register


def broadcast_shape(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    """``CalculateShapeForBroadcast`` (``kernels/kernel_util.cc``) of two shapes; raises PrepareError if they do not fit."""
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
