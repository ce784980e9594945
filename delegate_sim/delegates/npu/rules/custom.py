"""Composites."""

from __future__ import annotations

from .checks import COMPOSITES, PluginTable

TABLE: PluginTable = {
    "STABLEHLO_COMPOSITE": COMPOSITES,
}
