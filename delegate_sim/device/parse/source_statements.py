"""Look up lines in the log statements of upstream sources. ``sources.tsv`` has the statements (``make log-statements``)."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from ...foundation.work_budget import spend_steps

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
    """Return the texts between the fields of a format, and the types of the fields."""
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
    """The components that have the statement."""
    severity: str
    """``V``, ``I``, ``W``, ``E`` or ``F``, or "" if the statement has none."""
    values: tuple[PrintedValue, ...]
    """The fields of the line, in order."""


@dataclass(frozen=True, slots=True)
class _KnownStatement:
    component: str
    severity: str
    form: str
    words: frozenset[str]

    @property
    def letters(self) -> int:
        """Number of letters in the fixed words."""
        return sum(map(len, self.words))


_MOST_WORDS = 64
"""Largest number of distinct words of a line that are looked up."""
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
        """The rows of the table, by their longest word."""
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
        """Return the statement that a line without prefixes matches, or None if the table has none.

        If several statements match, the result is the one with most fixed words.
        """
        line = text.strip()
        words = dict.fromkeys([match[0] for match in _WORD.finditer(line)][: 4 * _MOST_WORDS])
        known = dict.fromkeys(list(words)[:_MOST_WORDS]).keys()
        spend_steps(len(line) // 16 + len(known), "reading the log")
        best: list[tuple[_KnownStatement, tuple[PrintedValue, ...]]] = []
        for word in known:
            rows = self._by_word.get(word, ())
            spend_steps(len(rows) // _ROWS_IN_A_STEP, "reading the log")
            for row in rows:
                if not row.words <= known or (best and row.letters < best[0][0].letters):
                    continue
                spend_steps(_STEPS_OF_A_COMPARISON, "reading the log")
                if (values := _values(row, line)) is not None:
                    best = [*(best if best and row.letters == best[0][0].letters else []), (row, values)]
        components = sorted({row.component for row, _ in best})
        if not components or len(components) > _MOST_COMPONENTS:
            return None
        severities = {row.severity for row, _ in best}
        return SourceStatement(tuple(components), severities.pop() if len(severities) == 1 else "", best[0][1])


def _values(row: _KnownStatement, line: str) -> tuple[PrintedValue, ...] | None:
    """Return the fields of a line, or None if the line does not match."""
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
    letters = sum(map(str.isalpha, line[begin:position]))
    is_covered = position - begin >= _LEAST_COVERED * len(line) and row.letters >= _LEAST_FIXED * letters
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
    """Return a field as a number if it is one and may be one."""
    if kind in "dv" and _NUMBERS["d"].fullmatch(text):
        return int(text)
    return float(text) if kind in "fv" and _NUMBERS["f"].fullmatch(text) else text
