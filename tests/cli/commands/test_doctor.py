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


def test_doctor_tries_each(tool, run):
    tool(ops=("TANH",))
    lines = run("doctor").stdout.splitlines()
    assert any(line.split()[:2] == ["npu-intel", "ready"] for line in lines)
    tool(("x: Could not load shared library y.so: libopenvino.so: no file.",), end=FAILS)
    entries = {entry["target"]: entry for entry in json.loads(run("doctor", "--format", "json").stdout)["engines"]}
    assert not entries["npu-intel"]["ready"]
    assert "libopenvino.so" in entries["npu-intel"]["lacks"]
    assert not entries["npu-qualcomm"]["simulated"]
