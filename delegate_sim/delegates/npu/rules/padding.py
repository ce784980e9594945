"""Padding."""

from __future__ import annotations

from .checks import ANY, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "MIRROR_PAD": PluginRow(intel=ANY),
    "PAD": PluginRow(intel=ANY, mediatek=TYPED),
    "PADV2": PluginRow(intel=ANY, mediatek=TYPED),
}
