"""Reports on nodes that Arm's compiler Vela leaves to the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...rules.kinds import Explanation, kinds_in

_KINDS = kinds_in("delegates/vela", "report", is_shared=True)
CONSTRAINT = _KINDS["vela-constraint"]
UNEXPLAINED = _KINDS["vela-unexplained"]
NOT_COMPILED = _KINDS["vela-not-compiled"]
KINDS = tuple(_KINDS.values())
EXPLAINED: Mapping[str, Explanation] = MappingProxyType({kind.name: kind.explanation for kind in KINDS})
"""The explanations of all codes."""
