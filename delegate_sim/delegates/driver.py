"""The driver of an accelerator: the operations that the driver rejects, and a delegate's description of the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..graph.graph import Graph, NodeView
from ..releases.catalogue import Release


class Driver:
    """The driver of an accelerator, which may reject operations. Reports show ``str(driver)``."""

    def rejects(self, operation: str, view: NodeView) -> bool:
        """Return whether the driver rejects an operation that the delegate created for a node."""
        raise NotImplementedError

    @property
    def has_open_rejections(self) -> bool:
        """Whether the driver is known to reject at least one operation of some group, but not which one."""
        return False

    def rejects_some(self, asked: Set[OperationSignature]) -> bool:
        """Return whether the driver is known to reject at least one of these operations. It may be unknown which one."""
        return False


class OperationSignature(NamedTuple):
    """An operation as the driver sees it: its name, and the types and shapes of its node's operands."""

    operation: str
    types: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def rank(self) -> int:
        """The rank of the first operand; 0 if there are no operands."""
        return len(self.shapes[0]) if self.shapes else 0


def signature(operation: str, view: NodeView) -> OperationSignature:
    """Return the signature of an operation created for a node. An omitted operand has the type ``NO_TYPE``."""
    types = tuple([tensor.type for tensor in view.inputs])
    return OperationSignature(operation, types, tuple([tensor.shape for tensor in view.inputs]))


@dataclass(frozen=True, slots=True)
class DriverQuestion:
    """A question to the driver about one partition: the nodes of the partition, and the driver's operations for each node."""

    graph: Graph
    nodes: tuple[int, ...]
    operations: Mapping[int, tuple[str, ...]]
    is_all_or_nothing: bool
    """Whether the driver has to accept all nodes of the partition."""


@dataclass(frozen=True, slots=True)
class DriverQuestions:
    """The questions that a driver is asked about one subgraph."""

    partitions: tuple[DriverQuestion, ...]
    has_float16: bool
    """Whether nodes read float16 weights directly. If so, a single rejection leaves the whole subgraph to the CPU."""


@dataclass(frozen=True, slots=True)
class DriverInterface:
    """A delegate's description of its accelerator's driver, used to explain device logs and to learn from these logs."""

    option: str
    """The option whose value is a ``Driver``."""
    accelerator_option: str
    """The option whose value is the accelerator's name."""
    code: str
    """The problem code of nodes that the driver rejects."""
    questions: Callable[[Graph, Mapping[str, Any], Release], DriverQuestions | None]
    """A function that returns the questions that the driver is asked about a subgraph.

    The function returns None if the driver is not asked, or if a partition cannot be built.
    """
    operations: Mapping[str, str]
    """The driver's operation for each TFLite operator."""


@dataclass(frozen=True, slots=True)
class StageOperation:
    """One operation that a stage behind the delegate compiles, with the index of its node."""

    node: int
    name: str
    types: tuple[str, ...]
    """The types of the operation's inputs. The cost depends on the first type."""
    shapes: tuple[tuple[int, ...], ...]
    cost: str
    """The name under which ``DeviceTraits.costs`` lists the operation's cost."""
    operands: tuple[tuple[int, int], ...]
    """The index and the size in bytes of each operand of the operation."""


@dataclass(frozen=True, slots=True)
class StageSignature:
    """A pattern for operations of a stage: their name, input types and input shapes.

    If types or shapes are None, the pattern matches any types or shapes.
    """

    operation: str
    types: tuple[str, ...] | None = None
    shapes: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class DeviceTraits:
    """The properties of one device behind a delegate."""

    name: str
    costs: Mapping[str, float]
    """The costs relative to a cost of 1 on the CPU, keyed by ``StageOperation.cost``."""
    rejects: tuple[StageSignature, ...]
    fails_to_compile: bool = False
    cannot_compile: tuple[str, ...] = ()
    largest_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class DevicesInterface:
    """A delegate's description of the devices behind the delegate, used to learn from logs which devices were chosen."""

    option: str
    """The option whose value is a profile of devices."""
    reference: str
    """The name of the CPU device, which has a cost of 1 and is always present."""
    reference_options: Mapping[str, str]
    """The delegate's options that make the CPU one of the devices to choose from."""
    operations: Callable[[Any, Sequence[Any]], Iterator[tuple[StageOperation, ...]]]
    """A function that yields the operations of each delegated partition in the order of compilation.

    The function yields nothing if a partition cannot be built.
    """
    profile_text: Callable[[Sequence[DeviceTraits], Mapping[str, Any]], str]
    """A function that returns the text of a profile file, given the devices and the options with which the log was recorded."""
