"""Find the lines of every upstream source that a rule names, and write or check ``delegate_sim/rules/source_lines.json``.

``python -m tools.sources --tree google-ai-edge/LiteRT=PATH ...`` (``make sources``) takes git directories (or clones) of the
upstream repositories, or unpacked source packages of the pinned releases. It fails if a function, class or table is not in its
file at the pinned commit, if a name is ambiguous, or if the lines differ from the checked-in ones; ``--write`` replaces these.
Nothing else is taken from upstream.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.errors import DelegateSimError
from delegate_sim.micro.preparation import RULES
from delegate_sim.model.schema import enum_names
from delegate_sim.rules.book import RuleBook
from delegate_sim.rules.rule import Source

from .cpp import CppText, Definition

FILE = Path(__file__).resolve().parents[1] / "delegate_sim" / "rules" / "source_lines.json"
LONGEST_WITHOUT_BRANCHES = 100
"""In a function of more lines, an operator has the lines of its own branch if there is one."""

Lines: TypeAlias = Mapping[str, Mapping[str, Mapping[str, tuple[int, int]]]]
"""The first and the last line by repository and commit, file, and part of the file (``Source.part``)."""


class SourceProblem(DelegateSimError):
    """A source that is not upstream as a rule names it."""


def named_sources(books: Iterable[RuleBook[Any]]) -> dict[Source, list[str]]:
    """Return every source that rules name, with the operators whose rules name it."""
    users: dict[Source, list[str]] = defaultdict(list)
    for book in books:
        users[book.source] += []
        named = [*book.rules.items(), *([("", book.others)] if book.others is not None else [])]
        for op, rule in named:
            sources = [*book.sources_of(rule), *[book.source_of(check, rule) for check in rule.all_checks]]
            for source in dict.fromkeys(sources):
                users[source].append(op)
    return users


def measured(source: Source, ops: Iterable[str], trees: Mapping[str, str]) -> Iterator[tuple[Source, tuple[int, int]]]:
    """Yield a source with its lines and, for a long function, the branches of these operators with theirs."""
    text, definitions = _parsed(trees.get(source.repository.name), source)
    definition = _one_definition(source, definitions)
    first, last = text.lines(definition.start, definition.end)
    if source.branch:
        branches = list(text.branches(definition.start, definition.end, re.compile(re.escape(source.branch))))
        if len(branches) != 1:
            raise SourceProblem(f"{len(branches)} branches with {source.branch!r} in {source.symbol}")
        yield source, text.lines(*branches[0])
        return
    yield source, (first, last)
    if last - first < LONGEST_WITHOUT_BRANCHES:
        return
    for op in dict.fromkeys(filter(None, ops)):
        branches = list(text.branches(definition.start, definition.end, _operator_pattern(op)))
        if branches:
            yield source.with_branch(op), text.lines(*branches[0])


def _one_definition(source: Source, definitions: Iterable[Definition]) -> Definition:
    """Return the definition that a source names; an overload is only named where there are several."""
    named = [definition for definition in definitions if definition.name == source.symbol]
    if not named:
        raise SourceProblem("no such definition")
    overload = re.compile(rf"\b{re.escape(source.overload)}\b")
    fitting = [definition for definition in named if overload.search(definition.header)] if source.overload else named
    if len(fitting) != 1 or (source.overload and len(named) == 1):
        headers = "; ".join([definition.header for definition in named])
        raise SourceProblem(f"{len(fitting)} of {len(named)} definitions fit: {headers}")
    return fitting[0]


def _operator_pattern(op: str) -> re.Pattern[str]:
    """Return what upstream calls an operator: a member of one of its enums, or the name of a custom operator."""
    if op not in enum_names("BuiltinOperator").values():
        return re.compile(rf'"{re.escape(op)}"|\bkTfLiteBuiltinCustom\b')
    words = re.escape(op.replace("_", ""))
    return re.compile(rf"\b(?:kTfLiteBuiltin|kLiteRtOpCode(?:Tfl|Shlo))(?i:{words})\b|\bBuiltinOperator_{re.escape(op)}\b")


def _parsed(tree: str | None, source: Source) -> tuple[CppText, tuple[Definition, ...]]:
    if tree is None:
        raise SourceProblem("no tree is given")
    return _parsed_file(tree, source.repository.commit, source.file)


@functools.cache
def _parsed_file(tree: str, commit: str, file: str) -> tuple[CppText, tuple[Definition, ...]]:
    unpacked = Path(tree) / file
    if unpacked.is_file() and not (Path(tree) / ".git").exists():
        content = unpacked.read_bytes()
    else:
        git = subprocess.run(["git", "-C", tree, "show", f"{commit}:{file}"], capture_output=True, check=False)
        if git.returncode:
            raise SourceProblem("no such file at this commit")
        content = git.stdout
    text = CppText(content.decode("utf-8", "replace"))
    return text, tuple(text.definitions())


def file_text(lines: Lines) -> str:
    """Return the text of the file with these lines. Each upstream file has one line of the text."""
    rows = [f'"{commit}": {{\n{_rows(files)}\n}}' for commit, files in sorted(lines.items())]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _rows(files: Mapping[str, Mapping[str, tuple[int, int]]]) -> str:
    return ",\n".join([f'"{file}": {json.dumps(parts, sort_keys=True)}' for file, parts in sorted(files.items())])


def main() -> int:
    """Write the lines, or print what is wrong with sources and lines; the exit code is 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree", action="append", default=[], metavar="ACCOUNT/NAME=PATH", help="the git tree of a repository")
    parser.add_argument("--write", action="store_true", help="write the lines instead of comparing them")
    parser.add_argument("--list", action="store_true", help="print every source with its lines")
    arguments = parser.parse_args()
    trees = dict(pair.split("=", 1) for pair in arguments.tree)
    delegates = [book for name in DELEGATE_NAMES for book in find_delegate(name).rule_books]
    sources = named_sources([*delegates, RULES])
    lines: dict[str, dict[str, dict[str, tuple[int, int]]]] = defaultdict(lambda: defaultdict(dict))
    problems: list[str] = []
    for source, ops in sources.items():
        try:
            for part, place in measured(source, ops, trees):
                lines[f"{source.repository.name}@{source.repository.commit}"][source.file][part.part] = place
                if arguments.list:
                    print(f"{source.repository.name} {source.file}#L{place[0]}-L{place[1]}: {part.part}")
        except SourceProblem as problem:
            problems.append(f"{source.repository.name} {source.file}: {source.part}: {problem} ({', '.join(ops[:3])})")
    if not problems and arguments.write:
        FILE.write_text(file_text(lines), encoding="utf-8")
    elif not problems and FILE.read_text(encoding="utf-8") != file_text(lines):
        problems.append(f"other lines than in {FILE.name}: run make sources ARGS=--write")
    print("\n".join([*problems, f"{len(sources)} sources named, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
