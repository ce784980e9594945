"""Checks that only the NNAPI rules use, in addition to the checks that all delegates share.

Source: ``NNAPIDelegateKernel::Validate`` and its ``Expect...`` helpers (``delegates/nnapi/nnapi_delegate.cc``). The delegate
collects every failed check, and has its own names for the failures.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from ....foundation.float32 import float32
from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules import kinds
from ....rules.operands import INPUT, OUTPUT, Operand, at_most, operand
from ....rules.rule import Check, OpRule
from ....rules.source import LITERT, Source
from ....rules.vocabulary import activation, check, check_for_target, refused_if, typed, version
from ..target import FEATURE_LEVEL, OUTPUT_TYPE, RESTRICTED_SCALES, UNSUPPORTED_INPUT_TYPE, NnapiTarget, level_in_words

SOURCE = Source(LITERT, "tflite/delegates/nnapi/nnapi_delegate.cc", "NNAPIDelegateKernel::Validate")

FLOAT = ("FLOAT32",)
QUANT8 = ("UINT8", "INT8")
FLOAT_UINT8 = ("FLOAT32", "UINT8")
FLOAT_INT32 = ("FLOAT32", "INT32")
FLOAT_UINT8_INT32 = ("FLOAT32", "INT32", "UINT8")
FLOAT_QUANT8 = ("FLOAT32", *QUANT8)
FLOAT_QUANT8_INT32 = (*FLOAT_QUANT8, "INT32")
FLOAT16_QUANT8_INT32 = ("FLOAT16", *FLOAT_QUANT8_INT32)
INT32 = ("INT32",)

_LEVEL = "level"
"""The first item of ``Check.data`` in a demand for a feature level."""

_helper = SOURCE.with_symbol

FLOAT_OPERAND = typed(INPUT, FLOAT).from_source(_helper("ExpectIsFloatOperator"))
FLOAT_UINT8_OPERAND = typed(INPUT, FLOAT_UINT8).from_source(_helper("ExpectIsFloatOrUint8Operator"))
FLOAT_QUANT8_OPERAND = typed(INPUT, FLOAT_QUANT8).from_source(_helper("ExpectIsFloatOrQuant8Operator"))
FLOAT_QUANT8_INT32_OPERAND = typed(INPUT, FLOAT_QUANT8_INT32).from_source(_helper("ExpectIsFloatQuant8OrInt32Operator"))


def max_op_version(limit: int) -> Check[object]:
    """Require an operator version of at most ``limit`` (``ExpectMaxOpVersion``)."""
    return version(at_most(limit)).from_source(_helper("ExpectMaxOpVersion"))


def op_version(limit: int) -> Check[object]:
    """Require an operator version of at most ``limit``. ``ExpectOpVersion`` accepts lower versions, despite the name."""
    return version(at_most(limit)).from_source(_helper("ExpectOpVersion"))


def level_demand(minimum: int) -> Check[NnapiTarget]:
    """Return a check for a feature level of at least ``minimum``."""

    def find(_: NodeView, target: NnapiTarget) -> str | None:
        return None if target.level >= minimum else level_in_words(target.level)

    return replace(check_for_target(FEATURE_LEVEL, level_in_words(minimum), find), data=(_LEVEL, minimum))


def accepts_at_level(rule: OpRule[NnapiTarget], target: NnapiTarget) -> bool:
    """Return whether the feature level of a target is high enough for some nodes of an operator."""
    counted = [check for check in rule.checks if all(condition.holds(target) for condition in check.conditions)]
    lowest = [check.data[1] for check in counted if check.data[:1] == (_LEVEL,)]
    return all(isinstance(level, int) and target.level >= level for level in lowest)


def min_level(minimum: int) -> Check[NnapiTarget]:
    """Require a feature level of at least ``minimum`` (``ExpectMinAndroidSdkVersion``)."""
    return level_demand(minimum).from_source(_helper("ExpectMinAndroidSdkVersion"))


def type_in(which: Operand, types: Collection[str]) -> Check[object]:
    """Require that an operand or a result has one of these types (``ExpectTypeIn``)."""
    kind = OUTPUT_TYPE if which.is_result else kinds.TENSOR_TYPE
    return typed(which, types, kind=kind).from_source(_helper("ExpectTypeIn"))


def constant_int32(which: Operand) -> Check[object]:
    """Require that an operand is a constant of type INT32."""

    def find(node: NodeView) -> str | None:
        tensor = which.tensor(node)
        return None if tensor.type == "INT32" and tensor.is_constant else f"{which.name} is {type_and_storage(tensor)}"

    demand = check(kinds.CONSTANT, f"a constant INT32 {which.name}", find, f"store {which.name} as an INT32 constant")
    return demand.reported_as(UNSUPPORTED_INPUT_TYPE)


def type_and_storage(tensor: Tensor) -> str:
    """Return a tensor's type followed by "constant" or "not constant"."""
    return f"{tensor.type}, {'constant' if tensor.is_constant else 'not constant'}"


def not_hybrid(is_hybrid: Callable[[NodeView], bool]) -> Check[object]:
    """Require that the operands are all float or all quantized."""
    needed = "operands that are all float or all quantized"
    check = refused_if(kinds.HYBRID, needed, is_hybrid, "float input with quantized weights")
    return check.from_source(_helper("IsHybridOperator"))


def _unrestricted_scales(node: NodeView) -> str | None:
    """Return the scales of a UINT8 node as text if the output scale is at most input scale * weight scale; otherwise None.

    The product is computed in float32, as in the real delegate.
    """
    first, weights, output = INPUT.tensor(node), operand(1).tensor(node), OUTPUT.tensor(node)
    if first.type != "UINT8":
        return None
    product = float32(float32(first.scale) * float32(weights.scale))
    if product < float32(output.scale):
        return None
    return f"input scale * weight scale = {product:g}, output scale {output.scale:g}"


RESTRICTED_SCALES_ONLY = check(
    RESTRICTED_SCALES, "an output scale above input scale * weight scale", _unrestricted_scales
).from_source(_helper("ExpectIsRestrictedScalesCompliant"))

NO_ACTIVATION = activation(("NONE",))


def quantized_as(which: Operand, needed: str, holds: Callable[[Tensor], bool], hint: str) -> Check[object]:
    """Require that a tensor has certain quantization parameters."""

    def find(node: NodeView) -> str | None:
        tensor = which.tensor(node)
        return None if holds(tensor) else f"{which.name} scale {tensor.scale:g}, zero point {tensor.zero_point}"

    return check(kinds.QUANTIZATION, f"{which.name} with {needed}", find, hint)
