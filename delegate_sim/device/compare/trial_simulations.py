"""Run simulations under different assumptions and compare each with a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ...graph.analysis_cache import AnalysisCache
from ...model.model import Model
from ...releases.catalogue import Release
from ...runtime.interpreter import Assumptions, Run, simulate
from ..parse.applied_target import DeviceSetting
from .differences import differences
from .observed_delegation import Facts


@dataclass(frozen=True, slots=True)
class Account:
    """What accounts for a difference: assumptions under which the simulation does the same as the device.

    ``kind`` is ``options``, ``driver``, ``compilation`` or ``driver-profile``; ``options`` are those that were changed.
    """

    kind: str
    text: str
    options: Mapping[str, Any] = field(default_factory=dict)
    rejected: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """By subgraph, the nodes that the driver rejects."""
    undecided: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """By subgraph, the nodes of which the log does not tell whether the driver rejects them."""
    is_certain: bool = True
    """True if nothing else was found that accounts for it as well."""


@dataclass(frozen=True, slots=True)
class Match:
    """A simulation that does the same as the device, and why it does."""

    run: Run
    account: Account


@dataclass(frozen=True, slots=True)
class Trials:
    """What every simulation has in common, and the facts that it has to reproduce."""

    model: Model
    setting: DeviceSetting
    release: Release
    facts: Facts
    _cache: AnalysisCache = field(default_factory=AnalysisCache, repr=False, compare=False)

    def simulate(self, changes: Mapping[str, Any]) -> Run:
        """Apply the delegate with some options changed."""
        return simulate_setting(self.model, self.setting, self.release, changes, self._cache)

    def fitting(self, changes: Mapping[str, Any]) -> Run | None:
        """Return the simulation if it does the same as the device."""
        run = self.simulate(changes)
        return None if differences(self.facts, run) else run


def simulate_setting(
    model: Model,
    setting: DeviceSetting,
    release: Release,
    changes: Mapping[str, Any] = MappingProxyType({}),
    cache: AnalysisCache | None = None,
) -> Run:
    """Apply what a log shows was applied, with some options changed."""
    options = MappingProxyType({**setting.options, **changes})
    # On the device the model was loaded, whatever this release's own resolver has.
    return simulate(model, setting.delegate, options, release, setting.defaults, Assumptions(has_own_resolver=True), cache)
