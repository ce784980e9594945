"""Reshaping, transposing, and moving blocks between dimensions."""

from __future__ import annotations

from .checks import ANY, REFUSED, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "DEPTH_TO_SPACE": PluginRow(intel=ANY),
    "EXPAND_DIMS": PluginRow(intel=ANY),
    "RANK": PluginRow(google=REFUSED),
    "RESHAPE": PluginRow(intel=ANY, mediatek=TYPED),
    "SHAPE": PluginRow(google=REFUSED),
    "TRANSPOSE": PluginRow(intel=ANY, mediatek=TYPED),
}
