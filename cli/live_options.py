"""The options that ask for the real delegates on this host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def live_options(command: Command) -> Command:
    """Give a command ``--live`` and ``--live-report``."""
    command = click.option(
        "--live-report",
        metavar="FILE",
        type=click.Path(),
        help="With --live: write the differences to a file that can be sent to us; it has no weights and no names.",
    )(command)
    return click.option(
        "--live",
        is_flag=True,
        help="Also run the real delegate on this host, and compare: exit code 1 if it differs (see doctor).",
    )(command)
