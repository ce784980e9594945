"""The acceptance rules, operator by operator, against ``neutron_delegate_utils.cc`` of nxp-imx/tflite-neutron-delegate."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.neutron import CLOSED_RELEASES, RULES, WITH_RULES, NeutronTarget, has_compiled
from tests.support.delegates.cases import CaseTable
from tests.support.graphs import arena, constant, node_view, quantized
from tests.support.tables import for_each

BOOK = RULES[WITH_RULES]


def code(name):
    return f"neutron-imx95-{name}"


TYPE, RANK, SHAPE, OPTION = code("tensor-type"), code("rank"), code("shape"), code("attribute-value")
CONSTANT, BIAS_GIVEN, SIZES, BEYOND = (
    code("constant-operand"),
    code("optional-operand"),
    code("reads-missing-sizes"),
    code("reads-beyond-operands"),
)


def int8(*shape):
    return quantized(arena("INT8", *shape), 0.5)


IMAGE, ROW, FLOAT = int8(1, 4, 4, 8), int8(1, 4), arena("FLOAT32", 1, 4, 4, 8)
FILTERS = constant([[[[0] * 8]]], "INT8")
BIAS = constant([0])

TABLE = CaseTable(NeutronTarget())
accepted, variant = TABLE.accepted, TABLE.variant

accepted("ADD", [IMAGE, IMAGE], [IMAGE])
variant("ADD", TYPE, inputs={0: FLOAT})
variant("ADD", TYPE, inputs={1: FLOAT})
variant("ADD", TYPE, outputs=[FLOAT])
variant("ADD", CONSTANT, inputs={0: constant([0], "INT8")})
variant("ADD", CONSTANT, inputs={1: constant([0], "INT8")})

for op in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
    options = {} if op == "FULLY_CONNECTED" else {"stride_w": 1, "stride_h": 1}
    if op == "DEPTHWISE_CONV_2D":
        options["depth_multiplier"] = 1
    accepted(op, [IMAGE, FILTERS, BIAS], [IMAGE], **options)
    variant(op, TYPE, inputs={0: FLOAT})
    variant(op, TYPE, inputs={1: constant([0.0], "FLOAT32")})
    variant(op, TYPE, inputs={2: constant([0], "INT64")})
    variant(op, TYPE, outputs=[FLOAT])
    variant(op, CONSTANT, inputs={1: int8(1, 1, 1, 8)})
    variant(op, BIAS_GIVEN, inputs=[IMAGE, FILTERS])
    variant(op, BIAS_GIVEN, inputs={2: None})
    variant(op, BIAS_GIVEN, inputs={2: arena("INT32", 1)})
    if op != "FULLY_CONNECTED":
        variant(op, RANK, outputs=[ROW])
        variant(op, OPTION, dilation_w_factor=2)
        variant(op, OPTION, dilation_h_factor=2)
variant("CONV_2D", None, stride_w=3)
variant("DEPTHWISE_CONV_2D", OPTION, stride_w=3)
variant("DEPTHWISE_CONV_2D", OPTION, stride_h=3)
variant("DEPTHWISE_CONV_2D", OPTION, depth_multiplier=2)

accepted("AVERAGE_POOL_2D", [IMAGE], [IMAGE])
variant("AVERAGE_POOL_2D", TYPE, inputs=[FLOAT])
variant("AVERAGE_POOL_2D", TYPE, outputs=[FLOAT])
accepted("MAX_POOL_2D", [IMAGE], [IMAGE], stride_h=2, stride_w=5, filter_height=2, filter_width=2)
variant("MAX_POOL_2D", TYPE, inputs=[FLOAT])
variant("MAX_POOL_2D", TYPE, outputs=[FLOAT])
variant("MAX_POOL_2D", RANK, inputs=[int8(1, 4)])
variant("MAX_POOL_2D", OPTION, stride_h=3)
variant("MAX_POOL_2D", SHAPE, inputs=[int8(2, 4, 4, 8)])
variant("MAX_POOL_2D", OPTION, filter_width=0)

accepted("PAD", [IMAGE, constant([[0, 0]] * 4)], [int8(1, 4, 4, 16)])
variant("PAD", TYPE, inputs={0: FLOAT})
variant("PAD", TYPE, outputs=[arena("FLOAT32", 1, 4, 4, 16)])
variant("PAD", RANK, inputs={0: int8(4, 8)})
variant("PAD", SHAPE, outputs=[int8(1, 4, 4, 17)])
variant("PAD", SHAPE, inputs={0: int8(1, 4, 4, 17)})
variant("PAD", SHAPE, outputs=[int8(1, 4, 4, 32)])
variant("PAD", None, inputs={0: int8(1, 4, 4, 15)}, outputs=[int8(1, 4, 4, 32)])

accepted("RESHAPE", [ROW, constant([2, 2])], [int8(2, 2)])
variant("RESHAPE", TYPE, inputs={0: FLOAT})
variant("RESHAPE", TYPE, inputs={1: constant([2, 2], "INT64")})
variant("RESHAPE", CONSTANT, inputs={1: arena("INT32", 2)})


def codes(book, node):
    return [reason.code for reason in book.validate(node, NeutronTarget(has_compiled=has_compiled(node.graph))).reasons]


@for_each(TABLE.cases, lambda case: case.name)
def test_a_node(case):
    assert codes(BOOK, case.node)[:1] == ([case.code] if case.code else [])


def test_every_check_is_met_and_refused():
    refused, met = TABLE.checks(BOOK)
    for op, rule in BOOK.rules.items():
        for position, check in enumerate(rule.checks):
            key = op, position, BOOK.code_of(check.kind)
            assert key in met
            assert key in refused or check.kind.name == "reads-missing-sizes", (op, check.needed)


@pytest.mark.parametrize("op", ["MAX_POOL_2D", "PAD"])
def test_sizes_of_a_scalar_are_read(op):
    assert SIZES in codes(BOOK, node_view(op, [IMAGE], [int8()], options={}))


def test_every_failure_is_listed():
    node = node_view("ADD", [FLOAT, constant([0.0], "FLOAT32")], [FLOAT])
    assert codes(BOOK, node) == [TYPE, TYPE, TYPE, CONSTANT]


def test_operators_without_an_entry():
    assert codes(BOOK, node_view("RELU", [IMAGE], [IMAGE])) == [code("unsupported-operator")]
    assert codes(BOOK, node_view("VAR_HANDLE", [], [arena("RESOURCE")])) == [BEYOND]
    assert codes(BOOK, node_view("mine", [IMAGE], [IMAGE], custom=True)) == [code("unsupported-operator")]


@pytest.mark.parametrize("release", RULES)
def test_compiled_networks_are_taken_in_every_release(release):
    assert codes(RULES[release], node_view("NeutronGraph", [IMAGE], [IMAGE], custom=True)) == []


def test_other_releases_take_nothing_else():
    add = node_view("ADD", [IMAGE, IMAGE], [IMAGE])
    assert codes(RULES["lf-6.6.3"], add) == [code("unsupported-operator")]
    for release in CLOSED_RELEASES:
        assert codes(RULES[release], add) == [code("unsupported-operator")]
