"""Moving blocks between dimensions."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.number_sets import at_least
from ...rules.vocabulary import option
from .checks import case, runtime_operands


def _say_blocks(node: NodeView) -> str:
    return f"{node.op} block_size {'= 1 is a no-op.' if node.options.block_size == 1 else 'must be > 1.'}"


BLOCKS = case(
    runtime_operands(1, 1),
    option("block_size", at_least(2), hint="remove the operator: a block size of 1 changes nothing").saying(_say_blocks),
)
"""Checks of DEPTH_TO_SPACE and SPACE_TO_DEPTH."""
