"""Prepare of the CPU kernels of one family of operators: control_flow."""

from __future__ import annotations
