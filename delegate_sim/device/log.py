"""What a device's log says of delegates: lines of the runtime, what benchmark_model prints, and its tables of operators.

Sources of the formats: ``core/subgraph.cc``, ``delegates/nnapi/nnapi_delegate.cc``, ``minimal_logging*.cc``,
``tools/benchmark/``, ``tools/delegates/``, ``profiling/profile_summarizer.cc`` and ``profile_summary_formatter.cc``, and
``util/stats_calculator.cc`` of TensorFlow's xla.
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

_LONGEST_LINE = 1 << 16
"""Longer lines are read in pieces of this length."""


class LogError(DelegateSimError):
    """A log that cannot be read, or that says nothing of a delegate."""


class Replacement(NamedTuple):
    """One line that reports a replacement. What its wording leaves out is None."""

    line: str
    kernel: str
    replaced: int
    total: int | None
    partitions: int
    subgraph: int | None
    name: str | None
    wording: str
    """``plain``, ``whole graph``, ``out of, whole graph``, ``subgraph`` or ``named subgraph``."""


class Application(NamedTuple):
    """What benchmark_model says of one delegate: ``completely``, ``partially``, ``not`` or ``failed``."""

    line: str
    provider: str
    outcome: str
    kernels: int | None


class RefusedOperator(NamedTuple):
    """One refusal that NNAPI's delegate prints, and how often."""

    op: str
    version: int
    message: str
    times: int


class Row(NamedTuple):
    """One row of a table in running order: operator, the outputs as they are listed, and the node's index if it is there."""

    op: str
    outputs: str
    node: int | None


class RunOrder(NamedTuple):
    """The rows of one subgraph in running order. ``is_complete`` says that the end of the table was seen."""

    rows: tuple[Row, ...]
    is_complete: bool


class Summary(NamedTuple):
    """How many nodes of each operator one subgraph ran. ``is_complete`` says that the end of the table was seen."""

    counts: Mapping[str, int]
    is_complete: bool


@dataclass(frozen=True)
class DeviceLog:
    """What one run left in a log."""

    replacements: tuple[Replacement, ...] = ()
    applications: tuple[Application, ...] = ()
    refusals: tuple[RefusedOperator, ...] = ()
    dynamic_tensor: int | None = None
    """The tensor of the line that refuses a graph with dynamic-sized tensors; None without that line."""
    is_restored: bool = False
    """Whether the runtime restored the original execution plan."""
    driver_errors: tuple[str, ...] = ()
    """What NNAPI returned as an error, and kernels that failed to prepare."""
    created: tuple[str, ...] = ()
    """Delegates that were created, by the names in the log."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """What benchmark_model says of its parameters, by their description in lower case."""
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
    """Whether the profiler had no room for all that it was to note."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said of a delegate or of nodes that ran."""
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
    """Return what a log says; of several runs in it, the last. What is not known is left out."""
    return read_lines(io.StringIO(text, newline="\n"))


def read_log_file(path: str) -> DeviceLog:
    """Read a log from a file of any size; raises LogError if it cannot be read or says nothing of a delegate."""
    try:
        with open(path, "rb") as file:
            start = file.read(3)
        encoding = "utf-16" if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
        with open(path, encoding=encoding, errors="replace") as file:
            log = read_lines(iter(lambda: file.readline(_LONGEST_LINE), ""))
    except OSError as error:
        raise LogError(printable(f"{path}: {error.strerror or error}")) from error
    except UnicodeError as error:
        raise LogError(printable(f"{path}: is not text: {error}")) from error
    if log.is_empty:
        raise LogError(printable(f"{path}: nothing in it is of a delegate or of nodes that ran"))
    return log


def read_lines(lines: Iterable[str]) -> DeviceLog:
    """Return what the lines of a log say, as ``read_log``. One without a line end may be cut short."""
    reader = _Reader()
    for line in lines:
        for start in range(0, max(len(line), 1), _LONGEST_LINE):
            reader.read(line[start : start + _LONGEST_LINE])
    return reader.log()


def join_logs(logs: Sequence[tuple[str, DeviceLog]]) -> DeviceLog:
    """Join the logs of one run, such as what benchmark_model printed and what logcat kept, given with their names.

    Raises LogError if two of them say different things.
    """
    (first_name, joined), *others = logs
    for name, log in others:
        for part in ("replacements", "applications", "refusals", "dynamic_tensor", "run_orders", "summaries"):
            ours, theirs = getattr(joined, part), getattr(log, part)
            if ours and theirs and _compared(ours) != _compared(theirs):
                what = part.replace("_", " ")
                raise LogError(
                    printable(f"{first_name} and {name} are not of one run: they differ in {what}; reconcile them one by one")
                )
        joined = DeviceLog(
            joined.replacements or log.replacements,
            joined.applications or log.applications,
            joined.refusals or log.refusals,
            joined.dynamic_tensor if joined.dynamic_tensor is not None else log.dynamic_tensor,
            joined.is_restored or log.is_restored,
            joined.driver_errors or log.driver_errors,
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
    """What of a log must be the same in another one of the same run."""
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
_REFUSED = re.compile(r"Operator (?P<op>\S{1,200}) \(v(?P<version>\d{1,9})\) refused by NNAPI delegate: (?P<message>.*)")
_DYNAMIC = re.compile(
    r"only supports static-sized tensors with a graph that has dynamic-sized tensors \(tensor#(?P<tensor>-?\d{1,9}) is a dynamic"
)
_RESTORED = "Restored original execution plan after delegate application failure"
_DRIVER_ERROR = re.compile(r"NN ?API returned error .*|Node number \d{1,9} \([^()]{1,200}\) failed to (?:prepare|invoke)\b.*")
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

_NUMBER = r"-?(?:[\d.]{1,30}(?:e[+-]?\d{1,3})?|nan|inf)"
_BETWEEN = r"(?:, ?| )"
_ROW = re.compile(
    rf"(?:{_BETWEEN}{_NUMBER}){{2,3}}{_BETWEEN}{_NUMBER}%{_BETWEEN}{_NUMBER}%{_BETWEEN}{_NUMBER}(?:{_BETWEEN}\d{{1,12}})?"
    rf"{_BETWEEN}(?P<name>[\[A-Za-z_].*)$"
)
_COUNT = re.compile(
    rf"{_BETWEEN}(?P<count>\d{{1,9}}){_BETWEEN}{_NUMBER}{_BETWEEN}{_NUMBER}%{_BETWEEN}{_NUMBER}%{_BETWEEN}{_NUMBER}"
    rf"(?:{_BETWEEN}\d{{1,12}})?$"
)
_NAME = re.compile(r"(?:\[(?P<outputs>.*)\]|(?P<other>.*?))(?::(?P<node>\d{1,9}))?")

_EVENTS = ("AllocateTensors", "ModifyGraphWithDelegate", "Invoke", "PrepareOpsAndTensors", "ModifyGraphWithDelegateImpl")
"""What tables list beside operators."""


class _Table:
    """A table while it is read."""

    def __init__(self, subgraph: int, is_inference: bool, is_summary: bool) -> None:
        self.subgraph = subgraph
        self.is_inference = is_inference
        self.is_summary = is_summary
        self.rows: list[Row] = []
        self.counts: Counter[str] = Counter()

    def read(self, line: str) -> None:
        """Take a row; other lines are left out."""
        text = " ".join(line.split())
        if self.is_summary:
            found = _COUNT.search(text)
            if found is not None and (op := _operator(text[: found.start()])):
                self.counts[op] += int(found["count"])
            return
        found = _ROW.search(text)
        if found is None or not (op := _operator(text[: found.start()])):
            return
        name = _NAME.fullmatch(found["name"])
        assert name is not None
        node = None if name["node"] is None else int(name["node"])
        self.rows.append(Row(op, name["outputs"] if name["outputs"] is not None else name["other"] or "", node))


def _operator(text: str) -> str:
    """Return the operator of a node's type, empty for other events; what a kernel says of itself stands behind a slash."""
    text = text.strip()
    kernel = text.removeprefix("Delegate/")
    op = (kernel.partition(":")[0] if len(kernel) < len(text) else text).partition("/")[0]
    return "" if op in _EVENTS else op


class _Reader:
    """Reads line by line; each is looked at once."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self.current = DeviceLog()
        self.replacements: list[Replacement] = []
        self.applications: list[Application] = []
        self.refusals: Counter[tuple[str, int, str]] = Counter()
        self.driver_errors: dict[str, None] = {}
        self.created: dict[str, None] = {}
        self.parameters: dict[str, str] = {}
        self.run_orders: dict[int, RunOrder] = {}
        self.summaries: dict[int, Summary] = {}
        self.table: _Table | None = None
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
            self.table = _Table(self.subgraph, self.is_inference, is_summary)

    def _end_table(self, is_complete: bool) -> None:
        """Keep a table of inferences; the last one of a subgraph counts."""
        table, self.table = self.table, None
        if table is None or not table.is_inference:
            return
        if table.counts:
            self.summaries[table.subgraph] = Summary(MappingProxyType(dict(table.counts)), is_complete)
        if table.rows:
            self.run_orders[table.subgraph] = RunOrder(tuple(table.rows), is_complete)

    def _is_title(self, text: str) -> bool:
        """Whether the line says what the tables behind it are of."""
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
        """Whether the runtime or a delegate says something; it is kept."""
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
        elif "delegate" in text and (found := _CREATED.search(text)) is not None:
            self.created[found["one"] or found["two"] or found["three"]] = None
        else:
            return False
        return True

    def _benchmark_line(self, text: str) -> bool:
        """Whether benchmark_model says something; it is kept."""
        if text.strip() == "STARTING!":
            self._start()
        elif (found := _EXECUTED.search(text)) is not None:
            kernels = int(found["kernels"]) if found["kernels"] else 1 if found["outcome"] == "completely" else None
            self.applications.append(Application(found[0], found["provider"], found["outcome"], kernels))
        elif (found := _NOT_EXECUTED.search(text)) is not None:
            self.applications.append(Application(found[0], found["provider"], "not", 0))
        elif (found := _NOT_APPLIED.search(text)) is not None:
            self.applications.append(Application(found[0], found["provider"], "failed", None))
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
    """Return a line without terminal escapes and without what loggers put in front."""
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
