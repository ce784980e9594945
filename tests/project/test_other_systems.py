"""Modules that only some systems have: the package is imported and used without them, as on Windows or in a browser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCKED = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty")
_WITHOUT = f"""\
import sys
for name in {BLOCKED!r}:
    sys.modules[name] = None
"""
_IMPORT_ALL = """
import importlib, pkgutil, delegate_sim, delegate_sim_cli
for package in (delegate_sim, delegate_sim_cli):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ImportError as error:
                if error.name is None or error.name.partition(".")[0] in sys.argv[1].split(","):
                    print(f"{module.name} needs {error.name}: {error}")
"""
_COMMAND = """
from delegate_sim_cli import start
sys.argv[0] = "delegate-sim"
start.main()
"""


def run(code, *arguments, folder):
    finished = subprocess.run(
        [sys.executable, "-c", _WITHOUT + code, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in finished.stderr, finished.stderr
    return finished


def test_every_module_is_imported_without_them(tmp_path):
    finished = run(_IMPORT_ALL, ",".join(BLOCKED), folder=tmp_path)
    assert (finished.stdout, finished.returncode) == ("", 0)


def test_commands_work_without_them(tmp_path):
    model = ROOT / "fixtures" / "models" / "mobilenet_block.tflite"
    assert run(_COMMAND, "analyze", model, folder=tmp_path).returncode == 0
    written = tmp_path / "report.json"
    assert run(_COMMAND, "analyze", model, "--format", "json", "-o", written, folder=tmp_path).returncode == 0
    assert written.is_file()
    scan = tmp_path / "scan.csv"
    finished = run(_COMMAND, "scan", model, "--delegate", "nnapi", "-o", scan, folder=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert scan.read_text("utf-8").count("\n") == 2
