"""The interface of a pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from ..pass_workspace import Work


class Exactness(IntEnum):
    """How the results of a rewritten model compare with those of the model."""

    EXACT = 0
    """The same bits."""
    ROUNDING = 1
    """The same but for rounding, as the same function is computed in other steps."""
    APPROXIMATE = 2
    """Another function that is near; never applied unless asked for."""

    @property
    def words(self) -> str:
        """How it is said."""
        return ("exact", "exact up to rounding", "approximate")[self]


@dataclass(frozen=True, slots=True)
class Pass:
    """One rewrite: what it does, of which nodes, and how exact it is."""

    name: str
    does: str
    """What it does to the graph."""
    needs: str
    """Its precondition; a node that does not meet it stays as it is."""
    exactness: Exactness
    apply: Callable[[Work], None]
    ops: frozenset[str] = frozenset()
    """The operators that it rewrites; none where it looks at all."""
    is_for_all: bool = False
    """True if it is applied to all nodes, and not only to those that stay on the CPU."""
