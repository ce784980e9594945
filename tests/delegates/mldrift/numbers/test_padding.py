"""Paddings, and the pools, convolutions and additions with which ML Drift merges a padding."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.model import schema
from tests.support.delegates.mldrift_numbers import model_of, risks_of, zeros

VALID = schema.enum_values("Padding")["VALID"]

PADDED = [
    ((1, 3, 4), [(0, 0), (1, 1), (0, 0)], None),
    ((2, 3, 4), [(0, 0), (1, 1), (0, 0)], "pad-rank3"),
    ((2, 3, 4), [(0, 0), (0, 0), (0, 0)], "pad-rank3"),
    ((1, 3, 4), [(1, 0), (0, 0), (0, 0)], "pad-rank3"),
    ((2, 3, 4, 4), [(0, 0), (1, 1), (0, 0), (0, 0)], None),
    ((1, 3, 4, 4), [(0, 1), (0, 0), (0, 0), (0, 0)], "pad-batch"),
    ((2, 3, 4, 4), [(0, 1), (0, 0), (0, 0), (0, 0)], None),
]


def grown(shape, pads):
    return tuple(before + size + after for size, (before, after) in zip(shape, pads, strict=True))


@pytest.mark.parametrize(("shape", "pads", "code"), PADDED)
def test_a_padding(shape, pads, code):
    model = model_of({"x": shape, "p": np.array(pads, np.int32), "y": grown(shape, pads)}, [("PAD", "x p", "y", {})])
    assert risks_of(model) == ([] if code is None else [(0, code, "wrong")])


IMAGE = [(0, 0), (1, 1), (1, 1), (0, 0)]
POOL = {"padding": VALID, "stride_h": 1, "stride_w": 1, "filter_height": 2, "filter_width": 2}


def pooled(op, *, value=None, before=None, pads=IMAGE, pool=POOL, outputs="y", between=False):
    """Return a model with a padding before a pool. The pool reads a RESHAPE of the padded tensor if ``between``."""
    shape = grown((1, 4, 4, 8), pads)
    result = (1, *[(size - pool["filter_height"]) // pool["stride_h"] + 1 for size in shape[1:3]], 8)
    tensors = {"x": (1, 4, 4, 8), "b": (1, 4, 4, 8), "p": np.array(pads, np.int32), "q": shape, "r": shape, "y": result}
    steps = [(before, "x", "b", {})] if before else []
    source = "b" if before else "x"
    if value is None:
        steps.append(("PAD", f"{source} p", "q", {}))
    else:
        tensors["v"] = np.array([value], np.float32)
        steps.append(("PADV2", f"{source} p v", "q", {}))
    if between:
        tensors["s"] = np.array(shape, np.int32)
        steps.append(("RESHAPE", "q s", "r", {}))
    steps.append((op, "r" if between else "q", "y", pool))
    return model_of(tensors, steps, outputs)


POOLED = [
    ("AVERAGE_POOL_2D", {}, "wrong"),
    ("AVERAGE_POOL_2D", {"before": "RELU"}, "wrong"),
    ("AVERAGE_POOL_2D", {"between": True}, "wrong"),
    ("MAX_POOL_2D", {}, "may be wrong"),
    ("MAX_POOL_2D", {"before": "RELU"}, None),
    ("MAX_POOL_2D", {"before": "RELU", "value": 1.0}, "may be wrong"),
    ("MAX_POOL_2D", {"value": -60000.0}, None),
]


@pytest.mark.parametrize(("op", "changes", "certainty"), POOLED)
def test_a_padding_before_a_pool(op, changes, certainty):
    number = 1 + ("before" in changes) + ("between" in changes)
    assert risks_of(pooled(op, **changes)) == ([(number, "pad-then-pool", certainty)] if certainty else [])


def test_windows_that_cover_no_padding_are_right():
    strided = {**POOL, "stride_h": 8, "stride_w": 8, "filter_height": 1, "filter_width": 1}
    pads = [(0, 0), (0, 1), (0, 1), (0, 0)]
    assert risks_of(pooled("AVERAGE_POOL_2D", pads=pads, pool=strided)) == []


def test_a_merged_padding_that_is_an_output_is_never_written():
    assert risks_of(pooled("MAX_POOL_2D", before="RELU", outputs="q y")) == [(2, "pad-output", "wrong")]


@pytest.mark.parametrize(("value", "code"), [(0.0, None), (1.5, "pad-value-then-conv")])
def test_a_padding_value_before_a_convolution(value, code):
    tensors = {"x": (1, 4, 4, 4), "p": np.array(IMAGE, np.int32), "v": np.array([value], np.float32), "q": (1, 6, 6, 4)}
    tensors |= {"w": zeros(4, 3, 3, 4), "c": zeros(4), "y": (1, 4, 4, 4)}
    options = {"padding": VALID, "stride_h": 1, "stride_w": 1}
    model = model_of(tensors, [("PADV2", "x p v", "q", {}), ("CONV_2D", "q w c", "y", options)])
    assert risks_of(model) == ([] if code is None else [(1, code, "wrong")])


@pytest.mark.parametrize(("channels", "code"), [(4, "pad-value-then-add"), (3, None)])
def test_a_padding_value_before_an_addition(channels, code):
    pads, shape = [(0, 0), (0, 0), (0, 0), (0, 4)], (1, 2, 2, channels + 4)
    tensors = {"x": (1, 2, 2, channels), "p": np.array(pads, np.int32), "v": np.array([1.5], np.float32), "q": shape}
    steps = [("PADV2", "x p v", "q", {}), ("ADD", "q z", "y", {})]
    assert risks_of(model_of({**tensors, "z": shape, "y": shape}, steps)) == ([] if code is None else [(1, code, "wrong")])


@pytest.mark.parametrize(
    ("runtime", "value", "expected"),
    [
        ("litert-2.1.6", 1.5, "wrong"),
        ("litert-2.2.0", 1.5, "wrong"),
        ("litert-2.2.0", 0.0, "may be wrong"),
        ("litert-2.3.0", 1.5, None),
    ],
)
def test_appended_channels(runtime, value, expected):
    pads = np.array([(0, 0), (0, 0), (0, 0), (0, 2)], np.int32)
    tensors = {"x": (1, 2, 2, 3), "p": pads, "v": np.array([value], np.float32), "y": (1, 2, 2, 5)}
    risks = risks_of(model_of(tensors, [("PADV2", "x p v", "y", {})]), runtime)
    assert risks == ([] if expected is None else [(0, "pad-channel-tail", expected)])
