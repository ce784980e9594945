"""The contents of a device log as plain data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from ...errors import DelegateSimError
from ...foundation.printable import counted
from ...foundation.work_budget import spend_steps
from .compilations import NOT_COMPILED, EdgeTpuCompilation, RuntimeLog
from .known_lines import Statement
from .operator_tables import NO_TIMES, Row, RunOrder, RunTimes, Summary
from .tables import CRASHES, ERRORS, Event, kinds_with

LONGEST_LINE = 1 << 16
"""Largest number of characters of a line that are read. The rest of a longer line is skipped."""


class LogError(DelegateSimError):
    """Raised if a log cannot be read, or has nothing about a delegate."""


class TimesOnlyError(LogError):
    """Raised if a file has only the times of a whole run, and nothing about nodes."""

    def __init__(self, message: str, times: RunTimes) -> None:
        super().__init__(message)
        self.times = times


class ReconcileError(DelegateSimError):
    """Raised if a log belongs to another model, or does not show the applied delegate."""


class UnknownDelegateError(ReconcileError):
    """Raised if a log does not show the applied delegate, or if this delegate is not simulated."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A line that reports replaced nodes. If the line does not give a value, the value is None."""

    line: str
    kernel: str
    replaced: int
    total: int | None
    partitions: int | None
    subgraph: int | None
    name: str | None
    place: int = field(default=0, compare=False)

    def may_precede(self, later: Replacement) -> bool:
        """Return whether a later delegate counts the nodes that this one left, and some of its kernels. True without totals."""
        if self.total is None or later.total is None:
            return True
        return 0 <= later.total - (self.total - self.replaced) <= (self.partitions or self.replaced)


@dataclass(frozen=True, slots=True)
class Count:
    """The counts in one log line. If the line does not have a count, the count is None."""

    line: str
    source: str
    """Kind of line: ``replacement``, ``own``, ``split``, ``kernels``, ``application``, ``compiled``, ``vela``, ``table`` or
    ``executed``.
    """
    delegated: int | None = None
    total: int | None = None
    on_cpu: int | None = None
    partitions: int | None = None
    kernels: int | None = None
    subgraph: int | None = None
    is_complete: bool = True
    """False if the line is from an incomplete table. The true counts may then be higher."""


@dataclass(frozen=True, slots=True)
class ApplicationLine:
    """A line of benchmark_model about one delegate. ``outcome`` is ``completely``, ``partially``, ``not`` or ``failed``."""

    line: str
    provider: str
    outcome: str
    kernels: int | None
    place: int = field(default=0, compare=False)


@dataclass(slots=True)
class DeviceLog:
    """The parsed log of one run. Only the reader of a log changes it."""

    replacements: list[Replacement] = field(default_factory=list)
    applications: list[ApplicationLine] = field(default_factory=list)
    parameters: dict[str, str] = field(default_factory=dict)
    """Values of benchmark_model's parameters. The keys are the printed descriptions in lower case."""
    tensorflow_version: str | None = None
    is_benchmark: bool = False
    """True if benchmark_model printed the log."""
    run_orders: dict[int, RunOrder] = field(default_factory=dict)
    """The tables in execution order, by subgraph."""
    summaries: dict[int, Summary] = field(default_factory=dict)
    """The tables of node types, by subgraph."""
    slowest: dict[int, tuple[Row, ...]] = field(default_factory=dict)
    """The rows of the tables of the slowest nodes, by subgraph."""
    inner_rows: tuple[Row, ...] = ()
    times: RunTimes = NO_TIMES
    lost_events: bool = False
    """True if the profiler dropped events because its buffer was full."""
    statements: tuple[Statement, ...] = ()
    """All other parsed lines, without duplicates, in log order."""
    flags: dict[str, str] = field(default_factory=dict)
    """The flags of a command in the log. Flag names have spaces in place of underscores."""
    is_old: bool = False
    """True if the log has a wording that is older than all known releases."""
    line_count: int = 0
    unused_count: int = 0
    unused: tuple[str, ...] = ()
    """The first lines that were not understood."""
    runtime: RuntimeLog = field(default_factory=RuntimeLog)
    edge_tpu: EdgeTpuCompilation = NOT_COMPILED
    chips: dict[tuple[str, str], None] = field(default_factory=dict)
    """Pairs of vendor and SoC that lines name. The SoC may be ""."""
    plain_errors: tuple[Statement, ...] = ()
    """The first lines that plainly show a failure, although nothing is known about them."""
    ends_known: bool = False
    """True if the last line was understood. Other programs may have printed the lines after all that were."""
    long_lines: int = 0
    """Number of lines that were too long, so that only their beginnings were read."""

    @property
    def is_empty(self) -> bool:
        """True if the log has nothing about delegates, executed nodes, times or errors."""
        lines = (self.replacements, self.applications, self.parameters, self.run_orders, self.summaries, self.slowest)
        is_shown = any(lines) or not self.times.is_empty or self.edge_tpu != NOT_COMPILED
        # Any program may print some errors, which are only about delegates if they have values.
        common = kinds_with("is_common")
        return not (is_shown or any(own.kind not in common or own.values.keys() - {"meaning"} for own in self.statements))

    @property
    def has_only_crashes(self) -> bool:
        """True if the log reports a crash, but has no line about a model or a delegate."""
        return self.without(*CRASHES, Event.OTHER_ERROR, Event.FAILURE).is_empty

    def without(self, *kinds: str) -> DeviceLog:
        """Return the log without statements of these kinds."""
        return replace(self, statements=tuple([statement for statement in self.statements if statement.kind not in kinds]))

    @property
    def graph(self) -> str:
        """The path of the model, or "" if the log does not show it."""
        return self.parameters.get("graph", self.flags.get("graph", "")).strip()

    @property
    def available_devices(self) -> tuple[str, ...]:
        """The devices that benchmark_model or Android's neural networks runtime lists."""
        lists = [value for name, value in self.parameters.items() if name.endswith("accelerators available")]
        listed = ",".join(lists).split(",")
        return tuple(dict.fromkeys([*filter(None, map(str.strip, listed)), *self.runtime.devices]))

    @property
    def table_operators(self) -> list[str]:
        """The operators and kernels in the rows of the tables in execution order, then those in the tables of node types."""
        rows = [row.op for order in self.run_orders.values() for row in order.rows]
        return [*rows, *[op for summary in self.summaries.values() for op in summary.counts]]

    @property
    def chosen_devices(self) -> Counter[str]:
        """The number of operations for which the runtime behind the delegate chose each device."""
        counts: Counter[str] = Counter()
        for statement in self.statements_of(Event.CHOICE):
            number = int(statement.values["number"])
            counts[statement.values.get("device") or ("the CPU" if number < 0 else f"device {number}")] += statement.times
        return counts

    @property
    def refusals(self) -> Counter[tuple[str, int, str]]:
        """The number of times that a delegate printed each refusal, by operator, version and message."""
        counts: Counter[tuple[str, int, str]] = Counter()
        for statement in self.statements_of(Event.REFUSED):
            op, version, why = (statement.values[key].strip() for key in ("op", "version", "message"))
            counts[op, int(version), why] += statement.times
        return counts

    @property
    def dynamic_tensor(self) -> int | None:
        """The tensor in the last line that refuses a graph with dynamic tensors, or None if there is no such line."""
        last = max(self.statements_of(Event.DYNAMIC_ERROR), key=lambda statement: statement.places[-1:], default=None)
        return None if last is None else int(last.values.get("tensor", "-1"))

    @property
    def created(self) -> tuple[str, ...]:
        """Names of the delegates that were created, without duplicates."""
        return tuple(dict.fromkeys([statement.values["name"] for statement in self.statements_of(Event.CREATED)]))

    @property
    def not_created(self) -> tuple[str, ...]:
        """Lines that report that a delegate could not be created, or is missing on the device."""
        return tuple([statement.line for statement in self.statements_of(Event.NOT_CREATED)])

    def statements_of(self, *kinds: str) -> tuple[Statement, ...]:
        """Return the statements of these kinds, in the order of the log. Raises LimitError."""
        spend_steps((len(self.statements) + len(self.replacements) + len(self.applications)) // 16, "reading the log")
        return tuple(statement for statement in self.statements if statement.kind in kinds)

    def places(self, *kinds: str) -> list[int]:
        """Return the numbers of the lines of these kinds. Raises LimitError."""
        return [place for statement in self.statements_of(*kinds) for place in statement.places]

    def has(self, *kinds: str) -> bool:
        """Return whether the log has a statement of these kinds. Raises LimitError."""
        return bool(self.statements_of(*kinds))

    @property
    def listed_refusals(self) -> tuple[tuple[str, str], ...]:
        """Pairs of refused operator and reason, from a delegate's list. The reason may be ""."""
        return tuple([(line.values["op"], line.values["reason"]) for line in self.statements_of(Event.LISTED_REFUSAL)])

    @property
    def plugin_counts(self) -> tuple[Count, ...]:
        """The counts in the lines of a compiler plugin, which inlines composites before it selects nodes."""
        counts = []
        for statement in self.statements_of(Event.COMPILED):
            taken, total, parts, subgraph = statement.numbers("taken", "total", "partitions", "subgraph")
            left = total - taken if taken <= total else None
            counts.append(Count(statement.line, "compiled", taken, total, left, parts, None, subgraph))
        return tuple(counts)

    @property
    def plugins(self) -> tuple[Count, ...]:
        """The last counts of a compiler plugin for each subgraph."""
        return tuple({count.subgraph: count for count in self.plugin_counts}.values())

    @property
    def is_of_compiled_model(self) -> bool:
        """True if the log has lines that only LiteRT 2 prints, which applies accelerators instead of delegates."""
        has_sources = any("source" in statement.values for statement in self.statements)
        return has_sources or self.has(*kinds_with("is_of_litert")) or self.has_reasons_of_compiled_model

    @property
    def has_reasons_of_compiled_model(self) -> bool:
        """True if a delegate refuses an operator for a reason that only LiteRT 2's graphics accelerator gives."""
        return any(reason.startswith("Not supported op ") for _, reason in self.listed_refusals)

    @property
    def errors(self) -> tuple[Statement, ...]:
        """The statements that report errors."""
        return self.statements_of(*ERRORS)

    @property
    def is_of_micro(self) -> bool:
        """Whether the log has a line that only TensorFlow Lite Micro prints."""
        return any("registration from op code" in error.line for error in self.errors)


def long_lines_note(log: DeviceLog) -> str:
    """Return a note if lines of a log were too long, or ""."""
    count = counted(log.long_lines, "line")
    text = f"the log has {count} of more than {LONGEST_LINE:,} characters; only the beginning of such a line is read"
    return text if log.long_lines else ""


def has_times(log: DeviceLog) -> bool:
    """Return whether a log has the times of nodes."""
    tables = [*[order.rows for order in log.run_orders.values()], *log.slowest.values()]
    is_timed = any(row.time is not None for rows in tables for row in rows)
    return is_timed or any(summary.times for summary in log.summaries.values())
