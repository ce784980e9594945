"""The options ``--output`` and ``--force`` of all commands."""

from __future__ import annotations

import os
from collections.abc import Callable

import click

from ..gathering import Command

_REPLACES = "delegate_sim.replaces"


def output_option(
    description: str = "Write to a file instead of standard output.",
    *,
    is_required: bool = False,
    default: str | None = None,
    refuses: bool = True,
) -> Callable[[Command], Command]:
    """Return ``-o/--output`` and ``--force``.

    Without ``--force``, an existing file is an error, which is reported before the command runs. With ``refuses=False``, the
    command must itself call ``refuse_existing``.
    """

    def decorate(command: Command) -> Command:
        command = click.option(
            "--force",
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=allow_replacing,
            help="Replace an existing output file.",
        )(command)
        return click.option(
            "-o",
            "--output",
            metavar="FILE",
            type=click.Path(),
            required=is_required,
            default=default,
            show_default=default is not None,
            callback=_check_free if refuses else None,
            help=description,
        )(command)

    return decorate


def allow_replacing(context: click.Context, _: click.Parameter, value: bool) -> bool:
    """Record whether existing files may be replaced. This function is the callback of an eager click option."""
    context.meta[_REPLACES] = value or context.meta.get(_REPLACES, False)
    return value


def refuse_existing(context: click.Context, path: str) -> None:
    """Raise ClickException if a file with content exists and may not be replaced.

    Devices and empty files may always be replaced.
    """
    if not context.meta.get(_REPLACES) and os.path.isfile(path) and not path.startswith("/dev/") and os.path.getsize(path):
        raise click.ClickException(f"{path}: already exists; --force replaces it")


def _check_free(context: click.Context, _: click.Parameter, value: str | None) -> str | None:
    if value is not None and not context.resilient_parsing:
        refuse_existing(context, value)
    return value
