"""The checks of LiteRT's own loader. The loader runs before the interpreter and the accelerators.

Source: ``UnpackTensor`` and ``UnpackOp`` (``litert/core/model/model_load.cc``), and ``MapElementType``
(``litert/core/model/flatbuffer_to_litert.cc``).
"""

from __future__ import annotations

from dataclasses import replace

from ...graph.graph import index_in_graph
from ...model.model import Model, Subgraph, Tensor
from ...refusal import Refusal
from .failures import LITERT_LOADER

_UNNAMED_TYPES = frozenset({"VARIANT", "COMPLEX128"})
"""Types without a name in LiteRT."""


def load_refusal(model: Model) -> Refusal | None:
    """Return the loader's first refusal, or None if the model loads."""
    for subgraph in model.subgraphs:
        for tensor in subgraph.tensors:
            problem = _problem_of(tensor)
            if problem is not None:
                return _refusal(subgraph, *problem, tensor=tensor)
        for node in subgraph.nodes:
            if node.intermediates:
                problem = (f"{node.op} has intermediate tensors", "Intermediate tensors not yet supported.")
                return _refusal(subgraph, *problem, node=index_in_graph(subgraph, node))
    return None


def _problem_of(tensor: Tensor) -> tuple[str, str] | None:
    if tensor.type in _UNNAMED_TYPES or tensor.type.startswith("UNKNOWN("):
        return (
            f"a tensor has the type {tensor.type}, and LiteRT does not support this type",
            f"Element type ({tensor.type}) not currently supported",
        )
    if tensor.is_variable:
        return "a tensor is variable", "Variable tensors not yet supported."
    return None


def _refusal(subgraph: Subgraph, problem: str, line: str, node: int | None = None, tensor: Tensor | None = None) -> Refusal:
    failure = LITERT_LOADER.failure(tensor, node, problem=problem)
    return replace(failure, subgraph=subgraph.index, log_lines=(line,))
