"""The acceptance rules, operator by operator, against ``ethosu_supported_ops.cc`` of nxp-imx/tflite-ethosu-delegate-imx."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.decision import ReleaseOnly
from delegate_sim.delegates.ethosu.delegate import RULES
from delegate_sim.graph.graph import NodeView
from delegate_sim.rules.kinds import OPERAND_COUNT
from tests.support.delegates.cases import CaseTable, assert_explained
from tests.support.graphs import arena, constant, node_view, quantized
from tests.support.tables import for_each


def code(name):
    return f"ethosu-imx93-{name}"


TYPE, RANK, SHAPE, QUANTIZATION = code("tensor-type"), code("rank"), code("shape"), code("quantization")
COUNT, VALUE, OPTION, CONSTANT = code("operand-count"), code("operand-value"), code("attribute-value"), code("constant-operand")
ACTIVATION, BROADCAST, OPTIONAL = code("activation"), code("broadcast"), code("optional-operand")
CRASH, BEYOND = code("reads-computed-value"), code("reads-beyond-operands")


def int8(*shape, scale=0.5, kind="INT8"):
    return quantized(arena(kind, *shape), scale)


IMAGE = int8(1, 4, 4, 2)
OTHER_SCALE = int8(1, 4, 4, 2, scale=0.25)
UINT8, INT16, INT32 = (int8(1, 4, 4, 2, kind=kind) for kind in ("UINT8", "INT16", "INT32"))
ROW = int8(1, 4)
FILTERS = quantized(constant([[[[0] * 2] * 3] * 3] * 2, "INT8"), 0.5)
ROWS = quantized(constant([[0] * 4] * 2, "INT8"), 0.5)
BIAS = constant([0, 0])
BIG_BIAS, SMALL_BIAS = constant([1 << 41, 0], "INT64"), constant([-(1 << 40), 0], "INT64")
AXIS, AXES = constant(3), constant([1, 2])
SIZE = constant([8, 8])
VALID = 1
TANH, SIGN_BIT = 4, 5

TABLE = CaseTable(ReleaseOnly())
accepted, variant = TABLE.accepted, TABLE.variant

for op in ("ABS", "BATCH_TO_SPACE_ND", "GELU", "LEAKY_RELU", "LOG", "LOGISTIC", "PACK", "QUANTIZE", "RELU", "RELU6"):
    accepted(op, [IMAGE], [IMAGE])
for op in ("RELU_N1_TO_1", "SHAPE", "SPACE_TO_BATCH_ND", "TANH", "UNPACK", "EXP", "RSQRT"):
    accepted(op, [IMAGE], [IMAGE])
for op in ("PRELU", "SQUARED_DIFFERENCE"):
    accepted(op, [IMAGE, IMAGE], [IMAGE])

variant("EXP", TYPE, inputs=[UINT8])
variant("EXP", None, inputs=[INT16])
variant("RSQRT", TYPE, inputs=[INT16])

accepted("HARD_SWISH", [IMAGE], [IMAGE])
variant("HARD_SWISH", TYPE, inputs=[INT16])
variant("HARD_SWISH", TYPE, outputs=[UINT8])

accepted("SOFTMAX", [IMAGE], [IMAGE], beta=1.0)
variant("SOFTMAX", TYPE, outputs=[INT16])
variant("SOFTMAX", SHAPE, outputs=[ROW])
variant("SOFTMAX", OPTION, beta=-1.0)

for op in ("ADD", "SUB", "MUL"):
    accepted(op, [IMAGE, IMAGE], [IMAGE])
    variant(op, SHAPE, outputs=[int8(1, 4, 4, 4)])
    variant(op, None, inputs={1: int8(1, 1, 1, 2)})
    variant(op, None, inputs={1: int8()})
    variant(op, TYPE, inputs={1: UINT8})
    variant(op, TYPE, inputs=[UINT8, UINT8], outputs=[INT16])
    variant(op, None, inputs=[UINT8, UINT8], outputs=[INT32])
    variant(op, TYPE, outputs=[UINT8])
    variant(op, ACTIVATION, fused_activation_function=SIGN_BIT)
    variant(op, None, fused_activation_function=TANH)
    variant(op, TYPE, inputs=[INT32, INT32], outputs=[INT32], fused_activation_function=TANH)
    variant(op, BROADCAST, inputs={1: int8(1, 2, 4, 2)})

for op in ("MAXIMUM", "MINIMUM"):
    accepted(op, [IMAGE, IMAGE], [IMAGE])
    variant(op, SHAPE, outputs=[int8(1, 4, 4, 4)])
    variant(op, TYPE, outputs=[INT16])
    variant(op, QUANTIZATION, inputs={0: OTHER_SCALE})
    variant(op, QUANTIZATION, inputs={1: OTHER_SCALE})
    variant(op, BROADCAST, inputs={1: int8(1, 2, 4, 2)})

for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
    accepted(op, [IMAGE], [IMAGE], filter_width=2, filter_height=2, stride_w=1, stride_h=1)
    variant(op, TYPE, outputs=[INT16])
    variant(op, ACTIVATION, fused_activation_function=SIGN_BIT)
    variant(op, TYPE, outputs=[int8(1, 4, 4, 2, kind="INT32")])
    variant(op, OPTION, stride_h=4)
    variant(op, None, filter_width=4, filter_height=4, stride_w=4, stride_h=4)
    variant(op, OPTION, padding=VALID, filter_height=257)
    variant(op, OPTION, padding=VALID, filter_width=65537)
    variant(op, None, padding=VALID, filter_width=100)
variant("AVERAGE_POOL_2D", OPTION, stride_w=4, inputs=[int8(1, 4, 8, 2)])
variant("AVERAGE_POOL_2D", None, stride_w=4, inputs=[int8(1, 4, 8, 2)], padding=VALID)
variant("AVERAGE_POOL_2D", OPTION, stride_w=5, inputs=[int8(1, 4, 8, 2)], padding=VALID)
variant("AVERAGE_POOL_2D", OPTION, filter_width=9)
variant("AVERAGE_POOL_2D", OPTION, filter_height=9)
variant("MAX_POOL_2D", OPTION, stride_w=4)

for op in ("CONV_2D", "DEPTHWISE_CONV_2D"):
    accepted(op, [IMAGE, FILTERS, BIAS], [IMAGE], stride_w=1, stride_h=1, dilation_w_factor=1, dilation_h_factor=1)
    variant(op, None, inputs=[IMAGE, FILTERS])
    variant(op, None, inputs={2: None})
    variant(op, ACTIVATION, fused_activation_function=SIGN_BIT)
    variant(op, OPTION, stride_h=4)
    variant(op, SHAPE, dilation_h_factor=32)
    variant(op, None, dilation_h_factor=31)
    variant(op, TYPE, inputs={1: quantized(constant([[[[0] * 2] * 3] * 3] * 2, "INT16"), 0.5)})
    variant(op, CONSTANT, inputs={1: int8(2, 3, 3, 2)})
    variant(op, None, inputs={1: quantized(constant([[[[0] * 2] * 3] * 3] * 2, "INT8"), 0.5, 0.5)})
    variant(op, RANK, inputs={2: constant([[0, 0]])})
    variant(op, TYPE, inputs={2: constant([0.0, 0.0], "FLOAT32")})
    variant(op, VALUE, inputs={2: BIG_BIAS})
    variant(op, VALUE, inputs={2: SMALL_BIAS})
    variant(op, None, inputs={2: constant([(1 << 40) - 1, 0], "INT64")})
    variant(op, CRASH, inputs={2: arena("INT64", 2)})
variant("CONV_2D", SHAPE, inputs={0: int8(1, 4, 4, 3)})
variant("CONV_2D", SHAPE, inputs={0: int8(1, 4, 4, 1)})
variant("CONV_2D", None, inputs={0: int8(1, 4, 4, 4)})
variant("CONV_2D", OPTION, stride_w=5, inputs={0: int8(1, 4, 8, 2)})
variant("CONV_2D", None, stride_w=6, inputs={0: int8(1, 4, 8, 2)})
variant("CONV_2D", None, stride_w=4)
variant("DEPTHWISE_CONV_2D", OPTION, depth_multiplier=2)
variant("DEPTHWISE_CONV_2D", None, depth_multiplier=2, inputs={0: int8(1, 4, 4, 1)})

_DOUBLED = int8(1, 8, 8, 2)
accepted("TRANSPOSE_CONV", [constant([1, 8, 8, 2]), FILTERS, IMAGE, BIAS], [_DOUBLED], stride_w=2, stride_h=2)
variant("TRANSPOSE_CONV", OPTION, stride_w=4)
variant("TRANSPOSE_CONV", OPTION, stride_w=3)
variant("TRANSPOSE_CONV", SHAPE, inputs={1: quantized(constant([[[[0]]] * 65] * 2, "INT8"), 0.5)})
variant("TRANSPOSE_CONV", TYPE, inputs={1: quantized(constant([[[[0] * 2] * 3] * 3] * 2, "INT16"), 0.5)})
variant("TRANSPOSE_CONV", CONSTANT, inputs={1: int8(2, 3, 3, 2)})
variant("TRANSPOSE_CONV", RANK, inputs={3: constant([[0, 0]])})
variant("TRANSPOSE_CONV", TYPE, inputs={3: constant([0.0, 0.0], "FLOAT32")})
variant("TRANSPOSE_CONV", VALUE, inputs={3: BIG_BIAS})
variant("TRANSPOSE_CONV", CRASH, inputs={3: arena("INT64", 2)})
variant("TRANSPOSE_CONV", SHAPE, outputs=[IMAGE])
variant("TRANSPOSE_CONV", None, padding=VALID, outputs=[int8(1, 9, 9, 2)])
variant("TRANSPOSE_CONV", SHAPE, padding=VALID)

accepted("FULLY_CONNECTED", [ROW, ROWS, BIAS], [ROW])
variant("FULLY_CONNECTED", ACTIVATION, fused_activation_function=SIGN_BIT)
variant("FULLY_CONNECTED", TYPE, inputs={0: INT16}, outputs=[arena("FLOAT32", 1, 4)])
variant("FULLY_CONNECTED", RANK, inputs={0: int8(4)})
variant("FULLY_CONNECTED", SHAPE, inputs={0: int8(1, 5)})
variant("FULLY_CONNECTED", RANK, inputs={0: IMAGE}, keep_num_dims=True)
variant("FULLY_CONNECTED", TYPE, inputs={1: quantized(constant([[0] * 4] * 2, "INT16"), 0.5)})
variant("FULLY_CONNECTED", CONSTANT, inputs={1: int8(2, 4)})
variant("FULLY_CONNECTED", RANK, inputs={2: constant([[0, 0]])})
variant("FULLY_CONNECTED", TYPE, inputs={2: constant([0.0, 0.0], "FLOAT32")})
variant("FULLY_CONNECTED", VALUE, inputs={2: BIG_BIAS})
variant("FULLY_CONNECTED", CRASH, inputs={2: arena("INT64", 2)})

for op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
    accepted(op, [IMAGE, SIZE], [_DOUBLED])
    variant(op, RANK, outputs=[int8(8, 8, 2)])
    variant(op, SHAPE, outputs=[int8(1, 12, 12, 2)])
    variant(op, None, inputs={0: int8(1, 1, 1, 2)})
    variant(op, None, inputs={0: int8(1, 3, 3, 2), 1: constant([5, 5])}, outputs=[int8(1, 5, 5, 2)], align_corners=True)
    variant(op, SHAPE, inputs={0: int8(1, 1, 3, 2), 1: constant([5, 5])}, outputs=[int8(1, 5, 5, 2)], align_corners=True)
    variant(op, COUNT, inputs=[IMAGE])
    variant(op, SHAPE, inputs={1: constant([8, 8, 8])})
    variant(op, CRASH, inputs={1: arena("INT32", 2)})
    variant(op, VALUE, inputs={1: constant([8, 9])})
    variant(op, OPTION, inputs={0: int8(1, 1, 1, 2)}, align_corners=True, half_pixel_centers=True)
variant("RESIZE_BILINEAR", SHAPE, inputs={1: constant([16, 16])}, outputs=[int8(1, 16, 16, 2)], half_pixel_centers=True)
variant("RESIZE_BILINEAR", None, half_pixel_centers=True)
variant("RESIZE_NEAREST_NEIGHBOR", None, inputs={1: constant([16, 16])}, outputs=[int8(1, 16, 16, 2)], half_pixel_centers=True)

accepted("ARG_MAX", [IMAGE, AXIS], [arena("INT64", 1, 4, 4)])
variant("ARG_MAX", TYPE, inputs={0: INT16})
variant("ARG_MAX", CRASH, inputs={1: arena("INT32")})
variant("ARG_MAX", None, inputs={1: constant(-1)})
variant("ARG_MAX", VALUE, inputs={1: constant(1)})
variant("ARG_MAX", SHAPE, inputs={0: int8(1, 4, 4, 128)})
variant("ARG_MAX", TYPE, outputs=[int8(1, 4, 4)])

accepted("MEAN", [IMAGE, AXES], [int8(1, 2)])
variant("MEAN", CRASH, inputs={1: arena("INT32", 2)})
variant("MEAN", VALUE, inputs={1: constant([-1])})
variant("MEAN", VALUE, inputs={1: constant([3])})
variant("MEAN", None, inputs={0: int8(1, 1, 4, 2), 1: constant([3])})
variant("MEAN", VALUE, inputs={0: int8(4, 4, 2), 1: constant([2])})
variant("MEAN", SHAPE, inputs={0: int8(1, 4097, 4096, 1)})
variant("MEAN", SHAPE, inputs={0: int8(1, 300, 300, 1, kind="INT16")})
variant("MEAN", SHAPE, inputs={0: int8(1, 1, 4097, 1), 1: constant([1])})
variant("MEAN", SHAPE, inputs={0: int8(1, 1, 1, 4097), 1: constant([3])})

for op, operands in (("EXPAND_DIMS", [ROW, constant(0)]), ("SQUEEZE", [ROW]), ("RESHAPE", [ROW, constant([2, 2])])):
    accepted(op, operands, [int8(2, 2)])
    variant(op, QUANTIZATION, outputs=[int8(2, 2, scale=0.25)])
    variant(op, SHAPE, outputs=[int8(2, 3)])
variant("RESHAPE", BEYOND, inputs=[ROW])
variant("RESHAPE", CONSTANT, inputs={1: arena("INT32", 2)})

accepted("TRANSPOSE", [ROW, constant([1, 0])], [int8(4, 1)])
variant("TRANSPOSE", SHAPE, inputs={1: constant([0, 1, 2])})
variant("TRANSPOSE", CONSTANT, inputs={1: arena("INT32", 2)})
variant("TRANSPOSE", VALUE, inputs={1: constant([1, 2])})
variant("TRANSPOSE", VALUE, inputs=[int8(2, 3, 4), constant([1, 0, 2])])
variant("TRANSPOSE", None, inputs=[int8(1, 3, 4), constant([0, 2, 1])])
variant("TRANSPOSE", None, inputs=[int8(2, 1, 4), constant([2, 1, 0])])
variant("TRANSPOSE", None, inputs=[int8(1, 2, 3, 4), constant([0, 2, 1, 3])])
variant("TRANSPOSE", None, inputs=[int8(1, 1, 3, 4), constant([0, 1, 3, 2])])
variant("TRANSPOSE", None, inputs=[int8(1, 3, 1, 4), constant([0, 3, 2, 1])])
variant("TRANSPOSE", VALUE, inputs=[int8(1, 2, 3, 4), constant([0, 3, 1, 2])])

accepted("SLICE", [IMAGE, constant([0] * 4), constant([1] * 4)], [int8(1, 1, 1, 1)])
variant("SLICE", CONSTANT, inputs={1: arena("INT32", 4)})
variant("SLICE", CONSTANT, inputs={2: arena("INT32", 4)})

accepted("STRIDED_SLICE", [IMAGE, constant([0] * 4), constant([1] * 4), constant([1] * 4)], [int8(1, 1, 1, 1)])
variant("STRIDED_SLICE", COUNT, inputs=[IMAGE, constant([0] * 4), constant([1] * 4)])
for position in (1, 2, 3):
    variant("STRIDED_SLICE", CONSTANT, inputs={position: arena("INT32", 4)})
variant("STRIDED_SLICE", OPTION, offset=True)
variant("STRIDED_SLICE", OPTION, ellipsis_mask=1)
variant("STRIDED_SLICE", OPTION, new_axis_mask=1, shrink_axis_mask=2)
variant("STRIDED_SLICE", VALUE, inputs={3: constant([1, 2, 1, 1])})

accepted("CONCATENATION", [IMAGE, IMAGE], [int8(1, 4, 4, 4)], axis=-1)
variant("CONCATENATION", ACTIVATION, fused_activation_function=SIGN_BIT)
variant("CONCATENATION", OPTION, axis=4)
variant("CONCATENATION", RANK, inputs={1: ROW})
variant("CONCATENATION", SHAPE, inputs={1: int8(1, 3, 4, 2)})
variant("CONCATENATION", SHAPE, inputs={1: int8(1, 4, 4, 3)})

accepted("SPLIT", [AXIS, IMAGE], [int8(1, 4, 4, 1)] * 2, num_splits=2)
variant("SPLIT", CRASH, inputs={0: arena("INT32")})
variant("SPLIT", VALUE, inputs={0: constant(4)})
variant("SPLIT", SHAPE, num_splits=3)
accepted("SPLIT_V", [IMAGE, constant([1, 1]), AXIS], [int8(1, 4, 4, 1)] * 2, num_splits=2)
variant("SPLIT_V", COUNT, inputs=[IMAGE, constant([1, 1])])
variant("SPLIT_V", TYPE, inputs={1: constant([1, 1], "INT64")})
variant("SPLIT_V", CRASH, inputs={1: arena("INT32", 2)})
variant("SPLIT_V", VALUE, inputs={1: constant([-1, -1])})

_PADDINGS = [[0, 0], [1, 1], [1, 1], [0, 0]]
accepted("PAD", [IMAGE, constant(_PADDINGS)], [int8(1, 6, 6, 2)])
variant("PAD", COUNT, inputs=[IMAGE, constant(_PADDINGS), IMAGE])
variant("PAD", CONSTANT, inputs={1: arena("INT32", 4, 2)})
variant("PAD", TYPE, inputs={1: constant(_PADDINGS, "INT16")})
variant("PAD", SHAPE, inputs={1: constant([[0, 0]] * 2)})
variant("PAD", SHAPE, outputs=[int8(1, 6, 7, 2)])
variant("PAD", SHAPE, inputs={1: constant(_PADDINGS, "INT64")})
variant("PAD", None, inputs={1: constant(_PADDINGS, "INT64")}, outputs=[int8(1, 4, 5, 3)])

_SEQUENCE, _STATE = int8(1, 3, 4), int8(1, 4)._replace(is_variable=True)
_LSTM = [_SEQUENCE, *[ROWS] * 8, *[None] * 3, *[BIAS] * 4, None, None, _STATE, _STATE, *[None] * 4]
"""The node has no intermediate tensors: ``test_lstm`` has the cases of one with them."""


@for_each(TABLE.cases, lambda case: case.name)
def test_a_node(case):
    verdict = RULES.validate(case.node, case.target)
    assert [reason.code for reason in verdict.reasons] == ([case.code] if case.code else [])


def lstm(inputs, outputs=(_SEQUENCE,), intermediates=5):
    view = node_view("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, list(outputs), options={})
    return NodeView(view.graph, view.node._replace(intermediates=tuple(range(intermediates))))


def with_input(position, tensor):
    return [tensor if at == position else known for at, known in enumerate(_LSTM)]


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (lstm(_LSTM), BEYOND),
        (lstm(_LSTM, [_SEQUENCE] * 9), None),
        (lstm(with_input(0, int8(1, 3, 4, kind="UINT8"))), TYPE),
        (lstm(_LSTM, [int8(1, 3, 4, kind="INT16")]), TYPE),
        (lstm(with_input(0, int8(3, 4))), RANK),
        (lstm(_LSTM[:20]), COUNT),
        (lstm(_LSTM, intermediates=0), COUNT),
        (lstm(with_input(18, int8(1, 4))), OPTION),
        (lstm(with_input(2, None)), OPTIONAL),
        (lstm(with_input(9, BIAS)), OPTIONAL),
        (lstm(with_input(16, BIAS)), OPTIONAL),
        (lstm(with_input(20, BIAS)), OPTIONAL),
    ],
)
def test_lstm(node, expected):
    assert [reason.code for reason in RULES.validate(node, ReleaseOnly()).reasons] == ([expected] if expected else [])


_BREAKERS = {
    "outputs without STRING elements": lambda tensor: tensor._replace(type="STRING"),
    "outputs with at least one dimension": lambda tensor: tensor._replace(shape=()),
    "outputs of rank at most 4": lambda tensor: tensor._replace(shape=(1,) * 5),
    "tensors of type UINT8, INT8, INT16 or INT32": lambda tensor: tensor._replace(type="FLOAT32"),
    "tensors that are not INT32": lambda tensor: tensor._replace(type="INT32"),
    "dimensions of 1 to 65535": lambda tensor: tensor._replace(shape=(*tensor.shape[:-1], 65536)),
    "tensors with a scale and a zero point": lambda tensor: tensor._replace(quantization=None),
    "tensors with one scale": lambda tensor: quantized(tensor, 0.5, 0.25),
    "finite scales": lambda tensor: quantized(tensor, float("inf")),
}


def test_what_every_operator_is_asked_of_its_result():
    """Each common check refuses a result that it is about, unless the operator is exempt from the check."""
    for case in TABLE.cases:
        if case.code is None:
            rule = RULES.rules[case.op]
            demands = {check.needed for check in rule.checks}
            for needed, breaker in _BREAKERS.items():
                node = case.node
                outputs = [breaker(tensor) for tensor in node.outputs]
                operands = [node.graph.tensor(index) if index >= 0 else None for index in node.node.inputs]
                view = node_view(case.op, operands, outputs)
                view._options = node._options
                reasons = RULES.validate(view, case.target).reasons
                refused = reasons[0].needed if reasons else None
                assert (refused == needed) == (needed in demands), (case.op, needed, refused)


def test_what_every_operator_is_asked_of_its_operands():
    for op, expected in (("RELU", [SHAPE]), ("SLICE", [])):
        case = next(case for case in TABLE.cases if case.op == op)
        batch = node_view(op, [int8(2, 4, 4, 2), *case.node.inputs[1:]], case.node.outputs, options={})
        assert [reason.code for reason in RULES.validate(batch, case.target).reasons] == expected
    alone = node_view("PRELU", [IMAGE], [IMAGE])
    assert RULES.validate(alone, ReleaseOnly()).reasons[0].code == code(OPERAND_COUNT.name)
    floats = node_view("PRELU", [IMAGE, arena("FLOAT32", 2)], [IMAGE])
    assert RULES.validate(floats, ReleaseOnly()).reasons[0].found == "input 1 is FLOAT32"


_NEVER_REFUSED = {
    "an input without a dimension of size 0",
    "outputs of type UINT8, INT8 or INT16 if the node has a fused activation",
}
"""Checks that an earlier one makes superfluous: sizes of 0 and INT32 results are refused before (INT32 not for ADD, SUB, MUL)."""


def test_checks_of_their_own_are_met_and_refused():
    """Every check of an operator that is not common to all is refused by a case, and met by one."""
    refused, met = TABLE.checks(RULES)
    for op, rule in RULES.rules.items():
        for position, check in enumerate(rule.checks):
            is_common = check.source is not None and check.source.symbol.startswith(("ConstraintTensor", "ConstraintBatch"))
            if is_common or op == "UNIDIRECTIONAL_SEQUENCE_LSTM":
                continue
            key = op, position, RULES.code_of(check.kind)
            assert key in met, (op, check.needed)
            assert key in refused or (check.needed in _NEVER_REFUSED and op not in ("ADD", "SUB", "MUL")), (op, check.needed)


def test_operators_without_an_entry_and_custom_operators():
    assert RULES.validate(node_view("COS", [IMAGE], [IMAGE]), ReleaseOnly()).reasons[0].code == code("unsupported-operator")
    assert RULES.validate(node_view("ethos-u", [IMAGE], [IMAGE], custom=True), ReleaseOnly()).is_supported
    other = RULES.validate(node_view("mine", [IMAGE], [IMAGE], custom=True), ReleaseOnly())
    assert other.reasons[0].code == code("unsupported-operator")


def test_every_kind_is_used_and_every_check_has_a_hint():
    assert_explained(RULES)
