"""The options that describe an application with TensorFlow Lite Micro: its resolver and its kernels."""

from __future__ import annotations

import functools
from typing import Any

import click

from delegate_sim.micro.delegate import micro_target
from delegate_sim.micro.target import KERNELS, PACKAGE

from ..gathering import Command


def micro_target_options(command: Command) -> Command:
    """Add ``--resolver``, ``--kernels`` and ``--runtime``. The command receives a ``Target`` as ``target``."""

    @functools.wraps(command)
    def call(**given: Any) -> Any:
        target = micro_target(given.pop("resolver"), given.pop("kernels"), given.pop("runtime"))
        return command(target=target, **given)

    copy = "The copy of the runtime: a version of tflite-micro, a day or a commit."
    call = click.option("--runtime", metavar="RELEASE", show_default=PACKAGE, help=copy)(call)
    kernels = "The kernels that the application links."
    call = click.option("--kernels", type=click.Choice(KERNELS), help=kernels, default=KERNELS[0], show_default=True)(call)
    source = "The C++ source that registers the application's operators."
    return click.option("--resolver", metavar="FILE", type=click.Path(readable=False), help=source)(call)
