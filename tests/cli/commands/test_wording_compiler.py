"""Sentences about a log of the Edge TPU's compiler and about failures, for people."""

from __future__ import annotations

import pytest

from tests.support.edge_tpu import COMPILED, DISPATCH, FAILURE, INVOKE_FAILS, SOURCE, TABLE, edge_tpu_model

NOTHING = (
    "Edge TPU Compiler version 1.0\n\nModel compiled successfully in 1 ms.\n\n"
    "Number of operations that will run on Edge TPU: 0\nNumber of operations that will run on CPU: 9\n"
)


@pytest.mark.parametrize(
    ("log", "nodes", "sentence"),
    [
        (TABLE, SOURCE, "The Edge TPU runs 2 of 4 nodes"),
        (TABLE, SOURCE, "RELU: 2 nodes likely [0-1]"),
        (TABLE, SOURCE, "LOGISTIC: 1 node [2]"),
        (TABLE, SOURCE, "Use edgetpu_compiler -a to map several parts"),
        (TABLE, (COMPILED,), "already compiled for the Edge TPU; give the original model, source.tflite, instead"),
        (FAILURE, SOURCE, "Not compiled: the Edge TPU compiler did not compile the model"),
        (FAILURE, SOURCE, "large activation tensors"),
    ],
)
def test_a_compared_log(run, tmp_path, log, nodes, sentence):
    (tmp_path / "model.tflite").write_bytes(edge_tpu_model(*nodes))
    (tmp_path / "log.txt").write_text(log, encoding="utf-8")
    result = run("reconcile", tmp_path / "model.tflite", "--log", tmp_path / "log.txt", COLUMNS="250")
    assert sentence in " ".join((result.stdout + result.stderr).split())


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        (TABLE, "outcome the model was compiled for this chip; the log shows no run "),
        (TABLE, "Mapped to Edge TPU: RELU 2"),
        (NOTHING, "the compiler mapped no operator to this chip"),
        (
            INVOKE_FAILS,
            "outcome delegated part of the graph: 9 of 11 nodes in 2 partitions, and failed while the model ran "
            "cause NN API returned error",
        ),
        (DISPATCH, "also in the log "),
        (DISPATCH, "not an error by itself"),
    ],
)
def test_an_explained_log(run, tmp_path, log, sentence):
    (tmp_path / "log.txt").write_text(log, encoding="utf-8")
    assert sentence in " ".join(run("explain", "--log", tmp_path / "log.txt").stdout.split())
