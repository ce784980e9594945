"""Variables. The nodes that define, assign and read a variable are delegated together.

Source: ``ResourceInfo``, and the visits to VAR_HANDLE, ASSIGN_VARIABLE and READ_VARIABLE
(``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

from ...graph.graph import NodeView
from ...model.model import Tensor
from ...rules.operands import OUTPUT, Operand, operand

VALUES: dict[str, Operand] = {"ASSIGN_VARIABLE": operand(1, "value"), "READ_VARIABLE": OUTPUT}
"""The operand or result that has the type and shape of the variable, by operator."""


class _Resource:
    """A resource tensor: its variable, the variable's VAR_HANDLE node, and a tensor with the variable's type and shape."""

    __slots__ = ("handle", "value", "variable")

    def __init__(self, variable: tuple[str, str], handle: int) -> None:
        self.variable = variable
        self.handle = handle
        self.value: Tensor | None = None


class Variables:
    """The resource tensors of a subgraph, collected while the nodes are visited in order."""

    def __init__(self) -> None:
        self._resources: dict[int, _Resource] = {}

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
