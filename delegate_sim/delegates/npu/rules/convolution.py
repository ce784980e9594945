"""Convolutions."""

from __future__ import annotations

from .checks import ANY, REFUSED, REFUSED_BEFORE_2_3, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "CONV_2D": PluginRow(intel=ANY, mediatek=TYPED),
    "CONV_3D": PluginRow(google=REFUSED_BEFORE_2_3, intel=ANY),
    "CONV_3D_TRANSPOSE": PluginRow(google=REFUSED),
    "DEPTHWISE_CONV_2D": PluginRow(intel=ANY, mediatek=TYPED),
    "TRANSPOSE_CONV": PluginRow(intel=ANY, mediatek=TYPED),
}
