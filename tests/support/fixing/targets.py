"""Targets to fix models for."""

from __future__ import annotations

from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.runtime.target import Target


def target(name, **options):
    delegate = find_delegate(name)
    return Target(delegate, parse_options(name, delegate.options, options, "benchmark"), NEWEST, "benchmark")
