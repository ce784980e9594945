"""The options of accelerators, and of live runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import click

from delegate_sim.delegates.registry import ACCELERATORS

from ..console.output_file import OutputPath
from .targets import complete_socs

Command = TypeVar("Command", bound=Callable[..., Any])


class LiveArguments(NamedTuple):
    """The values of ``--live``, ``--live-report`` and ``--sdk``."""

    live: bool
    live_report: str | None
    sdks: Sequence[str] = ()

    @property
    def is_given(self) -> bool:
        """Whether at least one of the options is given."""
        return self.live or self.live_report is not None or bool(self.sdks)


sdk_option = click.option(
    "--sdk",
    "sdks",
    metavar="FOLDER",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="A folder with a vendor's libraries.",
)
_LIVE_REPORT = click.option(
    "--live-report",
    metavar="FILE",
    type=OutputPath(),
    help="With --live: write the differences, without weights and names.",
)
_LIVE = click.option("--live", is_flag=True, help="Compare with the real delegate. Exit with 1 if they differ.")


def live_options(command: Command) -> Command:
    """Add ``--live`` and ``--live-report`` to a command."""
    return _LIVE(_LIVE_REPORT(command))


SOC_HELP = "The NPU's SoC, such as google:Tensor_G5 or pixel9."


class AcceleratorArguments(NamedTuple):
    """The values of ``--accelerators`` and ``--soc``."""

    accelerators: str | None
    socs: Sequence[str]

    @property
    def are_given(self) -> bool:
        """Whether at least one of the options is given."""
        return self.accelerators is not None or bool(self.socs)


_SOC = click.option(
    "--soc",
    "socs",
    metavar="SOC",
    multiple=True,
    shell_complete=complete_socs,
    help=SOC_HELP + " Repeatable; all is one of each.",
)
_ACCELERATORS = click.option(
    "--accelerators",
    metavar="NAMES",
    show_default=f"{','.join(ACCELERATORS)} with --soc",
    help="LiteRT 2's accelerators.",
)


def accelerator_options(command: Command) -> Command:
    """Add ``--accelerators`` and ``--soc`` to a command."""
    return _ACCELERATORS(_SOC(command))
