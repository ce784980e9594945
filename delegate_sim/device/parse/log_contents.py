"""The content of a device log as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...errors import DelegateSimError
from .known_lines import (
    COMPILED,
    ERRORS,
    FAILURE,
    LISTED_REFUSAL,
    LITERT,
    MEASURED,
    OTHER_ERROR,
    PROGRESS,
    REGISTERED,
    SKIPPED,
    Statement,
)
from .nnapi_vlog import NOTHING_COMPILED, RuntimeLog
from .operator_tables import RunOrder, Summary


class LogError(DelegateSimError):
    """A log that cannot be read, or that says nothing about a delegate."""


class ReconcileError(DelegateSimError):
    """A log that is not of the model, or that does not say which delegate was applied to it."""


class UnknownDelegateError(ReconcileError):
    """A log that does not show which delegate was applied, or that is of one that is not simulated."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A line that reports a replacement. What its wording leaves out is None."""

    line: str
    kernel: str
    replaced: int
    total: int | None
    partitions: int
    subgraph: int | None
    name: str | None


@dataclass(frozen=True, slots=True)
class PluginLine:
    """A line in which LiteRT counts what a compiler plugin selects of a subgraph, once composites are inlined."""

    line: str
    subgraph: int
    selected: int
    total: int
    partitions: int


@dataclass(frozen=True, slots=True)
class ApplicationLine:
    """A line of benchmark_model on how one delegate was applied: ``completely``, ``partially``, ``not`` or ``failed``."""

    line: str
    provider: str
    outcome: str
    kernels: int | None


@dataclass(frozen=True, slots=True)
class RefusedOperator:
    """A refusal that a delegate printed, and how often."""

    op: str
    version: int
    message: str
    times: int


@dataclass(frozen=True, slots=True)
class DeviceLog:
    """What one run left in a log."""

    replacements: tuple[Replacement, ...] = ()
    applications: tuple[ApplicationLine, ...] = ()
    refusals: tuple[RefusedOperator, ...] = ()
    dynamic_tensor: int | None = None
    """The tensor named by the line that refuses a graph with dynamic-sized tensors; None without that line."""
    is_restored: bool = False
    """True if the runtime restored the original execution plan."""
    not_created: tuple[str, ...] = ()
    """Lines that say that a delegate could not be created, or is not there on the device."""
    created: tuple[str, ...] = ()
    """Names of the delegates that were created."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """benchmark_model's parameters, by their description in lower case."""
    graph: str | None = None
    """The model's path on the device."""
    tensorflow_version: str | None = None
    is_benchmark: bool = False
    """True if benchmark_model printed it."""
    run_orders: Mapping[int, RunOrder] = field(default_factory=dict)
    """By subgraph."""
    summaries: Mapping[int, Summary] = field(default_factory=dict)
    """By subgraph."""
    lost_events: bool = False
    """True if the profiler ran out of room and dropped events."""
    statements: tuple[Statement, ...] = ()
    """All else that the lines say, in their order, each once."""
    flags: Mapping[str, str] = field(default_factory=dict)
    """The flags of a command that the log shows, with blanks for underscores."""
    is_failed: bool = False
    """True if an application's exception says that a delegate could not be applied, without naming it."""
    is_old: bool = False
    """True if a line is worded as only releases before those that are known word it."""
    """Whether the last line has no end."""
    line_count: int = 0
    """Number of lines there are, without blank ones."""
    unused_count: int = 0
    """Number of of them say nothing that is understood."""
    unused: tuple[str, ...] = ()
    """The first of those."""
    runtime: RuntimeLog = NOTHING_COMPILED
    """What the runtime behind a delegate says that it chose and compiled."""

    @property
    def is_empty(self) -> bool:
        """True if the log says nothing about a delegate, about nodes that ran or about errors."""
        return not (
            self.replacements
            or self.applications
            or self.refusals
            or self.dynamic_tensor is not None
            or self.is_restored
            or self.is_failed
            or self.not_created
            or self.created
            or self.run_orders
            or self.summaries
            or self.parameters
            or any(_tells(each) for each in self.statements)
        )

    def of(self, *kinds: str) -> tuple[Statement, ...]:
        """Return the statements of these kinds, in the order of the log."""
        return tuple(each for each in self.statements if each.kind in kinds)

    @property
    def listed_refusals(self) -> tuple[tuple[str, str], ...]:
        """The operators that a delegate lists as refused, each with the reason as printed, which may be empty."""
        return tuple((each.values["op"], each.values["reason"]) for each in self.of(LISTED_REFUSAL))

    @property
    def plugins(self) -> tuple[PluginLine, ...]:
        """What a compiler plugin selects of each subgraph; the last line of each counts."""
        found = {}
        for each in self.of(COMPILED):
            subgraph, *counts = (int(each.values[key]) for key in ("subgraph", "taken", "total", "partitions"))
            found[subgraph] = PluginLine(each.line, subgraph, *counts)
        return tuple(found.values())

    @property
    def is_of_compiled_model(self) -> bool:
        """True if lines of LiteRT 2's own runtime are in the log, which applies accelerators in place of delegates."""
        return bool(self.of(COMPILED, REGISTERED, SKIPPED, LITERT)) or any("source" in each.values for each in self.statements)

    @property
    def errors(self) -> tuple[Statement, ...]:
        """The statements that report errors."""
        return self.of(*ERRORS)


def _tells(statement: Statement) -> bool:
    """Return whether a statement has to do with delegates for certain: any program may print an error."""
    return statement.kind not in (MEASURED, PROGRESS, OTHER_ERROR, FAILURE) or bool(statement.values)
