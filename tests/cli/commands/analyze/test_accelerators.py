"""``analyze --accelerators``."""

from __future__ import annotations

import subprocess
import sys
from urllib.parse import unquote

import pytest

from tests.support.cli.own_schemas import validate


def test_one_soc(run_json, path):
    entry = run_json("analyze", path, "--accelerators", "npu,gpu,cpu", "--soc", "mediatek:mt6991")
    assert entry["compiled_model"]["created"]
    assert entry["runs"][0]["log_lines"][:2] == [
        "Partition strategy: 0",
        "Partitioned subgraph<0>, selected 1 ops, from a total of 3 ops. resulted in 1 partitions.",
    ]
    (placed,) = entry["placement"]
    assert [node["runs_on"] for node in placed["nodes"]] == ["npu-mediatek", "mldrift", "mldrift"]


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
    socs = [line.partition(": ")[0] for line in verdicts.splitlines() if not line.startswith(" ")]
    assert socs == ["mediatek:mt6991", "google:Tensor_G5"]
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in table.splitlines()[1:] if line.strip()}
    assert rows["TANH"] == "npu-mediatek 1 npu-google 1"
    assert rows["ELU"] == "xnnpack 1 npu-google 1"


def test_a_soc_that_cannot_be_simulated_leaves_the_others(run, path):
    result = run("analyze", path, "--soc", "mt6991", "--soc", "SM8750")
    assert result.exit_code == 0
    (row,) = [line.split("  ") for line in result.stdout.splitlines() if line.startswith("  all ")]
    assert [cell.strip() for cell in row if cell] == ["all", "mldrift 2, npu-mediatek 1", "not simulated"]
    assert (result.stderr.count("\n"), result.stderr.partition(":")[0]) == (1, "warning")
    none = run("analyze", path, "--soc", "SM8650", "--soc", "SM8750")
    assert (none.exit_code, none.stdout) == (2, "")


def test_without_the_npu_the_soc_makes_no_difference(run, path):
    assert run("analyze", path, "--soc", "SM8750").exit_code == 2
    result = run("analyze", path, "--soc", "SM8750", "--accelerators", "gpu,cpu")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == run("analyze", path, "--accelerators", "gpu,cpu").stdout


def test_all_stands_for_a_soc_of_each_vendor(run, path):
    result = run("analyze", path, "--soc", "all", COLUMNS="250")
    verdicts, _ = result.stdout.split("\n\nSide by side")
    socs = ["google:Tensor_G5", "intel:PTL", "mediatek:mt6991", "samsung:E9965"]
    assert [line.partition(": ")[0] for line in verdicts.splitlines()] == socs


def test_every_format(run, path, tmp_path):
    markdown = run("analyze", path, "--soc", "mt6991", "--format", "markdown")
    assert (markdown.exit_code, markdown.stderr) == (0, "")
    rows = [line for line in markdown.stdout.splitlines() if "model.tflite |" in line]
    assert [row.split(" | ")[1] for row in rows] == ["mediatek:mt6991, npu-mediatek", "mediatek:mt6991, mldrift"]
    for form in ("sarif", "junit", "gitlab", "github", "csv"):
        assert "mediatek:mt6991, npu-mediatek" in unquote(run("analyze", path, "--soc", "mt6991", "--format", form).stdout)
    (tmp_path / "broken.tflite").write_bytes(b"no model")
    broken = run("analyze", tmp_path / "broken.tflite", path, "--accelerators", "gpu,cpu", "--format", "csv")
    assert broken.exit_code == 2
    assert [line.split(",")[4] for line in broken.stdout.splitlines()[1:]] == ["passed", "unreadable"]


def test_a_compiled_model_that_is_not_created_fails_in_every_format(run, run_json, path):
    arguments = ("analyze", path, "--accelerators", "npu", "--soc", "mt6991")
    assert not run_json(*arguments)["compiled_model"]["created"]
    for form in ("sarif", "junit", "gitlab", "github"):
        assert "not-fully-accelerated" in run(*arguments, "--format", form).stdout


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
    assert "(gpu, cpu)" in file.read_text("utf-8")


@pytest.mark.slow
def test_plugins_are_imported_only_where_they_are_asked_for(path):
    code = "import atexit, sys; atexit.register(lambda: print([name for name in sys.modules if '.delegates.npu' in name]))"
    code += "; from delegate_sim_cli.main import main; main()"
    for arguments, loaded in ((["--delegate", "gpu"], False), (["--delegate", "npu-intel"], True)):
        done = subprocess.run(
            [sys.executable, "-c", code, "analyze", str(path), *arguments], capture_output=True, text=True, check=True
        )
        assert (done.stdout.splitlines()[-1] != "[]") == loaded
