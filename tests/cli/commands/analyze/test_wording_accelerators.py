"""Sentences of ``analyze --accelerators``, for people."""

from __future__ import annotations

import pytest

from tests.support.delegates.npu_models import chain
from tests.support.pages import MODELS


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--soc", "mt6991", "--soc", "google:Tensor_G5"), "mediatek:mt6991: The plugin npu-mediatek takes "),
        (("--soc", "mt6991", "--soc", "google:Tensor_G5"), "google:Tensor_G5: The plugin npu-google takes "),
        (("--soc", "mt6991", "--soc", "SM8750"), "SM8750: not simulated\n"),
        (("--soc", "mt6991", "--soc", "SM8750"), "warning: the NPU of SM8750 (qualcomm:SM8750) cannot be simulated, "),
        (("--soc", "SM8750"), "add --accelerators gpu,cpu to simulate only the GPU and the CPU"),
        (("--soc", "all"), "All SoCs of a vendor have the same result"),
        (("--soc", "mt6991", "--format", "markdown"), "- CompiledModel (npu, gpu, cpu) is created\n"),
        (("--soc", "mt6991", "--format", "markdown"), "Selected, but not compiled"),
    ],
)
def test_a_sentence_stands_once(run, path, arguments, sentence):
    result = run("analyze", path, *arguments, COLUMNS="250")
    assert (result.stdout + result.stderr).count(sentence) == 1


def test_a_cause_of_a_plugin(run, path):
    text = run("diagnose", path, "--delegate", "npu-mediatek").stdout
    assert "keeps 1 node off the NPU: ELU 1" in text
    assert "1 of 3 nodes delegated" in " ".join(text.split())


def test_one_soc(run, path):
    result = run("analyze", path, "--accelerators", "npu,gpu,cpu", "--soc", "mediatek:mt6991")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("The plugin npu-mediatek takes 33.3 % of nodes; 1 ELU and 1 other node stay off\n")
    assert "\n\nPartition strategy: 0\nPartitioned subgraph<0>, selected 1 ops" in result.stdout
    assert "Selected, but not compiled" in result.stdout
    assert "CompiledModel (npu, gpu, cpu) is created" in result.stdout
    assert "Side by side" not in result.stdout


def test_notes_below_the_table(run, path):
    result = run("analyze", path, "--soc", "mt6991", "--soc", "exynos2500", COLUMNS="250")
    _, notes = result.stdout.split("\n\nNotes\n")
    assert notes.startswith("  - selected nodes are not yet compiled: ")
    assert "\n  - samsung:E9955: the plugin selects every node, but " in notes


def test_the_reason_for_no_compiled_model(run):
    result = run("analyze", MODELS / "recurrent.tflite", "--soc", "mt6991", "--soc", "exynos2500", COLUMNS="250")
    verdicts, notes = result.stdout.split("\n\nSide by side")
    assert verdicts.count("is not created, because tensor 5 (state_5), of type FLOAT32: Variable tensors not yet supported") == 2
    assert notes.count("LiteRT cannot load the model, so CompiledModel cannot be created") == 1
    assert "the plugin selects every node" not in notes


def test_what_is_not_created_has_no_places(run, path):
    socs = ("--soc", "mediatek:mt6991", "--soc", "google:Tensor_G5")
    result = run("analyze", path, "--accelerators", "npu", *socs, "--verbose", COLUMNS="100")
    first, second = result.stdout.split("--- google:Tensor_G5 ---")
    assert "is not created" in first
    assert "Where nodes run" not in first
    assert "Where nodes run" in second
    assert ["all", "not", "created", "npu-google", "3"] in [line.split() for line in first.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--accelerators", "npu"], "give --soc, such as google:Tensor_G5"),
        (["--soc", "mt6991", "--delegate", "gpu"], "--soc already selects the delegates"),
        (["--soc", "MT8799"], "similar names are MT8792 (mediatek:mt6897), mediatek:mt6879"),
        (["--soc", "s25"], "similar names are Galaxy S25 (qualcomm:SM8750), Galaxy S25 Ultra (qualcomm:SM8750)"),
        (["--soc", "mt6991", "--soc", "s25"], "do not know the SoC 's25'; similar names are Galaxy S25 (qualcomm:SM8750), "),
        (["--accelerators", "cpu", "--soc", "s25"], "do not know the SoC 's25'; similar names are Galaxy S25"),
        (["--soc", "galaxy s24 ultr"], "similar names are Galaxy S24 Ultra (qualcomm:SM8650), Galaxy S25"),
        (["--soc", "Galaxy S25"], "the NPU of Galaxy S25 (qualcomm:SM8750) cannot be simulated"),
        (["--soc", "qualcomm:sm8650"], "--delegate npu-qualcomm --option soc=SM8650 --live"),
        (["--accelerators", "tpu"], "the accelerators are npu, gpu, cpu"),
        (["--accelerators", "npu", "--soc", "acme:1"], "known vendors are google, intel, mediatek, samsung, qualcomm"),
        (["--accelerators", "npu", "--soc", "mediatek:"], "mediatek is a vendor; give one of its SoCs: mediatek:mt6"),
        (["--accelerators", "npu", "--soc", "google"], "google is a vendor; give one of its SoCs: google:Tensor_G3, "),
        (["--accelerators", "cpu", "--defaults", "api"], "does not take --defaults"),
        (["--accelerators", "cpu", "--no-default-xnnpack"], "does not take --default-xnnpack"),
        (["--accelerators", "cpu", "--delegate", "gpu"], "leave out --delegate and --chain"),
        (["--accelerators", "cpu", "--live"], "does not take --live"),
        (["--accelerators", "gpu,cpu", "--option", "nonsense=1"], "none of mldrift, xnnpack has an option 'nonsense'"),
        (["--accelerators", "gpu,cpu", "--gpu_backend", "opengl"], "mldrift and xnnpack have no flag --gpu"),
        (["--accelerators", "gpu,cpu", "--option", "cpu_fallback=false"], "add cpu to the accelerators"),
    ],
)
def test_what_does_not_go_together(run, path, arguments, words):
    result = run("analyze", path, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in " ".join(result.stderr.split())


def test_a_run_speaks_of_what_is_selected(run, path):
    text = run("analyze", path, "--delegate", "npu-mediatek", "--no-default-xnnpack").stdout
    assert "1 delegated (33.3 %)" in text
    assert "Off the NPU: 2 nodes, by reason" in text
    assert "Selected, but not compiled" in text
    assert "1 selected" not in text


def test_a_limit_without_an_option_is_not_said_to_have_one(run, tmp_path):
    chain(["ELU", "FLOOR_MOD", "CEIL"]).write(tmp_path / "model.tflite")
    text = " ".join(run("analyze", tmp_path / "model.tflite", "--delegate", "mldrift").stdout.split())
    assert "hint: merge partitions by removing nodes that split them" in text
    assert "hint: :" not in text


def test_a_compiled_model_that_is_not_created_in_words(run, path):
    arguments = ("analyze", path, "--accelerators", "npu", "--soc", "mt6991")
    why = "CompiledModel (npu) is not created, because the CPU is not among the accelerators, and 2 nodes stay on the CPU"
    assert run(*arguments, COLUMNS="250").stdout.startswith(f"{why} (the first is node 1 (ELU))\n\n")
    result = run(*arguments, "--format", "markdown")
    assert f"**mediatek:mt6991: {why} (the first is node 1 (ELU))**\n\nanalyzed: 1 case (1 failed)\n" in result.stdout
    assert "- CompiledModel (npu) is not created\n" in result.stdout
    assert "| **does not run** |" in result.stdout
