"""Graphs made for tests of what the delegate builds, one partition each."""

from __future__ import annotations

import numpy as np

from delegate_sim.delegates.gpu import model
from delegate_sim.delegates.gpu.build import build_partition
from delegate_sim.graph.graph import file_graph
from delegate_sim.graph.partition import partition
from delegate_sim.model.reader import load
from delegate_sim.releases.catalogue import NEWEST
from fixtures.builder import ModelBuilder

RELU, TANH, SIGN_BIT = 1, 4, 5
_NUMPY_TYPES = {
    "FLOAT32": "f4",
    "FLOAT16": "f2",
    "INT64": "i8",
    "INT32": "i4",
    "INT16": "i2",
    "INT8": "i1",
    "UINT8": "u1",
    "BOOL": "u1",
}


class Sketch:
    """A graph under construction, whose nodes all belong to one partition."""

    def __init__(self):
        self.builder = ModelBuilder()
        self.subgraph = self.builder.subgraph("main")

    def input(self, *shape, type="FLOAT32", **arguments):
        return self.subgraph.input("input", type, shape, **arguments)

    def variable(self, *shape, type="FLOAT32"):
        return self.subgraph.tensor("state", type, shape, variable=True)

    def constant(self, *shape, type="FLOAT32", value=1, **arguments):
        data = np.broadcast_to(np.asarray(value, _NUMPY_TYPES[type]), shape)
        return self.subgraph.tensor("constant", type, shape, data, **arguments)

    def vector(self, *values, type="INT32"):
        return self.constant(len(values), type=type, value=values)

    def node(self, op, inputs, *shapes, type="FLOAT32", custom=None, words=None, scale=None, **options):
        made = [self.subgraph.tensor("result", type, shape, scale=scale) for shape in shapes]
        packed = None if words is None else np.array(words, "<i4").tobytes()
        self.subgraph.node(op, inputs, made, options=options or None, custom=custom, custom_options=packed)
        return made if len(made) > 1 else made[0]

    def build(self, *outputs, allow_quant_ops=True, release=NEWEST, is_opengl=False):
        self.subgraph.outputs(*outputs)
        model = load(self.builder.bytes())
        graph = file_graph(model, model.subgraphs[0])
        (subset,) = partition(graph, graph.execution_plan)
        return build_partition(graph, subset, allow_quant_ops=allow_quant_ops, release=release, is_opengl=is_opengl)


def assert_fails(failure, code, node, tensor=None):
    assert failure is not None
    assert (failure.code, failure.node) == (code, node)
    assert tensor is None or failure.tensor == tensor
    assert failure.effect.is_crash == model.KINDS[code].effect.is_crash


def conv(sketch, x, weights, *more, op="CONV_2D", shape=(1, 4, 4, 2), **options):
    steps = {"stride_h": 1, "stride_w": 1, **options}
    return sketch.node(op, [x, weights, *more], shape, **steps)
