"""Quantisation parameters, from the columns of their tables."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .flatbuffer import OFFSET, Tables
from .model import Quantization
from .numbers import StoredNumbers

QUANTIZATION_FIELDS = {**dict.fromkeys((2, 3, 5), OFFSET), 4: "<B", 6: "<i"}
"""How the fields of the tables are stored, by their numbers."""
_DETAILED_QUANTIZATIONS: Mapping[int, str] = MappingProxyType({2: "blockwise", 3: "multi-axis"})
_NO_SCALES = StoredNumbers("<f4")
_NO_ZERO_POINTS = StoredNumbers("<i8")


def read_quantizations(tables: Tables) -> list[Quantization | None]:
    """Affine parameters count only where there are scales; of the other kinds, details decide (``ParseQuantization``)."""
    buffer = tables.buffer
    scale_starts, scale_counts = tables.vectors(2, 4, "scales")
    zero_starts, zero_counts = tables.vectors(3, 8, "zero points")
    buffer.spend(sum(scale_counts) * 4 + sum(zero_counts) * 8, "its scales and zero points")
    kinds = tables.numbers(4, "<B")
    places = tables.targets(5, "quantisation details")
    positions = [place if kind in _DETAILED_QUANTIZATIONS else 0 for place, kind in zip(places, kinds, strict=True)]
    details = Tables(buffer, "QuantizationDetails", positions)
    if not any(scale_counts) and not any(positions):
        return [None] * len(tables)
    found: list[Quantization | None] = []
    for scale_start, scale_count, zero_start, zero_count, dimension, kind, position, scales, zero_points, block_size in zip(
        scale_starts,
        scale_counts,
        zero_starts,
        zero_counts,
        tables.numbers(6, "<i"),
        kinds,
        positions,
        details.numbers(0, "<i"),
        details.numbers(1, "<i"),
        details.numbers(2, "<i"),
        strict=True,
    ):
        if position:
            parameters = (dimension, block_size, scales, zero_points)
            found.append(Quantization(_DETAILED_QUANTIZATIONS[kind], _NO_SCALES, _NO_ZERO_POINTS, *parameters))
        elif scale_count:
            found.append(
                Quantization(
                    "affine",
                    StoredNumbers("<f4", buffer.content, scale_start, scale_count),
                    StoredNumbers("<i8", buffer.content, zero_start, zero_count) if zero_count else _NO_ZERO_POINTS,
                    dimension,
                )
            )
        else:
            found.append(None)
    return found
