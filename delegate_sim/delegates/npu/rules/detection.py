"""Selection of detected boxes."""

from __future__ import annotations

from .checks import REFUSED, PluginRow, PluginTable

TABLE: PluginTable = {
    "NON_MAX_SUPPRESSION_V4": PluginRow(google=REFUSED),
    "NON_MAX_SUPPRESSION_V5": PluginRow(google=REFUSED),
}
