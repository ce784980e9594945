"""The targets of the configuration. Commands use these targets if the command line describes no target."""

from __future__ import annotations

import os

import click

from delegate_sim.runtime.target import Target

from ..console.terminal import add_first_line


def configured_targets(*, only_first: bool = False) -> list[Target]:
    """Return the targets of the nearest configuration, or only the first target. The list is empty without a configuration.

    The first line of the text output names the targets. Raises ConfigurationError if the configuration is invalid.
    """
    from delegate_sim.gate.configuration import NoConfigurationError, find_configuration, read_configuration

    try:
        path = os.path.relpath(find_configuration(os.getcwd()))
    except NoConfigurationError:
        return []
    targets = read_configuration(path).targets[: 1 if only_first else None]
    if targets and click.get_current_context(silent=True) is not None:
        names = ", ".join([f"{target.name} ({target.target.delegate.name})" for target in targets])
        add_first_line(f"{'Targets' if len(targets) > 1 else 'Target'} of {path}: {names}")
    return [target.target for target in targets]
