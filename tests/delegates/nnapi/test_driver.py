"""What a driver takes of a mapped partition."""

from __future__ import annotations

import delegate_sim
from delegate_sim.delegates.driver_profile import DriverProfile, Rejection
from delegate_sim.delegates.nnapi.driver import nodes_supported_by_driver, rejected_operations
from delegate_sim.delegates.nnapi.mapping import map_partition
from delegate_sim.graph.graph import file_graph
from tests.delegates.nnapi.sketch import Sketch, map_whole, sparse_convolution
from tests.models import chain_model


def test_a_driver_takes_all_of_a_sparse_partition_or_nothing():
    sketch = Sketch()
    graph = sketch.finish(sketch.node("RELU", [sparse_convolution(sketch)], (1, 3, 3, 2)))
    mapping = map_whole(graph)
    assert nodes_supported_by_driver(graph, (0, 1, 2), mapping, {"ABS"}) == (0, 1, 2)
    assert nodes_supported_by_driver(graph, (0, 1, 2), mapping, {"RELU"}) == ()


def test_a_driver_takes_nodes_of_which_it_takes_every_operation():
    sketch = Sketch()
    source = sketch.input()
    graph = sketch.finish(sketch.node("COS", [sketch.node("SUB", [source, source])]))
    assert nodes_supported_by_driver(graph, (0, 1), map_whole(graph), {"SIN"}) == (0,)
    assert nodes_supported_by_driver(graph, (0, 1), map_whole(graph), {"SUB"}) == ()


def test_names_and_profile_add_up():
    model = delegate_sim.load(chain_model(["ADD", "RELU", "TANH"]).bytes())
    graph = file_graph(model, model.subgraphs[0])
    mapping = map_partition(graph, (0, 1, 2), graph.inputs, graph.outputs, 31, 31)
    profile = DriverProfile((Rejection("TANH"),))
    assert nodes_supported_by_driver(graph, (0, 1, 2), mapping, {"ADD"}, profile) == (1,)
    assert [rejected_operations(graph, node, mapping, {"ADD"}, profile) for node in (0, 1, 2)] == [("ADD",), (), ("TANH",)]
