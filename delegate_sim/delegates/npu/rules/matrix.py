"""Products of matrices, and what is done to their diagonals."""

from __future__ import annotations

from .checks import ANY, REFUSED, TYPED, Row, Table

TABLE: Table = {
    "BATCH_MATMUL": Row(intel=ANY, mediatek=TYPED),
    "FULLY_CONNECTED": Row(intel=ANY, mediatek=TYPED),
    "MATRIX_DIAG": Row(google=REFUSED),
    "MATRIX_SET_DIAG": Row(google=REFUSED),
}
