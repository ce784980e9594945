"""The driver of an accelerator and the devices behind a delegate, and the model that a delegate builds from a partition.

The next stage, such as Android's NNAPI runtime, receives this model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..foundation.columns import INTEGER, LIST, NUMBER, Column, Declared, attributes, number_or_text
from ..graph.graph import Graph, NodeView
from ..refusal import Refusal
from ..releases.catalogue import Release


class Driver:
    """The driver of an accelerator, which may reject operations. Reports show ``str(driver)``."""

    def rejects(self, operation: str, view: NodeView) -> bool:
        """Return whether the driver rejects an operation that the delegate created for a node."""
        raise NotImplementedError

    @property
    def has_open_rejections(self) -> bool:
        """Whether the driver rejects an operation of a known group, but it is not known which operation."""
        return False

    def rejects_some(self, asked: Set[OperationSignature]) -> bool:
        """Return whether the driver is known to reject at least one of these operations."""
        return False


class OperationSignature(NamedTuple):
    """An operation as the driver sees it: the name, and the types and shapes of the node's inputs."""

    operation: str
    types: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def rank(self) -> int:
        """The rank of the first operand; 0 if there are no operands."""
        return len(self.shapes[0]) if self.shapes else 0


def signature(operation: str, view: NodeView) -> OperationSignature:
    """Return the signature of an operation that was created for a node. An omitted input has the type ``NO_TYPE``."""
    types = tuple([tensor.type for tensor in view.inputs])
    return OperationSignature(operation, types, tuple([tensor.shape for tensor in view.inputs]))


@dataclass(frozen=True, slots=True)
class DriverQuestion:
    """A question to the driver about a partition: its nodes, and the driver's operations for each node."""

    graph: Graph
    nodes: tuple[int, ...]
    operations: Mapping[int, tuple[str, ...]]
    is_all_or_nothing: bool
    """Whether the driver runs no node of the partition if it rejects one of the nodes."""


@dataclass(frozen=True, slots=True)
class DriverQuestions:
    """The questions to a driver about one subgraph."""

    partitions: tuple[DriverQuestion, ...]
    has_float16: bool
    """Whether nodes read float16 weights directly. If so, a single rejected operation keeps the whole subgraph on the CPU."""


@dataclass(frozen=True, slots=True)
class DriverInterface:
    """A delegate's description of the driver. ``reconcile`` uses the description to explain device logs."""

    option: str
    """The option with a ``Driver`` as its value."""
    accelerator_option: str
    """The option with the accelerator's name as its value."""
    code: str
    """The problem code of nodes that the driver rejects."""
    questions: Callable[[Graph, Mapping[str, Any], Release], DriverQuestions | None]
    """Return the questions about a subgraph; None if the driver is not asked, or if a partition cannot be built."""
    operations: Mapping[str, str]
    """The driver's operation for each TFLite operator."""


@dataclass(frozen=True, slots=True)
class StageOperation:
    """One operation that the stage behind the delegate compiles, with the index of its node."""

    node: int
    name: str
    types: tuple[str, ...]
    """The types of the operation's inputs. The cost depends on the first type."""
    shapes: tuple[tuple[int, ...], ...]
    cost: str
    """The key of the operation's cost in ``DeviceTraits.costs``."""
    operands: tuple[tuple[int, int], ...]
    """The index and the size in bytes of each operand of the operation."""


@dataclass(frozen=True, slots=True)
class StageSignature:
    """A pattern for operations of a stage: their name, input types and input shapes; None matches any types or shapes."""

    operation: str
    types: tuple[str, ...] | None = None
    shapes: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class DeviceTraits:
    """The properties of one device behind a delegate."""

    name: str
    costs: Mapping[str, float]
    """The costs, keyed by ``StageOperation.cost``. Every cost on the CPU is 1."""
    rejects: tuple[StageSignature, ...]
    fails_to_compile: bool = False
    cannot_compile: tuple[str, ...] = ()
    largest_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class DevicesInterface:
    """A delegate's description of the devices behind it. ``reconcile`` uses the description to learn from logs."""

    option: str
    """The option with a profile of devices as its value."""
    reference: str
    """The name of the CPU device. This device is always present, and its costs are 1."""
    reference_options: Mapping[str, str]
    """The delegate's options that add the CPU to the devices."""
    operations: Callable[[Any, Sequence[Any]], Iterator[tuple[StageOperation, ...]]]
    """Yield the operations of each delegated partition in the order of compilation; none if a partition cannot be built."""
    most_devices: int
    """The largest number of devices in a profile, before ``foundation.limits.raised``."""
    profile_text: Callable[[Sequence[DeviceTraits], Mapping[str, Any]], str]
    """Return the text of a profile file for devices and the options of the recorded run."""


@dataclass(frozen=True, slots=True)
class LoweredOperand(Declared):
    """One operand: its type, shape and quantization, the source of its value, and its tensor in the graph.

    ``value`` is a number that the delegate adds, such as a stride. ``scales`` has one entry for each index of
    ``channel_dimension``.
    """

    columns = (
        *(Column("index", INTEGER), Column("type"), Column("dimensions", LIST)),
        *(Column("scale", NUMBER, source=lambda operand: number_or_text(operand.scale)), Column("zero_point", INTEGER)),
        Column("channel_dimension", INTEGER),
        Column("scales", LIST, source=lambda operand: map(number_or_text, operand.scales)),
        Column("lifetime"),
        Column("value", NUMBER, source=lambda operand: number_or_text(operand.value)),
        Column("tensor", INTEGER),
    )

    index: int
    type: str
    dimensions: tuple[int, ...]
    scale: float
    zero_point: int
    channel_dimension: int | None
    scales: tuple[float, ...]
    lifetime: str
    value: int | float | bool | None
    tensor: int | None


@dataclass(frozen=True, slots=True)
class LoweredOperation:
    """One operation: its operands in order, and the index of its node."""

    index: int
    name: str
    node: int | None
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LoweredCall:
    """One call to the next stage, which adds or changes an operand or operation, or changes a setting of the model."""

    function: str
    subject: int | None
    value: bool | None = None


@dataclass(frozen=True, slots=True)
class LoweredModel(Declared):
    """The model that a delegate builds from one partition."""

    columns = (
        *(Column("subgraph", INTEGER), *attributes("nodes", "operands", "operations", "inputs", "outputs", "calls", type=LIST)),
        Column("refusals", LIST, parts=(Column("call"), Column("node", INTEGER), Column("text", source="message"))),
    )

    subgraph: int
    nodes: tuple[int, ...]
    operands: tuple[LoweredOperand, ...]
    operations: tuple[LoweredOperation, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    calls: tuple[LoweredCall, ...]
    refusals: tuple[Refusal, ...]
    """The calls that the next stage rejects. If the delegate fails to build the rest of the model, the last item says why."""
