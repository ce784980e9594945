"""Rules of custom operators and composites.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

import struct

import pytest

from delegate_sim.delegates.xnnpack.rules import RULES, calls
from delegate_sim.delegates.xnnpack.target import Visit, XnnpackTarget
from delegate_sim.graph.graph import file_graph
from delegate_sim.model.reader import load
from delegate_sim.releases.catalogue import parse_release
from fixtures.builder import ModelBuilder
from tests.support.delegates.xnnpack_rule_cases import (
    ACTIVATION,
    ATTRIBUTE,
    COUNT,
    DEFAULT,
    FLOAT,
    OPERATOR,
    RANK,
    SHAPE,
    TANH,
    TYPE,
)
from tests.support.graphs import node_view

_SAME, _VALID = 1, 2
IMAGE = ("FLOAT32", (1, 4, 4, 2))
POOLED = ("FLOAT32", (1, 2, 2, 2))


def custom_code(op, inputs, outputs, *parameters, target=DEFAULT):
    """The code that a custom operator with these 32-bit parameters is refused with."""
    builder = ModelBuilder()
    graph = builder.subgraph()
    tensors = [graph.input("operand", *operand) for operand in inputs]
    if op == "Convolution2DTransposeBias":
        tensors += [
            graph.tensor("weights", "FLOAT32", (2, 2, 2, 2), [1.0] * 16),
            graph.tensor("bias", "FLOAT32", (2,), [0.0] * 2),
        ]
    results = [graph.tensor("result", *output) for output in outputs]
    graph.outputs(*results)
    content = struct.pack(f"<{len(parameters)}i", *parameters)
    graph.node("CUSTOM", tensors, results, custom=op, custom_options=content)
    found = file_graph(model := load(builder.bytes()), model.subgraphs[0])
    reasons = RULES.validate(found.view(found.nodes[0]), target).reasons
    return reasons[0].code if reasons else None


CUSTOM_CASES = [
    (None, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, POOLED], (_SAME, 2, 2, 2, 2, 0)),
    (None, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, POOLED], (_SAME, 2, 2, 2, 2, 3)),
    (COUNT, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED], (_SAME, 2, 2, 2, 2, 0)),
    (TYPE, "MaxPoolingWithArgmax2D", [("INT8", (1, 4, 4, 2))], [POOLED, POOLED], (_SAME, 2, 2, 2, 2, 0)),
    (RANK, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, ("INT32", (2, 2))], (_SAME, 2, 2, 2, 2, 0)),
    (ATTRIBUTE, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, POOLED], ()),
    (ATTRIBUTE, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, POOLED], (_SAME, 2, 2, 0, 2, 0)),
    (ATTRIBUTE, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, POOLED], (_SAME, 2, 2, 3, 2, 0)),
    (ACTIVATION, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, POOLED], (_SAME, 2, 2, 2, 2, TANH)),
    (ATTRIBUTE, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, POOLED], (0, 2, 2, 2, 2, 0)),
    (None, "MaxUnpooling2D", [POOLED, POOLED], [IMAGE], (_VALID, 2, 2, 2, 2, 0)),
    (ATTRIBUTE, "MaxUnpooling2D", [POOLED, POOLED], [IMAGE], (_SAME, 2, 2, 2, 2, 0)),
    (RANK, "MaxUnpooling2D", [POOLED, ("INT32", (2, 2))], [IMAGE], (_VALID, 2, 2, 2, 2, 0)),
    (None, "Convolution2DTransposeBias", [POOLED], [IMAGE], (_SAME, 2, 2)),
    (ATTRIBUTE, "Convolution2DTransposeBias", [POOLED], [IMAGE], (_SAME, 0, 2)),
    (ATTRIBUTE, "Convolution2DTransposeBias", [POOLED], [IMAGE], (_SAME, 1, 2)),
    (ATTRIBUTE, "Convolution2DTransposeBias", [POOLED], [IMAGE], (0, 2, 2)),
    (None, calls.ATTENTION, [IMAGE, IMAGE, IMAGE], [IMAGE], ()),
    (None, calls.ATTENTION, [IMAGE, IMAGE, IMAGE, ("FLOAT32", (1, 1, 4, 4))], [IMAGE], ()),
    (TYPE, calls.ATTENTION, [IMAGE, ("FLOAT16", (1, 4, 4, 2)), IMAGE], [IMAGE], ()),
    (SHAPE, calls.ATTENTION, [IMAGE, IMAGE, ("FLOAT32", (1, 4, 4, 3))], [IMAGE], ()),
    (SHAPE, calls.ATTENTION, [IMAGE, IMAGE, IMAGE, ("FLOAT32", (1, 1, 4, 3))], [IMAGE], ()),
    (OPERATOR, "SomethingElse", [IMAGE], [IMAGE], ()),
]


@pytest.mark.parametrize(
    ("code", "op", "inputs", "outputs", "parameters"),
    CUSTOM_CASES,
    ids=[f"{case[1]}-{case[0] or 'accepted'}" for case in CUSTOM_CASES],
)
def test_custom_operator(code, op, inputs, outputs, parameters):
    assert custom_code(op, inputs, outputs, *parameters) == code


def test_unpooling_with_the_padding_same_until_a_release():
    old = Visit(XnnpackTarget(release=parse_release("litert-2.2.0")))
    assert custom_code("MaxUnpooling2D", [POOLED, POOLED], [IMAGE], _SAME, 2, 2, 2, 2, 0, target=old) is None


@pytest.mark.parametrize(("name", "code"), [(calls.ATTENTION, None), ("odml.rms_norm", OPERATOR)])
def test_composite(name, code):
    node = node_view("STABLEHLO_COMPOSITE", [FLOAT, FLOAT, FLOAT], [FLOAT], options={"name": name})
    assert [reason.code for reason in RULES.validate(node, DEFAULT).reasons] == ([code] if code else [])
