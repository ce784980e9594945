"""Advice for the CPU nodes on both sides of a comparison."""

from __future__ import annotations

from ...results.compare.comparison import Comparison, Side, compare
from .node_advice import advised


def advised_comparison(comparison: Comparison) -> Comparison:
    """Return a comparison with the advice of a diagnosis on both sides."""
    a, b = [Side(side.model, advised(side.model, side.run)) for side in (comparison.a, comparison.b)]
    return compare(a, b)
