"""Prepare of the CPU kernels of one family of operators: recurrent."""

from __future__ import annotations
