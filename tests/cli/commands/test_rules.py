from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.apps.manifest import CODES as APP
from delegate_sim.delegates.ahead_of_time import EXPLAINED as VELA
from delegate_sim.delegates.neutron import RULES
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.diagnosis.causes.change import SUGGESTIONS
from delegate_sim.gate import GATE
from delegate_sim.micro.target import EXPLAINED
from delegate_sim.model import schema
from delegate_sim.results.accuracy import accuracy
from delegate_sim.rules.kinds import RUNTIME_KINDS
from delegate_sim.versions.explanation import FEATURES

CONV_2D = """\
What the delegate nnapi accepts

CONV_2D
      needs                           when            code
  1   version at most 5                               nnapi-operator-version
  2   operands that are all float or  below level 29  nnapi-hybrid
      all quantized
  3   input 0 of type FLOAT32 or      below level 29  nnapi-input-type
      UINT8
  4   weights with one scale          below level 29  nnapi-per-channel
  5   an output scale above input     below level 29  nnapi-restricted-scales
      scale * weight scale
  6   3 inputs                                        nnapi-missing-bias
  7   dilation 1                      below level 29  nnapi-operand-value
  8   the same number of input        below level 29  nnapi-operand-value
      channels and filter channels
  source: tflite/delegates/nnapi/nnapi_delegate.cc#L2490-L2533:
    NNAPIDelegateKernel::Validate
  source: tflite/delegates/nnapi/nnapi_delegate.cc#L2155-L2160:
    ExpectMaxOpVersion
  source: tflite/delegates/nnapi/nnapi_delegate.cc#L386-L432: IsHybridOperator
  source: tflite/delegates/nnapi/nnapi_delegate.cc#L2178-L2185:
    ExpectIsFloatOrUint8Operator
  source: tflite/delegates/nnapi/nnapi_delegate.cc#L2220-L2234:
    ExpectIsRestrictedScalesCompliant
"""

MISSING_BIAS = """\
nnapi-missing-bias: CONV_2D without bias

The delegate supports CONV_2D only with a bias operand.

What to do: Give the node the operand, for example a bias of zeros.

Delegate nnapi
  needs 3 inputs
      CONV_2D
  source: tflite/delegates/nnapi/nnapi_delegate.cc#L2490-L2533:
    NNAPIDelegateKernel::Validate
"""

DYNAMIC_TENSORS = """\
dynamic-tensors: dynamic-sized tensor in the graph

CPU kernels compute the sizes of tensors before a delegate is applied. If the
size of a tensor is known only at run time, the runtime applies only delegates
that declare support for dynamic-sized tensors.

What to do: Fix the shapes of the model before converting it, so that everything
that determines shapes becomes constant. The report names the dynamic tensor,
the node that computes it, and the operand to make constant, if there is one.

Applies to every delegate.
"""

CODE_POSITIONS = {"Reason": 0, "Finding": 0, "Regression": 0, "Check": 0, "Refusal": 0, "kernel_failure": 0}
"""The position of the code in the calls that make one."""


def known_codes():
    return {
        *(kind.name for kind in RUNTIME_KINDS),
        *GATE,
        *FEATURES,
        *SUGGESTIONS,
        *EXPLAINED,
        *VELA,
        *APP,
        *(code for name in DELEGATE_NAMES for code in find_delegate(name).kinds),
    }


def codes_in_sources():
    package = Path(delegate_sim.__file__).parent
    texts = [path.read_text() for path in set(package.rglob("*.py")).difference((package / "nnapi_runtime").rglob("*.py"))]
    with_codes = re.compile(rf"\b({'|'.join(CODE_POSITIONS)})\(")
    for text in filter(with_codes.search, texts):
        for call in ast.walk(ast.parse(text)):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in CODE_POSITIONS:
                code = call.args[CODE_POSITIONS[call.func.id] :][:1]
                if code and isinstance(code[0], ast.Constant):
                    yield code[0].value


def test_text_of_one_operator(run):
    assert run("rules", "--op", "CONV_2D").stdout == CONV_2D


@pytest.mark.parametrize("spelling", ["conv_2d", "Conv-2D"])
def test_operators_are_found_however_they_are_written(run, spelling):
    assert run("rules", "--op", spelling).stdout == CONV_2D


@pytest.mark.parametrize("name", [name for name in DELEGATE_NAMES if len(find_delegate(name).rule_options) == 1])
def test_options_choose_the_rules(run, name):
    delegate = find_delegate(name)
    values = {
        "vx-nxp": ["lf-6.6.3", "lf-5.15.71"],
        "neutron-imx95": list({book: release for release, book in reversed(RULES.items())}.values())[::-1],
    }
    (option,) = delegate.rule_options
    for value, book in zip(values[name], delegate.rule_books, strict=True):
        given = ("--delegate", name, "--option", f"{option}={value}")
        data = json.loads(run("rules", *given, "--format", "json").stdout)
        assert str(data["options"][option]).lower() == value
        assert [(entry["op"], [check["needed"] for check in entry["checks"]]) for entry in data["operators"]] == [
            (op, [check.needed for check in rule.checks]) for op, rule in sorted(book.rules.items())
        ]
        for form in ("text", "markdown"):
            said = f"for --option {option}={value}. Other values"
            assert said in " ".join(run("rules", *given, "--op", "MEAN", "--format", form).stdout.replace("\\", "").split())


@pytest.mark.parametrize("name", DELEGATE_NAMES)
def test_rules_are_chosen_by_options_where_there_are_several(name):
    delegate = find_delegate(name)
    assert bool(delegate.rule_options) == (len(delegate.rule_books) > 1)
    assert {option.name for option in delegate.options}.issuperset(delegate.rule_options)


def test_markdown_ends_with_the_codes(run):
    text = run("rules", "--format", "markdown").stdout
    assert text.startswith("# What the delegate nnapi accepts\n")
    assert (
        "\n## ADD\n\n| | needs | when | code | source |\n|---|---|---|---|---|\n"
        "| 1 | version at most 2 |  | `nnapi-operator-version` "
        "| [`ExpectMaxOpVersion`][nnapi_delegate.cc#L2155-L2160@f67457790] |" in text
    )
    assert " \\* weight scale | below level 29 | `nnapi-restricted-scales` | " in text
    for code, explanation in find_delegate("nnapi").kinds.items():
        assert f"\n## {code}\n\n*{explanation.title}.* " in text
    assert "# Codes" not in run("rules", "--op", "ADD", "--format", "markdown").stdout


def test_explain_a_code_of_a_delegate(run):
    assert run("explain", "nnapi-missing-bias").stdout == MISSING_BIAS


def test_explain_a_code_of_the_runtime(run):
    assert run("explain", "dynamic-tensors").stdout == DYNAMIC_TENSORS


@pytest.mark.slow
def test_explain_every_code(run):
    for code in known_codes():
        result = run("explain", code, COLUMNS="10000")
        assert result.exit_code == 0
        assert result.stdout.startswith(f"{code}: ")
        concerns = (
            "Delegate ",
            "Applies to every delegate.",
            "A feature that raises the version of an operator.",
            "Reported about ",
        )
        assert any(words in result.stdout for words in concerns)


def test_explain_as_json(run_json):
    every = run_json("explain")["codes"]
    (only,) = run_json("explain", "nnapi-missing-bias")["codes"]
    assert only in every
    assert only["title"] == "CONV_2D without bias"


def test_explain_without_a_code_lists_all(run):
    assert [line.split()[0] for line in run("explain", COLUMNS="200").stdout.splitlines()] == sorted(known_codes())


@pytest.mark.slow
def test_every_code_that_a_report_can_have_is_explained():
    assert set(codes_in_sources()) - known_codes() == set()


def test_every_builtin_operator_can_be_asked_for(run):
    for op in schema.enum_names("BuiltinOperator").values():
        assert run("rules", "--op", op, "--format", "json").exit_code == 0


def test_the_rules_of_tensorflow_lite_micro(run, run_json):
    text = run("rules", "--micro", "--op", "arg-max", COLUMNS="200").stdout
    assert text.startswith("What TensorFlow Lite Micro accepts\n\nARG_MAX\n")
    assert "arg_min_max.cc" in text
    (entry,) = run_json("rules", "--micro", "--op", "ABS")["operators"]
    assert "Invoke" in entry["checks"][-1]["when"][0]
    assert run("rules", "--delegate", "micro", "--op", "arg-max", COLUMNS="200").stdout == text
    result = run("rules", "--micro", "--delegate", "gpu")
    assert (result.exit_code, "--micro takes none of" in result.stderr) == (2, True)


def test_the_rules_of_a_device(run, run_json):
    assert run_json("rules", "--device", "imx8mp")["delegate"] == "vx-nxp"
    assert run("rules", "--device", "imx8mp", "--op", "ADD").stdout.startswith("i.MX 8M Plus: vx-nxp\n")
    for others in (("--delegate", "gpu"), ("--micro",), ("--device", "pixel10")):
        assert run("rules", "--device", "imx8mp", *others).exit_code == 2


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_the_agreement_with_records_is_shown_with_the_differences(run, form):
    result = run("rules", "--accuracy", "--format", form)
    assert result.exit_code == 0
    for part in accuracy().targets[0].agreement:
        assert (f"{part.compared:,}" if form != "json" else f'"compared": {part.compared}') in result.stdout


def test_the_agreement_is_of_all_targets(run):
    assert run("rules", "--accuracy", "--delegate", "gpu").exit_code == 2
