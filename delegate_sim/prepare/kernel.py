"""The node and the tensors that the Prepare functions of CPU kernels read and change.

A Prepare function reads operands, may refuse the node, and sets the type, shape and allocation of the results. Temporary
tensors and quantization multipliers are left out, because delegates and reports do not use them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NoReturn

from ..foundation.limits import ensure_rank, fits_if_unsigned, is_above_limit, raised
from ..foundation.printable import counted
from ..model import schema
from ..model.model import OPTIONAL_TENSOR, Allocation, Model, Node
from ..model.numbers import FlatNumbers
from ..model.options import Options
from ..releases.catalogue import Release, parse_release
from .tensors import KernelTensor, KernelTensors, PrepareError, first_unknown

if TYPE_CHECKING:
    from .preparation import Interpreter

_MOST_COMPUTED_AT_ONCE = 1 << 16
_MOST_COMPUTED = 1 << 18
_NO_LATER_TYPES: Mapping[str, Collection[str]] = {}


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
        # bounded: callers pass constants
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

    def make_like(self, result: KernelTensor, source: KernelTensor) -> None:
        """Give a result the type and the shape of an operand."""
        result.type = source.type
        self.resize(result, source.shape)

    def set_dynamic(self, tensor: KernelTensor, cause: KernelTensor | None = None) -> None:
        """Make a tensor dynamic (``SetTensorToDynamic``). The value of ``cause`` determines the tensor's size."""
        if not tensor.is_dynamic:
            tensor.allocation = Allocation.DYNAMIC
            tensor.computed = None
        if cause is not None and self.cause is None:
            self.cause = cause.index

    def made_dynamic(self, result: KernelTensor, *operands: KernelTensor) -> bool:
        """Make a result dynamic if an operand that decides its size has no known value. Return whether the result was made so."""
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
