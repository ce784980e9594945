"""``delegate-sim analyze``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from delegate_sim.delegates.base import Delegate
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import ACCELERATORS, APPLIED_BY_DEFAULT, find_delegate
from delegate_sim.foundation.printable import printable
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, RELEASES, parse_release
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import option_values, simulate, simulate_chain
from delegate_sim.runtime.target import Target

from ..delegate_flags import (
    ALL_DELEGATES,
    DelegateCommand,
    chosen_delegates,
    defaults_option,
    given_options,
    pairs_option,
    release_in,
    several_delegates_option,
)
from ..live_options import live_options
from ..models import STANDARD_INPUT, Models, Unreadable, read_model, unreadable_entry
from ..outputs import GITHUB, ReportFile, output_options, summarise, write_files
from ..resolver_option import own_resolver_option
from ..terminal import Line, plain, width, write, write_lines
from ..text.view import HEADING, MANY, View

if TYPE_CHECKING:
    from delegate_sim.diagnosis.advice.node_advice import Advice
    from delegate_sim.gate.results import Case, Results
    from delegate_sim.model.model import Model
    from delegate_sim.runtime.interpreter import Run

    from ..text.overview import ModelRow

_EPILOG = """\b
Examples:
  delegate-sim analyze model.tflite
  delegate-sim analyze model.tflite --delegate nnapi
  delegate-sim analyze model.tflite --delegate nnapi --feature-level 30 --runtime tf-2.15
  delegate-sim analyze model.tflite --max_delegated_partitions=3 --nnapi_allow_fp16=true
  delegate-sim analyze model.tflite --delegate gpu --delegate xnnpack --chain
  delegate-sim analyze model.tflite --delegate nnapi --option driver_rejects=CONV_2D,ADD --verbose
  delegate-sim analyze a.tflite b.tflite --format json --output report.json
  delegate-sim analyze models --format csv --output table.csv
  delegate-sim analyze model.tflite --delegate gpu --watch
  delegate-sim analyze model.tflite --accelerators npu,gpu,cpu --soc google:Tensor_G5 --soc mediatek:mt6991

Flags may be written with dashes or underscores. A MODEL is a file, a folder (the models below it), a pattern such as
'models/**/*.tflite', or - for standard input. In JSON there is one object for a single model, an array for several; text has a
table for more than three, unless --verbose. A model that cannot be read does not stop the others: it gets an entry of its own,
and the exit code is 2.
"""


class _Analysis:
    """What to do with each model."""

    def __init__(
        self,
        targets: Sequence[Target],
        is_chain: bool,
        by_default: Callable[[], Target] | None,
    ) -> None:
        self.targets = targets
        self.is_chain = is_chain
        self.by_default = by_default

    def report(self, path: str) -> Report:
        """Analyse one model."""
        model = read_model(path)
        if self.is_chain:
            runs = simulate_chain(model, self.targets, self.by_default)
        else:
            cache = AnalysisCache()
            runs = tuple([simulate(model, target, cache=cache) for target in self.targets])
        return Report(model, runs, self.is_chain)


def _spans(releases: Iterable[str]) -> str:
    """Return the first and last release of each family."""
    families: dict[str, list[str]] = {}
    for release in releases:
        families.setdefault(release.partition("-")[0], []).append(release)
    return " or ".join([f"{family[0]} to {family[-1]}" for family in families.values()])


@click.command("analyze", cls=DelegateCommand, epilog=_EPILOG, no_args_is_help=True)
@click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=click.Path(readable=False))
@several_delegates_option("an overview of all")
@click.option(
    "--chain", is_flag=True, help="Apply the delegates one after another, each to the nodes that the previous ones left."
)
@click.option(
    "--accelerators",
    metavar="NAMES",
    help=f"What an application gives to LiteRT 2's CompiledModel, such as {','.join(ACCELERATORS)}: each takes what is left.",
)
@click.option(
    "--soc",
    "socs",
    metavar="VENDOR:SOC",
    multiple=True,
    help="With npu among --accelerators: the SoC, such as google:Tensor_G5; several are shown side by side.",
)
@click.option(
    f"--default-{APPLIED_BY_DEFAULT}/--no-default-{APPLIED_BY_DEFAULT}",
    "applies_default",
    default=True,
    show_default=True,
    help=f"Whether the runtime applies {APPLIED_BY_DEFAULT} by default to the nodes that a single delegate, or a chain, leaves.",
)
@live_options
@own_resolver_option
@pairs_option
@click.option(
    "--runtime",
    "release",
    metavar="RELEASE",
    default=DEFAULT_RELEASE,
    show_default=True,
    help=f"The release whose rules apply and whose log lines are shown: {_spans(RELEASES)}.",
)
@defaults_option
@output_options
@click.option("--output", metavar="FILE", type=click.Path(), help="Write to a file instead of standard output.")
@click.option("-v", "--verbose", is_flag=True, help="Show every node and partition; leave nothing out.")
@click.option("--watch", is_flag=True, help="Run again whenever a model's file changes, until interrupted.")
def command(watch: bool, **given: Any) -> int:
    """Show what a delegate does to each MODEL.

    Without --delegate, every delegate has one row, and options go to the delegates that have them. With it, the exact lines that
    the runtime logs come first, then how much is delegated, why the other nodes stay on the CPU, and the partitions with the
    bytes that cross their borders.
    """
    if not watch:
        return _analyze(**given)
    from ..watching import run_watching

    return run_watching(given["models"], lambda: _analyze(**given))


def _analyze(
    models: Sequence[str],
    delegates: Sequence[str],
    chain: bool,
    accelerators: str | None,
    socs: Sequence[str],
    applies_default: bool,
    live: bool,
    live_report: str | None,
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
    """Analyse once; returns the exit code."""
    pairs, release = release_in(pairs, release)
    if accelerators is not None or socs:
        if delegates or chain:
            raise click.UsageError("--accelerators chooses the delegates: give neither --delegate nor --chain with it")
        if accelerators is None:
            raise click.UsageError("--soc needs --accelerators")
        refused = {
            "--live": live or live_report is not None,
            "--report": bool(files),
            "--defaults": _is_given("defaults"),
            f"--default-{APPLIED_BY_DEFAULT}": _is_given("applies_default"),
        }
        if any(refused.values()):
            raise click.UsageError(f"--accelerators does not take {', '.join([name for name in refused if refused[name]])}")
        from .accelerators import analyze_accelerators

        return analyze_accelerators(
            models,
            accelerators,
            socs,
            pairs,
            flags,
            release,
            own_resolver=own_resolver,
            form=form,
            output=output,
            verbose=verbose,
        )
    chosen = chosen_delegates(delegates, is_live=live)
    given = given_options(chosen, pairs, flags)
    parsed = parse_release(release)
    targets = tuple(
        Target(delegate, parse_options(delegate.name, delegate.options, own, defaults), parsed, defaults, own_resolver)
        for delegate, own in zip(chosen, given, strict=True)
    )
    if chain and not delegates:
        raise click.UsageError("--chain needs the delegates to apply: give --delegate, in order")
    has_default = applies_default and (chain or len(delegates) == 1) and {APPLIED_BY_DEFAULT, ALL_DELEGATES}.isdisjoint(delegates)
    if live or live_report is not None:
        from .live import analyze_live, refuse_other_options

        refuse_other_options(live, has_targets=bool(delegates) and not chain, own_resolver=own_resolver, has_files=bool(files))
        view = View(width(), verbose)
        return analyze_live(models, targets, form=form, output=output, report=live_report, view=view)
    by_default = functools.partial(_default_target, targets[0]) if has_default else None
    is_chain = chain or by_default is not None
    analysis = _Analysis(targets, is_chain, by_default)
    chosen_models = Models(models)
    view = View(width(), verbose, _diagnose_arguments(chosen, given, release, defaults, own_resolver), _advise)
    is_every = not delegates or ALL_DELEGATES in delegates
    documents = _Documents(chosen_models, view, analysis, is_overview=not delegates, is_every=is_every)
    forms = [form, *[file.form for file in files]]
    streams = form == "text" and output is None and not documents.is_table
    for number, parts in enumerate(chosen_models.each(lambda path: documents.parts(analysis.report(path), forms))):
        if streams:
            write_lines([Line(""), *parts["text"]] if number else parts["text"])
    if streams and not chosen_models.is_single:
        write_lines(documents.unanswered())
    write_files([*files, ReportFile(form, output)] if output is not None else files, documents.whole)
    if GITHUB in forms:
        summarise(documents.results())
    if output is None and not streams:
        write(documents.whole(form), form)
    return chosen_models.exit_code


def _is_given(parameter: str) -> bool:
    """Whether a parameter was given on the command line."""
    return click.get_current_context().get_parameter_source(parameter) is not click.core.ParameterSource.DEFAULT


def _advise(model: Model, run: Run) -> Advice:
    """Find the causes behind a run; what does so is loaded only where nodes stay on the CPU."""
    from delegate_sim.diagnosis.advice.node_advice import advise

    return advise(model, run.target)


def _diagnose_arguments(
    delegates: Sequence[Delegate], given: Sequence[Mapping[str, str]], release: str, defaults: str, own_resolver: bool
) -> dict[str, Sequence[str]]:
    """Return the arguments that describe each target to ``diagnose``."""
    common = [*([] if release == DEFAULT_RELEASE else ["--runtime", release])]
    common += [] if defaults == "benchmark" else ["--defaults", defaults]
    common += ["--own-resolver"] if own_resolver else []
    return {
        delegate.name: [
            "--delegate",
            delegate.name,
            *common,
            *[part for pair in own.items() for part in ("--option", "=".join(pair))],
        ]
        for delegate, own in zip(delegates, given, strict=True)
    }


def _default_target(target: Target) -> Target:
    """Return the target that the runtime applies by default after another.

    The rules of its delegate are imported only where something is left for it.
    """
    delegate = find_delegate(APPLIED_BY_DEFAULT)
    return replace(target, delegate=delegate, options=parse_options(delegate.name, delegate.options, {}), defaults="api")


class _Documents:
    """What was found, model by model, in the formats asked for."""

    def __init__(self, models: Models, view: View, analysis: _Analysis, is_overview: bool, is_every: bool) -> None:
        self.models = models
        self.view = view
        self.analysis = analysis
        self.is_overview = is_overview
        self.is_every = is_every
        """Whether all delegates are looked at; then nobody asks what to change for one of them."""
        self.is_table = len(models.paths) >= MANY and not view.verbose
        self._parts: list[dict[str, Any]] = []

    def parts(self, report: Report, forms: Iterable[str]) -> dict[str, Any]:
        """Keep what each format needs of a report, and return it."""
        found: dict[str, Any] = {}
        for form in forms:
            kind = form if form in ("text", "json") else "cases"
            if kind not in found:
                found[kind] = self._part(report, kind)
        self._parts.append(found)
        return found

    def whole(self, form: str) -> str | Sequence[str]:
        """Return everything in one format; a long text in parts."""
        if form == "text":
            return self._text()
        if form == "json":
            from delegate_sim.results.report.json_parts import json_array, json_value

            entries = [
                *[parts["json"] for parts in self._parts],
                *[json_value(unreadable_entry(each)) for each in self.models.unreadable],
            ]
            return [*(entries[0] if self.models.is_single else json_array(entries)), "\n"]
        from ..formats import render

        return render(form, self.results())

    def results(self) -> Results:
        """Return all cases."""
        from delegate_sim.gate.results import Results

        unreadable = [case for model in self.models.unreadable for case in _unreadable_cases(model, self.analysis)]
        return Results("analyze", (*[case for parts in self._parts for case in parts["cases"]], *unreadable))

    def _part(self, report: Report, kind: str) -> Any:
        if kind == "text":
            return self._rows(report) if self.is_table else self._lines(report)
        if kind == "json":
            return self._json(report)
        from delegate_sim.gate.analysis_cases import analysis_cases

        return analysis_cases(report)

    def _json(self, report: Report) -> list[str]:
        if self.is_every:
            return list(report.json_parts())
        from ..text.advised import advise_entry

        return list(report.json_parts(lambda run, entry: advise_entry(report, run, entry, self.view)))

    def _rows(self, report: Report) -> list[ModelRow]:
        from ..text.overview import model_rows

        return model_rows(report)

    def _lines(self, report: Report) -> list[Line]:
        if self.is_overview:
            from ..text.overview import overview_lines

            lines = list(overview_lines(report, self.view.width))
        else:
            from ..text.report import report_lines

            lines = list(report_lines(report, self.view))
        if self.models.is_single:
            return lines
        return [Line(f"=== {printable(report.model.path or STANDARD_INPUT)} ===", HEADING), *lines]

    def unanswered(self) -> Iterator[Line]:
        """Say which models cannot be read, below the text of the others."""
        messages = [model.message for model in self.models.unreadable]
        if not messages:
            return iter(())
        from ..text.many import unanswered_lines

        return unanswered_lines(messages, self.view.width, is_first=not self._parts)

    def _text(self) -> str:
        if self.is_table:
            from ..text.overview import ModelRow, models_lines

            rows = [row for parts in self._parts for row in parts["text"]]
            rows += [ModelRow(model.path, message=model.message) for model in self.models.unreadable]
            return plain(models_lines(rows, str(self.analysis.targets[0].release), self.view.width))
        return "\n".join([plain(parts["text"]) for parts in self._parts]) + plain(self.unanswered())


def _unreadable_cases(model: Unreadable, analysis: _Analysis) -> list[Case]:
    from delegate_sim.gate.results import INTERNAL_ERROR, UNREADABLE_MODEL, unreadable_case

    code = INTERNAL_ERROR if model.is_fault else UNREADABLE_MODEL
    return [
        unreadable_case(
            model.path,
            model.path,
            target.delegate.name,
            target.delegate.name,
            str(target.release),
            option_values(target.options),
            model.message,
            code,
        )
        for target in analysis.targets
    ]
