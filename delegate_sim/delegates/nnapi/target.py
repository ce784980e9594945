"""The target of the NNAPI rules, the kinds of problem that rules and drivers report, and checks that only the NNAPI rules use.

Source: ``nnapi_delegate_kernel.h``, ``NeuralNetworksTypes.h``, ``NNAPIDelegateKernel::Validate`` and its ``Expect...`` helpers
(``delegates/nnapi/nnapi_delegate.cc``). The delegate collects every failed check, and has its own names for the failures.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

from ...foundation.float32 import float32
from ...graph.graph import NodeView
from ...model.model import Tensor
from ...nnapi_runtime.types import API_LEVELS
from ...releases.catalogue import NEWEST, Release
from ...rules import kinds
from ...rules.kinds import kinds_in
from ...rules.operands import INPUT, OUTPUT, Operand, at_most, operand
from ...rules.rule import LITERT, Check, Condition, OpRule, Source
from ...rules.vocabulary import activation, check, check_for_target, refused_if, typed, version
from .. import decision

UNSUPPORTED_INPUT_TYPE = "kUnsupportedInputType"
UNSUPPORTED_OUTPUT_TYPE = "kUnsupportedOutputType"
UNSUPPORTED_OPERAND_RANK = "kUnsupportedOperandRank"
UNSUPPORTED_OPERAND_VALUE = "kUnsupportedOperandValue"
UNSUPPORTED_OPERATOR_VARIANT = "kUnsupportedOperatorVariant"

PREFIX = "nnapi-runtime-"
"""Prefix of the codes of problems that the runtime reports."""

_RULES = kinds_in("delegates/nnapi", "rules")
_DRIVER = kinds_in("delegates/nnapi", "driver", is_shared=True)
FAILURES = kinds_in("delegates/nnapi", "failures", is_shared=True)
"""The kinds of failures to initialize the kernel of a partition, by code."""

kernel_failure = functools.partial(decision.kernel_failure, FAILURES)

FEATURE_LEVEL = _RULES["feature-level"]
OUTPUT_TYPE = _RULES["output-type"]
SCALAR_OUTPUT = _RULES["scalar-output"]
PER_CHANNEL_WEIGHTS = _RULES["per-channel"]
RESTRICTED_SCALES = _RULES["restricted-scales"]
FILTER_AREA = _RULES["filter-area"]
DENSE_WEIGHTS = _RULES["dense-weights"]
DRIVER = _DRIVER["nnapi-driver"]
HIDDEN = _DRIVER["nnapi-runtime-hidden"]
FLOAT16_ALL_OR_NOTHING = _DRIVER["float16-all-or-nothing"]
KINDS = tuple(_RULES.values())
"""Every kind of problem that the rules report, with texts that are specific to NNAPI."""


FEATURE_LEVELS = tuple(API_LEVELS.values())
"""NNAPI's numbers for the feature levels, lowest first."""
NNAPI_1_0, NNAPI_1_1, NNAPI_1_2, NNAPI_1_3, FEATURE_LEVEL_5, FEATURE_LEVEL_6, FEATURE_LEVEL_7, FEATURE_LEVEL_8 = FEATURE_LEVELS

REFERENCE_DEVICE = "nnapi-reference"
"""The name of NNAPI's own CPU implementation."""

LEVELS_BY_NAME: Mapping[str, int] = dict(zip(["1.0", "1.1", "1.2", "1.3", "5", "6", "7", "8"], FEATURE_LEVELS, strict=True))
"""NNAPI's number for each NNAPI version (up to 1.3) and for each feature level (after 1.3), by name, lowest first."""

_ANDROID = {NNAPI_1_0: "8.1", NNAPI_1_1: "9", NNAPI_1_2: "10", NNAPI_1_3: "11", FEATURE_LEVEL_5: "12"}
"""The Android release of each feature level up to 5. Later levels do not belong to an Android release."""


def level_in_words(level: int) -> str:
    """Return a feature level in words, for example "NNAPI 1.2 (29, Android 10)"."""
    name = next(name for name, number in LEVELS_BY_NAME.items() if number == level)
    words = f"NNAPI feature level {name}" if level >= FEATURE_LEVEL_5 else f"NNAPI {name}"
    return f"{words} ({level}, Android {_ANDROID[level]})" if level in _ANDROID else f"{words} ({level})"


class NnapiTarget(NamedTuple):
    """The target of ``Validate``: the feature level, whether an accelerator is specified, and the release of the runtime."""

    level: int
    has_accelerator: bool
    release: Release = NEWEST


def from_level(name: str) -> Condition[NnapiTarget]:
    """Return the condition that the feature level is at least the level with a name, such as "1.2" or "6"."""
    level = LEVELS_BY_NAME[name]
    return Condition(f"from level {level}", lambda target: target.level >= level)


def below_level(name: str) -> Condition[NnapiTarget]:
    """Return the condition that the feature level is below the level with a name."""
    level = LEVELS_BY_NAME[name]
    return Condition(f"below level {level}", lambda target: target.level < level)


def with_accelerator(is_specified: bool) -> Condition[NnapiTarget]:
    """Return the condition that an accelerator is specified, or is not specified if ``is_specified`` is False."""
    words = "with accelerator" if is_specified else "without accelerator"
    return Condition(words, lambda target: target.has_accelerator == is_specified)


QUANT8 = ("UINT8", "INT8")
QUANTIZED_TYPES = frozenset(QUANT8)
"""All types that ``IsQuantized`` accepts, except INT16."""


def hybrid_with_weights(position: int) -> Callable[[NodeView], bool]:
    """Return the predicate ``IsHybridOperator`` for operators with weights at ``position``.

    Hybrid nodes have float activations and quantized weights.
    """

    def is_hybrid(node: NodeView) -> bool:
        return node.input(0).type == "FLOAT32" and node.input(position).type in QUANTIZED_TYPES

    return is_hybrid


def is_hybrid_lstm(node: NodeView) -> bool:
    """Return whether an LSTM is full and hybrid (``IsHybridOperator``). A basic LSTM is never hybrid."""
    return is_full_lstm(node) and _has_hybrid_weights(node)


_has_hybrid_weights = hybrid_with_weights(2)


def is_basic_lstm(node: NodeView) -> bool:
    """Return whether an LSTM is basic, with one weights operand for all gates (``isLstmBasicKernel``)."""
    return len(node.inputs) == 5


def is_full_lstm(node: NodeView) -> bool:
    """Return whether an LSTM is full, with one weights operand per gate (``isLstmFullKernel``).

    Layer normalization is optional.
    """
    return len(node.inputs) in (20, 24)


def is_runtime_float16_dequantize(node: NodeView) -> bool:
    """Return whether the node converts float16 values that are not constant to float32 (``IsDequantizeNonConstFloat16``)."""
    return node.op == "DEQUANTIZE" and node.input(0).type == "FLOAT16" and not node.input(0).is_constant


def is_constant_densify(node: NodeView) -> bool:
    """Return whether the node unpacks constant sparse weights (``IsDensifyConstTensor``)."""
    return node.op == "DENSIFY" and node.input(0).is_constant


SOURCE = Source(LITERT, "tflite/delegates/nnapi/nnapi_delegate.cc", "NNAPIDelegateKernel::Validate")

FLOAT = ("FLOAT32",)
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


def level_demand(name: str) -> Check[NnapiTarget]:
    """Return a check for a feature level of at least the level with a name, such as "1.2" or "6"."""
    minimum = LEVELS_BY_NAME[name]

    def find(_: NodeView, target: NnapiTarget) -> str | None:
        return None if target.level >= minimum else level_in_words(target.level)

    return replace(check_for_target(FEATURE_LEVEL, level_in_words(minimum), find), data=(_LEVEL, minimum))


def accepts_at_level(rule: OpRule[NnapiTarget], target: NnapiTarget) -> bool:
    """Return whether the feature level of a target is high enough for some nodes of an operator."""
    counted = [check for check in rule.checks if all(condition.holds(target) for condition in check.conditions)]
    lowest = [check.data[1] for check in counted if check.data[:1] == (_LEVEL,)]
    return all(isinstance(level, int) and target.level >= level for level in lowest)


def min_level(name: str) -> Check[NnapiTarget]:
    """Require a feature level of at least the level with a name (``ExpectMinAndroidSdkVersion``)."""
    return level_demand(name).from_source(_helper("ExpectMinAndroidSdkVersion"))


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
