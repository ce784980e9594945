"""Fourier transforms and complex numbers."""

from __future__ import annotations

from .checks import REFUSED, PluginRow, PluginTable

TABLE: PluginTable = {
    "COMPLEX_ABS": PluginRow(google=REFUSED),
    "IMAG": PluginRow(google=REFUSED),
    "REAL": PluginRow(google=REFUSED),
    "RFFT2D": PluginRow(google=REFUSED),
}
