"""A kernel that was built while the driver was asked is found again by the first node of a partition alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.delegates.driver_profile import DriverProfile, Rejection
from delegate_sim.delegates.nnapi.delegate import DELEGATE
from delegate_sim.delegates.nnapi.lowering.partition import LoweredPartition, lower_partition
from delegate_sim.delegates.nnapi.partitions import DriverAnswers, Partitions
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.graph.graph import file_graph
from delegate_sim.prepare.preparation import prepare
from delegate_sim.releases.catalogue import NEWEST
from fixtures.builder import ModelBuilder
from tests.support.delegates.nnapi_sketch import Sketch, map_whole, sparse_convolution
from tests.support.models import chain_model

REPRO = Path(__file__).resolve().parents[4] / "shared" / "repro" / "nnapi" / "multi"
REJECTED = ("DEQUANTIZE", "QUANTIZE", "TRANSPOSE")


def partition_that_fails():
    """Return the decision on a node without inputs of any bytes, and its partition."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    weights, result = graph.tensor("w", "FLOAT32", [4], data=[1.0] * 4), graph.tensor("y", "FLOAT32", [4])
    graph.node("EXP", [weights], [result])
    graph.outputs(result)
    delegate = find_delegate("nnapi")
    options = parse_options("nnapi", delegate.options, {})
    decision = delegate.decide(prepare(delegate_sim.load(builder.bytes()))[0], options, NEWEST)
    return delegate, options, decision, decision.grouped()[0]


@pytest.mark.parametrize(("found", "fails"), [((), True), ((0,), False), ((1,), True)])
def test_a_kernel_that_is_found_again_is_not_built(found, fails):
    delegate, options, decision, subset = partition_that_fails()
    partitions = Partitions(decision.graph, options, NEWEST)
    partitions._kept |= {first: LoweredPartition({}, lambda: None) for first in found}
    decision = replace(decision, findings=partitions)
    assert (delegate.kernel_failure(decision, subset, options, NEWEST) is not None) == fails


@pytest.mark.parametrize("name", ["attn/00113_n14_s3", "ctrl/00047_n8_s5", "float/00019_n20_s1"])
def test_a_partition_that_shrank_initializes(name):
    path = REPRO / f"{name}.tflite"
    if not path.exists():
        pytest.skip("the models of ../shared are not here")
    options = {"driver_rejects": REJECTED, "accelerator_name": "accelerator", "max_number_delegated_partitions": 0}
    options["nnapi_runtime"] = "none"
    assert delegate_sim.analyze(path, "nnapi", options, defaults="api").to_dict()["runs"][0]["outcome"] == "delegated"


@pytest.mark.parametrize(
    ("release", "node"), [("tf-2.14", 10), ("litert-1.1", None), ("litert-1.2", None), ("litert-2.2", 10), ("litert-2.3", 10)]
)
def test_releases_differ_in_whether_transpose_conv_takes_float16_weights_left_on_the_cpu(release, node):
    path = REPRO / "chain" / "00151_n40_s4.tflite"
    if not path.exists():
        pytest.skip("the models of ../shared are not here")
    options = {"max_number_delegated_partitions": 1, "feature_level": 29, "nnapi_runtime": "none"}
    refusal = delegate_sim.analyze(path, "nnapi", options, runtime=release, defaults="api").runs[0].refusal
    assert (None if refusal is None else refusal.node) == node


@pytest.mark.parametrize("release", ["litert-2.1", "litert-2.3"])
def test_a_partition_of_a_subgraph_in_which_the_driver_rejects_nothing_is_built_as_it_is(release):
    """Kernels are kept for one subgraph at a time, so that of another with the same first node is not found."""
    path = REPRO / "chain" / "00151_n40_s4.tflite"
    if not path.exists():
        pytest.skip("the models of ../shared are not here")
    options = {"driver_rejects": REJECTED, "accelerator_name": "accelerator", "max_number_delegated_partitions": 0}
    options |= {"nnapi_runtime": "none", "feature_level": 29}
    refusal = delegate_sim.analyze(path, "nnapi", options, runtime=release, defaults="api").runs[0].refusal
    assert (refusal.code, refusal.subgraph) == ("nnapi-empty-pool", 2)


@pytest.mark.parametrize(("changed", "is_shared"), [("max_number_delegated_partitions", True), ("allow_fp16", False)])
def test_options_that_do_not_change_the_models_share_them(changed, is_shared):
    _, options, decision, subset = partition_that_fails()
    other = {**options, changed: int(not options[changed])}
    models = [Partitions(decision.graph, each, NEWEST).lowered(subset) for each in (options, other)]
    assert (models[0] is models[1]) == is_shared


def answers(graph, *rejected, **options):
    return DriverAnswers(graph, {**parse_options("nnapi", DELEGATE.options, {"driver_rejects": rejected}), **options})


def test_a_driver_takes_all_of_a_sparse_partition_or_nothing():
    sketch = Sketch()
    graph = sketch.finish(sketch.node("RELU", [sparse_convolution(sketch)], (1, 3, 3, 2)))
    mapping = map_whole(graph)
    assert answers(graph, "ABS").supported((0, 1, 2), mapping) == (0, 1, 2)
    assert answers(graph, "RELU").supported((0, 1, 2), mapping) == ()


def test_a_driver_takes_nodes_of_which_it_takes_every_operation():
    sketch = Sketch()
    source = sketch.input()
    graph = sketch.finish(sketch.node("COS", [sketch.node("SUB", [source, source])]))
    assert answers(graph, "SIN").supported((0, 1), map_whole(graph)) == (0,)
    assert answers(graph, "SUB").supported((0, 1), map_whole(graph)) == ()


def test_names_and_profile_add_up():
    model = delegate_sim.load(chain_model(["ADD", "RELU", "TANH"]).bytes())
    graph = file_graph(model, model.subgraphs[0])
    mapping = lower_partition(graph, (0, 1, 2), graph.inputs, graph.outputs, 31, 31)
    profile = DriverProfile((Rejection("TANH"),))
    driver = answers(graph, "ADD", driver=profile)
    assert driver.supported((0, 1, 2), mapping) == (1,)
    assert [driver.rejected(node, mapping) for node in (0, 1, 2)] == [("ADD",), (), ("TANH",)]
