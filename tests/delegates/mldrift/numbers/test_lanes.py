"""Divisions behind which ML Drift sums over NaN in lanes without a channel. The rows were measured (litert-2.3.0, WebGPU)."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.model import schema
from tests.support.delegates.mldrift_numbers import ints, model_of, risks_of, zeros

VALID = schema.enum_values("Padding")["VALID"]
CONVOLUTION = {"padding": VALID, "stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}


def divided(divisor, channels=3, op="DIV", between=(), reader="CONV_2D", before=(), activation=0):
    """Return a model with a division, nodes ``between`` it and a node that reads it, and nodes ``before`` its divisor."""
    shape = (1, 4, 4, channels)
    tensors, steps, source = {"x": shape}, [], "d"
    tensors["d"] = shape if divisor == "runtime" else np.full(divisor, 2, np.float32)
    for number, own in enumerate(before):
        other = "" if own in ("ABS", "EXP") else f" {'s' if own == 'ADD' else 'x'}"
        tensors |= {"s": np.ones((), np.float32)} if own == "ADD" else {}
        tensors[f"b{number}"] = shape
        steps.append((own, source + other, f"b{number}", {"fused_activation_function": 0} if other else {}))
        source = f"b{number}"
    fields = {"fused_activation_function": activation} if op == "DIV" else {}
    steps.append((op, source if op == "RSQRT" else f"x {source}", "q", fields))
    tensors["q"], last = shape, "q"
    for number, own in enumerate(between):
        tensors[f"t{number}"] = shape
        steps.append(
            (own, f"{last} x" if own == "MUL" else last, f"t{number}", {"fused_activation_function": 0} if own == "MUL" else {})
        )
        last = f"t{number}"
    if reader == "CONV_2D":
        tensors |= {"w": zeros(4, 1, 1, channels), "b": zeros(4), "y": (1, 4, 4, 4)}
        steps.append(("CONV_2D", f"{last} w b", "y", CONVOLUTION))
    else:
        axes = ints(3) if reader.endswith("channels") else ints(1, 2)
        tensors |= {"axes": axes, "y": (1, 4, 4, 1) if reader.endswith("channels") else (1, 1, 1, channels)}
        steps.append(("SUM", f"{last} axes", "y", {"keep_dims": True}))
    return model_of(tensors, steps)


@pytest.mark.parametrize(
    "given",
    [
        {"divisor": 3},
        {"divisor": "runtime"},
        {"divisor": "runtime", "channels": 1},
        {"divisor": 5, "channels": 5},
        {"divisor": "runtime", "op": "RSQRT"},
        {"divisor": "runtime", "op": "FLOOR_MOD"},
        {"divisor": "runtime", "before": ("MUL", "ABS")},
        {"divisor": 3, "between": ("MUL", "NEG")},
        {"divisor": 3, "reader": "SUM of channels"},
    ],
)
def test_nan_beside_the_channels_is_summed(given):
    division = len(given.get("before", ()))
    assert risks_of(divided(**given)) == [(division, "unused-lanes", "wrong")]


@pytest.mark.parametrize(
    "given",
    [
        {"divisor": ()},
        {"divisor": 1},
        {"divisor": 4, "channels": 4},
        {"divisor": "runtime", "before": ("EXP",)},
        {"divisor": "runtime", "before": ("ADD",)},
        {"divisor": 3, "between": ("RELU",)},
        {"divisor": 3, "activation": 1},
        {"divisor": 3, "reader": "SUM of rows"},
    ],
)
def test_other_divisions_are_right(given):
    assert risks_of(divided(**given)) == []
