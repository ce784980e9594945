"""``delegate-sim check`` and ``init`` in a scratch repository with three models."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from delegate_sim.gate import check as gate_check
from fixtures.bundles import zip_bytes
from tests.support.gate_models import accept_again, classifier, make_worse, restore, upsampler
from tests.support.models import chain_model

CONFIGURATION = "delegate-sim.toml"
BASELINE = "delegate-sim-baseline.json"


def checked(run, *arguments):
    """The JSON of a check."""
    return json.loads(run("check", *arguments, "--format", "json").stdout)


def statuses(run, *arguments):
    """The number of cases of a check with each status."""
    return {status: number for status, number in checked(run, *arguments)["counts"].items() if number}


def case_of(found, model, target="nnapi"):
    return next(case for case in found["cases"] if (case["model"], case["target"]) == (f"models/{model}.tflite", target))


def findings_of(case):
    """The code, level and node of each finding."""
    return {(finding["code"], finding["level"], finding["location"]["node"]) for finding in case["findings"]}


def test_a_repository_from_init_to_a_failure_and_back(repository, run):
    assert run("init", "--delegate", "nnapi").exit_code == 0
    assert run("check").exit_code == 1
    assert run("check", "--update").exit_code == 0
    assert len(json.loads((repository / BASELINE).read_text("utf-8"))["entries"]) == 3
    assert (run("check").exit_code, statuses(run)) == (0, {"passed": 3})
    make_worse(repository)
    assert (run("check").exit_code, statuses(run)) == (1, {"failed": 3})
    accept_again(repository)
    assert (run("check").exit_code, statuses(run)) == (0, {"passed": 3})


@pytest.mark.parametrize("form", ["json", "markdown", "github", "sarif", "junit", "gitlab", "csv"])
def test_the_explanation_in_every_format(gated, run, form):
    make_worse(gated)
    result = run("check", "--format", form)
    assert result.exit_code == 1
    text = result.stdout.replace("\\", "")
    for part in (
        "version 9; needs version at most 5",
        "RESIZE_NEAREST_NEIGHBOR",
        "is not constant; 3 nodes fall back for this reason",
    ):
        assert part in text or part.replace(">", "&gt;") in text, part


def test_reports_are_written_beside_the_format(gated, run):
    make_worse(gated)
    reports = {form: f"out.{form}" for form in ("text", "json", "markdown", "github", "sarif", "junit", "gitlab", "csv")}
    arguments = [argument for form, path in reports.items() for argument in ("--report", f"{form}={path}")]
    result = run("check", "--format", "csv", *arguments)
    assert result.exit_code == 1
    for form, path in reports.items():
        assert (gated / path).read_text(encoding="utf-8") == run("check", "--format", form).stdout, form


def test_json_says_what_text_says(gated, run):
    make_worse(gated)
    entry = json.loads(run("check", "--format", "json").stdout)
    assert (entry["schema"], entry["passed"]) == ("delegate-sim/check/2", False)
    assert entry["counts"] == {"passed": 0, "better": 0, "failed": 3, "unreadable": 0}
    case = entry["cases"][0]
    assert (case["model"], case["target"], case["status"]) == ("models/classifier.tflite", "nnapi", "failed")
    assert (case["baseline"]["partitions"], case["measures"]["partitions"]) == (1, 3)
    assert case["findings"][0]["location"] == {
        "subgraph": 0, "subgraph_name": "main", "node": 1, "op": "FULLY_CONNECTED", "name": "v2/left",
    }  # fmt: skip


def test_fingerprints_survive_renumbering(gated, run):
    def fingerprints(swapped):
        classifier(9, swapped=swapped).write(gated / "models" / "classifier.tflite")
        case = json.loads(run("check", "--format", "json").stdout)["cases"][0]
        return {finding["code"]: finding["fingerprint"] for finding in case["findings"]}

    before, after = fingerprints(swapped=False), fingerprints(swapped=True)
    assert before.keys() < after.keys(), "one more delegate kernel"
    assert before == {code: after[code] for code in before}


def test_github_summary(gated, run, monkeypatch):
    make_worse(gated)
    summary = gated / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    lines = run("check", "--format", "github").stdout.splitlines()
    assert len([line for line in lines if line.startswith("::error ")]) <= 10
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert "models/reshaper.tflite" in text


def test_better_passes_until_the_baseline_is_updated(gated, run):
    classifier(9).write(gated / "models" / "classifier.tflite")
    assert run("check", "--update", "models/classifier.tflite").exit_code == 0
    restore(gated)
    assert (run("check").exit_code, statuses(run)) == (0, {"passed": 2, "better": 1})
    case = case_of(checked(run), "classifier")
    assert (case["status"], case["baseline"]["partitions"], case["measures"]["partitions"]) == ("better", 2, 1)
    assert run("check", "--update").exit_code == 0
    assert statuses(run) == {"passed": 3}


def test_the_same_model_in_another_order_under_other_names_passes(gated, run):
    classifier(names="v2/", swapped=True).write(gated / "models" / "classifier.tflite")
    assert (run("check").exit_code, statuses(run)) == (0, {"passed": 3})
    entry = next(one for one in json.loads((gated / BASELINE).read_text("utf-8"))["entries"] if "classifier" in one["model"])
    case = case_of(checked(run), "classifier")
    assert (case["sha256"] == entry["sha256"], case["measures"]) == (False, case["baseline"])


def test_rules_that_changed_are_told_from_a_model_that_changed(gated, run, monkeypatch):
    baseline = gated / BASELINE
    text = baseline.read_text(encoding="utf-8")
    # As a tool would have written it whose rules took the node of the classifier that is refused now.
    classifier(9).write(gated / "models" / "classifier.tflite")
    run("check", "--update", "models/classifier.tflite")
    content = json.loads(baseline.read_text(encoding="utf-8"))
    for entry in content["entries"]:
        if entry["model"] == "models/classifier.tflite":
            entry.update(rule_set="000000000000", tool="0.0.9", delegated_nodes=4, partitions=1, delegate_kernels=1, fallback=[])
    baseline.write_text(json.dumps(content), encoding="utf-8")
    assert run("check").exit_code == 1
    case = case_of(checked(run), "classifier")
    assert ("nnapi-operator-version", "error", 0) in findings_of(case)
    assert "rule set 000000000000" in case["notes"][0]
    baseline.write_text(text.replace('"rule_set": "', '"rule_set": "f'), encoding="utf-8")
    assert "rule set f" in case_of(checked(run), "classifier")["notes"][0]


def test_an_update_writes_only_what_was_run(gated, run):
    before = json.loads((gated / BASELINE).read_text(encoding="utf-8"))
    make_worse(gated)
    assert run("check", "--update", "models/reshaper.tflite").exit_code == 0
    after = json.loads((gated / BASELINE).read_text(encoding="utf-8"))
    changed = [new["model"] for old, new in zip(before["entries"], after["entries"], strict=True) if old != new]
    assert changed == ["models/reshaper.tflite"]
    assert run("check", "models/reshaper.tflite").exit_code == 0
    assert run("check").exit_code == 1


def test_an_entry_without_a_model_fails_until_it_is_dropped(gated, run):
    (gated / "models" / "upsampler.tflite").unlink()
    assert run("check").exit_code == 1
    (finding,) = case_of(checked(run), "upsampler")["findings"]
    assert (finding["code"], finding["hint"]) == ("no-model-for-entry", "delegate-sim check --prune")
    assert run("check", "models/reshaper.tflite").exit_code == 0, "only what was asked for counts"
    assert run("check", "--update").exit_code == 1, "an update does not drop what was not run"
    assert run("check", "--prune").exit_code == 0
    assert "upsampler" not in (gated / BASELINE).read_text(encoding="utf-8")
    assert run("check").exit_code == 0


def test_an_entry_whose_target_is_gone(gated, run):
    configuration = gated / CONFIGURATION
    text = configuration.read_text(encoding="utf-8").replace("[targets.nnapi]", "[targets.other]")
    configuration.write_text(text, encoding="utf-8")
    result = run("check")
    assert result.exit_code == 1
    codes = {(case["target"], finding["code"]) for case in checked(run)["cases"] for finding in case["findings"]}
    assert codes == {("nnapi", "no-model-for-entry"), ("other", "no-baseline-entry")}
    assert run("check", "--update", "--prune").exit_code == 0
    assert run("check").exit_code == 0


def test_budgets_hold_whatever_the_baseline_says(gated, run):
    make_worse(gated)
    with (gated / CONFIGURATION).open("a", encoding="utf-8") as file:
        file.write(
            "[budgets]\nmax-partitions = 2\nmax-fallback = 2\nmin-delegated-share = 0.5\n"
            'forbid-fallback-ops = ["FULLY_CONNECTED"]\n'
        )
    result = run("check", "--update")
    assert result.exit_code == 1
    found = checked(run)
    budgets = {
        (case["model"], *finding) for case in found["cases"] for finding in findings_of(case) if finding[0].startswith("budget-")
    }
    assert budgets == {
        ("models/classifier.tflite", "budget-partitions", "error", None),
        ("models/classifier.tflite", "budget-fallback-op", "error", 1),
        ("models/upsampler.tflite", "budget-partitions", "error", None),
        ("models/reshaper.tflite", "budget-fallback", "error", None),
        ("models/reshaper.tflite", "budget-delegated-share", "error", None),
    }


def test_budgets_without_a_baseline(gated, run):
    (gated / BASELINE).unlink()
    configuration = gated / CONFIGURATION
    configuration.write_text("baseline = false\n" + configuration.read_text(encoding="utf-8"), encoding="utf-8")
    assert run("check").exit_code == 0
    assert run("check", "--update").exit_code == 2
    assert not (gated / BASELINE).exists()


def test_a_tolerance_allows_what_it_says(gated, run):
    classifier(9).write(gated / "models" / "classifier.tflite")
    with (gated / CONFIGURATION).open("a", encoding="utf-8") as file:
        file.write(
            '[budgets.tolerance]\npartitions = 2\ndelegate-kernels = "100 %"\nfallback-nodes = 1\ndelegated-share = 0.25\n'
            'multiply-add-share = 1\nborder-bytes = "200 %"\n'
        )
    assert run("check").exit_code == 0
    case = case_of(checked(run), "classifier")
    assert (case["status"], case["baseline"]["partitions"], case["measures"]["partitions"]) == ("passed", 1, 2)
    assert ("nnapi-operator-version", "warning", 0) in findings_of(case)


def test_exit_zero(gated, run):
    make_worse(gated)
    result = run("check", "--exit-zero")
    assert result.exit_code == 0
    assert "3 failed" in result.stdout
    (gated / "models" / "broken.tflite").write_bytes(b"no model")
    assert run("check", "--exit-zero").exit_code == 2


def test_a_model_that_cannot_be_read(gated, run):
    (gated / "models" / "broken.tflite").write_bytes(b"no model")
    result = run("check")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: models/broken.tflite: ")
    assert result.stderr.count("\n") == 1
    rows = list(csv.DictReader(io.StringIO(run("check", "--format", "csv").stdout)))
    assert {row["model"]: row["status"] for row in rows}["models/broken.tflite"] == "unreadable"
    before = (gated / BASELINE).read_bytes()
    assert run("check", "--update").exit_code == 2
    assert (gated / BASELINE).read_bytes() == before


def test_from_a_folder_below(gated, run, monkeypatch):
    make_worse(gated)
    monkeypatch.chdir(gated / "models")
    assert run("check", "classifier.tflite").exit_code == 1
    (case,) = checked(run, "classifier.tflite")["cases"]
    assert (case["path"], case["target"], case["status"]) == ("classifier.tflite", "nnapi", "failed")
    assert run("check", "classifier.tflite", "--update").exit_code == 0
    assert run("check", "classifier.tflite").exit_code == 0


def test_targets_can_be_chosen(gated, run):
    configuration = gated / CONFIGURATION
    with configuration.open("a", encoding="utf-8") as file:
        file.write('[targets.graphics]\ndelegate = "gpu"\nmodels = ["models/c*.tflite"]\n')
    assert run("check", "--target", "nnapi").exit_code == 0
    assert run("check", "--target", "graphics").exit_code == 1
    assert run("check", "--target", "graphics", "--update").exit_code == 0
    assert statuses(run) == {"passed": 4}
    assert [case["target"] for case in checked(run, "--delegate", "GPU")["cases"]] == ["graphics"]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--delegate", "vx"], "has no target for vx; its targets are nnapi, graphics"),
        (["--target", "other"], "there is no target 'other'; the targets are nnapi, graphics"),
        (["--target", "graphics", "models/upsampler.tflite"], "no selected target applies to models/upsampler.tflite"),
    ],
)
def test_targets_that_cannot_be_chosen(gated, run, arguments, fault):
    with (gated / CONFIGURATION).open("a", encoding="utf-8") as file:
        file.write('[targets.graphics]\ndelegate = "gpu"\nmodels = ["models/c*.tflite"]\n')
    result = run("check", *arguments)
    assert (result.exit_code, result.stderr) == (2, f"error: delegate-sim.toml: {fault}\n")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            None,
            "found neither delegate-sim.toml nor pyproject.toml with [tool.delegate-sim] in this folder or its parent folders",
        ),
        ("models = 3\n", "delegate-sim.toml:1: models: takes a list of strings"),
        ('models = ["none/*"]\n[targets.t]\ndelegate = "gpu"\n', "delegate-sim.toml: no file matches none/*, so there is"),
        ('[targets.t]\ndelegate = "gpu"\n', "delegate-sim.toml: names no model, so there is nothing to check"),
    ],
)
def test_configurations_that_cannot_be_used(repository, run, text, fault):
    if text is not None:
        (repository / CONFIGURATION).write_text(text, encoding="utf-8")
    result = run("check")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert fault in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_broken_baseline_is_an_error_and_stays_as_it_is(gated, run):
    (gated / BASELINE).write_text("<<<<<<< HEAD\n", encoding="utf-8")
    for arguments in (["check"], ["check", "--update"]):
        result = run(*arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith(
            f"error: {gated / BASELINE}: contains merge conflict markers (line 1): choose one side with git "
        )
        assert result.stderr.endswith("then run delegate-sim check --update\n")
    assert (gated / BASELINE).read_text(encoding="utf-8") == "<<<<<<< HEAD\n"


def test_an_error_of_the_tool_itself(gated, run, monkeypatch):
    def fail(*_):
        raise RuntimeError("broken")

    monkeypatch.setattr(gate_check, "run_target", fail)
    result = run("check")
    assert result.exit_code == 70
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("report", "fault"),
    [
        ("sarif", "takes FORMAT=FILE, not 'sarif'"),
        ("sarif=", "takes FORMAT=FILE, not 'sarif='"),
        ("xml=a", "there is no format 'xml'; the formats are text, json"),
    ],
)
def test_reports_that_cannot_be_asked_for(gated, run, report, fault):
    result = run("check", "--report", report)
    assert result.exit_code == 2
    assert fault in result.stderr


def test_a_report_that_cannot_be_written(gated, run):
    result = run("check", "--report", "sarif=none/out.sarif")
    assert (result.exit_code, result.stdout, result.stderr[:22]) == (2, "", "error: none/out.sarif:")
    twice = run("check", "--report", "sarif=a", "--report", "junit=./a")
    assert (twice.exit_code, (gated / "a").exists()) == (2, False)


def test_only_text_is_refused_if_the_output_exists(gated, run):
    assert run("check", "-o", "text").stdout == ""
    assert (gated / "text").read_text(encoding="utf-8") == run("check").stdout
    assert run("check", "-o", "text").exit_code == 2
    assert run("check", "-o", "text", "--force").exit_code == 0
    for _ in range(2):
        assert run("check", "--format", "json", "-o", "json").exit_code == 0
    assert json.loads((gated / "json").read_text(encoding="utf-8"))["schema"] == "delegate-sim/check/2"


def test_init_does_not_replace_a_configuration(gated, run):
    before = (gated / CONFIGURATION).read_bytes()
    result = run("init", "--delegate", "nnapi")
    assert (result.exit_code, result.stdout) == (2, "")
    assert (gated / CONFIGURATION).read_bytes() == before
    assert run("init", "--force", "--delegate", "gpu", "--delegate", "xnnpack").exit_code == 0
    assert "[targets.xnnpack]" in (gated / CONFIGURATION).read_text(encoding="utf-8")


def test_what_init_leaves_as_comments_can_be_used(repository, run):
    run("init", "--delegate", "nnapi")
    path = repository / CONFIGURATION
    text = path.read_text(encoding="utf-8")
    live = re.sub(r"^# (?=[a-z-]+ = [^.]|\[)", "", re.sub("^# options = .*\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)
    assert live.count("#") < text.count("#")
    configuration = live.replace("models/vision/*", "models/*").replace('"experiments/**"', '"x/**"')
    path.write_text(configuration, encoding="utf-8")
    result = run("check", "--update")
    assert (result.exit_code, result.stderr) == (0, "")


def test_several_releases_at_once(gated, run):
    configuration = gated / CONFIGURATION
    text = configuration.read_text(encoding="utf-8").replace(
        'delegate = "nnapi"', 'delegate = "nnapi"\nruntime = ["tf-2.15", "litert-2.3"]', 1
    )
    configuration.write_text(text, encoding="utf-8")
    assert run("check", "--update", "--prune").exit_code == 0
    assert statuses(run) == {"passed": 6}
    make_worse(gated)
    assert statuses(run, "--target", "nnapi") == {"failed": 6}
    assert {case["target"] for case in checked(run, "--target", "nnapi@tf-2.15")["cases"]} == {"nnapi@tf-2.15"}


def test_a_model_that_does_not_load_fails_with_the_runtimes_line(gated, run):
    chain_model(["RELU", "LOGISTIC 9"]).write(gated / "models" / "classifier.tflite")
    assert run("check").exit_code == 1
    case = case_of(checked(run), "classifier")
    assert "operator-not-loaded" in {code for code, level, _ in findings_of(case) if level == "error"}
    assert "'LOGISTIC' version '9'" in case["log_lines"][0]
    assert case["measures"]["outcome"] == "refused, not loaded"


def test_a_model_that_does_not_run_fails_without_a_baseline_and_is_agreed_to_by_one(gated, run):
    chain_model(["RELU", "LOGISTIC 9"]).write(gated / "models" / "classifier.tflite")
    configuration = gated / CONFIGURATION
    text = configuration.read_text(encoding="utf-8")
    assert run("check", "--update").exit_code == 0
    agreed = run("check", "models/classifier.tflite", "--verbose")
    assert agreed.exit_code == 0
    assert "warning: operator-not-loaded" in " ".join(agreed.stdout.split())
    configuration.write_text("baseline = false\n" + text, encoding="utf-8")
    assert run("check", "models/classifier.tflite").exit_code == 1
    assuming = text.replace('delegate = "nnapi"', 'delegate = "nnapi"\nassume-ops-registered = true')
    configuration.write_text("baseline = false\n" + assuming, encoding="utf-8")
    assert run("check", "models/classifier.tflite").exit_code == 0


def test_standard_input_has_no_place_in_a_baseline(run):
    result = run("check", "-")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)


def test_code_that_the_configuration_names_runs_only_with_consent(repository, run, monkeypatch):
    mark = repository / "mark"
    (repository / "run.sh").write_text(f'#!/bin/sh\ntouch "{mark}"\n', encoding="utf-8")
    (repository / "run.sh").chmod(0o755)
    (repository / "net.keras").write_bytes(zip_bytes({"config.json": b"{}"}))
    text = '[sources.net]\nsource = "net.keras"\npython = "run.sh"\n[targets.t]\ndelegate = "nnapi"\n'
    (repository / CONFIGURATION).write_text(text, encoding="utf-8")
    result = run("check", "--update")
    assert (result.exit_code, mark.exists()) == (2, False)
    assert result.stderr.splitlines() == [
        "error: delegate-sim.toml:3: sources.net.python: names a program, which runs only with the option --run-configured-code "
        "of check (or with DELEGATE_SIM_RUN_CONFIGURED_CODE=1); give it if you trust this file and its repository"
    ]
    monkeypatch.setenv("DELEGATE_SIM_RUN_CONFIGURED_CODE", "0")
    assert (run("check", "--update").exit_code, mark.exists()) == (2, False)
    assert (run("check", "--update", "--run-configured-code").exit_code, mark.exists()) == (2, True)
    mark.unlink()
    monkeypatch.setenv("DELEGATE_SIM_RUN_CONFIGURED_CODE", "1")
    assert (run("check", "--update").exit_code, mark.exists()) == (2, True)


def test_the_targets_of_a_device(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    upsampler().write(tmp_path / "m.tflite")
    run("init", "--device", "pixel9", "--delegate", "vx")
    assert run("check", "--update").exit_code == 0
    assert len(checked(run)["cases"]) == 6
    assert len(checked(run, "--device", "pixel9")["cases"]) == 5
    assert len(checked(run, "--device", "pixel10")["cases"]) == 4  # another SoC for the NPU
    assert [case["delegate"] for case in checked(run, "--device", "imx93")["cases"]] == ["xnnpack"]
    assert run("check", "--device", "toaster").exit_code == 2
