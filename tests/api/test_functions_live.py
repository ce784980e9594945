"""Functions that run real delegates: the same answers as the commands, with a stand-in for Vela's process."""

from __future__ import annotations

import json
import os

import pytest

import delegate_sim as sim
from delegate_sim.foundation import packages
from tests.support.live.vela_process import installed_stand_in

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are limited on POSIX systems only")
VELA = "ethos-u55-128"


@pytest.fixture
def model(monkeypatch, tmp_path):
    return installed_stand_in(monkeypatch, tmp_path)


def test_analyze_has_the_decision_of_vela(model, run_json):
    report = sim.analyze(model, VELA, live=True)
    assert [(node.op, node.codes) for node in report.cpu_nodes] == [("NEG", ("vela-constraint",))]
    printed = run_json("analyze", model, "--delegate", VELA, "--live")
    assert json.loads(report.to_json(advice=True)) == printed
    assert [node["place"] for node in printed["live"][0]["nodes"]] == ["npu", "cpu", "gone"]
    assert "ethos-u55-128" in report._repr_html_()


def test_compare_runs_vela_on_each_side(model, run_json):
    compared = sim.compare(model, delegate=VELA, changed={"delegate": "ethosu-imx93"}, defaults="api")
    options = ["--delegate", VELA, "--with", "delegate=ethosu-imx93", "--defaults", "api"]
    assert compared.to_dict() == run_json("compare", model, *options)
    assert compared.a.run.delegate.name == VELA


def test_without_live_the_error_says_how(model):
    with pytest.raises(sim.OptionError, match=f"{VELA} cannot be simulated.*live=True"):
        sim.analyze(model, VELA, defaults="api")


def test_vela_that_is_not_installed(model, monkeypatch):
    monkeypatch.setattr(packages, "package_version", lambda name: "")
    for call in (lambda: sim.analyze(model, VELA, live=True), lambda: sim.compare(model, sim.load(model), VELA, defaults="api")):
        with pytest.raises(sim.OptionError, match=r"ethos-u55-128 cannot run here: ethos-u-vela 5.2 or newer: pip install"):
            call()


def test_live_does_not_take_a_profile(model):
    with pytest.raises(sim.OptionError, match="cannot be combined"):
        sim.analyze(model, VELA, live=True, op_profile="profile.txt")
