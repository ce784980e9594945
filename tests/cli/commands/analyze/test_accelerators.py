"""``analyze --accelerators``."""

from __future__ import annotations

import subprocess
import sys
from urllib.parse import unquote

import pytest

from tests.support.cli.own_schemas import validate
from tests.support.delegates.npu_models import chain
from tests.support.pages import MODELS


@pytest.fixture
def path(tmp_path):
    chain(["TANH", "ELU", "SIGN"]).write(tmp_path / "model.tflite")
    return tmp_path / "model.tflite"


def test_one_soc(run, path):
    result = run("analyze", path, "--accelerators", "npu,gpu,cpu", "--soc", "mediatek:mt6991")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("The plugin npu-mediatek takes 33.3 % of nodes; 1 ELU and 1 other node stay off\n")
    assert "\n\nPartition strategy: 0\nPartitioned subgraph<0>, selected 1 ops" in result.stdout
    assert "Selected, but not compiled" in result.stdout
    assert "CompiledModel (npu, gpu, cpu) is created" in result.stdout
    assert "Side by side" not in result.stdout


def test_a_soc_implies_all_accelerators(run, path):
    named = run("analyze", path, "--accelerators", "npu,gpu,cpu", "--soc", "google:Tensor_G4")
    assert named.exit_code == 0
    for name in ("pixel9", "Pixel 9 Pro", "pixel10a", "tensor-g4", "GOOGLE:tensor_g4"):
        assert run("analyze", path, "--soc", name).stdout == named.stdout


def test_socs_side_by_side(run, path):
    result = run(
        "analyze", path, "--accelerators", "npu,cpu", "--soc", "mediatek:mt6991", "--soc", "google:Tensor_G5", COLUMNS="100"
    )
    verdicts, table = result.stdout.split("\n\nSide by side")
    first, second = [line for line in verdicts.splitlines() if not line.startswith(" ")]
    assert first.startswith("mediatek:mt6991: The plugin npu-mediatek takes ")
    assert second.startswith("google:Tensor_G5: The plugin npu-google takes ")
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in table.splitlines()[1:] if line.strip()}
    assert rows["TANH"] == "npu-mediatek 1 npu-google 1"
    assert rows["ELU"] == "xnnpack 1 npu-google 1"


def test_a_soc_that_cannot_be_simulated_leaves_the_others(run, path):
    result = run("analyze", path, "--soc", "mt6991", "--soc", "SM8750")
    assert result.exit_code == 0
    assert "SM8750: not simulated\n" in result.stdout
    (row,) = [line.split("  ") for line in result.stdout.splitlines() if line.startswith("  all ")]
    assert [cell.strip() for cell in row if cell] == ["all", "mldrift 2, npu-mediatek 1", "not simulated"]
    assert result.stderr.startswith("warning: the NPU of SM8750 (qualcomm:SM8750) cannot be simulated, ")
    none = run("analyze", path, "--soc", "SM8650", "--soc", "SM8750")
    assert (none.exit_code, none.stdout) == (2, "")


def test_without_the_npu_the_soc_makes_no_difference(run, path):
    refused = run("analyze", path, "--soc", "SM8750")
    assert "add --accelerators gpu,cpu to simulate only the GPU and the CPU" in refused.stderr
    result = run("analyze", path, "--soc", "SM8750", "--accelerators", "gpu,cpu")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == run("analyze", path, "--accelerators", "gpu,cpu").stdout


def test_all_stands_for_a_soc_of_each_vendor(run, path):
    result = run("analyze", path, "--soc", "all", COLUMNS="250")
    verdicts, table = result.stdout.split("\n\nSide by side")
    socs = ["google:Tensor_G5", "intel:PTL", "mediatek:mt6991", "samsung:E9965"]
    assert [line.partition(": ")[0] for line in verdicts.splitlines()] == socs
    assert "All SoCs of a vendor have the same result" in table


def test_every_format(run, path, tmp_path):
    markdown = run("analyze", path, "--soc", "mt6991", "--format", "markdown")
    assert (markdown.exit_code, markdown.stderr) == (0, "")
    rows = [line for line in markdown.stdout.splitlines() if "model.tflite |" in line]
    assert [row.split(" | ")[1] for row in rows] == ["mediatek:mt6991, npu-mediatek", "mediatek:mt6991, mldrift"]
    assert markdown.stdout.count("- CompiledModel (npu, gpu, cpu) is created\n") == 1
    assert markdown.stdout.count("Selected, but not compiled") == 1
    for form in ("sarif", "junit", "gitlab", "github", "csv"):
        assert "mediatek:mt6991, npu-mediatek" in unquote(run("analyze", path, "--soc", "mt6991", "--format", form).stdout)
    (tmp_path / "broken.tflite").write_bytes(b"no model")
    broken = run("analyze", tmp_path / "broken.tflite", path, "--accelerators", "gpu,cpu", "--format", "csv")
    assert broken.exit_code == 2
    assert [line.split(",")[4] for line in broken.stdout.splitlines()[1:]] == ["passed", "unreadable"]


def test_a_compiled_model_that_is_not_created_fails_in_every_format(run, path):
    arguments = ("analyze", path, "--accelerators", "npu", "--soc", "mt6991")
    why = "CompiledModel (npu) is not created, because the CPU is not among the accelerators, and 2 nodes stay on the CPU"
    assert run(*arguments, COLUMNS="250").stdout.startswith(f"{why} (the first is node 1 (ELU))\n\n")
    result = run(*arguments, "--format", "markdown")
    assert f"**mediatek:mt6991: {why} (the first is node 1 (ELU))**\n\nanalyzed: 1 case (1 failed)\n" in result.stdout
    assert "- CompiledModel (npu) is not created\n" in result.stdout
    assert "| **does not run** |" in result.stdout
    for form in ("sarif", "junit", "gitlab", "github"):
        assert "not-fully-accelerated" in run(*arguments, "--format", form).stdout


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


def test_the_command_that_says_what_keeps_nodes_off_the_npu(run, path):
    arguments = (
        "--accelerators",
        "npu,cpu",
        "--soc",
        "mediatek:mt6991",
        "--soc",
        "google:Tensor_G5",
        "--runtime",
        "litert-2.2.0",
    )
    text = run("analyze", path, *arguments).stdout
    assert f"  delegate-sim diagnose {path} --delegate npu-mediatek --runtime litert-2.2.0\n" in text
    assert "--delegate npu-google" not in text
    found = run("diagnose", path, "--delegate", "npu-mediatek")
    assert "keeps 1 node off the NPU: ELU 1" in found.stdout
    assert "1 of 3 nodes delegated" in " ".join(found.stdout.split())


def test_what_is_not_created_has_no_places(run, path):
    socs = ("--soc", "mediatek:mt6991", "--soc", "google:Tensor_G5")
    result = run("analyze", path, "--accelerators", "npu", *socs, "--verbose", COLUMNS="100")
    first, second = result.stdout.split("--- google:Tensor_G5 ---")
    assert "is not created" in first
    assert "Where nodes run" not in first
    assert "Where nodes run" in second
    assert ["all", "not", "created", "npu-google", "3"] in [line.split() for line in first.splitlines()]


def test_json(run_json, path):
    entry = run_json("analyze", path, "--accelerators", "npu,cpu", "--soc", "google:Tensor_G5")
    assert entry["compiled_model"] == {
        "accelerators": ["npu", "cpu"],
        "soc": "google:Tensor_G5",
        "created": True,
        "notes": entry["compiled_model"]["notes"],
    }
    validate("report", entry)


def test_report_files_beside_the_text(run, path, tmp_path):
    file = tmp_path / "report.md"
    result = run("analyze", path, "--accelerators", "gpu,cpu", "--report", f"markdown={file}")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "- CompiledModel (gpu, cpu) is created\n" in file.read_text("utf-8")


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


def test_plugins_are_imported_only_where_they_are_asked_for(path):
    code = "import atexit, sys; atexit.register(lambda: print([name for name in sys.modules if '.delegates.npu' in name]))"
    code += "; from delegate_sim_cli.main import main; main()"
    for arguments, loaded in ((["--delegate", "gpu"], False), (["--delegate", "npu-intel"], True)):
        done = subprocess.run(
            [sys.executable, "-c", code, "analyze", str(path), *arguments], capture_output=True, text=True, check=True
        )
        assert (done.stdout.splitlines()[-1] != "[]") == loaded


def test_a_limit_without_an_option_is_not_said_to_have_one(run, tmp_path):
    chain(["ELU", "FLOOR_MOD", "CEIL"]).write(tmp_path / "model.tflite")
    text = " ".join(run("analyze", tmp_path / "model.tflite", "--delegate", "mldrift").stdout.split())
    assert "hint: merge partitions by removing nodes that split them" in text
    assert "hint: :" not in text
