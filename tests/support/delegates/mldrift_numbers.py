"""Small models of one or a few nodes, and what ML Drift computes wrongly in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import delegate_sim
from fixtures.builder import ModelBuilder

Step = tuple[str, str, str, dict[str, Any]]
"""A node: its operator, the names of its operands and of its results (both separated by spaces), and its options."""


def ints(*values: int) -> Any:
    return np.array(values, np.int32)


def one(value: int) -> Any:
    return np.array(value, np.int32)


def zeros(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


class Quantized:
    """A constant of INT8 with one scale, or with one scale for each slice of the first dimension."""

    def __init__(self, *shape: int, scales: int = 1) -> None:
        self.data = np.ones(shape, np.int8)
        self.scale = [0.5] * scales if scales > 1 else 0.5


def model_of(tensors: Mapping[str, Any], steps: Sequence[Step], outputs: str = "") -> bytes:
    """Return a model.

    ``tensors`` has a shape for each tensor of FLOAT32, a pair of type and shape for other types, and the elements of constants.
    Tensors of INT8 and UINT8 are quantized.
    Tensors that no node computes are inputs of the graph. ``outputs`` are names of tensors, by default the results of the last
    node.
    """
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    computed = {name for _, _, results, _ in steps for name in results.split()}
    index: dict[str, int] = {}
    for name, given in tensors.items():
        if isinstance(given, Quantized):
            index[name] = graph.tensor(name, "INT8", given.data.shape, given.data, scale=given.scale)
        elif isinstance(given, np.ndarray):
            index[name] = graph.tensor(name, given.dtype.name.upper(), given.shape, given)
        else:
            kind, shape = given if isinstance(given[0], str) else ("FLOAT32", given)
            scale = 0.5 if kind in ("INT8", "UINT8") else None
            index[name] = (graph.tensor if name in computed else graph.input)(name, kind, shape, scale=scale)
    for op, operands, results, options in steps:
        graph.node(
            op, [index[name] for name in operands.split()], [index[name] for name in results.split()], options=options or None
        )
    graph.outputs(*[index[name] for name in (outputs or steps[-1][2]).split()])
    return bytes(builder.bytes())


def risks_of(model: bytes, runtime: str = "litert-2.3.0", backend: str = "webgpu") -> list[tuple[int | None, str, str]]:
    """Return the node, the code without its prefix, and the certainty of each risk."""
    report = delegate_sim.analyze(model, "mldrift", {"backend": backend}, runtime=runtime, defaults="benchmark").to_dict()
    risks = report["runs"][0].get("number_risks", [])
    assert report["runs"][0]["subgraphs"][0]["nodes_delegated"], report["runs"][0]["refusal"]
    return [(risk["node"], risk["code"].removeprefix("mldrift-numbers-"), risk["certainty"]) for risk in risks]
