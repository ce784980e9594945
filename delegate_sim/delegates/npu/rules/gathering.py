"""Gathering, scattering, lookups and searches."""

from __future__ import annotations

from .checks import ANY, CONSTANT_COUNT, REFUSED, PluginRow, PluginTable

TABLE: PluginTable = {
    "SEGMENT_SUM": PluginRow(google=REFUSED),
    "TOPK_V2": PluginRow(intel=CONSTANT_COUNT),
    "UNSORTED_SEGMENT_MAX": PluginRow(google=REFUSED),
    "UNSORTED_SEGMENT_MIN": PluginRow(google=REFUSED),
    "UNSORTED_SEGMENT_PROD": PluginRow(google=REFUSED),
    "UNSORTED_SEGMENT_SUM": PluginRow(google=REFUSED),
    "EMBEDDING_LOOKUP": PluginRow(intel=ANY),
    "GATHER": PluginRow(intel=ANY),
    "GATHER_ND": PluginRow(intel=ANY),
    "SPARSE_TO_DENSE": PluginRow(google=REFUSED),
    "UNIQUE": PluginRow(google=REFUSED),
    "WHERE": PluginRow(google=REFUSED),
}
