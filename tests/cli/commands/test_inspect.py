from __future__ import annotations

import json

import pytest

from fixtures.builder import ModelBuilder

TEXT = """\
4 nodes in 1 subgraph, all prepared by the CPU kernels
{path}: {size:,} bytes, schema version 3
  description: made for a test
  signature serve: subgraph 0; in image = 0; out label = 5

Subgraph 0 (main): 4 nodes, 10 tensors, shapes as prepared
  inputs  0 x  FLOAT32 [1, 4, 4, 2]  arena, signature [-1, 4, 4, 2]
  outputs 5 sums  INT32 [4]  arena
  0 CONV_2D, version 3
    in    0 x  FLOAT32 [1, 4, 4, 2]  arena, signature [-1, 4, 4, 2]
          1 filter  INT8 [2, 1, 1, 2]  constant, 2 scales along dimension 0
          7 bias  FLOAT32 [2]  constant
    out   2 y  FLOAT32 [1, 4, 4, 2]  arena
  1 SHAPE, version 1
    in    2 y  FLOAT32 [1, 4, 4, 2]  arena
    out   3 shape  INT32 [4]  persistent
  2 Mine, version 7, custom
    in    3 shape  INT32 [4]  persistent
          4 level  UINT8 [1]  constant, scale 0.5, zero point 3
          6 memory  FLOAT32 [2]  variable
    out   5 sums  INT32 [4]  arena
  3 FULLY_CONNECTED, version 1
    in    0 x  FLOAT32 [1, 4, 4, 2]  arena, signature [-1, 4, 4, 2]
          9 matrix  FLOAT32 [2, 2]  constant
          - omitted
    out   8 z  FLOAT32 [16, 2]  arena
"""


@pytest.fixture
def path(tmp_path):
    builder = ModelBuilder(description="made for a test")
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4, 4, 2], signature=[-1, 4, 4, 2])
    weights = graph.tensor("filter", "INT8", [2, 1, 1, 2], data=[1, 2, 3, 4], scale=[0.5, 0.25])
    convolved = graph.tensor("y", "FLOAT32", [])
    shape = graph.tensor("shape", "INT32", [])
    level = graph.tensor("level", "UINT8", [1], data=[1], scale=0.5, zero_point=3)
    result = graph.tensor("sums", "INT32", [4])
    memory = graph.tensor("memory", "FLOAT32", [2], variable=True)
    bias = graph.tensor("bias", "FLOAT32", [2], data=[0, 0])
    dense = graph.tensor("z", "FLOAT32", [])
    matrix = graph.tensor("matrix", "FLOAT32", [2, 2], data=[1, 2, 3, 4])
    graph.node("CONV_2D", [source, weights, bias], [convolved], version=3, options={"stride_w": 1, "stride_h": 1})
    graph.node("SHAPE", [convolved], [shape], options={"out_type": 2})
    graph.node("CUSTOM", [shape, level, memory], [result], version=7, custom="Mine")
    graph.node("FULLY_CONNECTED", [source, matrix, -1], [dense], options={})
    graph.outputs(result)
    builder.signature("serve", graph, {"image": source}, {"label": result})
    path = tmp_path / "model.tflite"
    builder.write(path)
    return path


def test_text(run, path):
    result = run("inspect", path, COLUMNS="200")
    assert result.stdout == TEXT.format(path=path, size=path.stat().st_size)
    assert (result.exit_code, result.stderr) == (0, "")


def test_shapes_of_the_file(run, path):
    lines = run("inspect", path, "--file-shapes").stdout.splitlines()
    assert "    out   3 shape  INT32 []  arena" in lines


def test_json(run_json, path):
    data = run_json("inspect", path)
    assert list(data) == ["schema", "tool", "model", "shapes", "signatures", "subgraphs"]
    assert (data["schema"], data["shapes"]) == ("delegate-sim/inspect/1", "prepared")
    assert data["signatures"] == [{"key": "serve", "subgraph": 0, "inputs": {"image": 0}, "outputs": {"label": 5}}]
    (graph,) = data["subgraphs"]
    assert (graph["inputs"], graph["outputs"], graph["dynamic"], graph["failure"]) == ([0], [5], None, None)
    assert graph["nodes"][0] == {
        "index": 0, "op": "CONV_2D", "version": 3, "custom": False, "inputs": [0, 1, 7], "outputs": [2],
    }  # fmt: skip
    assert graph["tensors"][1] == {
        "index": 1, "name": "filter", "type": "INT8", "shape": [2, 1, 1, 2], "shape_signature": None,
        "allocation": "constant", "sparse": False,
        "quantization": {"kind": "affine", "scales": [0.5, 0.25], "zero_points": [0, 0], "dimension": 0},
    }  # fmt: skip
    assert graph["tensors"][3]["allocation"] == "persistent"
    assert run_json("inspect", path, "--file-shapes")["subgraphs"][0]["tensors"][3]["allocation"] == "arena"


def test_scales_that_are_no_numbers_are_text(run_json, tmp_path):
    builder = ModelBuilder()
    builder.subgraph("main").tensor("x", "INT8", [1], scale=[float("inf"), float("nan")])
    builder.write(tmp_path / "model.tflite")
    (tensor,) = run_json("inspect", tmp_path / "model.tflite")["subgraphs"][0]["tensors"]
    assert tensor["quantization"]["scales"] == ["inf", "nan"]


def test_what_makes_a_graph_dynamic(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, shape = graph.input("x", "FLOAT32", [4]), graph.input("new", "INT32", [2])
    result = graph.tensor("y", "FLOAT32", [2, 2])
    graph.node("RESHAPE", [source, shape], [result])
    graph.outputs(result)
    builder.write(tmp_path / "model.tflite")
    text = run("inspect", tmp_path / "model.tflite", COLUMNS="200").stdout
    assert "  tensor 2 (y) is dynamic-sized, set by node 0 (RESHAPE) because tensor 1 (new) is not constant; " in text
    assert "    out   2 y  FLOAT32 [2, 2]  arena\n" in text


def test_a_node_that_cannot_be_prepared(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [4]), graph.tensor("y", "FLOAT32", [3])
    graph.node("ADD", [source], [result])
    graph.outputs(result)
    builder.write(tmp_path / "model.tflite")
    assert "  node 0 (ADD) " in run("inspect", tmp_path / "model.tflite", COLUMNS="200").stdout


def test_one_subgraph(run, tmp_path):
    builder = ModelBuilder()
    builder.subgraph("first")
    builder.subgraph("second")
    path = tmp_path / "model.tflite"
    builder.write(path)
    text = run("inspect", path, "--subgraph", "1").stdout
    assert "Subgraph 1 (second): 0 nodes, 0 tensors, " in text
    assert "first" not in text
    result = run("inspect", path, "--subgraph", "2")
    assert (result.exit_code, "subgraph 2" in result.stderr) == (2, True)


LOWERED = """\
nnapi on litert-2.3: --feature-level=1000008 --android=13
    --disable-nnapi-cpu=true --max-delegated-partitions=0
    --nnapi-allow-dynamic-dimensions=false --nnapi-allow-fp16=false

Model 0, subgraph 0 (main): 2 operands, 1 operation
  nodes 0
  addOperand 0 TENSOR_FLOAT32 [1, 1, 1, 2, 2], tensor 1 (x)
  addOperand 1 TENSOR_FLOAT32 [1, 1, 1, 2, 2], tensor 0 (y)
  addOperation 0 RELU for node 0 (RELU): 0 -> 1
  rejected: addOperation, node 0 (RELU): rank of input 0: found 5, needed at
    most 4
"""


@pytest.fixture
def deep(tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "FLOAT32", [1, 1, 1, 2, 2])
    graph.node("RELU", [graph.input("x", "FLOAT32", [1, 1, 1, 2, 2])], [result])
    graph.outputs(result)
    path = tmp_path / "deep.tflite"
    builder.write(path)
    return path


def test_the_model_that_the_delegate_builds(run, deep):
    assert run("inspect", deep, "--delegate", "nnapi", "--lowered").stdout == LOWERED
    assert run("export", "lowered", deep, "--delegate", "NNAPI").stdout == LOWERED


def test_without_a_runtime_the_whole_model_is_built(run, deep):
    lines = run("inspect", deep, "--lowered", "--android=none").stdout.splitlines()
    assert lines[-3:] == ["  identifyInputsAndOutputs 0 -> 1", "  relaxComputationFloat32toFloat16 false", "  finish"]


def test_the_model_that_the_delegate_builds_as_json(run, deep):
    found = json.loads(run("inspect", deep, "--lowered", "--format", "json").stdout)
    assert json.loads(run("export", "lowered-json", deep).stdout) == found
    (model,) = found["models"]
    assert found["delegate"] == "nnapi"
    assert [operand["type"] for operand in model["operands"]] == ["TENSOR_FLOAT32"] * 2
    assert model["operations"] == [{"index": 0, "name": "RELU", "node": 0, "inputs": [0], "outputs": [1]}]
    assert [(refusal["call"], refusal["node"]) for refusal in model["refusals"]] == [("addOperation", 0)]


def test_a_delegate_with_nothing_behind_it_builds_nothing(run, deep):
    assert "addOperation" not in run("inspect", deep, "--lowered", "--delegate", "gpu").stdout


def test_flags_of_other_delegates_are_refused(run, deep):
    assert run("inspect", deep, "--lowered", "--delegate", "gpu", "--android=13").exit_code == 2
