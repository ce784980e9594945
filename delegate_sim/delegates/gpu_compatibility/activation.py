"""Activations."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import ATTRIBUTE
from ...rules.vocabulary import check
from .checks import case


def _beta(node: NodeView) -> str | None:
    return None if node.options.beta == 1 else f"beta {node.options.beta:g}"


SOFTMAX = case(check(ATTRIBUTE, "beta 1", _beta, "scale the input instead").saying("Softmax.beta != 1 is not supported."))
