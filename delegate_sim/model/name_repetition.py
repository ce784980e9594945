"""Refuse a file whose nodes repeat long names, because a small file of this kind could produce a huge report."""

from __future__ import annotations

from collections.abc import Sequence

from ..foundation.limits import how_to_raise, raised
from .flatbuffer import Malformed
from .model import Subgraph

_MOST_SAID = 1 << 22
"""Limit on the total length of the operator and operand names of all nodes, for a small file."""
_MOST_SAID_FOR_A_BYTE = 4
"""Limit on the total length of names for each byte of a large file. Converters write about 1 character for each byte."""


def refuse_repetition(subgraphs: Sequence[Subgraph], size: int) -> None:
    """Raise Malformed if the nodes of a file repeat names too often. ``size`` is the file size in bytes."""
    most = max(raised(_MOST_SAID), raised(_MOST_SAID_FOR_A_BYTE) * size)
    said = sum(map(_said, subgraphs))
    if said > most:
        raise Malformed(f"has nodes that repeat names too often ({said:,} characters in total){how_to_raise()}")


def _said(subgraph: Subgraph) -> int:
    lengths = [len(tensor.name) for tensor in subgraph.tensors]
    lengths.append(0)  # for an omitted tensor, whose index is -1
    operands = [tensor for node in subgraph.nodes for tensor in (*node.inputs, *node.outputs)]
    return sum([len(node.op) for node in subgraph.nodes]) + sum(map(lengths.__getitem__, operands))
