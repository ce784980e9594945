"""Files that shrink while they are read are never copied into an output."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from delegate_sim import load
from delegate_sim.errors import ModelError
from delegate_sim.foundation.files import LARGEST_IN_MEMORY, open_input
from tests.support.models import MIXED, chain_model

not_on_windows = pytest.mark.skipif(sys.platform == "win32", reason="no mapped file can shrink there, nor is one sparse")
SHRINKS = """
import os
from delegate_sim import load
from delegate_sim.foundation.files import write_chunks
model = load("large.tflite")
os.truncate("large.tflite", 4096)
write_chunks("out.tflite", [model.content])
"""


def test_a_small_file_that_shrinks(tmp_path, monkeypatch):
    path = tmp_path / "small.tflite"
    chain_model(MIXED).write(path)

    def opened(name, **named):
        file = open_input(name, **named)
        os.truncate(name, 30)
        return file

    monkeypatch.setattr("delegate_sim.bundles.ranged.open_input", opened)
    with pytest.raises(ModelError, match=r"small\.tflite: is (truncated|malformed)"):
        load(path)


@not_on_windows
def test_a_large_file_is_not_read_as_a_whole(tmp_path):
    path = tmp_path / "huge.tflite"
    chain_model(MIXED).write(path)
    os.truncate(path, 1 << 40)
    assert load(path).size == 1 << 40


@not_on_windows
def test_nothing_is_written_of_a_large_file_that_shrinks(tmp_path):
    path = tmp_path / "large.tflite"
    chain_model(MIXED).write(path)
    os.truncate(path, LARGEST_IN_MEMORY + 1)
    result = subprocess.run([sys.executable, "-c", SHRINKS], check=False, cwd=tmp_path, capture_output=True, timeout=60)
    assert result.returncode != 0
    assert not (tmp_path / "out.tflite").exists()
