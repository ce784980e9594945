"""Operators that change the type or the encoding of a tensor."""

from __future__ import annotations

from .checks import ANY, REFUSED, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "BUCKETIZE": PluginRow(google=REFUSED),
    "CAST": PluginRow(intel=ANY, mediatek=TYPED),
    "DENSIFY": PluginRow(google=REFUSED),
    "DEQUANTIZE": PluginRow(intel=ANY, mediatek=TYPED),
    "FAKE_QUANT": PluginRow(google=REFUSED),
    "QUANTIZE": PluginRow(intel=ANY, mediatek=TYPED),
}
