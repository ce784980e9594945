from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from fixtures.builder import ModelBuilder
from tests.support.gate_models import classifier, reshaper, upsampler
from tests.support.models import MIXED, chain_model

SCHEMA = Path(__file__).resolve().parents[3] / "docs" / "schemas" / "compare.schema.json"

TWO_MODELS = """\
A is better: 100 % instead of 0 % of multiply-adds, 100 % instead of 75 % of
  nodes, 1 instead of 2 delegate kernels
A: NNAPI on Android 13 runs all nodes (4) in 1 kernel
B: NNAPI on Android 13 runs 75 % of nodes but 0 % of multiply-adds; 1
   FULLY_CONNECTED stays on the CPU

A: a.tflite
  nnapi on litert-2.3
Replacing 4 out of 4 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 1 partitions for subgraph 0 (main).
Explicitly applied NNAPI delegate, and the model graph will be completely executed by the delegate.

B: b.tflite
  nnapi on litert-2.3
Replacing 3 out of 4 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 3 partitions for subgraph 0 (main).
Explicitly applied NNAPI delegate, and the model graph will be partially executed by the delegate w/ 2 delegate kernels.

Side by side
                                   A          B  B - A
  outcome                  delegated  delegated
  nodes                            4          4
  delegated                        4          3     -1
  share delegated              100 %       75 %
  share of multiply-adds       100 %        0 %
  on the CPU                       0          1     +1
  partitions                       1          3     +2
  delegate kernels                 1          2     +1
  boundary bytes                  64        160    +96
  multiply-adds                   64         64
  multiply-adds delegated         64          0    -64

Delegated in A, on the CPU in B: 1 node
  nnapi-operator-version: needs version at most 5
    hint: the node does not need the version in the file, so use a converter as
      old as the delegate
    FULLY_CONNECTED: 1 node [1; in A 0], v2/left, version 9
      version 1 -> 9
"""

TWO_RELEASES = """\
A and B are equal: both delegate 50 % of nodes
A: NNAPI on Android 13 runs 50 % of nodes; 1 ROUND and 1 other node stay on the
   CPU
B: NNAPI on Android 13 runs 50 % of nodes; 1 ROUND and 1 other node stay on the
   CPU (not checked for tf-2.10: the CPU kernels)

A: mixed.tflite
  nnapi on litert-2.3
Replacing 2 out of 4 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 3 partitions for subgraph 0 (main).
Explicitly applied NNAPI delegate, and the model graph will be partially executed by the delegate w/ 2 delegate kernels.

B: mixed.tflite
  nnapi on tf-2.10
  warning: the CPU kernels of tf-2.10 are not simulated; the checks of
    litert-1.1.0 are used instead
Replacing 2 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 3 partitions.
Explicitly applied NNAPI delegate, and the model graph will be partially executed by the delegate w/ 2 delegate kernels.

Side by side
                                   A          B  B - A
  outcome                  delegated  delegated
  nodes                            4          4
  delegated                        2          2
  share delegated               50 %       50 %
  share of multiply-adds           -          -
  on the CPU                       2          2
  partitions                       3          3
  delegate kernels                 2          2
  boundary bytes                  64         64
  multiply-adds                    0          0
  multiply-adds delegated          0          0

On the CPU on both sides, for the same reasons: 2 nodes (--verbose shows the
  reasons)
  ROUND 1, ADD 1

No node moves: every node runs in the same place on both sides.
"""

NOT_WELL_KNOWN = """\
  warning: the CPU kernels of tf-2.10 are not simulated; the checks of
    litert-1.1.0 are used instead
  warning: the rules of xnnpack in tf-2.10 are not well known; the rules of
    litert-1.0.1, the oldest known release, are used instead
"""

TWO_DELEGATES = """\
Delegated in A, on the CPU in B: 1 node
  partition-limit: needs at most 1
    hint: --max-delegated-partitions=2 or more (2 of 4 nodes in 2 kernels): if
      more kernels help, raise the option that limits the number of partitions;
      otherwise, remove the nodes that split the graph
    ADD: 1 node [3], t3, 2 partitions

On the CPU on both sides, but not for the same reasons: 2 nodes
  in A, nnapi-operator: needs an operator that NNAPI has
  in B, gpu-unsupported-operator: needs an operator that the GPU delegate has
    ROUND: 1 node [1], t1
  in A, nnapi-operator-version: needs version at most 2
  in B, gpu-operator-version: needs version at most 2
    ADD: 1 node [2], t2
"""

REFUSED = """\
B: dynamic.tflite
  nnapi on litert-2.3
  dynamic-tensors: tensor 3 (flat) of subgraph 0 is dynamic-sized because input
    tensor 1 (shape) of node 1 (RESHAPE) is not constant
    hint: make tensor 1 a constant: fix the shapes of the model before
      converting it; convert with fixed input shapes (in Keras, call the model
      on a keras.Input with batch_shape; in TensorFlow, use a concrete function
      whose tf.TensorSpec has no None; in PyTorch, export without dynamic
      shapes). Compute the shapes for RESHAPE, FILL, SLICE and similar operators
      from constants, not from the SHAPE of a tensor
"""

REFUSED_NODES = """\
Inputs of the model
  shape: none -> INT32[2]

Delegated in A, on the CPU in B: 3 nodes
  dynamic-tensors: needs a graph without dynamic-sized tensors
    RELU: 1 node [0], activated
    RESHAPE: 1 node [1], flat
      input 1 constant INT32[2] -> computed
    LOGISTIC: 1 node [2], result
"""

ADDED = """\
Only in B: 2 nodes
  on the CPU, nnapi-operator: needs an operator that NNAPI has
    hint: ROUND can be written as FLOOR of x + 0.5, which rounds halves up; if
      the new nodes are taken (counted as one node): 5 of 6 nodes in 2 kernels
    ROUND: 1 node [4], t4
  on the delegate
    ADD: 1 node [5], t5

On the CPU on both sides, for the same reasons: 2 nodes (--verbose shows the
  reasons)
  ROUND 1, ADD 1
"""


@pytest.fixture(autouse=True)
def _models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    models = {
        "a": classifier(),
        "b": classifier(9, names="v2/", swapped=True),
        "static": reshaper(),
        "dynamic": reshaper(is_dynamic=True),
        "mixed": chain_model(MIXED),
        "longer": chain_model((*MIXED, "ROUND", "ADD")),
        "upsampler": upsampler(),
    }
    for name, builder in models.items():
        builder.write(tmp_path / f"{name}.tflite")


def text(result):
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_two_models(run):
    assert text(run("compare", "a.tflite", "b.tflite", "--delegate", "nnapi")) == TWO_MODELS


def test_nodes_that_come_to_the_delegate(run):
    found = text(run("compare", "b.tflite", "a.tflite"))
    assert "delegated in B: 1 node\n  nnapi-operator-version: " in found
    assert "    FULLY_CONNECTED: 1 node [0; in A 1], left, version 9\n      version 9 -> 1\n" in found
    assert "hint" not in found


def test_two_releases(run):
    assert text(run("compare", "mixed.tflite", "--with", "runtime=tf-2.10")) == TWO_RELEASES


def test_warnings_of_a_side(run):
    found = text(run("compare", "mixed.tflite", "--delegate", "xnnpack", "--with", "runtime=tf-2.10"))
    a, b = found.split("\n\n")[1:3]
    assert "warning" not in a
    assert b.startswith(f"B: mixed.tflite\n  xnnpack on tf-2.10\n{NOT_WELL_KNOWN}Replacing ")


def test_two_delegates(run):
    assert text(run("compare", "mixed.tflite", "--with", "delegate=gpu")).endswith(f"\n\n{TWO_DELEGATES}")


def test_a_refused_graph(run):
    found = text(run("compare", "static.tflite", "dynamic.tflite"))
    assert REFUSED in found
    assert found.endswith(f"\n\n{REFUSED_NODES}")


def test_nodes_of_one_side(run):
    assert text(run("compare", "mixed.tflite", "longer.tflite")).endswith(f"\n\n{ADDED}")
    assert "Only in A: 2 nodes\n  on the CPU, nnapi-operator" in text(run("compare", "longer.tflite", "mixed.tflite"))


def test_options_of_both_sides_and_of_one(run, run_json):
    found = run_json("compare", "a.tflite", "--nnapi_allow_fp16", "--option", "feature_level=29", "--with", "feature-level=30")
    options = [found[side]["options"] for side in "ab"]
    assert [given["feature_level"] for given in options] == [29, 30]
    assert [given["allow_fp16"] for given in options] == [True, True]
    lines = text(run("compare", "a.tflite", "--with", "feature_level=30")).splitlines()
    assert "  nnapi on litert-2.3: --feature-level=1000008" in lines
    assert "  nnapi on litert-2.3: --feature-level=30" in lines


def test_an_option_goes_to_each_delegate_that_has_it(run_json):
    settings = ("--option", "max_delegated_partitions=2", "--with", "delegate=hexagon", "--with", "max_delegated_partitions=3")
    found = run_json("compare", "mixed.tflite", "--delegate", "gpu", *settings)
    assert [found[side]["delegate"] for side in "ab"] == ["gpu", "hexagon"]
    assert [found[side]["options"]["max_delegated_partitions"] for side in "ab"] == [2, 3]
    found = run_json("compare", "mixed.tflite", "--delegate", "gpu", *settings[:4])
    assert [found[side]["options"]["max_delegated_partitions"] for side in "ab"] == [2, 2]


def test_other_defaults(run, run_json):
    found = run_json("compare", "a.tflite", "--with", "defaults=api")
    assert [found[side]["defaults"] for side in "ab"] == ["benchmark", "api"]
    assert [len(found[side]["log_lines"]) for side in "ab"] == [2, 1]
    lines = text(run("compare", "a.tflite", "--with", "defaults=api")).splitlines()
    assert any(line.startswith("  nnapi on litert-2.3 ") and "benchmark" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.tflite"], "A and B are the same: give a second model, or a setting of B, such as --with android=11"),
        (["a.tflite", "./a.tflite"], "A and B are the same: give a second model, or a setting of B, such as --with android=11"),
        (
            ["a.tflite", "--with", "delegate=nnapi"],
            "A and B are the same: give a second model, or a setting of B, such as --with android=11",
        ),
        (["a.tflite", "--with", "feature_level=1000008"], "A and B are the same"),
        (["a.tflite", "--with", "delegate"], "Invalid value for '--with': takes KEY=VALUE, not 'delegate'"),
        (["a.tflite", "--with", "delegate=npu"], "there is no delegate 'npu'; did you mean npu-google, npu-intel"),
        (["a.tflite", "--with", "runtime=tf-1.0"], "tf-1.0 is older than the oldest known release, tf-2.10"),
        (["a.tflite", "--with", "defaults=mine"], "there are no defaults named 'mine'; the defaults are api, benchmark"),
        (["a.tflite", "--with", "feature_levl=30"], "nnapi has no option 'feature_levl'; did you mean feature_level"),
        (["a.tflite", "--with", "x=30"], "nnapi has no option 'x'; --with takes delegate, runtime, defaults, feature_level"),
        (["a.tflite", "--with", "delegate=gpu", "--with", "feature_level=30"], "gpu has no option 'feature_level'"),
        (["a.tflite", "--with", "feature_level=high"], "option feature_level of nnapi: takes "),
        (["a.tflite", "--gpu_backend", "cl", "--with", "runtime=tf-2.10"], "nnapi has no flag --gpu_backend"),
        (["a.tflite", "--option", "no=1", "--with", "delegate=gpu"], "none of nnapi, gpu has an option 'no'"),
        (["a.tflite", "missing.tflite"], "missing.tflite: No such file or directory"),
    ],
)
def test_errors_are_one_line(run, arguments, message):
    result = run("compare", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {message}")
    assert result.stderr.count("\n") == 1


def test_a_model_that_cannot_be_read(run, tmp_path):
    (tmp_path / "broken.tflite").write_bytes(b"no model")
    for arguments in (["broken.tflite", "a.tflite"], ["a.tflite", "broken.tflite"]):
        result = run("compare", *arguments, "--output", "found.txt")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("error: broken.tflite: ")
    assert not (tmp_path / "found.txt").exists()


def test_output_goes_to_a_file(run, tmp_path):
    assert text(run("compare", "a.tflite", "b.tflite", "--output", "found.txt")) == ""
    assert (tmp_path / "found.txt").read_text(encoding="utf-8") == TWO_MODELS
    assert text(run("compare", "a.tflite", "b.tflite", "--format", "json", "--output", "found.json")) == ""
    assert json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["schema"] == "delegate-sim/compare/2"


def hostile(version, escape):
    """A model whose names and custom operator would tamper with a terminal."""
    builder = ModelBuilder()
    graph = builder.subgraph(f"main{escape}")
    source = graph.input(f"in{escape}", "FLOAT32", [1, 4])
    first, second = (graph.tensor(f"{name}{escape}{name * 5000}", "FLOAT32", [1, 4]) for name in ("y", "z"))
    weights = graph.tensor(f"w{escape}", "FLOAT32", [1, 4], data=[1, 2, 3, 4])
    graph.node("ADD", [source, weights], [first], version, {})
    if version > 1:
        graph.node("CUSTOM", [first], [second], custom=f"evil{escape}")
    graph.outputs(second if version > 1 else first)
    return builder


@pytest.mark.parametrize("verbose", [[], ["--verbose"]])
@pytest.mark.parametrize("escape", ["\x1b[31m\n", "\u202e", "\ufffe", "[bold]"])
def test_hostile_names(run, tmp_path, escape, verbose):
    for name, version in (("one", 1), ("two", 4)):
        hostile(version, escape).write(tmp_path / f"{name}.tflite")
    for arguments in (["one.tflite", "two.tflite"], ["two.tflite", "one.tflite"], ["two.tflite", "--with", "delegate=vx"]):
        found = text(run("compare", *arguments, *verbose))
        assert all(line.isprintable() for line in found.splitlines())
        assert "yyyyy" * 100 not in found


def test_groups_are_cut_unless_verbose(run, tmp_path):
    ops = ["ADD", "LOGISTIC"] * 60
    chain_model(ops).write(tmp_path / "many_a.tflite")
    chain_model([op if number % 4 else "ADD 4" for number, op in enumerate(ops)]).write(tmp_path / "many_b.tflite")
    found = text(run("compare", "many_a.tflite", "many_b.tflite"))
    assert "Delegated in A, on the CPU in B: 30 nodes" in found
    assert "    ADD: 30 nodes [0, 4, 8, ... and 27 more], version 4\n      version 1 -> 4\n" in found
    assert all(len(line) <= 80 for line in found.splitlines() if not line.startswith(("Replacing", "Explicitly")))
    verbose = text(run("compare", "many_a.tflite", "many_b.tflite", "--verbose"))
    assert "more" not in verbose


def test_several_subgraphs_are_named(run, tmp_path):
    for name, version in (("one", 1), ("three", 3), ("nine", 9)):
        builder = ModelBuilder()
        for subgraph in ("main", "more"):
            graph = builder.subgraph(subgraph)
            source, result = graph.input("x", "FLOAT32", [4]), graph.tensor("y", "FLOAT32", [4])
            graph.node("LOGISTIC", [source], [result], version=version)
            graph.outputs(result)
        builder.write(tmp_path / f"{name}.tflite")
    for name, version in (("three", 3), ("nine", 9)):
        found = text(run("compare", "one.tflite", f"{name}.tflite"))
        assert f"    subgraph 0, LOGISTIC: 1 node [0], y, version {version}\n" in found
        assert f"    subgraph 1, LOGISTIC: 1 node [0], y, version {version}\n" in found
        is_loaded = version == 3
        line = "\n  operator-not-loaded: litert-2.3 does not load LOGISTIC"
        assert (line in found) is not is_loaded


@pytest.mark.parametrize(
    "arguments",
    [
        ["a.tflite", "b.tflite"],
        ["static.tflite", "dynamic.tflite"],
        ["mixed.tflite", "longer.tflite"],
        ["longer.tflite", "upsampler.tflite"],
        ["mixed.tflite", "--with", "delegate=gpu"],
        ["dynamic.tflite", "--with", "delegate=xnnpack", "--with", "defaults=api"],
    ],
)
def test_json_is_what_its_schema_says(run_json, arguments):
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    found = run_json("compare", *arguments)
    validator.validate(found)
    with pytest.raises(jsonschema.ValidationError, match="is not valid under any of the given schemas"):
        validator.validate({**found, "more": 1})


def test_json_of_a_node(run_json):
    found = run_json("compare", "a.tflite", "b.tflite")
    (node,) = found["to_cpu"]
    assert {key: node[key] for key in ("subgraph", "op", "name", "changes")} == {
        "subgraph": 0,
        "op": "FULLY_CONNECTED",
        "name": "v2/left",
        "changes": [{"what": "version", "old": "1", "new": "9"}],
    }
    assert node["a"] == {"node": 0, "runs_on": "delegate", "reasons": []}
    assert (node["b"]["node"], node["b"]["runs_on"], node["b"]["reasons"][0]["code"]) == (1, "cpu", "nnapi-operator-version")
    assert found["to_delegate"] == found["only_in_a"] == found["only_in_b"] == found["reasons_changed"] == []


def test_a_second_delegate_is_that_of_b(run_json):
    found = run_json("compare", "mixed.tflite", "--delegate", "gpu", "--delegate", "hexagon")
    assert [found[side]["delegate"] for side in "ab"] == ["gpu", "hexagon"]
    assert run_json("compare", "mixed.tflite", "--delegate", "gpu", "--with", "delegate=hexagon") == found


@pytest.mark.parametrize("more", [["--delegate", "vx"], ["--with", "delegate=vx"]])
def test_three_delegates_are_too_many(run, more):
    result = run("compare", "mixed.tflite", "--delegate", "gpu", "--delegate", "hexagon", *more)
    assert result.exit_code == 2
    assert "give at most two delegates, or use analyze" in result.stderr


def test_more_than_two_devices_are_for_analyze(run):
    result = run("compare", "mixed.tflite", *("--device", "pixel8", "--device", "pixel9", "--device", "pixel10"))
    assert result.exit_code == 2
    assert "give at most two devices, or use analyze, which shows more" in result.stderr


def test_verbose_shows_the_reasons_of_nodes_on_the_cpu_on_both_sides(run):
    shown = run("compare", "mixed.tflite", "--with", "runtime=tf-2.10", "--verbose").stdout
    same = shown[shown.index("On the CPU on both sides, for the same reasons: 2 nodes\n") :]
    assert "  nnapi-operator: " in same
    assert "    ROUND: 1 node [" in same


def test_two_devices_are_compared_with_the_best_target_of_each(tmp_path, run):
    """The first target of each device, VX and ML Drift, refuses RELU_0_TO_1. The GPU delegate takes the operator."""
    path = tmp_path / "m.tflite"
    path.write_bytes(chain_model(["RELU_0_TO_1", "ADD"]).bytes())
    entry = json.loads(run("compare", str(path), "--device", "imx8mp", "--device", "pixel10", "--format", "json").stdout)
    assert (entry["a"]["delegate"], entry["b"]["delegate"], entry["better"]) == ("vx-nxp", "gpu", "B")


def test_an_accelerator_that_needs_a_compiled_model_is_not_compared_by_its_cpu(tmp_path, run):
    path = tmp_path / "m.tflite"
    path.write_bytes(chain_model(["ADD", "RELU"]).bytes())
    entry = json.loads(run("compare", str(path), "--device", "coral", "--device", "imx8mp", "--format", "json").stdout)
    assert (entry["a"]["delegate"], entry["b"]["delegate"], entry["better"]) == ("edgetpu", "vx-nxp", None)


@pytest.mark.parametrize(("other", "is_shown"), [("gpu", True), ("ethosu-imx93", False)])
def test_partitions_that_are_counted_differently_are_not_compared(tmp_path, run, other, is_shown):
    path = tmp_path / "m.tflite"
    path.write_bytes(chain_model(["ADD", "RELU"]).bytes())
    text = run("compare", str(path), "--delegate", "xnnpack", "--delegate", other).stdout
    assert any(line.strip().startswith("partitions ") for line in text.splitlines()) == is_shown
