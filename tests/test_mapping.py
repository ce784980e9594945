"""Large files that shrink while they are looked at: one line that names the file, and nothing is written."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from delegate_sim import load
from delegate_sim.errors import ModelError
from delegate_sim.files import open_input
from fixtures.builder import ModelBuilder
from tests.models import MIXED, chain_model

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system ends the process")
_WEIGHTS = 17 << 20
PROGRAM = """
import os, sys
from delegate_sim import mapping
map_file, length = mapping.map_file, int(sys.argv.pop(1))
def shrink(file, path=""):
    view = map_file(file, path)
    if path.endswith("large.tflite"):
        os.truncate(path, length)
    return view
mapping.map_file = shrink
from delegate_sim_cli.start import main
main()
"""
"""The command line, with a model that another program shortens as soon as it is open."""


def write_large(path):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 4096]), graph.tensor("y", "FLOAT32", [1, 1088])
    weights = graph.tensor("w", "INT8", [1088, 4096], [0] * (1088 * 4096), scale=0.5, zero_point=0)
    graph.node("FULLY_CONNECTED", [source, weights, -1], [result])
    graph.outputs(result)
    builder.write(path)
    os.truncate(path, path.stat().st_size + _WEIGHTS)  # as a model that ends in weights
    return path


@pytest.fixture
def large(tmp_path):
    return write_large(tmp_path / "large.tflite")


def run(folder, length, *arguments):
    command = [sys.executable, "-c", PROGRAM, str(length), *map(str, arguments)]
    return subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True, timeout=60)


@linux_only
@pytest.mark.parametrize("length", [0, 5, 4096, 5 << 20])
@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", "large.tflite", "--delegate", "vx"),
        ("inspect", "large.tflite", "--output", "out"),
        ("diagnose", "large.tflite", "--delegate", "gpu"),
        ("fix", "large.tflite", "--for", "vx", "--no-proof", "--force", "-o", "out"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_model_that_shrinks(tmp_path, large, arguments, length):
    found = run(tmp_path, length, *arguments)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == "error: large.tflite: shrank while it was read\n"
    assert os.listdir(tmp_path) == ["large.tflite"]


@linux_only
def test_other_models_have_their_answers(tmp_path, large):
    chain_model(MIXED).write(tmp_path / "small.tflite")
    found = run(tmp_path, 9, "analyze", "large.tflite", "small.tflite", "--delegate", "vx", "--format", "json")
    assert found.returncode == 2
    assert found.stderr == "error: large.tflite: shrank while it was read\n"
    assert "small.tflite" in found.stdout


LATER = """
import os
from delegate_sim import load, mapping
from delegate_sim.files import write_whole
mapping.survive_shrinking()
model = load("large.tflite")
os.truncate("large.tflite", 3)
print(bytes(model.content[-4:]) == bytes(4))
try:
    write_whole("out", "text")
except mapping.ShrunkError as error:
    print(error.strerror, os.listdir())
write_whole("out", "text")  # it has been told
print(sorted(os.listdir()))
"""


@linux_only
def test_nothing_is_written_of_what_shrinks_later(tmp_path, large):
    command = [sys.executable, "-c", LATER]
    found = subprocess.run(command, check=True, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert found.stdout.splitlines() == [
        "True",
        "large.tflite shrank while it was read ['large.tflite']",
        "['large.tflite', 'out']",
    ]


@linux_only
def test_a_sparse_file_is_not_read(tmp_path):
    path = write_large(tmp_path / "huge.tflite")
    os.truncate(path, 1 << 40)
    assert load(path).size == 1 << 40


@linux_only
def test_a_fault_of_another_ends_the_process(tmp_path):
    (tmp_path / "file").write_bytes(bytes(9000))
    program = (
        "import mmap, os; from delegate_sim import mapping; mapping.survive_shrinking()\n"
        "file = open('file', 'rb'); mapping.map_file(file, 'file')\n"
        "other = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ); os.truncate('file', 0); other[8500]"
    )
    found = subprocess.run([sys.executable, "-c", program], check=False, cwd=tmp_path, capture_output=True, timeout=60)
    assert found.returncode == -7


def test_a_small_file_that_shrinks(tmp_path, monkeypatch):
    path = tmp_path / "small.tflite"
    chain_model(MIXED).write(path)
    opened = open_input

    def shrunk(name, **named):
        file = opened(name, **named)
        os.truncate(name, 30)
        return file

    monkeypatch.setattr("delegate_sim.model.reader.open_input", shrunk)
    with pytest.raises(ModelError, match=r"small\.tflite: is (truncated|malformed)"):
        load(path)
