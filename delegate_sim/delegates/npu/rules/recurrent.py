"""Recurrent layers."""

from __future__ import annotations

from .checks import REFUSED, Row, Table

TABLE: Table = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": Row(google=REFUSED),
    "SVDF": Row(google=REFUSED),
    "UNIDIRECTIONAL_SEQUENCE_RNN": Row(google=REFUSED),
}
