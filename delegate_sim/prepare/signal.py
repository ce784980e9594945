"""Prepare of the CPU kernels of one family of operators: signal."""

from __future__ import annotations
