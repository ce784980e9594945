"""Resizing of images."""

from __future__ import annotations

from .checks import ANY, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "RESIZE_BILINEAR": PluginRow(intel=ANY, mediatek=TYPED),
    "RESIZE_NEAREST_NEIGHBOR": PluginRow(intel=ANY, mediatek=TYPED),
}
