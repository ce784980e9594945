"""Nodes that make a tensor from constants alone, whose results the delegate computes before it builds its kernels.

Source: the parts on quasi-static tensors of ``Delegate::PrepareOpsToDelegate`` (``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

from ...graph import NodeView
from ...model import Node

_READS_FLOAT16_WEIGHTS = ("FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D")


class Unpacking:
    """DEQUANTIZE and DENSIFY nodes of constants, as visiting the nodes in order finds them."""

    def __init__(self) -> None:
        self.producers: dict[int, int] = {}
        """Each tensor that such a node makes, and the node."""
        self.elided_float16: dict[int, int] = {}
        """Results of DEQUANTIZE in place of which all readers use the float16 constant, and that constant."""
        self.kept: set[int] = set()
        """Such nodes of which no reader has been refused."""
        self._dropped_by: dict[int, Node] = {}

    def notice(self, node: NodeView) -> bool:
        """Remember a node that makes a tensor from constants alone; say whether this is one."""
        if node.op not in ("DEQUANTIZE", "DENSIFY") or node.node.is_custom:
            return False
        if len(node.node.inputs) != 1 or len(node.node.outputs) != 1:
            return False
        if not (self._widens_constant(node) if node.op == "DEQUANTIZE" else _densifies_constant(node)):
            return False
        result = node.output(0).index
        if node.op == "DEQUANTIZE" and node.input(0).type == "FLOAT16" and _is_read_as_weights_only(node):
            self.elided_float16[result] = node.input(0).index
        self.producers[result] = node.node.index
        self.kept.add(node.node.index)
        return True

    def drop_producers_of(self, node: Node) -> None:
        """Leave what a refused node reads to the CPU."""
        for tensor in node.inputs:
            producer = self.producers.get(tensor)
            if producer in self.kept:
                self.kept.remove(producer)
                self._dropped_by[producer] = node

    def dropped_by(self, node: Node) -> Node:
        """Return the refused node on whose account an unpacking node is left to the CPU."""
        return self._dropped_by[node.index]

    def _widens_constant(self, node: NodeView) -> bool:
        source, result = node.input(0), node.output(0)
        is_taken = source.type == "FLOAT16" or (source.type == "INT8" and source.quantization is not None)
        is_static = source.is_constant or source.index in self.producers
        return is_taken and is_static and source.sparsity is None and result.type == "FLOAT32"


def _densifies_constant(node: NodeView) -> bool:
    source, result = node.input(0), node.output(0)
    return (
        source.is_constant
        and source.sparsity is not None
        and source.type in ("FLOAT16", "INT8", "FLOAT32")
        and result.type == source.type
    )


def _is_read_as_weights_only(node: NodeView) -> bool:
    """Whether all readers take float16 weights, and none reads the tensor as its first operand."""
    result = node.output(0).index
    return all(
        not reader.is_custom and reader.op in _READS_FLOAT16_WEIGHTS and reader.inputs[0] != result
        for reader in node.graph.readers.get(result, ())
    )
