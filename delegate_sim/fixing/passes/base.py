"""The interface of a pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from ..pass_workspace import Work


class Exactness(IntEnum):
    """Accuracy of a rewritten model's results compared with the original's results."""

    EXACT = 0
    """Bit-for-bit equal results."""
    ROUNDING = 1
    """Results that are equal except for rounding, because other operations compute the same function."""
    APPROXIMATE = 2
    """Results of a function that only approximates the original; such passes are applied only on request."""

    @property
    def words(self) -> str:
        """The exactness as a phrase."""
        return ("exact", "exact up to rounding", "approximate")[self]


@dataclass(frozen=True, slots=True)
class Pass:
    """A rewrite: its effect, its operators, and its exactness."""

    name: str
    does: str
    """The effect of the pass on the graph."""
    needs: str
    """The precondition of the pass. Nodes that do not meet the precondition stay unchanged."""
    exactness: Exactness
    apply: Callable[[Work], None]
    ops: frozenset[str] = frozenset()
    """The operators that the pass rewrites; empty if the pass examines all operators."""
    is_for_all: bool = False
    """True if the pass is applied to all nodes, not only to CPU nodes."""
