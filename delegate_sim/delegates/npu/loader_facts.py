"""Properties of a model file that only LiteRT's loader reads. The loader refuses models with some of these properties.

Source: ``UnpackTensor`` and ``UnpackOp`` (``litert/core/model/model_load.cc``), ``MapQuantization``
(``litert/core/model/flatbuffer_to_litert.cc``).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...model.flatbuffer import Tables, flatbuffer_of
from ...model.model import Model, Tensor

NONE, PER_TENSOR, PER_CHANNEL, BLOCKWISE = "none", "per tensor", "per channel", "blockwise"

_BLOCKWISE_DETAILS = 2

FilePlace = tuple[int, int]
"""The index of a subgraph, and the index of a node or tensor in this subgraph."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Unusual properties of a model file. Each attribute has the places of the nodes or tensors with one property."""

    variants: frozenset[FilePlace]
    """Tensors with a list of ``variant_tensors``."""
    mutating: frozenset[FilePlace]
    """Nodes with the list ``mutating_variable_inputs``, even if no entry of the list is true."""
    invalid_channels: frozenset[FilePlace]
    """Tensors quantized per channel that do not have one zero point for each scale."""
    kinds: Mapping[FilePlace, str]
    """The kind of quantization of each tensor for which ``quantization_kind`` cannot determine the kind."""


@functools.lru_cache(maxsize=2)
def file_facts(model: Model) -> FileFacts:
    """Read the facts from the bytes of a loaded model. The facts of the last two models are cached."""
    root = flatbuffer_of(model.content).root("Model")
    subgraphs = root.child_vectors("subgraphs")[0]
    tensors, tensor_counts = subgraphs.child_vectors("tensors")
    nodes, node_counts = subgraphs.child_vectors("operators")
    quantization = tensors.children("quantization")
    scales, zero_points = _counts(quantization, "scale"), _counts(quantization, "zero_point")
    places = _places(tensor_counts)
    invalid, kinds = set(), {}
    for place, of_scales, of_zero_points, details in zip(
        places, scales, zero_points, quantization.numbers("details_type"), strict=True
    ):
        if details == _BLOCKWISE_DETAILS or not (of_scales or of_zero_points or details):
            continue
        kind = NONE if not of_scales and not of_zero_points else PER_CHANNEL
        if 1 in (of_scales, of_zero_points):
            kind = PER_TENSOR
        if kind == PER_CHANNEL and of_scales != of_zero_points:
            invalid.add(place)
        if (not of_scales and of_zero_points) or details > _BLOCKWISE_DETAILS:
            kinds[place] = kind
    return FileFacts(
        _chosen(_counts(tensors, "variant_tensors"), tensor_counts),
        _chosen(_counts(nodes, "mutating_variable_inputs"), node_counts),
        frozenset(invalid),
        kinds,
    )


def quantization_kind(tensor: Tensor) -> str:
    """Return the kind of quantization that a tensor has in LiteRT. Entries in ``FileFacts.kinds`` override the result."""
    quantization = tensor.quantization
    if quantization is None:
        return NONE
    if quantization.kind == BLOCKWISE:
        return BLOCKWISE
    return PER_TENSOR if len(quantization.scales) == 1 or len(quantization.zero_points) == 1 else PER_CHANNEL


def has_weights(tensor: Tensor) -> bool:
    """Return whether LiteRT treats a tensor as a constant. The buffer of a constant is not empty."""
    return tensor.data is not None and tensor.data[1] > 0


def _counts(tables: Tables, field: str) -> list[int]:
    return tables.lengths(field, f"a vector of {tables.what}")


def _places(counts: Sequence[int]) -> list[FilePlace]:
    # bounded: the reader has counted these tables
    return [(subgraph, index) for subgraph, count in enumerate(counts) for index in range(count)]


def _chosen(has_fault: Sequence[int], counts: Sequence[int]) -> frozenset[FilePlace]:
    """Return the places where ``has_fault`` is not 0. ``counts`` has the number of places in each subgraph."""
    return frozenset(itertools.compress(_places(counts), has_fault) if any(has_fault) else ())
