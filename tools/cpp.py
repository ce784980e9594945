"""Find functions, classes and tables in C++ text, and the branches of a function whose condition matches a pattern.

The text is not compiled: macros are not expanded, and only the first branch of ``#if`` is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKENS = re.compile(
    r"""
    (?P<comment> //[^\n]* | /\*.*?\*/ )
  | (?P<text> R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)" | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+' )
  | (?P<number> \b\d(?:'?[\w.])* )
    """,
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*\#[ \t]*(\w*)[ \t]*((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
_MARKS = re.compile(r"[{};]|\b(?:public|private|protected)\s*:(?!:)")
_ACCESS = re.compile(r"\w")
_TYPE = re.compile(
    r"""
    ^ (?:typedef\s+)? (?:class|struct|union|enum(?:\s+(?:class|struct))?)\b
    [^(=]*? (?P<name>(?:\w+::)*\w+) \s* (?:final\s*)?
    (?: :(?!:)[^=]* )? $
    """,
    re.VERBOSE,
)
_VARIABLE = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*=(?!=)")
_FUNCTION = re.compile(r"((?:~?\w+\s*::\s*)*~?\w+)\s*\(")
_INITIALIZERS = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)")
_LABEL = re.compile(r"\b(?:case\b((?:[^:;{}]|::)*)|default\s*):(?!:)")


@dataclass(frozen=True, slots=True)
class Definition:
    """A function with its body, a class, a table or an alias; ``end`` is behind its last character."""

    name: str
    """Qualified by its classes, not by its namespaces."""
    header: str
    """The text before the body, in one line."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Scope:
    name: str
    """Empty for a namespace."""
    header: str
    start: int


class CppText:
    """C++ text, and its copies of the same length without comments and without strings."""

    def __init__(self, text: str) -> None:
        self.text = _blanked(text, "comment")
        self.code = _without_directives(_blanked(self.text, "text"))

    def line(self, position: int) -> int:
        """Return the number of the line that a character is in, from 1."""
        return self.text.count("\n", 0, position) + 1

    def lines(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and the last line with code between two positions."""
        piece = self.code[start:end]
        return self.line(start + len(piece) - len(piece.lstrip())), self.line(start + len(piece.rstrip()) - 1)

    def definitions(self) -> Iterator[Definition]:
        """Yield the definitions of the file, except those inside functions."""
        scopes: list[_Scope] = []
        start = position = 0
        while mark := _MARKS.search(self.code, position):
            position = mark.end()
            header = self.code[start : mark.start()]
            if _ACCESS.match(mark[0]):
                start = position
            elif header.count("(") > header.count(")"):
                position = _end_of_block(self.code, mark.start()) if mark[0] == "{" else position
            elif mark[0] == ";":
                yield from _definition(scopes, header, start, position, _variable(header))
                start = position
            elif mark[0] == "}":
                scope = scopes.pop() if scopes else _Scope("", "", 0)
                if scope.name:
                    yield from _definition(scopes, scope.header, scope.start, position, scope.name)
                start = position
            else:
                name = _type(header)
                if re.search(r"\b(?:namespace|extern)\b[^()=]*$", header) or (name and "enum" not in header):
                    scopes.append(_Scope(name, header, start))
                    start = position
                    continue
                position = _end_of_block(self.code, mark.start())
                if not name and (_variable(header) or _opens_initializer(header)):
                    continue
                yield from _definition(scopes, header, start, position, name or _function(header))
                start = position

    def branches(self, start: int, end: int, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
        """Return the outermost branches of a function whose ``case`` labels match; if none does, those of ``if`` and loops."""
        matching = list(self._cases(start, end, pattern)) or list(self._conditional(start, end, pattern))
        outermost = min([depth for depth, _ in matching], default=0)
        return list(dict.fromkeys([branch for depth, branch in matching if depth == outermost]))

    def _cases(self, start: int, end: int, pattern: re.Pattern[str]) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yield the branches behind labels that match, each with its depth; labels that share a branch belong to it."""
        labels = list(self._labels(start, end))
        for index, (position, behind, depth) in enumerate(labels):
            if not pattern.search(self.text, position, behind):
                continue
            first = last = index
            while first and not self.code[labels[first - 1][1] : labels[first][0]].strip():
                first -= 1
            while last + 1 < len(labels) and not self.code[labels[last][1] : labels[last + 1][0]].strip():
                last += 1
            following = [other for other, _, at in labels[last + 1 :] if at <= depth]
            closing = _end_of_enclosing(self.code, labels[last][1], end)
            yield depth, (labels[first][0], min([*following[:1], closing]))

    def _conditional(self, start: int, end: int, pattern: re.Pattern[str]) -> Iterator[tuple[int, tuple[int, int]]]:
        for condition in re.compile(r"\b(?:if|for|while)\s*\(").finditer(self.code, start, end):
            opening = condition.end() - 1
            behind = _end_of_block(self.code, opening, "()")
            if pattern.search(self.text, opening, behind):
                yield self._depth(start, condition.start()), (condition.start(), self._end_of_statement(behind))

    def _labels(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        for label in _LABEL.finditer(self.code, start, end):
            yield label.start(), label.end(), self._depth(start, label.start())

    def _depth(self, start: int, position: int) -> int:
        return self.code.count("{", start, position) - self.code.count("}", start, position)

    def _end_of_statement(self, position: int) -> int:
        mark = re.compile(r"[{;]").search(self.code, position)
        if mark is None:
            return len(self.code)
        return _end_of_block(self.code, mark.start()) if mark[0] == "{" else mark.end()


def _blanked(text: str, group: str) -> str:
    """Return a text with its comments, or its strings, as spaces."""
    return _TOKENS.sub(lambda token: _spaces(token[0]) if token[group] is not None else token[0], text)


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _without_directives(text: str) -> str:
    """Return a text without preprocessor lines, and without the code behind ``#else``, ``#elif`` or ``#if 0``."""
    pieces: list[str] = []
    position = 0
    skipping: list[bool] = []
    for directive in _DIRECTIVE.finditer(text):
        before = text[position : directive.start()]
        pieces += [_spaces(before) if any(skipping) else before, _spaces(directive[0])]
        position = directive.end()
        if directive[1].startswith("if"):
            skipping.append(directive[1] == "if" and directive[2].strip() == "0")
        elif directive[1].startswith("el") and skipping:
            skipping[-1] = not (skipping[-1] and directive[1] == "else")
        elif directive[1] == "endif" and skipping:
            skipping.pop()
    return "".join(pieces) + text[position:]


def _end_of_block(code: str, opening: int, pair: str = "{}") -> int:
    """Return the position behind the bracket that closes the one at a position."""
    depth = 0
    for mark in re.compile(f"[{re.escape(pair)}]").finditer(code, opening):
        depth += 1 if mark[0] == pair[0] else -1
        if depth == 0:
            return mark.end()
    return len(code)


def _end_of_enclosing(code: str, position: int, end: int) -> int:
    """Return the position of the brace that closes the block around a position."""
    depth = 1
    for mark in re.compile(r"[{}]").finditer(code, position, end):
        depth += 1 if mark[0] == "{" else -1
        if depth == 0:
            return mark.start()
    return end


def _definition(scopes: list[_Scope], header: str, start: int, end: int, name: str) -> Iterator[Definition]:
    if name:
        qualified = "::".join([scope.name for scope in scopes if scope.name] + [name])
        yield Definition(qualified, " ".join(header.split()), start + len(header) - len(header.lstrip()), end)


def _without_template_arguments(header: str) -> str:
    plain = header.replace("->", "  ")
    while (shorter := re.sub(r"<[^<>]*>", "", plain)) != plain:
        plain = shorter
    return re.sub(r"\btemplate\b", "", plain).strip()


def _type(header: str) -> str:
    """Return the name of the class or enum that a header opens; empty if it opens something else."""
    named = _TYPE.match(_without_template_arguments(header))
    return named["name"] if named else ""


def _variable(header: str) -> str:
    """Return the name of the variable or alias that a header sets; empty if it sets none."""
    plain = _without_template_arguments(header)
    if "operator" in plain or re.match(r"[^=]*\(", plain):
        return ""
    named = _VARIABLE.search(plain)
    return named[1] if named else ""


def _function(header: str) -> str:
    """Return the name of the function that a header begins, as it is written there; empty if it begins none."""
    names = ["".join(name[1].split()) for name in _FUNCTION.finditer(_without_template_arguments(header))]
    return next((name for name in names if not re.fullmatch(r"[A-Z0-9_]+|__attribute__|alignas|decltype", name)), "")


def _opens_initializer(header: str) -> bool:
    """Whether a brace behind a header opens the value of a member, in a constructor, and not the body."""
    return bool(_INITIALIZERS.search(header)) and header.rstrip()[-1] not in ")}"
