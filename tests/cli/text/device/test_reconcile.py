"""Texts about the comparison with a log."""

from __future__ import annotations

from delegate_sim.delegates.registry import find_delegate
from delegate_sim.device.learn.driver_rejections import RejectedNodes
from delegate_sim_cli.text.device.reconcile import assumed


def test_only_a_value_that_can_be_typed_is_an_option():
    declared = find_delegate("nnapi").options
    assert assumed(declared, "feature_level", 28).endswith("=28")
    assert assumed(declared, "driver", RejectedNodes({0: [1]})) == "a driver as the log shows"
