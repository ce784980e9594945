"""Small models for tests of the whole way, from a file to what a user reads."""

from __future__ import annotations

from collections.abc import Sequence

from delegate_sim import load
from delegate_sim.model.model import OPTIONAL_TENSOR
from fixtures.builder import ZEROS, ModelBuilder
from fixtures.layers import Layers

MIXED = ("ADD", "ROUND", "ADD 4", "ADD")
"""Three partitions on NNAPI, which takes neither ROUND nor version 4 of ADD."""


def chain_model(ops: Sequence[str]) -> ModelBuilder:
    """Return a model of nodes one after another, each ``ADD`` or an operator of one operand; a version may stand behind it."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "FLOAT32", [1, 4])
    weights = graph.tensor("w", "FLOAT32", [1, 4], data=[1, 2, 3, 4])
    for number, text in enumerate(ops):
        op, _, version = text.partition(" ")
        result = graph.tensor(f"t{number}", "FLOAT32", [1, 4])
        operands, options = ([tensor, weights], {}) if op == "ADD" else ([tensor], None)
        graph.node(op, operands, [result], int(version or 1), options)
        tensor = result
    graph.outputs(tensor)
    return builder


def unprepared_model(first="RELU", broken="CEIL"):
    """A node that all take, and one that no CPU kernel prepares: its result has another type than its operand."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, middle = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("m", "FLOAT32", [1, 4])
    result = graph.tensor("y", "UINT8", [1, 4], scale=1.0, zero_point=0)
    graph.node(first, [source], [middle])
    odd = graph.tensor("odd", "UINT8", [1, 4], scale=1.0, zero_point=0)
    graph.node("QUANTIZE", [middle], [odd])
    graph.node(broken, [odd], [result])
    graph.outputs(result)
    return builder


def many_operators(count):
    """Return a chain of custom operators, each a cause of its own, with a RELU between two."""
    builder = ModelBuilder()
    graph = builder.subgraph()
    tensor = graph.input("x", "FLOAT32", (1, 4))
    for number in range(count):
        middle, result = (graph.tensor(f"{name}{number}", "FLOAT32", (1, 4)) for name in "yz")
        graph.node("CUSTOM", [tensor], [middle], custom=f"Op{number}")
        graph.node("RELU", [middle], [result])
        tensor = result
    graph.outputs(tensor)
    return load(builder.bytes())


def convolution_without_bias():
    """``fix`` would add a bias, which is an array."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    image = graph.input("input", "FLOAT32", (1, 8, 8, 3))
    weights = graph.tensor("filter", "FLOAT32", (4, 3, 3, 3), ZEROS)
    output = graph.tensor("output", "FLOAT32", (1, 6, 6, 4))
    options = {"stride_h": 1, "stride_w": 1, "padding": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
    graph.node("CONV_2D", [image, weights], [output], options=options)
    graph.outputs(output)
    return builder.bytes()


def lstm(*, peephole: bool = False, is_quantized: bool = False) -> ModelBuilder:
    """Return an LSTM as TensorFlow 2.15 writes it."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    kind = "INT8" if is_quantized else "FLOAT32"
    scale = {"scale": 0.1} if is_quantized else {}
    x = layers.input("FLOAT32", 1, 4, 2)
    data = layers.node("QUANTIZE", (x,), kind, **scale) if is_quantized else x
    weights = [layers.weights(kind, 3, width, **scale) for width in (2, 2, 2, 2, 3, 3, 3, 3)]
    holes = [layers.weights("FLOAT32", 3) if peephole else OPTIONAL_TENSOR] * 3
    biases = [layers.weights("INT32" if is_quantized else "FLOAT32", 3, **scale)] * 4
    states = [layers.state(kind, 1, 3, **scale), layers.state("INT16" if is_quantized else "FLOAT32", 1, 3, **scale)]
    omitted = [OPTIONAL_TENSOR]
    inputs = [data, *weights, *holes, *biases, *omitted * 2, *states, *omitted * 4]
    gates = [layers.tensor("FLOAT32", 0) for _ in range(4)] if is_quantized else []
    gates += [layers.tensor("INT8", 0, **scale)] if is_quantized else []
    layers.node("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, kind, (1, 4, 3), intermediates=gates, **scale)
    layers.finish()
    return builder
