"""Texts about the comparison with a log."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.registry import find_delegate
from delegate_sim.device.compare.driver_rejections import RejectedNodes
from delegate_sim.device.compare.reconcile import reconcile
from delegate_sim.device.parse.log import read_log
from delegate_sim.model.reader import load
from delegate_sim_cli.text.device.reconcile import assumed, reconciliation_lines
from fixtures.builder import ModelBuilder
from fixtures.networks import Layers, float16_convolution
from tests.support.models import chain_model


def test_only_a_value_that_can_be_typed_is_an_option():
    declared, model = find_delegate("nnapi").options, load(chain_model(["RELU", "TANH", "TANH", "ABS"]).bytes())
    assert assumed(model, declared, "feature_level", 28).endswith("=28")
    assert assumed(model, declared, "driver", RejectedNodes({0: [1, 2, 3]})) == "a driver that rejects TANH, ABS"


LISTED = "ERROR: Following operations are not supported by GPU delegate:\n{op}: \n2 operations will run on the GPU, and the "
LISTED += "remaining {left} operations will run on the CPU.\n"


@pytest.mark.parametrize(
    ("op", "listed"),
    [
        ("DEQUANTIZE", "DEQUANTIZE (same): on the device without a reason; simulated 4 nodes without a reason"),
        ("CONV_2D", "CONV_2D (not compared): on the device without a reason; simulated accepted"),
    ],
)
def test_an_operator_that_the_device_lists_without_a_reason(op, listed):
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    x = float16_convolution(layers, layers.input("FLOAT32", 1, 4, 4, 2))
    float16_convolution(layers, layers.node("ROUND", (x,)))
    layers.finish()
    model = load(builder.bytes())
    found = reconcile(model, read_log(LISTED.format(op=op, left=5)))
    lines = [line.text for line in reconciliation_lines(found, 120, verbose=False)]
    assert f"  {listed}" in lines
    assert "In the simulation, refused by the delegate's own rules: 5 nodes" in lines
