"""Properties of the rules of all operators, against ``NNAPIDelegateKernel::Validate`` in ``nnapi_delegate.cc``."""

from __future__ import annotations

import itertools
import string

import pytest

from delegate_sim.delegates.nnapi.rules import RULES
from delegate_sim.delegates.nnapi.target import FAILURES, FEATURE_LEVELS, NnapiTarget
from delegate_sim.model import schema
from delegate_sim.model.schema import FAMILIES
from delegate_sim.releases.catalogue import NEWEST
from tests.support.delegates.nnapi_cases import (
    activation,
    arithmetic,
    conversion,
    convolution,
    filling,
    gathering,
    joining,
    matrix,
    padding,
    pooling,
    recurrent,
    reduction,
    reshaping,
    resizing,
    slicing,
)
from tests.support.delegates.nnapi_rule_cases import FLOAT, LEVEL_6, LEVEL_7, TARGETS, UINT8, assert_failures, replaced
from tests.support.graphs import arena, node_view
from tests.support.tables import for_each

FAMILY_CASES = {
    "activation": activation.CASES,
    "arithmetic": arithmetic.CASES,
    "conversion": conversion.CASES,
    "convolution": convolution.CASES,
    "filling": filling.CASES,
    "gathering": gathering.CASES,
    "joining": joining.CASES,
    "matrix": matrix.CASES,
    "padding": padding.CASES,
    "pooling": pooling.CASES,
    "recurrent": recurrent.CASES,
    "reduction": reduction.CASES,
    "reshaping": reshaping.CASES,
    "resizing": resizing.CASES,
    "slicing": slicing.CASES,
}
CASES = [case for cases in FAMILY_CASES.values() for case in cases.all]
ACCEPTED = {op: case for cases in FAMILY_CASES.values() for op, case in cases.of_operator.items()}


@for_each(CASES, lambda case: case.name)
def test_failures_in_order_at_every_level(case):
    assert_failures(case)


def test_every_reason_says_what_was_found_and_what_was_needed():
    reasons = {reason for case in CASES for target in TARGETS for reason in RULES.validate(case.node, target).reasons}
    assert all(reason.found and reason.needed for reason in reasons)
    assert all(reason.message == f"{reason.found}; needs {reason.needed}" for reason in reasons)


# Operators that have no rule

_UNMAPPED = [("nnapi-operator", "kUnsupportedOperator")]


@for_each(sorted(set(schema.enum_names("BuiltinOperator").values()) - set(RULES.rules) - {"CUSTOM"}))
def test_operators_that_are_not_mapped(op):
    view = node_view(op, [FLOAT], [FLOAT])
    for target in TARGETS:
        assert [(reason.code, reason.kind) for reason in RULES.validate(view, target).reasons] == _UNMAPPED


def test_custom_operators_are_not_mapped_whatever_their_name():
    for target in TARGETS:
        verdict = RULES.validate(node_view("ADD", [FLOAT, FLOAT], [FLOAT], custom=True), target)
        assert [(reason.code, reason.kind) for reason in verdict.reasons] == _UNMAPPED


# Versions

_VERSION_LIMITS = {
    1: "ABS BIDIRECTIONAL_SEQUENCE_LSTM CAST COS DIV ELU EMBEDDING_LOOKUP EXP EXPAND_DIMS FILL FLOOR HASHTABLE_LOOKUP L2_POOL_2D "
    "LEAKY_RELU LOCAL_RESPONSE_NORMALIZATION LOG LOGICAL_AND LOGICAL_NOT LOGICAL_OR LOG_SOFTMAX LSH_PROJECTION POW PRELU "
    "REDUCE_PROD RESHAPE RNN SIN SQRT SQUEEZE SUM SVDF TILE UNIDIRECTIONAL_SEQUENCE_RNN",
    2: "ADD ARG_MAX ARG_MIN AVERAGE_POOL_2D BATCH_MATMUL BATCH_TO_SPACE_ND CONCATENATION DEQUANTIZE EQUAL GATHER GREATER "
    "GREATER_EQUAL L2_NORMALIZATION LESS LESS_EQUAL LOGISTIC MAX_POOL_2D MEAN MIRROR_PAD MUL NEG NOT_EQUAL PACK PAD PADV2 "
    "QUANTIZE REDUCE_ANY REDUCE_MAX REDUCE_MIN RELU RELU6 RELU_N1_TO_1 RSQRT SELECT SLICE SOFTMAX SPACE_TO_BATCH_ND "
    "SPACE_TO_DEPTH SPLIT_V SQUARED_DIFFERENCE STRIDED_SLICE TANH TOPK_V2 TRANSPOSE UNIDIRECTIONAL_SEQUENCE_LSTM UNPACK",
    3: "DEPTHWISE_CONV_2D LSTM MAXIMUM MINIMUM RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR REVERSE_V2 SPLIT SUB",
    4: "TRANSPOSE_CONV",
    5: "CONV_2D FULLY_CONNECTED",
    99: "DENSIFY DEPTH_TO_SPACE HARD_SWISH",
}
_VERSIONS = [(op, limit) for limit, ops in _VERSION_LIMITS.items() for op in ops.split()]


@for_each(_VERSIONS)
def test_versions(operator):
    op, limit = operator

    def kinds(version):
        view = node_view(op, **{**ACCEPTED[op].arguments, "version": version})
        return [reason.kind for reason in RULES.validate(view, NnapiTarget(LEVEL_7, False)).reasons]

    accepted_versions = [version for version in range(1, 12) if not kinds(version)]
    assert accepted_versions == [version for version in range(1, 12) if version <= limit]
    assert all(kinds(version) == ["kUnsupportedOperatorVersion"] for version in range(limit + 1, 12))


def test_dequantize_has_no_version_0():
    view = node_view("DEQUANTIZE", [UINT8], [FLOAT], version=0)
    assert [reason.kind for reason in RULES.validate(view, NnapiTarget(30, True)).reasons] == ["kUnsupportedOperatorVersion"]


# Types

_ALL = frozenset(schema.enum_names("TensorType").values())
_F = frozenset({"FLOAT32"})
_FU = _F | {"UINT8"}
_FQ = _FU | {"INT8"}
_FUI = _FU | {"INT32"}
_FQI = _FQ | {"INT32"}
_I = frozenset({"INT32"})
_U = frozenset({"UINT8"})
_Q = _U | {"INT8"}

_TYPES: list[tuple[str, str, int, dict[int, frozenset[str]]]] = [
    ("ADD MUL", "inputs", 0, {27: _FQ, 30: _FQI}),
    ("SUB", "inputs", 0, {27: frozenset(), 28: _F, 29: _FQ, 30: _FQI}),
    ("SQUARED_DIFFERENCE", "inputs", 0, {27: _F, 29: _FU, 30: _FQI}),
    ("RSQRT", "inputs", 0, {27: _F, LEVEL_7: _FQ}),
    ("NEG", "inputs", 0, {27: _F | _I}),
    ("LOGICAL_OR LOGICAL_AND LOGICAL_NOT", "inputs", 0, {27: frozenset({"BOOL"})}),
    ("LESS LESS_EQUAL GREATER GREATER_EQUAL EQUAL NOT_EQUAL", "inputs", 0, {27: _FQI | {"BOOL"}}),
    ("DIV ABS EXP LOG POW COS SIN SQRT ELU LOG_SOFTMAX L2_POOL_2D REDUCE_PROD SUM", "inputs", 0, {27: _F}),
    ("MAXIMUM MINIMUM TOPK_V2 SLICE TILE MIRROR_PAD REVERSE_V2 SPLIT_V", "inputs", 0, {27: _FQI}),
    ("RELU RELU_N1_TO_1 RELU6 LOGISTIC HARD_SWISH LEAKY_RELU PRELU SOFTMAX QUANTIZE", "inputs", 0, {27: _FQ}),
    ("AVERAGE_POOL_2D MAX_POOL_2D RESIZE_NEAREST_NEIGHBOR SPACE_TO_DEPTH DEPTH_TO_SPACE", "inputs", 0, {27: _FQ}),
    ("STRIDED_SLICE UNPACK REDUCE_MIN REDUCE_MAX", "inputs", 0, {27: _FQ}),
    ("TANH MEAN PAD PADV2 RESIZE_BILINEAR", "inputs", 0, {27: _F, 29: _FQ}),
    ("L2_NORMALIZATION", "inputs", 0, {27: _F, 29: _ALL}),
    ("CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED", "inputs", 0, {27: _FU, 29: _ALL}),
    ("BATCH_MATMUL", "inputs", 0, {27: _F | {"INT32", "INT8"}}),
    ("CAST", "inputs", 0, {27: _FUI, 30: _FQI}),
    ("DEQUANTIZE", "inputs", 0, {27: _U, 29: _Q, 30: _Q | {"FLOAT16"}}),
    ("RESHAPE", "inputs", 0, {27: _FQ, LEVEL_6: _FQI}),
    ("EXPAND_DIMS GATHER ARG_MAX ARG_MIN", "inputs", 0, {27: _FQI | {"FLOAT16"}}),
    ("CONCATENATION", "inputs", 0, {27: _FQ | {"FLOAT16"}}),
    ("SPLIT", "inputs", 0, {27: _I}),
    ("PACK", "inputs", 0, {27: _F | {"INT8"}, LEVEL_6: _FQI}),
    ("FILL", "inputs", 0, {27: _I | {"INT64"}}),
    ("FLOOR SELECT LOCAL_RESPONSE_NORMALIZATION TRANSPOSE_CONV SQUEEZE", "inputs", 0, {27: _ALL}),
    ("SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND TRANSPOSE EMBEDDING_LOOKUP HASHTABLE_LOOKUP REDUCE_ANY", "inputs", 0, {27: _ALL}),
    ("LSTM UNIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_LSTM", "inputs", 0, {27: _ALL}),
    ("UNIDIRECTIONAL_SEQUENCE_RNN RNN SVDF LSH_PROJECTION DENSIFY", "inputs", 0, {27: _ALL}),
    ("EMBEDDING_LOOKUP RNN SVDF", "inputs", 1, {27: _F}),
    ("SELECT", "inputs", 1, {27: _FQI}),
    ("SPLIT", "inputs", 1, {27: _FUI, 30: _FQI}),
    ("FILL", "inputs", 1, {27: _F | _I | {"INT64"}}),
    ("ARG_MAX ARG_MIN", "inputs", 1, {27: _I | {"INT64"}}),
    ("TOPK_V2 EXPAND_DIMS GATHER TILE SLICE SPLIT_V", "inputs", 1, {27: _I}),
    ("SLICE SPLIT_V", "inputs", 2, {27: _I}),
    ("LSTM", "inputs", 4, {27: _FU, 30: _FQ}),
    ("SOFTMAX", "outputs", 0, {27: _FQ}),
    ("CAST", "outputs", 0, {27: _FUI, 30: _FQI}),
    ("QUANTIZE", "outputs", 0, {27: _U, 30: _Q}),
    ("FULLY_CONNECTED", "outputs", 0, {27: _ALL - {"INT16"}}),
    ("HASHTABLE_LOOKUP", "outputs", 0, {27: _F}),
]
"""The types, by the lowest level, at which an operand or result gives no failure about types. All others take every type."""

_TYPE_KINDS = {"inputs": "kUnsupportedInputType", "outputs": "kUnsupportedOutputType"}
_LIMITED = {(op, side, position): levels for ops, side, position, levels in _TYPES for op in ops.split()}
_OPERANDS = [
    (case.op, side, position)
    for case in ACCEPTED.values()
    for side in ("inputs", "outputs")
    for position in range(min(5, len(case.arguments[side])))
]


@for_each(_OPERANDS)
def test_types(operand):
    op, side, position = operand
    arguments = ACCEPTED[op].arguments
    levels = _LIMITED.get((op, side, position), {27: _ALL})
    # What is refused at a level whatever the types says nothing about them.
    tried = [level for level in FEATURE_LEVELS if (op, level) != ("SUB", 27) or position == 0]

    def refused_types(level):
        refused = set()
        for kind in _ALL:
            tensor = (arguments[side][position] or arena("FLOAT32", 2))._replace(type=kind, zero_point=0)
            changed = {**arguments, side: replaced(arguments[side], {position: tensor})}
            kinds = [reason.kind for reason in RULES.validate(node_view(op, **changed), NnapiTarget(level, True)).reasons]
            if _TYPE_KINDS[side] in kinds:
                refused.add(kind)
        return refused

    assert {level: refused_types(level) for level in tried} == {
        level: _ALL - levels[max(since for since in levels if since <= level)] for level in tried
    }


# Nothing is left out


def test_every_operator_has_tables():
    assert set(ACCEPTED) == {op for op, _ in _VERSIONS} == set(RULES.rules)
    assert {op for op, side, position in _LIMITED if (side, position) == ("inputs", 0)} == set(RULES.rules)


def test_every_operator_is_tested_with_its_family():
    for family, cases in FAMILY_CASES.items():
        assert set(cases.of_operator) <= FAMILIES[family]


def test_every_check_is_exercised_on_both_sides():
    refused, met = set(), set()
    for case, target in itertools.product(CASES, TARGETS):
        for position, check in enumerate(RULES.rules[case.op].all_checks):
            if check.counts_in(NEWEST) and all(condition.holds(target) for condition in check.conditions):
                side = met if check.finder(case.node, target) is None else refused
                side.add((case.op, position))
    every = {
        (op, position)
        for op, rule in RULES.rules.items()
        for position, check in enumerate(rule.all_checks)
        if check.counts_in(NEWEST)
    }
    assert every - refused == set()
    assert every - met == set()


def test_every_kind_occurs_and_every_code_is_of_a_kind():
    codes = {RULES.code_of(check.kind) for rule in RULES.rules.values() for check in rule.checks}
    assert {*codes, "nnapi-operator"} == set(RULES.explained)
    assert codes == {failure.code for case in CASES for failure in case.failures}


def test_every_check_has_a_hint():
    assert all(RULES.hint_of(check) for rule in RULES.rules.values() for check in rule.all_checks)


def test_sources_are_functions_of_the_delegates_file():
    sources = {RULES.source_of(check, rule) for rule in RULES.rules.values() for check in rule.all_checks}
    assert {source.file for source in sources} == {"tflite/delegates/nnapi/nnapi_delegate.cc"}
    assert "ExpectMinAndroidSdkVersion" in {source.symbol for source in sources}


@pytest.mark.parametrize("code", FAILURES)
def test_every_failure_is_worded_from_what_was_found(code):
    kind = FAILURES[code]
    assert {name for _, name, _, _ in string.Formatter().parse(kind.template) if name} <= {
        "tensor", "type", "op", "found", "known", "axis", "shape", "count", "size", "outputs", "side",
    }  # fmt: skip
    assert kind.hint
    assert all(kind.explanation)
