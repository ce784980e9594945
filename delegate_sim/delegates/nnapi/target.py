"""The target of the NNAPI rules, the kinds of problem that rules and drivers report, and questions about nodes.

Source: ``nnapi_delegate_kernel.h``, ``NeuralNetworksTypes.h``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ...graph.graph import NodeView
from ...releases.catalogue import NEWEST, Release
from ...rules.kinds import kinds_in
from ...rules.rule import Condition
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
PER_CHANNEL = _RULES["per-channel"]
RESTRICTED_SCALES = _RULES["restricted-scales"]
FILTER_AREA = _RULES["filter-area"]
DENSE_WEIGHTS = _RULES["dense-weights"]
DRIVER = _DRIVER["nnapi-driver"]
HIDDEN = _DRIVER["nnapi-runtime-hidden"]
FLOAT16_ALL_OR_NOTHING = _DRIVER["float16-all-or-nothing"]
KINDS = tuple(_RULES.values())
"""Every kind of problem that the rules report, with texts that are specific to NNAPI."""


NNAPI_1_0 = 27
NNAPI_1_1 = 28
NNAPI_1_2 = 29
NNAPI_1_3 = 30
FEATURE_LEVEL_5 = 31
FEATURE_LEVEL_6 = 1000006
FEATURE_LEVEL_7 = 1000007
FEATURE_LEVEL_8 = 1000008

REFERENCE_DEVICE = "nnapi-reference"
"""The name of NNAPI's own CPU implementation."""

LEVELS_BY_NAME: Mapping[str, int] = {
    "1.0": NNAPI_1_0,
    "1.1": NNAPI_1_1,
    "1.2": NNAPI_1_2,
    "1.3": NNAPI_1_3,
    "5": FEATURE_LEVEL_5,
    "6": FEATURE_LEVEL_6,
    "7": FEATURE_LEVEL_7,
    "8": FEATURE_LEVEL_8,
}
"""NNAPI's number for each NNAPI version (up to 1.3) and for each feature level (after 1.3), by name, lowest first."""
FEATURE_LEVELS = tuple(LEVELS_BY_NAME.values())

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


def from_level(level: int) -> Condition[NnapiTarget]:
    """Return the condition that the feature level is at least ``level``."""
    return Condition(f"from level {level}", lambda target: target.level >= level)


def below_level(level: int) -> Condition[NnapiTarget]:
    """Return the condition that the feature level is below ``level``."""
    return Condition(f"below level {level}", lambda target: target.level < level)


def with_accelerator(is_specified: bool) -> Condition[NnapiTarget]:
    """Return the condition that an accelerator is specified, or is not specified if ``is_specified`` is False."""
    words = "with accelerator" if is_specified else "without accelerator"
    return Condition(words, lambda target: target.has_accelerator == is_specified)


QUANTIZED_TYPES = frozenset({"UINT8", "INT8"})
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
