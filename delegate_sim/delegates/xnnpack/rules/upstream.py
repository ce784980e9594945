"""Upstream sources of the XNNPACK rules."""

from __future__ import annotations

from typing import TypeVar

from ....rules.rule import Check
from ....rules.source import LITERT, Source

T = TypeVar("T")

SOURCE = Source(LITERT, "tflite/delegates/xnnpack/xnnpack_delegate.cc", "Subgraph::VisitNode")
"""The upstream function that calls the visit method of each operator."""
PREPARATION = SOURCE.with_symbol("Delegate::PrepareOpsToDelegate")


def method(name: str, overload: str = "") -> Source:
    """Return a method of ``Subgraph`` as a source."""
    return SOURCE.with_symbol(f"Subgraph::{name}", overload)


def in_method(name: str, *checks: Check[T]) -> tuple[Check[T], ...]:
    """Return the checks with a method of ``Subgraph`` as their source."""
    return tuple(check.from_source(method(name)) for check in checks)
