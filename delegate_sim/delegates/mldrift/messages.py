"""Names of tensors in ML Drift's messages. For inputs and outputs of a signature, LiteRT uses the names in the signature."""

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
    return {
        index: name for signature in signatures for side in (signature.inputs, signature.outputs) for name, index in side.items()
    }
