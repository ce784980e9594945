"""LiteRT's names of tensors and types.

For inputs and outputs of a signature, LiteRT uses the names in the signature.
"""

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


_TYPES = """
    NO_TYPE FLOAT32 INT32 UINT8 INT64 STRING BOOL INT16 COMPLEX64 INT8 FLOAT16 FLOAT64 COMPLEX128 UINT64 RESOURCE VARIANT
    UINT32 UINT16 INT4 BFLOAT16 INT2 UINT4
"""
_TYPE_NUMBERS = {name: number for number, name in enumerate(_TYPES.split())}


def type_number(name: str) -> int:
    """Return the runtime's number for a type (``TfLiteType``). Model files use other numbers for the types."""
    return _TYPE_NUMBERS.get(name, 0)
