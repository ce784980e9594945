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
    result = run("diagnose", model, "--delegate", "nnapi", "--android", "11", "--android", "13")
    assert result.exit_code == 2
    assert (
        "--android has two values, 11 and 13; delegate-sim compare MODEL --android 11 --android 13 compares them" in result.stderr
    )
    assert run("compare", model, "--android", "11", "--with", "android=13").exit_code == 0


def test_several_values_of_a_flag_are_compared(run, model):
    both = ("--delegate", "nnapi", "--android", "11", "--android", "13")
    assert run("compare", model, *both).stdout == run("compare", model, *both[:4], "--with", "android=13").stdout
    rows = [line.split()[:3] for line in run("analyze", model, *both).stdout.splitlines()]
    assert ["nnapi", "11", "delegated"] in rows
    assert ["nnapi", "13", "delegated"] in rows
    assert "give --android at most twice" in run("compare", model, *both, "--android", "12").stderr
    levels = ("--feature-level", "27", "--feature-level", "30")
    assert "only one option may have several values" in run("analyze", model, *both, *levels).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("analyze", "--delegate", "gpu", "--android", "11"),
            "no option --android here; it is an option of nnapi: give ",
        ),
        (("analyze", "--delegate", "gpu", "--option", "android=11"), "gpu has no option 'android'; it is an option of nnapi: "),
        (("diagnose", "--soc", "pixel10"), "npu-samsung: give --delegate npu-google --option soc=VALUE (see"),
        (
            ("compare", "--delegate", "npu-intel", "--soc", "LNL"),
            "give --delegate npu-intel --option soc=VALUE (see",
        ),
        (("analyze", "--delegate", "nnpai"), "there is no delegate 'nnpai'; did you mean nnapi, "),
        (("analyze", "--runtime", "2.15"), "there is no runtime '2.15'; did you mean tf-2.15? (the runtimes are tf-2.10, "),
    ],
)
def test_an_option_or_a_name_of_another_delegate(run, model, arguments, message):
    result = run(*arguments, model)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_value_may_be_repeated(run, model):
    once = run("analyze", model, "--delegate", "nnapi", "--android", "11")
    assert run("analyze", model, "--delegate", "nnapi", "--android", "11", "--nnapi-runtime", "11").stdout == once.stdout
