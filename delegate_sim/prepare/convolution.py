"""Prepare of the CPU kernels of one family of operators: convolution."""

from __future__ import annotations
