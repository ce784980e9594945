"""The rules of activations and normalizations, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.vx.rules import activation
from tests.support.delegates.vx_cases import FLOAT, VxTable, assert_verdict, name_of

TABLE = VxTable(activation.RULES)
accepted = TABLE.accepted

for _op in (
    "ELU", "GELU", "HARD_SWISH", "L2_NORMALIZATION", "LEAKY_RELU", "LOCAL_RESPONSE_NORMALIZATION", "LOGISTIC", "RELU", "RELU6",
    "RELU_N1_TO_1", "SOFTMAX", "TANH",
):  # fmt: skip
    accepted(_op, [FLOAT], [FLOAT])
accepted("PRELU", [FLOAT, FLOAT], [FLOAT])


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
