"""Sentences of ``delegate-sim releases``, for people."""

from __future__ import annotations

import pytest

from tests.support.models import chain_model


@pytest.mark.parametrize(
    ("ops", "delegate", "sentences"),
    [
        (
            ["GELU", "RELU"], "nnapi",
            ["Fully delegated: in no known release.", "By release of android 10: 1 of 2 nodes delegated (50 %)"],
        ),
        (["SQRT 9"], "nnapi", ["The model does not run", "Releases of android make no difference: nothing is delegated."]),
        (["RELU"], "xnnpack", ["the rules of xnnpack in tf-2.10 to tf-2.17 are not well known"]),
        (
            ["RELU"], "mldrift",
            ["Not shown: releases before litert-2.1.3. The earlier releases do not have mldrift, or the delegate's rules in "
             "these releases are not known."],
        ),
    ],
)  # fmt: skip
def test_the_table(run, tmp_path, ops, delegate, sentences):
    chain_model(ops).write(tmp_path / "model.tflite")
    text = " ".join(run("releases", tmp_path / "model.tflite", "--delegate", delegate).stdout.split())
    assert [sentence for sentence in sentences if sentence not in text] == []


def test_changes_of_rules(run):
    since = ("rules", "--delegate", "nnapi", "--changes", "--since", "litert-2.4")
    assert run(*since).stdout == "nnapi: no change of a rule is known after litert-2.4.\n"
    assert "--since needs --changes" in run("rules", "--since", "litert-1.4.0").stderr
    assert "with --changes, --format must be text or json" in run("rules", "--changes", "--format", "markdown").stderr
    assert "there is no runtime" in run("rules", "--changes", "--since", "litert-9").stderr


def test_a_file_that_no_release_loads(run, tmp_path):
    builder = chain_model(["RELU"])
    builder.subgraph("more").tensor("odd", "FLOAT32", [-1])
    builder.write(tmp_path / "model.tflite")
    found = " ".join(run("releases", tmp_path / "model.tflite", "--delegate", "nnapi").stdout.split())
    assert "in no known release; litert-2.4-dev does not load the file." in found
    assert "BytesRequired number of elements overflowed." in found
