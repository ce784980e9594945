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


def first_step():
    """The first step of an unrolled recurrent layer of unknown batch, whose state is zeros."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    x = layers.input("FLOAT32", 1, 2, 4, signature=(-1, 2, 4))
    shape = layers.node("SHAPE", (x,), "INT32", (3,), options={"out_type": 2})
    ends = [layers.constant("INT32", (value,)) for value in (0, 1, 1)]
    batch = layers.node("STRIDED_SLICE", (shape, *ends), "INT32", (), options={"shrink_axis_mask": 1})
    size = layers.node("PACK", (batch, layers.constant("INT32", 8)), "INT32", (2,), options={"values_count": 2})
    state = layers.node("FILL", (size, layers.constant("FLOAT32", 0.0)), "FLOAT32", (1, 8), signature=(-1, 8))
    turned = layers.node("TRANSPOSE", (x, layers.constant("INT32", (1, 0, 2))), shape=(2, 1, 4), signature=(2, -1, 4))
    row = layers.node(
        "STRIDED_SLICE",
        (turned, *[layers.constant("INT32", end) for end in ((0, 0, 0), (1, 1, 4), (1, 1, 1))]),
        shape=(1, 4),
        options={"shrink_axis_mask": 1, "end_mask": 6},
        signature=(-1, 4),
    )
    ahead = layers.node("FULLY_CONNECTED", (row, layers.weights("FLOAT32", 8, 4), -1), shape=(1, 8), signature=(-1, 8))
    back = layers.node("FULLY_CONNECTED", (state, layers.weights("FLOAT32", 8, 8), -1), shape=(1, 8), signature=(-1, 8))
    both = layers.node("ADD", (ahead, back), shape=(1, 8), signature=(-1, 8))
    biased = layers.node("ADD", (both, layers.weights("FLOAT32", 8)), shape=(1, 8), signature=(-1, 8))
    gate = layers.node("LOGISTIC", (biased,), shape=(1, 8), signature=(-1, 8))
    kept = layers.node("MUL", (gate, state), shape=(1, 8), signature=(-1, 8))
    layers.node("ADD", (kept, layers.node("TANH", (biased,), shape=(1, 8), signature=(-1, 8))), shape=(1, 8), signature=(-1, 8))
    layers.finish()
    return builder
