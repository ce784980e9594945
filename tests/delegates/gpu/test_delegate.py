"""The delegate as a whole: options, which nodes are taken, and what becomes of kernels that cannot be built."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.delegates.gpu.delegate import DELEGATE
from delegate_sim.errors import OptionError
from delegate_sim.results.report.measures import PREDICTED, TAKEN, measure
from fixtures.builder import ModelBuilder

SHAPE = (1, 4, 4, 2)


class Sketch:
    """A model under construction: a chain of nodes from one input."""

    def __init__(self):
        self.builder = ModelBuilder()
        self.graph = self.builder.subgraph("main")
        self.last = self.graph.input("x", "FLOAT32", SHAPE)

    def constant(self, data, shape, type="FLOAT32"):
        return self.graph.tensor("constant", type, shape, data)

    def result(self, type="FLOAT32", shape=SHAPE):
        return self.graph.tensor("result", type, shape)

    def then(self, op, *more, version=1, shape=SHAPE, **options):
        """Add a node from the last result, and further operands, to a new one."""
        result = self.result(shape=shape)
        self.graph.node(op, [self.last, *more], [result], version, options or None)
        self.last = result
        return self

    def run(self, defaults="api", **options):
        self.graph.outputs(self.last)
        model = delegate_sim.load(self.builder.bytes())
        return delegate_sim.analyze(model, delegate="gpu", options=options, defaults=defaults).to_dict()["runs"][0]


def nodes(run, what="delegated"):
    return [node["index"] for node in run["subgraphs"][0]["nodes"] if node[what]]


def codes(run):
    return {node["index"]: [reason["code"] for reason in node["reasons"]] for node in run["subgraphs"][0]["nodes"]}


@pytest.fixture
def sketch():
    return Sketch()


# Options


@pytest.mark.parametrize(("defaults", "limit"), [("api", 1), ("benchmark", 0)])
def test_defaults(sketch, defaults, limit):
    assert sketch.then("ABS").run(defaults)["options"] == {
        "allow_quant_ops": True,
        "max_delegated_partitions": limit,
        "excluded_ops": [],
        "first_delegate_node_index": 0,
        "last_delegate_node_index": 2**31 - 1,
        "backend": "opencl",
    }


@pytest.mark.parametrize(
    ("given", "value"), [("opencl", "opencl"), ("CL", "opencl"), ("", "opencl"), ("opengl", "opengl"), ("gl", "opengl-only")]
)
def test_names_of_backends(sketch, given, value):
    assert sketch.then("ABS").run(backend=given)["options"]["backend"] == value


@pytest.mark.parametrize(("option", "value"), [("backend", "metal"), ("excluded_ops", "ABS,WARP"), ("excluded_ops", 1)])
def test_values_that_options_refuse(sketch, option, value):
    with pytest.raises(OptionError, match=option):
        sketch.then("ABS").run(**{option: value})


def test_excluded_ops(sketch):
    run = sketch.then("ABS").then("NEG").run(excluded_ops="abs")
    assert nodes(run) == [1]
    assert codes(run)[0] == ["gpu-unsupported-operator"]


@pytest.mark.parametrize(
    ("backend", "accepted", "failure"),
    [("opencl", [0], None), ("opengl", [], None), ("opengl-only", [0], "gpu-build-shader")],
)
@pytest.mark.parametrize("op", ["SPLIT", "SPLIT_V"])
def test_opengl_runs_no_split(backend, accepted, failure, op):
    """The operators are refused only if OpenCL cannot be loaded. OpenGL has no shader for them in any case."""
    builder = ModelBuilder()
    graph = builder.subgraph()
    axis, sizes = (graph.tensor("c", "INT32", shape, data) for shape, data in (((), [3]), ((2,), [1, 1])))
    x = graph.input("x", "FLOAT32", SHAPE)
    results = [graph.tensor("y", "FLOAT32", (1, 4, 4, 1)) for _ in range(2)]
    graph.node(op, [axis, x] if op == "SPLIT" else [x, sizes, axis], results, options={"num_splits": 2})
    graph.outputs(*results)
    model = delegate_sim.load(builder.bytes())
    run = delegate_sim.analyze(model, delegate="gpu", options={"backend": backend}, defaults="api").to_dict()["runs"][0]
    assert (nodes(run, "supported"), (run["refusal"] or {}).get("code")) == (accepted, failure)


def test_range_of_nodes(sketch):
    run = sketch.then("ABS").then("NEG").then("SIN").then("COS").run(first_delegate_node_index=1, last_delegate_node_index=2)
    assert nodes(run) == [1, 2]
    assert nodes(run, "supported") == [0, 1, 2, 3]
    assert codes(run) == {0: ["gpu-node-range"], 1: [], 2: [], 3: ["gpu-node-range"]}


def test_remedies_for_limits_and_for_the_range_of_nodes():
    assert list(DELEGATE.remedies("partition-limit", {})) == [{"max_delegated_partitions": 1_000_000}]
    whole = {"first_delegate_node_index": 0, "last_delegate_node_index": 2**31 - 1}
    assert list(DELEGATE.remedies("gpu-node-range", {})) == [whole]
    assert list(DELEGATE.remedies("gpu-tensor-type", {"allow_quant_ops": True})) == []
    assert list(DELEGATE.remedies("gpu-tensor-type", {"allow_quant_ops": False})) == [{"allow_quant_ops": True}]


# Which partitions are taken


def split_up(sketch):
    """Partitions of one, three and two nodes."""
    sketch.then("ABS").then("CEIL")
    sketch.then("ABS").then("NEG").then("SIN").then("CEIL")
    return sketch.then("ABS").then("NEG")


@pytest.mark.parametrize(
    ("limit", "taken"), [(-1, [2, 3, 4]), (0, [2, 3, 4]), (1, [2, 3, 4]), (2, [2, 3, 4, 6, 7]), (3, [0, 2, 3, 4, 6, 7])]
)
def test_limit_keeps_the_largest_partitions(sketch, limit, taken):
    run = split_up(sketch).run(max_delegated_partitions=limit)
    assert nodes(run) == taken
    assert nodes(run, "supported") == [0, 2, 3, 4, 6, 7]
    left_out = {index for index, found in codes(run).items() if found == ["partition-limit"]}
    assert left_out == {0, 2, 3, 4, 6, 7} - set(taken)


def test_limit_is_explained_by_the_option(sketch):
    (reason,) = split_up(sketch).run()["subgraphs"][0]["nodes"][0]["reasons"]
    assert (reason["found"], reason["needed"]) == ("3 partitions", "at most 1")
    assert reason["hint"].startswith("raise --max-delegated-partitions, ")


def test_log_lines(sketch):
    run = split_up(sketch).run("benchmark")
    assert run["log_lines"] == [
        "Following operations are not supported by GPU delegate:",
        "CEIL: Operation is not supported.",
        "3 operations will run on the GPU, and the remaining 5 operations will run on the CPU.",
        "Replacing 3 out of 8 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 3 partitions for subgraph 0 (main).",
        "Explicitly applied GPU delegate, and the model graph will be partially executed by the delegate w/ 1 delegate kernels.",
    ]


def widened(sketch, shape):
    """A float16 constant and the result of the DEQUANTIZE that widens it."""
    result = sketch.result(shape=shape)
    sketch.graph.node("DEQUANTIZE", [sketch.constant([0] * (shape[0] * shape[1]), shape, "FLOAT16")], [result])
    return result


def test_float16_weights_go_along_with_everything_else_whatever_the_limit():
    builder = ModelBuilder()
    graph = builder.subgraph()
    flat = [graph.input("x", "FLOAT32", (2, 3)), graph.tensor("y", "FLOAT32", (2, 4)), graph.tensor("z", "FLOAT32", (2, 4))]
    half, full = graph.tensor("w16", "FLOAT16", (4, 3), [0] * 12), graph.tensor("w", "FLOAT32", (4, 3))
    graph.node("DEQUANTIZE", [half], [full])
    graph.node("FULLY_CONNECTED", [flat[0], full, -1], [flat[1]], options={"weights_format": 0})
    graph.node("ABS", [flat[1]], [flat[2]])
    graph.outputs(flat[2])
    run = delegate_sim.analyze(delegate_sim.load(builder.bytes()), delegate="gpu", defaults="api").to_dict()["runs"][0]
    assert run["outcome"] == "delegated"
    assert nodes(run) == [0, 1, 2]
    assert codes(run)[0] == ["float16-dequantize"]


@pytest.mark.parametrize(("limit", "taken", "partitions"), [(9, [0, 2, 4], 3), (1, [0], 2)])
def test_float16_weights_stay_behind_if_anything_else_does(sketch, limit, taken, partitions):
    """Partitions are chosen with DEQUANTIZE between ABS and ADD; without it, they then run together."""
    sketch.then("ABS").then("ADD", widened(sketch, (1, 2))).then("CEIL").then("NEG")
    run = sketch.run(max_delegated_partitions=limit)
    assert run["outcome"] == "delegated"
    assert nodes(run) == taken
    assert run["subgraphs"][0]["partitions"] == partitions


# Kernels that cannot be built


def test_model_that_cannot_be_built_is_restored(sketch):
    sketch.then("ABS")
    run = sketch.then("DIV", sketch.last).run()
    assert run["outcome"] == "restored"
    assert (run["refusal"]["code"], run["refusal"]["node"]) == ("gpu-build-repeated-operand", 1)
    assert nodes(run) == []
    assert nodes(run, "supported") == [0, 1]


def test_partition_that_is_not_taken_is_not_built(sketch):
    sketch.then("ABS").then("NEG").then("SIN").then("CEIL")
    run = sketch.then("DIV", sketch.last).run()
    assert run["outcome"] == "delegated"
    assert nodes(run) == [0, 1, 2]


def test_crash_is_a_warning(sketch):
    run = sketch.then("PRELU", sketch.graph.input("slopes", "FLOAT32", (1, 1, 2))).run()
    assert run["outcome"] == "delegated"
    (warning,) = run["warnings"]
    assert "node 0 (PRELU): tensor 1 (slopes)" in warning


def test_crash_of_a_later_partition_comes_before_what_preparing_the_first_finds(sketch):
    """All kernels are initialized before any is prepared."""
    sketch.then("DIV", sketch.last).then("CEIL")
    assert sketch.run(max_delegated_partitions=9)["outcome"] == "restored"
    run = sketch.then("PRELU", sketch.graph.input("slopes", "FLOAT32", (1, 1, 2))).run(max_delegated_partitions=9)
    assert (run["outcome"], run["refusal"]["node"]) == ("delegated", 2)
    assert not any("Restored" in line for line in run["log_lines"])


def test_quantized_model(sketch):
    graph = sketch.graph
    small = [graph.tensor("q", "INT8", SHAPE, scale=0.5) for _ in range(2)]
    graph.node("QUANTIZE", [sketch.last], [small[0]])
    graph.node("ABS", [small[0]], [small[1]], 2)
    sketch.last = small[1]
    sketch.then("DEQUANTIZE", version=2)
    assert nodes(sketch.run()) == [0, 1, 2]


def test_quantized_model_without_allow_quant_ops(sketch):
    graph = sketch.graph
    small = graph.tensor("q", "INT8", SHAPE, scale=0.5)
    graph.node("QUANTIZE", [sketch.last], [small])
    sketch.last = small
    run = sketch.then("DEQUANTIZE", version=2).run(allow_quant_ops=False)
    assert nodes(run) == []
    assert codes(run) == {0: ["gpu-quantization"], 1: ["gpu-quantization"]}


# Public reports


def test_litert_issue_2146(sketch):
    """Newer converters raise FULLY_CONNECTED to version 12, above the highest that the delegate takes."""
    weights = sketch.constant([0.0] * 6, (3, 2))
    run = sketch.then("ABS").then("FULLY_CONNECTED", weights, -1, version=12, shape=(16, 3), weights_format=0).run()
    assert nodes(run) == [0]
    (reason,) = run["subgraphs"][0]["nodes"][1]["reasons"]
    assert (reason["found"], reason["code"]) == ("version 12", "gpu-operator-version")


def test_litert_issue_9192(sketch):
    """A SOFTMAX over constants leaves REDUCE_MAX with constants only: 4 of 7 nodes are delegated, in 3 partitions."""
    graph = sketch.graph
    values, axis = sketch.constant([1.0] * 32, SHAPE), sketch.constant([3], (1,), "INT32")
    highest, shifted, power = sketch.result(shape=(1, 4, 4, 1)), sketch.result(), sketch.result()
    graph.node("REDUCE_MAX", [values, axis], [highest], options={"keep_dims": True})
    graph.node("SUB", [values, highest], [shifted], options={})
    graph.node("EXP", [shifted], [power])
    sketch.then("MUL", power, fused_activation_function=0).then("ADD", power, fused_activation_function=0)
    run = sketch.then("CEIL").then("ROUND").run()
    assert (len(codes(run)), nodes(run), run["subgraphs"][0]["partitions"]) == (7, [1, 2, 3, 4], 3)
    assert run["log_lines"] == [
        "Following operations are not supported by GPU delegate:",
        "CEIL: Operation is not supported.",
        "REDUCE_MAX: Expected 1 const input tensor(s), but node has 2 const input(s).",
        "ROUND: Operation is not supported.",
        "4 operations will run on the GPU, and the remaining 3 operations will run on the CPU.",
        "Replacing 4 out of 7 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 3 partitions for subgraph 0 (main).",
    ]
    (reason,) = run["subgraphs"][0]["nodes"][0]["reasons"]
    assert reason["found"] == "2 constant inputs"


def test_litert_issue_9192_division_of_a_tensor_by_itself(sketch):
    """The rules take it, unlike those of the delegate in the report; building the model then says the same."""
    run = sketch.then("DIV", sketch.last, fused_activation_function=0).run()
    assert nodes(run, "supported") == [0]
    assert run["refusal"]["code"] == "gpu-build-repeated-operand"


@pytest.mark.parametrize("defaults", ["api", "benchmark"])
@pytest.mark.parametrize(("backend", "code"), [("opencl", None), ("opengl", "gpu-build-batch")])
def test_different_batches_gpu_build_batch(backend, code, defaults):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    for batch in (1, 2):
        result = graph.tensor(f"y{batch}", "FLOAT32", [batch, 4, 4, 2])
        graph.node("RELU", [graph.input(f"x{batch}", "FLOAT32", [batch, 4, 4, 2])], [result])
        graph.outputs(result)
    report = delegate_sim.analyze(builder.bytes(), "gpu", {"backend": backend}, defaults=defaults)
    (run,), (entry,) = report.runs, report.to_dict()["runs"]
    assert (entry["outcome"], (entry["refusal"] or {}).get("code")) == ("delegated", code)
    assert measure(run).outcome == (PREDICTED if code else TAKEN)
    assert any("completely executed" in line for line in run.log_lines) == (code is None and defaults == "benchmark")


@pytest.mark.parametrize(
    ("op", "first", "second", "result", "code"),
    [
        ("MUL", [2, 2, 1], [1, 2, 2, 1], [1, 2, 2, 1], "gpu-build-broadcast"),
        ("SUB", [20, 16, 16], [1, 1, 16, 16], [1, 20, 16, 16], "gpu-build-broadcast"),
        ("MUL", [1, 2, 2, 1], [1, 2, 2, 1], [1, 2, 2, 1], None),
        ("MUL", [1, 2, 2, 1], [2, 2, 2, 1], [2, 2, 2, 1], None),
    ],
)
def test_an_operand_with_more_batches_than_the_result_gpu_build_broadcast(op, first, second, result, code):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    output = graph.tensor("y", "FLOAT32", result)
    graph.node(op, [graph.input("a", "FLOAT32", first), graph.input("b", "FLOAT32", second)], [output], options={})
    graph.outputs(output)
    (run,) = delegate_sim.analyze(builder.bytes(), "gpu", defaults="api").runs
    assert (measure(run).outcome, getattr(run.refusal, "code", None)) == (PREDICTED if code else TAKEN, code)


SAME, PIXEL, ROW = (1, 4, 4, 8), (1, 1, 1, 8), (1, 1, 4, 8)
CONVOLUTION = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
PADDINGS = ([[0, 0], [1, 1], [0, 0], [0, 0]], (4, 2), "INT32")
"""A constant is its elements, its shape and its type; a shape is a second input."""


@pytest.mark.parametrize(
    ("op", "second", "result", "options", "is_accepted"),
    [
        ("ADD", SAME, SAME, {}, True),
        ("ADD", PIXEL, SAME, {}, True),
        ("ADD", ROW, SAME, {}, False),
        ("MUL", ROW, SAME, {}, True),
        ("SUB", PIXEL, SAME, {}, True),
        ("SUB", ROW, SAME, {}, False),
        ("SUB", ([1.0] * 8, (8,), "FLOAT32"), SAME, {}, True),
        ("SUB", ([1.0], (1, 1), "FLOAT32"), SAME, {}, True),
        ("SUB", ([1.0] * 128, (4, 4, 8), "FLOAT32"), SAME, {}, False),
        ("MUL", ([1.0] * 128, (4, 4, 8), "FLOAT32"), SAME, {}, True),
        ("MEAN", ([2, 1], (2,), "INT32"), PIXEL, {"keep_dims": True}, True),
        ("MEAN", ([1], (1,), "INT32"), ROW, {"keep_dims": True}, False),
        ("PAD", PADDINGS, (1, 6, 4, 8), {}, True),
        ("RESIZE_BILINEAR", ([8, 8], (2,), "INT32"), (1, 8, 8, 8), {}, True),
        ("RESIZE_BILINEAR", ([8, 2], (2,), "INT32"), (1, 8, 2, 8), {}, False),
        ("RESIZE_NEAREST_NEIGHBOR", ([2, 8], (2,), "INT32"), (1, 2, 8, 8), {}, False),
        ("CONCATENATION", (1, 4, 2, 8), (1, 4, 6, 8), {"axis": 2}, True),
        ("CONCATENATION", ([0.0] * 32, (1, 4, 1, 8), "FLOAT32"), (1, 4, 5, 8), {"axis": 2}, True),
        ("CONCATENATION", ([1.0] * 32, (1, 4, 1, 8), "FLOAT32"), (1, 4, 5, 8), {"axis": 2}, False),
        ("CONV_2D", ([1.0] * 64, (8, 1, 1, 8), "FLOAT32"), SAME, CONVOLUTION, True),
        ("CONV_2D", ([1.0] * 32, (8, 1, 1, 4), "FLOAT32"), SAME, CONVOLUTION, False),
    ],
)
def test_cases_of_shaders_for_opengl_gpu_build_shader_case(op, second, result, options, is_accepted):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    inputs = [graph.input("x", "FLOAT32", SAME)]
    if len(second) == 4:
        inputs.append(graph.input("second", "FLOAT32", second))
    else:
        elements, shape, type = second
        inputs.append(graph.tensor("second", type, shape, elements))
    if op == "CONV_2D":
        inputs.append(graph.tensor("bias", "FLOAT32", (8,), [0.0] * 8))
    output = graph.tensor("y", "FLOAT32", result)
    graph.node(op, inputs, [output], options=options)
    graph.outputs(output)
    model = builder.bytes()
    codes = []
    for backend in ("opencl", "opengl"):
        (run,) = delegate_sim.analyze(model, "gpu", {"gpu_backend": backend}, defaults="api").to_dict()["runs"]
        assert nodes(run, "supported") == [0]
        codes.append((run["refusal"] or {}).get("code"))
    assert codes == [None, None if is_accepted else "gpu-build-shader-case"]


def test_three_rows_of_paddings_on_opengl_gpu_build_shader_case():
    """Upstream then sets the padding of the batch to 1, which OpenGL's shader refuses."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    paddings = graph.tensor("paddings", "INT32", (3, 2), [[0, 0], [1, 1], [0, 0]])
    output = graph.tensor("y", "FLOAT32", (1, 6, 8))
    graph.node("PAD", [graph.input("x", "FLOAT32", (1, 4, 8)), paddings], [output])
    graph.outputs(output)
    (run,) = delegate_sim.analyze(builder.bytes(), "gpu", {"gpu_backend": "opengl"}, defaults="api").runs
    assert run.refusal.code == "gpu-build-shader-case"


@pytest.mark.parametrize(
    ("op", "backend", "code"),
    [
        ("TRANSPOSE", "opengl", "gpu-build-shader"),
        ("TRANSPOSE", "opencl", None),
        ("SOFTMAX", "opengl", None),
        ("RELU", "opengl", None),
    ],
)
def test_an_operator_without_a_shader_for_opengl_gpu_build_shader(sketch, op, backend, code):
    """TensorFlow issue 60720: "No shader implementation for transpose"."""
    order = [sketch.constant([0, 3, 1, 2], (4,), "INT32")] if op == "TRANSPOSE" else []
    options = {"beta": 1.0} if op == "SOFTMAX" else {}
    run = sketch.then(op, *order, shape=(1, 2, 4, 4) if order else SHAPE, **options).run(gpu_backend=backend)
    assert (nodes(run, "supported"), (run["refusal"] or {}).get("code")) == ([0], code)
