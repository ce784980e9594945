"""Check docstrings, comments, names, messages and pages for American spelling and plain wording.

``python -m tools.language`` (``make lint``) prints each problem and what to write instead. Messages are strings with a space;
codes and keys, on which users rely, stay as they are. Packages in ``UNCHECKED`` are not clean yet.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON_FOLDERS = ("delegate_sim", "cli", "tools", "benchmarks", "fixtures", "tests")
PAGES = ("README.md", "AGENTS.md", "CONTRIBUTING.md", "SECURITY.md", "skills/*/SKILL.md", "docs/*.md", "docs/appendix/*.md")
TEXTS = "delegate_sim/**/*.json"
"""Data files, with one text in a line."""
GENERATED_PAGES = ("docs/api.md", "docs/codes.md", "docs/commands.md", "docs/suggestions.md")
"""Pages of docstrings, which are checked in their modules, and of messages, as those in ``docs/rules``."""
UNCHECKED: tuple[str, ...] = ()
"""Files and folders that are not clean yet; take off those that ``--all`` no longer lists."""

FOLDERS_WITH_MESSAGES = ("delegate_sim/", "cli/")
"""Folders whose strings users see."""
LINES_OF_THE_RUNTIME: frozenset[str] = frozenset()
"""Strings that repeat what the runtime or a delegate prints, character for character."""

FOLDERS_WITH_ANY_LOCAL_NAME = ("tests/",)
"""Folders that are not checked for vague local names; those of tests have several hundred."""

_OPENING = re.compile(r"(?:What|How|Why|Where|Which)\b")
_LOCAL_NAMES = {"each": "a noun, such as node, check or name", "found": "a noun that says what it is, such as result"}
_IDIOMS = {
    r"(?<!each )\bof which\b": "two sentences, or 'whose'",
    r"\bis made of\b|\bmade of what\b|\bof what is\b": "a noun, or a verb that says who does it",
    r"\bis said of\b|\bwhat there is of\b": "'says that', or a noun",
    r"\bas far as\b": "'where', 'if' or 'up to'",
    r"\bforetell|\bforetold\b": "'predict'",
    r"\bsuppos(e[sd]?|ing|itions?)\b": "'assume', 'assumption' or 'hypothetical change'",
    r"(?<![\w-])borders?\b(?![-\w:=])": "'boundary'",
}
"""Wording that the glossary (docs/writing.md) or the rules of plain English replace."""
_VERBS = (
    "custom capital categor character final general initial item local material maximal memor minim model_ national normal "
    "optim organ parallel parametr penal personal priorit quant rational real_ recogn reorgan serial special standard summar "
    "symbol synchron token util vector visual author emphas"
)
_BRITISH = {
    r"(behavi|col|fav|flav|hon|hum|lab|neighb|rum|harb|endeav)our": "-or",
    r"\b(cent|fib|lit|met|theat)re[sd]?\b": "-er",
    r"\b(defen|offen|licen)ce[sd]?\b": "-se",
    r"judgement|acknowledgement": "-dgment",
    r"\banalys(e[dr]?|ing)\b": "analyz-",
    r"\b(de|re|un|dis)?("
    + "|".join(word.rstrip("_") for word in _VERBS.split())
    + r")is(e[sdr]?|ers|ing|able|ations?)\b": "-iz-",
    r"(model|label|cancel|travel|signal|marshal|tunnel|level|channel|fuel|pencil|total)l(ed|ing|er|ers)\b": "-l-",
    r"\b(learnt|spelt|burnt|dreamt|leant)\b": "-ed",
    r"\bgrey": "gray",
    r"artefact": "artifact",
    r"\bwhilst\b|\bamongst\b": "while, among",
    r"\bfulfil(s|ment)?\b": "fulfill",
    r"\bprogrammes?\b": "program",
}
_ANY_BRITISH = re.compile("|".join(_BRITISH))
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_CODE = re.compile(r"``.*?``|`[^`\n]*`|https?://\S+|\w+\.md|\]\([^)]*\)", re.DOTALL)
_BLOCK = re.compile(r"^(```|~~~).*?^\1|^\|[^\n]*", re.DOTALL | re.MULTILINE)
"""Code and tables: most tables are generated, and hold codes and messages."""


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Problem:
    """A line and what is wrong with it."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def problems_of_module(path: str, text: str) -> Iterator[Problem]:
    """Yield the problems of a Python module."""
    nodes = list(ast.walk(ast.parse(text)))
    for line, docstring in docstrings(nodes):
        if opening := _OPENING.match(docstring.lstrip()):
            yield Problem(path, line, f"a docstring opens with {opening[0]}: open with a verb or a noun")
        yield from problems_of_prose(path, line, docstring)
    if path.startswith(FOLDERS_WITH_MESSAGES):
        for line, message in messages(nodes):
            yield from problems_of_prose(path, line, message)
    for token in tokenize.generate_tokens(io.StringIO(text).readline) if "#" in text else ():
        if token.type == tokenize.COMMENT:
            yield from problems_of_prose(path, token.start[0], token.string)
    fields = {
        id(statement.target)
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    checked: set[str] = set()
    for line, name, is_local in names(nodes, fields):
        if is_local and name in _LOCAL_NAMES and not path.startswith(FOLDERS_WITH_ANY_LOCAL_NAME):
            yield Problem(path, line, f"the local name {name}: use {_LOCAL_NAMES[name]}")
        if name not in checked:
            checked.add(name)
            yield from spelling(path, line, re.sub(r"([a-z])([A-Z])", r"\1 \2", name.replace("_", " ")), "the name ")


def docstrings(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield the docstrings among the nodes of a module, and those of variables, with their first lines."""
    for node in nodes:
        if not isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTIONS)) or _is_command(node):
            continue
        for statement in node.body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                text = statement.value.value
                if isinstance(text, str):
                    yield statement.lineno, text


def messages(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield the strings that have a space and are no docstrings, and the help texts of commands, with their lines."""
    other = set(docstrings(nodes))
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            message = (node.lineno, node.value)
            if message not in other and node.value not in LINES_OF_THE_RUNTIME:
                yield message


def _is_command(node: ast.AST) -> bool:
    """Whether a node defines a command of click, whose docstring is its help text."""
    decorators = node.decorator_list if isinstance(node, _FUNCTIONS) else []
    return any(isinstance(call, ast.Call) and ast.unparse(call.func) == "click.command" for call in decorators)


def names(nodes: Sequence[ast.AST], fields: set[int]) -> Iterator[tuple[int, str, bool]]:
    """Yield the names that the nodes define, with their lines, and whether each is a variable outside of a class body."""
    for node in nodes:
        if isinstance(node, (ast.ClassDef, *_FUNCTIONS)):
            yield node.lineno, node.name, False
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg, False
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id, id(node) not in fields


def problems_of_prose(path: str, line: int, text: str) -> Iterator[Problem]:
    """Yield British spellings and idioms in text, outside of quoted code."""
    prose = _CODE.sub(_blank, text)
    yield from spelling(path, line, prose, "")
    lower = prose.lower()
    for idiom, instead in _IDIOMS.items():
        for place in re.finditer(idiom, lower):
            yield Problem(
                path, line + prose.count("\n", 0, place.start()), f"{prose[place.start() : place.end()]!r}: write {instead}"
            )


def spelling(path: str, line: int, text: str, prefix: str) -> Iterator[Problem]:
    """Yield British spellings in a text."""
    lower = text.lower()
    if not _ANY_BRITISH.search(lower):
        return
    for british, american in _BRITISH.items():
        for place in re.finditer(british, lower):
            number = line + text.count("\n", 0, place.start())
            word = text[place.start() : place.end()]
            yield Problem(path, number, f"{prefix}{word!r} is British spelling: {american} in American")


def problems_of_page(path: str, text: str) -> Iterator[Problem]:
    """Yield the problems of a Markdown page, outside of its code."""
    yield from problems_of_prose(path, 1, _BLOCK.sub(_blank, text))


def problems_of_table(path: str, text: str) -> Iterator[Problem]:
    """Yield the problems of a table with tabs: of its comments, and of the columns that users see."""
    columns: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(("# ", "= ")):
            yield from problems_of_prose(path, number, line)
        elif not columns:
            columns = line.split("\t")
        else:
            for column, field in zip(columns, line.split("\t"), strict=False):
                if column in ("meaning", "title", "part"):
                    yield from problems_of_prose(path, number, field)


def _blank(code: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", code[0])


def problems() -> Iterator[Problem]:
    """Yield the problems of all modules and pages."""
    for folder in PYTHON_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield from problems_of_module(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    for path in sorted(ROOT.glob(TEXTS)):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for text in [text for text in _STRING.findall(line) if " " in text]:
                yield from problems_of_prose(path.relative_to(ROOT).as_posix(), number, text)
    for path in sorted((ROOT / "delegate_sim").rglob("*.tsv")):
        yield from problems_of_table(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            if name not in GENERATED_PAGES:
                yield from problems_of_page(name, path.read_text(encoding="utf-8"))


def is_checked(path: str) -> bool:
    """Whether a file is in no unchecked package."""
    return not any(path == unchecked or path.startswith(f"{unchecked}/") for unchecked in UNCHECKED)


def main() -> int:
    """Print the problems; the exit code is 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="also count the problems of each package, checked or not")
    arguments = parser.parse_args()
    everything = list(problems())
    checked = [problem for problem in everything if is_checked(problem.path)]
    print("".join([f"{problem}\n" for problem in checked]), end="")
    if arguments.all:
        counts: dict[str, int] = defaultdict(int)
        for problem in everything:
            counts["/".join(problem.path.split("/")[: 3 if "/delegates/" in problem.path else 2])] += 1
        print("".join([f"{count:5}  {path}\n" for path, count in sorted(counts.items())]), end="")
    return 1 if checked else 0


if __name__ == "__main__":
    sys.exit(main())
