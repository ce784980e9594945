"""The options that describe an application with TensorFlow Lite Micro: its resolver and its kernels."""

from __future__ import annotations

import functools
from typing import Any

import click

from delegate_sim.micro.target import KERNELS, PACKAGE, MicroRelease, MicroTarget, parse_kernels, parse_micro_release
from delegate_sim.releases.catalogue import DEFAULT_RELEASE

from ..gathering import Command
from .targets import Decorator

NOT_BOTH = "give --micro or a delegate, not both"


def micro_target_options(command: Command) -> Command:
    """Add ``--resolver``, ``--kernels`` and ``--runtime``. The command receives a ``MicroTarget`` as ``target``."""

    @functools.wraps(command)
    def call(**given: Any) -> Any:
        return command(target=_target(given.pop("resolver"), given.pop("kernels"), given.pop("runtime")), **given)

    copy = "The copy of the runtime: a version of tflite-micro, a day or a commit."
    call = click.option("--runtime", metavar="RELEASE", show_default=PACKAGE, help=copy)(call)
    return _with_options(call, "", {"default": KERNELS[0], "show_default": True})


def micro_option(description: str) -> Decorator:
    """Return ``--micro`` with ``--resolver`` and ``--kernels``. With ``--micro``, ``--runtime`` is of TensorFlow Lite Micro.

    The command receives the target as ``micro``, or None without ``--micro``. ``--runtime`` must be an inner decorator.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def call(**given: Any) -> Any:
            is_micro, resolver, kernels = given.pop("micro"), given.pop("resolver"), given.pop("kernels")
            if not is_micro and (resolver is not None or kernels is not None):
                raise click.UsageError(f"{'--kernels' if resolver is None else '--resolver'} needs --micro")
            if not is_micro:
                return command(micro=None, **given)
            runtime, given["release"] = given["release"], DEFAULT_RELEASE
            return command(
                micro=_target(resolver, kernels or KERNELS[0], None if runtime == DEFAULT_RELEASE else runtime), **given
            )

        return click.option("--micro", is_flag=True, help=description)(_with_options(call, ", with --micro", {}))

    return decorate


def _with_options(command: Command, condition: str, default: dict[str, Any]) -> Command:
    kernels = f"The kernels that the application links{condition}."
    source = f"The C++ source that registers the application's operators{condition}."
    command = click.option("--kernels", type=click.Choice(KERNELS), help=kernels, **default)(command)
    return click.option("--resolver", metavar="FILE", type=click.Path(readable=False), help=source)(command)


def _target(resolver: str | None, kernels: str, runtime: str | None) -> MicroTarget:
    release = MicroRelease() if runtime is None else parse_micro_release(runtime)
    target = MicroTarget(kernels=parse_kernels(kernels), runtime=release)
    if resolver is None:
        return target
    from delegate_sim.micro.resolver import read_resolver

    return read_resolver(resolver).registered_in(target, resolver)
