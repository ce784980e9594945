"""How a report is shown: what the texts of ``analyze`` have in common."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

HEADING = "bold"


class View(NamedTuple):
    """How much to show, and how wide; ``commands`` are those that diagnose the model, by delegate."""

    width: int
    verbose: bool
    commands: Mapping[str, str] = MappingProxyType({})
