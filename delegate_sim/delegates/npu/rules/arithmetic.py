"""Elementwise operators."""

from __future__ import annotations

from .checks import ANY, REFUSED, TYPED, Row, Table

TABLE: Table = {
    "ABS": Row(intel=ANY, mediatek=TYPED),
    "ADD": Row(intel=ANY, mediatek=TYPED),
    "COMPLEX_ABS": Row(google=REFUSED),
    "COS": Row(intel=ANY),
    "DIV": Row(intel=ANY, mediatek=TYPED),
    "EQUAL": Row(intel=ANY),
    "EXP": Row(intel=ANY),
    "FLOOR_DIV": Row(intel=ANY),
    "FLOOR_MOD": Row(intel=ANY),
    "GREATER": Row(intel=ANY, mediatek=TYPED),
    "GREATER_EQUAL": Row(intel=ANY),
    "IMAG": Row(google=REFUSED),
    "LESS": Row(intel=ANY, mediatek=TYPED.from_release("litert-2.2.0")),
    "LESS_EQUAL": Row(intel=ANY),
    "LOG": Row(intel=ANY),
    "LOGICAL_AND": Row(intel=ANY),
    "LOGICAL_NOT": Row(intel=ANY),
    "LOGICAL_OR": Row(intel=ANY),
    "MAXIMUM": Row(intel=ANY, mediatek=TYPED),
    "MINIMUM": Row(intel=ANY, mediatek=TYPED),
    "MUL": Row(intel=ANY, mediatek=TYPED),
    "NOT_EQUAL": Row(intel=ANY),
    "POW": Row(intel=ANY),
    "REAL": Row(google=REFUSED),
    "RFFT2D": Row(google=REFUSED),
    "RSQRT": Row(intel=ANY, mediatek=TYPED),
    "SELECT": Row(intel=ANY),
    "SELECT_V2": Row(intel=ANY),
    "SIGN": Row(intel=ANY),
    "SIN": Row(intel=ANY),
    "SQRT": Row(intel=ANY, mediatek=TYPED),
    "SQUARE": Row(intel=ANY),
    "SQUARED_DIFFERENCE": Row(intel=ANY, mediatek=TYPED),
    "SUB": Row(intel=ANY, mediatek=TYPED),
}
