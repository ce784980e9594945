"""Sentences of ``delegate-sim fix``, for people."""

from __future__ import annotations

import pytest

from tests.support.models import chain_model

LEVEL = ("--delegate", "nnapi", "--feature-level", "28")


@pytest.mark.parametrize(
    ("ops", "arguments", "sentences"),
    [
        (
            ("ADD", "NEG", "ADD 2", "ADD"), LEVEL,
            ["NNAPI at feature level 28 on Android 13 runs 75 % of nodes; rewritten, 100 % of",
             "nothing is written", "neg-as-mul (exact for finite values and results), 1 node"],
        ),
        (("RELU",), ("--delegate", "gpu"), ["GPU runs all nodes (1) Nothing to fix: all nodes are delegated"]),
        (("ADD", "ROUND"), (*LEVEL, "--allow", "exact", "--pass", "neg-as-mul"), ["No pass improves the model"]),
        (
            ("FAKE_QUANT",), ("--delegate", "npu-google"),
            ["The plugin npu-google takes no node; everything runs on the CPU", "none of 1 node delegated"],
        ),
    ],
    ids=["a pass", "nothing to fix", "no pass", "a plugin"],
)  # fmt: skip
def test_a_plan(run, tmp_path, ops, arguments, sentences):
    chain_model(ops).write(tmp_path / "model.tflite")
    text = " ".join(run("fix", tmp_path / "model.tflite", *arguments, "--plan").stdout.split())
    assert [sentence for sentence in sentences if sentence not in text] == []


def test_a_written_model(run, tmp_path):
    pytest.importorskip("ai_edge_litert", reason="needs the runtime: install the extra 'fix'")
    chain_model(("ADD", "NEG", "ADD")).write(tmp_path / "model.tflite")
    result = run("fix", tmp_path / "model.tflite", *LEVEL, "-o", tmp_path / "fixed.tflite")
    assert "Outputs are the same, bit for bit: 1 output, for 2 sets of input values" in result.stdout


def test_a_plan_with_a_named_pass_of_a_diagnosis(run, tmp_path):
    chain_model(("ADD", "NEG", "ADD", "ADD")).write(tmp_path / "model.tflite")
    text = " ".join(run("diagnose", tmp_path / "model.tflite", *LEVEL).stdout.split())
    assert "the pass neg-as-mul of fix rewrites the file (exact; 4 of 4 nodes in 1 kernel):" in text


def test_the_commands_that_diagnose_the_written_file_share_a_heading(run, tmp_path):
    chain_model(("ADD", "NEG", "ADD", "FAKE_QUANT", "ADD")).write(tmp_path / "model.tflite")
    targets = (*LEVEL, "--delegate", "gpu")
    text = run("fix", tmp_path / "model.tflite", *targets, "--no-proof", "-o", tmp_path / "fixed.tflite").stdout
    assert text.count("What keeps nodes of the written file on the CPU:") == 1
    assert text.count("delegate-sim diagnose ") == 2
