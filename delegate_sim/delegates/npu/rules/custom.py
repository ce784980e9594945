"""Composites."""

from __future__ import annotations

from .checks import COMPOSITES, Table

TABLE: Table = {
    "STABLEHLO_COMPOSITE": COMPOSITES,
}
