"""What LiteRT's own loader reads of a file and the runtime's does not: it refuses models with some of it.

Source: ``UnpackTensor`` and ``UnpackOp`` (``litert/core/model/model_load.cc``), ``MapQuantization``
(``litert/core/model/flatbuffer_to_litert.cc``).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...model.flatbuffer import Flatbuffer, Positions, Tables
from ...model.model import Model, Tensor

NONE, PER_TENSOR, PER_CHANNEL, BLOCKWISE = "none", "per tensor", "per channel", "blockwise"

_BLOCKWISE_DETAILS = 2

FilePlace = tuple[int, int]
"""Subgraph, and the index of a node or tensor in it."""


class FileFacts(NamedTuple):
    """What is unusual about a file; each set holds places."""

    variants: frozenset[FilePlace]
    """Tensors that list variant tensors."""
    mutating: frozenset[FilePlace]
    """Nodes that say which of their variable inputs they change, even if none."""
    invalid_channels: frozenset[FilePlace]
    """Tensors whose scales and zero points, several of them, are not equally many."""
    kinds: Mapping[FilePlace, str]
    """Kinds of quantisation that the number of scales does not tell."""


@functools.lru_cache(maxsize=2)
def file_facts(model: Model) -> FileFacts:
    """Read them from the bytes of a model that was read before; those of the last models are kept."""
    root = Flatbuffer(model.content).root("Model")
    subgraphs = root.child_vectors(2, "SubGraph")[0]
    tensors, tensor_counts = subgraphs.child_vectors(0, "Tensor")
    nodes, node_counts = subgraphs.child_vectors(3, "Operator")
    quantization = tensors.children(4, "QuantizationParameters")
    scales, zero_points = _counts(quantization, 2, 4), _counts(quantization, 3, 8)
    details = quantization.column(4, "<u1")
    is_blockwise = details == _BLOCKWISE_DETAILS
    is_per_tensor = (scales == 1) | (zero_points == 1)
    is_plain = ~is_blockwise & ~is_per_tensor & ((scales > 0) | (zero_points > 0))
    is_invalid = is_plain & (scales != zero_points)
    is_untold = ((scales == 0) & (zero_points > 0)) | (~is_blockwise & (details > _BLOCKWISE_DETAILS))
    places = _places(tensor_counts)
    return FileFacts(
        _chosen(_counts(tensors, 9, 4) > 0, places),
        _chosen(_counts(nodes, 7, 1) > 0, _places(node_counts)),
        _chosen(is_invalid, places),
        {
            places[position]: PER_TENSOR if is_per_tensor[position] else PER_CHANNEL if is_plain[position] else NONE
            for position in np.flatnonzero(is_untold & ~is_blockwise).tolist()
        },
    )


def quantization_kind(tensor: Tensor) -> str:
    """Return a tensor's kind of quantisation as LiteRT sees it, unless ``FileFacts.kinds`` has another."""
    found = tensor.quantization
    if found is None:
        return NONE
    if found.kind == BLOCKWISE:
        return BLOCKWISE
    return PER_TENSOR if len(found.scales) == 1 or len(found.zero_points) == 1 else PER_CHANNEL


def has_weights(tensor: Tensor) -> bool:
    """Whether LiteRT takes a tensor for a constant: its buffer has bytes."""
    return tensor.data is not None and tensor.data[1] > 0


def _counts(tables: Tables, slot: int, width: int) -> Positions:
    return tables.buffer.vectors(tables.at(slot), width, f"a vector of {tables.what}")[1]


def _places(counts: Sequence[int]) -> list[FilePlace]:
    return [(subgraph, index) for subgraph, count in enumerate(counts) for index in range(count)]


def _chosen(flags: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], places: Sequence[FilePlace]) -> frozenset[FilePlace]:
    return frozenset([places[position] for position in np.flatnonzero(flags).tolist()])
