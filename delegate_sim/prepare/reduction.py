"""Prepare of the CPU kernels of one family of operators: reduction."""

from __future__ import annotations
