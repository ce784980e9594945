"""Targets of kind micro in a configuration."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from delegate_sim.errors import DelegateSimError
from delegate_sim.gate.check import check_models
from delegate_sim.gate.configuration import ConfigurationError, read_configuration
from delegate_sim.gate.results import FAILED
from delegate_sim.micro import report, resolver
from delegate_sim.results.report.findings import ERROR
from tests.support.micro_models import chain, hybrid
from tests.support.pages import MODELS

BOARD = """\
models = ["*.tflite"]
[targets.board]
kind = "micro"
"""


@pytest.fixture
def check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def check(builder, text=BOARD, **files):
        builder.write(tmp_path / "model.tflite")
        for name, content in files.items():
            (tmp_path / name).write_text(content, encoding="utf-8")
        (tmp_path / "delegate-sim.toml").write_text(text, encoding="utf-8")
        (case,) = check_models(read_configuration("delegate-sim.toml"), (), ()).results.cases
        return case

    return check


def codes(case):
    return [finding.code for finding in case.findings]


def test_a_model_that_runs_passes_without_a_baseline(check):
    assert codes(check(chain("RELU"))) == []


def test_every_refused_node_is_a_finding(check):
    assert codes(check(hybrid())) == ["micro-hybrid"]


def test_weights_outside_the_flatbuffer_are_errors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.tflite").write_bytes((MODELS / "external_buffers.tflite").read_bytes())
    (tmp_path / "delegate-sim.toml").write_text(BOARD, encoding="utf-8")
    (case,) = check_models(read_configuration("delegate-sim.toml"), (), ()).results.cases
    assert (case.status, {(finding.code, finding.level) for finding in case.findings}) == (
        FAILED,
        {("micro-external-buffers", ERROR)},
    )


def test_the_arena_has_a_budget(check):
    assert codes(check(chain("RELU"), f"{BOARD}max-arena = 10\n")) == ["budget-arena"]
    assert codes(check(chain("RELU"), f"{BOARD}max-arena = 100000\n")) == []


def test_the_arena_is_planned_once_for_all_targets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chain("RELU").write("model.tflite")
    targets = [f'[targets.t{limit}]\nkind = "micro"\nmax-arena = {limit}\n' for limit in (1, 2, 100_000)]
    (tmp_path / "delegate-sim.toml").write_text('models = ["*.tflite"]\n' + "".join(targets), encoding="utf-8")
    with patch.object(report, "plan_arena", wraps=report.plan_arena) as planned:
        cases = check_models(read_configuration("delegate-sim.toml"), (), ()).results.cases
    assert [codes(case) for case in cases] == [["budget-arena"], [], ["budget-arena"]]
    assert planned.call_count == 1


def test_the_resolver_of_the_application_counts(check):
    case = check(chain("RELU", "TANH"), f'{BOARD}resolver = "main_cc"\n', main_cc="r.AddRelu();")
    assert codes(case) == ["micro-missing-operator"]


def test_a_large_resolver_is_refused(check, monkeypatch):
    monkeypatch.setattr(resolver, "_LARGEST_SOURCE", 5)
    with pytest.raises(DelegateSimError, match="main_cc"):
        check(chain("RELU"), f'{BOARD}resolver = "main_cc"\n', main_cc="r.AddRelu();")


@pytest.mark.parametrize("line", ['kernels = "xtensa"', "max-arena = -1", 'delegate = "x"', 'resolver = "none.cc"'])
def test_wrong_settings_are_refused(check, line):
    with pytest.raises(ConfigurationError):
        check(chain("RELU"), f"{BOARD}{line}\n")
