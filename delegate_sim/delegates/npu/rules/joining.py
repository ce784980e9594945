"""Joining and splitting."""

from __future__ import annotations

from .checks import ANY, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "CONCATENATION": PluginRow(intel=ANY, mediatek=TYPED),
    "PACK": PluginRow(intel=ANY),
    "SPLIT": PluginRow(intel=ANY, mediatek=TYPED),
    "UNPACK": PluginRow(intel=ANY, mediatek=TYPED.from_release("litert-2.3.0")),
}
