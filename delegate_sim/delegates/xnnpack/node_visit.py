"""The delegate's state while it visits the nodes of a subgraph in order.

Source: the code for quasi-static tensors in ``Delegate::PrepareOpsToDelegate`` (``delegates/xnnpack/xnnpack_delegate.cc``).

Source: ``ResourceInfo``, and the visits to VAR_HANDLE, ASSIGN_VARIABLE and READ_VARIABLE
(``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

from ...graph.graph import NodeView
from ...model.model import Node, Tensor
from ...releases.catalogue import NEWEST, Release, parse_release
from ...rules.operands import OUTPUT, Operand, operand
from .target import XnnpackTarget

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


VALUES: dict[str, Operand] = {"ASSIGN_VARIABLE": operand(1, "value"), "READ_VARIABLE": OUTPUT}
"""The operand or result that has the type and shape of the variable, by operator."""


class _Resource:
    __slots__ = ("handle", "value", "variable")

    def __init__(self, variable: tuple[str, str], handle: int) -> None:
        self.variable = variable
        self.handle = handle
        self.value: Tensor | None = None


class Variables:
    """The resource tensors of a subgraph, collected while the nodes are visited in order."""

    def __init__(self) -> None:
        self._resources: dict[int, _Resource] = {}

    @property
    def are_absent(self) -> bool:
        """True if no VAR_HANDLE was visited."""
        return not self._resources

    def define(self, node: NodeView) -> None:
        """Record a VAR_HANDLE, unless its resource tensor already refers to another variable (``SetVarHandle``)."""
        resource, variable = node.output(0).index, (node.options.container or "", node.options.shared_name or "")
        known = self._resources.setdefault(resource, _Resource(variable, node.node.index))
        if known.variable == variable:
            known.handle = node.node.index

    def bind(self, node: NodeView) -> None:
        """Record a supported node that reads or assigns a variable. The first node sets the variable's type and shape."""
        known = self._resources.get(node.input(0).index)
        if known is not None and known.value is None:
            known.value = VALUES[node.op].tensor(node)

    def conflict(self, resource: Tensor, value: Tensor) -> str | None:
        """Return the reason why a variable cannot hold a value, or None if there is no reason (``AddProxyValue``)."""
        known = self._resources.get(resource.index)
        if known is None:
            return "no VAR_HANDLE before this node"
        if known.value is not None and (known.value.type, known.value.shape) != (value.type, value.shape):
            return f"{value.type} {list(value.shape)}, but an earlier node has {known.value.type} {list(known.value.shape)}"
        return None

    def has_value(self, handle: NodeView) -> bool:
        """Return whether a VAR_HANDLE is recorded, and a supported node uses the variable."""
        known = self._resources.get(handle.output(0).index)
        return known is not None and known.value is not None and known.handle == handle.node.index

    def value_of(self, resource: int) -> Tensor | None:
        """Return a tensor with the variable's type and shape, or None if no supported node uses the variable."""
        known = self._resources.get(resource)
        return None if known is None else known.value


class Visit:
    """The target, and the state that the visited nodes have set. Rules only read this state."""

    __slots__ = ("target", "unpacking", "variables")

    def __init__(self, target: XnnpackTarget | None = None) -> None:
        self.target = target or XnnpackTarget()
        self.unpacking = Unpacking(self.release)
        self.variables = Variables()

    def reads_only(self, node: Node) -> bool:
        """Return whether rules read only the target for a node, because visited nodes set no state for its operands."""
        made = self.unpacking.producers.keys()
        is_apart = node.op not in UNPACKING and made.isdisjoint(node.inputs) and made.isdisjoint(node.outputs)
        return is_apart and self.variables.are_absent

    @property
    def release(self) -> Release:
        """The release of the runtime."""
        return self.target.release
