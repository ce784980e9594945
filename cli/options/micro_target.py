"""The options that describe an application with TensorFlow Lite Micro: its resolver and its kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from delegate_sim.micro.delegate import micro_target
from delegate_sim.micro.target import KERNELS, PACKAGE
from delegate_sim.releases.catalogue import DEFAULT_RELEASE
from delegate_sim.runtime.target import Target

from ..gathering import Command


def micro_target_options(command: Command) -> Command:
    """Add ``--resolver``, ``--kernels`` and ``--runtime``. The command receives a ``Target`` as ``target``."""

    @functools.wraps(command)
    def call(**given: Any) -> Any:
        target = micro_target(given.pop("resolver"), given.pop("kernels"), given.pop("runtime"))
        return command(target=target, **given)

    copy = "The copy of the runtime: a version of tflite-micro, a day or a commit."
    call = click.option("--runtime", metavar="RELEASE", show_default=PACKAGE, help=copy)(call)
    return _with_options(call, "", {"default": KERNELS[0], "show_default": True})


def micro_option(description: str) -> Callable[[Command], Command]:
    """Return ``--micro`` with ``--resolver`` and ``--kernels``. The command's ``TargetArguments`` have the target.

    With ``--micro``, ``--runtime`` is of TensorFlow Lite Micro.
    """

    def decorate(command: Command) -> Command:
        return click.option("--micro", is_flag=True, help=description)(_with_options(command, ", with --micro", {}))

    return decorate


def _with_options(command: Command, condition: str, default: dict[str, Any]) -> Command:
    kernels = f"The kernels that the application links{condition}."
    source = f"The C++ source that registers the application's operators{condition}."
    command = click.option("--kernels", type=click.Choice(KERNELS), help=kernels, **default)(command)
    return click.option("--resolver", metavar="FILE", type=click.Path(readable=False), help=source)(command)


def taken_target(given: dict[str, Any]) -> Target | None:
    """Remove the options of ``micro_option`` from the arguments of a command. Return the target, or None without ``--micro``.

    With ``--micro``, ``--runtime`` is also removed. Raises UsageError and OptionError.
    """
    is_micro, resolver, kernels = given.pop("micro"), given.pop("resolver"), given.pop("kernels")
    if not is_micro:
        if resolver is not None or kernels is not None:
            raise click.UsageError(f"{'--kernels' if resolver is None else '--resolver'} needs --micro")
        return None
    runtime, given["release"] = given["release"], DEFAULT_RELEASE
    return micro_target(resolver, kernels, None if runtime == DEFAULT_RELEASE else runtime)
