"""The kinds of problem that TensorFlow Lite Micro reports. Some kinds have a wording of their own for this runtime."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..rules import kinds
from ..rules.kinds import Explanation, Kind, Problem
from ..rules.rule import Reason

MISSING_OPERATOR = Kind(
    "missing-operator",
    Problem.OPERATOR,
    "operator that the resolver lacks",
    "The application does not register the operator, or TensorFlow Lite Micro has no kernel for it. The interpreter looks up "
    "the kernels of all operators before it allocates tensors. If a kernel is missing, the allocation fails.",
    "If the runtime has a kernel for the operator, register the operator in the application's resolver, and give the resolver "
    "enough room. Otherwise, replace the operator in the model. For a custom operator, you can also register your own kernel "
    "with AddCustom.",
    "replace the operator in the model",
)
DYNAMIC_TENSOR = Kind(
    "dynamic-tensor",
    Problem.DYNAMIC_SHAPE,
    "result without a fixed size",
    "The runtime plans all memory before the first inference. After Prepare, every dimension of a node's results must be "
    "greater than 0.",
    "Fix the shapes of the model before converting it, so that no dimension is 0 or unknown.",
    "fix the shapes of the model before converting it",
)
HYBRID = kinds.HYBRID.reworded(
    meaning="The kernels take operands of the same type, or int8 or int16 activations with int8 weights. They do not support "
    "float activations with quantized weights, as in models with dynamic-range quantization.",
    advice="Quantize fully: int8 activations and weights, with a representative data set.",
    hint="quantize fully to int8, with a representative data set",
)
TENSOR_TYPE = kinds.TENSOR_TYPE.reworded(
    meaning="The kernel does not support this type. Most kernels support int8 and float32, several support int16, and few "
    "support uint8 or int64.",
    advice="Convert the model to int8 with a representative data set. A model with uint8 tensors was written by an old "
    "converter: convert this model again.",
    hint="convert so that the tensor has a supported type, such as int8",
)
KINDS = (
    MISSING_OPERATOR,
    DYNAMIC_TENSOR,
    TENSOR_TYPE,
    HYBRID,
    kinds.QUANTIZATION,
    kinds.RANK,
    kinds.SHAPE,
    kinds.BROADCAST,
    kinds.CONSTANT,
    kinds.OPERAND_VALUE,
    kinds.ATTRIBUTE,
    kinds.ACTIVATION,
    kinds.OPERAND_COUNT.reworded(
        meaning="The node does not have the number of operands or results that the kernel requires.",
        advice="Convert the model again, so that the node has the operands that the kernel expects.",
        hint="give the node the operands that the kernel expects",
    ),
)
"""Every kind of problem in the rules, with the runtime's wording."""

NAME = "micro"
"""The name of the runtime in codes."""
EXPLAINED: Mapping[str, Explanation] = MappingProxyType(
    {kind.code(NAME): kind.explanation for kind in (*KINDS, kinds.MALFORMED_OPERANDS)}
)
"""The explanation of each code."""


def reason(kind: Kind, found: str, needed: str, hint: str = "") -> Reason:
    """Return a reason of this kind. ``hint`` replaces the hint of the kind."""
    return Reason(kind.code(NAME), kind.name, f"{found}; needs {needed}", found, needed, hint or kind.hint)
