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
    """A function, method or class in an upstream file."""

    repository: Repository
    file: str
    """The path inside the repository."""
    symbol: str

    def with_symbol(self, symbol: str) -> Source:
        """Return another symbol of the same file."""
        return replace(self, symbol=symbol)

    @property
    def url(self) -> str:
        """The file at the pinned commit."""
        return f"https://github.com/{self.repository.name}/blob/{self.repository.commit}/{self.file}"

    def to_dict(self) -> dict[str, str]:
        """Return the fields, and those of the repository, for JSON."""
        return {
            "repository": self.repository.name,
            "commit": self.repository.commit,
            "file": self.file,
            "symbol": self.symbol,
        }

    def __str__(self) -> str:
        return f"{self.file}: {self.symbol}"


LITERT = Repository("google-ai-edge/LiteRT", "f67457790c9c2ab67347d6fe53270e8d3df20868")
"""The runtime's own repository; a delegate that lives elsewhere declares its repository in its package."""
