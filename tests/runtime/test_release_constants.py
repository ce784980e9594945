"""Parts of a file that older releases of the runtime read otherwise than the newest."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.model.model import Allocation
from delegate_sim.releases.catalogue import parse_release
from delegate_sim.runtime.model_loading import as_read_by
from fixtures.builder import ModelBuilder
from fixtures.make import MODELS


def constants(model, release):
    read = as_read_by(model, parse_release(release))
    return sum(tensor.is_constant for subgraph in read.subgraphs for tensor in subgraph.tensors)


@pytest.mark.parametrize(("release", "is_constant"), [("tf-2.10", False), ("tf-2.11", True), ("litert-2.3", True)])
def test_a_constant_of_no_bytes(release, is_constant):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, shape = graph.input("x", "FLOAT32", [1]), graph.tensor("shape", "INT32", [0], data=[])
    result = graph.tensor("y", "FLOAT32", [])
    graph.node("RESHAPE", [source, shape], [result], options={})
    graph.outputs(result)
    assert (constants(load(builder.bytes()), release) == 1) == is_constant


@pytest.mark.parametrize("release", ["tf-2.10", "tf-2.11", "tf-2.13", "tf-2.14", "litert-2.3"])
def test_a_model_with_data_in_all_its_constants_is_the_same_model(release):
    model = load(MODELS / "activations.tflite")
    assert as_read_by(model, parse_release(release)) is model


def test_what_no_node_fills_is_no_constant_and_keeps_the_rest():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, shape = graph.input("x", "FLOAT32", [4]), graph.tensor("shape", "INT32", [2], data=[2, 2])
    empty, result = graph.tensor("empty", "INT32", [0], data=[]), graph.tensor("y", "FLOAT32", [2, 2])
    graph.node("RESHAPE", [source, shape], [result], options={})
    graph.node("RESHAPE", [source, empty], [graph.tensor("z", "FLOAT32", [])], options={})
    graph.outputs(result)
    (read,) = as_read_by(load(builder.bytes()), parse_release("tf-2.10")).subgraphs
    assert [tensor.is_constant for tensor in read.tensors[:3]] == [False, True, False]


def test_bytes_behind_the_flatbuffer():
    model = load(MODELS / "external_buffers.tflite")
    assert model.offset_buffers
    assert constants(model, "tf-2.13") < constants(model, "tf-2.14")
    assert as_read_by(model, parse_release("tf-2.14")) is model


@pytest.mark.parametrize("is_variable", [False, True])
def test_what_is_not_read_as_a_constant_keeps_its_state_if_it_is_a_variable(is_variable):
    builder = ModelBuilder()
    builder.subgraph("main").tensor("empty", "INT32", [0], data=[], variable=is_variable)
    ((tensor,),) = [subgraph.tensors for subgraph in as_read_by(load(builder.bytes()), parse_release("tf-2.10")).subgraphs]
    assert tensor.allocation is (Allocation.VARIABLE if is_variable else Allocation.ARENA)
