"""Prepare of the CPU kernels of one family of operators: stablehlo."""

from __future__ import annotations
