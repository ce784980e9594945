"""Match the lines that runtimes, delegates, drivers and tools print. ``statements.tsv`` has the patterns."""

from __future__ import annotations

import itertools
import pkgutil
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

from ...foundation.work_budget import spend_steps
from .tables import FORMS, Event, kinds_with, rows_of

PrintedValue: TypeAlias = int | float | str
TABLE_COLUMNS = (
    '# The log statements of runtimes, delegates and drivers. "= COMPONENT" and "/ FILE" begin the statements of a file.\n'
    "# Columns: severity, the texts that do not vary with fields between them, the first and the last release that was read.\n"
    "# A field is %d, %f, %x or %s, or %v if its type is unknown. Written by make log-statements.\n"
)
_FIELD = re.compile(r"%([dfxsv%])")
_WORD = re.compile(r"\b[^\W\d_]\w{2,}")
_FIXED_WORD = re.compile(r"(?<![%\w])[^\W\d_]\w{2,}(?![%\w])")
_FEWEST_LETTERS = 14
"""Fewest letters in the words of a statement. Shorter texts are common to many programs."""


def _parts(form: str) -> tuple[tuple[str, ...], str]:
    pieces = _FIELD.split(form)
    texts, types = [pieces[0]], ""
    for kind, text in zip(pieces[1::2], pieces[2::2], strict=True):
        if kind == "%":
            texts[-1] += "%" + text
        else:
            types += kind
            texts.append(text)
    return tuple(texts), types


def fixed_words(form: str) -> list[str]:
    """Return the words of the fixed texts. A word beside a field is left out, because it may be a part of a longer word."""
    return _FIXED_WORD.findall(form)


def is_specific(form: str) -> bool:
    """Return whether a format has enough fixed words to recognize its lines."""
    words = set(fixed_words(form))
    letters = sum(map(len, words))
    return len(words) >= 2 and letters >= _FEWEST_LETTERS and len(_parts(form)[1]) <= letters // 4


@dataclass(frozen=True, slots=True)
class SourceStatement:
    """A statement of upstream code that a line matches."""

    printed_by: tuple[str, ...]
    severity: str
    """``V``, ``I``, ``W``, ``E`` or ``F``, or "" if the statement has none."""
    values: tuple[PrintedValue, ...]


@dataclass(frozen=True, slots=True)
class _KnownStatement:
    component: str
    severity: str
    form: str
    words: frozenset[str]

    @property
    def letters(self) -> int:
        return sum(map(len, self.words))


_MOST_WORDS = 64
_ROWS_IN_A_STEP = 8
_STEPS_OF_A_COMPARISON = 10
_MOST_COMPONENTS = 3
"""A statement of more components does not tell which of them prints a line."""
_LEAST_COVERED, _LEAST_FIXED = 0.5, 0.3
"""Smallest share of a line that a statement covers, and smallest share of fixed words in the letters that it covers."""
_MANY_LETTERS = 24
"""Fewest letters in the fixed words of a statement that begins a line, if its fields or the rest of the line are long."""
_NUMBERS = {"d": re.compile(r"-?\d{1,20}"), "f": re.compile(r"-?(?:\d{1,40}(?:\.\d{0,40})?(?:e[+-]?\d{1,4})?|nan|inf)")}
_NUMBERS["x"] = re.compile(r"(?:0x)?[0-9a-fA-F]{1,16}|\(nil\)")
_EDGE = re.compile(r"\w")


class SourceStatements:
    """The statements of upstream code. They are loaded when the first line is looked up."""

    @cached_property
    def _by_word(self) -> Mapping[str, Sequence[_KnownStatement]]:
        content = (pkgutil.get_data(__package__, "sources.tsv") or b"").decode("utf-8")
        rows: dict[str, list[_KnownStatement]] = {}
        component = ""
        for line in content.splitlines():
            if line.startswith("= "):
                component = line[2:]
            elif not line.startswith(("# ", "/ ")):
                severity, form, *_ = line.split("\t")
                words = fixed_words(form)
                rows.setdefault(max(words, key=len), []).append(_KnownStatement(component, severity, form, frozenset(words)))
        return rows

    def of(self, text: str) -> SourceStatement | None:
        """Return the statement that a line without prefixes matches, with most fixed words, or None."""
        line = text.strip()
        words = dict.fromkeys([match[0] for match in _WORD.finditer(line)][: 4 * _MOST_WORDS])
        known = dict.fromkeys(list(words)[:_MOST_WORDS]).keys()
        spend_steps(len(line) // 16 + len(known), "reading the log")
        letters = _Letters(line)
        best: list[tuple[_KnownStatement, tuple[PrintedValue, ...]]] = []
        for word in known:
            rows = self._by_word.get(word, ())
            spend_steps(len(rows) // _ROWS_IN_A_STEP, "reading the log")
            for row in rows:
                if not row.words <= known or (best and row.letters < best[0][0].letters):
                    continue
                spend_steps(_STEPS_OF_A_COMPARISON, "reading the log")
                if (values := _values(row, line, letters)) is not None:
                    best = [*(best if best and row.letters == best[0][0].letters else []), (row, values)]
        components = sorted({row.component for row, _ in best})
        if not components or len(components) > _MOST_COMPONENTS:
            return None
        severities = {row.severity for row, _ in best}
        return SourceStatement(tuple(components), severities.pop() if len(severities) == 1 else "", best[0][1])


class _Letters:
    """The number of letters in parts of a line. The line is read once, however many statements are compared with it."""

    def __init__(self, line: str) -> None:
        self._line = line

    @cached_property
    def _before(self) -> Sequence[int]:
        return list(itertools.accumulate(map(str.isalpha, self._line), initial=0))

    def between(self, begin: int, end: int) -> int:
        return self._before[end] - self._before[begin]


def _values(row: _KnownStatement, line: str, letters: _Letters) -> tuple[PrintedValue, ...] | None:
    begin, position = -1, 0
    fields: list[str] = []
    texts, types = _parts(row.form)
    last = len(texts) - 1
    for number, text in enumerate(texts):
        if number == last and number and not text.strip():
            fields.append(line[position:].strip())
            position = len(line)
            break
        start = _find(line, text.rstrip() if number == last else text, position, is_first=not number, is_last=number == last)
        if start < 0:
            return None
        if number:
            fields.append(line[position:start].strip())
        else:
            begin = start if text else 0
        position = start + len(text.rstrip() if number == last else text)
    if not all(map(_fits, types, fields)):
        return None
    is_covered = position - begin >= _LEAST_COVERED * len(line)
    is_covered = is_covered and row.letters >= _LEAST_FIXED * letters.between(begin, position)
    is_covered |= begin == 0 and texts[0] != "" and row.letters >= _MANY_LETTERS
    return tuple(map(_value, types, fields)) if is_covered else None


def _find(line: str, text: str, position: int, *, is_first: bool, is_last: bool) -> int:
    """Return the place of a fixed text at or after a position, or -1. At both ends of a statement, words must be whole."""
    while (start := line.find(text, position)) >= 0:
        end = start + len(text)
        is_inside = is_first and start and text[:1].isalnum() and _EDGE.match(line[start - 1]) is not None
        is_cut = is_last and end < len(line) and text[-1:].isalnum() and _EDGE.match(line[end]) is not None
        if not (is_inside or is_cut):
            return start
        position = start + 1
    return -1


def _fits(kind: str, text: str) -> bool:
    return _NUMBERS[kind].fullmatch(text) is not None if kind in _NUMBERS else bool(text) or kind == "v"


def _value(kind: str, text: str) -> PrintedValue:
    if kind in "dv" and _NUMBERS["d"].fullmatch(text):
        return int(text)
    return float(text) if kind in "fv" and _NUMBERS["f"].fullmatch(text) else text


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


_NUMEROUS = kinds_with("is_numerous")


class Statements:
    """Distinct statements. Of numerous kinds, only the first statement of each source or meaning is kept."""

    def __init__(self, statements: Iterable[Statement] = ()) -> None:
        self.found = {_key(statement): statement for statement in statements}
        self.places = {key: list(statement.places) for key, statement in self.found.items()}
        self.last: tuple[str, str] | None = None

    def __contains__(self, statement: Statement) -> bool:
        return self.found.get(_key(statement)) is not None

    def add(self, statement: Statement, place: int) -> None:
        """Add a statement, or increase the count of an equal statement."""
        self.last = _key(statement)
        known = self.found.get(self.last)
        self.found[self.last] = statement if known is None else replace(known, times=known.times + 1)
        if known is None or statement.kind not in _NUMEROUS:
            self.places.setdefault(self.last, []).append(place)

    def repeat(self, times: int) -> bool:
        """Add ``times`` to the count of the last statement. Return whether there is a last statement."""
        if self.last is None:
            return False
        last = self.found[self.last]
        self.found[self.last] = replace(last, times=last.times + times)
        return True

    def latest_at(self, place: int) -> Statement | None:
        """Return the statement that was added last, without its lines, or None if its last line is not line ``place``."""
        return self.found[self.last] if self.last is not None and self.places[self.last][-1] == place else None

    def all(self) -> tuple[Statement, ...]:
        """Return the collected statements in order."""
        return tuple([replace(statement, places=tuple(self.places[key])) for key, statement in self.found.items()])


def _key(statement: Statement) -> tuple[str, str]:
    values = statement.values
    same = values.get("source") or values.get("meaning", "")
    return statement.kind, same if statement.kind in _NUMEROUS else statement.line


@dataclass(frozen=True, slots=True)
class Pattern:
    """A row of ``statements.tsv``, which explains the fields."""

    kind: str
    needles: Sequence[str]
    speaker: str
    age: str
    form: re.Pattern[str]
    meaning: str
    step: str


_ROWS = rows_of("statements")
PATTERNS = [
    Pattern(kind, needles.split("|"), speaker, age, re.compile(form), meaning, step)
    for kind, needles, speaker, age, form, meaning, step in [row.values() for row in _ROWS]
    if age != "loose"
]
"""The patterns of all kinds of lines, most specific pattern first."""


def _loose(kind: str) -> re.Pattern[str]:
    return re.compile("|".join([row["pattern"] for row in _ROWS if (row["kind"], row["age"]) == (kind, "loose")]))


ARMNN_PARSER = "Arm NN's parser"
"""The name of the part of Arm NN that reads models without TensorFlow Lite."""
CHARACTERS_IN_A_STEP = 16
"""Number of characters of a line that regular expressions search in a step."""
_NEEDLES = [(needle, number) for number, pattern in enumerate(PATTERNS) for needle in pattern.needles]
_STEPS_FOR_NEEDLES = 4
_COUNTS = ("taken", "left", "delegated", "total")
_MEASURED, _PROGRESS, _RUNTIME_WORDS, _VENDOR, _LITERT_WORDS = map(
    _loose, (Event.MEASURED, Event.PROGRESS, Event.RUNTIME, Event.VENDOR, Event.LITERT)
)


def is_reason(text: str) -> bool:
    """Return whether a text is a reason that a GPU delegate gives for a refused operator."""
    return FORMS["reason-of-list"].match(text) is not None


_OWN_TAGS = frozenset({"tflite", "litert", "litertlm"})


def is_plain_failure(text: str, severity: str) -> bool:
    """Return whether a line plainly shows a failure, although nothing is known about the line."""
    spend_steps(len(text) // CHARACTERS_IN_A_STEP + 1, "reading the log")
    if severity not in ("", "E", "F") or FORMS["no-words"].fullmatch(text) or FORMS["no-failure"].search(text):
        return False
    return bool(severity) or FORMS["failure"].search(text) is not None


def statement_of(text: str) -> tuple[Statement, Pattern, int] | None:
    """Return the first statement in a line, the matched pattern, and the end of the match. Return None if no pattern matches."""
    steps = len(text) // CHARACTERS_IN_A_STEP + 1
    spend_steps(steps + _STEPS_FOR_NEEDLES, "reading the log")
    if FORMS["no-words"].fullmatch(text) is not None:
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
    if FORMS["no-words"].fullmatch(line) is not None:
        return None
    is_of_runtime = FORMS["runtime-tag"].fullmatch(tag) or _RUNTIME_WORDS.search(line) is not None
    values = MappingProxyType({"source": source} if source else {})
    is_failure = FORMS["failed-to"].match(line) is not None
    if severity in ("E", "F") and is_of_runtime:
        return Statement(Event.RUNTIME_ERROR, line, MappingProxyType({}))
    if source and severity == "W" and is_failure:
        return Statement(Event.WARNED, line, values)
    is_error = severity in ("E", "F") or bool(source and not severity and is_failure)
    if is_error and (source or tag in _OWN_TAGS or not tag) and _VENDOR.search(line) is None:
        return Statement(Event.FAILURE if is_failure else Event.OTHER_ERROR, line, values)
    for kind, is_one in (
        (Event.MEASURED, _MEASURED.search(line)),
        (Event.PROGRESS, _PROGRESS.search(line)),
        (Event.RUNTIME, is_of_runtime),
        (Event.VENDOR, tag.lower().startswith(("qnn", "hta")) or _VENDOR.search(line)),
        (Event.LITERT, source or tag == "litert" or _LITERT_WORDS.search(line)),
    ):
        if is_one:
            return Statement(kind, line, values)
    return None
