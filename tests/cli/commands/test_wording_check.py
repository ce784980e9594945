"""Sentences of ``delegate-sim check``, for people."""

from __future__ import annotations

import pytest

from tests.support.gate_models import classifier, make_worse, restore
from tests.support.models import chain_model

CONFIGURATION = "delegate-sim.toml"


def rename_target(repository):
    path = repository / CONFIGURATION
    path.write_text(path.read_text("utf-8").replace("[targets.nnapi]", "[targets.other]"), "utf-8")


@pytest.mark.parametrize(
    ("arguments", "change", "sentence"),
    [
        ((), None, "3 models on 1 target: 3 passed"),
        ((), make_worse, "3 models on 1 target: 3 failed models/classifier.tflite on nnapi: failed"),
        (("models/classifier.tflite",), make_worse, "1 model on 1 target: 1 failed"),
        (("--update",), lambda folder: classifier(9).write(folder / "models/classifier.tflite"),
         "note: changed in the baseline: partitions 1 -> 2"),
        ((), lambda folder: (folder / "models/upsampler.tflite").unlink(),
         "no-model-for-entry: models/upsampler.tflite on nnapi: the baseline has an entry, but the model does not exist"),
        ((), rename_target, "the configuration does not name this target"),
        ((), lambda folder: (folder / "models/broken.tflite").write_bytes(b"no model"),
         "models/broken.tflite on nnapi: unreadable"),
        (("--verbose",), lambda folder: classifier(names="v2/", swapped=True).write(folder / "models/classifier.tflite"),
         "the model changed since the baseline, but the result is the same"),
    ],
)  # fmt: skip
def test_a_result_in_words(gated, run, arguments, change, sentence):
    if change is not None:
        change(gated)
    assert sentence in " ".join(run("check", *arguments).stdout.split())


def test_the_way_to_the_first_baseline(repository, run):
    first = run("init", "--delegate", "nnapi").stdout
    assert first.startswith("Wrote delegate-sim.toml for 3 models. Next, run delegate-sim check --update, and commit")
    assert "hint: delegate-sim check --update\n" in run("check").stdout
    lines = run("check", "--update").stdout.splitlines()
    assert (lines[0], lines[-1]) == ("3 models on 1 target: 3 passed", "Baseline: 3 added, 0 changed, 0 removed")


def test_better_tells_how_to_hold_on_to_it(gated, run):
    classifier(9).write(gated / "models" / "classifier.tflite")
    run("check", "--update", "models/classifier.tflite")
    restore(gated)
    told = " ".join(run("check", "--verbose").stdout.split())
    assert "to keep this improvement: delegate-sim check --update --target nnapi models/classifier.tflite" in told


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "[budgets]\nmax-partitions = 2\nmax-fallback = 2\nmin-delegated-share = 0.5\n"
            'forbid-fallback-ops = ["FULLY_CONNECTED"]\n',
            [
                "budget-partitions: 3 partitions; max-partitions is 2",
                "budget-fallback: 3 nodes stay on the CPU; max-fallback is 2",
                "budget-delegated-share: 0 of 3 nodes (0 %) are delegated; min-delegated-share is 50 %",
                "budget-fallback-op: FULLY_CONNECTED (node 1, v2/left) stays on the CPU, which forbid-fallback-ops does not",
            ],
        ),
        (
            '[budgets.tolerance]\npartitions = 2\ndelegate-kernels = "100 %"\nfallback-nodes = 1\ndelegated-share = 0.25\n'
            'multiply-add-share = 1\nborder-bytes = "200 %"\n',
            ["note: partitions: 1 -> 3 (allowed: 3)", "note: worse than the baseline, but within the tolerance"],
        ),
    ],
    ids=["budgets", "tolerance"],
)
def test_budgets_in_words(gated, run, text, sentences):
    make_worse(gated)
    with (gated / CONFIGURATION).open("a", encoding="utf-8") as file:
        file.write(text)
    words = " ".join(run("check").stdout.split())
    assert [sentence for sentence in sentences if sentence not in words] == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("check", "--report", "sarif=none/out.sarif"), "error: none/out.sarif: No such file or directory\n"),
        (("check", "--report", "sarif=a", "--report", "junit=./a"), "is given twice"),
        (("check", "-o", CONFIGURATION), "error: delegate-sim.toml: "),
        (("check", "-"), "give a file instead of - (standard input)"),
        (("check", "--device", "toaster"), "there is no device"),
        (("init", "--delegate", "nnapi"), "error: delegate-sim.toml: already exists; --force replaces it\n"),
    ],
)
def test_errors_in_words(gated, run, arguments, sentence):
    assert sentence in run(*arguments).stderr


def test_a_baseline_that_is_switched_off_is_not_written(gated, run):
    configuration = gated / CONFIGURATION
    configuration.write_text("baseline = false\n" + configuration.read_text(encoding="utf-8"), encoding="utf-8")
    fault = "error: delegate-sim.toml: baseline = false, so there is no baseline to write\n"
    assert run("check", "--update").stderr == fault


def test_nodes_for_an_npu_are_only_selected(repository, run):
    run("init", "--delegate", "npu-google", "--delegate", "gpu")
    sentence = "Selected, but not compiled: a compiler plugin only selects nodes for the NPU."
    assert run("check", "--update", COLUMNS="250").stdout.splitlines()[1].startswith(sentence)
    assert run("check", COLUMNS="250").stdout.count(sentence) == 1
    assert run("check", "--format", "markdown").stdout.count(sentence) == 1
    assert sentence not in run("check", "--target", "gpu", COLUMNS="250").stdout


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


def test_a_new_model_shares_one_line_and_its_command_changes_no_other_entry(gated, run):
    make_worse(gated)
    chain_model(["RELU"]).write(gated / "models" / "new.tflite")
    text = run("check").stdout
    assert text.count("no-baseline-entry") == 1
    assert "hint: delegate-sim check --update models/new.tflite\n" in text


def test_entries_without_a_model_share_one_line_for_each_model(gated, run):
    configuration = gated / "delegate-sim.toml"
    configuration.write_text(configuration.read_text() + '\n[targets.second]\ndelegate = "nnapi"\n', encoding="utf-8")
    assert run("check", "--update").exit_code == 0
    (gated / "models" / "upsampler.tflite").unlink()
    brief, verbose = run("check").stdout, run("check", "--verbose").stdout
    assert "no-model-for-entry: models/upsampler.tflite on nnapi, second: " in brief
    assert [text.count("no-model-for-entry") for text in (brief, verbose)] == [1, 2]


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
