"""The rules of Mesa's delegate, by version of Mesa and by driver, against ``tfl_device.c`` and the drivers of Mesa."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.decision import ReleaseOnly
from delegate_sim.delegates.teflon import ETHOSU, ETNAVIV, LATER, MESA_25_0, ROCKET, RULES
from tests.support.graphs import arena, constant, node_view, quantized

OLD = (MESA_25_0, ETNAVIV)
STRIDED = {"stride_h": 1, "stride_w": 1}


def int8(*shape):
    return quantized(arena("INT8", *shape), 0.5)


IMAGE = int8(1, 8, 8, 16)
FILTERS = quantized(constant([[[[0] * 16] * 3] * 3] * 4, "INT8"), 0.5)
BY_CHANNEL = quantized(constant([[[[0] * 16] * 3] * 3] * 4, "INT8"), 0.5, 0.25, 0.5, 0.5)
BIAS = quantized(constant([0] * 4), 0.25)


def codes(book, op, inputs, outputs, **options):
    reasons = RULES[book].validate(node_view(op, inputs, outputs, options=options), ReleaseOnly()).reasons
    return [reason.code.removeprefix("teflon-") for reason in reasons]


@pytest.mark.parametrize(
    ("op", "inputs", "options", "expected"),
    [
        ("CONV_2D", [IMAGE, FILTERS, BIAS], STRIDED, []),
        ("CONV_2D", [IMAGE, BY_CHANNEL, BIAS], STRIDED, ["quantization"]),
        ("ADD", [IMAGE, IMAGE], {}, []),
        ("ADD", [IMAGE, constant([0], "INT8")], {}, ["constant-operand"]),
        ("CONCATENATION", [IMAGE, IMAGE], {"axis": 3}, []),
        ("CONCATENATION", [IMAGE, IMAGE], {"axis": 1}, ["attribute-value"]),
        ("CONCATENATION", [IMAGE, int8(1, 8, 8, 8)], {"axis": 3}, ["shape"]),
        ("PAD", [IMAGE, constant([[0, 0], [1, 1], [1, 1], [0, 0]])], {}, []),
        ("PAD", [IMAGE, constant([[0, 0], [2, 2], [1, 1], [0, 0]])], {}, ["operand-value"]),
        ("PAD", [IMAGE, arena("INT32", 4, 2)], {}, ["reads-computed-value"]),
        ("FULLY_CONNECTED", [IMAGE, FILTERS], {}, []),
        ("RELU", [IMAGE], {}, ["unsupported-operator"]),
    ],
)
def test_nodes_in_debian_13(op, inputs, options, expected):
    assert codes(OLD, op, inputs, [IMAGE], **options) == expected


@pytest.mark.parametrize(
    ("driver", "op", "inputs", "expected"),
    [
        (ETNAVIV, "RELU", [IMAGE], []),
        (ROCKET, "RELU", [IMAGE], ["unsupported-operator"]),
        (ETHOSU, "MAX_POOL_2D", [IMAGE], []),
        (ETNAVIV, "MAX_POOL_2D", [IMAGE], ["unsupported-operator"]),
        (ETNAVIV, "TRANSPOSE", [IMAGE, constant([0, 3, 1, 2])], []),
        (ETNAVIV, "TRANSPOSE", [IMAGE, constant([0, 1, 3, 2])], ["operand-value"]),
        (ETNAVIV, "FULLY_CONNECTED", [int8(1, 1279), constant([[0]], "INT8")], []),
        (ETNAVIV, "FULLY_CONNECTED", [int8(1, 1280), constant([[0]], "INT8")], ["shape"]),
        (ETHOSU, "PAD", [IMAGE, constant([[1, 0], [1, 1], [1, 1], [0, 0]])], ["operand-value"]),
    ],
)
def test_nodes_in_later_versions(driver, op, inputs, expected):
    assert codes((LATER, driver), op, inputs, [IMAGE]) == expected
