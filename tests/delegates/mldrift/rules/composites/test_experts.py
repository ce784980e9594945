"""Mixtures of experts: what ML Drift says of each, None where it lowers it."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.delegates.decision import ReleaseOnly
from delegate_sim.delegates.mldrift.delegate import RULES
from delegate_sim.model.model import Quantization
from delegate_sim.releases.catalogue import NEWEST
from tests.support.graphs import arena, constant, node_view

EXPERTS, ACTIVE, MODEL, HIDDEN, ROWS = 3, 2, 4, 6, 5
INTO, OUT = (HIDDEN, EXPERTS, 1, MODEL), (MODEL, EXPERTS, 1, HIDDEN)


def values(shape, kind="FLOAT32"):
    return constant(np.ones(shape), kind)


def weights(shape, kind="INT8", zero=0):
    scales = Quantization("affine", np.ones(1, np.float32), np.full(1, zero, np.int64), 0)
    return values(shape, kind)._replace(quantization=scales)


SOURCE = arena("FLOAT32", 1, 1, ROWS, MODEL)
CHOSEN = [arena("FLOAT32", 1, 1, ROWS, ACTIVE), arena("INT32", 1, 1, ROWS, ACTIVE)]
EACH = values((1, 1, 1, EXPERTS))
FLOATS = [SOURCE, *CHOSEN, values(INTO), values(INTO), values(OUT), EACH]
SCALE_IN, SCALE_OUT = values((HIDDEN, EXPERTS, 1, 1)), values((MODEL, EXPERTS, 1, 1))
QUANTIZED = [SOURCE, *CHOSEN, weights(INTO), SCALE_IN, weights(INTO), SCALE_IN, weights(OUT), SCALE_OUT, EACH]


def said(inputs, outputs=(SOURCE,)):
    verdict = RULES.validate(node_view("moe", inputs, list(outputs), custom=True), ReleaseOnly(NEWEST))
    return verdict.reasons[0].kind if verdict.reasons else None


@pytest.mark.parametrize("inputs", [FLOATS, QUANTIZED], ids=["float", "quantized"])
def test_sizes_follow_from_the_shapes(inputs):
    assert said(inputs) is None
    assert said(inputs[:-1]) == "moe is missing custom options."
    assert said(inputs, [SOURCE, SOURCE]) == "moe expects 1 output."


@pytest.mark.parametrize(
    ("inputs", "position", "operand", "expected"),
    [
        (FLOATS, 0, arena("FLOAT32", 1, 2, ROWS, MODEL), "moe cannot infer consistent attributes from shapes."),
        (FLOATS, 0, arena("FLOAT32", 1, 1, ROWS, MODEL + 1), "moe cannot infer consistent attributes from shapes."),
        (FLOATS, 2, arena("INT32", 1, 1, ROWS, EXPERTS + 1), "moe inferred num_active_experts must be <= num_experts."),
        (FLOATS, 2, arena("INT32", 1, 1, ROWS, 0), "moe inferred dimensions must be positive."),
        (FLOATS, 1, arena("FLOAT32", 1, 1, ROWS, 1), "moe expected top_weights shape [1, 1, 5, 2], got [1, 1, 5, 1]."),
        (FLOATS, 4, arena("FLOAT32", *INTO), "moe v1 expects constant weights and scales."),
        (FLOATS, 4, values(OUT), "moe expected ff1_weight shape [6, 3, 1, 4], got [4, 3, 1, 6]."),
        (FLOATS, 6, values((1, 1, 1, 1)), "moe expected per_expert_scale shape [1, 1, 1, 3], got [1, 1, 1, 1]."),
        (FLOATS, 6, values((1, 1, 1, EXPERTS), "INT32"), "moe expects per_expert_scale to be float32 or float16."),
        (QUANTIZED, 3, arena("INT8", *INTO), "moe v1 expects constant quantized weights."),
        (QUANTIZED, 5, weights(INTO, "INT32"), "moe expects int8 ff1_weight."),
        (QUANTIZED, 7, values(OUT, "INT8"), "moe expects affine quantization for linear_weight."),
        (QUANTIZED, 3, weights(INTO, zero=1), "moe only supports symmetric int8 weights; non-zero zero point in ff_gate_weight."),
        (QUANTIZED, 4, arena("FLOAT32", HIDDEN, EXPERTS, 1, 1), "moe v1 expects constant int8 scales."),
        (QUANTIZED, 6, SCALE_OUT, "moe expected ff1_scale shape [6, 3, 1, 1], got [4, 3, 1, 1]."),
        (QUANTIZED, 8, SCALE_IN, "moe expected linear_scale shape [4, 3, 1, 1], got [6, 3, 1, 1]."),
    ],
)
def test_what_does_not_fit(inputs, position, operand, expected):
    assert said([*inputs[:position], operand, *inputs[position + 1 :]]) == expected
