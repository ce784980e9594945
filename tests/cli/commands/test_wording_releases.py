"""Sentences of ``delegate-sim releases``, for people."""

from __future__ import annotations

from tests.support.models import chain_model


def test_changes_that_cannot_be_asked_for(run):
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
