"""Nodes that make a tensor from constants alone: DENSIFY, and the DEQUANTIZE of constants.

Source: ``Delegate::PrepareOpsToDelegate`` (``delegates/xnnpack/xnnpack_delegate.cc``). They are taken with the nodes that read
their results. A DENSIFY of anything else is no operator that the delegate visits.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.rule import OpRule
from ..target import Target
from ..unpacking import densifies_constant
from .checks import CONSTANT, NEIGHBOUR, check, check_for_target


def _no_constant_to_widen(node: NodeView, target: Target) -> str | None:
    return None if target.unpacking.widens_constant(node) else f"{node.input(0).type} to {node.output(0).type}"


def _no_constant_to_densify(node: NodeView) -> str | None:
    if densifies_constant(node):
        return None
    source = node.input(0)
    words = ("constant" if source.is_constant else "computed", "dense" if source.sparsity is None else "sparse")
    return f"{' '.join(words)} {source.type} to {node.output(0).type}"


def _refused_reader(node: NodeView, target: Target) -> str | None:
    reader = target.unpacking.refused_readers.get(node.node.index)
    return None if reader is None else f"refused node {reader.index} ({reader.op}) reads the result"


ACCEPTED_READERS = check_for_target(
    NEIGHBOUR,
    "no refused node that reads the result",
    _refused_reader,
    "look at the reason of the node that reads the result",
)
"""What is demanded of nodes that make a tensor from constants alone, when all others are visited."""

WIDENS_CONSTANT = check_for_target(
    CONSTANT,
    "constant FLOAT16 or INT8 to FLOAT32, INT8 from litert-1.2.0 on quantised, and no refused node that reads the result",
    _no_constant_to_widen,
)

RULES = {
    "DENSIFY": OpRule(
        (
            check(
                CONSTANT,
                "a sparse constant of type FLOAT32, FLOAT16 or INT8, and an output of its type",
                _no_constant_to_densify,
            ),
            ACCEPTED_READERS,
        )
    )
}
