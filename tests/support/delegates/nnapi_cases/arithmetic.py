"""Cases of the rules of the family ``arithmetic``."""

from __future__ import annotations

from tests.support.delegates.nnapi_rule_cases import (
    ACTIVATION,
    BOOL,
    CONSTANT_TYPE,
    FLOAT,
    FLOAT_RANK_5,
    FLOAT_SCALAR,
    INPUT_TYPE,
    INT8,
    INT16,
    INT32,
    INT64,
    LEVEL,
    LEVEL_7,
    RANK,
    RELU,
    UINT8,
    VALUE,
    VERSION,
    Failure,
    RuleCases,
)
from tests.support.graphs import arena, constant, persistent

CASES = RuleCases()
accepted, variant = CASES.accepted, CASES.variant

for _op in ("ADD", "MUL"):
    accepted(_op, [FLOAT, FLOAT], [FLOAT], version=2)
    variant(_op, inputs={0: FLOAT_SCALAR})
    variant(_op, fused_activation_function=RELU)
    variant(_op, INPUT_TYPE.below(30), inputs=[INT32, INT32])
    variant(_op, INPUT_TYPE.below(30), ACTIVATION.since(30), inputs=[INT32, INT32], fused_activation_function=RELU)
    variant(_op, INPUT_TYPE, inputs=[INT16, FLOAT], fused_activation_function=RELU)
    variant(_op, inputs=[FLOAT, INT64])
    variant(_op, RANK, inputs={0: FLOAT_RANK_5})
    variant(_op, RANK, inputs={1: FLOAT_RANK_5})
    variant(_op, RANK, inputs={0: FLOAT_RANK_5, 1: FLOAT_RANK_5})
    variant(
        _op, VERSION, INPUT_TYPE.below(30), ACTIVATION.since(30), RANK,
        inputs=[INT32, FLOAT_RANK_5], version=4, fused_activation_function=RELU,
    )  # fmt: skip
    variant(_op, VERSION, INPUT_TYPE, RANK, inputs=[INT64, FLOAT_RANK_5], version=4)
variant("MUL", VERSION.with_accelerator(False), version=3)

# SUB names a level that is too low by the type of the operand.
accepted("SUB", [FLOAT, FLOAT], [FLOAT], Failure("nnapi-feature-level", "kUnsupportedInputType").below(28), version=3)
_SUB_LEVEL = CASES.of_operator["SUB"].failures[0]
variant("SUB", _SUB_LEVEL, fused_activation_function=RELU)
variant("SUB", _SUB_LEVEL, INPUT_TYPE.since(28).below(30), ACTIVATION, inputs={0: INT32}, fused_activation_function=RELU)
variant("SUB", _SUB_LEVEL, RANK, inputs={1: FLOAT_RANK_5})
variant("SUB", VERSION, _SUB_LEVEL, INPUT_TYPE.since(28).below(29), inputs={0: UINT8}, version=4)
variant("SUB", VERSION, _SUB_LEVEL, INPUT_TYPE.since(28), RANK, inputs=[INT64, FLOAT_RANK_5], version=4)
variant("SUB", _SUB_LEVEL, INPUT_TYPE.since(28).below(30), ACTIVATION, RANK,
        inputs=[INT32, FLOAT_RANK_5], fused_activation_function=RELU)  # fmt: skip

accepted("DIV", [FLOAT, FLOAT], [FLOAT], LEVEL.below(28))
variant("DIV", LEVEL.below(28), fused_activation_function=RELU)
variant("DIV", VERSION, LEVEL.below(28), INPUT_TYPE, RANK, inputs=[UINT8, FLOAT_RANK_5], version=2)

accepted("SQUARED_DIFFERENCE", [FLOAT, FLOAT], [FLOAT], LEVEL.below(28), version=2)
variant("SQUARED_DIFFERENCE", LEVEL.below(28), RANK, inputs={0: FLOAT_RANK_5})
variant("SQUARED_DIFFERENCE", VERSION, LEVEL.below(28), INPUT_TYPE.below(30), RANK, inputs=[INT8, FLOAT_RANK_5], version=3)
variant("SQUARED_DIFFERENCE", VERSION, LEVEL.below(28), INPUT_TYPE, RANK, inputs=[INT64, FLOAT_RANK_5], version=3)

for _op in ("MAXIMUM", "MINIMUM"):
    accepted(_op, [FLOAT, FLOAT], [FLOAT], LEVEL.below(29), version=3)
    variant(_op, LEVEL.below(29), inputs=[constant(1.0, "FLOAT32"), constant(1.0, "FLOAT32")])
    variant(_op, LEVEL.below(29), CONSTANT_TYPE, inputs={0: FLOAT_SCALAR})
    variant(_op, LEVEL.below(29), CONSTANT_TYPE, inputs={1: persistent(1.0, "FLOAT32")})
    variant(
        _op, VERSION, LEVEL.below(29), INPUT_TYPE, CONSTANT_TYPE, CONSTANT_TYPE,
        inputs=[arena("INT64"), FLOAT_SCALAR], version=4,
    )  # fmt: skip

for _op in ("ABS", "EXP", "LOG", "COS", "SIN", "SQRT"):
    accepted(_op, [FLOAT_RANK_5], [FLOAT_RANK_5], LEVEL.below(29))
    variant(_op, VERSION, LEVEL.below(29), INPUT_TYPE, inputs=[INT8], version=2)

accepted("POW", [FLOAT, FLOAT_RANK_5], [FLOAT], LEVEL.below(29))
variant("POW", VERSION, LEVEL.below(29), INPUT_TYPE, inputs={0: INT32}, version=2)

accepted("RSQRT", [FLOAT], [FLOAT], LEVEL.below(29), version=2)
variant("RSQRT", VERSION, LEVEL.below(29), INPUT_TYPE.below(LEVEL_7), inputs=[INT8], version=3)
variant("RSQRT", LEVEL.below(29), INPUT_TYPE, inputs=[INT32])

accepted("NEG", [FLOAT], [FLOAT], LEVEL.below(29), version=2)
variant("NEG", VERSION, LEVEL.below(29), INPUT_TYPE, inputs=[INT8], version=3)

accepted("FLOOR", [INT64], [INT64])
variant("FLOOR", VERSION, version=2)

for _op in ("LOGICAL_OR", "LOGICAL_AND", "LOGICAL_NOT"):
    accepted(_op, [BOOL, BOOL], [BOOL], LEVEL.below(29))
    variant(_op, VERSION, LEVEL.below(29), INPUT_TYPE, inputs={0: UINT8}, version=2)

for _op in ("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL"):
    accepted(_op, [FLOAT_RANK_5, FLOAT], [BOOL], LEVEL.below(29), version=2)
    variant(_op, VERSION, LEVEL.below(29), INPUT_TYPE, inputs={0: INT64}, version=3)

accepted("SELECT", [BOOL, FLOAT, FLOAT], [FLOAT], LEVEL.below(29), version=2)
variant("SELECT", LEVEL.below(29), VALUE._replace(code="nnapi-broadcast"), inputs={0: arena("BOOL", 4)})
variant("SELECT", LEVEL.below(29), inputs={2: INT64})
variant(
    "SELECT", VERSION, LEVEL.below(29), INPUT_TYPE, VALUE._replace(code="nnapi-broadcast"),
    inputs={1: arena("INT64", 1)}, version=3,
)  # fmt: skip
