"""The target of a run as text: the delegate, the release of the runtime, and the most important options."""

from __future__ import annotations

from collections.abc import Iterator

from delegate_sim.runtime.target import Target

from ...console.layout import message, options_text
from ...console.terminal import Line
from .paragraphs import paragraph

DEFAULTS_TEXT = {"api": "the API's defaults", "benchmark": "benchmark_model's defaults"}
"""The sets of defaults in words."""


def target_lines(target: Target, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the target with its options: levels, options that differ from their defaults, and the limit on partitions.

    If ``verbose``, all options are shown. The limit on partitions is shown as the value that takes effect.
    """
    delegate, limits = target.delegate, target.delegate.limits
    platform = delegate.behind.platform
    always = {limits.option, delegate.levels.option if delegate.levels else "", platform.option if platform else ""}
    values = {}
    for option in delegate.options:
        value = target.options[option.name]
        if option.name == limits.option and value <= 0:
            value = limits.fallback or None
        if verbose or option.name in always or value != option.default_in(target.defaults):
            values[option.name] = value
    options = options_text(delegate.options, values)
    text = f"Target: {delegate.name} on {target.release} with {DEFAULTS_TEXT[target.defaults]} {options}"
    yield from paragraph(message(text.rstrip()), width, "", "  ")
