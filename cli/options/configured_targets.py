"""The targets in the configuration of ``delegate-sim check``.

Commands use these targets if the command line describes no target.
"""

from __future__ import annotations

import os

import click

from delegate_sim.delegates.registry import find_delegate
from delegate_sim.runtime.target import Target

from ..console.terminal import add_first_line


def configured_targets(*, only_first: bool = False, is_live: bool = False) -> list[Target]:
    """Return the targets of the nearest configuration, or only the first target.

    The list is empty if there is no configuration. Targets that cannot be simulated are included only if ``is_live`` is true.
    The first line of the text output names the targets. Raises ConfigurationError if the configuration is invalid, and
    OptionError if no target is left.
    """
    from delegate_sim.gate.configuration import NoConfigurationError, find_configuration, read_configuration

    try:
        path = os.path.relpath(find_configuration(os.getcwd()))
    except NoConfigurationError:
        return []
    every = [target for target in read_configuration(path).targets if target.is_compared]
    targets = [target for target in every if is_live or not target.target.delegate.is_live_only][: 1 if only_first else None]
    if every and not targets:
        find_delegate(every[0].target.delegate.name)
    if targets and click.get_current_context(silent=True) is not None:
        names = ", ".join([f"{target.name} ({target.target.delegate.name})" for target in targets])
        add_first_line(f"{'Targets' if len(targets) > 1 else 'Target'} of {path}: {names}")
    return [target.target for target in targets]
