"""Prepare of the CPU kernels of one family of operators: reshaping."""

from __future__ import annotations
