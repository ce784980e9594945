"""The interface of a pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from ..pass_workspace import Work


class Exactness(IntEnum):
    """Accuracy of a rewritten model's results compared with the original's."""

    EXACT = 0
    """Bit-for-bit equal results."""
    ROUNDING = 1
    """Equal results but for rounding, since the same function is computed in other steps."""
    APPROXIMATE = 2
    """Results of a similar function; never applied unless requested."""

    @property
    def words(self) -> str:
        """The exactness as a phrase."""
        return ("exact", "exact up to rounding", "approximate")[self]


@dataclass(frozen=True, slots=True)
class Pass:
    """A rewrite: its effect, its operators, and its exactness."""

    name: str
    does: str
    """Its effect on the graph."""
    needs: str
    """Its precondition; nodes that do not meet it stay unchanged."""
    exactness: Exactness
    apply: Callable[[Work], None]
    ops: frozenset[str] = frozenset()
    """The operators that it rewrites; empty if it looks at all."""
    is_for_all: bool = False
    """True if it is applied to all nodes, not only to those that stay on the CPU."""
