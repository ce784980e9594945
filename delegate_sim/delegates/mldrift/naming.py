"""What LiteRT calls tensors: inputs and outputs of a signature have the names that they have there."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ...graph.graph import Graph
from ...model.model import Model, Tensor


def name_of(graph: Graph, tensor: Tensor) -> str:
    """Return the name of a tensor in ML Drift's messages."""
    return _names(graph.model, graph.index).get(tensor.index, tensor.name)


@functools.lru_cache(maxsize=8)
def _names(model: Model, subgraph: int) -> Mapping[int, str]:
    signatures = [signature for signature in model.signatures if signature.subgraph == subgraph]
    return {index: name for each in signatures for side in (each.inputs, each.outputs) for name, index in side.items()}
