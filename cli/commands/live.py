"""``delegate-sim analyze --live``: a delegate's real code beside its simulation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from delegate_sim.delegates.base import Delegate, OptionValues
from delegate_sim.errors import OptionError
from delegate_sim.live.comparison import LiveResult, compare_live
from delegate_sim.live.engine import Engine
from delegate_sim.live.engines import find_engine
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, Release, parse_release
from delegate_sim.results.report import Report
from delegate_sim.runtime.interpreter import Assumptions, simulate

from ..answers import Answer, ModelTable, write_answers
from ..exits import FINDINGS
from ..layout import message, wrapped
from ..models import Models, read_model
from ..terminal import Line
from ..text.many import LIVED
from ..text.report import report_lines
from ..text.view import HEADING, View

_FORMS = ("text", "json")
_BAD = "bold red"


def analyze_live(
    models: Sequence[str],
    targets: Sequence[tuple[Delegate, OptionValues]],
    release: Release,
    assumptions: Assumptions,
    *,
    form: str,
    output: str | None,
    view: View,
) -> int:
    """Write what delegates really decide beside what is simulated; return the exit code: 1 where they differ.

    Raises UsageError for another format, OptionError for a delegate that cannot be run here.
    """
    if form not in _FORMS:
        raise click.UsageError(f"--live takes --format {' or '.join(_FORMS)}")
    engines = [find_engine(delegate) for delegate, _ in targets]
    for engine in engines:
        if engine.lacks:
            raise OptionError(f"{engine.delegate.name} cannot be run here: it lacks {engine.lacks} (see delegate-sim doctor)")
    releases = [_release(engine, release) for engine in engines]
    differs = False

    def answer(path: str) -> Answer:
        nonlocal differs
        model = read_model(path)
        runs = tuple(
            [
                simulate(model, delegate, options, own, "api", assumptions)
                for (delegate, options), own in zip(targets, releases, strict=True)
            ]
        )
        found = [compare_live(engine, model, run) for engine, run in zip(engines, runs, strict=True)]
        differs |= any(not each.is_equal for each in found)
        report = Report(model, runs)
        return Answer(
            lambda: [_entry(report, found)],
            lambda: [*report_lines(report, view), *_lines(found, view)],
            lambda: [[each.name, _verdict(each)] for each in found],
        )

    code = write_answers(Models(models), form, output, ModelTable(LIVED, is_left_out=view.verbose), answer)
    return code or (FINDINGS if differs else code)


def _release(engine: Engine, asked: Release) -> Release:
    """Return the release to simulate: the one that is run. Raises OptionError where another was asked for."""
    try:
        found = parse_release(engine.software)
    except OptionError:
        return asked
    if asked.order not in (found.order, parse_release(DEFAULT_RELEASE).order):
        raise OptionError(f"what is installed here is {found}: {engine.delegate.name} cannot be run as in {asked}")
    return asked if asked.order == found.order else found


def _verdict(found: LiveResult) -> str:
    return "not run" if not found.is_run else "as simulated" if found.is_equal else "differs"


def _entry(report: Report, found: Sequence[LiveResult]) -> dict[str, Any]:
    return {**report.to_dict(), "live": [{**each._asdict(), "equal": each.is_equal} for each in found]}


def _lines(found: Sequence[LiveResult], view: View) -> Iterator[Line]:
    for each in found:
        yield Line("")
        if not each.is_run:
            yield Line(f"{each.name}, live: {message(each.end)}", _BAD)
            continue
        verdict = "decides as simulated" if each.is_equal else "differs from the simulation: please report this"
        yield Line(f"{each.name}, live ({message(each.software)}): the real code {verdict}", HEADING if each.is_equal else _BAD)
        yield from [Line(f"  {message(line)}") for line in each.lines]
        notes = [*each.differences, *([f"after that {each.end}"] if each.end and each.is_equal else [])]
        for note in notes:
            yield from (Line(line) for line in wrapped(message(note), view.width, "  - ", "    "))
