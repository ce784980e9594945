"""The target of a run as text: the delegate, the release of the runtime, and the most important options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from delegate_sim.delegates.base import Delegate
from delegate_sim.runtime.target import Target

from ...console.layout import message, options_text
from ...console.terminal import Line
from .paragraphs import paragraph

_DEFAULTS_TEXT = {"api": "the API's defaults", "benchmark": "benchmark_model's defaults"}


def defaults_text(target: Target) -> str:
    """Return the set of defaults in words. Empty for a target that benchmark_model does not run, such as a plugin."""
    return _DEFAULTS_TEXT[target.defaults] if target.delegate.has_default_sets else ""


def target_lines(target: Target, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the target with the most important options, or with all options if ``verbose``."""
    options = shown_options(target.delegate, target.options, target.defaults, verbose)
    settings = " ".join(filter(None, [defaults_text(target), options]))
    text = f"Target: {target.delegate.name} on {target.release}{' with ' if settings else ''}{settings}"
    yield from paragraph(message(text.rstrip()), width, "", "  ")


def shown_options(delegate: Delegate, given: Mapping[str, Any], defaults: str, verbose: bool = False) -> str:
    """Return the important options in command-line form.

    Important options are the platform, the limit on partitions, and all options that differ from their defaults. The feature
    level is shown if it does not follow from the platform. The limit is shown with the effective value.
    """
    limits, platform, levels = delegate.limits, delegate.behind.platform, delegate.levels
    always = {limits.option}
    if platform is not None and given.get(platform.option) not in (None, platform.alone):
        always.add(platform.option)
    elif levels is not None:
        always.add(levels.option)
    values = {}
    for option in delegate.options:
        value = given.get(option.name)
        if option.name == limits.option and value is not None and value <= 0:
            value = limits.fallback or None
        if verbose or option.name in always or value != option.default_in(defaults):
            values[option.name] = value
    return options_text(delegate.options, values)
