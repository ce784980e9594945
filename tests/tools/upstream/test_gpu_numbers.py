"""Conditions for wrong numbers that came or went, from models that were run."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from tests.support.accelerator import live
from tests.support.delegates.mldrift_numbers import model_of
from tools.upstream.gpu_numbers import Conditions, Measured, chosen, main


def measured(is_right, certain=(), possible=(), culprit=""):
    return Measured("a/b.tflite", is_right, frozenset(certain), frozenset(possible), culprit)


@pytest.mark.parametrize(
    ("models", "gone", "new"),
    [
        ([measured(False, ["pad"]), measured(True, ["pad"])], [], 0),
        ([measured(True, ["pad"])], ["pad"], 0),
        ([measured(True, [], ["pow"])], [], 0),
        ([measured(False, [], ["pow"])], [], 0),
        ([measured(False, culprit="ADD 3"), measured(True)], [], 1),
    ],
)
def test_conditions_that_came_or_went(models, gone, new):
    conditions = Conditions()
    for model in models:
        conditions.add(model)
    assert conditions.gone == gone
    assert len(conditions.new) == new
    assert sum(line.startswith(("gone", "new")) for line in conditions.lines()) == len(gone) + new


def test_the_first_models_of_each_folder_are_taken():
    names = ["b/2.tflite", "a/1.tflite", "a/0.tflite", "a/readme.txt", "b/1.tflite"]
    assert chosen(names, 1) == ["a/0.tflite", "b/1.tflite"]


@live
@pytest.mark.slow
def test_the_installed_accelerator(tmp_path, capsys):
    with zipfile.ZipFile(tmp_path / "models.zip", "w") as archive:
        constant = np.arange(15, dtype=np.float32).reshape(3, 5)
        wrong = model_of({"x": (3, 5), "c": constant, "y": (3, 5)}, [("ADD", "x c", "y", {})])
        archive.writestr("add/wrong.tflite", wrong)
    assert main(["--models", str(tmp_path / "models.zip")]) == 0
    assert "mldrift-numbers-elementwise-const-layout | 1 | 0" in capsys.readouterr().out
