"""Nodes that the delegate may compute wrongly."""

from __future__ import annotations

import numpy as np
import pytest

import delegate_sim
from delegate_sim.delegates.gpu.delegate import DELEGATE
from delegate_sim.delegates.gpu.numbers import RULES
from tests.support.delegates.mldrift_numbers import ints, model_of, one, zeros

IMAGE = (1, 4, 4, 8)
VALID = {"padding": 1, "stride_h": 1, "stride_w": 1}
POOL = {**VALID, "filter_height": 3, "filter_width": 3}
BORDER = np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)
TAIL = np.array([[0, 0], [0, 0], [0, 0], [0, 3]], np.int32)
HALF = np.array([0.5], np.float32)


def risks(model, backend="opencl", runtime="litert-2.3.0"):
    """The nodes and codes, after a check that the delegate takes the model and that no risk is certain."""
    report = delegate_sim.analyze(model, "gpu", {"gpu_backend": backend}, runtime=runtime, defaults="benchmark").to_dict()
    run = report["runs"][0]
    assert run["subgraphs"][0]["nodes_delegated"], run["refusal"]
    found = run.get("number_risks", [])
    assert {risk["certainty"] for risk in found} <= {"may be wrong"}
    return [(risk["node"], risk["code"].removeprefix("gpu-numbers-")) for risk in found]


def binary(op, first, second, result, **options):
    return model_of({"x": first, "z": second, "y": result}, [(op, "x z", "y", options)])


def select(condition, result, *branches):
    tensors = {"c": ("BOOL", condition), "a": branches[0], "b": branches[1], "y": result}
    return model_of(tensors, [("SELECT_V2", "c a b", "y", {})])


def product(shape, rows, **options):
    return model_of({"x": shape, "w": zeros(6, 8), "y": rows}, [("FULLY_CONNECTED", "x w", "y", options)])


def depthwise(channels):
    tensors = {"x": (1, 4, 4, channels), "w": zeros(1, 3, 3, 8), "b": zeros(8), "y": (1, 2, 2, 8)}
    return model_of(tensors, [("DEPTHWISE_CONV_2D", "x w b", "y", {**VALID, "depth_multiplier": 8 // channels})])


def padded(op, *value):
    tensors = {"x": IMAGE, "p": BORDER, "p1": (1, 6, 6, 8), "y": IMAGE, **({"v": value[0]} if value else {})}
    return model_of(tensors, [(op, "x p v" if value else "x p", "p1", {}), ("MAX_POOL_2D", "p1", "y", POOL)])


def appended(op, value):
    return model_of({"x": (1, 2, 2, 5), "p": TAIL, "v": value, "y": (1, 2, 2, 8)}, [(op, "x p v", "y", {})])


def chained(outputs, **options):
    tensors = {"x": IMAGE, "c": zeros(8), "a": IMAGE, "y": IMAGE}
    return model_of(tensors, [("ADD", "x c", "a", options), ("LOGISTIC", "a", "y", {})], outputs)


def joined(outputs):
    tensors = {"x": IMAGE, "a": IMAGE, "b": IMAGE, "y": IMAGE}
    return model_of(tensors, [("ABS", "x", "a", {}), ("CONCATENATION", "a", "b", {"axis": 3}), ("ABS", "b", "y", {})], outputs)


def mean(shape, axes, result, **options):
    return model_of({"x": shape, "a": ints(*axes), "y": result}, [("MEAN", "x a", "y", options)])


def pooled(outputs):
    tensors = {"x": IMAGE, "z": IMAGE, "a": IMAGE, "y": (1, 2, 2, 8)}
    return model_of(tensors, [("ADD", "x z", "a", {}), ("MAX_POOL_2D", "a", "y", POOL)], outputs)


OPENCL = {
    "mean of the channels of rank 3": (mean((1, 16, 4), (2,), (1, 16)), [(0, "mean-place")]),
    "mean of the channels that stay": (mean((1, 16, 4), (2,), (1, 16, 1), keep_dims=True), []),
    "mean of an image": (mean((1, 4, 4, 8), (1, 2), (1, 8)), []),
    "mean of rows and batches": (mean((1, 16, 4), (0, -1), (16,)), [(0, "mean-place")]),
    "mean of rank 3 over the second dimension": (mean((2, 16, 4), (1,), (2, 4)), []),
    "constant of another layout": (binary("MUL", (3, 5), zeros(3, 5), (3, 5)), [(0, "elementwise-const-layout")]),
    "constant of one value for each channel": (binary("MUL", (3, 5), zeros(5), (3, 5)), []),
    "operand of lower rank": (binary("SUB", (4, 2, 4, 8), (2, 4, 8), (4, 2, 4, 8)), [(0, "elementwise-mixed-ranks")]),
    "condition of lower rank": (select((4, 8), (2, 4, 8), (2, 4, 8), (2, 4, 8)), [(0, "select-cond-layout")]),
    "condition of one channel": (select((1, 2, 4, 1), (1, 2, 4, 3), (1, 2, 4, 3), (1, 2, 4, 3)), [(0, "select-cond-channel")]),
    "condition of one channel, five channels": (select((1, 2, 4, 1), *[(1, 2, 4, 5)] * 3), []),
    "constant second branch of rank 3": (select((2, 4, 8), (2, 4, 8), (2, 4, 8), zeros(2, 4, 8)), [(0, "select-else-rows")]),
    "sum of one channel and several": (
        binary("ADD", (1, 2, 4, 1), (1, 2, 4, 8), (1, 2, 4, 8)),
        [(0, "elementwise-operand-size")],
    ),
    "sum of several channels and one": (binary("ADD", (1, 2, 4, 8), (1, 2, 4, 1), (1, 2, 4, 8)), []),
    "sum of one row and several": (binary("ADD", (1, 1, 4, 8), (1, 2, 4, 8), (1, 2, 4, 8)), []),
    "sum of a smaller operand and a constant": (
        binary("ADD", (1, 1, 1, 8), zeros(1, 2, 4, 8), (1, 2, 4, 8)),
        [(0, "elementwise-operand-size")],
    ),
    "product of a smaller operand and a constant": (binary("MUL", (1, 1, 1, 8), zeros(1, 2, 4, 8), (1, 2, 4, 8)), []),
    "activation that the CPU ignores": (binary("ADD", IMAGE, zeros(8), IMAGE, fused_activation_function=4), [(0, "fused-tanh")]),
    "slope above 1": (model_of({"x": IMAGE, "y": IMAGE}, [("LEAKY_RELU", "x", "y", {"alpha": 2.0})]), [(0, "leaky-relu-alpha")]),
    "power": (binary("POW", IMAGE, one(3).astype(np.float32), IMAGE), []),
    "padding before a maximum": (padded("PAD"), [(1, "pad-then-pool")]),
    "padding of rank 3": (
        model_of({"x": (2, 3, 4), "p": np.array([[0, 0], [1, 0], [0, 0]], np.int32), "y": (2, 4, 4)}, [("PAD", "x p", "y", {})]),
        [(0, "pad-rank3")],
    ),
    "appended channels with a value": (appended("PADV2", HALF), [(0, "pad-channel-tail")]),
    "appended channels with 0": (appended("PADV2", zeros(1)), []),
    "multiplier of several channels": (depthwise(4), [(0, "dwconv-multiplier")]),
    "multiplier of one channel": (depthwise(1), []),
    "rows that become batches": (product((1, 3, 8), (3, 6)), [(0, "fc-rows")]),
    "rows that stay": (product((1, 3, 8), (1, 3, 6), keep_num_dims=True), []),
    "transposed matrix": (binary("BATCH_MATMUL", (1, 3, 8), (1, 6, 8), (1, 3, 6), adj_y=True), [(0, "bmm-adj")]),
    "fewer matrices": (binary("BATCH_MATMUL", (2, 3, 8), (1, 8, 6), (2, 3, 6)), [(0, "bmm-broadcast")]),
    "vector": (model_of({"x": (8,), "y": (8,)}, [("SOFTMAX", "x", "y", {"beta": 1.0})]), [(0, "softmax-rank1")]),
    "exclusive sum": (
        model_of({"x": IMAGE, "a": one(2), "y": IMAGE}, [("CUMSUM", "x a", "y", {"exclusive": True})]),
        [(0, "cumsum-exclusive-reverse")],
    ),
    "output between elementwise nodes": (chained("a y"), [(1, "elementwise-output")]),
    "tensor between elementwise nodes": (chained("y"), []),
    "concatenation of an output": (joined("a y"), [(1, "concat-of-one")]),
    "concatenation of one tensor": (joined("y"), []),
}

OPENGL = {
    "product of a smaller operand and a constant": (
        OPENCL["product of a smaller operand and a constant"][0],
        [(0, "elementwise-operand-size")],
    ),
    "factor of one column": (binary("MUL", IMAGE, zeros(4, 1, 8), IMAGE), [(0, "mul-constant-size")]),
    "factor of the same size": (binary("MUL", IMAGE, zeros(4, 4, 8), IMAGE), []),
    "power": (OPENCL["power"][0], [(0, "pow-negative")]),
    "appended channels with a value": (OPENCL["appended channels with a value"][0], [(0, "pad-channel-tail"), (0, "pad-value")]),
    "padding before a maximum": (OPENCL["padding before a maximum"][0], [(1, "pad-then-pool")]),
}
OLD = select((1, 2, 4, 8), *[(1, 2, 4, 8)] * 3)


@pytest.mark.parametrize(("model", "expected"), OPENCL.values(), ids=OPENCL)
def test_risks_on_opencl(model, expected):
    assert risks(model) == expected


@pytest.mark.parametrize(("model", "expected"), OPENGL.values(), ids=OPENGL)
def test_risks_on_opengl(model, expected):
    assert risks(model, "opengl") == expected


@pytest.mark.parametrize(("runtime", "expected"), [("litert-2.1.5", [(0, "select-cond-place")]), ("litert-2.1.6", [])])
def test_the_place_of_a_condition_in_old_releases(runtime, expected):
    assert risks(OLD, runtime=runtime) == expected


@pytest.mark.parametrize(
    ("outputs", "runtime", "expected"),
    [("a y", "tf-2.12", [(1, "output-read")]), ("a y", "tf-2.13", []), ("y", "tf-2.12", [])],
)
def test_an_output_that_another_node_reads(outputs, runtime, expected):
    """TensorFlow issues 38732 and 53781."""
    assert risks(pooled(outputs), runtime=runtime) == expected


def test_an_output_has_one_risk():
    report = delegate_sim.analyze(chained("a y"), "gpu", runtime="tf-2.12").to_dict()["runs"][0]
    assert [risk["code"] for risk in report["number_risks"]] == ["gpu-numbers-elementwise-output"]


def test_a_release_that_was_not_read_has_a_doubt():
    report = delegate_sim.analyze(OPENCL["vector"][0], "gpu", runtime="tf-2.15").to_dict()["runs"][0]
    assert "other releases" in report["number_risks"][0]["message"]


@pytest.mark.parametrize("rule", dict.fromkeys((*RULES["opencl"], *RULES["opengl"])), ids=lambda rule: rule.name)
def test_a_rule_explains_its_code(rule):
    assert DELEGATE.kinds[rule.code].meaning == f"{rule.condition} {rule.result} {rule.truth}"
    assert "ML Drift" not in rule.condition
    assert "{" not in rule.hint, "only messages have places for values"
