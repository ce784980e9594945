"""The options for running the real delegates on this host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import click

from ..console.output_file import OutputPath

Command = TypeVar("Command", bound=Callable[..., Any])


class LiveArguments(NamedTuple):
    """The values of ``--live`` and ``--live-report``."""

    live: bool
    live_report: str | None

    @property
    def is_given(self) -> bool:
        """Whether at least one of the options is given."""
        return self.live or self.live_report is not None


def live_options(command: Command) -> Command:
    """Add ``--live`` and ``--live-report`` to a command."""
    command = click.option(
        "--live-report",
        metavar="FILE",
        type=OutputPath(),
        help="With --live: write the differences to a file. The file has no weights and no names.",
    )(command)
    return click.option(
        "--live",
        is_flag=True,
        help="Compare the real delegate with the simulation. Exit with 1 if they differ.",
    )(command)
