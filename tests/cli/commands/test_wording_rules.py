"""Sentences of ``delegate-sim rules`` and ``explain``, for people."""

from __future__ import annotations

HEADING = "What the delegate nnapi accepts\n\n"


def test_a_check_that_accepts_at_once_comes_first(run):
    rows = run("rules", "--op", "DEQUANTIZE", COLUMNS="120").stdout.splitlines()
    assert " ".join(rows[4].split()) == (
        "FLOAT16 that is not constant: accepted without further conditions from level 30 nnapi-input-type"
    )


def test_both_sides_of_a_span_of_levels_and_the_accelerator(run):
    lines = run("rules", "--op", "SUB", "--format", "markdown").stdout.splitlines()
    assert any(
        line.startswith("| 3 | input 0 of type FLOAT32 | from level 28, below level 29 | `nnapi-input-type` |") for line in lines
    )
    lines = run("rules", "--op", "MUL", "--format", "markdown").stdout.splitlines()
    assert any(line.startswith("| 1 | version at most 3 | with accelerator | `nnapi-operator-version` |") for line in lines)
    assert any(line.startswith("| 2 | version at most 2 | without accelerator | `nnapi-operator-version` |") for line in lines)


def test_an_operator_that_the_delegate_does_not_take(run):
    result = run("rules", "--op", "GELU")
    assert (result.exit_code, result.stdout) == (0, f"{HEADING}GELU\n  nnapi does not support this operator.\n")


def test_only_options_that_choose_rules_are_taken(run):
    result = run("rules", "--delegate", "vx-nxp", "--option", "error_during_init=true")
    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        result.stderr
        == "error: the rules of vx-nxp do not depend on error_during_init; only release selects another set of rules\n"
    )
    assert run("rules", "--option", "feature_level=29").stderr == "error: the rules of nnapi do not depend on feature_level\n"
    result = run("rules", "--changes", "--delegate", "vx-nxp", "--option", "release=lf-6.6.3")
    assert "--changes does not take --option" in result.stderr


def test_an_unknown_operator_names_near_ones(run):
    result = run("rules", "--op", "conv2d")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "error: there is no operator CONV2D; did you mean CONV_2D, CONV_3D?\n"


def test_an_unknown_code_names_near_ones(run):
    result = run("explain", "nnapi-missing-bia")
    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        result.stderr
        == "error: there is no code nnapi-missing-bia; did you mean nnapi-missing-bias, missing-bias, nnapi-division-by-zero?\n"
    )
