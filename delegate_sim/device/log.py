"""What a device's log says about delegates: lines of the runtime, and what benchmark_model prints.

Sources of the formats: ``core/subgraph.cc``, ``delegates/``, ``minimal_logging*.cc``, ``tools/benchmark/`` and
``tools/delegates/``.
"""

from __future__ import annotations

import codecs
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from ..errors import DelegateSimError
from ..text import printable
from .tables import OperatorTable, RunOrder, Summary

_LONGEST_LINE = 1 << 16
"""Longer lines are read in pieces of this length."""


class LogError(DelegateSimError):
    """A log that cannot be read, or that says nothing about a delegate."""


class ReconcileError(DelegateSimError):
    """A log that is not of the model, or that does not say which delegate was applied to it."""


class Replacement(NamedTuple):
    """A line that reports a replacement. What its wording leaves out is None."""

    line: str
    kernel: str
    replaced: int
    total: int | None
    partitions: int
    subgraph: int | None
    name: str | None
    wording: str
    """``plain``, ``whole graph``, ``out of, whole graph``, ``subgraph`` or ``named subgraph``."""


class ApplicationLine(NamedTuple):
    """A line of benchmark_model on how one delegate was applied: ``completely``, ``partially``, ``not`` or ``failed``."""

    line: str
    provider: str
    outcome: str
    kernels: int | None


class RefusedOperator(NamedTuple):
    """A refusal that a delegate printed, and how often."""

    op: str
    version: int
    message: str
    times: int


@dataclass(frozen=True)
class DeviceLog:
    """What one run left in a log."""

    replacements: tuple[Replacement, ...] = ()
    applications: tuple[ApplicationLine, ...] = ()
    refusals: tuple[RefusedOperator, ...] = ()
    dynamic_tensor: int | None = None
    """The tensor named by the line that refuses a graph with dynamic-sized tensors; None without that line."""
    is_restored: bool = False
    """Whether the runtime restored the original execution plan."""
    driver_errors: tuple[str, ...] = ()
    """Errors that a driver returned, and kernels that failed to prepare or run."""
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
    """Whether benchmark_model printed it."""
    run_orders: Mapping[int, RunOrder] = field(default_factory=dict)
    """By subgraph."""
    summaries: Mapping[int, Summary] = field(default_factory=dict)
    """By subgraph."""
    lost_events: bool = False
    """Whether the profiler ran out of room and dropped events."""

    @property
    def is_empty(self) -> bool:
        """Whether the log says nothing about a delegate or about nodes that ran."""
        return not (
            self.replacements
            or self.applications
            or self.refusals
            or self.dynamic_tensor is not None
            or self.is_restored
            or self.run_orders
            or self.summaries
        )


def read_log(text: str) -> DeviceLog:
    """Return what a log says; if it holds several runs, what it says of the last. Unknown lines are ignored."""
    return read_lines(io.StringIO(text, newline="\n"))


def read_log_file(path: str) -> DeviceLog:
    """Read a log from a file of any size; raises LogError if it cannot be read or says nothing about a delegate."""
    try:
        with open(path, "rb") as file:
            start = file.read(3)
        encoding = "utf-16" if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
        with open(path, encoding=encoding, errors="replace") as file:
            log = read_lines(iter(lambda: file.readline(_LONGEST_LINE), ""))
    except OSError as error:
        raise LogError(printable(f"{path}: {error.strerror or error}")) from error
    except UnicodeError as error:
        raise LogError(printable(f"{path}: not a text file: {error}")) from error
    if log.is_empty:
        raise LogError(printable(f"{path}: says nothing about a delegate or about nodes that ran"))
    return log


def read_lines(lines: Iterable[str]) -> DeviceLog:
    """Return what the lines of a log say, like ``read_log``. A line without a line end may be cut short."""
    reader = _Reader()
    for line in lines:
        for start in range(0, max(len(line), 1), _LONGEST_LINE):
            reader.read(line[start : start + _LONGEST_LINE])
    return reader.log()


def join_logs(logs: Sequence[tuple[str, DeviceLog]]) -> DeviceLog:
    """Join the logs of one run, such as what benchmark_model printed and what logcat kept, each given with its name.

    Raises LogError if two of them disagree.
    """
    (first_name, joined), *others = logs
    for name, log in others:
        for part in ("replacements", "applications", "refusals", "dynamic_tensor", "run_orders", "summaries"):
            ours, theirs = getattr(joined, part), getattr(log, part)
            if ours and theirs and _compared(ours) != _compared(theirs):
                what = part.replace("_", " ")
                raise LogError(
                    printable(f"{first_name} and {name} are not from one run: they differ in {what}; reconcile them one by one")
                )
        joined = DeviceLog(
            joined.replacements or log.replacements,
            joined.applications or log.applications,
            joined.refusals or log.refusals,
            joined.dynamic_tensor if joined.dynamic_tensor is not None else log.dynamic_tensor,
            joined.is_restored or log.is_restored,
            joined.driver_errors or log.driver_errors,
            joined.not_created or log.not_created,
            joined.created or log.created,
            {**log.parameters, **joined.parameters},
            joined.graph or log.graph,
            joined.tensorflow_version or log.tensorflow_version,
            joined.is_benchmark or log.is_benchmark,
            joined.run_orders or log.run_orders,
            joined.summaries or log.summaries,
            joined.lost_events or log.lost_events,
        )
    return joined


def _compared(value: object) -> object:
    """Return a part of a log in a form that can be compared with that of another log."""
    return dict(value) if isinstance(value, Mapping) else value


_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]")
_LOGCAT = re.compile(
    r"(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d+ +\d+ +\d+ +[VDIWEFA] [^:]{0,80}: ?"  # threadtime
    r"|(?:(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d+ +)?[VDIWEFA]/[^:(]{0,80}(?:\( *\d+(?: *: *\d+)?\))?: ?"  # time, brief, tag
    r"|(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d+ (?: *\d+-\d+ )? *\S{1,80} +\S{1,200} +[VDIWEFA] (?: ?)"  # Android Studio
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+[+-]\d{4} [^\[]{1,80}\[\d+:\d+\] "  # NSLog
)
_SEVERITY = re.compile(r"(?:VERBOSE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL): ?(?:\[[\w./-]{1,200}:\d+\] )?")

_REPLACING = re.compile(
    r"Replacing (?P<replaced>\d{1,9}) (?:out of (?P<total>\d{1,9}) )?node\(s\) with delegate \((?P<kernel>[^()]{1,200})\) node, "
    r"yielding (?P<partitions>\d{1,9}) partitions"
    r"(?: for (?:(?P<whole>the whole graph)|subgraph (?P<subgraph>\d{1,9})(?: \((?P<name>.*)\))?))?(?:\.|$)"
)
_EXECUTED = re.compile(
    r"Explicitly applied (?P<provider>[^,]{1,100}) delegate, and the model graph will be (?P<outcome>completely|partially) "
    r"executed by the delegate(?: w/ (?P<kernels>\d{1,9}) delegate kernels)?\."
)
_NOT_EXECUTED = re.compile(
    r"Though (?P<provider>[^,]{1,100}) delegate is explicitly applied, the model graph will not be executed by the delegate\."
)
_NOT_APPLIED = re.compile(r"Failed to apply (?P<provider>[^,]{1,100}) delegate\.")
_REFUSED = re.compile(r"Operator (?P<op>\S{1,200}) \(v(?P<version>\d{1,9})\) refused by [^:]{1,100} delegate: (?P<message>.*)")
_DYNAMIC = re.compile(
    r"only supports static-sized tensors with a graph that has dynamic-sized tensors \(tensor#(?P<tensor>-?\d{1,9}) is a dynamic"
)
_RESTORED = "Restored original execution plan after delegate application failure"
_DRIVER_ERROR = re.compile(
    r"[A-Z]{2}[A-Z ]{0,30} returned error .*|Node number \d{1,9} \([^()]{1,200}\) failed to (?:prepare|invoke)\b.*"
)
_NOT_CREATED = re.compile(
    r"(?:Could not|Cannot|Can't|Failed to|Unable to) (?:create|load|initialize|find) (?:the |TFLite |TensorFlow Lite )?\w{1,40} "
    r"(?:delegate|accelerator)\b.*|\w{1,40} (?:acceleration|delegate) is (?:unsupported|not supported|not available) .*"
)
_CREATED = re.compile(
    r"Created TensorFlow Lite (?:delegate for (?P<one>[^.]{1,60})|(?P<two>\S{1,60}) delegate for CPU)"
    r"|(?P<three>[A-Za-z]\w{1,60}) delegate created\."
)
_PARAMETER = re.compile(r"(?P<name>[A-Za-z#][^\[\]:]{1,99}?) ?: \[(?P<value>.*)\]")
_LOADED = re.compile(r"Loaded model (?P<path>\S.*)")
_VERSION = re.compile(r"Tensor[Ff]low [Vv]ersion ?: ?(?P<version>\d+\.\d+(?:\.\d+)?)")
_LOST = "Dropping ProfileBuffer event"

_HEADING = re.compile(r"={5,} (?P<title>[A-Za-z ]{1,60}) ={5,}")
_INITIALIZATION = "Profiling Info for Benchmark Initialization"
_REGULAR = "Operator-wise Profiling Info for Regular Benchmark Runs"
_INTERNAL = "Delegate internal:"
_SUBGRAPH = re.compile(r"(?:Primary graph|Subgraph) \((?:index: (?P<index>\d{1,9}), )?name: .*\) profile:")


class _Reader:
    """Reads a log line by line; looks at each line once."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.current = DeviceLog()
        self.replacements: list[Replacement] = []
        self.applications: list[ApplicationLine] = []
        self.refusals: Counter[tuple[str, int, str]] = Counter()
        self.driver_errors: dict[str, None] = {}
        self.not_created: dict[str, None] = {}
        self.created: dict[str, None] = {}
        self.parameters: dict[str, str] = {}
        self.run_orders: dict[int, RunOrder] = {}
        self.summaries: dict[int, Summary] = {}
        self.table: OperatorTable | None = None
        self.subgraph = 0
        self.is_inference = True
        self.is_internal = False

    def log(self) -> DeviceLog:
        """Return what was read."""
        self._end_table(is_complete=False)
        return replace(
            self.current,
            replacements=tuple(self.replacements),
            applications=tuple(self.applications),
            refusals=tuple(RefusedOperator(*key, count) for key, count in self.refusals.items()),
            driver_errors=tuple(self.driver_errors),
            not_created=tuple(self.not_created),
            created=tuple(self.created),
            parameters=MappingProxyType(self.parameters),
            run_orders=MappingProxyType(self.run_orders),
            summaries=MappingProxyType(self.summaries),
        )

    def read(self, line: str) -> None:
        """Take one line."""
        text = _message(line)
        is_whole = line.endswith("\n")
        if not text.strip():
            self._end_table(is_complete=is_whole)
            return
        stripped = text.strip()
        heading = _HEADING.fullmatch(stripped) if stripped.startswith("=====") else None
        if heading is not None:
            self._end_table(is_complete=True)
            self._begin_table(heading["title"].strip())
        elif self._is_title(text):
            self._end_table(is_complete=True)
        elif self._delegate_line(text) or self._benchmark_line(text):
            return
        elif self.table is not None and is_whole:
            self.table.read(text)

    def _begin_table(self, title: str) -> None:
        if self.is_internal:
            return
        is_summary = title == "Summary by node type"
        if is_summary or title == "Run Order":
            self.table = OperatorTable(self.subgraph, self.is_inference, is_summary)

    def _end_table(self, is_complete: bool) -> None:
        """Keep the table if it is of inferences; the last one of each subgraph counts."""
        table, self.table = self.table, None
        if table is None or not table.is_inference:
            return
        if table.counts:
            self.summaries[table.subgraph] = Summary(MappingProxyType(dict(table.counts)), is_complete)
        if table.rows:
            self.run_orders[table.subgraph] = RunOrder(tuple(table.rows), is_complete)

    def _is_title(self, text: str) -> bool:
        """Whether the line is a title that says what the tables after it are about."""
        if _INITIALIZATION in text:
            self.is_inference, self.is_internal, self.subgraph = False, False, 0
        elif _REGULAR in text:
            self.is_inference, self.is_internal, self.subgraph = True, False, 0
        elif text.strip() == _INTERNAL:
            self.is_internal = True
        elif text.endswith("profile:") and (subgraph := _SUBGRAPH.match(text)) is not None:
            self.is_internal = False
            self.subgraph = int(subgraph["index"] or 0)
        else:
            return False
        return True

    def _delegate_line(self, text: str) -> bool:
        """Keep what a line of the runtime or a delegate says; say whether it is one."""
        if (found := _REPLACING.search(text)) is not None:
            self.replacements.append(_replacement(found))
        elif (found := _REFUSED.search(text)) is not None:
            self.refusals[found["op"], int(found["version"]), found["message"].strip()] += 1
        elif (found := _DYNAMIC.search(text)) is not None:
            self.current = replace(self.current, dynamic_tensor=int(found["tensor"]))
        elif _RESTORED in text:
            self.current = replace(self.current, is_restored=True)
        elif (found := _DRIVER_ERROR.search(text)) is not None:
            self.driver_errors[found[0].strip()] = None
        elif (found := _NOT_CREATED.search(text)) is not None:
            self.not_created[found[0].strip()] = None
        elif "delegate" in text and (found := _CREATED.search(text)) is not None:
            self.created[found["one"] or found["two"] or found["three"]] = None
        else:
            return False
        return True

    def _benchmark_line(self, text: str) -> bool:
        """Keep what a line of benchmark_model says; say whether it is one."""
        if text.strip() == "STARTING!":
            self._start()
        elif (found := _EXECUTED.search(text)) is not None:
            kernels = int(found["kernels"]) if found["kernels"] else 1 if found["outcome"] == "completely" else None
            self.applications.append(ApplicationLine(found[0], found["provider"], found["outcome"], kernels))
        elif (found := _NOT_EXECUTED.search(text)) is not None:
            self.applications.append(ApplicationLine(found[0], found["provider"], "not", 0))
        elif (found := _NOT_APPLIED.search(text)) is not None:
            self.applications.append(ApplicationLine(found[0], found["provider"], "failed", None))
        elif (found := _VERSION.search(text)) is not None:
            self.current = replace(self.current, tensorflow_version=found["version"])
            return True
        elif (found := _LOADED.fullmatch(text.strip())) is not None:
            self.current = replace(self.current, graph=self.current.graph or found["path"].strip())
        elif _LOST in text:
            self.current = replace(self.current, lost_events=True)
            return True
        elif self.table is None and (found := _PARAMETER.fullmatch(text.strip())) is not None:
            self._parameter(found["name"].strip().lower(), found["value"])
        else:
            return False
        self.current = replace(self.current, is_benchmark=True)
        return True

    def _parameter(self, name: str, value: str) -> None:
        if name == "log parameter values verbosely" and name in self.parameters:
            self._start()
        self.parameters[name] = value
        if name == "graph":
            self.current = replace(self.current, graph=value)


def _message(line: str) -> str:
    """Return a line without terminal escapes and without what loggers put in front of it."""
    text = _ESCAPES.sub("", line.rstrip("\r\n"))
    found = _LOGCAT.match(text)
    if found is not None:
        text = text[found.end() :]
    found = _SEVERITY.match(text)
    return text if found is None else text[found.end() :]


def _replacement(found: re.Match[str]) -> Replacement:
    if found["subgraph"] is not None:
        wording = "subgraph" if found["name"] is None else "named subgraph"
    elif found["whole"] is None:
        wording = "plain"
    else:
        wording = "whole graph" if found["total"] is None else "out of, whole graph"
    return Replacement(
        found[0],
        found["kernel"],
        int(found["replaced"]),
        None if found["total"] is None else int(found["total"]),
        int(found["partitions"]),
        None if found["subgraph"] is None else int(found["subgraph"]),
        found["name"],
        wording,
    )
