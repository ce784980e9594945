"""The delegate as a whole: options, which nodes are taken, what is printed, and how a model fails."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.delegates.mldrift.delegate import DELEGATE
from delegate_sim.errors import OptionError
from delegate_sim.releases.catalogue import DEFAULT_RELEASE
from fixtures.builder import ModelBuilder

SHAPE = (1, 4, 4, 2)
HEADING = "Following operations are not supported by GPU delegate:"


class Sketch:
    """A model under construction: a chain of nodes from one input."""

    def __init__(self):
        self.builder = ModelBuilder()
        self.graph = self.builder.subgraph("main")
        self.last = self.graph.input("x", "FLOAT32", SHAPE)

    def then(self, op, *more, version=1, shape=SHAPE, type="FLOAT32", **options):
        """Add a node from the last result, and further operands, to a new one."""
        result = self.graph.tensor("result", type, shape)
        self.graph.node(op, [self.last, *more], [result], version, options or None)
        self.last = result
        return self

    def run(self, runtime=DEFAULT_RELEASE, **options):
        self.graph.outputs(self.last)
        report = delegate_sim.analyze(self.builder.bytes(), "mldrift", options, runtime=runtime, defaults="api")
        return report.to_dict()["runs"][0]


def nodes(run, what="delegated"):
    return [node["index"] for node in run["subgraphs"][0]["nodes"] if node[what]]


@pytest.fixture
def sketch():
    return Sketch()


# Options


def test_defaults(sketch):
    assert sketch.then("ABS").run()["options"] == {
        "backend": "opencl",
        "precision": "default",
        "max_delegated_partitions": 1,
        "hint_fully_delegated": False,
        "skip_decompositions": False,
        "cpu_fallback": True,
        "build_kernels": False,
        "constant_tensor_sharing": False,
    }


@pytest.mark.parametrize(
    ("backend", "kernel"),
    [
        ("cl", "LITERT_CL"),
        ("OpenCL", "LITERT_CL"),
        ("opengl", "LITERT_OPENGL"),
        ("gl", "LITERT_OPENGL"),
        ("vulkan", "LITERT_VULKAN"),
        ("metal", "LITERT_METAL"),
        ("webgpu", "LITERT_WEBGPU"),
    ],
)
def test_each_backend_has_kernels_of_its_own(sketch, backend, kernel):
    (line,) = sketch.then("ABS").run(backend=backend)["log_lines"]
    assert line == f"Replacing 1 out of 1 node(s) with delegate ({kernel}) node, yielding 1 partitions for subgraph 0 (main)."
    assert kernel in DELEGATE.kernel_names


@pytest.mark.parametrize(
    ("option", "value"),
    [("backend", "cuda"), ("precision", "int8"), ("max_delegated_partitions", "all"), ("cpu_fallback", "perhaps")],
)
def test_values_that_are_not_taken(sketch, option, value):
    with pytest.raises(OptionError, match=f"option {option} of mldrift: "):
        sketch.then("ABS").run(**{option: value})


def test_verdicts_depend_on_no_option(sketch):
    sketch.then("ABS").then("ROUND").then("L2_NORMALIZATION")
    first, *others = (
        [(node["supported"], node["reasons"]) for node in sketch.run(**options)["subgraphs"][0]["nodes"]]
        for options in ({}, {"backend": "metal"}, {"precision": "fp16"}, {"cpu_fallback": False})
    )
    assert all(other == first for other in others)


# Partitions


@pytest.mark.parametrize("limit", [0, 1, 9])
def test_the_largest_partition_alone_is_taken(sketch, limit):
    run = sketch.then("ABS").then("ROUND").then("L2_NORMALIZATION").then("EXP").run(max_delegated_partitions=limit)
    assert nodes(run, "supported") == [0, 1, 3]
    assert nodes(run) == [0, 1]
    reasons = run["subgraphs"][0]["nodes"][3]["reasons"]
    assert [reason["code"] for reason in reasons] == ["partition-limit"]
    assert "raise" not in reasons[0]["hint"]
    assert any("max_delegated_partitions" in warning for warning in run["warnings"]) == (limit != 1)


# What is printed


def test_operators_that_are_refused_are_listed_once_for_each_reason(sketch):
    run = sketch.then("ABS").then("L2_NORMALIZATION").then("L2_NORMALIZATION").then("CAST", type="INT64").run()
    assert run["log_lines"] == [
        HEADING,
        "CAST: Tensor type(INT64) is not supported. result",
        "L2_NORMALIZATION: Operation is not supported.",
        "1 operations will run on the GPU, and the remaining 3 operations will run on the CPU.",
        "Replacing 1 out of 4 node(s) with delegate (LITERT_CL) node, yielding 2 partitions for subgraph 0 (main).",
    ]


def test_nothing_is_taken(sketch):
    run = sketch.then("L2_NORMALIZATION").run()
    assert run["outcome"] == "none"
    assert run["log_lines"] == [
        HEADING,
        "L2_NORMALIZATION: Operation is not supported.",
        "No operations will run on the GPU, and all 1 operations will run on the CPU.",
    ]


def test_nothing_is_said_where_all_is_taken(sketch):
    assert sketch.then("ABS").run()["log_lines"] == [
        "Replacing 1 out of 1 node(s) with delegate (LITERT_CL) node, yielding 1 partitions for subgraph 0 (main)."
    ]


def test_benchmark_model_does_not_know_it(sketch):
    sketch.graph.outputs(sketch.then("ABS").last)
    model = sketch.builder.bytes()
    (run,) = delegate_sim.analyze(model, "mldrift", defaults="benchmark").to_dict()["runs"]
    assert not [line for line in run["log_lines"] if "applied" in line]


# Models that fail


def test_dynamic_tensors_fail_the_model(sketch):
    shape = sketch.graph.input("shape", "INT32", (2,))
    run = sketch.then("RESHAPE", shape, shape=(4, 8)).run()
    assert (run["outcome"], run["refusal"]["code"]) == ("refused", "dynamic-tensors")


def test_the_hint_passes_dynamic_tensors(sketch):
    shape = sketch.graph.input("shape", "INT32", (2,))
    run = sketch.then("RESHAPE", shape, shape=(4, 8)).run(hint_fully_delegated=True)
    assert run["refusal"] is None or run["refusal"]["code"] != "dynamic-tensors"


def test_the_hint_is_met(sketch):
    run = sketch.then("ABS").run(hint_fully_delegated=True)
    assert (run["outcome"], run["refusal"]) == ("delegated", None)


def test_the_hint_is_not_met(sketch):
    run = sketch.then("ABS").then("L2_NORMALIZATION").run(hint_fully_delegated=True)
    assert (run["outcome"], run["refusal"]["code"], run["refusal"]["node"]) == ("refused", "hint-not-met", 1)
    assert run["log_lines"][-1] == "Hint fully delegated to single delegate is set, but the graph is not fully delegated."
    assert nodes(run) == []


def test_without_the_cpu_nothing_may_be_left(sketch):
    run = sketch.then("ABS").then("L2_NORMALIZATION").run(cpu_fallback=False)
    assert (run["outcome"], run["refusal"]["code"]) == ("delegated", "not-fully-accelerated")
    assert nodes(run) == [0]


def test_without_the_cpu_all_is_well_if_nothing_is_left(sketch):
    assert sketch.then("ABS").run(cpu_fallback=False)["refusal"] is None


def test_variables_are_refused_by_the_loader():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [2, 4])
    state = graph.tensor("state", "FLOAT32", [2, 8], variable=True)
    result = graph.tensor("y", "FLOAT32", [2, 4])
    graph.node("ABS", [source], [result])
    graph.outputs(result)
    assert state >= 0
    (run,) = delegate_sim.analyze(builder.bytes(), "mldrift", defaults="api").to_dict()["runs"]
    assert (run["outcome"], run["refusal"]["code"], run["refusal"]["tensor"]) == ("refused", "litert-loader", state)
    assert run["log_lines"] == ["Variable tensors not yet supported."]
    assert nodes(run, "supported") == [0]


# Kernels that cannot be built


def split_of_a_constant(sketch):
    axis = sketch.graph.tensor("axis", "INT32", (), [1])
    data = sketch.graph.tensor("data", "FLOAT32", (1, 2, 1, 1), [1.0, 2.0])
    halves = [sketch.graph.tensor(name, "FLOAT32", (1, 1, 1, 1)) for name in ("first", "second")]
    sketch.graph.node("SPLIT", [axis, data], halves, 1, {"num_splits": 2})
    return sketch.then("ADD", halves[0])


def test_a_build_that_ends_the_process_is_said(sketch):
    run = split_of_a_constant(sketch).run()
    assert (run["outcome"], run["refusal"]["code"]) == ("delegated", "mldrift-build-constant")


def test_a_build_that_fails_the_model(sketch):
    run = split_of_a_constant(sketch).run(build_kernels=True)
    assert (run["outcome"], run["refusal"]["code"]) == ("refused", "mldrift-build-constant")
    assert run["log_lines"][-1].startswith("Replacing 2 out of 2 node(s)")
    assert nodes(run) == []


@pytest.mark.parametrize(("build_kernels", "subgraphs"), [(False, 2), (True, 1)])
def test_only_a_build_that_is_made_ends_the_log(sketch, build_kernels, subgraphs):
    split_of_a_constant(sketch)
    other = sketch.builder.subgraph("other")
    source, result = other.input("x", "FLOAT32", SHAPE), other.tensor("y", "FLOAT32", SHAPE)
    other.node("ABS", [source], [result])
    other.outputs(result)
    lines = [line for line in sketch.run(build_kernels=build_kernels)["log_lines"] if line.startswith("Replacing")]
    assert len(lines) == subgraphs


@pytest.mark.parametrize("build_kernels", [False, True])
def test_the_hint_fails_before_a_build(sketch, build_kernels):
    run = split_of_a_constant(sketch).then("L2_NORMALIZATION").run(hint_fully_delegated=True, build_kernels=build_kernels)
    assert run["refusal"]["code"] == "hint-not-met"


def test_builds_of_older_releases_are_predicted(sketch):
    run = split_of_a_constant(sketch).run("litert-2.2.0")
    assert run["refusal"]["is_predicted"]


@pytest.mark.parametrize(("backend", "code"), [("webgpu", "mldrift-build-empty"), ("opencl", None)])
def test_tensors_without_elements(backend, code):
    sketch = Sketch()
    empty = sketch.graph.input("empty", "FLOAT32", (0, 4))
    sketch.graph.node("ABS", [empty], [sketch.graph.tensor("y", "FLOAT32", (0, 4))])
    run = sketch.then("ABS").run(backend=backend)
    assert (run["refusal"] and run["refusal"]["code"]) == code


# Releases


def test_measured_releases_have_no_caveat(sketch):
    for version in ("2.1.3", "2.1.5", "2.2.0", "2.3.0"):
        assert not [note for note in sketch.then("ABS").run(f"litert-{version}")["warnings"] if "mldrift" in note]


@pytest.mark.parametrize(
    ("release", "taken"), [("litert-2.1.6", "2.1.5"), ("litert-2.1.4", "2.1.3"), ("litert-1.4", "2.1.3"), ("tf-2.21", "2.1.3")]
)
def test_other_releases_are_marked(sketch, release, taken):
    notes = sketch.then("ABS").run(release)["warnings"]
    assert [note for note in notes if f"litert-{taken}" in note and "mldrift" in note]


@pytest.mark.parametrize(("release", "limit"), [("litert-2.1.3", 2), ("litert-2.1.6", 2), ("litert-2.2.0", 6), ("litert-2.3", 6)])
def test_limits_by_release(sketch, release, limit):
    other = sketch.graph.input("other", "FLOAT32", SHAPE)
    for version in (limit, limit + 1):
        sketch.then("ADD", other, version=version)
    assert nodes(sketch.run(release), "supported") == [0]


# Which of the two GPU delegates


def test_the_summaries_name_each_other():
    gpu = delegate_sim.delegates.registry.find_delegate("gpu")
    assert "mldrift" in gpu.summary
    assert "gpu" in DELEGATE.summary


@pytest.mark.parametrize(("batch", "backend", "warned"), [(2, "opencl", True), (1, "opencl", False), (2, "webgpu", False)])
def test_a_kernel_that_did_not_build_on_a_device_is_warned_of(batch, backend, warned):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "FLOAT32", [batch, 4, 4, 1])
    graph.node("DEPTH_TO_SPACE", [graph.input("x", "FLOAT32", [batch, 2, 2, 4])], [result], 1, {"block_size": 2})
    graph.outputs(result)
    run = delegate_sim.analyze(builder.bytes(), "mldrift", {"backend": backend}, defaults="api").to_dict()["runs"][0]
    assert any("issues/8459" in warning for warning in run["warnings"]) == warned
