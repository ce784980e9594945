"""List what changed upstream between two commits, in the code that this project follows (``make upstream-diff``).

Followed are the functions that a rule names as its source, and the functions and files that docstrings name: Prepare functions,
lowering, loading, log lines. Comments and white space do not count. Renamed files and moved functions are found. In the followed
files, new operators, and new definitions beside followed ones, are listed too. Resolver versions, enums of the schema, and the
texts of log lines are compared as data.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import functools
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.rules.rule import LITERT

from ..cpp import CppText, Definition
from ..sources import named_sources

ROOT = Path(__file__).resolve().parents[2]
_FILE = r"[\w./-]+\.(?:cc|h|mm|fbs)"
_IN_DOCSTRINGS = (
    re.compile(rf"``(?P<file>{_FILE}): (?P<symbol>~?[\w:]+)``"),
    re.compile(rf"``(?P<symbol>~?[\w:]+)``[^`]{{0,40}}\(``(?P<file>{_FILE})``"),
)
_OPERATOR = re.compile(r"\b(?:kTfLiteBuiltin|BuiltinOperator_|kLiteRtOpCode(?:Tfl|Shlo))(\w+)")
_REGISTERED = re.compile(
    r"AddBuiltin\(\s*BuiltinOperator_(\w+)\s*,\s*[\w:]+\(\)\s*(?:,\s*(?:/\*.*?\*/)?\s*(\d+)\s*(?:,\s*(?:/\*.*?\*/)?\s*(\d+)\s*)?)?\)",
    re.DOTALL,
)
_LOGGED = re.compile(r"(?:TFLITE_LOG\w*|TF_LITE_\w*LOG\w*|TF_LITE_REPORT_ERROR|ReportError|LITERT_LOG)\s*\(")
_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_ENUM = re.compile(r"^enum\s+(\w+)\s*:\s*\w+\s*\{(.*?)\}", re.MULTILINE | re.DOTALL)
_FOLLOWED_FILES = {
    "tflite/core/kernels/register.cc": "runtime/resolver.py",
    "tflite/schema/schema.fbs": "model/tflite_schema.json",
    "tflite/converter/schema/schema.fbs": "model/tflite_schema.json",
}
"""Files that are followed whole, each with the module that has their data."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A followed function, with what rests on it: codes of rules and operators, or modules that name it in a docstring."""

    file: str
    symbol: str
    overload: str = ""
    rests: tuple[str, ...] = ()


@dataclass
class Report:
    """The differences between two commits of one repository."""

    unchanged: int = 0
    changed: list[tuple[Followed, str]] = field(default_factory=list)
    """The followed functions that changed, each with the difference of their texts."""
    moved: list[tuple[Followed, str]] = field(default_factory=list)
    """Functions that stand in another file, with its path, and are otherwise equal."""
    gone: list[Followed] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    data: list[str] = field(default_factory=list)
    appeared: list[Followed] = field(default_factory=list)
    """Followed functions that are only at the newer commit."""
    not_found: list[Followed] = field(default_factory=list)
    """Functions that are at neither commit under their names; they are not compared."""

    @property
    def entries(self) -> int:
        """The number of entries that have to be read."""
        return len(self.changed) + len(self.moved) + len(self.gone) + len(self.appeared) + len(self.new) + len(self.data)


class Tree:
    """The files of a repository at one commit."""

    def __init__(self, folder: str, commit: str) -> None:
        self._folder, self.commit = folder, commit

    def git(self, *arguments: str) -> str | None:
        """Return what a git command prints; None if it fails."""
        done = subprocess.run(["git", "-C", self._folder, *arguments], capture_output=True, check=False)
        return None if done.returncode else done.stdout.decode("utf-8", "replace")

    @functools.cached_property
    def paths(self) -> Sequence[str]:
        """The paths of all files of the commit. Raises SystemExit if there is no such commit."""
        listing = self.git("ls-tree", "-r", "--name-only", self.commit)
        if listing is None:
            raise SystemExit(f"{self._folder} has no commit {self.commit}")
        return listing.splitlines()

    @functools.cached_property
    def _by_name(self) -> Mapping[str, Sequence[str]]:
        by_name: dict[str, list[str]] = defaultdict(list)
        for path in self.paths:
            by_name[path.rpartition("/")[2]].append(path)
        return by_name

    def matching(self, file: str) -> str | None:
        """Return the path that ends with ``file``; the shortest one if there are several, None if there is none."""
        candidates = [path for path in self._by_name[file.rpartition("/")[2]] if f"/{path}".endswith(f"/{file}")]
        return min(candidates, key=len, default=None)

    @functools.cache  # noqa: B019 - a tree lives as long as the program
    def text(self, path: str) -> CppText | None:
        """Return a file's text; None if there is no such file."""
        text = self.git("show", f"{self.commit}:{path}")
        return None if text is None else CppText(text)

    @functools.cache  # noqa: B019 - a tree lives as long as the program
    def definitions(self, path: str) -> Mapping[str, Sequence[Definition]]:
        """Return the definitions of a file by their names without classes."""
        text = self.text(path)
        by_name: dict[str, list[Definition]] = defaultdict(list)
        for definition in text.definitions() if text is not None else ():
            by_name[definition.name.rpartition("::")[2]].append(definition)
        return by_name

    def bodies(self, path: str, symbol: str) -> list[str]:
        """Return the texts of all definitions with a name, without comments, one statement in a line."""
        text = self.text(path)
        if text is None:
            return []
        plain = symbol.rpartition("::")[2]
        fitting = [one for one in self.definitions(path).get(plain, ()) if f"::{one.name}".endswith(f"::{symbol}")]
        chosen = fitting or list(self.definitions(path).get(plain, ()))
        return [_normalized(text.text[one.start : one.end]) for one in chosen]


def _normalized(text: str) -> str:
    """Return code with one space for any white space, and a new line after each statement."""
    plain = " ".join(text.split())
    return re.sub(r"(?<=[;{}]) ", "\n", plain)


def followed_functions() -> dict[str, list[Followed]]:
    """Return the followed functions by repository. Functions that docstrings name are those of LiteRT."""
    by_repository: dict[str, dict[tuple[str, str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    books = [book for name in DELEGATE_NAMES for book in find_delegate(name).rule_books]
    for source, ops in named_sources(books).items():
        by_repository[source.repository.name][source.file, source.symbol, source.overload] += ops or ["every operator"]
    for path in sorted((ROOT / "delegate_sim").rglob("*.py")):
        module = path.relative_to(ROOT / "delegate_sim").as_posix()
        for text in _docstrings(path):
            for pattern in _IN_DOCSTRINGS:
                for match in pattern.finditer(text):
                    by_repository[LITERT.name][match["file"], match["symbol"], ""].append(module)
    return {
        name: [Followed(*place, tuple(dict.fromkeys(rests))) for place, rests in places.items()]
        for name, places in by_repository.items()
    }


def _docstrings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def compare(old: Tree, new: Tree, followed: Iterable[Followed]) -> Report:
    """Compare two commits in the followed functions, and in the files that these are in."""
    report = Report()
    renamed = _renamed(new, old.commit)
    files: dict[str, str] = {}
    known: dict[str, set[str]] = defaultdict(set)
    for one in followed:
        path = old.matching(one.file)
        before = [] if path is None else old.bodies(path, one.symbol)
        if path is None or not before:
            now = new.matching(one.file)
            (report.appeared if now is not None and new.bodies(now, one.symbol) else report.not_found).append(one)
            continue
        target = renamed.get(path, path)
        files[path] = target
        known[path].add(one.symbol.rpartition("::")[2])
        after = new.bodies(target, one.symbol)
        if before == after:
            report.unchanged += 1
        elif after:
            report.changed.append((one, _difference("\n".join(before), "\n".join(after))))
        elif place := _moved(new, one.symbol, before):
            report.moved.append((one, place))
        else:
            report.gone.append(one)
    for path, target in sorted(files.items()):
        report.new += _new_in(old, path, new, target)
    report.data += _data(old, new, files)
    return report


def _renamed(new: Tree, since: str) -> Mapping[str, str]:
    lines = (new.git("diff", "--name-status", "--find-renames=60%", "--diff-filter=R", since, new.commit) or "").splitlines()
    return {old: now for _, old, now in (line.split("\t") for line in lines)}


def _moved(new: Tree, symbol: str, bodies: list[str]) -> str | None:
    """Return the file that a function with equal text stands in now; None if there is none."""
    plain = symbol.rpartition("::")[2]
    matches = (
        new.git("grep", "--files-with-matches", "--word-regexp", plain, new.commit, "--", "*.cc", "*.h") or ""
    ).splitlines()
    for line in matches:
        path = line.partition(":")[2]
        if new.bodies(path, symbol) == bodies:
            return path
    return None


def _difference(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    return "\n".join([line for line in lines if not line.startswith(("---", "+++"))])


def _new_in(old: Tree, path: str, new: Tree, target: str) -> Iterator[str]:
    """Yield the operators that a followed file names only at the newer commit, and its new functions for operators."""
    before, after = old.text(path), new.text(target)
    if before is None or after is None:
        return
    operators = sorted(set(_OPERATOR.findall(after.text)) - set(_OPERATOR.findall(before.text)))
    if operators:
        yield f"{target}: operators {', '.join(operators)}"
    names = [name for name in new.definitions(target) if name not in old.definitions(path)]
    if names:
        yield f"{target}: definitions {', '.join(sorted(names))}"


def _data(old: Tree, new: Tree, files: Mapping[str, str]) -> Iterator[str]:
    for path, module in _FOLLOWED_FILES.items():
        before, after = old.text(path), new.text(path)
        if before is None or after is None:
            continue
        for what, was, now in _tables(path, before.text, after.text):
            yield from (f"{path} ({module}): {what} {change}" for change in _changes(was, now))
    for path, target in sorted(files.items()):
        before, after = old.text(path), new.text(target)
        if before is not None and after is not None:
            older, newer = set(_logged(before.text)), set(_logged(after.text))
            yield from (f"{target}: log line gone: {line}" for line in sorted(older - newer))
            yield from (f"{target}: log line new: {line}" for line in sorted(newer - older))


def _tables(path: str, before: str, after: str) -> Iterator[tuple[str, Mapping[str, str], Mapping[str, str]]]:
    """Yield the tables of a followed file: its name, and the entries before and after."""
    if path.endswith(".cc"):
        yield "resolver", _registered(before), _registered(after)
        return
    was, now = dict(_ENUM.findall(before)), dict(_ENUM.findall(after))
    for name in sorted(was.keys() | now.keys()):
        yield f"enum {name}", _members(was.get(name, "")), _members(now.get(name, ""))


def _registered(text: str) -> Mapping[str, str]:
    return {op: f"{low or 1} to {high or low or 1}" for op, low, high in _REGISTERED.findall(text)}


def _members(body: str) -> Mapping[str, str]:
    members = [part.split("=") for part in body.split(",") if part.strip()]
    return {name[0].strip(): name[1].strip() if len(name) > 1 else "" for name in members}


def _changes(was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(was.keys() | now.keys()):
        if was.get(name) != now.get(name):
            yield f"{name}: {was.get(name, 'absent')} -> {now.get(name, 'absent')}"


def _logged(text: str) -> Iterator[str]:
    """Yield the texts of log lines: the strings behind the name of a function that logs, until its statement ends."""
    for call in _LOGGED.finditer(text):
        statement = text[call.end() : text.find(";", call.end())]
        strings = [string[1:-1] for string in _STRING.findall(statement)]
        if strings:
            yield "".join(strings)


def lines(name: str, old: Tree, new: Tree, report: Report, *, shows_differences: bool) -> Iterator[str]:
    """Yield the report as Markdown."""
    yield f"# {name}: {old.commit} to {new.commit}"
    yield ""
    yield f"{report.entries} entries to read; {report.unchanged} followed functions are unchanged."
    if report.not_found:
        named = ", ".join(f"{one.file}: {one.symbol}" for one in report.not_found[:5])
        yield f"{len(report.not_found)} functions are at neither commit under their names: {named}, ..."
    sections: list[tuple[str, list[tuple[Followed, str]]]] = [
        ("Changed", report.changed),
        ("Moved", report.moved),
        ("Gone", [(one, "") for one in report.gone]),
        ("Appeared", [(one, "") for one in report.appeared]),
    ]
    for title, entries in sections:
        if entries:
            yield from ("", f"## {title}: {len(entries)}")
        for one, text in entries:
            yield f"- `{one.file}`: `{one.symbol}`: {', '.join(one.rests[:12])}{', ...' if len(one.rests) > 12 else ''}"
            if title == "Moved":
                yield f"  now in `{text}`"
            elif text and shows_differences:
                yield from ("", "  ```diff", *(f"  {line}" for line in text.splitlines()), "  ```", "")
    for title, texts in (("New", report.new), ("Data", report.data)):
        if texts:
            yield from ("", f"## {title}: {len(texts)}", *(f"- {text}" for text in texts))
    yield ""


def main() -> int:
    """Print a report for each repository whose tree is given."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree", action="append", default=[], metavar="ACCOUNT/NAME=PATH", help="the git tree of a repository")
    parser.add_argument("--from", dest="old", help="the older commit or tag; by default, the commit that the rules name")
    parser.add_argument("--to", dest="new", default="HEAD", help="the newer commit or tag (default: HEAD)")
    parser.add_argument("--brief", action="store_true", help="do not print differences")
    arguments = parser.parse_args()
    pinned = {
        source.repository.name: source.repository.commit
        for source in named_sources([book for name in DELEGATE_NAMES for book in find_delegate(name).rule_books])
    }
    followed = followed_functions()
    for pair in arguments.tree:
        name, _, folder = pair.partition("=")
        if name not in followed:
            parser.error(f"no rule names {name}; rules name {', '.join(followed)}")
        old, new = Tree(folder, arguments.old or pinned[name]), Tree(folder, arguments.new)
        report = compare(old, new, followed[name])
        print("\n".join(lines(name, old, new, report, shows_differences=not arguments.brief)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
