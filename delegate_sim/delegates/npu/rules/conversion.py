"""Changes of type."""

from __future__ import annotations

from .checks import ANY, REFUSED, TYPED, Row, Table

TABLE: Table = {
    "BUCKETIZE": Row(google=REFUSED),
    "CAST": Row(intel=ANY, mediatek=TYPED),
    "DENSIFY": Row(google=REFUSED),
    "DEQUANTIZE": Row(intel=ANY, mediatek=TYPED),
    "FAKE_QUANT": Row(google=REFUSED),
    "QUANTIZE": Row(intel=ANY, mediatek=TYPED),
}
