"""The target of a simulation."""

from __future__ import annotations

from dataclasses import dataclass

from ..delegates.base import Delegate
from ..delegates.options import OptionValues
from ..releases.catalogue import NEWEST, Release


@dataclass(frozen=True, slots=True)
class Target:
    """A delegate with its options, a release of the runtime, and an application that may register operators itself.

    ``defaults`` names the set of option defaults, which also decides what is logged: ``benchmark`` is benchmark_model's.
    """

    delegate: Delegate
    options: OptionValues
    release: Release = NEWEST
    defaults: str = "api"
    assume_ops_registered: bool = False
    """Whether the application is assumed to register every operator, builtin or custom, that the release does not load."""
