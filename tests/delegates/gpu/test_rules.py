"""The acceptance rules, operator by operator, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import itertools

import pytest

from delegate_sim.delegates.gpu.rules import RULES
from delegate_sim.delegates.gpu.target import GpuTarget
from delegate_sim.model import schema
from delegate_sim.releases.catalogue import NEWEST
from tests.support.delegates import gpu_elementwise_cases, gpu_layer_cases, gpu_shape_cases  # noqa: F401 - they fill the table
from tests.support.delegates.cases import assert_explained
from tests.support.delegates.gpu_table import FLOAT, FLOAT_ONLY, OPERATOR, QUANT, TABLE
from tests.support.graphs import node_view


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_verdict(case):
    verdict = RULES.validate(case.node, case.target)
    assert [reason.code for reason in verdict.reasons] == ([case.code] if case.code else [])
    assert verdict.is_supported == (case.code is None)


# The types that tensors in the arena may have

_ALL = frozenset(schema.enum_names("TensorType").values())
_USUAL = {"FLOAT32", "FLOAT16"}
_FURTHER = {
    ("LOGICAL_AND", "inputs"): {"BOOL"},
    ("LOGICAL_AND", "outputs"): {"BOOL"},
    ("GATHER", "inputs"): {"INT32"},
}


@pytest.mark.parametrize("target", [QUANT, FLOAT_ONLY], ids=["quantised", "float"])
@pytest.mark.parametrize("side", ["inputs", "outputs"])
@pytest.mark.parametrize("op", ["ABS", "ADD", "CONV_2D", "GATHER", "LOGICAL_AND", "RESHAPE", "SOFTMAX"])
def test_types(op, side, target):
    arguments = TABLE.accepted_arguments(op)
    first, *others = arguments[side]

    def is_accepted(kind):
        node = node_view(op, **{**arguments, side: [first._replace(type=kind), *others]})
        return RULES.validate(node, target).is_supported

    allowed = _USUAL | _FURTHER.get((op, side), set()) | ({"INT8", "UINT8"} if target.allow_quant_ops else set())
    assert {kind for kind in _ALL if is_accepted(kind)} == allowed


# Operators that are left out


@pytest.mark.parametrize("op", ["BROADCAST_TO", "REVERSE_V2", "SPACE_TO_BATCH_ND", "STABLEHLO_CLAMP", "WHILE"])
def test_operator_without_parser(op):
    (reason,) = RULES.validate(node_view(op, [FLOAT], [FLOAT]), QUANT).reasons
    assert (reason.code, reason.kind, reason.found) == (OPERATOR, "unsupported-operator", op)


@pytest.mark.parametrize("op", ["TFLite_Detection_PostProcess", "FlexErf", "ABS"])
def test_custom_operator_without_parser(op):
    (reason,) = RULES.validate(node_view(op, [FLOAT], [FLOAT], custom=True), QUANT).reasons
    assert (reason.code, reason.found) == (OPERATOR, f"custom operator {op}")


def test_excluded_operator():
    excluding = GpuTarget(allow_quant_ops=True, excluded_ops=frozenset({"ABS", "CUSTOM"}))
    for node in (
        node_view("ABS", **TABLE.accepted_arguments("ABS")),
        node_view("Resampler", [FLOAT, FLOAT], [FLOAT], custom=True),
    ):
        (reason,) = RULES.validate(node, excluding).reasons
        assert reason.code == OPERATOR
        assert "left out" in reason.message
    assert RULES.validate(node_view("COS", **TABLE.accepted_arguments("COS")), excluding).is_supported


def test_reason_says_what_was_found_and_needed():
    (reason,) = RULES.validate(
        node_view("FULLY_CONNECTED", **{**TABLE.accepted_arguments("FULLY_CONNECTED"), "version": 12}), QUANT
    ).reasons
    assert reason.kind == "operator-version"
    assert (reason.found, reason.needed) == ("version 12", "version at most 9")
    assert reason.message == "version 12; needs version at most 9"


# Nothing is left out


def test_every_operator_has_cases():
    assert {case.op for case in TABLE.cases} == set(RULES.rules)


def newest_checks(op):
    return [check for check in RULES.rules[op].checks if check.counts_in(NEWEST)]


def test_every_check_is_exercised_on_both_sides():
    refused, met = set(), set()
    for case, target in itertools.product(TABLE.cases, (QUANT, FLOAT_ONLY)):
        if target is QUANT or case.target is FLOAT_ONLY:
            for position, check in enumerate(newest_checks(case.op)):
                found = check.finder(case.node, target)
                (met if found is None else refused).add((case.op, position, check.needed))
                if found is not None:
                    break
    # The last four, on all tensors, are the same for every operator.
    own = {(op, position, check.needed) for op in RULES.rules for position, check in enumerate(newest_checks(op)[:-4])}
    assert own - refused == set()
    assert own - met == set()


def test_every_code_is_explained_and_tested_and_every_check_has_a_hint():
    assert_explained(RULES)
    assert set(RULES.explained) - {OPERATOR} == {case.code for case in TABLE.cases} - {None}


def test_every_check_says_from_which_of_the_two_files_it_comes():
    files = {RULES.source_of(check, rule).file.rsplit("/", 1)[-1] for rule in RULES.rules.values() for check in rule.checks}
    assert files == {"model_builder.cc", "gpu_compatibility.cc"}
    for op, rule in RULES.rules.items():
        (parser, *_), checks = RULES.sources_of(rule), rule.checks
        assert parser.symbol.endswith("OperationParser::IsSupported"), op
        assert all(check.source is not None for check in checks), op
