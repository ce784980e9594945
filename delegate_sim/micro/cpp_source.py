"""Read C++ source: remove comments and code that is never compiled, and move string literals to a list.

Macros are not expanded. If the value of a condition such as ``#ifdef NAME`` is unknown, the code of all branches stays.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from ..foundation.work_budget import spend_steps

_SPLICE = re.compile(r"\\\r?\n")
_TOKENS = re.compile(
    r"""
    (?P<comment> //[^\n]* | /\*.*?(?:\*/|\Z) )
  | (?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\((?P<raw>.*?)(?:\)(?P=mark)"|\Z)
  | (?:u8|[uUL])?"(?P<string>[^"\\\n]*(?:\\.[^"\\\n]*)*)"?
  | (?P<character>'[^'\\\n]*(?:\\.[^'\\\n]*)*'?)
  | \d[\w.]*(?:'[\w.]+)*
  | \w+
    """,
    re.VERBOSE | re.DOTALL,
)
"""Comments and literals, and text in which a quote does not start a literal: numbers such as ``1'000``, and words."""
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w*)(.*)")
_LITERAL_CONDITIONS = {"0": False, "false": False, "1": True, "true": True}


@dataclass(frozen=True, slots=True)
class CppSource:
    """The code of a C++ file, and its string literals."""

    code: str
    """The code in one line, with single spaces. The string literal with index N of ``strings`` is written as ``"N"``."""
    strings: tuple[str, ...]

    def string(self, literals: str) -> str:
        """Return the text of one or more adjacent literals of ``code``."""
        return "".join(self.strings[int(index)] for index in re.findall(r"\d+", literals))


def read_cpp(text: str) -> CppSource:
    """Return the code that the compiler may see, and the string literals of the whole text. Raises LimitError."""
    spend_steps(len(text), "reading C++ source")  # a token may be a single character
    strings: list[str] = []

    def replacement(token: re.Match[str]) -> str:
        if token["comment"] is not None or token["character"] is not None:
            return " "
        if token["raw"] is None and token["string"] is None:
            return token[0]
        strings.append(_unescaped(token["string"]) if token["raw"] is None else token["raw"])
        return f'"{len(strings) - 1}"'

    code = _TOKENS.sub(replacement, _SPLICE.sub("", text))
    return CppSource(" ".join(_without_skipped_branches(code).split()), tuple(strings))


def _unescaped(literal: str) -> str:
    """Return the text of a literal. If an escape sequence is not valid in JSON, the literal is returned unchanged."""
    try:
        return str(json.loads(f'"{literal}"'))
    except ValueError:
        return literal


@dataclass(slots=True)
class _Conditional:
    """The state of an ``#if`` before its ``#endif`` is read."""

    is_kept: bool
    """Whether the current branch may be compiled."""
    is_decided: bool
    """Whether the current branch or an earlier branch is always compiled. Later branches are then never compiled."""


def _without_skipped_branches(code: str) -> str:
    """Return code without the branches that are never compiled because of a literal condition, such as ``#if 0``."""
    lines: list[str] = []
    conditionals: list[_Conditional] = []
    skipped = 0  # the number of conditionals whose current branch is never compiled
    for line in code.split("\n"):
        directive = _DIRECTIVE.match(line)
        word = directive[1] if directive else ""
        value = _LITERAL_CONDITIONS.get(directive[2].strip(" \t\r()")) if directive and word in ("if", "elif") else None
        if word in ("if", "ifdef", "ifndef"):
            conditionals.append(_Conditional(value is not False, value is True))
            skipped += not conditionals[-1].is_kept
        elif word == "endif":
            if conditionals:
                skipped -= not conditionals.pop().is_kept
        elif word in ("elif", "elifdef", "elifndef", "else"):
            if conditionals:
                last = conditionals[-1]
                skipped -= not last.is_kept
                last.is_kept = value is not False and not last.is_decided
                last.is_decided = last.is_decided or value is True
                skipped += not last.is_kept
        elif not skipped:
            lines.append(line)
    return "\n".join(lines)
