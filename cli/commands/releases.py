"""``delegate-sim releases``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from delegate_sim import load
from delegate_sim.delegates.registry import DEFAULT_DELEGATE, DELEGATE_NAMES
from delegate_sim.options import DEFAULT_SETS, parse_options
from delegate_sim.results.release_table import release_table

from ..delegate_flags import DelegateCommand, chosen_delegates, given_options
from ..resolver_option import own_resolver_option
from ..terminal import Line, result_options, width, write_result
from ..text.releases import releases_entry, releases_lines

_EPILOG = """\b
Examples:
  delegate-sim releases model.tflite --delegate xnnpack
  delegate-sim releases model.tflite --delegate gpu --delegate hexagon
  delegate-sim releases model.tflite --delegate xnnpack --format json --output releases.json

Where the rules of a TensorFlow release are not known, those of the LiteRT release of the same time are used; the output says so.
"""


@click.command("releases", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("path", metavar="MODEL", type=click.Path(readable=False))
@click.option(
    "--delegate",
    "delegates",
    multiple=True,
    default=(DEFAULT_DELEGATE,),
    show_default=True,
    type=click.Choice(DELEGATE_NAMES),
    help="A delegate to apply; may be given several times.",
)
@click.option(
    "--option",
    "pairs",
    metavar="KEY=VALUE",
    multiple=True,
    help="An option of the delegate, by its own name; may be given several times.",
)
@click.option(
    "--defaults",
    type=click.Choice(DEFAULT_SETS),
    default="benchmark",
    show_default=True,
    help="Values of options that are not given: those that benchmark_model passes, or the defaults of the delegate's API.",
)
@own_resolver_option
@result_options
@click.option("-v", "--verbose", is_flag=True, help="Show every change and node; leave nothing out.")
def command(
    path: str,
    delegates: Sequence[str],
    pairs: Sequence[str],
    defaults: str,
    own_resolver: bool,
    form: str,
    output: str | None,
    verbose: bool,
    **flags: str | None,
) -> None:
    """Show how each release of the runtime treats a MODEL.

    There is one row for each run of releases that behave the same, then which nodes move at each step and why, which releases
    delegate the whole model, and which is the first whose own kernels load it.
    """
    chosen = chosen_delegates(delegates)
    model = load(path)
    tables = [
        release_table(
            model,
            delegate,
            parse_options(delegate.name, delegate.options, given, defaults),
            defaults,
            has_own_resolver=own_resolver,
        )
        for delegate, given in zip(chosen, given_options(chosen, pairs, flags), strict=True)
    ]

    def lines() -> list[Line]:
        found: list[Line] = []
        for table in tables:
            found += [*([Line("")] if found else []), *releases_lines(table, width(), verbose)]
        return found

    entries = [releases_entry(table) for table in tables] if form == "json" else []
    write_result(form, output, lambda: entries if len(entries) > 1 else entries[0], lines)
