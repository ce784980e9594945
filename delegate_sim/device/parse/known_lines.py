"""Match the lines that runtimes, delegates, drivers and tools print. ``statements.tsv`` has the patterns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ...foundation.work_budget import spend_steps
from .kinds import Event
from .source_statements import SourceStatement
from .tables import rows_of


@dataclass(frozen=True, slots=True)
class Statement:
    """One parsed line: its kind, the matched text, the values in the text, and how often the log has the line."""

    kind: str
    line: str
    values: Mapping[str, str]
    times: int = 1
    places: tuple[int, ...] = field(default=(), compare=False)
    """The numbers of the lines. Only the first number if the log has very many lines of this kind."""
    source: SourceStatement | None = field(default=None, compare=False)
    """The statement of upstream code that an error matches."""

    def numbers(self, *names: str) -> tuple[int, ...]:
        """Return the values with these names as numbers. A missing value is 0."""
        return tuple([int(self.values.get(name, "0")) for name in names])


@dataclass(frozen=True, slots=True)
class Pattern:
    """A row of ``statements.tsv``, which explains the fields."""

    kind: str
    needles: tuple[str, ...]
    speaker: str
    age: str
    form: re.Pattern[str]
    meaning: str


_ROWS = rows_of("statements")
PATTERNS = tuple(
    [
        Pattern(
            row["kind"], tuple(row["needles"].split("|")), row["speaker"], row["age"], re.compile(row["pattern"]), row["meaning"]
        )
        for row in _ROWS
        if row["age"] != "loose"
    ]
)
"""The patterns of all kinds of lines, most specific pattern first."""


def _loose(kind: str) -> re.Pattern[str]:
    return re.compile("|".join([row["pattern"] for row in _ROWS if (row["kind"], row["age"]) == (kind, "loose")]))


ARMNN_PARSER = "Arm NN's parser"
"""The name of the part of Arm NN that reads models without TensorFlow Lite."""
CHARACTERS_IN_A_STEP = 16
"""Number of characters of a line that regular expressions search in a step."""
_NEEDLES = [(needle, number) for number, pattern in enumerate(PATTERNS) for needle in pattern.needles]
_STEPS_FOR_NEEDLES = 4
"""Steps for the needles of all patterns, which are searched in each line."""
_COUNTS = ("taken", "left", "delegated", "total")
_MEASURED, _PROGRESS, _RUNTIME_WORDS, _VENDOR, _LITERT_WORDS = map(
    _loose, (Event.MEASURED, Event.PROGRESS, Event.RUNTIME, Event.VENDOR, Event.LITERT)
)
_RUNTIME_TAGS = frozenset(
    {"Manager", "ModelBuilder", "ExecutionPlan", "ExecutionBuilder", "CompilationBuilder", "Memory", "TypeManager",
     "ExecutionStep", "StepExecutor", "NeuralNetworks", "CpuExecutor", "Utils", "GraphDump", "BurstBuilder",
     "VersionedInterfaces", "Event"}
)  # fmt: skip
"""Logcat tags that Android's NNAPI runtime uses if ``debug.nn.vlog`` is set."""
_LITERT_TAGS = frozenset({"litert"})
_KNOWN_REASON = re.compile(
    r"Operation is not supported\.|OP is supported, but |tensor type (?:error|isn't matched)|Not supported op \w+|"
    r"Expected \d+ (?:runtime|const)|Max version supported: |Op can only |No support of |Only (?:support|identical)|"
    r"Not supported cast case"
)
"""Matches the reasons in GPU delegates' lists of refused operators."""


def is_reason(text: str) -> bool:
    """Return whether a text is a reason that a GPU delegate gives for a refused operator."""
    return _KNOWN_REASON.match(text) is not None


_OWN_TAGS = frozenset({"tflite", "litert", "litertlm"})
_FAILED_TO = re.compile(r"(?:Failed to|Could not|Cannot|Unable to|Error:|No usable|No dispatch library) ?.*", re.DOTALL)


_FAILURE_WORDS = re.compile(
    r"(?i:\b(?:failed|failure|fails?|error|could ?n[o']t|cannot|can't|unable to|abort(?:ed|ing)?|traceback|panic(?:'ed)?|"
    r"segfault|uncaught)\b|\w(?:exception|error)\b: )|\bSIG(?:SEGV|ABRT|BUS|ILL|FPE|KILL)\b"
)
_NO_WORDS = re.compile(r"\W*|\s*raise \w.*|\s*#\d{1,3}\s{3,}\S.*|\s*<asynchronous suspension>\s*", re.DOTALL)
"""Matches lines that say nothing: marks under a compiler's line, and the source text and frames in a traceback."""
_NO_FAILURE = re.compile(
    r"^└ |(?i:\b(?:no|0|without|if|ignore) (?:any )?(?:errors?|failures?|fail)\b|\b0 failed\b)|^\s*at [\w.$]{1,200}\("
)


def is_plain_failure(text: str, severity: str) -> bool:
    """Return whether a line plainly shows a failure, although nothing is known about the line."""
    spend_steps(len(text) // CHARACTERS_IN_A_STEP + 1, "reading the log")
    if severity not in ("", "E", "F") or _NO_WORDS.fullmatch(text) is not None or _NO_FAILURE.search(text) is not None:
        return False
    return bool(severity) or _FAILURE_WORDS.search(text) is not None


def statement_of(text: str) -> tuple[Statement, Pattern, int] | None:
    """Return the first statement in a line, the matched pattern, and the end of the match. Return None if no pattern matches."""
    steps = len(text) // CHARACTERS_IN_A_STEP + 1
    spend_steps(steps + _STEPS_FOR_NEEDLES, "reading the log")
    if _NO_WORDS.fullmatch(text) is not None:
        return None
    first: tuple[re.Match[str], Pattern] | None = None
    for number in sorted({number for needle, number in _NEEDLES if needle in text}):
        pattern = PATTERNS[number]
        spend_steps(steps, "reading the log")
        candidate = pattern.form.search(text)
        if candidate is not None and (first is None or candidate.start() < first[0].start()):
            first = candidate, pattern
    if first is None:
        return None
    match, pattern = first
    values = {key: value for key, value in match.groupdict().items() if value is not None}
    values |= {key: re.sub(r"\D", "", values[key]) for key in _COUNTS if key in values}
    if pattern.speaker:
        values.setdefault("name", pattern.speaker)
    for other in ("two", "three"):  # a name may be in several places of a form
        if other in values:
            values["name"] = values.pop(other)
    if pattern.meaning:
        values["meaning"] = pattern.meaning.format_map(values)
    end = match.start("doing") if "doing" in values else match.end()
    return Statement(pattern.kind, match[0].strip(), MappingProxyType(values)), pattern, max(end, match.start() + 1)


def loose_statement(text: str, tag: str, severity: str, source: str) -> Statement | None:
    """Return a statement for an unknown line by the program that printed it, or None if the program has no delegates."""
    line = text.strip()
    if _NO_WORDS.fullmatch(line) is not None:
        return None
    if severity in ("E", "F") and (tag in _RUNTIME_TAGS or _RUNTIME_WORDS.search(line)):
        return Statement(Event.RUNTIME_ERROR, line, MappingProxyType({}))
    if source and severity == "W" and _FAILED_TO.match(line):
        return Statement(Event.WARNED, line, MappingProxyType({"source": source}))
    is_error = severity in ("E", "F") or bool(source and not severity and _FAILED_TO.match(line))
    if is_error and (source or tag in _OWN_TAGS or not tag) and _VENDOR.search(line) is None:
        kind = Event.FAILURE if _FAILED_TO.match(line) else Event.OTHER_ERROR
        return Statement(kind, line, MappingProxyType({"source": source} if source else {}))
    for kind, is_one in (
        (Event.MEASURED, _MEASURED.search(line)),
        (Event.PROGRESS, _PROGRESS.search(line)),
        (Event.RUNTIME, tag in _RUNTIME_TAGS or _RUNTIME_WORDS.search(line)),
        (Event.VENDOR, tag.lower().startswith(("qnn", "hta")) or _VENDOR.search(line)),
        (Event.LITERT, source or tag in _LITERT_TAGS or _LITERT_WORDS.search(line)),
    ):
        if is_one:
            return Statement(kind, line, MappingProxyType({"source": source} if source else {}))
    return None
