"""Filling, repeating and counting."""

from __future__ import annotations

from .checks import ANY, REFUSED, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "BROADCAST_ARGS": PluginRow(google=REFUSED),
    "BROADCAST_TO": PluginRow(intel=ANY),
    "ONE_HOT": PluginRow(intel=ANY),
    "RANGE": PluginRow(intel=ANY),
    "TILE": PluginRow(intel=ANY.from_release("litert-2.2.0"), mediatek=TYPED.from_release("litert-2.3.0")),
}
