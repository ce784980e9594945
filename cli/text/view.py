"""How a report is shown: what the texts of ``analyze`` have in common."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from delegate_sim.runtime.target import Target

HEADING = "bold"


class View(NamedTuple):
    """How much to show, and how wide.

    By delegate, ``commands`` are those that diagnose the model, and ``targets`` what it is applied with, for hints as a diagnosis
    gives them.
    """

    width: int
    verbose: bool
    commands: Mapping[str, str] = MappingProxyType({})
    targets: Mapping[str, Target] = MappingProxyType({})
