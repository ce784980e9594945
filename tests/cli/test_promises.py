"""The same input gives the same bytes, whatever the process, its folder and its locale; paths may be any that a system has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.models import MIXED, chain_model

MODEL = Path(__file__).parents[2] / "fixtures" / "models" / "transformer_block.tflite"
COMMANDS = (
    ("analyze", "--delegate", "nnapi", "--format", "json"),
    ("analyze", "--delegate", "gpu", "--format", "sarif"),
    ("diagnose", "--delegate", "gpu", "--format", "json"),
    ("inspect",),
)


def output(arguments, folder=None, **environment):
    own = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LC_ALL", "LANG", "PYTHONUTF8")}
    found = subprocess.run(
        [sys.executable, "-m", "delegate_sim", *arguments],
        cwd=folder,
        env={**own, **environment},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert b"Traceback" not in found.stderr
    return found.returncode, found.stdout, found.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_same_bytes(command, tmp_path):
    arguments = [command[0], str(MODEL), *command[1:]]
    first = output(arguments, PYTHONHASHSEED="0")
    assert first[0] == 0
    assert output(arguments, tmp_path, PYTHONHASHSEED="4711") == first


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "ascii"}], ids=["C", "ascii"]
)
def test_other_locales(tmp_path, locale):
    builder = chain_model(MIXED)
    builder.subgraph("größe 尺寸")
    builder.write(tmp_path / "größe 尺寸.tflite")
    for form in ("text", "json", "markdown"):
        code, found, errors = output(["analyze", "größe 尺寸.tflite", "--delegate", "vx", "--format", form], tmp_path, **locale)
        assert (code, errors) == (0, b"")
        assert found


@pytest.mark.parametrize("name", [b"a b[x]'\"$(x)\n.tflite", b"\xff\xfe.tflite", b"-.tflite"])
@pytest.mark.skipif(sys.platform != "linux", reason="names of bytes")
def test_any_path(tmp_path, name):
    path = os.path.join(os.fsencode(tmp_path), name)
    try:
        with open(path, "wb") as file:
            file.write(chain_model(MIXED).bytes())
    except OSError:
        pytest.skip("the file system does not take the name")
    for given in (b"./" + name, path, os.fsencode(tmp_path)):
        code, found, errors = output([b"analyze", given, b"--delegate", b"vx", b"--format", b"json"], tmp_path)
        assert (code, errors) == (0, b"")
        entry = json.loads(found)
        assert (entry[0] if isinstance(entry, list) else entry)["model"]["path"].endswith(".tflite")
    assert output([b"analyze", path, b"--delegate", b"vx"], tmp_path)[0] == 0


def test_standard_input():
    with MODEL.open("rb") as file:
        found = subprocess.run(
            [sys.executable, "-m", "delegate_sim", "analyze", "-", "--delegate", "vx"],
            stdin=file,
            capture_output=True,
            timeout=120,
            check=False,
        )
    assert (found.returncode, found.stderr) == (0, b"")
