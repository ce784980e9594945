"""Elementwise arithmetic, comparison, logic and selection."""

from __future__ import annotations

from .checks import ANY, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "ABS": PluginRow(intel=ANY, mediatek=TYPED),
    "ADD": PluginRow(intel=ANY, mediatek=TYPED),
    "COS": PluginRow(intel=ANY),
    "DIV": PluginRow(intel=ANY, mediatek=TYPED),
    "EQUAL": PluginRow(intel=ANY),
    "EXP": PluginRow(intel=ANY),
    "FLOOR_DIV": PluginRow(intel=ANY),
    "FLOOR_MOD": PluginRow(intel=ANY),
    "GREATER": PluginRow(intel=ANY, mediatek=TYPED),
    "GREATER_EQUAL": PluginRow(intel=ANY),
    "LESS": PluginRow(intel=ANY, mediatek=TYPED.from_release("litert-2.2.0")),
    "LESS_EQUAL": PluginRow(intel=ANY),
    "LOG": PluginRow(intel=ANY),
    "LOGICAL_AND": PluginRow(intel=ANY),
    "LOGICAL_NOT": PluginRow(intel=ANY),
    "LOGICAL_OR": PluginRow(intel=ANY),
    "MAXIMUM": PluginRow(intel=ANY, mediatek=TYPED),
    "MINIMUM": PluginRow(intel=ANY, mediatek=TYPED),
    "MUL": PluginRow(intel=ANY, mediatek=TYPED),
    "NOT_EQUAL": PluginRow(intel=ANY),
    "POW": PluginRow(intel=ANY),
    "RSQRT": PluginRow(intel=ANY, mediatek=TYPED),
    "SELECT": PluginRow(intel=ANY),
    "SELECT_V2": PluginRow(intel=ANY),
    "SIGN": PluginRow(intel=ANY),
    "SIN": PluginRow(intel=ANY),
    "SQRT": PluginRow(intel=ANY, mediatek=TYPED),
    "SQUARE": PluginRow(intel=ANY),
    "SQUARED_DIFFERENCE": PluginRow(intel=ANY, mediatek=TYPED),
    "SUB": PluginRow(intel=ANY, mediatek=TYPED),
}
