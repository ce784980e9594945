"""Operators that move elements, and those that make tensors."""

from __future__ import annotations

from .checks import ANY, REFUSED, TYPED, Row, Table

TABLE: Table = {
    "BROADCAST_ARGS": Row(google=REFUSED),
    "BROADCAST_TO": Row(intel=ANY),
    "CONCATENATION": Row(intel=ANY, mediatek=TYPED),
    "DEPTH_TO_SPACE": Row(intel=ANY),
    "EMBEDDING_LOOKUP": Row(intel=ANY),
    "EXPAND_DIMS": Row(intel=ANY),
    "GATHER": Row(intel=ANY),
    "GATHER_ND": Row(intel=ANY),
    "MIRROR_PAD": Row(intel=ANY),
    "MULTINOMIAL": Row(google=REFUSED),
    "ONE_HOT": Row(intel=ANY),
    "PACK": Row(intel=ANY),
    "PAD": Row(intel=ANY, mediatek=TYPED),
    "PADV2": Row(intel=ANY, mediatek=TYPED),
    "RANDOM_STANDARD_NORMAL": Row(google=REFUSED),
    "RANDOM_UNIFORM": Row(google=REFUSED),
    "RANGE": Row(intel=ANY),
    "RANK": Row(google=REFUSED),
    "RESHAPE": Row(intel=ANY, mediatek=TYPED),
    "REVERSE_SEQUENCE": Row(google=REFUSED),
    "REVERSE_V2": Row(intel=ANY),
    "SHAPE": Row(google=REFUSED),
    "SLICE": Row(intel=ANY, mediatek=TYPED),
    "SPARSE_TO_DENSE": Row(google=REFUSED),
    "SPLIT": Row(intel=ANY, mediatek=TYPED),
    "STABLEHLO_SCATTER": Row(google=REFUSED),
    "STRIDED_SLICE": Row(intel=ANY, mediatek=TYPED),
    "TILE": Row(intel=ANY.from_release("litert-2.2.0"), mediatek=TYPED.from_release("litert-2.3.0")),
    "TRANSPOSE": Row(intel=ANY, mediatek=TYPED),
    "UNIQUE": Row(google=REFUSED),
    "UNPACK": Row(intel=ANY, mediatek=TYPED.from_release("litert-2.3.0")),
    "WHERE": Row(google=REFUSED),
}
