"""Nodes that unpack constants. The delegate runs these nodes before it creates its kernels.

Source: the code for quasi-static tensors in ``Delegate::PrepareOpsToDelegate`` (``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

from ...graph.graph import NodeView
from ...model.model import Node, Tensor
from ...releases.catalogue import NEWEST, Release, parse_release

_INT8_IS_QUANTIZED_FROM = parse_release("litert-1.2.0")
"""From this release on, a DEQUANTIZE of INT8 values unpacks a constant only if the values have quantization parameters.

The source code does not show this release, so the release was measured.
"""

UNPACKING = ("DEQUANTIZE", "DENSIFY")
"""Operators that may unpack a constant."""
_READ_FLOAT16_WEIGHTS = ("FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D")


class Unpacking:
    """The DEQUANTIZE and DENSIFY nodes that unpack constants, collected while the nodes are visited in order."""

    def __init__(self, release: Release = NEWEST) -> None:
        self._takes_bare_int8 = not release.is_at_least(_INT8_IS_QUANTIZED_FROM)
        self.producers: dict[int, int] = {}
        """The index of the node that unpacks each tensor, by the index of the tensor."""
        self.elided_float16: dict[int, int] = {}
        """The FLOAT16 constant that replaces the result of a DEQUANTIZE in all readers, by the index of the result."""
        self.refused_readers: dict[int, Node] = {}
        """The first refused reader of each unpacking node's result, by the index of the unpacking node."""

    def notice(self, node: NodeView) -> bool:
        """Record a node if it unpacks a constant. Return whether the node was recorded."""
        if node.op == "DEQUANTIZE":
            if not self.widens_constant(node):
                return False
            if node.input(0).type == "FLOAT16" and _is_read_as_weights_only(node):
                self.elided_float16[node.output(0).index] = node.input(0).index
        elif node.op != "DENSIFY" or not densifies_constant(node):
            return False
        self.producers[node.output(0).index] = node.node.index
        return True

    def makes(self, tensor: Tensor) -> bool:
        """Return whether a recorded node unpacks this tensor."""
        return bool(self.producers) and tensor.index in self.producers

    def is_elided(self, tensor: Tensor) -> bool:
        """Return whether a float16 constant replaces a tensor in all readers."""
        return bool(self.elided_float16) and tensor.index in self.elided_float16

    def drop_producers_of(self, node: Node) -> None:
        """Record a refused node. As a result, the nodes that unpack the operands of this node stay on the CPU."""
        for tensor in node.inputs if self.producers else ():
            if tensor in self.producers:
                self.refused_readers.setdefault(self.producers[tensor], node)

    def widens_constant(self, node: NodeView) -> bool:
        """Return whether a DEQUANTIZE node converts a constant or an unpacked tensor to FLOAT32.

        The tensor must be FLOAT16 or quantized INT8, and must not be sparse.
        """
        source = node.input(0)
        return (
            _has_one_operand_and_result(node)
            and (
                source.type == "FLOAT16" or (source.type == "INT8" and (source.quantization is not None or self._takes_bare_int8))
            )
            and (source.is_constant or self.makes(source))
            and source.sparsity is None
            and node.output(0).type == "FLOAT32"
        )


def densifies_constant(node: NodeView) -> bool:
    """Return whether a DENSIFY node unpacks a sparse constant of a supported type."""
    source = node.input(0)
    return (
        _has_one_operand_and_result(node)
        and source.is_constant
        and source.sparsity is not None
        and source.type in ("FLOAT16", "INT8", "FLOAT32")
        and node.output(0).type == source.type
    )


def _has_one_operand_and_result(node: NodeView) -> bool:
    return not node.node.is_custom and len(node.node.inputs) == len(node.node.outputs) == 1


def _is_read_as_weights_only(node: NodeView) -> bool:
    """Return whether every reader accepts the node's result as float16 weights, and no reader has the result as first operand."""
    result = node.output(0).index
    return all(
        not reader.is_custom and reader.op in _READ_FLOAT16_WEIGHTS and reader.input(0) != result
        for reader in node.graph.readers.get(result, ())
    )
