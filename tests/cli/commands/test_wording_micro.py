"""Sentences about TensorFlow Lite Micro, for people."""

from __future__ import annotations

import pytest

from tests.support.micro_models import chain, hybrid, nested_calls
from tests.support.pages import MODELS

RESOLVER = "tflite::MicroMutableOpResolver<1> r;\nr.AddRelu();\nr.AddTanh();\n"


@pytest.mark.parametrize(
    ("arguments", "model", "sentence"),
    [
        (("micro",), chain("RELU", "LOGISTIC"), "TensorFlow Lite Micro runs all nodes (2) in 1 graph "),
        (("micro",), hybrid(), "The model does not run, and TensorFlow Lite Micro takes no node: 1 node cannot be prepared"),
        (("micro",), "external_buffers", "computes 2 of them wrongly"),
        (("micro",), b"TFL9", "the identifier of the file is b'TFL9', not b'TFL3'."),
        (("micro", "--resolver", "main.cc"), chain("RELU", "LOGISTIC"), "Registered but not needed by this model: TANH"),
        (
            ("micro", "--resolver", "main.cc"),
            chain("RELU", "LOGISTIC"),
            "registers 2 operators, but the resolver has room for 1",
        ),
        (("diagnose", "--micro"), chain("GELU"), "the pass gelu-by-exponential of fix rewrites the file"),
        (("diagnose", "--kernels", "cmsis-nn"), chain("RELU"), "it is an option of micro: give --micro --kernels VALUE"),
        (("diagnose", "--micro"), chain("GELU"), "does not run -> runs"),
        (("micro",), chain("RELU", kind="INT32"), "use other types in the model's code"),
        (
            ("micro",),
            nested_calls(1, "INT32"),
            "may fail while it runs the model: it takes 50 % of nodes; 1 RELU",
        ),
        (("fix", "--micro", "--plan"), chain("GELU"), "rewritten, 100 % of nodes"),
        (("fix", "--micro", "--plan"), chain("RELU"), "Nothing to fix: all nodes are accepted"),
        (("fix", "--micro", "--plan"), chain(), "The model has no nodes"),
        (("micro",), chain("RELU"), "Simulated: tflite-micro 0.dev20261023"),
        (("micro", "--runtime", "2024-05-01"), chain("RELU"), "not checked for tflite-micro 0.dev20240501"),
    ],
)
def test_a_sentence(run, tmp_path, monkeypatch, arguments, model, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.cc").write_text(RESOLVER, "utf-8")
    path = tmp_path / "model.tflite"
    if isinstance(model, str):
        path = MODELS / f"{model}.tflite"
    elif isinstance(model, bytes):
        content = chain("RELU").bytes()
        path.write_bytes(content[:4] + model + content[8:])
    else:
        model.write(path)
    command, *options = arguments
    result = run(command, path, *options, COLUMNS="200")
    assert sentence in " ".join((result.stdout + result.stderr).split())
