"""``delegate-sim check`` and ``init`` in a scratch repository with three models."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from delegate_sim.gate import check as gate_check
from fixtures.bundles import zip_bytes
from tests.support.gate_models import classifier, reshaper, upsampler
from tests.support.models import chain_model

CONFIGURATION = "delegate-sim.toml"
BASELINE = "delegate-sim-baseline.json"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A scratch repository with three models, which is the working directory."""
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    restore(tmp_path)
    return tmp_path


@pytest.fixture
def gated(repository, run):
    """The repository with a configuration and a baseline."""
    assert run("init", "--delegate", "nnapi").exit_code == 0
    assert run("check", "--update").exit_code == 0
    return repository


def restore(repository):
    classifier().write(repository / "models" / "classifier.tflite")
    upsampler().write(repository / "models" / "upsampler.tflite")
    reshaper().write(repository / "models" / "reshaper.tflite")


def make_worse(repository):
    """Worsen each model: an operator version, a driver that rejects an operator, a shape that is dynamic."""
    classifier(9, names="v2/", swapped=True).write(repository / "models" / "classifier.tflite")
    reshaper(is_dynamic=True).write(repository / "models" / "reshaper.tflite")
    reject = 'delegate = "nnapi"\noptions = { driver_rejects = ["RESIZE_NEAREST_NEIGHBOR"] }'
    configuration = repository / CONFIGURATION
    configuration.write_text(configuration.read_text(encoding="utf-8").replace('delegate = "nnapi"', reject), encoding="utf-8")


def accept_again(repository):
    restore(repository)
    configuration = repository / CONFIGURATION
    text = re.sub("^options = .*\n", "", configuration.read_text(encoding="utf-8"), flags=re.MULTILINE)
    configuration.write_text(text, encoding="utf-8")


def test_nodes_for_an_npu_are_only_selected(repository, run):
    run("init", "--delegate", "npu-google", "--delegate", "gpu")
    sentence = "Selected, but not compiled: a compiler plugin only selects nodes for the NPU."
    assert run("check", "--update", COLUMNS="250").stdout.splitlines()[1].startswith(sentence)
    assert run("check", COLUMNS="250").stdout.count(sentence) == 1
    assert run("check", "--format", "markdown").stdout.count(sentence) == 1
    assert sentence not in run("check", "--target", "gpu", COLUMNS="250").stdout


def test_a_repository_from_init_to_a_failure_and_back(repository, run):
    first = run("init", "--delegate", "nnapi")
    assert first.exit_code == 0
    assert first.stdout.startswith("Wrote delegate-sim.toml for 3 models. Next, run delegate-sim check --update, and commit")
    missing = run("check")
    assert missing.exit_code == 1
    assert "hint: delegate-sim check --update\n" in missing.stdout
    updated = run("check", "--update")
    lines = updated.stdout.splitlines()
    assert (updated.exit_code, lines[0]) == (0, "3 models on 1 target: 3 passed")
    assert lines[-1] == "Baseline: 3 added, 0 changed, 0 removed"
    clean = run("check")
    assert (clean.exit_code, clean.stdout) == (0, "3 models on 1 target: 3 passed\n")

    make_worse(repository)
    failed = run("check")
    assert failed.exit_code == 1
    assert failed.stdout.startswith("3 models on 1 target: 3 failed\n")

    accept_again(repository)
    fixed = run("check")
    assert (fixed.exit_code, fixed.stdout) == (0, "3 models on 1 target: 3 passed\n")


def test_the_explanation_in_text(gated, run):
    make_worse(gated)
    text = run("check").stdout
    for part in (
        "nnapi-operator-version: FULLY_CONNECTED (node 1, v2/left) fell back to the CPU: version 9; needs version at most 5 "
        "(changed: version 1 -> 9)",
        "hint: the node does not need the version in the file, so use a converter as old as the delegate",
        "RESIZE_NEAREST_NEIGHBOR (node 1, resized) fell back to the CPU: ",
        "note: the target changed since the baseline: --driver-rejects [] -> ['RESIZE_NEAREST_NEIGHBOR']",
        "worse than the baseline: outcome: delegated -> not applied",
        "dynamic-tensors: tensor ",
        "because input tensor 1 (shape) of node 1 (RESHAPE) is not constant; 3 nodes fall back for this reason (changed: "
        "input 1 constant INT32[2] -> computed)",
        "RESHAPE (node 1, flat): input 1 constant INT32[2] -> computed",
    ):
        assert part in " ".join(text.split()), part


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


def test_better_passes_and_tells_how_to_hold_on_to_it(gated, run):
    classifier(9).write(gated / "models" / "classifier.tflite")
    updated = run("check", "--update", "models/classifier.tflite")
    assert updated.exit_code == 0
    assert "note: changed in the baseline: partitions 1 -> 2" in updated.stdout
    restore(gated)
    better = run("check", "--verbose")
    assert better.exit_code == 0
    assert "models/classifier.tflite on nnapi: better" in better.stdout
    assert "to keep this improvement: delegate-sim check --update --target nnapi models/classifier.tflite" in " ".join(
        better.stdout.split()
    )
    assert run("check", "--update").exit_code == 0
    assert "better" not in run("check").stdout


def test_the_same_model_in_another_order_under_other_names_passes(gated, run):
    classifier(names="v2/", swapped=True).write(gated / "models" / "classifier.tflite")
    result = run("check", "--verbose")
    assert result.exit_code == 0
    assert "the model changed since the baseline, but the result is the same" in result.stdout


def test_a_new_model_shares_one_line_and_its_command_changes_no_other_entry(gated, run):
    make_worse(gated)
    chain_model(["RELU"]).write(gated / "models" / "new.tflite")
    text = run("check").stdout
    assert text.count("no-baseline-entry") == 1
    assert "hint: delegate-sim check --update models/new.tflite\n" in text


def test_hints_and_changes_of_a_model_stand_once(gated, run):
    configuration = gated / "delegate-sim.toml"
    configuration.write_text(configuration.read_text() + '\n[targets.second]\ndelegate = "nnapi"\n', encoding="utf-8")
    assert run("check", "--update").exit_code == 0
    make_worse(gated)
    brief, verbose = run("check").stdout, run("check", "--verbose").stdout
    change = "FULLY_CONNECTED (node 1, v2/left): version 1 -> 9"
    assert [text.count("hint: the node does not need the version") for text in (brief, verbose)] == [1, 2]
    assert [text.count(change) for text in (brief, verbose)] == [1, 2]


def test_the_changes_of_a_case_that_passes_are_only_counted(gated, run):
    classifier(2).write(gated / "models" / "classifier.tflite")
    result = run("check")
    assert result.exit_code == 0
    assert "  changed in the model since the baseline: 1 change (--verbose lists all)\n" in result.stdout
    assert "version 1 -> 2" not in result.stdout
    assert "version 1 -> 2" in run("check", "--verbose").stdout


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
    result = run("check")
    assert result.exit_code == 1
    words = " ".join(result.stdout.split())
    assert (
        "the model is the same as in the baseline, but the rules of delegate-sim changed (delegate-sim 0.0.9, rule set 0" in words
    )
    assert "FULLY_CONNECTED (node 0, left) fell back to the CPU: version 9" in words
    baseline.write_text(text.replace('"rule_set": "', '"rule_set": "f'), encoding="utf-8")
    both = " ".join(run("check").stdout.split())
    assert "the model and the rules of delegate-sim changed" in both


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
    result = run("check")
    assert result.exit_code == 1
    assert "no-model-for-entry: the baseline has an entry, but the model does not exist" in " ".join(result.stdout.split())
    assert "hint: delegate-sim check --prune" in result.stdout
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
    words = " ".join(result.stdout.split())
    assert "the configuration does not name this target" in words
    assert "no-baseline-entry" in words
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
    words = " ".join(result.stdout.split())
    assert "budget-partitions: 3 partitions; max-partitions is 2" in words
    assert "budget-fallback: 3 nodes stay on the CPU; max-fallback is 2" in words
    assert "budget-delegated-share: 0 of 3 nodes (0 %) are delegated; min-delegated-share is 50 %" in words
    assert (
        "budget-fallback-op: FULLY_CONNECTED (node 1, v2/left) stays on the CPU, which forbid-fallback-ops does not allow"
        in words
    )


def test_budgets_without_a_baseline(gated, run):
    (gated / BASELINE).unlink()
    configuration = gated / CONFIGURATION
    configuration.write_text("baseline = false\n" + configuration.read_text(encoding="utf-8"), encoding="utf-8")
    assert run("check").exit_code == 0
    refused = run("check", "--update")
    assert (refused.exit_code, refused.stderr) == (
        2,
        "error: delegate-sim.toml: baseline = false, so there is no baseline to write\n",
    )


def test_a_tolerance_allows_what_it_says(gated, run):
    classifier(9).write(gated / "models" / "classifier.tflite")
    with (gated / CONFIGURATION).open("a", encoding="utf-8") as file:
        file.write(
            '[budgets.tolerance]\npartitions = 2\ndelegate-kernels = "100 %"\nfallback-nodes = 1\ndelegated-share = 0.25\n'
            'multiply-add-share = 1\nborder-bytes = "200 %"\n'
        )
    result = run("check")
    assert result.exit_code == 0
    words = " ".join(result.stdout.split())
    assert "models/classifier.tflite on nnapi: passed" in words
    assert "note: partitions: 1 -> 2 (allowed: 3)" in words
    assert "warning: nnapi-operator-version: FULLY_CONNECTED" in words
    assert "note: worse than the baseline, but within the tolerance" in words


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
    assert "models/broken.tflite on nnapi: unreadable" in result.stdout
    rows = list(csv.DictReader(io.StringIO(run("check", "--format", "csv").stdout)))
    assert {row["model"]: row["status"] for row in rows}["models/broken.tflite"] == "unreadable"
    before = (gated / BASELINE).read_bytes()
    assert run("check", "--update").exit_code == 2
    assert (gated / BASELINE).read_bytes() == before


def test_from_a_folder_below(gated, run, monkeypatch):
    make_worse(gated)
    monkeypatch.chdir(gated / "models")
    result = run("check", "classifier.tflite")
    assert result.exit_code == 1
    assert result.stdout.startswith("1 model on 1 target: 1 failed\nclassifier.tflite on nnapi: failed\n")
    assert run("check", "classifier.tflite", "--update").exit_code == 0
    assert run("check", "classifier.tflite").exit_code == 0


def test_targets_can_be_chosen(gated, run):
    configuration = gated / CONFIGURATION
    with configuration.open("a", encoding="utf-8") as file:
        file.write('[targets.graphics]\ndelegate = "gpu"\nmodels = ["models/c*.tflite"]\n')
    assert run("check", "--target", "nnapi").exit_code == 0
    assert run("check", "--target", "graphics").exit_code == 1
    assert run("check", "--target", "graphics", "--update").exit_code == 0
    assert run("check").stdout == "3 models on 2 targets: 4 passed\n"
    assert run("check", "--delegate", "GPU").stdout == "1 model on 1 target: 1 passed\n"
    assert (
        run("check", "--delegate", "vx").stderr
        == "error: delegate-sim.toml: has no target for vx; its targets are nnapi, graphics\n"
    )
    fault = "error: delegate-sim.toml: there is no target 'other'; the targets are nnapi, graphics\n"
    assert (run("check", "--target", "other").exit_code, run("check", "--target", "other").stderr) == (2, fault)
    nobody = run("check", "--target", "graphics", "models/upsampler.tflite")
    assert (nobody.exit_code, nobody.stderr) == (
        2,
        "error: delegate-sim.toml: no selected target applies to models/upsampler.tflite\n",
    )


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
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", "error: none/out.sarif: No such file or directory\n")
    assert "is given twice" in run("check", "--report", "sarif=a", "--report", "junit=./a").stderr


def test_only_text_is_refused_if_the_output_exists(gated, run):
    assert run("check", "-o", "text").stdout == ""
    assert (gated / "text").read_text(encoding="utf-8") == run("check").stdout
    assert run("check", "-o", "text").stderr == "error: text: already exists; --force replaces it\n"
    assert run("check", "-o", "text", "--force").exit_code == 0
    for _ in range(2):
        assert run("check", "--format", "json", "-o", "json").exit_code == 0
    assert json.loads((gated / "json").read_text(encoding="utf-8"))["schema"] == "delegate-sim/check/2"


def test_init_does_not_replace_a_configuration(gated, run):
    before = (gated / CONFIGURATION).read_bytes()
    result = run("init", "--delegate", "nnapi")
    assert (result.exit_code, result.stderr) == (2, "error: delegate-sim.toml: already exists; --force replaces it\n")
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
    assert run("check").stdout == "3 models on 2 targets: 6 passed\n"
    make_worse(gated)
    assert run("check", "--target", "nnapi").stdout.startswith("3 models on 2 targets: 6 failed\n")
    assert run("check", "--target", "nnapi@tf-2.15").stdout.startswith("3 models on 1 target: 3 failed\n")


def test_a_model_that_does_not_load_fails_and_says_the_runtimes_line(gated, run):
    chain_model(["RELU", "LOGISTIC 9"]).write(gated / "models" / "classifier.tflite")
    result = run("check", "--verbose")
    assert result.exit_code == 1
    text = " ".join(result.stdout.split())
    assert "Didn't find op for builtin opcode 'LOGISTIC' version '9'." in text
    assert "error: operator-not-loaded:" in text
    assert "not loaded" in text


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
    assert result.exit_code == 2
    assert "give a file instead of - (standard input)" in result.stderr


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
    assert run("check", "--update").stdout.startswith("1 model on 6 targets")
    assert run("check", "--device", "pixel9").stdout.startswith("1 model on 5 targets")
    assert run("check", "--device", "pixel10").stdout.startswith("1 model on 4 targets")  # another SoC for the NPU
    assert run("check", "--device", "imx93").stdout.startswith("1 model on 1 target")  # the CPU
    result = run("check", "--device", "toaster")
    assert (result.exit_code, "there is no device" in result.stderr) == (2, True)
