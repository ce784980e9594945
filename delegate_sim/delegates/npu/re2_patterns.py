r"""Translation of RE2's regular expressions to Python's ``re``.

Parts of a pattern that mean something else in ``re`` are rewritten. Patterns that RE2 does not accept are not translated. The
compiled package ``google-re2`` is not used, because only the op filters of one plugin need RE2.

Source: RE2's documented syntax (google/re2, ``doc/syntax.txt``). Unlike ``re``, RE2 has no back references, lookaround, atomic
groups or possessive repetitions. RE2 limits repetition counts to 1000. Unlike ``re``, RE2 supports classes such as ``[:alpha:]``,
and the escapes ``\Q...\E`` and ``\z``.
"""

from __future__ import annotations

import functools
import re

_MOST_REPEATS = 1000
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
_REPEATS = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_GROUP = re.compile(r"\(\?(?:P<\w+>|<[A-Za-z_]\w*>|(?P<flags>[imsU]*(?:-[imsU]+)?)(?P<end>[:)]))")
_LITERAL_ESCAPES = {"a": r"\x07", "f": r"\x0c", "t": r"\t", "n": r"\n", "r": r"\r", "v": r"\x0b"}
_KEPT_ESCAPES = frozenset("dDwWbB")


class _Invalid(Exception):
    """Raised if RE2 does not accept a pattern."""


@functools.lru_cache(maxsize=64)
def translated(pattern: str) -> re.Pattern[str] | None:
    """Return an RE2 pattern as a compiled pattern of Python's ``re``, or None if RE2 does not accept the pattern."""
    try:
        return re.compile(_Translator(pattern).run(), re.ASCII)
    except (_Invalid, re.error, OverflowError, RecursionError):
        return None


class _Translator:
    """A translator that reads one RE2 pattern once, from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.found: list[str] = []
        self.is_repeated = False
        """True directly after a repetition. RE2 does not accept a repetition of a repetition."""
        self.flag_groups = [0]
        """The number of extra ``re`` groups that were opened for flags, at the top level and in each open group."""

    def run(self) -> str:
        while self.position < len(self.pattern):
            self._step()
        if len(self.flag_groups) > 1:
            raise _Invalid
        return "".join(self.found) + _closing(self.flag_groups[0])

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
        elif character in "*+?" or (character == "{" and _REPEATS.match(self.pattern, self.position)):
            self._repeat(was_repeated)
        elif character == "$":
            self._add(r"\Z", 1)
        else:
            self._add(r"\{" if character == "{" else character, 1)

    def _add(self, text: str, length: int) -> None:
        self.found.append(text)
        self.position += length

    def _repeat(self, was_repeated: bool) -> None:
        if was_repeated:
            raise _Invalid
        match = _REPEATS.match(self.pattern, self.position)
        if match is not None and max(int(match[1]), int(match[2] or 0)) > _MOST_REPEATS:
            raise _Invalid
        self._add(match[0] if match is not None else self.pattern[self.position], len(match[0]) if match is not None else 1)
        if self.pattern[self.position : self.position + 1] == "?":
            self._add("?", 1)
        self.is_repeated = True

    def _open(self) -> None:
        if not self.pattern.startswith("(?", self.position):
            self.flag_groups.append(0)
            self._add("(", 1)
            return
        match = _GROUP.match(self.pattern, self.position)
        if match is None or "U" in (match["flags"] or ""):
            raise _Invalid
        if match["end"] is None:
            self.flag_groups.append(0)
            self._add("(", len(match[0]))
        elif match["end"] == ":":
            self.flag_groups.append(0)
            self._add(match[0], len(match[0]))
        else:
            # Flags apply until the end of the enclosing group, so an extra group stays open until then.
            self.flag_groups[-1] += 1
            self._add(f"(?{match['flags']}:" if match["flags"] else "(?:", len(match[0]))

    def _close(self) -> None:
        if len(self.flag_groups) == 1:
            raise _Invalid
        self._add(_closing(1 + self.flag_groups.pop()), 1)

    def _escape(self) -> None:
        following = self.pattern[self.position + 1 : self.position + 2]
        if following == "Q":
            end = self.pattern.find(r"\E", self.position)
            quoted = self.pattern[self.position + 2 : end if end >= 0 else None]
            self._add(re.escape(quoted), len(quoted) + (4 if end >= 0 else 2))
        elif following in ("A", "z"):
            self._add(r"\A" if following == "A" else r"\Z", 2)
        else:
            text, length = self._character_escape()
            self._add(text, length)

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
        self.found.append("".join(parts) + "]")

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


def _closing(groups: int) -> str:
    return ")" * groups  # bounded: groups in the pattern
