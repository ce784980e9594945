"""Small models as converters write them."""

from __future__ import annotations

from fixtures.builder import ModelBuilder
from fixtures.layers import Layers


def open_batch(further=()):
    """A RELU and a RESHAPE of an image of unknown batch, whose shape is put together while running; then further nodes."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")

    def constant(name, *values):
        return graph.tensor(name, "INT32", [len(values)], data=list(values))

    image = graph.input("image", "FLOAT32", [1, 4, 4, 2], signature=[-1, 4, 4, 2])
    active = graph.tensor("active", "FLOAT32", [1, 4, 4, 2], signature=[-1, 4, 4, 2])
    shape, batch, wanted = [graph.tensor(name, "INT32", sizes) for name, sizes in (("s", [4]), ("b", []), ("w", [2]))]
    flat = graph.tensor("flat", "FLOAT32", [1, 32], signature=[-1, 32])
    size = graph.tensor("size", "INT32", [], data=[32])
    graph.node("RELU", [image], [active])
    graph.node("SHAPE", [active], [shape], options={"out_type": 2})
    slices = [constant("begin", 0), constant("end", 1), constant("strides", 1)]
    graph.node("STRIDED_SLICE", [shape, *slices], [batch], options={"shrink_axis_mask": 1})
    graph.node("PACK", [batch, size], [wanted], options={"values_count": 2})
    graph.node("RESHAPE", [active, wanted], [flat], options={})
    for number, op in enumerate(further):
        result = graph.tensor(f"further{number}", "FLOAT32", [1, 32], signature=[-1, 32])
        graph.node(op, [flat], [result], options={"approximate": True} if op == "GELU" else None)
        flat = result
    graph.outputs(flat)
    return builder


def convolutions(kind="FLOAT32"):
    """Two convolutions, with float or float16 weights."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    x = layers.input("FLOAT32", 1, 8, 8, 3)
    for channels in (4, 8):
        weights = layers.weights(kind, channels, 1, 1, layers.shape_of(x)[-1])
        if kind == "FLOAT16":
            weights = layers.node("DEQUANTIZE", (weights,), "FLOAT32", version=3)
        operands = (x, weights, layers.weights("FLOAT32", channels))
        x = layers.node("CONV_2D", operands, shape=(1, 8, 8, channels), options={"stride_w": 1, "stride_h": 1})
    layers.finish()
    return builder
