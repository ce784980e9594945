"""Kernels that cannot be created from accepted nodes, against ``Subgraph::Create`` and XNNPACK's ``xnn_define`` functions."""

from __future__ import annotations

import pytest

from delegate_sim import analyze
from delegate_sim.delegates.xnnpack.target import FAILURES
from tests.support.delegates import xnnpack_shape_cases as shape_cases
from tests.support.delegates.xnnpack_sketch import SPARSITY, Sketch, codes

Q = {"scale": 0.5, "zero_point": 0}
OTHER = {"scale": 0.25, "zero_point": 0}


def moved(source, result):
    sketch = Sketch()
    return sketch, sketch.node("DEPTH_TO_SPACE", [sketch.input("INT8", (1, 2, 2, 4), **source)], "INT8", (1, 4, 4, 1),
                               {"block_size": 2}, **result)  # fmt: skip


def unary(result_type, rank=2):
    sketch = Sketch()
    shape = (1,) * rank
    return sketch, sketch.node("SOFTMAX", [sketch.input(shape=shape)], result_type, shape, {"beta": 1.0})


def transposed(permutation, type="INT32"):
    sketch = Sketch()
    operands = [sketch.input(), sketch.constant(type, (2,), permutation)]
    return sketch, sketch.node("TRANSPOSE", operands, options={})


def convolved(weights, bias, activation=Q):
    sketch = Sketch()
    operands = [
        sketch.input("INT8", (1, 4, 4, 2), **activation),
        sketch.constant("INT8", (2, 1, 1, 2), **weights),
        sketch.constant("INT32", (2,), **bias),
    ]
    return sketch, sketch.node("CONV_2D", operands, "INT8", (1, 4, 4, 2), {"stride_w": 1, "stride_h": 1}, **Q)


def convolved_by_channel(weights):
    """A node that the CPU kernel prepares whatever the zero point of the weights, unlike that of CONV_2D."""
    sketch = Sketch()
    operands = [
        sketch.input("INT8", (1, 4, 4, 2), **Q),
        sketch.constant("INT8", (1, 1, 1, 2), **weights),
        sketch.constant("INT32", (2,), scale=0.25, zero_point=0),
    ]
    options = {"stride_w": 1, "stride_h": 1, "depth_multiplier": 1}
    return sketch, sketch.node("DEPTHWISE_CONV_2D", operands, "INT8", (1, 4, 4, 2), options, **Q)


def transposed_convolution(weights):
    sketch = Sketch()
    operands = [
        sketch.constant("INT32", (4,), [1, 4, 4, 2]),
        sketch.constant("INT8", (2, 1, 1, 2), **weights),
        sketch.input("INT8", (1, 4, 4, 2), **Q),
        sketch.constant("INT32", (2,), **Q),
    ]
    return sketch, sketch.node("TRANSPOSE_CONV", operands, "INT8", (1, 4, 4, 2), {"stride_w": 1, "stride_h": 1}, **Q)


def fully_connected(source=None, **weights):
    sketch = Sketch()
    operands = [sketch.input(*(source or ())), sketch.constant("INT8", (2, 2), **weights)]
    return sketch, sketch.node("FULLY_CONNECTED", operands, options={})


def in_blocks(size):
    sketch = Sketch()
    scales = sketch.constant("FLOAT16", (192 // size,), 0.5)
    packed = sketch.graph.model.buffer(bytes(96))
    weights = sketch.graph.tensor("weights", "INT4", (2, 96), buffer=packed, blockwise=(scales, -1, size))
    return sketch, sketch.node("FULLY_CONNECTED", [sketch.input(shape=(1, 96)), weights], shape=(1, 2), options={})


def multiplied(zero_point=0, result="FLOAT32", **quantization):
    sketch = Sketch()
    operands = [sketch.input(), sketch.constant("INT8", (2, 2), scale=0.5, zero_point=zero_point)]
    return sketch, sketch.node("BATCH_MATMUL", operands, result, options={}, **quantization)


PER_CHANNEL = {"scale": [0.5, 0.5]}
CASES = [
    ("moved", None, moved(Q, Q)),
    ("moved", "rescaling", moved(Q, OTHER)),
    ("moved", "datatype", moved({"scale": 0.0, "zero_point": 0}, Q)),
    ("unary", None, unary("FLOAT32")),
    ("unary", "mixed-types", unary("FLOAT16")),
    ("unary", "rank", unary("FLOAT32", rank=7)),
    ("transpose", None, transposed([1, -2])),
    ("transpose", "permutation", transposed([1, 1])),
    ("transpose", "permutation", transposed([0, 1], "INT64")),
    ("convolution", None, convolved(Q, Q)),
    ("convolution", None, convolved(PER_CHANNEL, PER_CHANNEL)),
    ("convolution", None, convolved_by_channel(Q)),
    ("convolution", "mixed-types", convolved(PER_CHANNEL, Q)),
    ("convolution", "zero-point", convolved_by_channel({"scale": 0.5, "zero_point": 1})),
    ("convolution", "scale", convolved({"scale": 300.0, "zero_point": 0}, Q)),
    ("transposed-convolution", None, transposed_convolution(Q)),
    ("transposed-convolution", None, transposed_convolution({"scale": 0.5, "zero_point": 1})),
    ("transposed-convolution", "scale", transposed_convolution({"scale": 300.0, "zero_point": 0})),
    ("fully-connected", None, fully_connected(scale=0.5)),
    ("fully-connected", "zero-point", fully_connected(scale=0.5, zero_point=1)),
    ("fully-connected", "datatype", fully_connected()),
    ("fully-connected-in-blocks", None, in_blocks(32)),
    ("fully-connected-in-blocks", "block-size", in_blocks(64)),
    ("product", None, multiplied()),
    ("product", "zero-point", multiplied(zero_point=1)),
    ("product", "mixed-types", multiplied(result="INT8", **Q)),
]


@pytest.mark.parametrize(("name", "code", "model"), CASES, ids=[f"{name}-{code or 'created'}" for name, code, _ in CASES])
def test_kernel(name, code, model):
    sketch, result = model
    run = sketch.run(result, disable_subgraph_reshaping=True)
    found = run["refusal"] and run["refusal"]["code"]
    assert found == (f"xnnpack-kernel-{code}" if code else None)
    assert run["outcome"] == ("restored" if code else "delegated")


def test_with_dynamic_tensors_allowed_the_failure_comes_when_tensors_are_allocated():
    sketch, result = moved(Q, OTHER)
    run = sketch.run(result)
    assert codes(run) == [None]
    assert run["outcome"] == "delegated"
    assert any("AllocateTensors will fail" in warning for warning in run["warnings"])


@pytest.mark.parametrize("name", [*shape_cases.CASES, *shape_cases.CRASHES])
def test_shapes(name):
    code, failing, twin = (shape_cases.CASES | shape_cases.CRASHES)[name]
    assert analyze(twin, "xnnpack", defaults="api").runs[0].refusal is None
    if failing is not None:
        run = analyze(failing, "xnnpack", defaults="api").runs[0]
        begin = "creating a kernel will crash the process: " if name in shape_cases.CRASHES else "AllocateTensors will fail: "
        assert (run.outcome, run.refusal.code) == ("delegated", f"xnnpack-kernel-{code}")
        assert run.refusal.message.startswith(begin)


def test_a_sparse_constant_is_unpacked_into_its_own_shape():
    def found(shape):
        sketch = Sketch()
        dense = sketch.node("DENSIFY", [sketch.constant(sparsity=SPARSITY)], shape=shape)
        refusal = sketch.run(sketch.node("MUL", [sketch.input(), dense], options={}))["refusal"]
        return refusal and refusal["code"]

    assert (found((2, 2)), found((1, 1))) == (None, "xnnpack-kernel-unpacked-size")


def test_every_failure_is_tried():
    tried = {code for _, code, _ in CASES} | {code for code, *_ in (shape_cases.CASES | shape_cases.CRASHES).values()}
    assert {f"xnnpack-kernel-{code}" for code in tried - {None}} == set(FAILURES)


@pytest.mark.parametrize(("release", "code"), [("litert-2.1.6", None), ("litert-2.2.0", "xnnpack-kernel-window")])
def test_window_must_fit_from_a_release_on(release, code):
    _, failing, _ = shape_cases.CASES["window"]
    refusal = analyze(failing, "xnnpack", runtime=release).runs[0].refusal
    assert (refusal.code if refusal else None) == code
