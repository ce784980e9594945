"""The upstream location of a rule: a function or class in a file at a pinned commit."""

from __future__ import annotations

import functools
import json
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..foundation.columns import LIST, Column, Declared, attributes, within


@functools.cache
def recorded_lines() -> Mapping[str, Mapping[str, Mapping[str, Sequence[int]]]]:
    """Return the first and the last line of every source, by repository and commit, file, and ``Source.part``.

    ``make sources ARGS=--write`` (``tools/sources.py``) writes these lines. Only documentation needs them.
    """
    lines: Mapping[str, Mapping[str, Mapping[str, Sequence[int]]]]
    lines = json.loads(pkgutil.get_data(__package__, "source_lines.json") or b"")
    return lines


@dataclass(frozen=True, slots=True)
class Repository:
    """An upstream repository on GitHub, at the commit from which the rules were taken."""

    name: str
    """The owner and the name, as in ``google-ai-edge/LiteRT``."""
    commit: str
    """The full hash of the commit."""


@dataclass(frozen=True, slots=True)
class Source(Declared):
    """A function, method, class or table in an upstream file, or one branch of a long function."""

    columns = (
        *within("repository", [Column("repository", source="name"), Column("commit")]),
        *(*attributes("file", "symbol"), Column("lines", LIST)),
    )

    repository: Repository
    file: str
    """The path in the repository."""
    symbol: str
    overload: str = ""
    """A word from the function's parameters. It is needed if several functions in the file have the same name."""
    branch: str = ""
    """The operator of a ``case``, or text from the condition of a branch. "" for the whole function."""

    def with_symbol(self, symbol: str, overload: str = "") -> Source:
        """Return the location of another symbol in the same file."""
        return replace(self, symbol=symbol, overload=overload, branch="")

    def with_branch(self, branch: str) -> Source:
        """Return the location of a branch of this function."""
        return replace(self, branch=branch)

    def of_operator(self, op: str) -> Source:
        """Return the location of an operator's branch in the function, or of the whole function if the branch is not known."""
        branch = self.with_branch(op)
        return self if self.branch or branch.lines is None else branch

    @property
    def part(self) -> str:
        """The symbol, the overload and the branch as one string, which is the key in ``source_lines.json``."""
        return ", ".join([word for word in (self.symbol, self.overload, self.branch) if word])

    @property
    def lines(self) -> tuple[int, int] | None:
        """The first and the last line at the pinned commit. None if ``make sources`` has not recorded the lines."""
        files = recorded_lines().get(f"{self.repository.name}@{self.repository.commit}", {})
        place = files.get(self.file, {}).get(self.part)
        return None if place is None else (place[0], place[1])

    @property
    def location(self) -> str:
        """The path with line numbers, as in a GitHub link."""
        return self.file if self.lines is None else f"{self.file}#L{self.lines[0]}-L{self.lines[1]}"

    @property
    def url(self) -> str:
        """The link to the lines at the pinned commit."""
        return f"https://github.com/{self.repository.name}/blob/{self.repository.commit}/{self.location}"

    def __str__(self) -> str:
        return f"{self.location}: {self.symbol}"


LITERT = Repository("google-ai-edge/LiteRT", "f67457790c9c2ab67347d6fe53270e8d3df20868")
"""The repository of the runtime. A delegate from another repository has its repository in its own package."""
