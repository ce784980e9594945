"""``delegate-sim analyze``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import click

from delegate_sim import DelegateSimError, load
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.interpreter import Target, simulate, simulate_chain
from delegate_sim.options import DEFAULT_SETS, parse_options
from delegate_sim.report import Report
from delegate_sim.runtime import DEFAULT_RELEASE, RELEASES, Release, parse_release
from delegate_sim.text import printable

from .delegate_flags import ALL_DELEGATES, DelegateCommand, chosen_delegates, given_options
from .exits import DONE, USAGE
from .layout import counted
from .overview_text import overview_lines
from .report_text import HEADING, View, report_lines
from .terminal import Line, plain, print_error, width, write, write_file, write_lines

Rendered = TypeVar("Rendered")

XNNPACK = "xnnpack"
"""The delegate that the runtime applies by itself."""

_EPILOG = """\b
Examples:
  delegate-sim analyze model.tflite
  delegate-sim analyze model.tflite --delegate nnapi
  delegate-sim analyze model.tflite --delegate nnapi --feature-level 30 --runtime tf-2.15
  delegate-sim analyze model.tflite --max_delegated_partitions=3 --nnapi_allow_fp16=true
  delegate-sim analyze model.tflite --delegate gpu --delegate xnnpack --chain
  delegate-sim analyze model.tflite --delegate nnapi --option driver_rejects=CONV_2D,ADD --verbose
  delegate-sim analyze a.tflite b.tflite --format json --output report.json

Flags may be written with dashes or underscores. Several models give several reports: in JSON one object for one model, an
array for several. A model that cannot be read does not stop the others; the exit code is then 2. A file given by --output is
written when all is done, and not at all after an error.
"""


class _Analysis:
    """What is to be done with each model, and how many could not be read."""

    def __init__(
        self, targets: Sequence[Target], release: Release, defaults: str, is_chain: bool, by_default: Target | None
    ) -> None:
        self.targets = targets
        self.release = release
        self.defaults = defaults
        self.is_chain = is_chain
        self.by_default = by_default
        self.failures = 0

    def each(self, paths: Iterable[str], render: Callable[[Report], Rendered]) -> Iterator[Rendered]:
        """Analyse the models one by one; those that cannot be read are named on standard error and left out."""
        for path in paths:
            try:
                rendered = render(self._report(path))
            except DelegateSimError as error:
                print_error(str(error))
                self.failures += 1
            else:
                yield rendered

    def _report(self, path: str) -> Report:
        model = load(path)
        if self.is_chain:
            runs = simulate_chain(model, self.targets, self.release, self.defaults, self.by_default)
        else:
            runs = tuple([simulate(model, delegate, options, self.release, self.defaults) for delegate, options in self.targets])
        return Report(model, runs, self.is_chain)


def _spans(releases: Iterable[str]) -> str:
    """Return the first and last release of each family."""
    families: dict[str, list[str]] = {}
    for release in releases:
        families.setdefault(release.partition("-")[0], []).append(release)
    return " or ".join([f"{family[0]} to {family[-1]}" for family in families.values()])


@click.command("analyze", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=click.Path(readable=False))
@click.option(
    "--delegate",
    "delegates",
    multiple=True,
    default=(),
    show_default="an overview of all",
    type=click.Choice((*DELEGATE_NAMES, ALL_DELEGATES)),
    help="A delegate to apply; may be given several times.",
)
@click.option("--chain", is_flag=True, help="Apply the delegates one after another, each to what those before it left.")
@click.option(
    "--default-xnnpack/--no-default-xnnpack",
    default=True,
    show_default=True,
    help="Whether the runtime applies XNNPACK by itself to what one delegate, or a chain, leaves.",
)
@click.option(
    "--option",
    "pairs",
    metavar="KEY=VALUE",
    multiple=True,
    help="An option of the delegate under its own name; may be given several times.",
)
@click.option(
    "--runtime",
    "release",
    metavar="RELEASE",
    default=DEFAULT_RELEASE,
    show_default=True,
    help=f"The release whose log lines to print, {_spans(RELEASES)}.",
)
@click.option(
    "--defaults",
    type=click.Choice(DEFAULT_SETS),
    default="benchmark",
    show_default=True,
    help="Options not given: as benchmark_model passes them, or as the delegate's API sets them.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="Text to read, or JSON for programs.",
)
@click.option("--output", metavar="FILE", type=click.Path(), help="Write to a file instead of standard output.")
@click.option("-v", "--verbose", is_flag=True, help="Show every node and partition; leave nothing out.")
def command(
    models: Sequence[str],
    delegates: Sequence[str],
    chain: bool,
    default_xnnpack: bool,
    pairs: Sequence[str],
    release: str,
    defaults: str,
    form: str,
    output: str | None,
    verbose: bool,
    **flags: str | None,
) -> int:
    """Tell what a delegate does to each MODEL.

    Without --delegate there is one row for each delegate, and options go to those delegates that have them. With it, first come
    the very lines that the runtime prints, then how much is delegated, why the other nodes stay on the CPU, and the partitions
    with the bytes that cross their borders.
    """
    chosen = chosen_delegates(delegates)
    given = given_options(chosen, pairs, flags)
    targets = tuple(
        (delegate, parse_options(delegate.name, delegate.options, own, defaults))
        for delegate, own in zip(chosen, given, strict=True)
    )
    if chain and not delegates:
        raise click.UsageError("--chain needs the delegates to apply: give --delegate, in order")
    by_default = _default_xnnpack(delegates) if default_xnnpack and (chain or len(delegates) == 1) else None
    analysis = _Analysis(targets, parse_release(release), defaults, chain or by_default is not None, by_default)
    several = len(models) > 1
    if form == "json":
        _finish(_json(list(analysis.each(models, Report.to_dict)), several), output, analysis.failures)
    else:
        view = View(width(), verbose)
        is_overview = not delegates
        texts = analysis.each(models, lambda report: _text(report, several, is_overview, view))
        if output is None:
            for number, lines in enumerate(texts):
                write_lines([Line(""), *lines] if number else lines)
        else:
            _finish("\n".join(map(plain, texts)), output, analysis.failures)
    return USAGE if analysis.failures else DONE


def _default_xnnpack(delegates: Sequence[str]) -> Target | None:
    """Return XNNPACK as the runtime applies it by itself, unless it is among the delegates."""
    if not {XNNPACK, ALL_DELEGATES}.isdisjoint(delegates):
        return None
    delegate = find_delegate(XNNPACK)
    return delegate, parse_options(XNNPACK, delegate.options, {})


def _text(report: Report, several: bool, is_overview: bool, view: View) -> list[Line]:
    lines = list(overview_lines(report.runs, view.width) if is_overview else report_lines(report, view))
    return [Line(f"=== {printable(str(report.model.path))} ===", HEADING), *lines] if several else lines


def _json(reports: list[dict[str, Any]], several: bool) -> str:
    import json

    found = reports if several else reports[0] if reports else None
    return "" if found is None else json.dumps(found, indent=2) + "\n"


def _finish(text: str, output: str | None, failures: int) -> None:
    """Write a result that is complete."""
    if output is None:
        write(text)
    elif failures:
        raise click.ClickException(f"{output}: not written, since {counted(failures, 'model')} could not be read")
    else:
        write_file(output, text)
