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
    """Results that differ from the original only by rounding, because other operations compute the same function."""
    APPROXIMATE = 2
    """Results of a function that approximates the original. Approximate passes are applied only on request."""

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
    holds_for: str = ""
    """The values for which an exact pass is exact, such as ``finite values``; empty if the pass is exact for all values."""

    @property
    def promise(self) -> str:
        """The exactness as a phrase, with the values for which the exactness holds."""
        return promise(self.exactness, self.holds_for)


def promise(exactness: Exactness, holds_for: str) -> str:
    """Return an exactness, and the values for which it holds, as a phrase."""
    return f"{exactness.words} for {holds_for}" if holds_for else exactness.words


FINITE = "finite values and results"
"""The values for passes whose new nodes limit results to the largest finite number, as ADD and MUL do on the CPU."""
IN_INT32 = "values and results that fit into INT32"
IN_RANGE = "indices in range"
INDICES_IN_INT32 = "indices that fit into INT32"
