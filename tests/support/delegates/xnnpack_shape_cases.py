"""Models whose kernels fail over shapes when tensors are allocated, each with a twin whose kernels can be prepared."""

from __future__ import annotations

from delegate_sim.delegates.xnnpack.rules.calls import ATTENTION
from tests.support.delegates.xnnpack_sketch import Sketch

EMPTY_MAP = bytes.fromhex("00002401")
"""A flexbuffer with an empty map."""


def reduced(axes, shape=(2, 2), op="MEAN", internal=None):
    sketch = Sketch()
    source = sketch.input(shape=shape)
    if internal is not None:
        source = sketch.node("ABS", [source], shape=internal)
    axes = sketch.constant("INT32", (len(axes),), axes)
    return finished(sketch, sketch.node(op, [source, axes], shape=(), options={"keep_dims": False}))


def pooled(op, shape, size=2):
    sketch = Sketch()
    options = {"padding": 0, "stride_w": 1, "stride_h": 1, "filter_width": size, "filter_height": size}
    return finished(sketch, sketch.node(op, [sketch.input(shape=shape)], shape=shape, options=options))


def blocks(op, shape):
    sketch = Sketch()
    return finished(sketch, sketch.node(op, [sketch.input(shape=shape)], shape=shape, options={"block_size": 2}))


def split(axis, shape=(2, 4), count=2):
    sketch = Sketch()
    results = [sketch.graph.tensor(f"part{part}", "FLOAT32", shape) for part in range(count)]
    sketch.graph.node("SPLIT", [sketch.constant("INT32", (), axis), sketch.input(shape=shape)], results, 1, {"num_splits": count})
    sketch.graph.outputs(*results)
    return sketch.builder.bytes()


def quantized_at_run_time(shape):
    sketch = Sketch()
    weights = sketch.constant("INT8", (2, 4), scale=0.5, zero_point=0)
    return finished(sketch, sketch.node("FULLY_CONNECTED", [sketch.input(shape=shape), weights], shape=(1, 2), options={}))


def attention(query, key, value, mask=None):
    sketch = Sketch()
    shapes = [shape for shape in (query, key, value, mask) if shape is not None]
    result = sketch.node(
        "STABLEHLO_COMPOSITE",
        [sketch.input(shape=shape) for shape in shapes],
        shape=query,
        options={"name": ATTENTION, "decomposition_subgraph_index": 1, "composite_attributes": EMPTY_MAP, "version": 1},
    )
    body = sketch.builder.subgraph("body")
    operands = [body.input("operand", "FLOAT32", shape) for shape in shapes]
    found = body.tensor("result", "FLOAT32", query)
    body.node("ABS", operands[:1], [found])
    body.outputs(found)
    return finished(sketch, result)


def unpacked(type, stored, declared, op="FULLY_CONNECTED"):
    sketch = Sketch()
    quantization = {"scale": 0.5, "zero_point": 0} if type == "INT8" else {}
    weights = sketch.node("DEQUANTIZE", [sketch.constant(type, stored, **quantization)], shape=declared)
    shape = (1, 4) if op == "FULLY_CONNECTED" else (2, 4)
    return finished(sketch, sketch.node(op, [sketch.input(shape=shape), weights], shape=(1, 2), options={}))


def variable(op, operands, *, other_reader=False, is_output=False):
    """``operands`` names the value that is read as ``v``, a constant as ``k``."""
    sketch = Sketch()
    handle, value = sketch.graph.tensor("handle", "RESOURCE", ()), sketch.graph.tensor("value", "FLOAT32", (2, 2))
    sketch.graph.node("VAR_HANDLE", [], [handle], options={"shared_name": "variable"})
    sketch.graph.node("READ_VARIABLE", [handle], [value])
    constant = sketch.constant()
    shape = (2 * len(operands), 2) if op == "CONCATENATION" else (2, 2)
    options = {"axis": 0} if op == "CONCATENATION" else {}
    outputs = [sketch.node(op, [{"v": value, "k": constant}[name] for name in operands], shape=shape, options=options)]
    if other_reader:
        outputs.append(sketch.node("ABS", [value]))
    return finished(sketch, *outputs, *([value] if is_output else []))


def combined(one, other):
    sketch = Sketch()
    operands = [sketch.input(shape=one), sketch.input(shape=other)]
    return finished(sketch, sketch.node("SUB", operands, shape=one, options={}))


def normalized(shape):
    sketch = Sketch()
    return finished(sketch, sketch.node("SOFTMAX", [sketch.input(shape=shape)], shape=shape, options={"beta": 1.0}))


def sliced(shape):
    sketch = Sketch()
    operands = [sketch.input(shape=shape), sketch.constant("INT32", (1,), [0]), sketch.constant("INT32", (1,), [1])]
    return finished(sketch, sketch.node("SLICE", operands, shape=(1,)))


def reshaped(sizes):
    sketch = Sketch()
    operands = [sketch.input(shape=(2, 3)), sketch.constant("INT32", (len(sizes),), sizes)]
    return finished(sketch, sketch.node("RESHAPE", operands, shape=(2, 3)))


def convolved(weights, op="CONV_2D"):
    sketch = Sketch()
    channels = weights[3] if op == "DEPTHWISE_CONV_2D" else weights[0]
    operands = [sketch.input(shape=(1, 4, 4, 4)), sketch.constant(shape=weights), sketch.constant(shape=(channels,))]
    options = {"stride_w": 1, "stride_h": 1, "dilation_w_factor": 1, "dilation_h_factor": 1}
    options |= {"depth_multiplier": 1} if op == "DEPTHWISE_CONV_2D" else {}
    return finished(sketch, sketch.node(op, operands, shape=(1, 4, 4, channels), options=options))


def windowed(*sizes, op="CONV_2D", window=3, dilation=1, padding="VALID", before=None):
    """Convolutions in a row of images of these sizes. ``before`` is the operator before them."""
    sketch = Sketch()
    tensor = sketch.input(shape=(1, sizes[0], sizes[0], 1))
    if before is not None:
        tensor = sketch.node(before, [tensor], shape=(1, sizes[0], sizes[0], 1))
    steps = {"stride_w": 1, "stride_h": 1, "dilation_w_factor": dilation, "dilation_h_factor": dilation}
    steps |= {"padding": int(padding == "VALID"), **({"depth_multiplier": 1} if op == "DEPTHWISE_CONV_2D" else {})}
    for size in sizes[1:]:
        operands = [tensor, sketch.constant(shape=(1, window, window, 1)), sketch.constant(shape=(1,))]
        tensor = sketch.node(op, operands, shape=(1, size, size, 1), options=steps)
    return finished(sketch, tensor)


def finished(sketch, *outputs):
    sketch.graph.outputs(*outputs)
    return sketch.builder.bytes()


HEADS = (1, 6, 4, 8)
MASK = (1, 1, 6, 6)
CASES = {
    "axis": ("axes", reduced([2]), reduced([1])),
    "axis-below-0": ("axes", reduced([-3]), reduced([-2])),
    "axis-of-scalar": ("axes", reduced([-1], shape=(), op="SUM"), reduced([0], op="SUM")),
    "axis-of-unknown-rank": (None, None, reduced([1], internal=())),
    "axis-named-twice": (None, None, reduced([1, -1], op="REDUCE_MAX")),
    "average-of-rank-3": (
        "image-rank",
        pooled("AVERAGE_POOL_2D", (4, 4, 3)),
        pooled("AVERAGE_POOL_2D", (1, 4, 4, 3)),
    ),
    "average-of-rank-5": (
        "image-rank",
        pooled("AVERAGE_POOL_2D", (1, 4, 4, 3, 2)),
        pooled("AVERAGE_POOL_2D", (1, 4, 4, 3, 2), 1),
    ),
    "maximum-of-rank-3": ("image-rank", pooled("MAX_POOL_2D", (4, 4, 3)), pooled("MAX_POOL_2D", (1, 4, 4, 3, 2))),
    "depth-of-rank-3": ("image-rank", blocks("DEPTH_TO_SPACE", (4, 4, 4)), blocks("DEPTH_TO_SPACE", (1, 4, 4, 4))),
    "space-of-rank-5": ("image-rank", blocks("SPACE_TO_DEPTH", (1, 4, 4, 4, 4)), blocks("SPACE_TO_DEPTH", (1, 4, 4, 4))),
    "split-axis": ("axes", split(2), split(-1)),
    "uneven-split": ("uneven-split", split(1, (2, 3)), split(1, count=4)),
    "window": ("window", windowed(2, 1), windowed(3, 1)),
    "window-without-output": ("window", windowed(1, 1, window=2), windowed(2, 1, window=2)),
    "window-of-depthwise": (
        "window",
        windowed(2, 1, op="DEPTHWISE_CONV_2D"),
        windowed(2, 2, op="DEPTHWISE_CONV_2D", padding="SAME"),
    ),
    "dilated-window": ("window", windowed(4, 1, dilation=2), windowed(5, 1, dilation=2)),
    "window-of-later-node": ("window", windowed(4, 2, 1), windowed(5, 3, 1)),
    "window-after-other-sizes": (None, None, windowed(5, 1, 1)),
    "window-of-same-padding": (None, None, windowed(1, 1, padding="SAME", before="ABS")),
    "broadcast": ("operand-shapes", combined((2, 3), (4,)), combined((2, 3), (3,))),
    "empty-channels": ("operand-shapes", normalized((2, 0)), normalized((0, 2))),
    "slice-of-scalar": ("operand-shapes", sliced(()), sliced((2,))),
    "reshape-below-0": ("operand-shapes", reshaped([2, -3]), reshaped([2, -1])),
    "reshape-of-other-size": ("reshape", reshaped([3, 3]), reshaped([3, 2])),
    "groups": ("operand-shapes", convolved((3, 1, 1, 2)), convolved((2, 1, 1, 2))),
    "input-channels": ("operand-shapes", convolved((2, 1, 1, 3)), convolved((2, 1, 1, 4))),
    "depth-multiplier": (
        "operand-shapes",
        convolved((1, 1, 1, 5), "DEPTHWISE_CONV_2D"),
        convolved((1, 1, 1, 4), "DEPTHWISE_CONV_2D"),
    ),
    "dynamic-scalar": ("scalar", quantized_at_run_time(()), quantized_at_run_time((4,))),
    "heads": ("attention", attention(HEADS, (1, 6, 3, 8), (1, 6, 3, 8)), attention(HEADS, (1, 6, 2, 8), (1, 6, 2, 8), MASK)),
    "rank-of-query": ("attention", attention((6, 4, 8), (6, 4, 8), (6, 4, 8)), attention(HEADS, HEADS, HEADS)),
    "rank-of-value": ("attention", attention(HEADS, HEADS, (1, 6, 8)), attention(HEADS, HEADS, HEADS, (6, 6))),
    "heads-of-value": ("attention", attention(HEADS, HEADS, (1, 6, 2, 8)), attention(HEADS, (1, 6, 2, 8), HEADS)),
    "one-head": (
        "attention",
        attention((2, 6, 4, 8), (2, 6, 1, 8), (2, 6, 1, 8), MASK),
        attention(HEADS, (1, 6, 1, 8), (1, 6, 1, 8), MASK),
    ),
    "length": ("attention", attention(HEADS, HEADS, (1, 5, 4, 8)), attention((1, 3, 4, 8), HEADS, HEADS, (1, 1, 3, 6))),
    "mask": ("attention", attention(HEADS, HEADS, HEADS, (1, 1, 5, 6)), attention(HEADS, HEADS, HEADS, (1, 6, 6))),
    "unpacked-smaller": ("unpacked-shape", unpacked("FLOAT16", (2, 4), (1, 1)), unpacked("FLOAT16", (2, 4), (2, 4))),
    "unpacked-flat": ("unpacked-shape", unpacked("FLOAT16", (8,), (2, 4)), unpacked("FLOAT16", (1, 1), (2, 4), "MUL")),
    "variable": ("variable-twice", variable("CONCATENATION", "vkv"), variable("CONCATENATION", "vk")),
    "variable-output": (None, None, variable("CONCATENATION", "vv", is_output=True)),
    "variable-in-product": ("variable-twice", variable("BATCH_MATMUL", "vv"), variable("BATCH_MATMUL", "vv", other_reader=True)),
    "variable-as-scalar": (None, None, variable("ADD", "vv")),
}
"""By name: the code of the failure, a model that fails, and one that does not."""

CRASHES = {
    "unpacked-int8": ("unpacked-size", unpacked("INT8", (2, 4), (1, 1)), unpacked("INT8", (2, 2), (2, 4))),
}
"""The same for models with which the process ends."""
