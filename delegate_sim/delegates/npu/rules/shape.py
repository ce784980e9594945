"""Operators that move elements, and those that make tensors."""

from __future__ import annotations

from .checks import ANY, REFUSED, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "BROADCAST_ARGS": PluginRow(google=REFUSED),
    "BROADCAST_TO": PluginRow(intel=ANY),
    "CONCATENATION": PluginRow(intel=ANY, mediatek=TYPED),
    "DEPTH_TO_SPACE": PluginRow(intel=ANY),
    "EMBEDDING_LOOKUP": PluginRow(intel=ANY),
    "EXPAND_DIMS": PluginRow(intel=ANY),
    "GATHER": PluginRow(intel=ANY),
    "GATHER_ND": PluginRow(intel=ANY),
    "MIRROR_PAD": PluginRow(intel=ANY),
    "MULTINOMIAL": PluginRow(google=REFUSED),
    "ONE_HOT": PluginRow(intel=ANY),
    "PACK": PluginRow(intel=ANY),
    "PAD": PluginRow(intel=ANY, mediatek=TYPED),
    "PADV2": PluginRow(intel=ANY, mediatek=TYPED),
    "RANDOM_STANDARD_NORMAL": PluginRow(google=REFUSED),
    "RANDOM_UNIFORM": PluginRow(google=REFUSED),
    "RANGE": PluginRow(intel=ANY),
    "RANK": PluginRow(google=REFUSED),
    "RESHAPE": PluginRow(intel=ANY, mediatek=TYPED),
    "REVERSE_SEQUENCE": PluginRow(google=REFUSED),
    "REVERSE_V2": PluginRow(intel=ANY),
    "SHAPE": PluginRow(google=REFUSED),
    "SLICE": PluginRow(intel=ANY, mediatek=TYPED),
    "SPARSE_TO_DENSE": PluginRow(google=REFUSED),
    "SPLIT": PluginRow(intel=ANY, mediatek=TYPED),
    "STABLEHLO_SCATTER": PluginRow(google=REFUSED),
    "STRIDED_SLICE": PluginRow(intel=ANY, mediatek=TYPED),
    "TILE": PluginRow(intel=ANY.from_release("litert-2.2.0"), mediatek=TYPED.from_release("litert-2.3.0")),
    "TRANSPOSE": PluginRow(intel=ANY, mediatek=TYPED),
    "UNIQUE": PluginRow(google=REFUSED),
    "UNPACK": PluginRow(intel=ANY, mediatek=TYPED.from_release("litert-2.3.0")),
    "WHERE": PluginRow(google=REFUSED),
}
