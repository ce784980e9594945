"""Parse a log line by line, as ``core/subgraph.cc``, ``minimal_logging*.cc``, ``delegates/`` and ``tools/`` print it."""

from __future__ import annotations

import re
from dataclasses import replace
from types import MappingProxyType

from ...delegates.registry import GRAPHICS_SPEAKER
from ...foundation.work_budget import spend_steps
from ...model.schema import is_operator
from .applied_target import may_be_older
from .compilations import EdgeTpuCompilerReader, RuntimeReader
from .delegate_identity import chips_in, replacement_in
from .known_lines import (
    Pattern,
    SourceStatements,
    Statement,
    Statements,
    is_plain_failure,
    is_reason,
    loose_statement,
    statement_of,
)
from .line_prefixes import Message, RefusalList, flags_in, is_before_known_releases
from .log_contents import ApplicationLine, DeviceLog, Replacement
from .log_runs import beginning, split_at
from .operator_tables import RUN_ORDER, SLOWEST, SUMMARY, OperatorTable, RunOrder, table_title, times_in
from .profile_files import is_of_dump, read_dump
from .tables import CRASHES, ERRORS, FORMS, Event, kinds_with, line_in, sequence_of

_FIRST = kinds_with("is_first")
_ATTRIBUTED = ERRORS | {Event.NOT_APPLIED}
_MOST_UNUSED, _MOST_CHIPS = 1000, 64
"""Largest numbers of unknown lines of a run that are kept, and of chips, which all runs of a process share."""
_MOST_PLAIN, _MOST_KNOWN = 20, 200
"""Largest numbers of lines with failures that are kept if nothing is known about them, or only the component that prints them."""
_READING = "reading the log"
_STEPS_OF_A_TEXT, _STEPS_OF_AN_ITEM, _STEPS_OF_A_RUN = 20, 30, 50
_MOST_STATEMENTS = 8
_LINES = sequence_of("benchmark")
_FIRST_PARAMETERS = ("log parameter values verbosely", "graph")
_LEVELS = ("VERBOSE:", "INFO:", "WARNING:", "ERROR:")

_TITLES = sequence_of("tables")


class Reader:
    """Reads the lines of one process once. The process may have several runs, one after another."""

    def __init__(self, sources: SourceStatements | None) -> None:
        self.sources = sources
        """The statements of upstream code. None if lines are known to be delegate-sim's own."""
        self.finished, self.unused = list[DeviceLog](), list[str]()
        self.unused_count = self.line_count = 0
        self.is_cut = False
        self.dates: set[bool | None] = set()
        """For each line with a date, whether the line is older than the oldest known release."""
        self.place = 0
        self._begin(DeviceLog())

    def _begin(self, log: DeviceLog) -> None:
        """Begin a run. ``log`` has what it shares with earlier runs of the process."""
        self.log = log
        self.kept = len(log.statements) + len(log.applications)

        self.last_in: dict[int | None, Replacement] = {}
        self.statements, self.plain_errors = Statements(log.statements), Statements()
        self.runtime, self.compiler = RuntimeReader(), EdgeTpuCompilerReader()
        self.table: OperatorTable | None = None
        self.dump: list[str] = []
        self.subgraph, self.is_inference, self.is_internal = 0, True, False
        self.list: RefusalList | None = None
        self.severity = ""
        """The severity of the last line that is not the continuation of another."""
        self.is_loaded = self.is_measured = False
        self.is_restored = False
        """True if the runtime restored the execution plan after the last line about replaced nodes."""
        self.has_ended = False
        """True if a shell printed that the process has crashed."""

    def _start(self) -> None:
        log = self._log()
        if not log.without(*CRASHES).is_empty:
            self._finish(log)
        self._begin(DeviceLog(flags=log.flags if log.is_empty else {}))

    def _start_after_crash(self) -> None:
        if self.has_ended or (self.is_measured and self.log.replacements):
            self._start()

    def _start_at(self, place: int) -> None:
        """Begin a new run of the same process at an earlier line. The new run keeps the lines that a process prints only once."""
        log = self._log()
        before, after = split_at(log, place)
        own = ("replacements", "applications", "statements")
        self._finish(replace(log, **{name: getattr(before, name) for name in own}))
        shared = ("statements", "applications", "chips", "tensorflow_version", "is_old")
        self._begin(DeviceLog(**{name: getattr(after, name) for name in shared}))

    def _finish(self, log: DeviceLog) -> None:
        log.line_count, log.unused, log.unused_count = self.line_count, tuple(self.unused), self.unused_count
        self.finished.append(log)
        self.unused, self.unused_count, self.line_count = [], 0, 0

    def logs(self) -> tuple[DeviceLog, ...]:
        """Return the runs. An empty last run is left out, unless it is the only run."""
        last = self._log()
        if not (last.is_empty and self.finished):
            self._finish(last)
        # Old dates come from a wrong clock if other lines have later dates, or the wording of a known release.
        is_dated = True in self.dates and False not in self.dates and all(map(may_be_older, self.finished))
        return tuple([replace(log, is_old=True) for log in self.finished] if is_dated else self.finished)

    def _log(self) -> DeviceLog:
        spend_steps(_STEPS_OF_A_RUN + self.kept, _READING)
        self._end_table(is_complete=False)
        if self.dump and (dumped := read_dump(self.dump, "the log")) is not None:
            self.log.run_orders |= dumped.run_orders
            self.log.inner_rows = self.log.inner_rows or dumped.inner_rows
        self.dump = []
        statements, plain_errors = self.statements.all(), self.plain_errors.all()
        runtime, edge_tpu = self.runtime.log, self.compiler.compilation()
        return replace(self.log, statements=statements, plain_errors=plain_errors, runtime=runtime, edge_tpu=edge_tpu)

    def read(self, message: Message, line: str, place: int) -> None:
        """Parse one line. ``place`` is the number of the line in the log."""
        self.place = place
        self.is_cut = not line.endswith("\n")
        text = message.text
        if len(self.log.chips) < _MOST_CHIPS and FORMS["library-tried"].search(line) is None:
            self.log.chips |= dict.fromkeys(chips_in(FORMS["model-name"].sub("", line))[:_MOST_CHIPS])
        self.dates.add(is_before_known_releases(line))
        if not text.strip():
            self._end_table(is_complete=not self.is_cut)
            return
        self.line_count += 1
        # Tables of the initialization, of other subgraphs and of delegates have totals too.
        if (times := times_in(text, self.log.times)) and ("profiled_ms" not in times or self._is_of_main_table):
            self.log.times = replace(self.log.times, **times)
        pieces = text.split("\\n") if "\\n" in text and "delegate" in text else [text]
        used = [self._read_text(replace(message, text=piece)) for piece in pieces]
        self.log.ends_known = any(used)
        if not self.log.ends_known and not self._is_of_source(message):
            self.unused_count += 1
            if len(self.unused) < _MOST_UNUSED:
                self.unused.append(line.rstrip("\r\n"))

    def _is_of_source(self, message: Message) -> bool:
        """Return whether upstream code prints a line that was not understood. Keep the line if it plainly shows a failure."""
        text = message.text.strip()
        known = None if self.sources is None else self.sources.of(text)
        most, severity = (_MOST_PLAIN, "") if known is None else (_MOST_KNOWN, known.severity)
        severity = "" if FORMS["dump-tag"].fullmatch(message.tag) else message.severity or severity
        if len(self.plain_errors.found) < most and is_plain_failure(text, severity):
            values = MappingProxyType({"severity": severity})
            self.plain_errors.add(Statement(Event.PLAIN_ERROR, text, values, source=known), self.place)
        return known is not None

    def _read_text(self, message: Message) -> bool:
        spend_steps(_STEPS_OF_A_TEXT, _READING)
        self.severity = self.severity if message.text.startswith("└") else message.severity
        is_used = self._use_text(message)
        self._keep(int(is_used))
        return is_used

    def _keep(self, count: int = 1) -> None:
        spend_steps(_STEPS_OF_AN_ITEM * count, _READING)
        self.kept += count

    def _use_text(self, message: Message) -> bool:
        text = message.text
        stripped = text.strip()
        name, match = line_in(_TITLES, stripped)
        if match is not None:
            self._title(name, match)
        elif self.table is None and not self.is_internal and (title := table_title(stripped)):
            self._begin_table(title)
        elif is_of_dump(stripped, bool(self.dump)):
            self.dump.append(stripped)
        else:
            return (
                self._is_listed(message)
                or self._is_replacement(text)
                or self._benchmark_line(text)
                or (self.table is not None and not self.is_cut and self.table.read(text))
                or self._other_line(message)
            )
        return True

    def _is_listed(self, message: Message) -> bool:
        text = message.text.strip()
        if self.list is not None and is_operator(text):
            text += ":"  # the line was copied without its end
        match = FORMS["refusal-of-list"].fullmatch(text)
        if match is None:
            return False
        op, reason = match["op"], match["reason"].strip()
        is_name = match["custom"] is not None or is_operator(op)
        # The log may begin in the middle of a list.
        is_entry = is_name and is_reason(reason) if self.list is None else self.list.may_have(message, is_name)
        if is_entry:
            values = {"op": op, "reason": reason, "name": GRAPHICS_SPEAKER if self.list is None else self.list.name}
            self._add(Statement(Event.LISTED_REFUSAL, text, MappingProxyType(values)))
            self.list = self.list or RefusalList(GRAPHICS_SPEAKER, message.tag, message.process, is_interrupted=True)
        return is_entry

    def _other_line(self, message: Message) -> bool:
        text = message.text
        if self.list is not None:
            self.list.is_interrupted = True
        if self.compiler.begins_again(text):
            self._start()
        if self.compiler.read(text):
            return True
        if message.tag == "chatty" and (same := FORMS["identical"].search(text)) is not None:
            if self.statements.last is not None and self.statements.last[0] == Event.CHOICE:
                self._keep(self.runtime.repeat(int(same["times"])) // _STEPS_OF_AN_ITEM)
            return self.statements.repeat(int(same["times"]))
        if (flags := flags_in(text)) is not None:
            if not self._log().is_empty:
                self._start()
            self.log.flags = flags
            return True
        is_used = False
        rest = text
        if text.startswith("└") and self.severity in ("V", "D", "I", "W"):
            return True  # the line continues a warning
        for _ in range(_MOST_STATEMENTS):  # an exception may have several statements in one line
            if (result := statement_of(rest)) is None:
                break
            is_used = True
            statement, pattern, end = result
            head, colon, tail = statement.line.partition(": ")
            quoted = statement_of(tail) if statement.kind == Event.LOAD_ERROR and colon else None
            if quoted is not None and quoted[0].kind != Event.APPLIED:
                statement, end = replace(statement, line=head), rest.find(statement.line) + len(head) + len(colon)
            if statement.kind == Event.NODE_ERROR:
                self._say_why(rest[: max(rest.find(statement.line), 0)])
            self._statement(statement, pattern, message)
            rest = rest[end:]
            reason = FORMS["exception-with-reason"].fullmatch(f"{statement.line}{rest}")
            if reason is not None and statement_of(rest) is None:
                self._add(Statement(Event.OTHER_ERROR, reason["why"].strip(), MappingProxyType({})))
        loose = None if is_used else loose_statement(text, message.tag, message.severity, message.source)
        if loose is not None:
            self._add(loose)
            self.is_measured |= loose.kind == Event.MEASURED
        return is_used or loose is not None

    def _say_why(self, before: str) -> None:
        """Add the reason of a kernel's failure: the part of the line ``before`` it, and the line above if it shows a failure."""
        reason = FORMS["exception"].sub("", before).strip()
        if reason and not reason.endswith(_LEVELS) and not reason.startswith("See instructions"):
            self._add(Statement(Event.OTHER_ERROR, reason, MappingProxyType({})))
        if (above := self.plain_errors.latest_at(self.place - 1)) is not None:
            self._add(replace(above, kind=Event.OTHER_ERROR))

    def _add(self, statement: Statement) -> None:
        self._keep()
        if self.sources is not None and statement.kind in _ATTRIBUTED and statement not in self.statements:
            statement = replace(statement, source=self.sources.of(statement.line))
        self.statements.add(statement, self.place)

    def _statement(self, statement: Statement, pattern: Pattern, message: Message) -> None:
        if statement.kind in _FIRST:
            self._start_after_crash()
        if statement.kind == Event.EXECUTED and not self._is_of_main_table:
            return
        if statement.kind == Event.CRASH and self.statements.last is not None and self.statements.last[0] == Event.CRASH:
            return  # several lines report one crash
        if self.log.parameters.get(f"use {statement.values.get('owner', '')}".lower(), "1").strip() in ("0", "false"):
            return  # old releases look for the library of a delegate that is switched off
        self._add(statement)
        values = statement.values
        if pattern.step:
            self.runtime.read(pattern.step, values)
        if pattern.age or "old" in values:
            self.log.is_old = True
        self.is_restored |= statement.kind == Event.RESTORED
        if statement.kind == Event.LISTED_REFUSALS:
            self.list = RefusalList(values["name"], message.tag, message.process)
        elif statement.kind in (Event.SPLIT, Event.NODE_ERROR):
            self.list = None
        elif statement.kind == Event.CRASH:
            self.has_ended = not message.process and "Fatal signal" not in statement.line

    @property
    def _is_of_main_table(self) -> bool:
        return self.is_inference and not self.is_internal and not self.subgraph

    def _begin_table(self, title: str) -> None:
        is_inference = self.is_inference and title in (RUN_ORDER, SLOWEST, SUMMARY)
        self.table = OperatorTable(self.subgraph, title, is_inference=is_inference, is_internal=self.is_internal)

    def _end_table(self, is_complete: bool) -> None:
        """End the current table. If it is a table of inferences, it replaces an earlier table of the same subgraph."""
        table, self.table = self.table, None
        if table is None or not table.is_inference:
            return
        table.end()
        if table.title == RUN_ORDER and (table.is_internal or table.inner_rows):
            self.log.inner_rows = tuple(table.rows if table.is_internal else table.inner_rows)
        if table.is_internal:
            return
        if table.title == SLOWEST:
            self.log.slowest[table.subgraph] = tuple(table.rows)
        elif table.groups:
            self.log.summaries[table.subgraph] = table.summary(is_complete=is_complete)
        elif table.rows or table.inner_rows:
            lacks_rows = not table.has_all_rows
            self.log.run_orders[table.subgraph] = RunOrder(tuple(table.rows), is_complete and not lacks_rows, lacks_rows)

    def _title(self, name: str, match: re.Match[str]) -> None:
        self._end_table(is_complete=True)
        if name == "heading":
            self._begin_table(match["title"].strip())
        elif name == "internal":
            self.is_internal = True
        else:
            self.is_internal = False
            self.is_inference = self.is_inference if name == "subgraph" else name == "regular"
            self.subgraph = int(match["index"] or 0) if name == "subgraph" else 0

    def _is_replacement(self, text: str) -> bool:
        replacement = replacement_in(text, self.place) if "Replacing " in text else None
        if replacement is None:
            return False
        self.list = None
        self._start_after_crash()
        if not self._may_follow(replacement):
            self._start_at(beginning(self._log(), replacement))
        self.is_restored = False
        self.log.replacements.append(replacement)
        self.last_in[replacement.subgraph] = replacement
        return True

    def _may_follow(self, replacement: Replacement) -> bool:
        """Return whether a line may be of this run, by its kernel and the nodes that earlier delegates left."""
        lines = self.log.replacements
        last = None if replacement.subgraph is None else self.last_in.get(replacement.subgraph)
        if last is not None and last.kernel == replacement.kernel:
            return False
        if self.is_restored:
            return True
        spend_steps(len(lines) // 16 + 1, _READING)
        earlier = [own for own in lines if own.kernel != replacement.kernel and own.subgraph is None and own.total is not None]
        earlier = earlier if replacement.subgraph is None else [] if last is None else [last]
        fits = not earlier or any(own.may_precede(replacement) for own in earlier)
        return fits and not self._exceeds_what_is_left(replacement)

    def _exceeds_what_is_left(self, replacement: Replacement) -> bool:
        """Return whether a delegate takes more nodes than the previous delegate left, according to printed counts."""
        earlier = self.log.replacements[-1] if self.log.replacements else None
        if earlier is None or earlier.kernel == replacement.kernel or earlier.total is not None or earlier.subgraph is not None:
            return False
        if earlier.partitions == 1 and replacement.replaced > 1:
            return True  # the previous delegate took the whole graph, so only its kernel is left
        spend_steps(len(self.statements.found), _READING)
        counts = [own.numbers("delegated", "total") for own in self.statements.all() if own.kind == Event.OWN_COUNT]
        left = [total - earlier.replaced for delegated, total in counts if delegated == earlier.replaced]
        return bool(left) and earlier.partitions is not None and replacement.replaced > left[-1] + earlier.partitions

    def _benchmark_line(self, text: str) -> bool:
        name, match = line_in(_LINES, text.strip())
        if match is None or (name == "parameter" and (self.table is not None or is_plain_failure(match["name"], ""))):
            return False
        if name in ("version", "lost"):
            self.log.lost_events |= name == "lost"
            self.log.tensorflow_version = match["version"] if name == "version" else self.log.tensorflow_version
            return True
        if name == "starting" or (name == "loaded" and self.is_loaded):
            self._start()
        self.is_loaded |= name == "loaded"
        if name == "parameter":
            self._parameter(match)
        elif name not in ("starting", "loaded"):
            printed = match.groupdict().get("kernels")
            kernels = int(printed) if printed else {"completely": 1, "not": 0}.get(name)
            self.log.applications.append(ApplicationLine(match[0], match["provider"], name, kernels, self.place))
        self.log.is_benchmark = True
        return True

    def _parameter(self, match: re.Match[str]) -> None:
        name = match["name"].strip().lower()
        if self.has_ended:
            self._start()
        is_repeated = self.log.parameters.get(name) == match["value"] and not (self.log.replacements or self.is_measured)
        if name in self.log.parameters and (name in _FIRST_PARAMETERS or (self.is_loaded and not is_repeated)):
            self._start()
        self.log.parameters[name] = match["value"]
        self.log.is_old |= bool(match["blank"]) and name != "tensorflow version"
