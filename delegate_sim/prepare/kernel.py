"""The node and the tensors that the Prepare functions of CPU kernels read and change.

A Prepare function reads operands, may refuse the node, and sets the type, shape and allocation of the results. Temporary
tensors and quantization multipliers are left out, because delegates and reports do not use them.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn, Protocol

from ..foundation.limits import element_count, ensure_rank, fits_if_unsigned, is_above_limit, raised
from ..foundation.printable import counted
from ..graph.graph import DynamicTensor, Graph
from ..model import schema
from ..model.model import OPTIONAL_TENSOR, Allocation, Model, Node, Quantization, Tensor
from ..model.numbers import FlatNumbers, StoredNumbers, as_list, flat
from ..model.options import Options
from ..refusal import Refusal
from ..releases.catalogue import Release, parse_release

_MOST_COMPUTED_AT_ONCE = 1 << 16
_MOST_COMPUTED = 1 << 18
_NO_LATER_TYPES: Mapping[str, Collection[str]] = {}


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


def first_unknown(*tensors: KernelTensor) -> KernelTensor | None:
    """Return the first tensor with an unknown value, or None if the values of all tensors are known."""
    return next((tensor for tensor in tensors if not tensor.is_constant_or_persistent), None)


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


class Interpreter(Protocol):
    """The part of the interpreter that kernels use."""

    def subgraph_count(self) -> int:
        """Return the number of subgraphs."""

    def subgraph(self, index: int) -> KernelSubgraph:
        """Return a subgraph. Raise PrepareError if the model has no subgraph with this index."""

    def current_subgraph(self) -> KernelSubgraph:
        """Return the subgraph that contains the node in preparation."""

    def allocate_tensors(self, subgraph: KernelSubgraph) -> None:
        """Prepare another subgraph (``AllocateTensors``). Raise PrepareError if one of its nodes cannot be prepared."""


class ComputedElements:
    """A limit on the number of elements that kernels compute during one preparation.

    Kernels of ordinary models compute only small tensors, such as shapes and axes. A hostile file can ask for far more elements.
    """

    def __init__(self) -> None:
        self.left, self._most_at_once = raised(_MOST_COMPUTED), raised(_MOST_COMPUTED_AT_ONCE)
        self._folded = 0

    def take(self, count: int) -> bool:
        """Return whether a result with ``count`` elements may be computed. If so, subtract ``count`` from the limit."""
        is_taken = count <= min(self.left, self._most_at_once)
        if is_taken:
            self.left -= max(count, 0)
        return is_taken

    def take_folded(self, count: int) -> bool:
        """Return whether a constant of ``count`` elements may be folded. If so, count these elements as folded."""
        is_taken = not is_above_limit(self._folded + count)
        if is_taken:
            self._folded += count
        return is_taken


class KernelNode:
    """A node during preparation."""

    __slots__ = (
        *("_elements", "_interpreter", "_options", "cause", "has_open_result", "model", "node", "reads_beyond_operands"),
        *("release", "tensors"),
    )

    def __init__(
        self,
        model: Model,
        node: Node,
        tensors: KernelTensors,
        interpreter: Interpreter,
        release: Release,
        elements: ComputedElements,
    ) -> None:
        self.model = model
        self.node = node
        self.tensors = tensors
        self._interpreter = interpreter
        self.release = release
        """The release of the runtime."""
        self._elements = elements
        self.reads_beyond_operands = False
        """True if the kernel asked for other subgraphs, or for the limit on computed elements."""
        self.cause: int | None = None
        """The index of the operand whose value decides the size of the results."""
        self.has_open_result = False
        """True if the kernel does not know the size of its result (see ``leave_open``)."""
        self._options: Options | None = None

    @property
    def interpreter(self) -> Interpreter:
        """The interpreter, with all subgraphs."""
        self.reads_beyond_operands = True
        return self._interpreter

    @property
    def elements(self) -> ComputedElements:
        """The limit on the number of computed elements."""
        self.reads_beyond_operands = True
        return self._elements

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
        """The number of operands, including omitted operands."""
        return len(self.node.inputs)

    @property
    def output_count(self) -> int:
        """The number of results."""
        return len(self.node.outputs)

    def input(self, position: int) -> KernelTensor:
        """Return the operand at a position. Refuse the node if the operand is omitted or missing (``GetInputSafe``)."""
        index = self.node.input(position)
        if index < 0:
            raise PrepareError(f"input {position} is missing")
        return self.tensors[index]

    def optional_input(self, position: int) -> KernelTensor | None:
        """Return the operand at a position, or None if it is omitted or missing (``GetOptionalInputTensor``)."""
        index = self.node.input(position)
        return self.tensors[index] if index >= 0 else None

    def output(self, position: int = 0) -> KernelTensor:
        """Return the result at a position. Refuse the node if the result is missing (``GetOutputSafe``)."""
        index = self.node.output(position)
        if index < 0:
            raise PrepareError(f"output {position} is missing")
        return self.tensors[index]

    def operands(self, inputs: int, outputs: int = 1) -> list[KernelTensor]:
        """Return the operands and then the results. Refuse a node with other numbers of operands or results."""
        self.ensure_counts(inputs, outputs)
        return [*map(self.input, range(inputs)), *map(self.output, range(outputs))]

    def intermediate(self, position: int) -> KernelTensor:
        """Return the intermediate tensor at a position. Refuse the node if the tensor is missing."""
        indices = self.node.intermediates
        index = indices[position] if 0 <= position < len(indices) else -1
        if index < 0:
            raise PrepareError(f"intermediate tensor {position} is missing")
        return self.tensors[index]

    def leave_out_result(self, position: int) -> None:
        """Mark the result at a position as omitted in the node. Later preparations keep this change."""
        outputs = list(self.node.outputs)
        outputs[position] = OPTIONAL_TENSOR
        self.node = self.node._replace(outputs=tuple(outputs))

    def since(self, release: str) -> bool:
        """Return whether the simulated release is ``release`` or a later release.

        The kernel must list ``release`` in ``changed_in``.
        """
        start = parse_release(release)
        if start not in CHANGED_IN.get(self.op, ()):
            raise RuntimeError(f"the kernel of {self.op} does not list {release} in changed_in")
        return self.release.is_at_least(start)

    def ensure(self, condition: bool, message: str) -> None:
        """Refuse the node if a condition does not hold (``TF_LITE_ENSURE``). ``message`` describes the problem."""
        if not condition:
            raise PrepareError(message)

    def ensure_counts(self, inputs: int | tuple[int, ...], outputs: int) -> None:
        """Refuse a node with a wrong number of operands or results.

        ``inputs`` is the allowed number of operands, or several allowed numbers.
        """
        allowed = (inputs,) if isinstance(inputs, int) else inputs
        if len(self.node.inputs) not in allowed or len(self.node.outputs) != outputs:
            raise PrepareError(f"has {counted(self.input_count, 'input')} and {counted(self.output_count, 'output')}")

    def ensure_type(
        self, tensor: KernelTensor, types: str | Iterable[str], later: Mapping[str, Collection[str]] = _NO_LATER_TYPES
    ) -> None:
        """Refuse the node if the tensor has another type than the given type or types.

        ``later`` has the types that the kernel accepts only since a release, by the name of that release.
        """
        if tensor.type != types if isinstance(types, str) else tensor.type not in types:
            if any(tensor.type in added and self.since(release) for release, added in later.items()):
                return
            raise PrepareError(f"tensor {tensor.index} is {tensor.type}, an unsupported type")

    def ensure_rank(self, tensor: KernelTensor, rank: int) -> None:
        """Refuse the node if the tensor has another number of dimensions."""
        if len(tensor.shape) != rank:
            raise PrepareError(f"tensor {tensor.index} has {counted(tensor.rank, 'dimension')}, not {rank}")

    def ensure_shape(self, tensor: KernelTensor, shape: tuple[int, ...]) -> None:
        """Refuse the node if the tensor has another shape."""
        if tensor.shape != shape:
            raise PrepareError(f"tensor {tensor.index} has the shape {list(tensor.shape)}, not {list(shape)}")

    def fail(self, message: str) -> NoReturn:
        """Refuse the node."""
        raise PrepareError(message)

    def resize(self, tensor: KernelTensor, shape: Iterable[int], *, reads_unsigned: bool = False) -> None:
        """Set the shape of a tensor (``ResizeTensor``).

        Refuse the node if the tensor is constant and the shape or the size in bytes would change. Also refuse the node if a
        dimension is negative and the tensor's type has a size in bytes. With ``reads_unsigned``, accept a negative dimension if
        the number of elements is 0, as releases before LiteRT 2.1.5 do.
        """
        sizes = tuple(shape)
        ensure_rank(len(sizes))
        if tensor.is_constant:
            if sizes == tensor.shape and tensor.source._replace(type=tensor.type).byte_size == tensor.source.byte_size:
                return
            raise PrepareError(f"tensor {tensor.index} is constant and cannot be resized")
        is_empty = reads_unsigned and 0 in sizes and fits_if_unsigned(sizes)
        if sizes and min(sizes) < 0 and tensor.type not in schema.TYPES_WITHOUT_SIZE and not is_empty:
            raise PrepareError(f"the shape {list(sizes)} has a negative size")
        tensor.shape = sizes

    def set_dynamic(self, tensor: KernelTensor, cause: KernelTensor | None = None) -> None:
        """Make a tensor dynamic (``SetTensorToDynamic``). The value of ``cause`` determines the tensor's size."""
        if not tensor.is_dynamic:
            tensor.allocation = Allocation.DYNAMIC
            tensor.computed = None
        if cause is not None and self.cause is None:
            self.cause = cause.index

    def is_left_dynamic(self, result: KernelTensor, *operands: KernelTensor) -> bool:
        """Make a result dynamic if the value of an operand that decides its size is unknown. Return whether this is so."""
        unknown = first_unknown(*operands)
        if unknown is not None:
            self.set_dynamic(result, unknown)
        return unknown is not None

    def leave_open(self, cause: KernelTensor) -> None:
        """Record that the size of the result is known only at run time, because ``cause`` is not constant.

        The allocation of the result does not change (``kTfLiteOutputShapeNotKnown``).
        """
        self.has_open_result = True
        if self.cause is None:
            self.cause = cause.index

    @property
    def has_dynamic_result(self) -> bool:
        """True if the size of a result is known only at run time."""
        return self.has_open_result or any(index >= 0 and self.tensors[index].is_dynamic for index in self.node.outputs)

    def set_persistent(self, tensor: KernelTensor, shape: Iterable[int], value: FlatNumbers | None) -> None:
        """Make a tensor persistent, and set its shape (``SetTensorToPersistentRo``).

        The real kernel computes the tensor's value. ``value`` is None if this package does not compute the value. Before
        ``PERSISTENT_SINCE``, the kernels that list this release in ``changed_in`` compute the value only when the model runs.
        """
        if parse_release(PERSISTENT_SINCE) in CHANGED_IN.get(self.op, ()) and not self.since(PERSISTENT_SINCE):
            self.resize(tensor, shape)
            return
        tensor.allocation = Allocation.PERSISTENT
        self.resize(tensor, shape)
        tensor.computed = value


PERSISTENT_SINCE = "tf-2.13"
"""The first release in which most kernels compute results of constants while they are prepared: measured in wheels."""
Kernel = Callable[[KernelNode], None]
KERNELS: dict[str, Kernel] = {}
"""The Prepare function of each operator. If an operator has no Prepare function, its results stay as in the model file."""
CHANGED_IN: dict[str, tuple[Release, ...]] = {}
"""For each operator, the releases in which its Prepare function changed."""


def kernel(*ops: str, changed_in: Iterable[str] = ()) -> Callable[[Kernel], Kernel]:
    """Return a decorator that registers a Prepare function for operators.

    ``changed_in`` must list every release in which the behavior of the function changed. The function asks for these releases
    with ``KernelNode.since``.
    """
    changes = tuple(map(parse_release, changed_in))

    def register(function: Kernel) -> Kernel:
        for op in ops:
            if op in KERNELS:
                raise ValueError(f"two Prepare functions for {op}")
            KERNELS[op] = function
            CHANGED_IN[op] = changes
        return function

    return register


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
