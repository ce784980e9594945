"""Flags of delegates."""

from __future__ import annotations

import pytest

from tests.support.gate_models import classifier


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.tflite"
    classifier().write(path)
    return path


def test_two_values_of_a_flag_are_refused_with_the_command_that_compares_them(run, model):
    result = run("analyze", model, "--delegate", "nnapi", "--android", "11", "--android", "13")
    assert result.exit_code == 2
    assert (
        "--android has two values, 11 and 13; delegate-sim compare MODEL --android 11 --with android=13 compares them"
        in result.stderr
    )
    assert run("compare", model, "--android", "11", "--with", "android=13").exit_code == 0


def test_a_value_may_be_repeated(run, model):
    once = run("analyze", model, "--delegate", "nnapi", "--android", "11")
    assert run("analyze", model, "--delegate", "nnapi", "--android", "11", "--nnapi-runtime", "11").stdout == once.stdout
