from __future__ import annotations

import json
import os
import stat
import textwrap
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.delegates.options import boolean
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from fixtures.builder import ModelBuilder
from tests.support.cli.clicks import NEEDS_NEWER_CLICK
from tests.support.models import chain_model, unprepared_model

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures" / "models"
NNAPI = ("--delegate", "nnapi", "--no-default-xnnpack")

MIXED = """\
NNAPI on Android 13 runs 50 % of nodes; 1 ROUND and 1 other node stay on the CPU

Replacing 2 out of 4 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 3 partitions for subgraph 0 (main).
Explicitly applied NNAPI delegate, and the model graph will be partially executed by the delegate w/ 2 delegate kernels.

Coverage
  nodes             4 total, 2 supported, 2 delegated (50 %)
  partitions        3
  delegate kernels  2
  █░░█
  █ nnapi  ░ the CPU  (each cell is a node, in running order)

On the CPU: 2 nodes, by reason
  nnapi-operator: needs an operator that NNAPI has
    hint: ROUND can be written as FLOOR of x + 0.5, which rounds halves up; if
          the new nodes are taken (counted as one node): 3 of 4 nodes in 2
          kernels
    ROUND: 1 node [1]
  nnapi-operator-version: needs version at most 2
    hint: the node does not need the version in the file, so use a converter as
          old as the delegate
    ADD: 1 node, version 4 [2]

Partitions
  id  on        nodes  bytes in  bytes out  operators
   0  delegate      1        16         16  ADD 1
   1  cpu           2        16         16  ROUND 1, ADD 1
   2  delegate      1        16         16  ADD 1
"""

DYNAMIC = """\
NNAPI on Android 13 is not applied; everything runs on the CPU, because tensor 2
  (y) of subgraph 0 is dynamic-sized because input tensor 1 (shape) of node 0
  (RESHAPE) is not constant

Attempting to use a delegate that only supports static-sized tensors with a graph that has dynamic-sized tensors \
(tensor#-1 is a dynamic-sized tensor).
Failed to apply NNAPI delegate.

Why
  dynamic-tensors: tensor 2 (y) of subgraph 0 is dynamic-sized because input
    tensor 1 (shape) of node 0 (RESHAPE) is not constant
    hint: make tensor 1 a constant: fix the shapes of the model before
          converting it; convert with fixed input shapes (in Keras, call the
          model on a keras.Input with batch_shape; in TensorFlow, use a concrete
          function whose tf.TensorSpec has no None; in PyTorch, export without
          dynamic shapes). Compute the shapes for RESHAPE, FILL, SLICE and
          similar operators from constants, not from the SHAPE of a tensor

Coverage
  nodes             1 total, 0 delegated: not offered to the delegate
"""

RESTORED = """\
NNAPI on Android 13 rejects the model; everything runs on the CPU, because the
  NNAPI runtime of Android 13 rejects identifyInputsAndOutputs: inputs: found
  none, needed at least 1

Replacing 1 out of 1 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 1 partitions for subgraph 0 (main).
NN API returned error ANEURALNETWORKS_BAD_DATA at line 6345 while identifying model inputs and outputs.
Node number 1 (TfLiteNnapiDelegate) failed to prepare.
Restored original execution plan after delegate application failure.
Failed to apply NNAPI delegate.

Why
  nnapi-runtime-model-boundary-pointers: the NNAPI runtime of Android 13 rejects
    identifyInputsAndOutputs: inputs: found none, needed at least 1
    hint: fold nodes that read only constants

Coverage
  nodes             1 total, 1 supported, 0 delegated (0 %)
  partitions        0
  delegate kernels  0

On the CPU: 1 node, by reason
  nnapi-runtime-model-boundary-pointers: needs delegate kernels and CPU kernels
    that can all be prepared
    hint: fold nodes that read only constants
    ADD: 1 node [0]
"""


def written(builder: ModelBuilder, path):
    builder.write(path)
    return path


@pytest.fixture
def dynamic_model(tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4])
    shape = graph.input("shape", "INT32", [2])
    result = graph.tensor("y", "FLOAT32", [2, 2])
    graph.node("RESHAPE", [source, shape], [result])
    graph.outputs(result)
    return written(builder, tmp_path / "dynamic.tflite")


def pointer(path, *arguments, options=""):
    """The last lines of a report: the commands that examine the nodes on the CPU and rewrite the file, and the target."""
    target = " ".join([str(path), "--delegate nnapi", *arguments])
    lines = ["", "What each cause costs, and what to change:", f"  delegate-sim diagnose {target}"]
    lines += ["Whether fix, which rewrites the file, helps:", f"  delegate-sim fix {target} --plan"]
    return "\n".join([*lines, "", f"Target: nnapi on litert-2.3 with benchmark_model's defaults --android=13{options}", ""])


def unanswered(missing):
    """The lines below the reports of other models."""
    text = f"{missing}: No such file or directory"
    lines = textwrap.wrap(text, 80, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(["Not answered: 1 model", *lines, ""])


def test_text_of_a_small_model(run, model):
    result = run("analyze", *NNAPI, model)
    assert result.stdout == MIXED + pointer(model)
    assert (result.exit_code, result.stderr) == (0, "")


def test_text_of_a_refused_delegate(run, dynamic_model):
    result = run("analyze", *NNAPI, dynamic_model)
    assert result.stdout == DYNAMIC + pointer(dynamic_model)
    assert result.exit_code == 0


def test_text_of_a_delegate_that_is_taken_back(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    weights = graph.tensor("w", "FLOAT32", [1], data=[1])
    result = graph.tensor("y", "FLOAT32", [1])
    graph.node("ADD", [weights, weights], [result], options={})
    graph.outputs(result)
    path = written(builder, tmp_path / "constant.tflite")
    expected = RESTORED + pointer(path, "--disable-nnapi-cpu=false", options="\n  --disable-nnapi-cpu=false")
    assert run("analyze", *NNAPI, path, "--disable-nnapi-cpu=false").stdout == expected


def test_no_log_line_with_the_defaults_of_the_api_where_nothing_is_delegated(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1]), graph.tensor("y", "FLOAT32", [1])
    graph.node("ROUND", [source], [result])
    graph.outputs(result)
    path = written(builder, tmp_path / "round.tflite")
    assert run("analyze", *NNAPI, path, "--defaults", "api").stdout.splitlines()[2:4] == ["", "Coverage"]


def test_each_subgraph_has_a_heading(run, tmp_path):
    builder = ModelBuilder()
    for name in ("first", "VALIDATION:second"):
        graph = builder.subgraph(name)
        source, result = graph.input("x", "FLOAT32", [1]), graph.tensor("y", "FLOAT32", [1])
        graph.node("ADD", [source, source], [result], options={})
        graph.outputs(result)
    lines = run("analyze", *NNAPI, written(builder, tmp_path / "two.tflite")).stdout.splitlines()
    assert lines[lines.index("All 2 subgraphs") + 1] == "  nodes             2 total, 1 delegated (50 %), 1 delegate kernel"
    assert "Subgraph 0 (first)" in lines
    skipped = lines[lines.index("Subgraph 1 (VALIDATION:second)") :]
    assert skipped[2].startswith("  nodes             1 total, 0 delegated: ")


def test_every_node_on_the_cpu_is_counted_under_one_heading(run, tmp_path):
    """Two findings of one demand share a heading, two demands on one node share their nodes."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    for number, kind in enumerate(("INT64", "INT64", "INT16")):
        source, result = graph.input(f"x{number}", kind, [1]), graph.tensor(f"y{number}", kind, [1])
        graph.node("ADD", [source, source], [result], version=1 if number else 4, options={})
        graph.outputs(result)
    text = run("analyze", *NNAPI, written(builder, tmp_path / "types.tflite")).stdout
    listed = text[text.index("On the CPU") : text.index("\nWhat each")].splitlines()
    assert [line.partition(": ")[0].strip() for line in listed if "hint" not in line and not line.startswith(" " * 10)] == [
        *("On the CPU", "nnapi-input-type", "ADD", "ADD", "nnapi-operator-version", "nnapi-input-type", "ADD"),
    ]
    assert [line[-4:] for line in listed if line.startswith("    ADD: 1 node, ")] == [" [1]", " [2]", " [0]"]


def long_model() -> ModelBuilder:
    """ADD and ROUND in turns, 40 of each; some of the ROUND stand beside each other."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "FLOAT32", [4])
    for number in range(40):
        for op in ("ADD", "ROUND"):
            result = graph.tensor(f"{op}{number}", "FLOAT32", [4])
            graph.node(op, [tensor, tensor] if op == "ADD" else [tensor], [result], options={} if op == "ADD" else None)
            tensor = result
    graph.outputs(tensor)
    return builder


def test_long_lists_are_cut(run, tmp_path):
    lines = run("analyze", *NNAPI, written(long_model(), tmp_path / "long.tflite")).stdout.splitlines()
    assert "      [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, ... and 25 more]" in lines
    assert "  ... and 70 more partitions, none of them larger (--verbose lists all)" in lines


def test_verbose_leaves_nothing_out(run, tmp_path):
    text = run("analyze", *NNAPI, written(long_model(), tmp_path / "long.tflite"), "--verbose").stdout
    assert "more" not in text
    assert all(f"{index}" in text for index in range(1, 80, 2))
    assert len(text[text.index("Partitions") :].splitlines()) == 2 + 80 + 5 + 4


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_only_log_lines_and_commands_are_longer_than_the_terminal_is_wide(run, tmp_path, columns):
    lines = run("analyze", *NNAPI, written(long_model(), tmp_path / "long.tflite"), COLUMNS=str(columns)).stdout.splitlines()
    line = next(number for number, line in enumerate(lines) if line.startswith("Explicitly applied NNAPI delegate, and "))
    assert lines[line].endswith(" the delegate w/ 40 delegate kernels.")
    wrapped = [text for text in (*lines[: line - 1], *lines[line + 1 :]) if not text.startswith("  delegate-sim ")]
    assert len(wrapped) == len(lines) - 4  # two log lines and two commands
    assert max(map(len, wrapped)) <= columns


def test_hostile_names_have_no_effect_on_a_terminal(run, tmp_path):
    hostile = "\x1b[2J\x9b31m\r\n\u202e[bold]"
    builder = ModelBuilder(description=hostile)
    graph = builder.subgraph(hostile)
    source, result = graph.input(hostile, "FLOAT32", [1]), graph.tensor(hostile, "FLOAT32", [1])
    graph.node("CUSTOM", [source], [result], custom=hostile)
    graph.node("ADD", [source, source], [graph.tensor(hostile * 9, "FLOAT32", [1])], options={})
    graph.outputs(result)
    path = written(builder, tmp_path / "hostile.tflite")
    for command in ("analyze", "inspect"):
        text = run(command, path, "--verbose" if command == "analyze" else "--file-shapes").stdout
        assert all(line.isprintable() for line in text.split("\n"))
        assert "\\x1b[2J\\x9b31m\\r\\n\\u202e[bold]" in text


@pytest.mark.parametrize(
    ("options", "level"),
    [((), 1000008), (("--android=11",), 30), (("--feature-level=29",), 29), (("--android=none",), 1000008)],
)
def test_json_has_the_feature_level_in_effect(run_json, model, options, level):
    assert run_json("analyze", model, "--delegate", "nnapi", *options)["runs"][0]["effective_feature_level"] == level
    assert "effective_feature_level" not in run_json("analyze", model, "--delegate", "gpu")["runs"][0]


def test_json_is_the_report_but_for_hints(run_json, model):
    """Hints are those of a diagnosis, which a report by itself does not ask for."""
    expected = delegate_sim.analyze(str(model), defaults="benchmark").to_dict()
    assert without_hints(run_json("analyze", *NNAPI, model)) == without_hints(json.loads(json.dumps(expected)))


def without_hints(entry):
    if isinstance(entry, list):
        return [without_hints(each) for each in entry]
    return {key: without_hints(each) for key, each in entry.items() if key != "hint"} if isinstance(entry, dict) else entry


def test_json_is_ascii_and_ends_with_a_line_end(run, tmp_path):
    builder = ModelBuilder()
    builder.subgraph("größe")
    text = run("analyze", *NNAPI, written(builder, tmp_path / "empty.tflite"), "--format", "json").stdout
    assert text.isascii()
    assert text.startswith('{\n  "schema": "delegate-sim/report/1",\n  "tool": {')
    assert text.endswith("\n}\n")


def test_several_models_give_an_array(run_json, model, dynamic_model):
    reports = run_json("analyze", *NNAPI, model, dynamic_model)
    assert [report["runs"][0]["outcome"] for report in reports] == ["delegated", "refused"]


def test_several_models_stand_below_headings(run, model, dynamic_model):
    first, second = (f"=== {path} ===\n{text}{pointer(path)}" for path, text in ((model, MIXED), (dynamic_model, DYNAMIC)))
    assert run("analyze", *NNAPI, model, dynamic_model).stdout == f"{first}\n{second}"


def test_several_delegates_give_several_runs(run, run_json, model):
    report = run_json("analyze", model, "--delegate", "all")
    assert [entry["delegate"] for entry in report["runs"]] == list(DELEGATE_NAMES)
    text = run("analyze", model, "--delegate", "all", "--verbose").stdout
    assert [line for line in text.splitlines() if line.startswith("---")] == [f"--- {name} ---" for name in DELEGATE_NAMES]


@pytest.mark.parametrize(
    ("arguments", "option", "value"),
    [
        (["--feature-level", "30"], "feature_level", 30),
        (["--feature_level=1.2"], "feature_level", 29),
        (["--device-feature-level=28"], "device_feature_level", 28),
        (["--driver-rejects", "ADD,MUL"], "driver_rejects", ["ADD", "MUL"]),
        (["--nnapi_accelerator_name=npu"], "accelerator_name", "npu"),
        (["--nnapi-accelerator-name", "npu"], "accelerator_name", "npu"),
        (["--disable_nnapi_cpu=false"], "disallow_nnapi_cpu", False),
        (["--nnapi_allow_fp16=true"], "allow_fp16", True),
        (["--nnapi-allow-fp16=false"], "allow_fp16", False),
        (["--nnapi_allow_fp16", "true"], "allow_fp16", True),
        (["--nnapi_allow_fp16"], "allow_fp16", True),
        (["--nnapi_allow_fp16", "--verbose"], "allow_fp16", True),
        (["--nnapi_allow_dynamic_dimensions=1"], "allow_dynamic_dimensions", True),
        (["--max_delegated_partitions=2"], "max_number_delegated_partitions", 2),
        (["--max-delegated-partitions", "-1"], "max_number_delegated_partitions", -1),
        (["--option", "max_number_delegated_partitions=2"], "max_number_delegated_partitions", 2),
        (["--option", "accelerator_name=a=b"], "accelerator_name", "a=b"),
        ([], "max_number_delegated_partitions", 0),
        (["--defaults", "api"], "max_number_delegated_partitions", 3),
    ],
)
def test_options(run_json, model, arguments, option, value):
    for order in ([*arguments, model], [model, *arguments]):
        assert run_json("analyze", *order)["runs"][0]["options"][option] == value


@pytest.mark.parametrize("command", ["analyze", "compare", "diagnose", "reconcile"])
def test_delegates_are_named_as_they_are_in_help_and_errors(run, model, command):
    for text in (run(command, "--help").stdout, run(command, model, "--delegate", "other").stderr):
        assert "vx-nxp" in text
        assert "vx_nxp" not in text


def test_names_of_options_take_dashes_and_underscores_alike(run_json, model):
    for flag in ("--no-default-xnnpack", "--no_default_xnnpack"):
        assert run_json("analyze", model, "--delegate", "vx-nxp", flag, "--option", "release=lf-5.15.71")["runs"]


def test_a_flag_that_delegates_share_goes_to_each(run_json, model):
    arguments = ("--delegate", "nnapi", "--delegate=gpu", "--max_delegated_partitions=2")
    nnapi, gpu = (entry["options"] for entry in run_json("analyze", model, *arguments)["runs"])
    assert (nnapi["max_number_delegated_partitions"], gpu["max_delegated_partitions"]) == (2, 2)


def test_runtime_chooses_the_wording(run, model):
    text = run("analyze", *NNAPI, model, "--runtime", "tf-2.10").stdout
    assert "\nReplacing 2 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 3 partitions.\n" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--feature-level", "3"], "option feature_level of nnapi: takes one of 27, 28, "),
        (["--option", "speed=3"], "nnapi has no option 'speed'; its options are feature_level, "),
        (["--option", "speed"], "Invalid value for '--option': takes KEY=VALUE, not 'speed' (see 'delegate-sim analyze --help')"),
        (["--runtime", "tf-9"], "there is no runtime 'tf-9'; the runtimes are tf-2.10 to tf-"),
        (["--delegate", "other"], "Invalid value for '--delegate': 'other' is not one of 'nnapi', "),
        pytest.param(
            ["--nnapi_allow_fp1=true"],
            "No such option '--nnapi_allow_fp1'. Did you mean '--nnapi-allow-fp16'? (see",
            marks=NEEDS_NEWER_CLICK,
        ),
        (["--option", "allow_fp16=true", "--nnapi_allow_fp16"], "--nnapi-allow-fp16 and --option allow_fp16=... set the same"),
        (
            ["--delegate", "vx_nxp"],
            "Invalid value for '--delegate': there is no delegate 'vx_nxp'; did you mean vx-nxp",
        ),
        (["--format", "xml"], "Invalid value for '--format': 'xml' is not one of 'text', 'json'"),
        pytest.param(["--bad\x1b\noption"], "No such option '--bad\\x1b\\noption'", marks=NEEDS_NEWER_CLICK),
    ],
)
def test_wrong_usage_is_one_line(run, model, arguments, message):
    result = run("analyze", *NNAPI, model, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {message}")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "No such file or directory"),
        (b"", "is empty"),
        (b"\0\0\0\0ONNX....", "is not a TFLite model: the identifier at offset 4 is not 'TFL3'"),
    ],
)
def test_an_unreadable_model_is_one_line(run, tmp_path, content, fault):
    path = tmp_path / "bad\n.tflite"
    if content is not None:
        path.write_bytes(content)
    result = run("analyze", *NNAPI, path)
    assert result.stderr == f"error: {tmp_path}/bad\\n.tflite: {fault}\n"
    assert (result.exit_code, result.stdout) == (2, "")


def test_a_folder_without_models(run, tmp_path):
    result = run("analyze", *NNAPI, tmp_path)
    fault = f"{tmp_path}: contains no model (no file below it ends in .tflite or .lite)"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"error: {fault}\n")


def test_an_unreadable_model_does_not_stop_the_others(run, tmp_path, model):
    missing = tmp_path / "missing"
    result = run("analyze", *NNAPI, missing, model)
    assert result.stdout == f"=== {model} ===\n{MIXED}{pointer(model)}\n{unanswered(missing)}"
    assert (result.exit_code, result.stderr) == (2, f"error: {missing}: No such file or directory\n")
    result = run("analyze", *NNAPI, missing, model, "--format", "json")
    reports = json.loads(result.stdout)
    assert [report["model"]["path"] for report in reports] == [str(model), str(missing)]
    assert reports[1]["error"] == f"{missing}: No such file or directory"
    assert result.exit_code == 2


@pytest.mark.parametrize("form", ["text", "json"])
def test_output_replaces_a_file(run, tmp_path, model, form):
    output = tmp_path / "report"
    output.write_text("old")
    output.chmod(0o640)
    arguments = ("analyze", *NNAPI, model, "--format", form, "-o", output)
    assert run(*arguments).stderr == f"error: {output}: already exists; --force replaces it\n"
    assert output.read_text() == "old"
    result = run(*arguments, "--force")
    assert (result.exit_code, result.output) == (0, "")
    assert output.read_text() == run("analyze", *NNAPI, model, "--format", form).stdout
    assert stat.S_IMODE(output.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["model.tflite", "report"]


def test_a_new_output_has_the_usual_permissions(run, tmp_path, model):
    run("analyze", *NNAPI, model, "--output", tmp_path / "report")
    (tmp_path / "other").write_text("")
    assert (tmp_path / "report").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_output_through_a_link_keeps_the_link(run, tmp_path, model):
    (tmp_path / "link").symlink_to(tmp_path / "report")
    refused = run("analyze", *NNAPI, model, "--output", tmp_path / "link")
    assert (refused.exit_code, f"{tmp_path / 'link'}" in refused.stderr) == (2, True)
    assert not (tmp_path / "report").exists()
    run("analyze", *NNAPI, model, "--output", tmp_path / "link", "--force")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "report").read_text() == MIXED + pointer(model)


def test_after_an_error_the_others_are_written(run, tmp_path, model):
    output, missing = tmp_path / "report", tmp_path / "missing"
    result = run("analyze", *NNAPI, model, missing, "--output", output)
    assert result.exit_code == 2
    assert output.read_text() == (f"=== {model} ===\n{MIXED}{pointer(model)}\n{unanswered(missing)}")


def test_if_the_output_cannot_be_replaced_nothing_is_left_behind(run, tmp_path, model, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    output = tmp_path / "report"
    output.write_text("old")
    monkeypatch.setattr(os, "replace", refuse)
    result = run("analyze", *NNAPI, model, "--output", output, "--force")
    assert (result.exit_code, result.stderr) == (2, f"error: {output}: No space left on device\n")
    assert output.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["model.tflite", "report"]


def test_outputs_that_cannot_be_files(run, tmp_path, model):
    for output, fault in ((tmp_path, "is not a regular file"), (tmp_path / "none" / "report", "No such file or directory")):
        result = run("analyze", *NNAPI, model, "--output", output)
        assert (result.exit_code, result.stderr) == (2, f"error: {output}: {fault}\n")


@pytest.mark.parametrize("name", DELEGATE_NAMES)
def test_help_names_the_options_of_every_delegate(run, name):
    text = run("analyze", "--help", "--delegate", name.upper(), COLUMNS="200").stdout
    assert text.count("Options of ") == 1
    section = text[text.index(f"Options of {name}:") :]
    for option in find_delegate(name).options:
        value = "BOOL" if option.parse is boolean else "VALUE"
        spelling = f"--{option.flag.replace('_', '-')} {value}" if option.flag else f"--option {option.name}={value}"
        assert f"  {spelling}" in section
        assert option.help[:30] in section


def test_the_two_counts_of_partitions_are_explained(run, tmp_path):
    """Logs in which the delegate prints a count of its own beside that of the runtime."""
    path = tmp_path / "model.tflite"
    chain_model(["RELU", "RELU", "ROUND", "RELU", "RELU"]).write(path)
    lines = run("analyze", path, "--delegate", "coreml", COLUMNS="120").stdout.splitlines()
    own, whole = "CoreML delegate: 4 nodes delegated out of 5 nodes, with 2 partitions.", "yielding 3 partitions"
    assert lines[2] == own
    assert whole in lines[3]
    (told,) = [line for line in lines if line.startswith("  partitions ")]
    without = run("analyze", path, "--delegate", "gpu", COLUMNS="120").stdout
    (short,) = [line for line in without.splitlines() if line.startswith("  partitions ")]
    assert ["(" in line for line in (told, short)] == [True, False]


def test_reasons_that_differ_only_in_a_number_are_one_group_with_a_range(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "FLOAT32", [1, 4])
    for number, version in enumerate((4, 5, 7)):
        result = graph.tensor(f"y{number}", "FLOAT32", [1, 4])
        graph.node("ADD", [tensor, tensor], [result], version, {})
        tensor = result
    graph.outputs(tensor)
    path = tmp_path / "model.tflite"
    builder.write(path)
    found = run("analyze", path, *NNAPI, "--assume-ops-registered").stdout
    assert found.count("nnapi-operator-version: ") == 1
    assert "    ADD: 3 nodes, version 4 to 7 [0-2]\n" in found


@pytest.mark.parametrize("name", ["mobilenet_block", "pooling", "transformer_block", "dynamic_reshape"])
def test_hints_are_those_of_a_diagnosis(run, run_json, name):
    path = FIXTURES / f"{name}.tflite"
    nodes = run_json("analyze", path, *NNAPI)["runs"][0]["subgraphs"][0]["nodes"]
    refused = {(node["index"], reason["code"]) for node in nodes for reason in node["reasons"]}
    changes = [
        cause["suggestion"]["change"]
        for cause in run_json("diagnose", path, *NNAPI[:2])["causes"]
        if not refused.isdisjoint((node["node"], code) for node in cause["nodes"] for code in cause["codes"])
    ]
    text = " ".join(run("analyze", path, *NNAPI, "--verbose").stdout.split())
    assert changes
    assert [change for change in changes if change not in text] == []


@pytest.mark.parametrize("name", ["mobilenet_block", "pooling", "transformer_block", "dynamic_reshape"])
def test_hints_in_json_are_those_of_the_text(run, run_json, name):
    path = FIXTURES / f"{name}.tflite"
    (found,) = [each for each in run_json("analyze", path, *NNAPI)["runs"] if not each["by_default"]]
    reasons = [reason for node in found["subgraphs"][0]["nodes"] for reason in node["reasons"]]
    hints = {part for reason in reasons for part in reason["hint"].split("; ") if part}
    text = " ".join(run("analyze", path, *NNAPI, "--verbose").stdout.split())
    assert hints
    assert [hint for hint in hints if hint not in text] == []


def test_hints_of_a_large_model_are_general(run, tmp_path, monkeypatch):
    monkeypatch.setattr("delegate_sim.diagnosis.advice.node_advice._NODES_ADVISED", 3)
    path = written(chain_model(["ADD", "ROUND", "ADD", "ADD"]), tmp_path / "model.tflite")
    assert "hint: replace the operator" in run("analyze", *NNAPI, path).stdout


def phone(tmp_path, *lines):
    path = tmp_path / "phone.toml"
    head = ('schema = "delegate-sim/devices/1"', "[[devices]]", 'name = "dsp"', "feature_level = 30", "execution = 0.5")
    path.write_text("\n".join([*head, *lines]))
    return path


def one_node(tmp_path, op, shape):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "FLOAT32", shape)
    graph.node(op, [graph.input("x", "FLOAT32", shape)], [result])
    graph.outputs(result)
    return written(builder, tmp_path / "one.tflite")


def test_a_refused_call_is_told_with_its_node(run, tmp_path):
    found = run("analyze", *NNAPI, one_node(tmp_path, "RELU", [1, 1, 1, 2, 2])).stdout
    assert "  nnapi-runtime-operation-rank: node 0: the NNAPI runtime of Android 13 rejects\n" in found


def test_of_a_driver_that_fails_the_hint_is_not_about_an_operator(run, tmp_path):
    path = one_node(tmp_path, "RELU", [2])
    found = run("analyze", *NNAPI, path, "--devices", phone(tmp_path, "fails_to_compile = true")).stdout
    assert "\nNode number 1 (TfLiteNnapiDelegate) failed to prepare.\nRestored original" in found
    assert "    hint: choose another accelerator" in found
    found = run("analyze", *NNAPI, path, "--devices", phone(tmp_path), "--option", "accelerator_name=gpu").stdout
    assert "    hint: choose one of " in found


@pytest.mark.parametrize(
    ("delegate", "title"),
    [
        ("nnapi", "The model does not run: the CPU runtime cannot prepare node 2 (CEIL)"),
        ("xnnpack", "The model does not run, although XNNPACK takes 2 of 3 nodes: the CPU runtime cannot prepare node 2 (CEIL)"),
    ],
)
def test_the_verdict_says_that_the_model_does_not_run(run, tmp_path, delegate, title):
    unprepared_model().write(tmp_path / "model.tflite")
    found = run("analyze", tmp_path / "model.tflite", "--delegate", delegate).stdout
    assert title in " ".join(found.split())
    assert "Node number 2 (CEIL) failed to prepare." in found.splitlines()


@pytest.mark.parametrize(("name", "first"), [("card.svg", b"<svg "), ("card.md", b"### "), ("card.PNG", b"\x89PNG")])
def test_the_ending_of_the_file_chooses_the_format_of_a_card(run, model, tmp_path, name, first):
    if name == "card.PNG":
        pytest.importorskip("resvg_py", reason="the package that draws PNG files (the extra [report]) is not installed")
    file, report = tmp_path / name, tmp_path / f"report-{name}"
    assert run("analyze", model, "--format", "card", "-o", file, "--report", f"card={report}").exit_code == 0
    assert file.read_bytes() == report.read_bytes()
    assert file.read_bytes().startswith(first)


def test_a_card_is_a_picture_of_one_model(run, model, dynamic_model, tmp_path):
    file = tmp_path / "card.svg"
    assert run("analyze", model, "--format", "card", "-o", file).exit_code == 0
    assert file.read_text("utf-8").startswith("<svg ")
    assert run("analyze", model, dynamic_model, "--format", "card").exit_code == 2
    broken, nothing = tmp_path / "broken.tflite", tmp_path / "nothing.svg"
    broken.write_bytes(b"junk")
    result = run("analyze", broken, "--format", "card", "-o", nothing)
    assert (result.exit_code, result.stdout, nothing.exists()) == (2, "", False)
    assert run("analyze", model, "--delegate", "gpu", "--delegate", "xnnpack", "--chain", "--format", "card").exit_code == 2
