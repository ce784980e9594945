"""``delegate-sim analyze --live``: compare real delegates with their simulation."""

from __future__ import annotations

import json
from typing import Any

import click

from delegate_sim.live.comparison import LiveResult, comparable_release, difference_report, run_and_compare
from delegate_sim.live.live_runs import ready_engine
from delegate_sim.results.report.report import Report

from ...answers import Answer, ModelTable, write_all
from ...console.terminal import Line, width, write_file
from ...exits import FINDINGS, USAGE
from ...models import Models, read_model
from ...text.analysis.live import live_lines, live_verdict
from ...text.analysis.report import report_lines
from ...text.analysis.view import View, with_adviser
from ...text.many import LIVED
from .analysis import Request

_FORMS = ("text", "json")


def _refuse_other_options(request: Request) -> None:
    if not request.live.live:
        raise click.UsageError("--live-report and --sdk need --live")
    if not request.arguments.delegates or request.is_chain:
        raise click.UsageError(
            "--live needs --delegate and does not take --chain ('delegate-sim doctor' lists the delegates that can run here)"
        )
    if request.arguments.assume_ops_registered:
        raise click.UsageError("--live runs LiteRT's own operators: leave out --assume-ops-registered")
    if request.outputs.files:
        raise click.UsageError("--live does not take --report")


def analyze_live(request: Request) -> int:
    """Run the real delegates, write their decisions next to the simulated decisions, and return the exit code.

    The exit code is 1 if a decision differs from the simulation, and 2 if a delegate could not be run. Raises UsageError for a
    format other than text and JSON, and OptionError for a delegate that this host cannot run.
    """
    targets, view, live = request.targets(), View(width(), request.verbose), request.live
    _refuse_other_options(request)
    if request.outputs.form not in _FORMS:
        raise click.UsageError(f"with --live, --format must be {' or '.join(_FORMS)}")
    engines = [ready_engine(target.delegate, live.sdks) for target in targets]
    releases = [comparable_release(engine, target.release) for engine, target in zip(engines, targets, strict=True)]
    every: list[LiveResult] = []
    differences: list[dict[str, Any]] = []

    def answer(path: str) -> Answer:
        model = read_model(path)
        pairs = [
            run_and_compare(engine, model, target, release)
            for engine, target, release in zip(engines, targets, releases, strict=True)
        ]
        results = [result for _, result in pairs]
        differences.extend([difference_report(model, run, result) for run, result in pairs if run and result.differences])
        every.extend(results)
        report = with_adviser(Report(model, tuple([run for run, _ in pairs if run is not None]), live=tuple(results)))
        return Answer(
            lambda: [report.to_dict(advice=True)],
            lambda: [*([*report_lines(report, view), Line("")] if report.runs else []), *live_lines(model, results, view)],
            lambda: [[result.name, live_verdict(result)] for result in results],
        )

    code = write_all(Models(request.models), request.outputs, ModelTable(LIVED, is_left_out=view.verbose), answer)
    if live.live_report is not None:
        write_file(live.live_report, json.dumps(differences, indent=2) + "\n")
    if any(not result.is_run for result in every):
        return USAGE
    return code or (FINDINGS if any(result.differences for result in every) else code)
