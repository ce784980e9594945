"""Properties of the rules of all operators."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.delegate import RULES
from delegate_sim.delegates.gpu.rules import GpuTarget
from delegate_sim.model import schema
from tests.support.delegates.cases import assert_explained
from tests.support.delegates.gpu_table import (
    AXIS,
    BIAS,
    FLOAT,
    FLOAT_ONLY,
    MATRIX,
    OPERATOR,
    QUANT,
    SHAPE_OF_4,
    WEIGHTS,
    GpuTable,
)
from tests.support.graphs import constant, node_view

TABLE = GpuTable(QUANT)
for _op in ("ABS", "COS"):
    TABLE.accepted(_op, [FLOAT], [FLOAT])
for _op in ("ADD", "LOGICAL_AND"):
    TABLE.accepted(_op, [FLOAT, FLOAT], [FLOAT])
TABLE.accepted("CONV_2D", [FLOAT, WEIGHTS, BIAS], [FLOAT], stride_h=1, stride_w=1, dilation_h_factor=1, dilation_w_factor=1)
TABLE.accepted("FULLY_CONNECTED", [MATRIX, constant([[0.0, 0.0]], "FLOAT32"), None], [MATRIX])
TABLE.accepted("GATHER", [FLOAT, AXIS], [FLOAT])
TABLE.accepted("RESHAPE", [FLOAT, SHAPE_OF_4], [FLOAT])
TABLE.accepted("SOFTMAX", [FLOAT], [FLOAT], beta=1.0)


# The types that tensors in the arena may have

_ALL = frozenset(schema.enum_names("TensorType").values())
_USUAL = {"FLOAT32", "FLOAT16"}
_FURTHER = {
    ("LOGICAL_AND", "inputs"): {"BOOL"},
    ("LOGICAL_AND", "outputs"): {"BOOL"},
    ("GATHER", "inputs"): {"INT32"},
}


@pytest.mark.parametrize("target", [QUANT, FLOAT_ONLY], ids=["quantized", "float"])
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
    assert (reason.code, reason.kind, reason.found) == (OPERATOR, "Operation is not supported.", op)


@pytest.mark.parametrize("op", ["TFLite_Detection_PostProcess", "FlexErf", "ABS"])
def test_custom_operator_without_parser(op):
    (reason,) = RULES.validate(node_view(op, [FLOAT], [FLOAT], custom=True), QUANT).reasons
    assert (reason.code, reason.kind, reason.found) == (OPERATOR, op, f"custom operator {op}")


def test_excluded_operator():
    excluding = GpuTarget(allow_quant_ops=True, excluded_ops=frozenset({"ABS", "CUSTOM"}))
    for node in (
        node_view("ABS", **TABLE.accepted_arguments("ABS")),
        node_view("Resampler", [FLOAT, FLOAT], [FLOAT], custom=True),
    ):
        (reason,) = RULES.validate(node, excluding).reasons
        assert reason.code == OPERATOR
        assert "is excluded" in reason.message
    assert RULES.validate(node_view("COS", **TABLE.accepted_arguments("COS")), excluding).is_supported


def test_reason_says_what_was_found_and_needed():
    (reason,) = RULES.validate(
        node_view("FULLY_CONNECTED", **{**TABLE.accepted_arguments("FULLY_CONNECTED"), "version": 12}), QUANT
    ).reasons
    assert reason.kind == "Max version supported: 9. Requested version 12."
    assert reason.message == f"{reason.found}; needs {reason.needed}" == "version 12; needs version at most 9"


def test_every_code_is_explained_and_every_check_has_a_hint():
    assert_explained(RULES)


def test_every_check_says_from_which_of_the_two_files_it_comes():
    files = {RULES.source_of(check, rule).file.rsplit("/", 1)[-1] for rule in RULES.rules.values() for check in rule.checks}
    assert files == {"model_builder.cc", "gpu_compatibility.cc"}
    for op, rule in RULES.rules.items():
        (parser, *_), checks = RULES.sources_of(rule), rule.checks
        assert parser.symbol.endswith("OperationParser::IsSupported"), op
        assert all(check.source is not None for check in checks), op
