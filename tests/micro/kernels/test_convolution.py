"""Refusals of the kernels of convolutions, with reference kernels and with CMSIS-NN."""

from __future__ import annotations

from delegate_sim.micro.rules import PREPARE
from delegate_sim.micro.target import MicroTarget
from tests.support.graphs import arena, constant, node_view, quantized

REFERENCE, CMSIS = MicroTarget(), MicroTarget(kernels="cmsis-nn")
INPUT = quantized(arena("INT8", 1, 8, 8, 4), 0.5)
FILTER = quantized(constant([[[[1] * 4] * 3] * 3] * 8, "INT8"), 0.25)
BIAS = quantized(constant([0] * 8, "INT32"), 0.125)
OUTPUT = quantized(arena("INT8", 1, 8, 8, 8), 0.5)
OPTIONS = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}


def codes(target, inputs=(INPUT, FILTER, BIAS), output=OUTPUT):
    return [reason.code for reason in PREPARE.validate(node_view("CONV_2D", inputs, [output], options=OPTIONS), target).reasons]


def test_an_int8_convolution_is_taken():
    assert codes(REFERENCE) == codes(CMSIS) == []


def test_float_activations_with_int8_weights_are_refused():
    activations = arena("FLOAT32", 1, 8, 8, 4), FILTER, BIAS
    assert codes(REFERENCE, activations, arena("FLOAT32", 1, 8, 8, 8)) == ["micro-hybrid"]


def test_channels_that_do_not_divide_are_refused_by_cmsis_nn():
    three = quantized(arena("INT8", 1, 8, 8, 3), 0.5)
    assert codes(CMSIS, (three, FILTER, BIAS)) == ["micro-shape"]


def test_a_filter_without_quantization_is_refused():
    plain = constant([[[[1] * 4] * 3] * 3] * 8, "INT8")
    assert codes(REFERENCE, (INPUT, plain, BIAS)) == ["micro-quantization"]
