"""Prepare of the CPU kernels of one family of operators: slicing."""

from __future__ import annotations
