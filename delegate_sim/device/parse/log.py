"""Read a device log: lines of the runtime and of delegates, and the output of benchmark_model."""

from __future__ import annotations

import codecs
import errno
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, BinaryIO, TextIO

from ...errors import LimitError
from ...foundation.files import open_input
from ...foundation.limits import how_to_raise, raised
from ...foundation.printable import printable
from ...foundation.work_budget import spend_bytes, spend_steps, work_budget
from .applied_target import delegate_in
from .compilations import EdgeTpuCompilation, RuntimeLog
from .known_lines import CHARACTERS_IN_A_STEP, SourceStatements
from .line_prefixes import LearnedPrefixes, Message, logcat_lines, message_of, text_of_json, unwrapped
from .log_contents import LONGEST_LINE, DeviceLog, LogError
from .log_reader import Reader
from .operator_tables import RunOrder, RunTimes
from .profile_files import read_binary, read_json
from .tables import FORMS

_LARGEST_MESSAGE = 1 << 28
_READING = "reading the log"
_STEPS_OF_A_LINE, _STEPS_OF_A_PROCESS, _STEPS_OF_A_MESSAGE_BYTE = 8, 40, 2
_FIRST_BYTES = frozenset({0x0A, 0x12, 0x1A, 0x22})
"""First bytes of a protobuf message: the tags of the length-delimited fields 1 to 4."""

_OWN_TAGS, _TAGS_OF_CRASHES, _TAG_OF_REPORTS = ("tflite", "litert", "native"), ("androidruntime", "libc"), "debug"
"""Prefixes of logcat tags of TFLite's tools, tags of a process's own crash, and the tag of the system's reports of crashes."""
_NO_LABELS = ("tflite", "litert", "verbose", "info", "warning", "warn", "error", "debug", "fatal")


class ProcessReaders:
    """A reader for each process that uses TFLite, and for each device or container in a log of several.

    Other lines go to the reader of the line before them. A process that only reports its crash gets its own reader.
    """

    def __init__(self, sources: SourceStatements | None) -> None:
        self.sources = sources
        self.readers = {"": Reader(sources)}
        self.crashed: set[str] = set()
        self.last_crash = ""
        self.labels: set[str] = set()
        self.prefixes = LearnedPrefixes()
        self.last = ""
        self.place = 0
        self.long_lines = 0
        self.before = message_of("")

    def read(self, line: str) -> None:
        """Parse one line."""
        spend_steps(_STEPS_OF_A_LINE + len(line) // CHARACTERS_IN_A_STEP, _READING)
        if len(line) > LONGEST_LINE:
            line = line[:LONGEST_LINE]
            self.long_lines += 1
        self.place += 1
        line = text_of_json(line)
        message = self.prefixes.without(self._message_of(line))
        before, self.before = self.before, message
        if _is_echo(message, before):
            return
        process = self._process_of(message)
        if process != self.last_crash and process not in self.crashed:
            self.last = process
        self.readers[process].read(message, line, self.place)

    def logs(self) -> tuple[DeviceLog, ...]:
        """Return the runs that are not empty. If all are empty, return the first run."""
        runs = [(process, log) for process, reader in self.readers.items() for log in reader.logs()]
        full = [(process, log) for process, log in runs if not log.is_empty]
        telling = [log for process, log in full if not (process in self.crashed and log.has_only_crashes)]
        logs = telling or [log for _, log in full] or [log for _, log in runs if log.plain_errors] or [runs[0][1]]
        return tuple([replace(log, long_lines=self.long_lines) for log in logs])

    def _message_of(self, line: str) -> Message:
        """Return a line without prefixes. If the line begins with the name of a device, the name becomes part of the process."""
        name = _name_of(FORMS["labeled-line"].match(line))
        if name and name.casefold() not in _NO_LABELS:
            self.labels.add(name)
        labeled = FORMS["label"].match(line) if self.labels else None
        if labeled is None or (name := _name_of(labeled)) not in self.labels:
            return message_of(line)
        message = message_of(line[labeled.end() :])
        return replace(message, process=f"{name} {message.process}".strip())

    def _process_of(self, message: Message) -> str:
        """Return the process of a message. Lines before the first named process belong to the first named process."""
        process, tag = message.process, message.tag.casefold()
        if process in self.readers:
            if process in self.crashed and tag.startswith(_OWN_TAGS):
                self.crashed.remove(process)
            return process
        if tag == _TAG_OF_REPORTS and self.last_crash:
            return self.last_crash
        is_alone = self.readers.keys() == {""} and self.readers[""].kept > 0
        if process and tag in _TAGS_OF_CRASHES and not is_alone:
            self.crashed.add(process)
            self.last_crash = process
            self.readers[process] = self._new_reader()
            return process
        if not process or (tag and not tag.startswith(_OWN_TAGS) and not (is_alone and tag in _TAGS_OF_CRASHES)):
            return self.last
        self.readers[process] = self.readers.pop("") if "" in self.readers else self._new_reader()
        return process

    def _new_reader(self) -> Reader:
        spend_steps(_STEPS_OF_A_PROCESS, _READING)
        return Reader(self.sources)


def _name_of(label: re.Match[str] | None) -> str:
    return "" if label is None else label["name"] or label["container"]


def _is_echo(message: Message, before: Message) -> bool:
    """Return whether a message repeats the one before it. On iOS, TFLite prints each line twice, once with a prefix."""
    is_same = message.text.strip() == before.text.strip() != ""
    return is_same and bool(message.process) != bool(before.process) and not (message.tag or before.tag)


def read_log(text: str, sources: SourceStatements | None = None) -> DeviceLog:
    """Parse the text of a log, and return the last run in the text. Without ``sources``, unknown lines are not looked up."""
    return read_lines(io.StringIO(text, newline="\n"), sources)


def read_lines(lines: Iterable[str], sources: SourceStatements | None = None) -> DeviceLog:
    """Return the last run in the lines of a log, which have a budget of work of their own. Unended table rows are ignored."""
    with work_budget(is_new=True):
        return read_runs(lines, sources)[-1]


def read_runs(lines: Iterable[str], sources: SourceStatements | None = None) -> tuple[DeviceLog, ...]:
    """Return the runs in the lines of a log, at least one. Raises LimitError if the lines take more work than the limit."""
    reader = ProcessReaders(sources)
    for line in unwrapped(lines):
        reader.read(line)
    return reader.logs()


def _lines(file: TextIO) -> Iterator[str]:
    """Yield the lines of a file. Of a line that is too long, yield one character more than is read."""
    while line := file.readline(LONGEST_LINE + 1):
        yield line
        rest = line
        while len(rest) > LONGEST_LINE and not rest.endswith("\n"):
            rest = file.readline(LONGEST_LINE + 1)
            spend_bytes(len(rest), _READING)


def read_runs_file(path: str, sources: SourceStatements | None = None) -> tuple[DeviceLog, ...]:
    """Return the runs in a log file. Unknown lines are looked up in ``sources``.

    Raises LogError if the file cannot be read, has nothing about a delegate, or takes more work than the limit.
    """
    try:
        with work_budget():
            return _read_runs_file(path, sources or SourceStatements())
    except LimitError as error:
        raise LogError(printable(f"{path}: {error.reason}")) from error


def _read_runs_file(path: str, sources: SourceStatements) -> tuple[DeviceLog, ...]:
    try:
        with open_input(path) as file:
            start = file.read(1024)
        if _is_message(start):
            with open_input(path) as file:
                return (read_binary(_message(file), printable(path)),)
        encoding = "utf-16" if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
        with io.TextIOWrapper(open_input(path), encoding=encoding, errors="replace") as text:
            logs = _json_logs(text, path, sources) if start.lstrip()[:1] == b"{" else ()
            if not logs:
                text.seek(0)
                logs = read_runs(_lines(text), sources)
    except OSError as error:
        raise LogError(printable(f"{path}: {error.strerror or error}")) from error
    except UnicodeError as error:
        raise LogError(printable(f"{path}: not a text file: {error}")) from error
    if logs[-1].is_empty and not (logs[-1].errors or logs[-1].plain_errors):
        raise LogError(printable(f"{path}: has no lines about a delegate or about nodes that ran"))
    return logs


def _json_logs(file: TextIO, path: str, sources: SourceStatements) -> tuple[DeviceLog, ...]:
    text = file.read(raised(_LARGEST_MESSAGE))
    spend_bytes(len(text), _READING)
    spend_steps(sum(map(text.count, "{[,:")), _READING)  # each value begins with one of these characters, or is after one
    if (log := read_json(text, printable(path))) is not None:
        return (log,)
    lines = logcat_lines(text)
    return () if lines is None else read_runs(lines, sources)


def _message(file: BinaryIO) -> bytes:
    most = raised(_LARGEST_MESSAGE)
    content = file.read(most + 1)
    spend_steps(_STEPS_OF_A_MESSAGE_BYTE * len(content), _READING)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"has more than {most:,} bytes{how_to_raise()}")
    return content


def _is_message(start: bytes) -> bool:
    """Return whether a file may be a protobuf message: it starts with a field's tag, and has bytes that text has not."""
    if not start or start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) or start.startswith(codecs.BOM_UTF8):
        return False
    return start[0] in _FIRST_BYTES and any(byte < 32 and byte not in b"\t\n\r\x0b\x0c\x1b" for byte in start[1:])


_PARTS = ("replacements", "applications", "refusals", "dynamic_tensor", "run_orders", "summaries", "listed_refusals", "plugins")
"""Fields that must have the same value in all logs of one run. Empty fields are not compared."""


def join_logs(logs: Sequence[tuple[str, DeviceLog]]) -> DeviceLog:
    """Join the logs of one run, each with a name. Raises LogError if two logs contradict each other."""
    (first_name, joined), *others = logs
    for name, log in others:
        difference = next(_disagreements(joined, log), "")
        if difference:
            text = f"{first_name} and {name} are not from the same run: they differ in {difference}; reconcile them one by one"
            raise LogError(printable(text))
        both = {field.name: _joined(getattr(joined, field.name), getattr(log, field.name)) for field in fields(DeviceLog)}
        statements = {(statement.kind, statement.line): statement for statement in (*log.statements, *joined.statements)}
        both |= {"statements": tuple(statements.values()), "unused": (*joined.unused, *log.unused)}
        both |= {name: getattr(joined, name) + getattr(log, name) for name in ("line_count", "unused_count", "long_lines")}
        joined = DeviceLog(**both)
    return joined


def _disagreements(ours: DeviceLog, theirs: DeviceLog) -> Iterator[str]:
    for part in _PARTS:
        one, other = getattr(ours, part), getattr(theirs, part)
        if one and other and _compared(one) != _compared(other):
            yield part.replace("_", " ")
    for name in sorted(ours.parameters.keys() & theirs.parameters.keys()):
        if ours.parameters[name] != theirs.parameters[name]:
            yield f"the parameter {name} ({ours.parameters[name]} and {theirs.parameters[name]})"
    names = {own.name: None for own in map(delegate_in, (ours, theirs)) if own is not None and not own.is_applied_by_default}
    if len(names) > 1:
        yield f"the delegate ({' and '.join(names)})"


def _joined(ours: Any, theirs: Any) -> Any:
    if isinstance(ours, Mapping) and all(isinstance(key, str) for key in (*ours, *theirs)):
        return {**theirs, **ours}
    if isinstance(ours, RuntimeLog | EdgeTpuCompilation | RunTimes):
        return ours if ours != type(ours)() else theirs
    return theirs if ours is None or (not ours and ours != 0) or ours is False else ours


def _compared(value: object) -> object:
    """Return a comparable form. Rows keep only the operator and the node, because profile files have no outputs."""
    if isinstance(value, Mapping) and value and all(isinstance(order, RunOrder) for order in value.values()):
        return {index: [(row.op, row.node) for row in order.rows] for index, order in value.items()}
    return dict(value) if isinstance(value, Mapping) else value
