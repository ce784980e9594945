"""The activation fused into an operator."""

from __future__ import annotations

from typing import Protocol

from ..model import schema
from ..model.options import Options

ACTIVATION_BOUNDS = {"RELU": (0.0,), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}
"""The bounds of each fused activation that clips its result."""


class HasOptions(Protocol):
    """Interface of objects with builtin options, such as ``NodeView``."""

    @property
    def options(self) -> Options:
        """The builtin options."""


def fused_activation(node: HasOptions) -> str:
    """Return the schema's name of the fused activation, or NONE if the value is unknown.

    Source: ``ConvertActivation`` (``flatbuffer_conversions.cc``).
    """
    return schema.enum_names("ActivationFunctionType").get(node.options.fused_activation_function, "NONE")
