"""Reductions, segments and searches."""

from __future__ import annotations

from .checks import ANY, CONSTANT_COUNT, REFUSED, TYPED, Row, Table

TABLE: Table = {
    "ARG_MAX": Row(intel=ANY),
    "CUMSUM": Row(intel=ANY),
    "MEAN": Row(intel=ANY, mediatek=TYPED),
    "NON_MAX_SUPPRESSION_V4": Row(google=REFUSED),
    "NON_MAX_SUPPRESSION_V5": Row(google=REFUSED),
    "REDUCE_ALL": Row(intel=ANY),
    "REDUCE_MAX": Row(intel=ANY, mediatek=TYPED),
    "REDUCE_PROD": Row(google=REFUSED),
    "SEGMENT_SUM": Row(google=REFUSED),
    "STABLEHLO_REDUCE_WINDOW": Row(google=REFUSED),
    "SUM": Row(intel=ANY, mediatek=TYPED),
    "TOPK_V2": Row(intel=CONSTANT_COUNT),
    "UNSORTED_SEGMENT_MAX": Row(google=REFUSED),
    "UNSORTED_SEGMENT_MIN": Row(google=REFUSED),
    "UNSORTED_SEGMENT_PROD": Row(google=REFUSED),
    "UNSORTED_SEGMENT_SUM": Row(google=REFUSED),
}
