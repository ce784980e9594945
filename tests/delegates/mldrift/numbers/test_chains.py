"""A PRELU and a LEAKY_RELU that ML Drift puts into one kernel. Each case was run on the GPU accelerator."""

from __future__ import annotations

import pytest

from delegate_sim.model import schema
from tests.support.delegates.mldrift_numbers import Quantized, ints, model_of, risks_of, zeros

IMAGE = (1, 6, 6, 8)
SAME = {"padding": schema.enum_values("Padding")["SAME"], "stride_h": 1, "stride_w": 1}
POOL = ("MAX_POOL_2D", {**SAME, "filter_width": 2, "filter_height": 2})
CONVOLUTION = ("CONV_2D w b", SAME)
PRELU = ("PRELU s", {})
LEAKY = ("LEAKY_RELU", {"alpha": 0.5})
TENSORS = {
    "x": IMAGE, "z": IMAGE, "w": zeros(8, 3, 3, 8), "q": Quantized(8, 3, 3, 8), "b": zeros(8), "s": zeros(1, 1, 8), "c": zeros(8),
    "e": zeros(*IMAGE), "r": ints(*IMAGE),
}  # fmt: skip
RELU = schema.enum_values("ActivationFunctionType")["RELU"]


def risks(steps, outputs=""):
    """Return what is wrong in a chain of steps. A step has the operator with its further operands, and the options."""
    tensors, nodes = dict(TENSORS), []
    for number, (text, options) in enumerate(steps):
        op, *further = text.split()
        source, result = f"y{number - 1}" if number else "x", f"y{number}"
        tensors[result] = IMAGE
        nodes.append((op, " ".join([source, *further]), result, options))
    return [(node, code) for node, code, _ in risks_of(model_of(tensors, nodes, outputs)) if "leaky" in code]


WRONG = [
    [CONVOLUTION, PRELU, LEAKY],
    [POOL, PRELU, LEAKY],
    [("ADD z", {}), PRELU, LEAKY],
    [("ADD_N z", {}), PRELU, LEAKY],
    [CONVOLUTION, PRELU, ("RELU", {}), LEAKY],
    [CONVOLUTION, PRELU, ("MUL c", {}), ("ABS", {}), LEAKY],
    [CONVOLUTION, ("MUL c", {}), ("ADD c", {}), PRELU, LEAKY],
    [("CONV_2D q b", SAME), ("MUL c", {}), PRELU, LEAKY],
    [POOL, ("MUL z", {}), PRELU, LEAKY],
    [POOL, ("RESHAPE r", {}), PRELU, ("RESHAPE r", {}), LEAKY],
]
RIGHT = [
    [PRELU, LEAKY],
    [POOL, LEAKY, PRELU],
    [POOL, PRELU, ("LEAKY_RELU", {"alpha": 0.0})],
    [POOL, ("ABS", {}), PRELU, LEAKY],
    [POOL, ("MUL c", {}), PRELU, LEAKY],
    [CONVOLUTION, ("MUL e", {}), PRELU, LEAKY],
    [("CONV_2D w b", {**SAME, "fused_activation_function": RELU}), PRELU, LEAKY],
    [POOL, PRELU, ("ADD z", {}), LEAKY],
    [("ADD x", {}), PRELU, LEAKY],
    [("RESHAPE r", {}), PRELU, LEAKY],
]


@pytest.mark.parametrize("steps", WRONG)
def test_a_slope_in_the_kernel_of_a_prelu(steps):
    assert risks(steps) == [(len(steps) - 1, "prelu-then-leaky-relu")]


@pytest.mark.parametrize("steps", RIGHT)
def test_a_slope_in_another_kernel(steps):
    assert risks(steps) == []


@pytest.mark.parametrize("outputs", ["y0 y2", "y1 y2"])
def test_an_output_ends_a_kernel(outputs):
    assert risks([POOL, PRELU, LEAKY], outputs) == []
