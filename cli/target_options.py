"""Command-line options that describe a target: the delegate with its options, and the runtime release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import DEFAULT_DELEGATE, DELEGATE_NAMES
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, parse_release
from delegate_sim.runtime.target import Target

from .delegate_flags import (
    DelegateName,
    chosen_delegates,
    defaults_option,
    given_options,
    pairs_option,
    release_in,
    several_delegates_option,
)
from .resolver_option import own_resolver_option

Command = TypeVar("Command", bound=Callable[..., Any])


def target_options(command: Command) -> Command:
    """Give a command (of the class ``DelegateCommand``) the options that describe a target, ``--delegate`` first."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def several_targets_options(command: Command) -> Command:
    """Give a command the same options as ``target_options``, of which ``--delegate`` may be given several times."""
    for option in reversed((several_delegates_option(DEFAULT_DELEGATE), *_OPTIONS[1:])):
        command = option(command)
    return command


def two_targets_options(command: Command) -> Command:
    """Give a command the same options as ``target_options``, of which ``--delegate`` may be given twice, for A and for B."""
    for option in reversed((_TWO_DELEGATES, *_OPTIONS[1:])):
        command = option(command)
    return command


def chosen_targets(
    delegates: Sequence[str],
    pairs: Sequence[str],
    release: str,
    defaults: str,
    own_resolver: bool,
    flags: Mapping[str, str | None],
) -> list[Target]:
    """Return the targets that were asked for, the usual delegate if none is named; raises as ``chosen_target``."""
    chosen = chosen_delegates(delegates or [DEFAULT_DELEGATE])
    pairs, release = release_in(pairs, release)
    refuse_foreign_flags(chosen, flags)
    return [
        Target(
            delegate,
            parse_options(delegate.name, delegate.options, given, defaults),
            parse_release(release),
            defaults,
            own_resolver,
        )
        for delegate, given in zip(chosen, given_options(chosen, pairs, flags), strict=True)
    ]


def chosen_target(
    delegate: str, pairs: Sequence[str], release: str, defaults: str, own_resolver: bool, flags: Mapping[str, str | None]
) -> Target:
    """Return the target that was asked for; raises OptionError or a ClickException naming what is wrong."""
    (chosen,) = chosen_delegates([delegate])
    pairs, release = release_in(pairs, release)
    refuse_foreign_flags([chosen], flags)
    (given,) = given_options([chosen], pairs, flags)
    values = parse_options(chosen.name, chosen.options, given, defaults)
    return Target(chosen, values, parse_release(release), defaults, own_resolver)


def refuse_foreign_flags(delegates: Sequence[Delegate], flags: Mapping[str, str | None]) -> None:
    """Refuse flags that none of the delegates has."""
    own = {option.flag.replace("-", "_") for delegate in delegates for option in delegate.options if option.flag}
    for flag, value in flags.items():
        if value is not None and flag not in own:
            names = " and ".join([delegate.name for delegate in delegates])
            raise click.UsageError(f"{names} {'has' if len(delegates) == 1 else 'have'} no flag --{flag}")


_OPTIONS = (
    click.option(
        "--delegate",
        "delegate",
        default=DEFAULT_DELEGATE,
        show_default=True,
        type=DelegateName(DELEGATE_NAMES),
        help="The delegate to apply.",
    ),
    pairs_option,
    click.option(
        "--runtime", "release", metavar="RELEASE", default=DEFAULT_RELEASE, show_default=True, help="The release of the runtime."
    ),
    defaults_option,
    own_resolver_option,
)

_TWO_DELEGATES = click.option(
    "--delegate",
    "delegates",
    multiple=True,
    show_default=DEFAULT_DELEGATE,
    type=DelegateName(DELEGATE_NAMES),
    help="The delegate to apply; a second one is that of B.",
)
