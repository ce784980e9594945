"""The options that name the accelerators of LiteRT 2's CompiledModel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import click

from delegate_sim.delegates.registry import ACCELERATORS

from ...options.completion import complete_socs

SOC_HELP = "The NPU's SoC, such as google:Tensor_G5 or pixel9."


class AcceleratorArguments(NamedTuple):
    """The values of ``--accelerators`` and ``--soc``."""

    accelerators: str | None
    socs: Sequence[str]

    @property
    def are_given(self) -> bool:
        """Whether at least one of the options is given."""
        return self.accelerators is not None or bool(self.socs)


def accelerator_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--accelerators`` and ``--soc`` to a command."""
    command = click.option(
        "--soc",
        "socs",
        metavar="SOC",
        multiple=True,
        shell_complete=complete_socs,
        help=SOC_HELP + " Repeat to compare SoCs; the value all adds one SoC of each vendor.",
    )(command)
    return click.option(
        "--accelerators",
        metavar="NAMES",
        show_default=f"{','.join(ACCELERATORS)} with --soc",
        help="LiteRT 2's accelerators.",
    )(command)
