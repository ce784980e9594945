"""The model that engines are tried with."""

from __future__ import annotations

import base64
import os

import pytest

import delegate_sim
from delegate_sim.delegates.registry import VELA_NAMES
from delegate_sim.foundation import packages
from delegate_sim.live import trial
from tests.support.live import vela_process


def test_the_model_that_is_tried_has_one_node():
    (graph,) = delegate_sim.load(base64.b64decode(trial._MODEL)).subgraphs
    assert [node.op for node in graph.nodes] == ["TANH"]


@pytest.mark.skipif(os.name != "posix", reason="processes are limited on POSIX systems only")
def test_vela_is_tested_once_for_all_configurations(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(packages, "package_version", lambda name: "5.2.0" if name == "ethos-u-vela" else "")
    monkeypatch.setattr(packages, "package_folder", lambda name: None)
    runs = vela_process.stand_in(monkeypatch, 1, "Error: it lacks a library\n")
    lacks = {one.target: one.lacks for one in trial.tested_engines([]).engines}
    assert len(runs) == 1
    assert ["a library" in lacks[name] for name in VELA_NAMES] == [True] * len(VELA_NAMES)
