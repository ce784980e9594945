r"""Patterns of RE2, matched in time that grows with the length of the text.

A pattern is compiled into a nondeterministic automaton. Matching follows all of its states at once, one character after the
other, and keeps the steps that were already taken. Python's ``re`` only tests single characters and positions, because it takes
exponential time for some patterns. The package ``google-re2`` is not used, because only the op filters of one plugin need RE2.

Source: RE2's documented syntax (google/re2, ``doc/syntax.txt``). Unlike ``re``, RE2 has no back references, lookaround, atomic
groups or possessive repetitions. RE2 limits repetition counts, and products of nested counts, to 1000 (``RepetitionWalker``,
``parse.cc``). Unlike ``re``, RE2 supports classes such as ``[:alpha:]``, and the escapes ``\Q...\E`` and ``\z``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias

from ...foundation.work_budget import spend_steps, work_budget

_MOST_REPEATS = 1000
_MOST_KEPT = 1 << 20
"""Largest number of states in all kept steps of a pattern."""
_STEPS_FOR_A_STATE, _STEPS_FOR_A_UNIT = 4, 50
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_CLASS = re.compile(r"\[:(\^?)(\w+):\]")
_REPEATS = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_GROUP = re.compile(r"\(\?(?:P<\w+>|<[A-Za-z_]\w*>|(?P<on>[imsU]*)(?:-(?P<off>[imsU]+))?(?P<end>[:)]))")
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
_LITERAL_ESCAPES = {"a": r"\x07", "f": r"\x0c", "t": r"\t", "n": r"\n", "r": r"\r", "v": r"\x0b"}
_KEPT_ESCAPES = frozenset("dDwWbB")
_ACTIVITY = "matching names with the patterns of op filters"


class _Invalid(Exception):
    """Raised if RE2 does not accept a pattern."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """A character (``width`` 1) or a position (``width`` 0), which ``test`` matches."""

    test: re.Pattern[str]
    width: int


@dataclass(frozen=True, slots=True)
class _Repeat:
    """A part that is repeated at least ``least`` times, and at most ``most`` times or without limit."""

    part: _Part
    least: int
    most: int | None
    is_counted: bool


@dataclass(slots=True)
class _Group:
    """A group: the alternatives, each with its parts in order, and the flags at the current position in the group."""

    flags: int
    alternatives: list[list[_Part]] = field(default_factory=lambda: [[]])


_Part: TypeAlias = "_Unit | _Repeat | _Group"


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
            spend_steps(1, _ACTIVITY)
            state = waiting.pop()
            unit, targets = self._states[state]
            if state == self._end and not after:
                following.add(state)
            elif unit is not None and unit.width:
                if after and unit.test.match(after):
                    following.update(targets)
            elif unit is None or unit.test.match(before + after, len(before)):
                waiting += [target for target in targets if target not in reached]
                reached.update(targets)
        return frozenset(following)

    def _state(self, unit: _Unit | None, targets: list[int]) -> int:
        spend_steps(_STEPS_FOR_A_STATE, _ACTIVITY)
        self._states.append((unit, targets))
        return len(self._states) - 1

    def _compiled(self, part: _Part, following: int, repeats: int) -> int:
        """Add the states of a part, and return its first state. ``repeats`` is the largest product of counts in the part."""
        if isinstance(part, _Unit):
            return self._state(part, [following])
        if isinstance(part, _Repeat):
            return self._repeated(part, following, repeats)
        starts = []
        for alternative in part.alternatives:
            start = following
            for inner in reversed(alternative):
                start = self._compiled(inner, start, repeats)
            starts.append(start)
        return self._state(None, starts)

    def _repeated(self, repeat: _Repeat, following: int, repeats: int) -> int:
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
    """A parser that reads one RE2 pattern once, from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.is_repeated = False
        """True directly after a repetition. RE2 does not accept a repetition of a repetition."""
        self.groups = [_Group(re.ASCII)]
        """The whole pattern, and the open groups in it."""

    def run(self) -> _Group:
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
            self._close()
        elif character == "|":
            self.groups[-1].alternatives.append([])
            self.position += 1
        elif character in "*+?" or (character == "{" and _REPEATS.match(self.pattern, self.position)):
            self._repeat(was_repeated)
        elif character in "^$":
            is_end_of_text = character == "$" and not self.groups[-1].flags & re.MULTILINE
            self._add(r"\Z" if is_end_of_text else character, 1, width=0)
        else:
            self._add("." if character == "." else re.escape(character), 1)

    def _add(self, text: str, length: int, *, width: int = 1) -> None:
        """Add a unit that the text describes in the syntax of ``re``, and skip ``length`` characters."""
        spend_steps(_STEPS_FOR_A_UNIT, _ACTIVITY)
        self.groups[-1].alternatives[-1].append(_Unit(re.compile(text, self.groups[-1].flags), width))
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
        parts[-1] = _Repeat(parts[-1], least, most, match is not None)
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
        self.groups.append(_Group(flags))
        self.position += length

    def _close(self) -> None:
        if len(self.groups) == 1:
            raise _Invalid
        group = self.groups.pop()
        self.groups[-1].alternatives[-1].append(group)
        self.position += 1

    def _escape(self) -> None:
        following = self.pattern[self.position + 1 : self.position + 2]
        if following == "Q":
            end = self.pattern.find(r"\E", self.position)
            quoted = self.pattern[self.position + 2 : end if end >= 0 else None]
            for character in quoted:
                self._add(re.escape(character), 0)
            self.position += len(quoted) + (4 if end >= 0 else 2)
        elif following in ("A", "z"):
            self._add(r"\A" if following == "A" else r"\Z", 2, width=0)
        else:
            text, length = self._character_escape()
            self._add(text, length, width=0 if following in ("b", "B") else 1)

    def _character_escape(self) -> tuple[str, int]:
        following = self.pattern[self.position + 1 : self.position + 2]
        if following == "x":
            match = re.compile(r"\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})").match(self.pattern, self.position)
            if match is None:
                raise _Invalid
            return re.escape(chr(int(match[1] or match[2], 16))), len(match[0])
        if following in ("s", "S"):
            return (r"[\t\n\f\r ]" if following == "s" else r"[^\t\n\f\r ]"), 2
        if following in _LITERAL_ESCAPES:
            return _LITERAL_ESCAPES[following], 2
        if following in _KEPT_ESCAPES or (following and not following.isalnum()):
            return f"\\{following}", 2
        if following == "0":
            match = re.compile(r"\\0[0-7]{0,2}").match(self.pattern, self.position)
            return (match[0], len(match[0])) if match is not None else (r"\0", 2)
        raise _Invalid

    def _bracket(self) -> None:
        start = self.position
        parts = ["["]
        self.position += 1
        if self.pattern[self.position : self.position + 1] == "^":
            parts.append("^")
            self.position += 1
        is_first = True
        while is_first or self.pattern[self.position : self.position + 1] != "]":
            if self.position >= len(self.pattern):
                raise _Invalid
            parts.append(self._bracket_part())
            is_first = False
        self.position += 1
        if start == self.position:
            raise _Invalid
        self._add("".join(parts) + "]", 0)

    def _bracket_part(self) -> str:
        match = _CLASS.match(self.pattern, self.position)
        if match is not None:
            if match[1] or match[2] not in _CLASSES:
                raise _Invalid
            self.position += len(match[0])
            return _CLASSES[match[2]]
        character = self.pattern[self.position]
        if character == "\\":
            if self.pattern[self.position + 1 : self.position + 2] in ("s", "S", "b", "B"):
                return self._space_in_bracket()
            text, length = self._character_escape()
            self.position += length
            return text
        self.position += 1
        return f"\\{character}" if character in "[&~|]" else character

    def _space_in_bracket(self) -> str:
        following = self.pattern[self.position + 1]
        self.position += 2
        if following != "s":
            raise _Invalid
        return r"\t\n\f\r "


def _count(digits: str) -> int:
    """Return a repetition count. Raise _Invalid if the count is too large."""
    count = int(digits[:9])
    if len(digits) > 9 or count > _MOST_REPEATS:
        raise _Invalid
    return count
