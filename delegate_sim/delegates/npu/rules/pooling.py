"""Pooling."""

from __future__ import annotations

from .checks import ANY, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "AVERAGE_POOL_2D": PluginRow(intel=ANY, mediatek=TYPED),
    "MAX_POOL_2D": PluginRow(intel=ANY, mediatek=TYPED),
}
