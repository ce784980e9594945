"""Reductions, segments and searches."""

from __future__ import annotations

from .checks import ANY, CONSTANT_COUNT, REFUSED, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "ARG_MAX": PluginRow(intel=ANY),
    "CUMSUM": PluginRow(intel=ANY),
    "MEAN": PluginRow(intel=ANY, mediatek=TYPED),
    "NON_MAX_SUPPRESSION_V4": PluginRow(google=REFUSED),
    "NON_MAX_SUPPRESSION_V5": PluginRow(google=REFUSED),
    "REDUCE_ALL": PluginRow(intel=ANY),
    "REDUCE_MAX": PluginRow(intel=ANY, mediatek=TYPED),
    "REDUCE_PROD": PluginRow(google=REFUSED),
    "SEGMENT_SUM": PluginRow(google=REFUSED),
    "STABLEHLO_REDUCE_WINDOW": PluginRow(google=REFUSED),
    "SUM": PluginRow(intel=ANY, mediatek=TYPED),
    "TOPK_V2": PluginRow(intel=CONSTANT_COUNT),
    "UNSORTED_SEGMENT_MAX": PluginRow(google=REFUSED),
    "UNSORTED_SEGMENT_MIN": PluginRow(google=REFUSED),
    "UNSORTED_SEGMENT_PROD": PluginRow(google=REFUSED),
    "UNSORTED_SEGMENT_SUM": PluginRow(google=REFUSED),
}
