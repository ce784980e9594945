"""Functions that take op profiles: the same times as in the JSON of the commands."""

from __future__ import annotations

import json

import pytest

import delegate_sim as sim
from tests.support.op_profiles import write_model_and_profiles

COMMANDS = {
    "analyze": (lambda model, path: sim.analyze(model, "nnapi", defaults="api", op_profile=path), []),
    "diagnose": (lambda model, path: sim.diagnose(model, "nnapi", defaults="api", op_profile=path), []),
    "compare": (
        lambda model, path: sim.compare(model, delegate="nnapi", changed={"feature_level": 27}, defaults="api", op_profile=path),
        ["--with", "feature_level=27"],
    ),
    "whatif": (
        lambda model, path: sim.whatif(model, "nnapi", accept=["ROUND"], defaults="api", op_profile=path),
        ["--accept", "ROUND"],
    ),
}


@pytest.fixture
def files(tmp_path):
    return write_model_and_profiles(tmp_path)


@pytest.mark.parametrize("name", COMMANDS)
def test_results_have_the_times_of_the_command(run_json, files, name):
    model, delegated, _ = files
    call, options = COMMANDS[name]
    result = call(model, delegated)
    arguments = [name, model, "--delegate", "nnapi", *options, "--op-profile", delegated, "--defaults", "api"]
    printed = run_json(*arguments)
    assert json.loads(json.dumps(result.to_dict()))["time"] == printed["time"]
    assert "ROUND on the CPU" in result._repr_html_()
    assert list(result.to_pandas("times")["ms"]) == [6.0, 30.0, 9.0]


@pytest.mark.parametrize("name", COMMANDS)
def test_results_are_unchanged_without_a_profile(files, name):
    model, *_ = files
    result = COMMANDS[name][0](model, ())
    assert "time" not in result.to_dict()
    assert "times" not in result._tables()


def test_a_chain_has_times(files):
    model, delegated, _ = files
    report = sim.simulate(model, [("nnapi", {}), ("xnnpack", {})], defaults="benchmark", op_profile=delegated)
    assert [time["total_ms"] for time in report.to_dict()["time"]] == [45.0]


def test_fix_has_the_times_of_the_command(run_json, files):
    model, *profiles = files
    fixed = sim.fix(model, None, "nnapi", defaults="benchmark", op_profile=profiles)
    arguments = ["fix", model, "--delegate", "nnapi", "--plan"]
    printed = run_json(*arguments, *[part for path in profiles for part in ("--op-profile", path)])
    assert json.loads(json.dumps([time.to_dict() for time in fixed.times])) == printed["time"]
    assert fixed.plan.is_changed
    assert sim.fix(model, None, "nnapi", defaults="benchmark").times == ()


def test_diagnose_ranks_causes_by_measured_time(files):
    model, delegated, _ = files
    found = sim.diagnose(model, "nnapi", defaults="api", op_profile=delegated)
    assert [finding.cause.name for finding in found.findings] == ["operator:ROUND", "operator:GELU"]


def test_a_profile_of_another_model(files, tmp_path):
    _, delegated, _ = files
    with pytest.raises(sim.DelegateSimError, match=r"nnapi.txt: .*is the profile from this model\?"):
        sim.analyze("fixtures/models/quantized_block.tflite", "nnapi", defaults="api", op_profile=delegated)
    with pytest.raises(sim.OptionError, match="op_profile takes a path"):
        sim.analyze(files[0], "nnapi", defaults="api", op_profile=3)
    with pytest.raises(sim.DelegateSimError, match=r"none.txt: No such file"):
        sim.diagnose(files[0], "nnapi", defaults="api", op_profile=tmp_path / "none.txt")
