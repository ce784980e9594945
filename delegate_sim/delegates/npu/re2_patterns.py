r"""Patterns of RE2, matched in time that grows with the length of the text.

A pattern is compiled into a nondeterministic automaton. Matching follows all of its states at once, one character after the
other, and keeps the steps that were already taken. Sets of characters are ranges. Python's ``re`` only tests positions, because
it takes exponential time for some patterns, and milliseconds to compile a class with a wide range. The package ``google-re2`` is
not used, because only the op filters of one plugin need RE2.

Source: RE2's documented syntax (google/re2, ``doc/syntax.txt``). Unlike ``re``, RE2 has no back references, lookaround, atomic
groups or possessive repetitions. RE2 limits repetition counts, and products of nested counts, to 1000 (``RepetitionWalker``,
``parse.cc``). Unlike ``re``, RE2 supports classes such as ``[:alpha:]``, and the escapes ``\Q...\E`` and ``\z``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ...foundation.work_budget import spend_steps, work_budget

Range: TypeAlias = "tuple[int, int]"
"""The first and the last character of a range."""
LAST = 0x10FFFF
_LETTERS = 26
_TO_OTHER_CASE = ((ord("A"), ord("a") - ord("A")), (ord("a"), ord("A") - ord("a")))
"""The first letter of each case, and the distance to the same letter of the other case."""


@dataclass(frozen=True, slots=True)
class CharacterSet:
    """A set of characters. ``bounds`` has the first character of each range and the one after the range, in order."""

    bounds: tuple[int, ...]

    def has(self, character: str) -> bool:
        """Return whether a character is in the set."""
        return bisect_right(self.bounds, ord(character)) % 2 == 1


def _ranges(ends: str) -> tuple[Range, ...]:
    return tuple([(ord(first), ord(last)) for first, last in zip(ends[::2], ends[1::2], strict=True)])


CLASSES = {
    "alnum": _ranges("09AZaz"),
    "alpha": _ranges("AZaz"),
    "ascii": _ranges("\x00\x7f"),
    "blank": _ranges("\t\t  "),
    "cntrl": _ranges("\x00\x1f\x7f\x7f"),
    "digit": _ranges("09"),
    "graph": _ranges("!~"),
    "lower": _ranges("az"),
    "print": _ranges(" ~"),
    "punct": _ranges("!/:@[`{~"),
    "space": _ranges("\t\r  "),
    "upper": _ranges("AZ"),
    "word": _ranges("09AZ__az"),
    "xdigit": _ranges("09AFaf"),
}
"""The ranges of classes such as ``[:alnum:]``."""
ESCAPED_CLASSES = {"d": CLASSES["digit"], "w": CLASSES["word"], "s": _ranges("\t\n\f\r  ")}
"""The ranges of classes such as ``\\d``."""


def others(ranges: Sequence[Range]) -> Sequence[Range]:
    """Return ranges of all characters that are in none of the ranges."""
    bounds = [0, *character_set(ranges).bounds, LAST + 1]
    return [(first, after - 1) for first, after in zip(bounds[::2], bounds[1::2], strict=True) if first < after]


def with_other_case(ranges: Sequence[Range]) -> Sequence[Range]:
    """Return the ranges, and ranges of their ASCII letters in the other case."""
    shifted = [
        (max(first, letter) + distance, min(last, letter + _LETTERS - 1) + distance)
        for first, last in ranges
        for letter, distance in _TO_OTHER_CASE
        if first < letter + _LETTERS and last >= letter
    ]
    return [*ranges, *shifted]


def character_set(ranges: Sequence[Range]) -> CharacterSet:
    """Return the set of the characters in ranges, which may overlap, in any order."""
    bounds: list[int] = []
    for first, last in sorted(ranges):
        if bounds and first <= bounds[-1]:
            bounds[-1] = max(bounds[-1], last + 1)
        else:
            bounds += (first, last + 1)
    return CharacterSet(tuple(bounds))


_MOST_REPEATS = 1000
_MOST_KEPT = 1 << 20
"""Largest number of states in all kept steps of a pattern."""
_STEPS_FOR_A_STATE, _STEPS_FOR_A_UNIT, _STEPS_FOR_A_RANGE = 4, 8, 3
_CHARACTERS_IN_A_STEP = 16
_CLASS = re.compile(r"\[:(\^?)(\w+):\]")
_REPEATS = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_GROUP = re.compile(r"\(\?(?:P<\w+>|<[A-Za-z_]\w*>|(?P<on>[imsU]*)(?:-(?P<off>[imsU]+))?(?P<end>[:)]))")
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
_LITERAL_ESCAPES = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_CODE = re.compile(r"\\(?:x(?P<hex>[0-9A-Fa-f]{2})|x\{(?P<long>[0-9A-Fa-f]{1,6})\}|(?P<octal>0[0-7]{0,2}|[1-7][0-7]{1,2}))")
ACTIVITY = "matching names with the patterns of op filters"


class _Invalid(Exception):
    pass


_Unit: TypeAlias = "CharacterSet | re.Pattern[str]"
"""One character, or a pattern of ``re`` that matches a position."""


@dataclass(frozen=True, slots=True)
class _Repetition:
    part: _Part
    least: int
    most: int | None
    is_counted: bool


@dataclass(slots=True)
class _Alternatives:
    flags: int
    alternatives: list[list[_Part]] = field(default_factory=lambda: [[]])


_Part: TypeAlias = "_Unit | _Repetition | _Alternatives"


class Re2Pattern:
    """A pattern of RE2. Raises ``ValueError`` if RE2 does not accept the pattern."""

    @work_budget()
    def __init__(self, pattern: str) -> None:
        self._states: list[tuple[_Unit | None, list[int]]] = []
        """For each state the unit that must match, or None, and the states that follow."""
        try:
            self._end = self._state(None, [])
            self._start = frozenset([self._compiled(_Parser(pattern).run(), self._end, _MOST_REPEATS)])
        except (_Invalid, re.error, OverflowError, RecursionError):
            raise ValueError("RE2 does not accept the pattern") from None
        self._steps: dict[tuple[frozenset[int], str, str], frozenset[int]] = {}
        self._kept = 0

    def fullmatch(self, text: str) -> bool:
        """Return whether the pattern matches the whole text."""
        states, before = self._start, ""
        spend_steps(len(text) // _CHARACTERS_IN_A_STEP, ACTIVITY)
        for after in (*text, ""):
            key = states, before, after
            following = self._steps.get(key)
            if following is None:
                following = self._following(*key)
                if self._kept > _MOST_KEPT:
                    self._steps.clear()
                    self._kept = 0
                self._steps[key] = following
                self._kept += 1 + len(states) + len(following)
            if not following:
                return False
            states, before = following, after
        return True

    def _following(self, states: frozenset[int], before: str, after: str) -> frozenset[int]:
        """Return the states after a character. At the end of the text, ``after`` is "", and only the end state is returned."""
        reached, waiting = set(states), list(states)
        following = set()
        while waiting:
            spend_steps(1, ACTIVITY)
            state = waiting.pop()
            unit, targets = self._states[state]
            if state == self._end and not after:
                following.add(state)
            elif isinstance(unit, CharacterSet):
                if after and unit.has(after):
                    following.update(targets)
            elif unit is None or unit.match(before + after, len(before)):
                waiting += [target for target in targets if target not in reached]
                reached.update(targets)
        return frozenset(following)

    def _state(self, unit: _Unit | None, targets: list[int]) -> int:
        spend_steps(_STEPS_FOR_A_STATE, ACTIVITY)
        self._states.append((unit, targets))
        return len(self._states) - 1

    def _compiled(self, part: _Part, following: int, repeats: int) -> int:
        """Add the states of a part, and return its first state. ``repeats`` is the largest product of counts in the part."""
        if isinstance(part, _Repetition):
            return self._repeated(part, following, repeats)
        if not isinstance(part, _Alternatives):
            return self._state(part, [following])
        starts = []
        for alternative in part.alternatives:
            start = following
            for inner in reversed(alternative):
                start = self._compiled(inner, start, repeats)
            starts.append(start)
        return self._state(None, starts)

    def _repeated(self, repeat: _Repetition, following: int, repeats: int) -> int:
        if repeat.is_counted:
            repeats //= max(repeat.least if repeat.most is None else repeat.most, 1)
            if not repeats:
                raise _Invalid
        start = following
        if repeat.most is None:
            start = self._state(None, [following])
            self._states[start][1].append(self._compiled(repeat.part, start, repeats))
        further = 0 if repeat.most is None else repeat.most - repeat.least
        for _ in range(min(further, _MOST_REPEATS)):
            start = self._state(None, [self._compiled(repeat.part, start, repeats), following])
        for _ in range(min(repeat.least, _MOST_REPEATS)):
            start = self._compiled(repeat.part, start, repeats)
        return start


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.is_repeated = False
        """True directly after a repetition. RE2 does not accept a repetition of a repetition."""
        self.groups = [_Alternatives(re.ASCII)]
        """The whole pattern, and the open groups in it."""

    def run(self) -> _Alternatives:
        while self.position < len(self.pattern):
            self._step()
        if len(self.groups) > 1:
            raise _Invalid
        return self.groups[0]

    def _step(self) -> None:
        character = self.pattern[self.position]
        was_repeated, self.is_repeated = self.is_repeated, False
        if character == "\\":
            self._escape()
        elif character == "[":
            self._bracket()
        elif character == "(":
            self._open()
        elif character == ")":
            if len(self.groups) == 1:
                raise _Invalid
            group = self.groups.pop()
            self.groups[-1].alternatives[-1].append(group)
            self.position += 1
        elif character == "|":
            self.groups[-1].alternatives.append([])
            self.position += 1
        elif character in "*+?" or (character == "{" and _REPEATS.match(self.pattern, self.position)):
            self._repeat(was_repeated)
        elif character in "^$":
            is_end_of_text = character == "$" and not self.groups[-1].flags & re.MULTILINE
            self._add_position(r"\Z" if is_end_of_text else character, 1)
        elif character == ".":
            self._add(others([] if self.groups[-1].flags & re.DOTALL else [(ord("\n"), ord("\n"))]), 1)
        else:
            self._add([(ord(character), ord(character))], 1)

    def _add(self, ranges: Sequence[Range], length: int, *, is_negated: bool = False) -> None:
        spend_steps(_STEPS_FOR_A_UNIT + _STEPS_FOR_A_RANGE * len(ranges), ACTIVITY)
        if self.groups[-1].flags & re.IGNORECASE:
            ranges = with_other_case(ranges)
        self.groups[-1].alternatives[-1].append(character_set(others(ranges) if is_negated else ranges))
        self.position += length

    def _add_position(self, text: str, length: int) -> None:
        spend_steps(_STEPS_FOR_A_UNIT, ACTIVITY)
        self.groups[-1].alternatives[-1].append(re.compile(text, re.ASCII | (self.groups[-1].flags & re.MULTILINE)))
        self.position += length

    def _repeat(self, was_repeated: bool) -> None:
        parts = self.groups[-1].alternatives[-1]
        if was_repeated or not parts:
            raise _Invalid
        match = _REPEATS.match(self.pattern, self.position)
        if match is None:
            sign = self.pattern[self.position]
            least, most = int(sign == "+"), 1 if sign == "?" else None
        else:
            least = _count(match[1])
            most = least if match[2] is None else _count(match[3]) if match[3] else None
            if most is not None and most < least:
                raise _Invalid
        parts[-1] = _Repetition(parts[-1], least, most, match is not None)
        self.position += 1 if match is None else len(match[0])
        if self.pattern[self.position : self.position + 1] == "?":
            self.position += 1
        self.is_repeated = True

    def _open(self) -> None:
        flags, length = self.groups[-1].flags, 1
        if self.pattern.startswith("(?", self.position):
            match = _GROUP.match(self.pattern, self.position)
            if match is None or "U" in f"{match['on'] or ''}{match['off'] or ''}":
                raise _Invalid
            for flag in match["on"] or "":
                flags |= _FLAGS[flag]
            for flag in match["off"] or "":
                flags &= ~_FLAGS[flag]
            length = len(match[0])
            if match["end"] == ")":
                self.groups[-1].flags = flags
                self.position += length
                return
        self.groups.append(_Alternatives(flags))
        self.position += length

    def _escape(self) -> None:
        following = self.pattern[self.position + 1 : self.position + 2]
        if following == "Q":
            end = self.pattern.find(r"\E", self.position)
            quoted = self.pattern[self.position + 2 : end if end >= 0 else None]
            for character in quoted:
                self._add([(ord(character), ord(character))], 0)
            self.position += len(quoted) + (4 if end >= 0 else 2)
        elif following in ("A", "z"):
            self._add_position(r"\A" if following == "A" else r"\Z", 2)
        elif following in ("b", "B"):
            self._add_position(r"\b" if following == "b" else r"(?!\b)", 2)  # in re, \B does not match an empty text
        else:
            self._add(self._escaped_class() or [(code := self._escaped_character(), code)], 0)

    def _escaped_class(self) -> Sequence[Range]:
        following = self.pattern[self.position + 1 : self.position + 2]
        if self.pattern[self.position] != "\\" or following.lower() not in ESCAPED_CLASSES:
            return ()
        self.position += 2
        return self._class(ESCAPED_CLASSES[following.lower()], is_negated=following.isupper())

    def _class(self, ranges: Sequence[Range], *, is_negated: bool) -> Sequence[Range]:
        if not is_negated:
            return ranges
        return others(with_other_case(ranges) if self.groups[-1].flags & re.IGNORECASE else ranges)

    def _escaped_character(self) -> int:
        match = _CODE.match(self.pattern, self.position)
        if match is not None:
            code = int(match["octal"], 8) if match["octal"] else int(match["hex"] or match["long"], 16)
            if code > LAST:
                raise _Invalid
            self.position += len(match[0])
            return code
        following = self.pattern[self.position + 1 : self.position + 2]
        if not following or (following.isalnum() and following not in _LITERAL_ESCAPES):
            raise _Invalid
        self.position += 2
        return ord(_LITERAL_ESCAPES.get(following, following))

    def _bracket(self) -> None:
        ranges: list[Range] = []
        self.position += 1
        is_negated = self.pattern.startswith("^", self.position)
        self.position += is_negated
        is_first = True
        while is_first or not self.pattern.startswith("]", self.position):
            if self.position >= len(self.pattern):
                raise _Invalid
            ranges += self._bracket_part()
            is_first = False
        self._add(ranges, 1, is_negated=is_negated)

    def _bracket_part(self) -> Sequence[Range]:
        match = _CLASS.match(self.pattern, self.position)
        if match is not None:
            if match[2] not in CLASSES:
                raise _Invalid
            self.position += len(match[0])
            return self._class(CLASSES[match[2]], is_negated=bool(match[1]))
        escaped = self._escaped_class()
        if escaped:
            return escaped
        first = last = self._bracket_character()
        if self.pattern.startswith("-", self.position) and not self.pattern.startswith("]", self.position + 1):
            self.position += 1
            last = self._bracket_character()
        if last < first:
            raise _Invalid
        return [(first, last)]

    def _bracket_character(self) -> int:
        if self.position >= len(self.pattern):
            raise _Invalid
        if self.pattern[self.position] == "\\":
            return self._escaped_character()
        self.position += 1
        return ord(self.pattern[self.position - 1])


def _count(digits: str) -> int:
    count = int(digits[:9])
    if len(digits) > 9 or count > _MOST_REPEATS:
        raise _Invalid
    return count
