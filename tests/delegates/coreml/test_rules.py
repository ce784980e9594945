"""The acceptance rules, operator by operator, against ``IsNodeSupportedByDelegate`` (``delegates/coreml/coreml_delegate.mm``)."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.coreml_rules import RULES, CoreMlTarget
from delegate_sim.rules.kinds import MALFORMED_OPERANDS
from tests.support.delegates.cases import CaseTable, assert_explained
from tests.support.graphs import arena, constant, node_view, persistent
from tests.support.tables import for_each

OPERATOR = "coreml-unsupported-operator"
VERSION = "coreml-operator-version"
TYPE = "coreml-tensor-type"
COUNT = "coreml-operand-count"
CONSTANT = "coreml-constant-operand"
RANK = "coreml-rank"
SHAPE = "coreml-shape"
BROADCAST = "coreml-broadcast"
VALUE = "coreml-attribute-value"
ACTIVATION = "coreml-activation"
TARGET = "coreml-coreml-version"

COREML_2, COREML_3 = CoreMlTarget(2), CoreMlTarget(3)


def shaped(*shape):
    return arena("FLOAT32", *shape)


FLOAT = shaped(1, 4, 4, 2)
HALF = arena("FLOAT16", 1, 4, 4, 2)
INT8 = arena("INT8", 1, 4, 4, 2)
WEIGHTS = constant([[[[0.0] * 2] * 3] * 3] * 2, "FLOAT32")
HALF_WEIGHTS = constant([[[[0.0] * 2] * 3] * 3] * 2, "FLOAT16")
INT8_WEIGHTS = constant([[[[0] * 2] * 3] * 3] * 2, "INT8")
BIAS = constant([0.0, 0.0], "FLOAT32")
ROW = shaped(1, 4)
ROWS = constant([[0.0] * 4] * 2, "FLOAT32")
AXES = constant([1, 2])
NUMBER = constant(2.0, "FLOAT32")
SIZE = constant([1, 4, 4, 2])
PADDING = constant([[0, 0], [1, 1], [1, 1], [0, 0]])

RELU, SIGN_BIT = 1, 5

TABLE = CaseTable(COREML_3)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

accepted("ADD", [FLOAT, FLOAT], [FLOAT])
accepted("MUL", [FLOAT, FLOAT], [FLOAT])
for op in ("HARD_SWISH", "LOGISTIC", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "AVERAGE_POOL_2D", "MAX_POOL_2D"):
    accepted(op, [FLOAT], [FLOAT])
accepted("SOFTMAX", [FLOAT], [FLOAT], beta=1.0)
accepted("MEAN", [FLOAT, AXES], [FLOAT], keep_dims=True)
accepted("CONV_2D", [FLOAT, WEIGHTS, BIAS], [FLOAT])
accepted("DEPTHWISE_CONV_2D", [FLOAT, WEIGHTS, BIAS], [FLOAT], version=2)
accepted("TRANSPOSE_CONV", [SIZE, WEIGHTS, FLOAT], [FLOAT])
accepted("FULLY_CONNECTED", [ROW, ROWS, BIAS], [ROW], version=6)
accepted("RESIZE_BILINEAR", [FLOAT, constant([8, 8])], [FLOAT])
accepted("CONCATENATION", [FLOAT, FLOAT], [FLOAT], axis=3)
accepted("PAD", [FLOAT, PADDING], [FLOAT])
accepted("PADV2", [FLOAT, PADDING, NUMBER], [FLOAT])
accepted("MIRROR_PAD", [FLOAT, PADDING], [FLOAT], mode=0)
accepted("RESHAPE", [FLOAT, SIZE], [FLOAT], target=COREML_2, new_shape=[])

for op in RULES.rules:
    data = 2 if op == "TRANSPOSE_CONV" else 0
    variant(op, VERSION, version={"DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 7}.get(op, 2))
    variant(op, TYPE, inputs={data: INT8})
    variant(op, TYPE, inputs={data: HALF})
    variant(op, COUNT, inputs={data: None})

for op in ("ADD", "MUL"):
    variant(op, None, fused_activation_function=SIGN_BIT)
    variant(op, None, inputs={1: constant([[[[0.0, 1.0]]]], "FLOAT16")})
    variant(op, TYPE, inputs={1: HALF})
    variant(op, TYPE, inputs={1: INT8})
    variant(op, COUNT, inputs={1: None})
    variant(op, COUNT, inputs=[FLOAT])
    variant(op, None, inputs={1: shaped(1, 1, 1, 2)})
    variant(op, None, inputs={1: shaped(2)})
    variant(op, None, inputs={1: shaped(1, 4, 4, 1)})
    variant(op, BROADCAST, inputs={1: shaped(1, 4, 1, 2)})
    variant(op, BROADCAST, inputs={1: shaped(1, 4, 4, 3)})
    variant(op, BROADCAST, inputs={1: shaped(2, 4, 4, 2)})
    variant(op, BROADCAST, inputs=[shaped(2, 4, 4, 2), shaped(1)])
    variant(op, None, inputs=[shaped(2, 4, 4, 2), NUMBER])
    variant(op, None, inputs=[NUMBER, shaped(2, 4, 4, 2)])
    variant(op, BROADCAST, inputs=[shaped(1, 1, 4, 4, 2), FLOAT])
    variant(op, BROADCAST, inputs=[shaped(1, 1, 4, 4, 2), NUMBER])

variant("SOFTMAX", VALUE, beta=0.5)
without_options("SOFTMAX", VALUE)
for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "CONCATENATION"):
    variant(op, ACTIVATION, fused_activation_function=RELU)
variant("MEAN", VALUE, keep_dims=False)
variant("MEAN", RANK, inputs={0: shaped(4, 4, 2)})
variant("MEAN", None, inputs={1: constant([-3, -2])})
variant("MEAN", None, inputs={1: persistent([2])})
variant("MEAN", VALUE, inputs={1: constant([1, 3])})
variant("MEAN", VALUE, inputs={1: constant([0])})

for op in ("CONV_2D", "DEPTHWISE_CONV_2D"):
    variant(op, None, fused_activation_function=RELU)
    variant(op, ACTIVATION, fused_activation_function=SIGN_BIT)
    variant(op, None, inputs={1: HALF_WEIGHTS})
    variant(op, None, inputs={1: INT8_WEIGHTS})
    variant(op, CONSTANT, inputs={1: shaped(2, 3, 3, 2)})
    variant(op, CONSTANT, inputs={2: shaped(2)})
    variant(op, COUNT, inputs={2: None})
    variant(op, COUNT, inputs=[FLOAT, WEIGHTS])
for op in ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"):
    variant(op, None, inputs={1: WEIGHTS._replace(shape=(2, 16384, 16384, 2))})
    variant(op, SHAPE, inputs={1: WEIGHTS._replace(shape=(2, 3, 16385, 2))})
    variant(op, SHAPE, inputs={1: WEIGHTS._replace(shape=(2, 16385, 3, 2))})
variant("DEPTHWISE_CONV_2D", None, version=1)
variant("TRANSPOSE_CONV", CONSTANT, inputs={0: arena("INT32", 4)})
variant("TRANSPOSE_CONV", CONSTANT, inputs={1: shaped(2, 3, 3, 2)})
variant("TRANSPOSE_CONV", COUNT, inputs={0: None})

variant("FULLY_CONNECTED", None, version=1)
variant("FULLY_CONNECTED", None, inputs={0: shaped(1, 1, 1, 4)})
variant("FULLY_CONNECTED", SHAPE, inputs={0: shaped(2, 4)})
variant("FULLY_CONNECTED", SHAPE, inputs={0: shaped()})
variant("FULLY_CONNECTED", TYPE, inputs={1: constant([[0] * 4] * 2, "INT8")})
variant("FULLY_CONNECTED", CONSTANT, inputs={1: shaped(2, 4)})
variant("FULLY_CONNECTED", TYPE, inputs={2: constant([0, 0])})
variant("FULLY_CONNECTED", CONSTANT, inputs={2: shaped(2)})
variant("FULLY_CONNECTED", None, inputs={2: constant([0.0, 0.0], "FLOAT16")})
variant("FULLY_CONNECTED", None, inputs=[ROW, ROWS])
variant("FULLY_CONNECTED", None, inputs={2: None})
variant("FULLY_CONNECTED", ACTIVATION, fused_activation_function=SIGN_BIT)
variant("FULLY_CONNECTED", ACTIVATION, inputs=[ROW, ROWS], fused_activation_function=SIGN_BIT)
variant("FULLY_CONNECTED", None, inputs={2: None}, fused_activation_function=SIGN_BIT)
variant("FULLY_CONNECTED", VALUE, weights_format=1)
variant("RESIZE_BILINEAR", CONSTANT, inputs={1: arena("INT32", 2)})
variant("RESIZE_BILINEAR", COUNT, inputs={1: None})

variant("CONCATENATION", None, axis=-1)
variant("CONCATENATION", VALUE, axis=2)
variant("CONCATENATION", None, inputs=[shaped(4, 4, 2), FLOAT], axis=2)
variant("CONCATENATION", RANK, inputs=[shaped(4, 2), FLOAT], axis=1)
variant("CONCATENATION", COUNT, inputs=[FLOAT])
for op in ("PAD", "PADV2", "MIRROR_PAD"):
    variant(op, CONSTANT, inputs={1: arena("INT32", 4, 2)})
    variant(op, CONSTANT, inputs={1: persistent([[0, 0]] * 4)})
    variant(op, SHAPE, inputs={1: constant([[1, 1], [1, 1], [0, 0]])})
    variant(op, VALUE, inputs={1: constant([[1, 0], [0, 0], [0, 0], [0, 0]])})
    variant(op, VALUE, inputs={1: constant([[0, 0], [0, 0], [0, 0], [0, 1]])})
    # Read as words of 32 bits, the second value of the height counts as that of the channels.
    variant(op, None, inputs={1: constant([[0, 0], [1, 0], [1, 1], [1, 1]], "INT64")})
    variant(op, VALUE, inputs={1: constant([[0, 0], [0, 1], [0, 0], [0, 0]], "INT64")})
    variant(op, MALFORMED_OPERANDS.name, inputs={1: None})
variant("MIRROR_PAD", VALUE, mode=1)
without_options("MIRROR_PAD", VALUE)

variant("RESHAPE", TARGET, target=COREML_3)
variant("RESHAPE", None, inputs={1: constant([4, 4, 2])})
variant("RESHAPE", RANK, inputs={1: constant([8, 4])})
variant("RESHAPE", TYPE, inputs={1: constant([1, 4, 4, 2], "INT64")})
variant("RESHAPE", TYPE, inputs={1: constant([[1, 4, 4, 2]])})
variant("RESHAPE", CONSTANT, inputs={1: persistent([1, 4, 4, 2])})
variant("RESHAPE", None, inputs={1: None})
variant("RESHAPE", None, inputs=[FLOAT], new_shape=[4, 4, 2])
variant("RESHAPE", RANK, inputs=[FLOAT], new_shape=[8, 4])


@for_each(TABLE.cases, lambda case: case.name)
def test_verdict(case):
    verdict = RULES.validate(case.node, case.target)
    assert [reason.code for reason in verdict.reasons] == ([case.code] if case.code else [])
    assert verdict.is_supported == (case.code is None)


@pytest.mark.parametrize("op", ["SUB", "SPLIT", "DEQUANTIZE", "L2_POOL_2D", "WHILE"])
def test_operator_without_layer(op):
    (reason,) = RULES.validate(node_view(op, [FLOAT], [FLOAT]), COREML_2).reasons
    assert (reason.code, reason.found) == (OPERATOR, op)


def test_custom_operator_named_like_a_builtin_one():
    (reason,) = RULES.validate(node_view("TANH", [FLOAT], [FLOAT], custom=True), COREML_2).reasons
    assert (reason.code, reason.found) == (OPERATOR, "custom operator TANH")


def test_reason_says_what_was_found_and_needed():
    (reason,) = RULES.validate(node_view("TANH", [INT8], [FLOAT]), COREML_3).reasons
    assert (reason.kind, reason.message) == ("tensor-type", "input 0 is INT8; needs input 0 of type FLOAT32")


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete(RULES)


def test_every_code_is_explained_and_every_check_has_a_hint():
    assert_explained(RULES)
