"""Reductions and running sums."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.numbers import as_list
from ....rules.kinds import ATTRIBUTE
from ....rules.operands import INPUT
from ....rules.vocabulary import check, rank, refused_if
from .checks import builder, coreml_rule


def _axes_beyond_area(node: NodeView) -> str | None:
    """Return the axes as text, or None if every axis is height or width.

    Upstream also reads axes that are computed at run time. This check ignores such axes.
    """
    axes = node.value(node.input(1))
    values = [] if axes is None else as_list(axes)
    return None if all((axis + 4) % 4 in (1, 2) for axis in values) else f"axes {values}"


RULES = {
    "MEAN": coreml_rule(
        refused_if(ATTRIBUTE, "keep_dims true", lambda node: not node.options.keep_dims, "keep_dims false", "set keep_dims"),
        rank(INPUT, 4),
        check(ATTRIBUTE, "axes 1 and 2", _axes_beyond_area, "average over height and width only"),
        source=(builder("pooling_layer_builder.cc", "IsMeanOpSupported"),),
    ),
}
