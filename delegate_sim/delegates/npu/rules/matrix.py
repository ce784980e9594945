"""Matrix products and diagonals."""

from __future__ import annotations

from .checks import ANY, REFUSED, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "BATCH_MATMUL": PluginRow(intel=ANY, mediatek=TYPED),
    "FULLY_CONNECTED": PluginRow(intel=ANY, mediatek=TYPED),
    "MATRIX_DIAG": PluginRow(google=REFUSED),
    "MATRIX_SET_DIAG": PluginRow(google=REFUSED),
}
