"""The activation fused into an operator."""

from __future__ import annotations

from typing import Protocol

from ..model import schema
from ..model.options import Options


class HasOptions(Protocol):
    """A node, as rules or CPU kernels see it."""

    @property
    def options(self) -> Options:
        """The builtin options."""


def fused_activation(node: HasOptions) -> str:
    """``ConvertActivation`` (``flatbuffer_conversions.cc``): the schema's name; what is unknown counts as NONE."""
    return schema.enum_names("ActivationFunctionType").get(node.options.fused_activation_function, "NONE")
