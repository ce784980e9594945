"""The upstream source of a rule: a function or class of a file at a pinned commit."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Repository:
    """An upstream repository on GitHub, at the commit that the rules were read from."""

    name: str
    """Owner and name."""
    commit: str
    """The full hash."""


@dataclass(frozen=True, slots=True)
class Source:
    """A function, method, class or table in an upstream file, or one branch of a long function."""

    repository: Repository
    file: str
    """The path inside the repository."""
    symbol: str
    overload: str = ""
    """A word from the parameters, where the file has several functions with this name."""
    branch: str = ""
    """The operator whose ``case`` this is, or text from the condition that guards the branch; empty for the whole."""

    def with_symbol(self, symbol: str, overload: str = "") -> Source:
        """Return another symbol of the same file."""
        return replace(self, symbol=symbol, overload=overload, branch="")

    def with_branch(self, branch: str) -> Source:
        """Return a branch of this function."""
        return replace(self, branch=branch)

    def of_operator(self, op: str) -> Source:
        """Return the branch of an operator, if the function is long and has one; otherwise the function."""
        branch = self.with_branch(op)
        return self if self.branch or branch.lines is None else branch

    @property
    def part(self) -> str:
        """The symbol, the overload and the branch, as ``source_lines`` names them."""
        return ", ".join([word for word in (self.symbol, self.overload, self.branch) if word])

    @property
    def lines(self) -> tuple[int, int] | None:
        """The first and the last line at the pinned commit; None if ``make sources`` has not written them."""
        from .source_lines import LINES  # hundreds of entries, which only documentation needs

        files = LINES.get(f"{self.repository.name}@{self.repository.commit}", {})
        return files.get(self.file, {}).get(self.part)

    @property
    def location(self) -> str:
        """The file with its lines, as links to GitHub end."""
        return self.file if self.lines is None else f"{self.file}#L{self.lines[0]}-L{self.lines[1]}"

    @property
    def url(self) -> str:
        """The lines at the pinned commit."""
        return f"https://github.com/{self.repository.name}/blob/{self.repository.commit}/{self.location}"

    def to_dict(self) -> dict[str, object]:
        """Return the fields, and those of the repository, for JSON."""
        return {
            "repository": self.repository.name,
            "commit": self.repository.commit,
            "file": self.file,
            "symbol": self.symbol,
            "lines": self.lines,
        }

    def __str__(self) -> str:
        return f"{self.location}: {self.symbol}"


LITERT = Repository("google-ai-edge/LiteRT", "f67457790c9c2ab67347d6fe53270e8d3df20868")
"""The runtime's own repository; a delegate that lives elsewhere declares its repository in its package."""
