"""Models for the tests of the XNNPACK delegate."""

from __future__ import annotations

import numpy as np

from delegate_sim import analyze
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder

SPARSITY = ((0, 1), (), ((True, 2), (True, 2)))


class Sketch:
    """A graph under construction."""

    def __init__(self):
        self.builder = ModelBuilder()
        self.graph = self.builder.subgraph()

    def input(self, type="FLOAT32", shape=(2, 2), **arguments):
        return self.graph.input("input", type, shape, **arguments)

    def constant(self, type="FLOAT32", shape=(2, 2), value=1, **arguments):
        numpy_type = {"FLOAT32": "f4", "FLOAT16": "f2", "INT32": "i4", "INT64": "i8", "INT8": "i1", "UINT8": "u1"}[type]
        return self.graph.tensor("constant", type, shape, np.broadcast_to(np.asarray(value, numpy_type), shape), **arguments)

    def node(self, op, inputs, type="FLOAT32", shape=(2, 2), options=None, **arguments):
        made = self.graph.tensor("result", type, shape, **arguments)
        self.graph.node(op, inputs, [made], options=options)
        return made

    def run(self, *outputs, **options):
        self.graph.outputs(*outputs)
        return analyze(load(self.builder.bytes()), delegate="xnnpack", options=options, defaults="api").to_dict()["runs"][0]


def codes(run):
    """The code that each node is refused with, None where it is supported."""
    return [node["reasons"][0]["code"] if not node["supported"] else None for node in run["subgraphs"][0]["nodes"]]


def delegated(run):
    return [node["index"] for node in run["subgraphs"][0]["nodes"] if node["delegated"]]
