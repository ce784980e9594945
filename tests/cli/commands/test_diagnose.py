"""``delegate-sim diagnose`` and ``delegate-sim whatif``."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.delegates.registry import DELEGATE_NAMES
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from fixtures.suggestion_cases import EXAMPLES
from tests.support.cli.own_schemas import validate
from tests.support.edge_tpu import edge_tpu_model
from tests.support.gate_models import classifier, reshaper
from tests.support.models import chain_model
from tests.support.type_conversions import open_batch

MODELS = Path(__file__).parents[3] / "fixtures" / "models"

DIAGNOSIS = """\
NNAPI on Android 13 runs 60 % of nodes; 1 GELU and 1 other node stay on the CPU

Replacing 3 out of 5 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 5 partitions for subgraph 0 (main).
Explicitly applied NNAPI delegate, and the model graph will be partially executed by the delegate w/ 3 delegate kernels.

Now
  3 of 5 nodes delegated (60 %), 5 partitions, 3 delegate kernels, 96 boundary
    bytes

1. ADD at version 4
   operator-version:ADD:4 (nnapi-operator-version)
   keeps 1 node on the CPU: ADD 1
   nodes 3
   found: version 4; needed: version at most 2
   version after the fix: 2
   if it is fixed: delegated 3 -> 4 of 5, partitions 5 -> 3, boundary bytes 96
     -> 64
   lower-version: the node does not need the version in the file, so use a
     converter as old as the delegate
   or the pass own-versions of fix rewrites the file (exact; 4 of 5 nodes in 2
     kernels):
     delegate-sim fix {path} --delegate nnapi --pass own-versions -o fixed.tflite

2. GELU is not mapped
   operator:GELU (nnapi-operator)
   keeps 1 node on the CPU: GELU 1
   nodes 1
   found: GELU; needed: an operator that NNAPI has
   if the delegate accepted these nodes: delegated 3 -> 4 of 5, partitions 5 ->
     3, boundary bytes 96 -> 64
   with this and earlier causes fixed: delegated 3 -> 5 of 5, partitions 5 -> 1,
     boundary bytes 96 -> 32
   the pass gelu-by-exponential of fix rewrites the file (exact up to rounding;
     23 of 24 nodes in 2 kernels):
     delegate-sim fix {path} --delegate nnapi --pass gelu-by-exponential -o fixed.tflite
   or replace-operator: GELU can be written as 0.5 * x * (1 + tanh(0.79788 * (x
     + 0.044715 * x * x * x))), which differs by at most 0.0005, with x * x * x
     in place of pow(x, 3), because the converter turns pow(x, 3) into GELU
     again; or x * sigmoid(1.702 * x), which is only an approximation; if the
     new nodes are taken (counted as one node): 4 of 5 nodes in 2 kernels; other
     delegates that take GELU: gpu, mldrift, vx, vx-nxp, xnnpack

With all causes fixed
  5 of 5 nodes delegated (100 %), 1 partition, 1 delegate kernel, 32 boundary
    bytes

With fix, which rewrites the file without a new conversion
  24 of 24 nodes delegated (100 %), 1 partition, 1 delegate kernel, 32 boundary
    bytes
  exact up to rounding; passes: own-versions, gelu-by-exponential
  delegate-sim fix {path} --delegate nnapi -o fixed.tflite

Multiply-adds and bytes are counts, not an estimate of latency.

Target: nnapi on litert-2.3 with benchmark_model's defaults --android=13
"""


@pytest.fixture
def chain(tmp_path):
    path = tmp_path / "chain.tflite"
    chain_model(["ADD", "GELU", "ADD", "ADD 4", "ADD"]).write(path)
    return path


def test_the_text(run, chain):
    result = run("diagnose", "--delegate", "nnapi", chain)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == DIAGNOSIS.format(path=chain)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.code)
def test_json(run_json, tmp_path, example):
    example.before().write(tmp_path / "m.tflite")
    options = [
        argument
        for name, value in example.options.items()
        for argument in ("--option", f"{name}={','.join(value) if isinstance(value, tuple) else value}")
    ]
    found = run_json("diagnose", tmp_path / "m.tflite", "--delegate", example.delegate, "--runtime", example.runtime, *options)
    validate("diagnosis", found)
    assert example.code in {cause["suggestion"]["code"] for cause in found["causes"]}


@pytest.mark.parametrize("delegate", DELEGATE_NAMES)
def test_every_delegate(run, chain, delegate):
    result = run("diagnose", chain, "--delegate", delegate, "--verbose")
    assert (result.exit_code, result.stderr) == (0, "")


def test_names_are_made_safe(run, tmp_path):
    reshaper(is_dynamic=True).write(tmp_path / "m.tflite")
    content = (tmp_path / "m.tflite").read_bytes().replace(b"flat", b"\x1b[1m")
    (tmp_path / "m.tflite").write_bytes(content)
    result = run("diagnose", "--delegate", "nnapi", tmp_path / "m.tflite")
    assert "\\x1b[1m" in result.stdout
    assert "\x1b" not in result.stdout


def test_to_a_file(run, chain, tmp_path):
    assert run("diagnose", "--delegate", "nnapi", chain, "--output", tmp_path / "out.txt").stdout == ""
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == DIAGNOSIS.format(path=chain)


@pytest.mark.parametrize(
    ("arguments", "partitions"),
    [
        (["--accept", "GELU"], (5, 3)),
        (["--accept", "gelu", "--accept", "node:3"], (5, 1)),
        (["--accept", "node:0:3"], (5, 3)),
        (["--set-version", "ADD=1"], (5, 3)),
        (["--set-version", "node:3=2", "--accept", "GELU"], (5, 1)),
        (["--max_delegated_partitions", "1"], (5, 2)),
        (["--base", "max_number_delegated_partitions=1"], (2, 5)),
        (["--feature-level", "27", "--base", "feature_level=27", "--accept", "GELU"], (5, 3)),
        (["--batch", "3"], (5, 5)),
        (["--fix-shapes"], (5, 5)),
        (["--base", "runtime=tf-2.15"], (5, 5)),
    ],
)
def test_suppositions(run_json, chain, arguments, partitions):
    found = run_json("whatif", chain, *arguments)
    validate("compare", found)
    assert (found["a"]["measures"]["partitions"], found["b"]["measures"]["partitions"]) == partitions


def test_what_would_move(run, chain):
    result = run("whatif", chain, "--accept", "GELU")
    assert result.exit_code == 0
    assert "On the CPU in A, delegated in B: 1 node" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ([], "nothing to change"),
        (["--accept", "MEAN"], "the model has no node of MEAN; its operators are ADD, GELU"),
        (["--accept", "node:9"], "the model has no node 9 in subgraph 0"),
        (["--set-version", "ADD"], "takes OP=VERSION or node:N=VERSION, with a version from 1 to 2^31 - 1, not 'ADD'"),
        (["--set-version", "ADD=0"], "takes OP=VERSION or node:N=VERSION, with a version from 1 to 2^31 - 1, not 'ADD=0'"),
        (["--batch", "0"], "the batch must be at least 1, not 0"),
        (["--base", "level=1"], "nnapi has no option 'level'"),
        (
            ["--search", "0"],
            "a goal must be N, partitions=N or kernels=N (N is at least 1), or multiply-adds=P%, not '0'",
        ),
        (["--search", "1", "--accept", "GELU"], "--search can be combined only with options of the delegate"),
    ],
)
def test_suppositions_that_cannot_be(run, chain, arguments, fault):
    result = run("whatif", chain, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert fault in result.stderr
    assert result.stderr.count("\n") == 1


SEARCH = """\
NNAPI on Android 13 runs 60 % of nodes; 1 GELU and 1 other node stay on the CPU
To reach at most 1 partition, 2 causes must be fixed; fewer causes are not
enough (4 simulations)

5 of 5 nodes delegated, 1 partition, 1 delegate kernel, with these causes fixed:
  - ADD at version 4 (operator-version:ADD:4)
    lower-version: the node does not need the version in the file, so use a
      converter as old as the delegate
  - GELU is not mapped (operator:GELU)
    replace-operator: GELU can be written as 0.5 * x * (1 + tanh(0.79788 * (x +
      0.044715 * x * x * x))), which differs by at most 0.0005, with x * x * x
      in place of pow(x, 3), because the converter turns pow(x, 3) into GELU
      again; or x * sigmoid(1.702 * x), which is only an approximation; if the
      new nodes are taken (counted as one node): 4 of 5 nodes in 2 kernels;
      other delegates that take GELU: gpu, mldrift, vx, vx-nxp, xnnpack
"""


def test_search(run, run_json, chain):
    assert run("whatif", chain, "--search", "1").stdout == SEARCH
    found = run_json("whatif", chain, "--search", "3")
    validate("search", found)
    assert [[cause["name"] for cause in way["causes"]] for way in found["ways"]] == [
        ["operator-version:ADD:4"],
        ["operator:GELU"],
    ]
    assert [way["causes"] for way in run_json("whatif", chain, "--search", "5")["ways"]] == [[]]


def test_goals_in_kernels_and_multiply_adds(run, run_json, chain, tmp_path):
    found = run_json("whatif", chain, "--search", "kernels=2")
    validate("search", found)
    assert (found["goal"], found["max_partitions"]) == ({"measure": "kernels", "value": 2}, None)
    assert {cause["name"] for way in found["ways"] for cause in way["causes"]} == {"operator-version:ADD:4", "operator:GELU"}
    classifier().write(tmp_path / "m.tflite")
    rejecting = ("whatif", tmp_path / "m.tflite", "--driver-rejects", "FULLY_CONNECTED")
    assert [len(way["causes"]) for way in run_json(*rejecting, "--search", "multiply-adds=90%")["ways"]] == [1]


def test_several_models_and_delegates(run, run_json, chain, tmp_path):
    classifier().write(tmp_path / "m.tflite")
    arguments = ("diagnose", chain, tmp_path / "m.tflite", "--delegate", "nnapi", "--delegate", "gpu")
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    verdicts = "nnapi runs 77.7 % of nodes and 100 % of multiply-adds of 2 models\ngpu runs 77.7 % of nodes"
    assert result.stdout.startswith(verdicts)
    assert "\nThe best changes\n1. chain.tflite on " in result.stdout
    table, *stories = run(*arguments, "--verbose").stdout.split("\nchain.tflite on ")
    assert table.startswith(verdicts)
    assert len(stories) == 2
    found = run_json("diagnose", chain, tmp_path / "m.tflite", "--delegate", "nnapi", "--delegate", "gpu")
    assert [(entry["model"]["path"], entry["delegate"]) for entry in found] == [
        (str(path), delegate) for path in (chain, tmp_path / "m.tflite") for delegate in ("nnapi", "gpu")
    ]


def test_the_defaults_of_the_api_and_the_tail_are_named(run, tmp_path):
    path = tmp_path / "m.tflite"
    chain_model([*["ADD", "ADD", "ROUND"] * 3, "ADD"]).write(path)
    sentence = "An application that uses the API's defaults (3 partitions): 6 of 10 nodes in 3 kernels (see --defaults api)"
    for arguments in (("diagnose", path, "--delegate", "nnapi"), ("compare", path, "--delegate", "nnapi", "--delegate", "gpu")):
        assert sentence in " ".join(run(*arguments).stdout.split())
    assert sentence in run("analyze", path, "--delegate", "nnapi", "--format", "markdown").stdout


def test_a_model_that_cannot_be_read_does_not_stop_the_others(run, chain, tmp_path):
    result = run("diagnose", "--delegate", "nnapi", tmp_path / "none.tflite", chain)
    assert result.exit_code == 2
    assert str(tmp_path / "none.tflite") in result.stderr
    assert "GELU" in result.stdout


def test_search_as_json_is_json(run, chain):
    assert json.loads(run("whatif", chain, "--search", "1", "--format", "json").stdout)["is_exact"]


def test_a_batch_that_the_file_has_already_folds_what_is_made_of_the_shapes(run_json):
    found = run_json("whatif", MODELS / "dynamic_shape_chain.tflite", "--batch", "1")
    assert [side["measures"]["delegated_nodes"] for side in (found["a"], found["b"])] == [0, 2]


def test_comma_separated_values_have_a_row_for_each_model_and_delegate(run, chain, tmp_path):
    broken = tmp_path / "=broken.tflite"
    broken.write_bytes(b"no model")
    result = run("diagnose", chain, broken, "--delegate", "nnapi", "--delegate", "gpu", "--format", "csv")
    assert result.exit_code == 2
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["model"], row["delegate"]) for row in rows] == [
        (str(chain), "nnapi"),
        (str(chain), "gpu"),
        (str(broken), ""),
    ]
    diagnosis = delegate_sim.diagnose(chain, "nnapi", defaults="api")
    first = diagnosis.findings[0]
    assert rows[0]["cause"] == first.cause.name
    assert rows[0]["causes"] == str(len(diagnosis.findings))
    assert rows[0]["delegated_nodes"] == str(diagnosis.now.measures.delegated_nodes)
    assert rows[0]["without_first_delegated_nodes"] == str(first.alone.measures.delegated_nodes)
    assert rows[0]["without_all_delegated_nodes"] == str(diagnosis.without_all.measures.delegated_nodes)
    assert rows[2]["error"].startswith(str(broken))
    assert not any(row["error"] for row in rows[:2])


def test_several_targets_get_fixed_sizes_and_the_fix_for_all(run, tmp_path):
    path = tmp_path / "m.tflite"
    open_batch().write(path)
    text = run("diagnose", path, "--delegate", "nnapi", "--delegate", "gpu").stdout
    words = f"  delegate-sim fix {path} --delegate nnapi --delegate gpu --shape "
    _, end = text.split("With fix, which rewrites the file for all targets without a new conversion\n")
    assert end.startswith("  nnapi: ")
    assert words in end


def best_changes(run, path, *names):
    """Return the targets of the best changes in order, and the targets that each change makes worse."""
    delegates = [argument for name in names for argument in ("--delegate", name)]
    text = run("diagnose", path, *delegates).stdout.partition("\nThe best change")[2]
    changes = re.split(r"^\d\. \S+ on ", text, flags=re.MULTILINE)[1:]
    worse = [re.search(r"but worse for (.*)", change) for change in changes]
    return [change.split(":")[0] for change in changes], [found and found[1] for found in worse]


def test_the_best_changes_are_for_accelerators_first(run, tmp_path):
    chain_model(["ADD", "ROUND", "ADD 4", "ADD", "GELU"]).write(tmp_path / "m.tflite")
    targets, _ = best_changes(run, tmp_path / "m.tflite", "nnapi", "xnnpack", "vx")
    assert targets == sorted(targets, key=["vx", "xnnpack", "nnapi"].index)
    assert targets[0] == "vx"


def test_the_best_changes_of_accelerators_are_ordered_by_gain(run, tmp_path):
    """Devices try mldrift before vx. But accepting SIGN adds three nodes on vx, and no change adds as many on mldrift."""
    chain_model(["ADD", "SIGN", "SIGN", "SIGN", "RELU_0_TO_1"]).write(tmp_path / "m.tflite")
    targets, _ = best_changes(run, tmp_path / "m.tflite", "mldrift", "vx")
    assert targets == ["vx", "vx", "mldrift"]


def test_more_nodes_in_as_many_kernels_are_among_the_best_changes(run, tmp_path):
    """Accepting ROUND adds a node and no multiply-adds, and more bytes cross the boundary."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    dense = layers.node("FULLY_CONNECTED", (layers.input("FLOAT32", 1, 8), layers.weights("FLOAT32", 8, 8), -1), options={})
    layers.node("CEIL", (layers.node("ROUND", (dense,)),))
    layers.node("CEIL", (dense,))
    layers.finish()
    builder.write(tmp_path / "m.tflite")
    targets, _ = best_changes(run, tmp_path / "m.tflite", "mldrift", "gpu")
    assert "gpu" in targets
    causes = " ".join(run("diagnose", tmp_path / "m.tflite", "--delegate", "gpu").stdout.split())
    assert causes.count("if the delegate accepted these nodes: delegated 1 -> 2 of 4") == 2
    assert "only together" not in causes


def test_a_raised_limit_that_does_not_help_is_not_among_the_best_changes(run, run_json, tmp_path):
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    dense = layers.node("FULLY_CONNECTED", (layers.input("FLOAT32", 1, 8), layers.weights("FLOAT32", 8, 8), -1), options={})
    layers.node("RELU", (layers.node("ROUND", (layers.node("RELU", (dense,)),)),))
    layers.finish()
    builder.write(tmp_path / "m.tflite")
    document = run_json("diagnose", tmp_path / "m.tflite", "--delegate", "gpu")
    assert {cause["name"]: cause["needs"] for cause in document["causes"]}["limit:max_delegated_partitions=1000000"] is None
    text = run("diagnose", tmp_path / "m.tflite", "--delegate", "gpu", "--delegate", "vx").stdout.partition("The best change")[2]
    assert "ROUND" in text
    assert "limit" not in text


def test_causes_that_help_only_together_are_one_of_the_best_changes(run, run_json, tmp_path):
    """Channels are shuffled: two RESHAPE have a result or an operand of rank 5, and a TRANSPOSE has both."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    options = {"stride_w": 1, "stride_h": 1, "dilation_w_factor": 1, "dilation_h_factor": 1}
    weights, bias = layers.weights("FLOAT32", 4, 3, 3, 4), layers.weights("FLOAT32", 4)
    x = layers.node("CONV_2D", (layers.input("FLOAT32", 1, 8, 8, 4), weights, bias), options=options)
    for op, operand, shape in (
        ("RESHAPE", (1, 8, 8, 2, 2), (1, 8, 8, 2, 2)),
        ("TRANSPOSE", (0, 1, 2, 4, 3), (1, 8, 8, 2, 2)),
        ("RESHAPE", (1, 8, 8, 4), (1, 8, 8, 4)),
    ):
        x = layers.node(op, (x, layers.constant("INT32", operand)), shape=shape, options={})
    layers.node("CONV_2D", (x, weights, bias), options=options)
    layers.finish()
    builder.write(tmp_path / "m.tflite")
    causes = run_json("diagnose", tmp_path / "m.tflite", "--delegate", "mldrift")["causes"]
    pair = [cause["name"] for cause in causes if cause["needs"]]
    assert [cause["needs"] for cause in causes[:2]] == [[pair[1]], [pair[0]]]
    targets, _ = best_changes(run, tmp_path / "m.tflite", "mldrift", "xnnpack")
    assert targets == ["mldrift"]
    text = run("diagnose", tmp_path / "m.tflite", "--delegate", "mldrift", "--delegate", "xnnpack").stdout
    assert "+4 nodes" in text.partition("The best change")[2]


def test_causes_are_listed_together_only_if_both_delegate_more(run):
    """Quantization alone delegates as many nodes and multiply-adds as with fixed sizes."""
    model = MODELS / "dynamic_shape_chain.tflite"
    text = run("diagnose", model, "--delegate", "ethosu-imx93", "--delegate", "xnnpack").stdout
    first = text.partition("\n1. dynamic_shape_chain.tflite on ethosu-imx93: ")[2].partition("\n2. ")[0]
    assert "change-quantization" in first
    assert "fix-shapes" not in first


def test_a_pair_of_causes_says_for_which_targets_it_is_worse(run):
    targets, worse = best_changes(run, MODELS / "quantized_block.tflite", "coreml", "ethosu-imx93")
    assert (targets[0], worse[0]) == ("coreml", "ethosu-imx93")


def test_a_change_says_for_which_targets_it_is_worse(run, tmp_path):
    (tmp_path / "m.tflite").write_bytes(edge_tpu_model("RELU", "RELU"))
    targets, worse = best_changes(run, tmp_path / "m.tflite", "xnnpack", "edgetpu")
    assert (targets[0], worse[0]) == ("edgetpu", None)
    assert set(zip(targets[1:], worse[1:], strict=True)) == {("xnnpack", "edgetpu")}


def test_the_table_has_the_nodes_after_the_first_fix(run, tmp_path):
    path = tmp_path / "m.tflite"
    chain_model(["ADD", "ROUND", "ADD", "CEIL", "ADD"]).write(path)
    rows = run("diagnose", path, "--delegate", "nnapi", "--delegate", "vx").stdout.splitlines()
    row = next(line for line in rows if line.startswith("  nnapi  "))
    assert re.split(r"  +", row.strip())[:3] == ["nnapi", "3 of 5", "-"]
    assert "  4 of 5 nodes, 2 kernels" in row
    path.write_bytes(edge_tpu_model("RELU", "RELU"))
    rows = run("diagnose", path, "--delegate", "edgetpu", "--delegate", "gpu").stdout.splitlines()
    assert "not simulated" in next(line for line in rows if line.startswith("  edgetpu  "))
