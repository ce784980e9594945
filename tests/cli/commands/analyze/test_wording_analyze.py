"""Sentences of ``delegate-sim analyze``, for people."""

from __future__ import annotations

import pytest

from fixtures.builder import ModelBuilder
from tests.support.models import chain_model


def test_what_follows_two_dashes_is_no_option(run):
    assert "--feature-level=3: No such file" in run("analyze", "--", "--feature-level=3").stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("--delegate", "nnapi"),
            "An application that uses the API's defaults (3 partitions): 6 of 10 nodes in 3 kernels (see --defaults api)",
        ),
        (("--delegate", "gpu"), ""),
        (("--delegate", "nnapi", "--defaults", "api"), ""),
        (("--delegate", "nnapi", "--max_delegated_partitions=9"), ""),
        (
            (),
            "nnapi: An application that uses the API's defaults (3 partitions): 6 of 10 nodes in 3 kernels (see --defaults api)",
        ),
    ],
)
def test_another_result_with_the_defaults_of_the_api_is_named(run, tmp_path, arguments, sentence):
    path = tmp_path / "model.tflite"
    chain_model([*["ADD", "ADD", "ROUND"] * 3, "ADD"]).write(path)
    text = run("analyze", path, *arguments, COLUMNS="120").stdout
    assert ([line for line in text.splitlines() if "An application that uses the API's defaults" in line] or [""])[0] == sentence
    assert "--defaults" not in arguments or "Target: nnapi on litert-2.3 with the API's defaults" in text


def test_the_verdict_says_that_the_model_does_not_load(run, tmp_path):
    chain_model(["LOGISTIC 9"]).write(tmp_path / "model.tflite")
    found = run("analyze", tmp_path / "model.tflite", "--delegate", "nnapi").stdout
    assert found.startswith("The model does not run: ")


@pytest.mark.parametrize(("release", "is_told"), [("tf-2.12", True), ("litert-2.3", False)])
def test_commands_tell_it_in_their_first_lines(run, tmp_path, release, is_told):
    path = tmp_path / "model.tflite"
    chain_model(["ADD", "RELU"]).write(path)
    told = ("analyze", path, "--delegate", "gpu", "--runtime", release)
    for form in ("text", "markdown"):
        first = run(*told, "--format", form, COLUMNS="250").stdout[:300]
        assert ("not checked for tf-2.12: the rules of gpu, the CPU kernels" in first) == is_told
    first = run("inspect", path, "--runtime", release, COLUMNS="250").stdout.splitlines()[0]
    assert ("the CPU kernels of tf-2.12 are not simulated" in first) == is_told


def test_an_overview_names_the_option_for_registered_operators(run, tmp_path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "FLOAT32", [2])
    graph.node("CUSTOM", [graph.input("x", "FLOAT32", [2])], [result], custom="Mine")
    graph.outputs(result)
    builder.write(tmp_path / "model.tflite")
    text = run("analyze", tmp_path / "model.tflite", "--delegate", "gpu", "--delegate", "nnapi", COLUMNS="200").stdout
    sentence = "2 targets cannot run the model unless the application registers Mine. If it does: --assume-ops-registered"
    assert text.count(sentence) == 1
    known = run("analyze", tmp_path / "model.tflite", "--delegate", "gpu", "--assume-ops-registered", COLUMNS="200").stdout
    assert "unless the application registers" not in known
