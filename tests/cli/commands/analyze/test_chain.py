"""``analyze`` with several delegates one after another, and with the one that the runtime applies by itself."""

from __future__ import annotations

import pytest

from fixtures.builder import ModelBuilder

LINES = [
    "Replacing 2 out of 4 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 4 partitions for subgraph 0 (main).",
    "Explicitly applied NNAPI delegate, and the model graph will be partially executed by the delegate w/ 2 delegate kernels.",
    "Replacing 1 out of 4 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 3 partitions for subgraph 0 (main).",
]
PLACES = """\
Where nodes run
  nnapi    2 nodes: RELU 1, TANH 1 [0, 2]
  xnnpack  1 node: CEIL 1 [1]
  cpu      1 node: SIGN 1 [3]
"""


@pytest.fixture
def model(tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("in", "FLOAT32", (1, 4))
    for number, op in enumerate(["RELU", "CEIL", "TANH", "SIGN"]):
        result = graph.tensor(f"t{number}", "FLOAT32", (1, 4))
        graph.node(op, (tensor,), (result,))
        tensor = result
    graph.outputs(tensor)
    path = tmp_path / "model.tflite"
    path.write_bytes(builder.bytes())
    return str(path)


def test_xnnpack_is_applied_by_default_to_what_one_delegate_leaves(run, model):
    text = run("analyze", model, "--delegate", "nnapi", "--feature-level", "31").stdout
    assert "\n\n" + "\n".join(LINES) in text
    assert PLACES in text
    assert "TfLiteXNNPackDelegate" not in run("analyze", model, "--delegate", "nnapi", "--no-default-xnnpack").stdout


def test_a_chain_goes_into_each_delegate(run, model):
    text = run("analyze", model, "--delegate", "nnapi", "--delegate", "xnnpack", "--chain", "--feature-level", "31").stdout
    assert "\n\n" + "\n".join(LINES) in text
    assert "--- nnapi ---" in text
    assert "--- xnnpack ---" in text
    assert PLACES in text


def test_kernels_of_earlier_delegates_are_neither_refused_nor_advised(run, model):
    text = run("analyze", model, "--delegate", "nnapi", "--delegate", "gpu", "--chain", "--feature-level", "31").stdout
    own = text.partition("--- gpu ---")[2]
    assert "4 total (2 kernels of earlier delegates), 1 supported" in own
    assert "On the CPU: 1 node, by reason" in own
    assert "TfLiteNnapiDelegate:" not in own


def test_a_chain_needs_delegates(run, model):
    result = run("analyze", model, "--chain")
    assert result.exit_code == 2
    assert "--delegate" in result.stderr


def test_after_a_failure_benchmark_model_does_not_come_to_xnnpack(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, shape = graph.input("in", "FLOAT32", (1, 4)), graph.input("shape", "INT32", (2,))
    result = graph.tensor("out", "FLOAT32", (2, 2))
    graph.node("RESHAPE", (source, shape), (result,), options={})
    graph.outputs(result)
    path = tmp_path / "dynamic.tflite"
    path.write_bytes(builder.bytes())
    assert "xnnpack" not in run("analyze", str(path), "--delegate", "nnapi").stdout
