"""The activation fused into an operator."""

from __future__ import annotations

from typing import Protocol

from ..model import schema
from ..model.options import Options


class HasOptions(Protocol):
    """The interface of a node with builtin options: ``NodeView`` for rules, and ``KernelNode`` for CPU kernels."""

    @property
    def options(self) -> Options:
        """The builtin options."""


def fused_activation(node: HasOptions) -> str:
    """Return the schema's name of the fused activation; an unknown value counts as NONE.

    Source: ``ConvertActivation`` (``flatbuffer_conversions.cc``).
    """
    return schema.enum_names("ActivationFunctionType").get(node.options.fused_activation_function, "NONE")
