"""Prepare of the CPU kernels of one family of operators: matrix."""

from __future__ import annotations
