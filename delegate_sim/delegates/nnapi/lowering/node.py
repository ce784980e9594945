"""Nodes during lowering, with flags for their NNAPI operands (``AddOpsAndTensors``, ``nnapi_delegate.cc``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ....graph.graph import NodeView
from ....model.options import Options
from ..target import NNAPI_1_3
from .operand_types import CONVERT_INT8, SCALAR_AS_TENSOR, SIGNED, WIDEN


@dataclass(frozen=True, slots=True)
class OperandTraits:
    """Properties of an operator that affect the NNAPI operands of its tensors."""

    takes_scalars: bool = False
    """Whether scalars become vectors with one element (``IsScalarInputSupported``)."""
    converts_int8: Callable[[NodeView], bool] | None = None
    """Whether INT8 becomes UINT8 below NNAPI 1.3 (``NeedInt8Conversion``)."""
    converts_all_inputs: bool = False
    """Whether ``converts_int8`` applies to every input. If False, ``converts_int8`` applies only to the first input."""
    is_hybrid: Callable[[NodeView], bool] | None = None
    """Whether a node has float activations and quantized weights (``IsHybridOperator``)."""


PLAIN = OperandTraits()
"""The traits of operators without conversions of tensors."""


class LoweredNode:
    """A node that is lowered for a feature level, with the flags of the node's operands and results."""

    __slots__ = (
        "_flags",
        "_traits",
        "converts_int8",
        "index",
        "inputs",
        "is_hybrid",
        "operation",
        "output_flags",
        "outputs",
        "view",
    )

    def __init__(self, view: NodeView, operation: str, traits: OperandTraits, target_feature_level: int) -> None:
        node = view.node
        self.view = view
        self.operation = operation
        self.index, self.inputs, self.outputs = node.index, node.inputs, node.outputs
        self._traits = traits
        has_signed = target_feature_level >= NNAPI_1_3
        self.is_hybrid = traits.is_hybrid is not None and traits.is_hybrid(view)
        self.converts_int8 = not has_signed and traits.converts_int8 is not None and traits.converts_int8(view)
        signed = SIGNED if has_signed and not self.is_hybrid else 0
        self._flags = (SCALAR_AS_TENSOR if traits.takes_scalars else 0) | signed
        self.output_flags = (CONVERT_INT8 if self.converts_int8 else 0) | signed

    @property
    def options(self) -> Options:
        """The builtin options."""
        return self.view.options

    def operand(self, position: int) -> int:
        """Return the tensor index of an operand, or -1 if the operand is omitted."""
        return self.inputs[position] if position < len(self.inputs) else -1

    def result(self, position: int) -> int:
        """Return the tensor index of a result, or -1 if the node does not have the result."""
        return self.outputs[position] if position < len(self.outputs) else -1

    def flags(self, position: int) -> int:
        """Return the flags of an operand.

        A float16 operand becomes float32 if the operand itself or an earlier operand is a float16 constant.
        """
        flags = self._flags
        if self.view.input(position).type == "FLOAT16" and any(
            tensor.type == "FLOAT16" and tensor.is_constant for tensor in self.view.inputs[: position + 1]
        ):
            flags |= WIDEN
        if self.converts_int8 and (position == 0 or self._traits.converts_all_inputs):
            flags |= CONVERT_INT8
        return flags


def first_is_int8(view: NodeView) -> bool:
    """Return whether the first operand is INT8."""
    return view.input(0).type == "INT8"


def weights_are_int8(view: NodeView) -> bool:
    """Return whether the input is INT8, and the weights are INT8 or UINT8 with affine quantization."""
    weights = view.input(1)
    quantization = weights.quantization
    is_affine = quantization is not None and quantization.is_affine
    return view.input(0).type == "INT8" and weights.type in ("INT8", "UINT8") and is_affine
