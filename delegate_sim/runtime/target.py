"""The target of a simulation."""

from __future__ import annotations

from dataclasses import dataclass

from ..delegates.base import Delegate
from ..delegates.options import OptionValues
from ..releases.catalogue import NEWEST, Release


@dataclass(frozen=True, slots=True)
class Target:
    """A delegate with its options, a release of the runtime, and assumptions about the application.

    ``defaults`` names the set of option defaults. With ``benchmark``, the defaults and log lines are those of benchmark_model.
    """

    delegate: Delegate
    options: OptionValues
    release: Release = NEWEST
    defaults: str = "api"
    assume_ops_registered: bool = False
    """Whether the application is assumed to register every builtin or custom operator that the release lacks."""
