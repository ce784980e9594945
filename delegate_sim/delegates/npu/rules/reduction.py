"""Reductions and running sums."""

from __future__ import annotations

from .checks import ANY, REFUSED, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "ARG_MAX": PluginRow(intel=ANY),
    "CUMSUM": PluginRow(intel=ANY),
    "MEAN": PluginRow(intel=ANY, mediatek=TYPED),
    "REDUCE_ALL": PluginRow(intel=ANY),
    "REDUCE_MAX": PluginRow(intel=ANY, mediatek=TYPED),
    "REDUCE_PROD": PluginRow(google=REFUSED),
    "SUM": PluginRow(intel=ANY, mediatek=TYPED),
}
