"""Random numbers."""

from __future__ import annotations

from .checks import REFUSED, PluginRow, PluginTable

TABLE: PluginTable = {
    "MULTINOMIAL": PluginRow(google=REFUSED),
    "RANDOM_STANDARD_NORMAL": PluginRow(google=REFUSED),
    "RANDOM_UNIFORM": PluginRow(google=REFUSED),
}
