"""The options that name the accelerators of LiteRT 2's CompiledModel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import click

from delegate_sim.delegates.registry import ACCELERATORS


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
        metavar="VENDOR:SOC",
        multiple=True,
        help="With npu among --accelerators: the SoC, such as google:Tensor_G5; several are shown side by side.",
    )(command)
    return click.option(
        "--accelerators",
        metavar="NAMES",
        help=f"What an application gives to LiteRT 2's CompiledModel, such as {','.join(ACCELERATORS)}: each takes what is left.",
    )(command)
