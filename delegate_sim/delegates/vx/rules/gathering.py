"""Gathering, scattering, lookups and searches.

Upstream's own STRING checks of GATHER and GATHER_ND are omitted, because ``vx_rule`` already refuses STRING inputs.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.hints import in_code
from ....rules.kinds import HYBRID
from ....rules.operands import operand
from ....rules.vocabulary import constant, refused_if
from .checks import vx_rule


def _changes_sign(node: NodeView) -> bool:
    return node.input(1).type == "UINT8" and node.output(0).type == "INT8"


_EMBEDDING_LOOKUP = refused_if(
    HYBRID,
    "any types except a UINT8 table with an INT8 output",
    _changes_sign,
    "a UINT8 table and an INT8 output",
    in_code("give the table and the output the same type"),
)

RULES = {
    "EMBEDDING_LOOKUP": vx_rule("EmbeddingLookup::IsOpSupported", _EMBEDDING_LOOKUP),
    "GATHER": vx_rule("Gather::IsOpSupported"),
    "GATHER_ND": vx_rule("GatherNd::IsOpSupported"),
    "HASHTABLE_LOOKUP": vx_rule("HashtableLookup"),
    "SCATTER_ND": vx_rule("ScatterNDMapper::IsOpSupported", constant(operand(2, "shape"))),
}
