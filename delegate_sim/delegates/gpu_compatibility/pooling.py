"""Pooling."""

from __future__ import annotations

from .checks import KNOWN_ACTIVATION, runtime_operands, strides, window

POOL_2D = (runtime_operands(1, 1), window(), strides(), KNOWN_ACTIVATION)
