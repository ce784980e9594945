"""No command runs code of the current folder, which may come from a stranger.

The folder has a file for every module of Python and of every installed package. Every command runs there.
"""

import os
import shutil
import subprocess
import sys

import pytest

from delegate_sim_cli.main import _COMMANDS
from tests.support.conversion.fake_converters import make_environment, make_source
from tests.support.event_loops import run_coroutine
from tests.support.models import chain_model
from tests.support.shadows import imported_shadows, write_shadows

PROGRAM = shutil.which("delegate-sim", path=os.path.dirname(sys.executable))
LOG = "INFO: Created TensorFlow Lite delegate for NNAPI.\n"
RUNS = {
    "analyze": ["a.tflite"],
    "diagnose": ["a.tflite", "--delegate", "nnapi"],
    "compare": ["a.tflite", "b.tflite", "--delegate", "gpu"],
    "whatif": ["a.tflite", "--delegate", "nnapi", "--set-version", "ADD=4"],
    "fix": ["a.tflite", "--delegate", "nnapi", "--feature-level", "28", "-o", "fixed.tflite"],
    "sweep": ["good.keras", "--delegate", "gpu", "--no-cache", "--python", "../environment"],
    "verify": ["a.tflite", "b.tflite"],
    "reduce": ["a.tflite", "--command", f"{sys.executable} -c 'import click, socket; exit(1)'", "-o", "small.tflite"],
    "report": ["a.tflite", "--delegate", "nnapi", "-o", "page.html"],
    "export": ["model-explorer", "a.tflite", "--delegate", "nnapi", "-o", "a.json"],
    "micro": ["a.tflite"],
    "releases": ["a.tflite", "--delegate", "gpu"],
    "reconcile": ["a.tflite", "--log", "a.log"],
    "import-records": ["a.log", "--models", "a.tflite"],
    "scan": ["a.tflite", "b.tflite", "--delegate", "nnapi", "-o", "zoo.csv", "--processes", "2"],
    "query": ["zoo.csv"],
    "init": [],
    "check": ["--update"],
    "rules": ["--op", "CONV_2D"],
    "explain": ["nnapi-operator-version"],
    "doctor": [],
    "mcp": ["--root", "."],
    "inspect": ["a.tflite"],
}
"""The arguments with which each command runs, in this order."""
MAY_FAIL = {"sweep", "verify", "fix", "mcp", "scan", "query"}
"""Commands that fail if an extra is not installed. The converter of ``sweep`` writes no complete model."""


@pytest.fixture
def downloads(tmp_path):
    folder = tmp_path / "downloads"
    write_shadows(folder)
    for name in ("a.tflite", "b.tflite"):
        chain_model(["ADD", "NEG", "ADD"]).write(folder / name)
    (folder / "a.log").write_text(LOG)
    make_source(folder, "good")
    make_environment(tmp_path / "environment")
    return folder


def run(folder, *command):
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="the program delegate-sim is not installed beside this Python")
def test_no_command_imports_from_the_current_folder(downloads):
    assert set(RUNS) == set(_COMMANDS)
    for name, arguments in RUNS.items():
        ended = run(downloads, PROGRAM, name, *arguments)
        assert imported_shadows(downloads) == [], name
        assert ended.returncode in ((0, 1, 2) if name in MAY_FAIL else (0, 1)), (name, ended.stderr)
        assert "Traceback" not in ended.stderr, (name, ended.stderr)


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="the program delegate-sim is not installed beside this Python")
@pytest.mark.parametrize("delegate", ["xnnpack", "vela"])
def test_no_real_delegate_imports_from_the_current_folder(downloads, delegate):
    run(downloads, PROGRAM, "analyze", "a.tflite", "--delegate", delegate, "--live")
    assert imported_shadows(downloads) == []


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="the program delegate-sim is not installed beside this Python")
def test_no_tool_of_the_server_imports_from_the_current_folder(downloads):
    mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def call():
        server = StdioServerParameters(command=PROGRAM, args=["mcp"], cwd=str(downloads))
        async with stdio_client(server) as (read, write), mcp.ClientSession(read, write) as session:
            await session.initialize()
            return await session.call_tool("analyze", {"model": str(downloads / "a.tflite"), "delegate": "gpu"})

    result = run_coroutine(call())
    assert not result.is_error
    assert imported_shadows(downloads) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 itself imports modules of the current folder for -m")
def test_the_module_does_not_import_from_the_current_folder(downloads):
    ended = run(downloads, sys.executable, "-m", "delegate_sim", "analyze", "a.tflite", "--delegate", "gpu")
    assert imported_shadows(downloads) == []
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="the program delegate-sim is not installed beside this Python")
def test_an_empty_entry_of_pythonpath_is_not_the_current_folder(tmp_path, monkeypatch):
    """Python imports its own first modules before the program can change the path, so only other modules are tried."""
    write_shadows(tmp_path / "downloads", ["click", "numpy", "flatbuffers", "tflite", "rich", "tabulate"])
    monkeypatch.setenv("PYTHONPATH", os.pathsep)
    ended = run(tmp_path / "downloads", PROGRAM, "--version")
    assert ended.returncode == 0, ended.stderr
    assert imported_shadows(tmp_path / "downloads") == []
