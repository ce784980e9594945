"""Failures of building ML Drift's model: each case was tried with LiteRT 2.3 and WebGPU over SwiftShader."""

from __future__ import annotations

import pytest

import delegate_sim
from fixtures.builder import ModelBuilder
from tests.support.delegates import mldrift_build_cases
from tests.support.delegates.mldrift_build_cases import CASES
from tests.support.delegates.mldrift_numbers import ints, model_of
from tests.support.tables import for_each


@for_each(CASES, lambda case: f"{case.op}-{case.code}-{case.backend}")
def test_a_build(case):
    options = {"backend": case.backend, "hint_fully_delegated": not case.op.isupper()}  # without the hint, custom operators fail
    (run,) = delegate_sim.analyze(
        mldrift_build_cases.model_of(case), "mldrift", options, runtime="litert-2.3", defaults="api"
    ).to_dict()["runs"]
    assert run["outcome"] == "delegated"
    assert (run["refusal"] and run["refusal"]["code"]) == case.code


@pytest.mark.parametrize(
    ("op", "outputs", "code"),
    [("SUB", "y", "mldrift-build-copy"), ("SUB", "y q", None), ("NEG", "y", None)],
    ids=["read with the copy", "an output", "only the copy"],
)
def test_a_strided_slice_that_copies_an_input(op, outputs, code):
    tensors = {"x": (8,), "b": ints(0), "e": ints(8), "s": ints(1), "q": (8,), "y": (8,), "z": (8,)}
    second = (op, "q x" if op == "SUB" else "q", "y", {})
    model = model_of(tensors, [("STRIDED_SLICE", "x b e s", "q", {}), second, ("ABS", "x", "z", {})], f"{outputs} z")
    (run,) = delegate_sim.analyze(model, "mldrift", {"backend": "webgpu"}, defaults="api").to_dict()["runs"]
    assert (run["refusal"] and run["refusal"]["code"]) == code


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("FLOAT32", None),
        ("INT16", None),
        ("UINT32", None),
        ("BFLOAT16", None),
        ("INT64", "mldrift-build-bound-type"),
        ("UINT64", "mldrift-build-bound-type"),
        ("INT4", "mldrift-build-bound-type"),
        ("FLOAT8_E5M2", "mldrift-build-bound-type"),
    ],
)
def test_types_of_inputs_and_outputs_of_the_development_build(kind, code):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", kind, (2, 4)), graph.tensor("y", kind, (2, 4))
    graph.node("RESHAPE", [source, graph.tensor("shape", "INT32", (2,), [2, 4])], [result])
    graph.outputs(result)

    def run(release):
        return delegate_sim.analyze(builder.bytes(), "mldrift", {"backend": "webgpu"}, runtime=release, defaults="api").to_dict()[
            "runs"
        ][0]

    found = run("litert-2.4")
    assert (found["outcome"], found["refusal"] and found["refusal"]["code"]) == ("delegated", code)
    assert code is None or run("litert-2.3")["outcome"] == "none"


def test_inner_tensors_of_the_development_build():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensors = [graph.input("x", "INT64", (2, 4)), *[graph.tensor(f"t{number}", "INT64", (2, 4)) for number in range(2)]]
    for source, result in zip(tensors, tensors[1:], strict=False):
        graph.node("ABS", [source], [result])
    graph.outputs(tensors[-1])
    found = delegate_sim.analyze(builder.bytes(), "mldrift", {"backend": "webgpu"}, runtime="litert-2.4", defaults="api")
    nodes = found.to_dict()["runs"][0]["subgraphs"][0]["nodes"]
    assert [node["supported"] for node in nodes] == [False, False]


def test_an_integer_bias_cannot_be_read():
    tensors = {"x": ("INT16", (1, 4, 4, 4))}
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", *tensors["x"], scale=0.5)
    weights = graph.tensor("w", "INT8", (4, 1, 1, 4), [1] * 16, scale=0.5)
    bias = graph.tensor("b", "INT64", (4,), [1] * 4, scale=0.25)
    result = graph.tensor("y", "INT16", (1, 4, 4, 4), scale=0.5)
    options = {"stride_w": 1, "stride_h": 1, "dilation_w_factor": 1, "dilation_h_factor": 1}
    graph.node("CONV_2D", [source, weights, bias], [result], options=options, version=4)
    graph.outputs(result)
    found = delegate_sim.analyze(builder.bytes(), "mldrift", {"backend": "webgpu"}, runtime="litert-2.4", defaults="api")
    assert found.to_dict()["runs"][0]["refusal"]["code"] == "mldrift-build-type"


def build_code(op, inputs, outputs, options, release):
    case = mldrift_build_cases.Case(op, None, inputs, outputs, options)
    report = delegate_sim.analyze(
        mldrift_build_cases.model_of(case), "mldrift", {"backend": "webgpu"}, runtime=release, defaults="api"
    )
    refusal = report.to_dict()["runs"][0]["refusal"]
    assert refusal is None or not refusal["is_predicted"]
    return refusal and refusal["code"]


@pytest.mark.parametrize(
    ("rows", "columns", "code"),
    [(4, 17, "columns"), (8, 17, "columns"), (3, 3, "columns"), (6, 5, "columns"), (9, 17, None), (4, 16, None), (64, 129, None)],
)
def test_products_of_few_rows_in_older_releases(rows, columns, code):
    case = "BATCH_MATMUL", [("FLOAT32", (1, rows, 8)), ("FLOAT32", (1, columns, 8))], [("FLOAT32", (1, rows, columns))]
    options = {"adj_y": True}
    assert build_code(*case, options, "litert-2.1.3") == (code and f"mldrift-build-{code}")
    assert build_code(*case, options, "litert-2.1.5") is None


@pytest.mark.parametrize(("count", "code"), [(1, None), (2, "mldrift-build-indices")])
def test_constant_indices_in_older_releases(count, code):
    case = "GATHER", [("FLOAT32", (1, 4, 3)), ints(*[0] * count)], [("FLOAT32", (1, count, 3))]
    options = {"axis": 1}
    assert build_code(*case, options, "litert-2.1.3") == build_code(*case, options, "litert-2.2.0") == code
    assert build_code(*case, options, "litert-2.3.0") is None
