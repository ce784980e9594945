"""``delegate-sim init`` in folders of all kinds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from delegate_sim.gate.configuration import read_configuration
from tests.support.gate_models import upsampler

CONFIGURATION = "delegate-sim.toml"


def test_init_finds_folders(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a/x.tflite", "a/y.tflite", "b [1]/x.tflite", ".hidden/x.tflite", "node_modules/x.tflite", "top.tflite"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        upsampler().write(tmp_path / name)
    assert run("init").exit_code == 0
    assert 'models = ["a/*.tflite", "b [[]1]/*.tflite", "*.tflite"]' in (tmp_path / CONFIGURATION).read_text(encoding="utf-8")
    assert run("check", "--update").stdout.startswith("4 models on 1 target: 4 passed\n")


@pytest.mark.parametrize("name", [b"a\x7fb", b"a\xff\xfeb", b"a\nb", b"\xc3\xa9[\xff]", b'a"\\b'])
def test_check_reads_the_names_that_init_writes(tmp_path, run, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    try:
        os.mkdir(name)
    except OSError:
        pytest.skip("this system does not allow this name")
    upsampler().write(tmp_path / os.fsdecode(name) / "m.tflite")
    assert run("init").exit_code == 0
    assert run("check", "--update").stdout.startswith("1 model on 1 target: 1 passed\n")


def test_init_without_models(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("init")
    assert result.exit_code == 0
    assert "without models" in result.stdout
    assert run("check").exit_code == 2


def test_init_with_many_folders_names_those_at_the_top(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(12):
        folder = tmp_path / "models" / str(number)
        folder.mkdir(parents=True)
        upsampler().write(folder / "m.tflite")
    run("init")
    assert 'models = ["models/**/*.tflite"]' in (tmp_path / CONFIGURATION).read_text(encoding="utf-8")
    assert run("check", "--update").exit_code == 0


def test_init_for_several_android_releases(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    upsampler().write(tmp_path / "m.tflite")
    assert run("init", "--delegate", "nnapi", "--delegate", "gpu", "--android", "11", "--android", "13").exit_code == 0
    assert run("check", "--update").stdout.startswith("1 model on 3 targets: 3 passed\n")
    assert run("check", "--target", "nnapi@android-11").stdout == "1 model on 1 target: 1 passed\n"
    unknown = run("init", "--force", "--android", "99")
    assert (unknown.exit_code, "there is no Android release '99'; the releases are 8.1, 9, 10, " in unknown.stderr) == (2, True)
    assert "--android applies only to nnapi" in run("init", "--force", "--delegate", "gpu", "--android", "11").stderr


@pytest.mark.parametrize(
    ("arguments", "variable", "targets"),
    [
        ((), "", ["mldrift"]),
        (("--android", "11"), "", ["nnapi"]),
        (("--device", "i.MX 8M Plus"), "", ["imx8mplus@vx-nxp", "imx8mplus@teflon", "imx8mplus@xnnpack"]),
        (("--device", "snapdragon8+gen1", "--delegate", "coreml"), "", ["snapdragon8plusgen1@mldrift", "coreml"]),
        ((), "imx93", ["imx93@ethosu-imx93", "imx93@xnnpack"]),
        (("--for", "iphones"), "imx93", ["iphones@mldrift", "iphones@coreml", "iphones@xnnpack"]),
        (("--for", "microcontrollers", "--delegate", "gpu"), "", ["microcontrollers", "gpu"]),
    ],
)
def test_the_targets_that_init_writes(tmp_path, run, monkeypatch, arguments, variable, targets):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DELEGATE_SIM_DEVICE", variable)
    assert run("init", *arguments).exit_code == 0
    names = [target.name for target in read_configuration(CONFIGURATION).targets]
    assert set(targets) <= set(names)
    assert len(names) == len(targets) or "snapdragon" in names[0]
    text = Path(CONFIGURATION).read_text("utf-8")
    Path(CONFIGURATION).write_text(text.replace("# assume-ops-registered", "assume-ops-registered"), "utf-8")
    assumed = {target.name: target.target.assume_ops_registered for target in read_configuration(CONFIGURATION).targets}
    assert [name for name in assumed if not assumed[name]] == [name for name in names if name == "microcontrollers"]


def test_devices_without_delegates_are_refused(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("microcontroller", 'kind = "micro"'), ("galaxys24", "exynos2400"), ("toaster", "no device")):
        result = run("init", "--device", name)
        assert (result.exit_code, text in result.stderr) == (2, True), name
    assert not (tmp_path / CONFIGURATION).exists()
