"""Properties of ML Drift's rules of all operators."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.delegates.decision import ReleaseOnly
from delegate_sim.delegates.mldrift.delegate import RULES
from delegate_sim.model import schema
from delegate_sim.model.model import Quantization
from delegate_sim.releases.catalogue import NEWEST
from tests.support.delegates.mldrift_rule_cases import (
    ALIKE,
    DEEP,
    IDS,
    MATRIX,
    WIDE,
    Case,
    F,
    G,
    ints,
    rank_5,
    typed,
    verdict,
)
from tests.support.graphs import arena, constant, node_view


def test_every_refusal_says_something_of_its_own():
    for op, rule in RULES.rules.items():
        for check in rule.all_checks:
            assert check.said is not None, (op, check.needed)


@pytest.mark.parametrize(("op", "said"), [("ADD", None), ("MUL", None), ("SUB", ALIKE), ("MAXIMUM", ALIKE)])
def test_one_tensor_as_both_operands(op, said):
    node = node_view(op, [F, F], [G])
    view = node.graph.view(node.node._replace(inputs=(0, 0)))
    assert [reason.kind for reason in RULES.validate(view, ReleaseOnly()).reasons] == ([said] if said else [])


# Types


@pytest.mark.parametrize(
    ("op", "inputs", "further", "further_outputs"),
    [
        ("TANH", [F], {"BFLOAT16"}, {"BFLOAT16"}),
        ("NEG", [F], {"BFLOAT16", "INT16", "INT32"}, {"BFLOAT16", "INT16", "INT32"}),
        (
            "RESHAPE",
            [F],
            {"INT16", "INT32", "UINT16", "UINT32", "BFLOAT16"},
            {"BOOL", "INT16", "INT32", "UINT16", "UINT32", "BFLOAT16"},
        ),
        ("LOGISTIC", [F], {"BFLOAT16"}, {"BFLOAT16"}),
        ("HARD_SWISH", [F], set(), set()),
    ],
)
def test_types(op, inputs, further, further_outputs):
    def accepted(side):
        found = set()
        for kind in schema.enum_names("TensorType").values():
            tensors = {"inputs": [inputs[0]], "outputs": [G], side: [F._replace(type=kind)]}
            if RULES.validate(node_view(op, tensors["inputs"], tensors["outputs"]), ReleaseOnly()).is_supported:
                found.add(kind)
        return found

    assert accepted("inputs") == {"FLOAT32", "FLOAT16", "BOOL", "INT2", "INT4", "INT8", "UINT8"} | further
    assert accepted("outputs") == {"FLOAT32", "FLOAT16", "INT8", "UINT8"} | further_outputs


def test_types_of_constants_are_not_looked_at():
    assert verdict(Case("GATHER", None, [ints(1, 2, kind="INT64"), IDS], [arena("INT64", 3)])).reasons[0].kind == typed(
        "INT64", ""
    )
    assert verdict(Case("ADD", None, [F, constant(np.ones((4, 8)), "INT64")], [G])).is_supported


def test_a_rank_comes_before_a_type_tensor_by_tensor():
    deep = arena("INT64", 1, 1, 4, 4, 8, name="both")
    assert verdict(Case("RESHAPE", None, [deep], [G])).reasons[0].kind == rank_5("both")
    assert verdict(Case("CONCATENATION", None, [WIDE, DEEP], [G])).reasons[0].kind == typed("INT64", "wide")


# Blockwise weights


def test_blockwise_weights_of_a_matrix_product_are_not_looked_at():
    blockwise = Quantization("blockwise", np.zeros(0, np.float32), np.zeros(0, np.int64), 0, 32, 1, 2)
    weights = constant(np.ones((8, 64)), "INT8")._replace(quantization=blockwise)
    assert verdict(Case("FULLY_CONNECTED", None, [MATRIX, weights], [MATRIX])).is_supported


def test_the_newest_release_is_the_default():
    assert ReleaseOnly().release == NEWEST
