"""Google's op filters. A text file has patterns, and each pattern matches nodes by the names of their results.

Source: ``ReadOpFilters`` and ``GetFilterOutcome`` (``litert/vendors/google_tensor/compiler/compiler_plugin.cc``). The file is an
``OpFilters`` message in text format, with a ``filter_behavior`` and ``filters``. Each filter has an ``op_name_pattern``. This
module parses the file without ``protobuf``, because ``protobuf`` is an optional dependency and needs a compiled definition of the
message.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...foundation.files import read_whole
from ...foundation.parsing.invalid_value import InvalidValueError
from ...foundation.work_budget import spend_steps
from .re2_patterns import ACTIVITY, Re2Pattern

NOT_ON_TPU, ON_TPU = "MATCHES_NOT_RUN_ON_TPU", "MATCHES_RUN_ON_TPU"
_BEHAVIORS = {NOT_ON_TPU: NOT_ON_TPU, ON_TPU: ON_TPU, "0": NOT_ON_TPU, "1": ON_TPU}

_TOKEN = re.compile(
    r"""\s+ | \#[^\n]* | (?P<word>[A-Za-z_][A-Za-z0-9_]*) | (?P<number>-?[0-9]+)
    | (?P<text>"(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*') | (?P<sign>[{}<>\[\]:;,])""",
    re.VERBOSE,
)
_MESSAGE_SIGNS = frozenset("{:<#\n")
_CLOSING = {"{": "}", "<": ">"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|(.))", re.DOTALL)

_STEPS_FOR_A_TOKEN, _STEPS_FOR_A_LINE = 2, 20
_LARGEST_FILE = 1 << 20
_BYTES_IN_A_STEP = 64

UNREADABLE, UNPARSABLE = "unreadable", "unparsable"


@dataclass(frozen=True, slots=True)
class FilterMatch:
    """The filters' decision on a node: whether the node may run on the TPU, the log lines, and the matching pattern."""

    is_kept: bool
    lines: tuple[str, ...] = ()
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class OpFilters:
    """The filters in a filter file, and the fault of this file, if any: ``UNREADABLE`` or ``UNPARSABLE``."""

    behavior: str = NOT_ON_TPU
    patterns: tuple[str, ...] = ()
    fault: str = ""
    compiled: tuple[Re2Pattern | None, ...] = field(default=(), compare=False)
    """The patterns, ready to match; None for a pattern that RE2 does not accept."""

    @property
    def keeps_all(self) -> bool:
        """Whether the filters allow every node on the TPU."""
        return not self.patterns and self.behavior == NOT_ON_TPU

    def match(self, names: Sequence[str]) -> FilterMatch:
        """Return the filters' decision on a node that has results with these names."""
        if not self.patterns or not names:
            return FilterMatch(self.behavior == NOT_ON_TPU)
        lines: list[str] = []
        for pattern, compiled in zip(self.patterns, self.compiled, strict=True):
            spend_steps(1 if pattern else _STEPS_FOR_A_LINE, ACTIVITY)
            if not pattern:
                lines.append("Empty op_name_pattern in OpFilter.")
                continue
            matched = next((name for name in names if compiled is not None and compiled.fullmatch(name)), None)
            if matched is not None:
                where = "will RUN ON TPU" if self.behavior == ON_TPU else "will NOT RUN ON TPU"
                lines.append(f"Op with output tensor '{matched}' {where} due to {self.behavior} filter pattern '{pattern}'")
                return FilterMatch(self.behavior == ON_TPU, tuple(lines), pattern)
        return FilterMatch(self.behavior == NOT_ON_TPU, tuple(lines))


@dataclass(frozen=True, slots=True)
class FilterFile:
    """The value of an option with op filters: the text of the filters, and the path of their file if they are in a file.

    ``content`` is None if the file cannot be read.
    """

    content: str | None
    path: str | None = None

    def __str__(self) -> str:
        # Reports must not show the content of a file. Committed baselines contain this text, so it must not depend on the folder.
        return (self.content or "") if self.path is None else os.path.basename(self.path)


def is_content(value: str) -> bool:
    """Return whether a text is the content of a filter file, and not the path of the file."""
    return not value.strip() or not _MESSAGE_SIGNS.isdisjoint(value)


def filter_file(value: Any) -> FilterFile:
    """Parse the option ``op_filters``: the text of a filter file, the path of the file, or None for a file that cannot be read.

    The plugin reports faults in the file later.
    """
    if isinstance(value, FilterFile):
        return value
    if value is None:
        return FilterFile(None)
    if not isinstance(value, str):
        raise InvalidValueError("takes op filters as text, or the path of a file with op filters", value)
    if is_content(value):
        return FilterFile(value)
    try:
        content = read_whole(value, _LARGEST_FILE)
    except (OSError, ValueError):
        return FilterFile(None, value)
    spend_steps(len(content) // _BYTES_IN_A_STEP, "reading op filters")  # the text is kept, once for each target
    return FilterFile(content.decode("utf-8", "replace"), value)


class _FilterFault(Exception):
    pass


def parsed(text: str) -> OpFilters:
    """Parse the text of a filter file. If the text is not an ``OpFilters`` message, the result has the fault ``UNPARSABLE``."""
    try:
        tokens = _Tokens(text)
        filters = _message(tokens)
    except _FilterFault:
        return OpFilters(fault=UNPARSABLE)
    return replace(filters, compiled=tuple(map(_compiled, filters.patterns)))


def _compiled(pattern: str) -> Re2Pattern | None:
    try:
        return Re2Pattern(pattern)
    except ValueError:
        return None


class _Tokens:
    def __init__(self, text: str) -> None:
        self._found = list(_tokens(text))
        self._next = 0

    def peek(self) -> tuple[str, str]:
        return self._found[self._next] if self._next < len(self._found) else ("end", "")

    def take(self) -> tuple[str, str]:
        token = self.peek()
        self._next += 1
        return token

    def accept(self, *signs: str) -> str:
        kind, value = self.peek()
        if kind == "sign" and value in signs:
            self._next += 1
            return value
        return ""

    def end_field(self) -> None:
        self.accept(";", ",")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _FilterFault
        position = match.end()
        spend_steps(_STEPS_FOR_A_TOKEN, "reading op filters")
        if match.lastgroup is not None:
            yield match.lastgroup, match.group()


def _message(tokens: _Tokens) -> OpFilters:
    behavior: str | None = None
    patterns: list[str] = []
    while tokens.peek()[0] != "end":
        kind, name = tokens.take()
        if (kind, name) == ("word", "filter_behavior") and behavior is None:
            behavior = _behavior(tokens)
        elif (kind, name) == ("word", "filters"):
            patterns += _filters(tokens)
        else:
            raise _FilterFault
        tokens.end_field()
    return OpFilters(behavior or NOT_ON_TPU, tuple(patterns))


def _behavior(tokens: _Tokens) -> str:
    if not tokens.accept(":"):
        raise _FilterFault
    kind, value = tokens.take()
    if kind not in ("word", "number") or value not in _BEHAVIORS:
        raise _FilterFault
    return _BEHAVIORS[value]


def _filters(tokens: _Tokens) -> Iterator[str]:
    has_colon = tokens.accept(":")
    if not tokens.accept("["):
        yield _filter(tokens)
        return
    if not has_colon:
        raise _FilterFault
    while not tokens.accept("]"):
        yield _filter(tokens)
        if not tokens.accept(",") and tokens.peek() != ("sign", "]"):
            raise _FilterFault


def _filter(tokens: _Tokens) -> str:
    opening = tokens.accept(*_CLOSING)
    if not opening:
        raise _FilterFault
    pattern: str | None = None
    while not tokens.accept(_CLOSING[opening]):
        if tokens.take() != ("word", "op_name_pattern") or not tokens.accept(":") or pattern is not None:
            raise _FilterFault
        pattern = _text(tokens)
        tokens.end_field()
    return pattern or ""


def _text(tokens: _Tokens) -> str:
    if tokens.peek()[0] != "text":
        raise _FilterFault
    text = ""
    while tokens.peek()[0] == "text":
        text += _ESCAPE.sub(_unescaped, tokens.take()[1][1:-1])
    return text


def _unescaped(match: re.Match[str]) -> str:
    octal, hexadecimal, unicode, other = match.groups()
    if octal:
        return chr(int(octal, 8))
    if hexadecimal or unicode:
        return chr(int(hexadecimal or unicode, 16))
    if other in _ESCAPES:
        return _ESCAPES[other]
    if other in "\\'\"?":
        return str(other)
    raise _FilterFault
