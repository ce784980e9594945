"""Texts about the comparison with a log."""

from __future__ import annotations

from delegate_sim.delegates.registry import find_delegate
from delegate_sim.device.compare.driver_rejections import RejectedNodes
from delegate_sim.model.reader import load
from delegate_sim_cli.text.device.reconcile import assumed
from tests.support.models import chain_model


def test_only_a_value_that_can_be_typed_is_an_option():
    declared, model = find_delegate("nnapi").options, load(chain_model(["RELU", "TANH", "TANH", "ABS"]).bytes())
    assert assumed(model, declared, "feature_level", 28).endswith("=28")
    assert assumed(model, declared, "driver", RejectedNodes({0: [1, 2, 3]})) == "a driver that rejects TANH, ABS"
