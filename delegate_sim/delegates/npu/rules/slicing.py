"""Operators that read, write or reverse slices."""

from __future__ import annotations

from .checks import ANY, REFUSED, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "REVERSE_SEQUENCE": PluginRow(google=REFUSED),
    "REVERSE_V2": PluginRow(intel=ANY),
    "SLICE": PluginRow(intel=ANY, mediatek=TYPED),
    "STRIDED_SLICE": PluginRow(intel=ANY, mediatek=TYPED),
}
