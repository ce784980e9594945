"""The option for applications that register further operators."""

from __future__ import annotations

import click

own_resolver_option = click.option(
    "--own-resolver",
    is_flag=True,
    help="Assume that the application registers every operator that the release itself does not load.",
)
