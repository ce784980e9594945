"""``delegate-sim analyze``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from delegate_sim import DelegateSimError, load
from delegate_sim.delegates.registry import APPLIED_BY_DEFAULT, DELEGATE_NAMES, find_delegate
from delegate_sim.options import DEFAULT_SETS, parse_options
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, RELEASES, Release, parse_release
from delegate_sim.results.report import Report
from delegate_sim.runtime.interpreter import Application, Assumptions, option_values, simulate, simulate_chain
from delegate_sim.text import printable

from ..delegate_flags import ALL_DELEGATES, DelegateCommand, chosen_delegates, given_options, release_in
from ..exits import DONE, USAGE
from ..layout import counted
from ..outputs import GITHUB, ReportFile, output_options, summarise, write_files
from ..resolver_option import own_resolver_option
from ..terminal import Line, plain, print_error, width, write, write_lines
from ..text.overview import overview_lines
from ..text.report import HEADING, View, report_lines

if TYPE_CHECKING:
    from delegate_sim.gate.results import Case, Results

Rendered = TypeVar("Rendered")

_EPILOG = """\b
Examples:
  delegate-sim analyze model.tflite
  delegate-sim analyze model.tflite --delegate nnapi
  delegate-sim analyze model.tflite --delegate nnapi --feature-level 30 --runtime tf-2.15
  delegate-sim analyze model.tflite --max_delegated_partitions=3 --nnapi_allow_fp16=true
  delegate-sim analyze model.tflite --delegate gpu --delegate xnnpack --chain
  delegate-sim analyze model.tflite --delegate nnapi --option driver_rejects=CONV_2D,ADD --verbose
  delegate-sim analyze a.tflite b.tflite --format json --output report.json

Flags may be written with dashes or underscores. Each model has a report of its own: in JSON one object for a single model, an
array for several. A model that cannot be read does not stop the others; the exit code is then 2. Files are written at the end;
those in the formats text and json, which cannot show a model that could not be read, are not written if there is one.
"""


class _Analysis:
    """What to do with each model, and which models could not be read."""

    def __init__(
        self,
        targets: Sequence[Application],
        release: Release,
        defaults: str,
        is_chain: bool,
        by_default: Application | None,
        assumptions: Assumptions,
    ) -> None:
        self.targets = targets
        self.release = release
        self.defaults = defaults
        self.is_chain = is_chain
        self.by_default = by_default
        self.assumptions = assumptions
        self.unreadable: list[tuple[str, str]] = []
        """Path and message of each such model."""

    def each(self, paths: Iterable[str], render: Callable[[Report], Rendered]) -> Iterator[Rendered]:
        """Analyse the models one by one; those that cannot be read are reported on standard error and left out."""
        for path in paths:
            try:
                rendered = render(self._report(path))
            except DelegateSimError as error:
                print_error(str(error))
                self.unreadable.append((path, str(error)))
            else:
                yield rendered

    def _report(self, path: str) -> Report:
        model = load(path)
        if self.is_chain:
            runs = simulate_chain(model, self.targets, self.release, self.defaults, self.by_default, self.assumptions)
        else:
            runs = tuple(
                [
                    simulate(model, delegate, options, self.release, self.defaults, self.assumptions)
                    for delegate, options in self.targets
                ]
            )
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
@click.option(
    "--chain", is_flag=True, help="Apply the delegates one after another, each to the nodes that the previous ones left."
)
@click.option(
    "--default-xnnpack/--no-default-xnnpack",
    default=True,
    show_default=True,
    help="Whether the runtime applies XNNPACK by default to the nodes that a single delegate, or a chain, leaves.",
)
@own_resolver_option
@click.option(
    "--option",
    "pairs",
    metavar="KEY=VALUE",
    multiple=True,
    help="An option of the delegate, by its own name; may be given several times.",
)
@click.option(
    "--runtime",
    "release",
    metavar="RELEASE",
    default=DEFAULT_RELEASE,
    show_default=True,
    help=f"The release whose rules apply and whose log lines are shown: {_spans(RELEASES)}.",
)
@click.option(
    "--defaults",
    type=click.Choice(DEFAULT_SETS),
    default="benchmark",
    show_default=True,
    help="Values of options that are not given: those that benchmark_model passes, or the defaults of the delegate's API.",
)
@output_options
@click.option("--output", metavar="FILE", type=click.Path(), help="Write to a file instead of standard output.")
@click.option("-v", "--verbose", is_flag=True, help="Show every node and partition; leave nothing out.")
def command(
    models: Sequence[str],
    delegates: Sequence[str],
    chain: bool,
    default_xnnpack: bool,
    own_resolver: bool,
    pairs: Sequence[str],
    release: str,
    defaults: str,
    form: str,
    files: Sequence[ReportFile],
    output: str | None,
    verbose: bool,
    **flags: str | None,
) -> int:
    """Show what a delegate does to each MODEL.

    Without --delegate, every delegate has one row, and options go to the delegates that have them. With it, the exact lines that
    the runtime logs come first, then how much is delegated, why the other nodes stay on the CPU, and the partitions with the
    bytes that cross their borders.
    """
    chosen = chosen_delegates(delegates)
    pairs, release = release_in(pairs, release)
    given = given_options(chosen, pairs, flags)
    targets = tuple(
        (delegate, parse_options(delegate.name, delegate.options, own, defaults))
        for delegate, own in zip(chosen, given, strict=True)
    )
    if chain and not delegates:
        raise click.UsageError("--chain needs the delegates to apply: give --delegate, in order")
    by_default = _default_delegate(delegates) if default_xnnpack and (chain or len(delegates) == 1) else None
    is_chain = chain or by_default is not None
    assumptions = Assumptions(has_own_resolver=own_resolver)
    analysis = _Analysis(targets, parse_release(release), defaults, is_chain, by_default, assumptions)
    documents = _Documents(len(models) > 1, View(width(), verbose), is_overview=not delegates)
    forms = [form, *[file.form for file in files]]
    streams = form == "text" and output is None
    for number, parts in enumerate(analysis.each(models, lambda report: documents.parts(report, forms))):
        if streams:
            write_lines([Line(""), *parts["text"]] if number else parts["text"])
    for path, message in analysis.unreadable:
        documents.unreadable += _unreadable(path, message, targets, analysis.release)
    if output is not None:
        files = [*files, ReportFile(form, output)]
    incomplete = [file.path for file in files if analysis.unreadable and file.form in _ONE_BY_ONE]
    write_files([file for file in files if file.path not in incomplete], documents.whole)
    if GITHUB in forms:
        summarise(documents.results())
    if output is None and not streams:
        write(documents.whole(form))
    if incomplete:
        count = counted(len(analysis.unreadable), "model")
        raise click.ClickException(f"{', '.join(incomplete)}: not written, because {count} could not be read")
    return USAGE if analysis.unreadable else DONE


def _default_delegate(delegates: Sequence[str]) -> Application | None:
    """Return the delegate that the runtime applies by default, unless it is among those given."""
    if not {APPLIED_BY_DEFAULT, ALL_DELEGATES}.isdisjoint(delegates):
        return None
    delegate = find_delegate(APPLIED_BY_DEFAULT)
    return delegate, parse_options(delegate.name, delegate.options, {})


_ONE_BY_ONE = ("text", "json")
"""The formats that cannot show a model that could not be read."""


class _Documents:
    """What was found, model by model, in the formats asked for."""

    def __init__(self, several: bool, view: View, is_overview: bool) -> None:
        self.several = several
        self.view = view
        self.is_overview = is_overview
        self.unreadable: list[Case] = []
        self._parts: list[dict[str, Any]] = []

    def parts(self, report: Report, forms: Iterable[str]) -> dict[str, Any]:
        """Keep what each format needs of a report, and return it."""
        found: dict[str, Any] = {}
        for form in forms:
            kind = form if form in _ONE_BY_ONE else "cases"
            if kind not in found:
                found[kind] = self._part(report, kind)
        self._parts.append(found)
        return found

    def whole(self, form: str) -> str:
        """Return everything in one format."""
        if form == "text":
            return "\n".join([plain(parts["text"]) for parts in self._parts])
        if form == "json":
            import json

            entries = [parts["json"] for parts in self._parts]
            found = entries if self.several else entries[0] if entries else None
            return "" if found is None else json.dumps(found, indent=2) + "\n"
        from ..formats import render

        return render(form, self.results())

    def results(self) -> Results:
        """Return all cases."""
        from delegate_sim.gate.results import Results

        return Results("analyze", (*[case for parts in self._parts for case in parts["cases"]], *self.unreadable))

    def _part(self, report: Report, kind: str) -> Any:
        if kind == "text":
            return self._lines(report)
        if kind == "json":
            return report.to_dict()
        from delegate_sim.gate.analysis import analysis_cases

        return analysis_cases(report)

    def _lines(self, report: Report) -> list[Line]:
        lines = list(overview_lines(report.runs, self.view.width) if self.is_overview else report_lines(report, self.view))
        return [Line(f"=== {printable(str(report.model.path))} ===", HEADING), *lines] if self.several else lines


def _unreadable(path: str, message: str, targets: Sequence[Application], release: Release) -> list[Case]:
    from delegate_sim.gate.results import unreadable_case

    return [
        unreadable_case(path, path, delegate.name, delegate.name, str(release), option_values(options), message)
        for delegate, options in targets
    ]
