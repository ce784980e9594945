"""Graphs of one partition, to be mapped to NNAPI operations."""

from __future__ import annotations

import numpy as np

from delegate_sim.delegates.nnapi.lowering.partition import lower_partition
from delegate_sim.delegates.nnapi.target import FEATURE_LEVEL_8
from delegate_sim.graph.graph import file_graph
from delegate_sim.graph.partition import partition
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder

SPARSITY = ((0, 1, 2, 3), (), ((True, 2), (True, 1), (True, 1), (True, 2)))


class Sketch:
    """A graph under construction, whose nodes all belong to one partition."""

    def __init__(self):
        self.builder = ModelBuilder()
        self.subgraph = self.builder.subgraph("main")

    def input(self, shape=(2, 2), type="FLOAT32", **arguments):
        return self.subgraph.input("input", type, shape, **arguments)

    def constant(self, type, shape, value=1, **arguments):
        numpy_type = {"FLOAT32": "f4", "FLOAT16": "f2", "INT64": "i8", "INT32": "i4", "INT8": "i1", "UINT8": "u1"}[type]
        data = np.broadcast_to(np.asarray(value, numpy_type), shape)
        return self.subgraph.tensor("constant", type, shape, data, **arguments)

    def node(self, op, inputs, shape=(2, 2), type="FLOAT32", options=None, results=1, intermediates=(), **arguments):
        made = [self.subgraph.tensor("result", type, shape, **arguments) for _ in range(results)]
        self.subgraph.node(op, inputs, made, options=options, intermediates=intermediates)
        return made if results > 1 else made[0]

    def finish(self, *outputs):
        self.subgraph.outputs(*outputs)
        model = load(self.builder.bytes())
        return file_graph(model, model.subgraphs[0])

    def map(self, *outputs, level=FEATURE_LEVEL_8, runtime=None):
        graph = self.finish(*outputs)
        return map_whole(graph, level, runtime)


def map_whole(graph, level=FEATURE_LEVEL_8, runtime=None):
    (subset,) = partition(graph, graph.execution_plan)
    return lower_partition(graph, subset.nodes, subset.inputs, subset.outputs, level, runtime or level)


def operations(mapping):
    assert mapping.failure is None
    return [list(names) for _, names in sorted(mapping.operations.items())]


def failure(mapping):
    assert mapping.failure is not None
    return mapping.failure


def lstm(sketch, inputs, type="FLOAT32", weights="FLOAT32", intermediates=()):
    source = sketch.input(type=type)
    operands = [source] + [sketch.constant(weights, (2, 2), scale=1.0) for _ in range(inputs - 1)]
    if inputs >= 20:
        for position in (18, 19):
            operands[position] = sketch.subgraph.tensor("state", type, (2, 2), variable=True)
    return sketch.node("LSTM", operands, type=type, intermediates=intermediates, results=1 if inputs >= 20 else 4)


def sparse_convolution(sketch, type="FLOAT32", sparsity=SPARSITY, widen=False):
    data = sketch.constant(type, (2, 1, 1, 2), scale=1.0, sparsity=sparsity)
    weights = sketch.node("DENSIFY", [data], (2, 1, 1, 2), type, scale=1.0)
    if widen:
        weights = sketch.node("DEQUANTIZE", [weights], (2, 1, 1, 2))
    return sketch.node("CONV_2D", [sketch.input((1, 3, 3, 2)), weights, sketch.constant("FLOAT32", (2,))], (1, 3, 3, 2))
