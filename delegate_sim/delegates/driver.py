"""The driver of an accelerator: which operations it rejects, and how a delegate describes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..graph.graph import Graph, NodeView
from ..releases.catalogue import Release


class Driver:
    """The driver of an accelerator, which rejects operations. Its text names it in reports."""

    def rejects(self, operation: str, view: NodeView) -> bool:
        """Whether the driver rejects an operation that a node was mapped to."""
        raise NotImplementedError

    @property
    def has_open_rejections(self) -> bool:
        """Whether of some operations it is only known that at least one is rejected."""
        return False

    def rejects_some(self, asked: Set[OperationSignature]) -> bool:
        """Whether it rejects at least one of all that it is asked about, though it is not known which."""
        return False


class OperationSignature(NamedTuple):
    """An operation as its driver sees it: the name, and types and shapes of the operands of its node."""

    operation: str
    types: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def rank(self) -> int:
        """The rank of the first operand, 0 without any."""
        return len(self.shapes[0]) if self.shapes else 0


def signature(operation: str, view: NodeView) -> OperationSignature:
    """Return the signature of an operation that a node was mapped to. An operand left out has the type ``NO_TYPE``."""
    types = tuple([tensor.type for tensor in view.inputs])
    return OperationSignature(operation, types, tuple([tensor.shape for tensor in view.inputs]))


@dataclass(frozen=True, slots=True)
class DriverQuestion:
    """One partition that a driver is asked about: its nodes, and the driver's operations for each."""

    graph: Graph
    nodes: tuple[int, ...]
    operations: Mapping[int, tuple[str, ...]]
    is_all_or_nothing: bool
    """Whether the partition's nodes are taken together or not at all."""


@dataclass(frozen=True, slots=True)
class DriverQuestions:
    """The questions that a driver is asked about one subgraph."""

    partitions: tuple[DriverQuestion, ...]
    has_float16: bool
    """Whether one rejection anywhere leaves the whole subgraph to the CPU."""


@dataclass(frozen=True, slots=True)
class DriverInterface:
    """A delegate's description of its accelerator's driver, so that logs can be explained and learned from."""

    option: str
    """The option that takes a ``Driver``."""
    accelerator_option: str
    """The option that names the accelerator."""
    code: str
    """The code of nodes that the driver rejects."""
    questions: Callable[[Graph, Mapping[str, Any], Release], DriverQuestions | None]
    """The driver's questions about a subgraph; None if it is not asked, or if a partition cannot be built."""
    operations: Mapping[str, str]
    """The driver's operation that stands for each operator."""


@dataclass(frozen=True, slots=True)
class StageOperation:
    """One operation that a stage behind the delegate compiles, with the node that it is for."""

    node: int
    name: str
    types: tuple[str, ...]
    """The types of its inputs; the first one decides its cost."""
    shapes: tuple[tuple[int, ...], ...]
    cost: str
    """The name that its cost is listed under."""
    operands: tuple[tuple[int, int], ...]
    """All of its operands by index, each with its bytes."""


@dataclass(frozen=True, slots=True)
class StageSignature:
    """Operations of a stage: of a name, with these types of inputs, and with these shapes; what is None does not matter."""

    operation: str
    types: tuple[str, ...] | None = None
    shapes: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class DeviceTraits:
    """The traits of one device behind a delegate."""

    name: str
    costs: Mapping[str, float]
    """Relative to the CPU's 1, by what ``StageOperation.cost`` names."""
    rejects: tuple[StageSignature, ...]
    fails_to_compile: bool = False
    cannot_compile: tuple[str, ...] = ()
    largest_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class DevicesInterface:
    """A delegate's description of the devices behind it, so that logs of the choice among them can be learned from."""

    option: str
    """The option that takes a profile of devices."""
    reference: str
    """The name of the CPU among them, whose cost is 1 and which is always there."""
    reference_options: Mapping[str, str]
    """The options under which it is among the devices to choose from."""
    operations: Callable[[Any, Sequence[Any]], Iterator[tuple[StageOperation, ...]]]
    """The operations of each delegated partition of a decision in the order in which they are compiled; none where one cannot be
    built.
    """
    profile_text: Callable[[Sequence[DeviceTraits], Mapping[str, Any]], str]
    """The text of a profile's file, for the options under which the log was taken."""
