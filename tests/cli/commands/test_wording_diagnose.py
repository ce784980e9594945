"""Sentences of ``delegate-sim diagnose``, for people."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from tests.support.diagnoses import layer_without_kernel
from tests.support.gate_models import classifier
from tests.support.models import chain_model


def test_of_a_cause_without_others_none_are_said_to_be_removed(run, tmp_path):
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    layers.node("CUSTOM", (layers.input("FLOAT32", 1, 8),), custom="edgetpu-custom-op")
    layers.finish()
    builder.write(tmp_path / "m.tflite")
    text = " ".join(run("diagnose", "--delegate", "nnapi", tmp_path / "m.tflite").stdout.split())
    assert "the result of this change cannot be simulated analyse-source:" in text


def test_the_end_of_a_cause_that_changes_nothing(run):
    models = Path(__file__).resolve().parents[3] / "fixtures" / "models"
    text = " ".join(run("diagnose", "--delegate", "nnapi", models / "cannot_prepare.tflite").stdout.split())
    assert "0 % -> 0 %" not in text
    assert "fixing only this cause does not help: other causes must be fixed too" in text


def test_nodes_at_which_the_delegate_fails_after_another_fix_do_not_stay_on_the_cpu(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    middle, axes = layer_without_kernel(graph), graph.tensor("axes", "INT32", [2], [0, -1])
    graph.node("TRANSPOSE", [middle, axes], [result := graph.tensor("y", "FLOAT32", [1, 8])], options={})
    graph.outputs(result)
    builder.write(tmp_path / "m.tflite")
    text = " ".join(run("diagnose", "--delegate", "mldrift", tmp_path / "m.tflite").stdout.split())
    assert "after another cause is fixed, the delegate fails at 1 node: TRANSPOSE 1" in text
    assert "the delegate fails at 1 node: DEQUANTIZE 1" in text
    assert "on the CPU:" not in text


@pytest.mark.parametrize(
    ("options", "goal", "start"),
    [
        ((), "5", "NNAPI on Android 13 runs all nodes (4) in 1 kernel Already reached: at most 5 partitions"),
        (
            ("--driver-rejects", "FULLY_CONNECTED"), "multiply-adds=90%",
            "NNAPI on Android 13 runs 75 % of nodes but 0 % of multiply-adds; 1 FULLY_CONNECTED stays on the CPU "
            "To reach at least 90 % of multiply-adds delegated, 1 cause must be fixed",
        ),
    ],
)  # fmt: skip
def test_the_search_for_a_goal(run, tmp_path, options, goal, start):
    classifier().write(tmp_path / "m.tflite")
    text = " ".join(run("whatif", tmp_path / "m.tflite", "--delegate", "nnapi", *options, "--search", goal).stdout.split())
    assert text[: len(start)] == start


def test_nothing_to_diagnose(run, tmp_path):
    classifier().write(tmp_path / "m.tflite")
    assert "Nothing in the model keeps nodes on the CPU." in run("diagnose", "--delegate", "nnapi", tmp_path / "m.tflite").stdout


def test_what_cannot_be_diagnosed(run, tmp_path):
    result = run("diagnose", tmp_path / "none.tflite")
    assert (result.exit_code, result.stderr) == (2, f"error: {tmp_path / 'none.tflite'}: No such file or directory\n")
    assert run("diagnose", tmp_path / "none.tflite", "--option", "level=3").exit_code == 2


def test_a_goal_that_no_set_reaches_tells_the_best_there_is(run, tmp_path):
    chain_model(["ADD"]).write(tmp_path / "m.tflite")
    result = run("whatif", tmp_path / "m.tflite", "--delegate", "hexagon", "--search", "1")
    assert "\nNo set of causes reaches at most 1 partition" in result.stdout
    assert "with all causes fixed:" in " ".join(result.stdout.split())


def test_several_targets_that_take_everything(run, tmp_path):
    classifier().write(tmp_path / "m.tflite")
    text = run("diagnose", tmp_path / "m.tflite", "--delegate", "nnapi", "--delegate", "gpu").stdout
    assert "\nNothing in the models keeps nodes on the CPU.\n" in text


def test_nodes_that_are_delegated_now_are_not_said_to_be_on_the_cpu(run):
    text = " ".join(
        run(
            "diagnose", Path(__file__).resolve().parents[3] / "fixtures" / "models" / "recurrent.tflite", "--delegate", "nnapi"
        ).stdout.split()
    )
    assert "after another cause is fixed, keeps 3 nodes on the CPU: LSTM 3" in text
