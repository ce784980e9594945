"""The operations of a mapped partition that a driver takes."""

from __future__ import annotations

import delegate_sim
from delegate_sim.delegates.driver_profile import DriverProfile, Rejection
from delegate_sim.delegates.nnapi.android.driver_answers import DriverAnswers
from delegate_sim.delegates.nnapi.delegate import DELEGATE
from delegate_sim.delegates.nnapi.lowering.partition import lower_partition
from delegate_sim.delegates.options import parse_options
from delegate_sim.graph.graph import file_graph
from tests.support.delegates.nnapi_sketch import Sketch, map_whole, sparse_convolution
from tests.support.models import chain_model


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
    assert [driver.rejections.of_node(node, mapping) for node in (0, 1, 2)] == [("ADD",), (), ("TANH",)]
