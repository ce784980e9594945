"""A check of several models, as Python callers see it."""

from __future__ import annotations

import json
import os

import pytest

from delegate_sim.gate import check
from delegate_sim.gate.check import Update, check_models
from delegate_sim.gate.configuration import ConfigurationError, read_configuration
from delegate_sim.gate.results import FAILED, PASSED
from delegate_sim.gate.targets import LiveCheck
from delegate_sim.results.report.findings import ERROR, Finding
from tests.support.gate_models import classifier, reshaper, upsampler
from tests.support.models import chain_model

CONFIGURATION = """\
models = ["*.tflite"]
[targets.phone]
delegate = "nnapi"
[targets.tablet]
delegate = "xnnpack"
models = ["u*.tflite"]
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Write models and a configuration; ``project`` checks them."""
    monkeypatch.chdir(tmp_path)
    classifier().write(tmp_path / "classifier.tflite")
    upsampler().write(tmp_path / "upsampler.tflite")
    (tmp_path / "delegate-sim.toml").write_text(CONFIGURATION, encoding="utf-8")

    def checked(paths=(), targets=(), **arguments):
        return check_models(read_configuration("delegate-sim.toml"), paths, targets, **arguments)

    return checked


def places(checked):
    return [(case.model, case.target) for case in checked.results.cases]


def notes(checked):
    return {(case.model, case.target): case.notes for case in checked.results.cases}


ALL = [("classifier.tflite", "phone"), ("upsampler.tflite", "phone"), ("upsampler.tflite", "tablet")]


def test_cases_are_in_the_order_of_models_and_targets(project):
    assert places(project(update=True)) == places(project()) == ALL


def test_targets_apply_to_the_models_of_their_patterns(project):
    assert places(project(targets=["tablet"], update=True)) == [("upsampler.tflite", "tablet")]
    with pytest.raises(ConfigurationError, match=r"no selected target applies to classifier\.tflite"):
        project(["classifier.tflite"], ["tablet"])


def test_an_unknown_target_is_named_with_the_known_ones(project):
    with pytest.raises(ConfigurationError, match=r"there is no target 'desk'; the targets are phone, tablet$"):
        project(targets=["desk"])


def test_each_model_is_announced_before_it_is_run(project):
    told = []
    project(update=True, begins=lambda *what: told.append(what))
    assert told == [(1, 2, "classifier.tflite"), (2, 2, "upsampler.tflite")]


def test_a_path_that_is_given_twice_is_checked_once(project):
    project(update=True)
    assert places(project(["classifier.tflite", "./classifier.tflite"])) == [("classifier.tflite", "phone")]


def test_an_update_counts_what_it_did(project, tmp_path):
    assert project(update=True).update == Update(3, 0, 0, True)
    assert project(update=True).update == Update(0, 0, 0, False)
    classifier(9).write(tmp_path / "classifier.tflite")
    reshaper().write(tmp_path / "reshaper.tflite")
    assert project(update=True).update == Update(1, 1, 0, True)
    (tmp_path / "reshaper.tflite").unlink()
    assert project(prune=True).update == Update(0, 0, 1, True)
    assert project().update is None


def test_a_baseline_that_nothing_can_be_worse_than_is_warned_of(project, tmp_path):
    chain_model(["ROUND"]).write(tmp_path / "round.tflite")
    found = notes(project(update=True))
    assert found["round.tflite", "phone"][0].startswith("the delegate takes no node")
    assert not any("takes no node" in note for note in found["classifier.tflite", "phone"])


def test_a_model_without_nodes_is_not_warned_of(project, tmp_path):
    chain_model([]).write(tmp_path / "empty.tflite")
    assert not any("takes no node" in note for note in notes(project(update=True))["empty.tflite", "phone"])


def test_a_dynamic_model_that_a_delegate_refuses_gets_the_command_for_rewrites(project, tmp_path):
    upsampler().write(tmp_path / "classifier.tflite")
    project(["classifier.tflite"], update=True)
    reshaper(is_dynamic=True).write(tmp_path / "classifier.tflite")
    (case,) = project(["classifier.tflite"]).results.cases
    assert [finding.code for finding in case.findings if finding.level == ERROR and finding.hint] == ["dynamic-tensors"]
    assert any("delegate-sim fix classifier.tflite --delegate nnapi --plan" in note for note in case.notes)


def test_a_missing_entry_fails_before_anything_else_is_said(project):
    (case,) = project(["classifier.tflite"]).results.cases
    assert (case.status, [finding.code for finding in case.findings]) == ("failed", ["no-baseline-entry"])
    assert case.findings[0].hint == "delegate-sim check --update classifier.tflite"


def stale(checked):
    return {
        (case.model, case.target): case.findings[0].message
        for case in checked.results.cases
        if [finding.code for finding in case.findings] == ["no-model-for-entry"]
    }


def test_an_entry_without_its_place_says_why(project, tmp_path):
    project(update=True)
    (tmp_path / "upsampler.tflite").unlink()
    gone = "the baseline has an entry, but the model does not exist"
    assert stale(project()) == {("upsampler.tflite", "phone"): gone, ("upsampler.tflite", "tablet"): gone}
    upsampler().write(tmp_path / "upsampler.tflite")
    text = CONFIGURATION.replace("u*.tflite", "x*.tflite")
    (tmp_path / "delegate-sim.toml").write_text(text, encoding="utf-8")
    found = stale(project())
    assert list(found) == [("upsampler.tflite", "tablet")]
    assert "this target to the model" in found["upsampler.tflite", "tablet"]
    (tmp_path / "delegate-sim.toml").write_text(CONFIGURATION.replace("tablet", "desk"), encoding="utf-8")
    found = stale(project())
    assert list(found) == [("upsampler.tflite", "tablet")]
    assert "name this target" in found["upsampler.tflite", "tablet"]


@pytest.mark.parametrize("name", ["../outside", "{outside}", "//server/share/m.tflite", "\\\\server\\share", "link/outside"])
def test_an_entry_tells_nothing_about_files_outside_the_folder(project, tmp_path, monkeypatch, name):
    project(update=True)
    outside = tmp_path.parent / "outside"
    outside.write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path.parent)
    name, baseline = name.format(outside=outside), tmp_path / "delegate-sim-baseline.json"
    baseline.write_text(baseline.read_text("utf-8").replace('"upsampler.tflite"', json.dumps(name)), "utf-8")
    (tmp_path / "upsampler.tflite").unlink()
    asked = []
    monkeypatch.setattr(os.path, "isfile", lambda path, ask=os.path.isfile: asked.append(path) or ask(path))
    message = "the baseline has an entry, but the model is outside the folder of the configuration"
    checked = project()
    assert stale(checked) == {(name, "phone"): message, (name, "tablet"): message}
    assert {case.path for case in checked.results.cases if case.model == name} == {"delegate-sim-baseline.json"}
    assert not [path for path in asked if os.path.basename(path) == os.path.basename(name)]


def test_entries_of_targets_that_were_not_chosen_are_no_concern(project, tmp_path):
    project(update=True)
    (tmp_path / "upsampler.tflite").unlink()
    (tmp_path / "uppercase.tflite").write_bytes((tmp_path / "classifier.tflite").read_bytes())
    assert set(stale(project(targets=["tablet"]))) == {("upsampler.tflite", "tablet")}


def test_an_entry_without_its_place_keeps_what_it_says(project, tmp_path):
    project(update=True)
    before = {(case.model, case.target): case.measures for case in project().results.cases}
    (tmp_path / "upsampler.tflite").unlink()
    for case in project().results.cases[1:]:
        assert (case.status, case.measures, case.path) == ("failed", None, "upsampler.tflite")
        assert case.baseline == before[case.model, case.target]


def test_a_configuration_that_matches_nothing_is_an_error(project, tmp_path):
    text = CONFIGURATION.replace("*.tflite", "*.lite")
    (tmp_path / "delegate-sim.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"no file matches \*\.lite, so there is nothing to check"):
        project()
    (tmp_path / "delegate-sim.toml").write_text('[targets.t]\ndelegate = "gpu"\n', encoding="utf-8")
    with pytest.raises(ConfigurationError, match="names no model, so there is nothing to check"):
        project()


def test_entries_can_be_removed_where_no_model_is_left(project, tmp_path):
    project(update=True)
    (tmp_path / "upsampler.tflite").unlink()
    (tmp_path / "classifier.tflite").unlink()
    assert project(prune=True).update == Update(0, 0, 3, True)


@pytest.mark.parametrize("arguments", [{"update": True}, {"prune": True}])
def test_without_a_baseline_there_is_none_to_write(project, tmp_path, arguments):
    (tmp_path / "delegate-sim.toml").write_text(f"baseline = false\n{CONFIGURATION}", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="baseline = false, so there is no baseline to write"):
        project(**arguments)


def test_an_error_of_the_program_is_one_models_alone(project, monkeypatch):
    from delegate_sim.gate import check

    def fail(model, target, cache):
        if len(model.subgraphs[0].nodes) == 3:
            raise ZeroDivisionError("by nothing")
        return run_target(model, target, cache)

    run_target = check.run_target
    monkeypatch.setattr(check, "run_target", fail)
    checked = project(update=True, fault=lambda error: f"oops, {error}")
    found = {(case.model, case.target): (case.status, [each.code for each in case.findings]) for case in checked.results.cases}
    assert found["classifier.tflite", "phone"] == ("passed", [])
    assert found["upsampler.tflite", "phone"] == ("unreadable", ["internal-error"])
    (finding,) = checked.results.cases[1].findings
    assert finding.message == "upsampler.tflite: oops, by nothing"
    assert checked.update == Update(1, 0, 0, True)


# Beside the real delegates


@pytest.fixture
def live(monkeypatch):
    """Have the real delegate of the target ``tablet`` find what ``live`` is set to."""

    class Live:
        found = LiveCheck()

    def is_tablet(target):
        return target.delegate.name == "xnnpack"

    monkeypatch.setattr(check, "can_run", is_tablet)
    monkeypatch.setattr(check, "check_live", lambda model, target: Live.found if is_tablet(target) else LiveCheck())
    return Live


def test_a_real_delegate_that_agrees_adds_its_note(project, live):
    project(update=True)
    live.found = LiveCheck(notes=("a note",))
    checked = project(live=True)
    assert {case.status for case in checked.results.cases} == {"passed"}
    assert notes(checked)["upsampler.tflite", "tablet"] == ("a note",)
    assert checked.live_reports == ()


def test_a_real_delegate_that_differs_fails_the_case_and_is_reported(project, live):
    project(update=True)
    live.found = LiveCheck((Finding("live-differs", ERROR, "it differs"),), report={"what": "differs"})
    checked = project(live=True)
    found = {(case.model, case.target): (case.status, [each.code for each in case.findings]) for case in checked.results.cases}
    assert found["upsampler.tflite", "tablet"] == ("failed", ["live-differs"])
    assert {status for place, (status, _) in found.items() if place[1] == "phone"} == {"passed"}
    assert checked.live_reports == ({"what": "differs"},)
    assert {case.status for case in project().results.cases} == {"passed"}, "only if it is asked for"


def test_targets_of_which_none_can_be_run_live_are_an_error(project, live):
    project(update=True)
    with pytest.raises(ConfigurationError, match="none of the targets can run live"):
        project(["classifier.tflite"], ["phone"], live=True)


def test_a_command_lists_a_limited_number_of_findings(tmp_path, monkeypatch, project):
    """Beyond the limit, each case lists the first finding of each code, so it still fails, and can still be ignored."""
    monkeypatch.setattr(check, "_MOST_FINDINGS", 10)
    for name in "abc":
        chain_model(["ROUND"] * 6).write(tmp_path / f"{name}.tflite")
    targets = "".join([f'[targets.t{number}]\ndelegate = "nnapi"\n' for number in range(4)])
    budgets = 'baseline = false\n[budgets]\nforbid-fallback-ops = ["ROUND"]\n'
    (tmp_path / "delegate-sim.toml").write_text(f'models = ["?.tflite"]\n{budgets}{targets}', encoding="utf-8")
    cases = project().results.cases
    assert [case.status for case in cases] == [FAILED] * 12
    assert [len(case.findings) for case in cases] == [6, 4, *[1] * 10]
    raises = "DELEGATE_SIM_LIMITS=10 raises every limit tenfold"
    left_out = [f"2 more findings left out; {raises}", *[f"5 more findings left out; {raises}"] * 10]
    notes = [[note for note in case.notes if "delegate-sim fix" not in note] for case in cases]
    assert notes == [[], *[[note] for note in left_out]]
    assert [len(case.notes) - len(own) for case, own in zip(cases, notes, strict=True)] == [1] * 12
    with (tmp_path / "delegate-sim.toml").open("a", encoding="utf-8") as file:
        file.write('[[ignore]]\ncode = "budget-fallback-op"\nreason = "known"\n')
    assert {case.status for case in project().results.cases} == {PASSED}
