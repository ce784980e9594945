"""Convolutions, pooling and resizing."""

from __future__ import annotations

from .checks import ANY, REFUSED, REFUSED_BEFORE_2_3, TYPED, Row, Table

TABLE: Table = {
    "AVERAGE_POOL_2D": Row(intel=ANY, mediatek=TYPED),
    "CONV_2D": Row(intel=ANY, mediatek=TYPED),
    "CONV_3D": Row(google=REFUSED_BEFORE_2_3, intel=ANY),
    "CONV_3D_TRANSPOSE": Row(google=REFUSED),
    "DEPTHWISE_CONV_2D": Row(intel=ANY, mediatek=TYPED),
    "MAX_POOL_2D": Row(intel=ANY, mediatek=TYPED),
    "RESIZE_BILINEAR": Row(intel=ANY, mediatek=TYPED),
    "RESIZE_NEAREST_NEIGHBOR": Row(intel=ANY, mediatek=TYPED),
    "TRANSPOSE_CONV": Row(intel=ANY, mediatek=TYPED),
}
