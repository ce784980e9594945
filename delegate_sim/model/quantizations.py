"""Read the quantization parameters of all tensors, one field at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .flatbuffer import Tables
from .model import Quantization
from .numbers import StoredNumbers

_BLOCKWISE = 2
_DETAILED_QUANTIZATIONS: Mapping[int, str] = {_BLOCKWISE: "blockwise", 3: "multi-axis"}
_NO_SCALES = StoredNumbers("<f4")
_NO_ZERO_POINTS = StoredNumbers("<i8")


class Quantizations(NamedTuple):
    """The quantization of many tensors, as lists of values for the fields of ``Tensor``."""

    parameters: list[Quantization | None]
    scales: list[float]
    zero_points: list[int]


def read_quantizations(tables: Tables) -> Quantizations:
    """Return the quantization of each tensor.

    Affine quantization without scales is ignored. The table ``details`` has blockwise and multi-axis quantization
    (``ParseQuantization``).
    """
    buffer = tables.buffer
    scale_starts, scale_counts = tables.vectors("scale", "scales")
    zero_starts, zero_counts = tables.vectors("zero_point", "zero points")
    buffer.spend(sum(scale_counts) * 4 + sum(zero_counts) * 8, "its scales and zero points")
    kinds = tables.numbers("details_type")
    places = tables.targets("details", "quantization details")
    positions = [place if kind in _DETAILED_QUANTIZATIONS else 0 for place, kind in zip(places, kinds, strict=True)]
    details = Tables(buffer, "BlockwiseQuantization", positions, "QuantizationDetails")
    shape_starts, shape_counts = Tables(
        buffer,
        "BlockwiseQuantization",
        [place if kind == _BLOCKWISE else 0 for place, kind in zip(positions, kinds, strict=True)],
        "QuantizationDetails",
    ).vectors("block_shape", "block sizes")
    buffer.spend(sum(shape_counts) * 4, "its block sizes")
    if not any(scale_counts) and not any(positions):
        return Quantizations([None] * len(tables), [0.0] * len(tables), [0] * len(tables))
    parameters: list[Quantization | None] = []
    for (
        scale_start,
        scale_count,
        zero_start,
        zero_count,
        dimension,
        kind,
        position,
        scales,
        zero_points,
        block_size,
        shape_start,
        shape_count,
    ) in zip(
        scale_starts,
        scale_counts,
        zero_starts,
        zero_counts,
        tables.numbers("quantized_dimension"),
        kinds,
        positions,
        details.numbers("scales"),
        details.numbers("zero_points"),
        details.numbers("block_size"),
        shape_starts,
        shape_counts,
        strict=True,
    ):
        if position:
            block_shape = StoredNumbers("<i4", buffer.content, shape_start, shape_count) if shape_start else None
            detailed = (dimension, block_size, scales, zero_points, block_shape)
            parameters.append(Quantization(_DETAILED_QUANTIZATIONS[kind], _NO_SCALES, _NO_ZERO_POINTS, *detailed))
        elif scale_count:
            parameters.append(
                Quantization(
                    "affine",
                    StoredNumbers("<f4", buffer.content, scale_start, scale_count),
                    StoredNumbers("<i8", buffer.content, zero_start, zero_count) if zero_count else _NO_ZERO_POINTS,
                    dimension,
                )
            )
        else:
            parameters.append(None)
    # GetLegacyQuantization (core/subgraph.cc)
    has_one = [count == 1 and not position for count, position in zip(scale_counts, positions, strict=True)]
    scale_places = [start if one else 0 for start, one in zip(scale_starts, has_one, strict=True)]
    zero_places = [start if one and count else 0 for start, count, one in zip(zero_starts, zero_counts, has_one, strict=True)]
    return Quantizations(
        parameters, buffer.numbers("<f", scale_places, "scales", 0.0), buffer.numbers("<q", zero_places, "zero points")
    )
