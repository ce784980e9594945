"""Analyses: functions that simulate a model, and describe the report in all output formats of ``analyze``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import APPLIED_BY_DEFAULT, find_delegate
from delegate_sim.errors import LimitError
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.graph.effort import Effort
from delegate_sim.model.model import Model
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import Run, option_values, simulate, simulate_chain
from delegate_sim.runtime.target import Target

from ...answers import CARD, CARD_IMAGE, CARD_MARKDOWN, Answer, JsonEntry, ModelTable, write_all
from ...console.output_file import Outputs
from ...console.terminal import Line
from ...exits import DONE, FINDINGS
from ...models import Models, Unreadable, read_model, show_target
from ...options.shared import AcceleratorArguments, LiveArguments, OpProfileArguments
from ...options.targets import TargetArguments
from ...text.analysis.report import report_lines
from ...text.analysis.run_details import further_notes
from ...text.analysis.view import View, with_adviser

if TYPE_CHECKING:
    from delegate_sim.gate.results import Case
    from delegate_sim.page.card import Card
    from delegate_sim.timing.measured import Timing

    from ...text.analysis.overview import ModelRow


class Request(NamedTuple):
    """The values of all options of ``analyze``, for targets of any kind."""

    models: Sequence[str]
    arguments: TargetArguments
    is_chain: bool
    applies_default: bool
    accelerators: AcceleratorArguments
    live: LiveArguments
    outputs: Outputs
    profiles: OpProfileArguments
    verbose: bool

    def targets(self) -> list[Target]:
        """Return the targets with a delegate. Raises UsageError and OptionError."""
        targets = self.arguments.targets(unnamed=(), is_live=self.live.live)
        if self.is_chain and self.arguments.several:
            raise click.UsageError(f"with --chain, give only one value of --{next(iter(self.arguments.several))}")
        if self.is_chain and not self.arguments.delegates:
            raise click.UsageError("--chain needs delegates: give --delegate for each delegate, in order")
        return targets


class AnalysisJob(NamedTuple):
    """The targets, a function that analyzes a model, and a function that returns the text of a report."""

    targets: Sequence[Target]
    report: Callable[[Model, AnalysisCache], Report]
    lines: Callable[[Any, View], Iterable[Line]]
    footer: Callable[[Report, View], Iterable[Line]] = lambda *_: ()
    """A function that returns the text after the last model."""
    names_fixes: bool = True
    """Whether the JSON output includes the suggested changes. False if all delegates are analyzed."""


def each_alone(targets: Sequence[Target], model: Model, cache: AnalysisCache) -> Report:
    """Return a report with a separate run for each delegate. Each run applies its delegate to the unchanged model.

    If the limit on simulations is reached, the remaining targets have no run.
    """
    effort = Effort(model)
    runs: list[Run] = []
    for number, target in enumerate(targets):
        try:
            effort.begin_target()
        except LimitError:
            break
        show_target(targets, number)
        runs.append(simulate(model, target, cache=cache))
    return Report(model, tuple(runs))


def single(targets: Sequence[Target], *, names_fixes: bool) -> AnalysisJob:
    """Return the analysis that applies each delegate on its own and shows each run in detail."""
    return AnalysisJob(targets, partial(each_alone, targets), report_lines, names_fixes=names_fixes)


def overview(targets: Sequence[Target]) -> AnalysisJob:
    """Return the analysis that applies each delegate on its own and shows a table with a row for each delegate."""
    from ...text.analysis.overview import footer_lines, overview_lines

    return AnalysisJob(targets, partial(each_alone, targets), overview_lines, footer_lines, names_fixes=False)


def chain(targets: Sequence[Target], *, applies_default: bool, names_fixes: bool) -> AnalysisJob:
    """Return the analysis of delegates that are applied one after another, at last the one that the runtime itself applies."""

    def default_target() -> Target:
        delegate = find_delegate(APPLIED_BY_DEFAULT)
        return targets[0]._replace(delegate=delegate, options=parse_options(delegate.name, delegate.options, {}), defaults="api")

    def report(model: Model, cache: AnalysisCache) -> Report:
        runs = simulate_chain(model, targets, default_target if applies_default else None, cache=cache)
        return Report(model, runs, is_chain=True)

    return AnalysisJob(targets, report, report_lines, names_fixes=names_fixes)


def write_analyses(models: Models, job: AnalysisJob, view: View, outputs: Outputs, profiles: OpProfileArguments) -> int:
    """Analyze each model, write the reports, and return the exit code: 1 if the target is a runtime that fails on a model.

    The verdict comes before the search for advice.
    """
    failed = []

    def answer(path: str) -> Answer:
        model = read_model(path, job.targets)
        cache = AnalysisCache()
        report = with_adviser(job.report(model, cache), cache)
        timings = profiles.timings(model, job.targets)
        models.leave_out(path, job.targets[len(report.runs) :], Effort(model))
        failed.extend([run for run in report.runs if run.application is not None and report.has_failed(run)])
        return _answer(job, replace(report, times=timings), timings, view._replace(cache=cache), cache)

    targets = [(own.delegate.name, own.delegate.name, str(own.release), option_values(own.options)) for own in job.targets]
    table = ModelTable(None, view.verbose, None, partial(_table_lines, job, view), targets, _totals)
    code = write_all(models, outputs, table, answer)
    return code or (FINDINGS if failed and len(targets) == 1 else DONE)


def _answer(job: AnalysisJob, report: Report, timings: Sequence[Timing], view: View, cache: AnalysisCache) -> Answer:
    def lines() -> Iterator[Line]:
        yield from job.lines(report, view)
        if timings:
            from ...text.timing import timing_lines

            yield from timing_lines(timings, report.runs, view.width, view.verbose)

    def cases(has_notes: bool) -> Sequence[Case]:
        from delegate_sim.gate.results import analysis_cases

        own = analysis_cases(replace(report, runs=report.advised_runs) if job.names_fixes else report, timings)
        if not has_notes or not job.names_fixes:
            return own
        notes = [further_notes(report, run, cache) for run in report.runs if not run.by_default]
        return [replace(case, notes=(*case.notes, *added)) for case, added in zip(own, notes, strict=True)]

    def verdicts() -> Sequence[str]:
        from delegate_sim.gate.results import analysis_verdict

        return (analysis_verdict(report),)

    def rows() -> list[ModelRow]:
        from ...text.analysis.overview import model_rows

        return model_rows(report)

    def card(form: str) -> str | bytes:
        from delegate_sim.page.card import card_of
        from delegate_sim.page.card_picture import card_image, card_markdown, card_picture

        writers: dict[str, Callable[[Card], str | bytes]] = {
            CARD: card_picture,
            CARD_IMAGE: card_image,
            CARD_MARKDOWN: card_markdown,
        }
        runs = [run for run in report.runs if not run.by_default]
        without_answer = job.targets[len(report.runs) :] if len(runs) == len(report.runs) else ()
        return writers[form](card_of(report.model, runs, without_answer, Effort(report.model).reason))

    def entries() -> list[JsonEntry]:
        if job.names_fixes:
            _ = report.advised_runs  # a failure is the model's, not one of writing
        return [partial(report.json_parts, advice=job.names_fixes)]

    return Answer(
        entries,
        lines,
        rows,
        cases=cases,
        verdicts=verdicts,
        footer=lambda: list(job.footer(report, view)),
        card=card,
    )


def _table_lines(job: AnalysisJob, view: View, rows: Sequence[ModelRow], unreadable: Sequence[Unreadable]) -> Iterator[Line]:
    from ...text.analysis.overview import ModelRow, models_lines

    every = [*rows, *[ModelRow(model.path, message=model.message) for model in unreadable]]
    return models_lines(every, job.targets[0].release, view.width)


def _totals(cases: Sequence[Case]) -> tuple[str, ...]:
    from delegate_sim.scan.totals import TargetTotals

    totals: dict[str, TargetTotals] = {}
    for case in cases:
        if case.measures is not None and case.compute is not None:
            own = totals.setdefault(case.target, TargetTotals())
            own.add(case.measures.outcome, case.measures.nodes, case.measures.delegated_nodes, *case.compute)
    return tuple(TargetTotals.verdicts(totals)) if totals else ()
