"""StableHLO operators."""

from __future__ import annotations

from .checks import COMPOSITES, REFUSED, PluginRow, PluginTable

TABLE: PluginTable = {
    "STABLEHLO_COMPOSITE": COMPOSITES,
    "STABLEHLO_REDUCE_WINDOW": PluginRow(google=REFUSED),
    "STABLEHLO_SCATTER": PluginRow(google=REFUSED),
}
