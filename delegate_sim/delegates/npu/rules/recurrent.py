"""Recurrent layers."""

from __future__ import annotations

from .checks import REFUSED, PluginRow, PluginTable

TABLE: PluginTable = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": PluginRow(google=REFUSED),
    "SVDF": PluginRow(google=REFUSED),
    "UNIDIRECTIONAL_SEQUENCE_RNN": PluginRow(google=REFUSED),
}
