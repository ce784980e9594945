"""``doctor`` with a stand-in for LiteRT's tool."""

from __future__ import annotations

import json
import os

import pytest

from tests.support.live.plugin_tool import FAILS, stand_in

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the tool runs on Linux only")


@pytest.fixture
def tool(tmp_path, monkeypatch):
    return stand_in(tmp_path, monkeypatch)


@pytest.mark.slow
def test_doctor_tries_each(tool, run):
    tool(ops=("TANH",))
    lines = run("doctor").stdout.splitlines()
    assert any(line.split()[:2] == ["npu-intel", "ready"] for line in lines)
    tool(("x: Could not load shared library y.so: libopenvino.so: no file.",), end=FAILS)
    entries = {entry["target"]: entry for entry in json.loads(run("doctor", "--format", "json").stdout)["engines"]}
    assert not entries["npu-intel"]["ready"]
    assert "libopenvino.so" in entries["npu-intel"]["lacks"]
    assert not entries["npu-qualcomm"]["simulated"]


@pytest.mark.slow
def test_doctor_goes_on_to_the_second_stage(tool, run):
    """The one-node model is selected, but the compiler lacks a library."""
    line = 'Cannot load library "/x/libloader.so": no such file'
    tool(ops=("TANH",), end=f"if '--cmd=apply' in sys.argv:\n    print({line!r}); sys.exit(248)\nsys.exit(0)")
    entries = {entry["target"]: entry for entry in json.loads(run("doctor", "--format", "json").stdout)["engines"]}
    found = entries["npu-intel"]
    assert (found["ready"], found["built"]) == (True, False)
    assert "libloader.so in /x" in found["problems"][0]
    assert "compiles nothing: libloader.so in /x" in " ".join(run("doctor").stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["", "host/lib", "data/v8_0_10/host/lib"])
def test_the_libraries_of_an_sdk(tool, run, tmp_path, folder):
    tool(("x: Failed to load NeuronAdapter shared library: no file.",), end=FAILS)
    sdk = tmp_path / "sdk"
    (sdk / folder).mkdir(parents=True, exist_ok=True)
    path = sdk / folder / "libneuron_adapter.so"
    name = path.name

    def found(*arguments):
        entries = json.loads(run("doctor", *arguments, "--format", "json").stdout)["engines"]
        return next(entry for entry in entries if entry["target"] == "npu-mediatek")

    assert found("--sdk", sdk)["libraries"] == {name: None}
    assert "not found: libneuron_adapter.so" in " ".join(run("doctor").stdout.split())
    path.touch()
    assert found()["libraries"] == {name: None}
    assert found("--sdk", sdk)["libraries"] == {name: str(path)}
    assert str(path.parent) in found("--sdk", sdk)["searched"]


def test_an_sdk_that_an_environment_variable_names(tool, run, tmp_path, monkeypatch):
    monkeypatch.setenv("EXYNOS_AI_LITECORE_ROOT", str(tmp_path / "litecore"))
    entries = {entry["target"]: entry for entry in json.loads(run("doctor", "--format", "json").stdout)["engines"]}
    assert entries["npu-samsung"]["searched"][0] == str(tmp_path / "litecore" / "lib" / "x86_64-linux")


@pytest.mark.slow
def test_a_library_in_the_current_folder_is_not_loaded(tool, run, tmp_path, monkeypatch):
    """The variable may have an empty entry, which means the current folder."""
    tool(("x: Failed to load NeuronAdapter shared library: no file.",), end=FAILS)
    current = tmp_path / "current"
    (current / "below").mkdir(parents=True)
    monkeypatch.chdir(current)
    for folder in (current, current / "below"):
        (folder / "libneuron_adapter.so").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f":below:{tmp_path / 'other'}")
    monkeypatch.setenv("EXYNOS_AI_LITECORE_ROOT", "below")
    entries = {entry["target"]: entry for entry in json.loads(run("doctor", "--format", "json").stdout)["engines"]}
    assert entries["npu-mediatek"]["libraries"] == {"libneuron_adapter.so": None}
    assert entries["npu-mediatek"]["searched"][0] == str(tmp_path / "other")
    assert entries["npu-samsung"]["searched"][0] == str(tmp_path / "other")
