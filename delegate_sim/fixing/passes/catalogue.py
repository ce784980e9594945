"""All passes, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from . import elementwise, integers, layers, ranks, shapes, slices
from . import whole_graph as whole
from .base import Pass

PASSES: Mapping[str, Pass] = MappingProxyType(
    {
        pass_.name: pass_
        for pass_ in (
            *whole.PASSES,
            *integers.PASSES,
            *layers.PASSES,
            *shapes.PASSES,
            *slices.PASSES,
            *elementwise.PASSES,
            *ranks.PASSES,
            *integers.LAST,
            *whole.LAST,
        )
    }
)
"""The passes in the order in which the search tries them."""
