"""The checks of LiteRT's own loader as a failure of the model. The loader runs before the interpreter and the accelerators."""

from __future__ import annotations

from dataclasses import replace

from ...graph.graph import index_in_graph
from ...model.model import Model
from ...refusal import Refusal
from ...releases.catalogue import Release
from ..npu.loader import loaded
from .failures import LITERT_LOADER


def load_refusal(model: Model, release: Release) -> Refusal | None:
    """Return the loader's first refusal, or None if the model loads."""
    failure = loaded(model, release, frozenset()).failure
    if failure is None:
        return None
    subgraph = model.subgraphs[failure.subgraph]
    node = None if failure.node is None else index_in_graph(subgraph, subgraph.nodes[failure.node])
    refusal = LITERT_LOADER.failure(problem=failure.message)
    return replace(refusal, subgraph=subgraph.index, node=node, tensor=failure.tensor, log_lines=failure.log_lines)
