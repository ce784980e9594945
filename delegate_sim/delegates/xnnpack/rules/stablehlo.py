"""STABLEHLO_COMPOSITE. Only scaled dot-product attention is supported (``VisitScaledDotAttentionCompositeNode``).

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import OPERATOR
from ....rules.rule import Check, OpRule
from ....rules.vocabulary import check
from ..node_visit import Visit
from .checks import SOURCE
from .layers import ATTENTION_CHECKS, ATTENTION_SOURCE

ATTENTION = "odml.scaled_dot_product_attention"


def _other_composite(node: NodeView) -> str | None:
    name = node.options.name or ""
    return None if name == ATTENTION else f"composite {name!r}"


_COMPOSITE: Check[Visit] = check(
    OPERATOR, f"composite {ATTENTION}", _other_composite, "leave other composites to the CPU"
).from_source(SOURCE)

RULES = {"STABLEHLO_COMPOSITE": OpRule((_COMPOSITE, *ATTENTION_CHECKS)).from_source(*ATTENTION_SOURCE)}
