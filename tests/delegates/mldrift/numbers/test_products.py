"""Convolutions and matrix products that ML Drift computes wrongly."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.model import schema
from tests.support.delegates.mldrift_numbers import Quantized, ints, model_of, risks_of, zeros

SAME, VALID = (schema.enum_values("Padding")[name] for name in ("SAME", "VALID"))


def convolved(weights, source, result, stride=1, op="CONV_2D", **options):
    fields = {"padding": SAME, "stride_h": stride, "stride_w": stride, **options}
    bias = zeros(result[-1])
    return model_of({"x": source, "w": weights, "b": bias, "y": result}, [(op, "x w b", "y", fields)])


CONVOLUTIONS = [
    # Quantized 1x1 weights forget the stride
    (Quantized(8, 1, 1, 4), (1, 6, 6, 4), (1, 3, 3, 8), 2, "conv-1x1-int8-stride"),
    (Quantized(8, 1, 1, 4), (1, 6, 6, 4), (1, 6, 6, 8), 1, None),
    (Quantized(8, 1, 1, 4), (1, 2, 2, 4), (1, 1, 1, 8), 2, None),
    (Quantized(8, 3, 3, 4), (1, 6, 6, 4), (1, 3, 3, 8), 2, None),
    (zeros(8, 1, 1, 4), (1, 6, 6, 4), (1, 3, 3, 8), 2, None),
    # Groups
    (zeros(4, 3, 3, 2), (1, 4, 4, 4), (1, 4, 4, 4), 1, "grouped-conv"),
    (zeros(8, 3, 3, 4), (1, 4, 4, 8), (1, 4, 4, 8), 1, None),
    (zeros(4, 3, 3, 1), (1, 4, 4, 4), (1, 4, 4, 4), 1, None),
    (zeros(8, 3, 3, 1), (1, 4, 4, 4), (1, 4, 4, 8), 1, "grouped-conv"),
]


@pytest.mark.parametrize(("weights", "source", "result", "stride", "code"), CONVOLUTIONS)
def test_a_convolution(weights, source, result, stride, code):
    assert risks_of(convolved(weights, source, result, stride)) == ([] if code is None else [(0, code, "wrong")])


@pytest.mark.parametrize(
    ("window", "channels", "multiplier", "is_wrong"), [(1, 4, 2, True), (1, 4, 1, False), (1, 1, 2, False), (3, 4, 2, False)]
)
def test_a_depthwise_convolution(window, channels, multiplier, is_wrong):
    result = channels * multiplier
    model = convolved(
        zeros(1, window, window, result), (1, 4, 4, channels), (1, 4, 4, result), op="DEPTHWISE_CONV_2D",
        depth_multiplier=multiplier,
    )  # fmt: skip
    assert risks_of(model) == ([(0, "dwconv-1x1-multiplier", "wrong")] if is_wrong else [])


@pytest.mark.parametrize(
    ("size", "padding", "is_wrong"), [(4, SAME, False), (5, SAME, True), (5, VALID, False)], ids=["even", "odd", "valid"]
)
def test_a_transposed_convolution(size, padding, is_wrong):
    given = size * 2 + (padding == VALID)
    tensors = {"s": ints(1, given, given, 4), "w": zeros(4, 3, 3, 4), "x": (1, size, size, 4), "y": (1, given, given, 4)}
    options = {"padding": padding, "stride_h": 2, "stride_w": 2}
    assert risks_of(model_of(tensors, [("TRANSPOSE_CONV", "s w x", "y", options)])) == (
        [(0, "tconv-same-padding", "wrong")] if is_wrong else []
    )


CONNECTED = [
    (zeros(4, 8), (8,), (1, 4), {}, ["fc-rank1"]),
    (zeros(4, 8), (3, 8), (3, 4), {}, []),
    (zeros(4, 32), (1, 2, 2, 8), (1, 4), {}, ["fc-flatten"]),
    (Quantized(4, 8), (1, 3, 8), (3, 4), {}, ["fc-int8-flatten"]),
    (Quantized(4, 8), (1, 1, 8), (1, 4), {}, []),
    (Quantized(4, 8), (1, 2, 3, 8), (6, 4), {}, ["fc-int8-flatten"]),
    (Quantized(4, 8), (1, 3, 8), (1, 3, 4), {"keep_num_dims": True}, []),
    ((4, 8), (3, 8), (3, 4), {}, ["fc-runtime-weights-bias"]),
]


@pytest.mark.parametrize(("weights", "source", "result", "options", "codes"), CONNECTED)
def test_a_fully_connected_node(weights, source, result, options, codes):
    tensors = {"x": source, "w": weights, "b": zeros(4), "y": result}
    options = {"keep_num_dims": False, **options}
    model = model_of(tensors, [("FULLY_CONNECTED", "x w b", "y", options)])
    assert risks_of(model) == [(0, code, "wrong") for code in codes]


def test_runtime_weights_without_a_bias_are_right():
    model = model_of({"x": (3, 8), "w": (4, 8), "y": (3, 4)}, [("FULLY_CONNECTED", "x w", "y", {"keep_num_dims": False})])
    assert risks_of(model) == []


MULTIPLIED = [
    ((2, 3, 4), (2, 4, 5), (2, 3, 5), {}, None),
    ((2, 3, 4), (4, 5), (2, 3, 5), {}, "bmm-broadcast"),
    ((1, 3, 4), (2, 4, 5), (2, 3, 5), {}, "bmm-broadcast"),
    ((2, 3, 4), zeros(4, 5), (2, 3, 5), {}, None),
    ((2, 3, 4), zeros(5, 4), (2, 3, 5), {"adj_y": True}, "bmm-const2d-adj"),
]


@pytest.mark.parametrize(("left", "right", "result", "options", "code"), MULTIPLIED)
def test_a_batch_of_products(left, right, result, options, code):
    tensors = {"x": left, "w": right, "y": result}
    model = model_of(tensors, [("BATCH_MATMUL", "x w", "y", {"adj_x": False, **options})])
    assert risks_of(model) == ([] if code is None else [(0, code, "wrong")])


@pytest.mark.parametrize(("table", "is_wrong"), [(Quantized(6, 4), True), (Quantized(6, 4, scales=6), False)])
def test_a_table(table, is_wrong):
    model = model_of({"i": ("INT32", (3,)), "t": table, "y": (3, 4)}, [("EMBEDDING_LOOKUP", "i t", "y", {})])
    assert risks_of(model) == ([(0, "embedding-per-tensor", "wrong")] if is_wrong else [])


def test_weights_of_float16_that_are_widened_are_constant():
    tensors = {"x": (1, 4, 4, 4), "h": np.zeros((4, 3, 3, 2), np.float16), "w": (4, 3, 3, 2), "b": zeros(4), "y": (1, 4, 4, 4)}
    steps = [("DEQUANTIZE", "h", "w", {}), ("CONV_2D", "x w b", "y", {"padding": SAME, "stride_h": 1, "stride_w": 1})]
    assert risks_of(model_of(tensors, steps)) == [(1, "grouped-conv", "wrong")]


MASKED = [
    ((1, 1, 8, 8), "litert-2.1.5", "opencl", [(2, "bmm-masked", "may be wrong")]),
    ((1, 1, 8, 8), "litert-2.1.6", "opencl", []),
    ((1, 1, 8, 8), "litert-2.1.5", "webgpu", []),
    ((1, 4, 8, 8), "litert-2.1.5", "opencl", []),
]


@pytest.mark.parametrize(("mask", "runtime", "backend", "risks"), MASKED)
def test_a_mask_for_all_heads(mask, runtime, backend, risks):
    scores = (1, 4, 8, 8)
    tensors = {"q": scores, "k": scores, "a": scores, "s": np.array(0.5, np.float32), "b": scores, "m": mask, "y": scores}
    steps = [("BATCH_MATMUL", "q k", "a", {}), ("MUL", "a s", "b", {}), ("ADD", "b m", "y", {})]
    assert risks_of(model_of(tensors, steps), runtime, backend) == risks
