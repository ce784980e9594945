"""Files are opened with ``delegate_sim/foundation/files.py`` only."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from delegate_sim.foundation.files import cache_folder, write_chunks

ROOT = Path(__file__).parents[2]
OPENER = "delegate_sim/foundation/files.py"
METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "NamedTemporaryFile", "memmap", "fromfile", "genfromtxt"}
OF_THEIR_OWN = {
    "delegate_sim/bundles/task_files.py": "the temporary file that write_by gives, and members of an archive that is open",
    "delegate_sim/bundles/zip_writing.py": "a member of the archive that it writes",
    "delegate_sim/conversion/convert.py": "a temporary folder that a converter's process works in",
    "delegate_sim/conversion/samples.py": "a temporary folder that a converter's process works in",
    "delegate_sim/conversion/supervisor.py": "the kernel's own files about processes",
    "delegate_sim/conversion/model_code.py": "runs in the Python of a converter",
    "delegate_sim/inference/difference.py": "a temporary folder that a process shares with one that it starts",
    "delegate_sim/inference/worker.py": "the same folder, seen from the other process",
    "delegate_sim/live/litert_engines.py": "a temporary folder that a process shares with one that it starts",
    "delegate_sim/live/execution_plans.py": "the same folder, seen from the other process",
    "delegate_sim/reduction/failures.py": "a temporary folder that a process shares with one that it starts",
    "delegate_sim/live/litert_lm.py": "a temporary folder that a process shares with one that it starts",
    "delegate_sim/live/litert_lm_worker.py": "the same folder, seen from the other process",
    "delegate_sim/live/plugin_engine.py": "a temporary folder that a process shares with one that it starts",
    "delegate_sim/foundation/parsing/array_files.py": "the member of an archive that is open",
    "delegate_sim/live/vela.py": "a temporary folder that a process shares with one that it starts",
    "delegate_sim/page/document.py": "what the package brings along",
    "delegate_sim/verification/execution.py": "a temporary folder that a process shares with one that it starts",
    "delegate_sim/verification/worker.py": "the same folder, seen from the other process",
    "cli/console/terminal.py": "the null device, in place of a closed standard output",
}
"""Modules that open what no user names."""


def openings(source):
    """Return the lines of a module that open a file."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if (name == "open" or name in METHODS) and not ast.unparse(node.func).startswith("formatter."):
                lines.append(node.lineno)
    return lines


def test_no_other_module_opens_files():
    paths = [path for folder in ("delegate_sim", "cli") for path in sorted((ROOT / folder).rglob("*.py"))]
    lines = {path.relative_to(ROOT).as_posix(): openings(path.read_text("utf-8")) for path in paths}
    opening = {name: found for name, found in lines.items() if found and name != OPENER}
    assert {name: found for name, found in opening.items() if name not in OF_THEIR_OWN} == {}
    assert opening.keys() == OF_THEIR_OWN.keys()


@pytest.mark.parametrize("source", ["open(p)", "Path(p).read_bytes()", "os.open(p, 0)", "tempfile.NamedTemporaryFile()"])
def test_openings_are_found(source):
    assert openings(source) == [1]


@pytest.mark.parametrize(
    "content", [b"", bytes(10), bytes(1 << 18), b"a" + bytes(1 << 18), bytes(1 << 18) + b"a", bytes(1 << 17) + b"ab" * 50_000]
)
def test_a_file_with_holes_has_the_same_bytes(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    write_chunks(str(path), [content[:100_000], memoryview(content)[100_000:]], replaces=True, has_holes=True)
    assert path.read_bytes() == content


@pytest.mark.skipif(os.name == "nt", reason="Windows has another variable")
@pytest.mark.parametrize("given", ["", "cache", "./cache"])
def test_the_cache_is_not_in_the_current_folder(monkeypatch, tmp_path, given):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert cache_folder("live") == str(tmp_path / ".cache" / "delegate-sim" / "live")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    assert cache_folder("live") == str(tmp_path / "own" / "delegate-sim" / "live")
