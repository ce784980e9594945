"""All passes, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import (
    elementwise,
    integers,
    layers,
    plain_axes,
    ranks,
    repeats,
    scatters,
    shapes,
    slices,
)
from . import whole_graph as whole
from .base import Exactness, Pass

PASSES: Mapping[str, Pass] = {
    pass_.name: pass_
    for pass_ in (
        *whole.PASSES,
        *integers.PASSES,
        *layers.PASSES,
        *layers.PRODUCTS,
        *shapes.PASSES,
        *repeats.PASSES,
        *repeats.DILATIONS,
        *slices.PASSES,
        *scatters.PASSES,
        *elementwise.PASSES,
        *ranks.PASSES,
        *plain_axes.ROWS,
        *plain_axes.PASSES,
        *integers.LAST,
        *whole.LAST,
    )
}
"""The passes in the order in which the search tries them."""


def choose_passes(names: Sequence[str], allowed: Exactness) -> tuple[Exactness, Mapping[str, Pass]]:
    """Return the exactness of the least exact named pass, and the named passes.

    Without names, return ``allowed`` and all passes.
    """
    chosen = {name: PASSES[name] for name in names}
    return max([pass_.exactness for pass_ in chosen.values()], default=allowed), chosen or PASSES
