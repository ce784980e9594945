"""Write analyses of models in the requested formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from delegate_sim.foundation.printable import printable
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.graph.effort import Effort
from delegate_sim.results.report.report import Report
from delegate_sim.runtime.interpreter import option_values

from ...console.output_file import ReportFile
from ...console.terminal import Line, plain, write, write_lines
from ...models import STANDARD_INPUT, Models, Unreadable, read_model, unreadable_entry
from ...options.op_profile import NO_PROFILES, OpProfileArguments
from ...outputs import CARD, GITHUB, MARKDOWN, summarize, write_files
from ...text.analysis.advised import with_advice, with_adviser
from ...text.analysis.view import MANY, View
from ...text.elements.paragraphs import HEADING
from .analysis import AnalysisJob

if TYPE_CHECKING:
    from delegate_sim.gate.results import Case, Results
    from delegate_sim.timing.measured import Timing

    from ...text.analysis.overview import ModelRow


class Outputs(NamedTuple):
    """The main format, further report files, and the output file of the main format, or None for standard output."""

    form: str
    files: Sequence[ReportFile]
    output: str | None


def write_analyses(
    models: Models, analysis: AnalysisJob, view: View, outputs: Outputs, profiles: OpProfileArguments = NO_PROFILES
) -> int:
    """Analyze each model, write the reports, and return the exit code.

    If text for standard output is not a table, each line is written as soon as it is known. The verdict comes before the search
    for advice.
    """
    form, files, output = outputs
    documents = _Documents(models, view, analysis)
    streams = form == "text" and output is None and not documents.is_table
    forms = [*([] if streams else [form]), *[file.form for file in files]]
    if CARD in forms and not models.is_single:
        raise click.UsageError("a card shows one model: give one MODEL")

    def add(path: str) -> None:
        model = read_model(path)
        cache = AnalysisCache()
        report = with_adviser(analysis.report(model, cache), cache)
        timings = profiles.timings(model, analysis.targets)
        report = replace(report, times=timings)
        models.leave_out(path, analysis.targets[len(report.runs) :], Effort(model))
        if streams:
            write_lines(chain([Line("")] if documents.has_answers else [], documents.lines(report, cache, timings)))
        documents.add(report, forms, cache, timings)

    for _ in models.each(add):
        pass
    if streams and documents.has_answers:
        write_lines(documents.footer())
    if streams and documents.has_answers and not models.is_single:
        write_lines(documents.unanswered())
    written = [*files, ReportFile(form, output)] if output is not None else files
    # A card has no form for a model that cannot be read.
    write_files([file for file in written if file.form != CARD or documents.has_answers], documents.whole)
    if GITHUB in forms:
        summarize(documents.results())
    if output is None and not streams and (documents.has_answers or form not in ("text", CARD)):
        write(documents.whole(form), form)
    return models.exit_code


class _Documents:
    """The parts of the output for each model, in the requested formats."""

    def __init__(self, models: Models, view: View, analysis: AnalysisJob) -> None:
        self.models = models
        self.view = view
        self.analysis = analysis
        self.is_table = len(models.paths) >= MANY and not view.verbose
        self._parts: list[dict[str, Any]] = []
        self._footer: list[Line] = []

    @property
    def has_answers(self) -> bool:
        """Whether any model could be analyzed. Otherwise, standard error already has all messages."""
        return bool(self._parts)

    def add(self, report: Report, forms: Iterable[str], cache: AnalysisCache, timings: Sequence[Timing] = ()) -> None:
        """Store the parts of a report that the given formats need."""
        parts: dict[str, Any] = {}
        for form in forms:
            kind = form if form in ("text", "json", CARD) else _kind(form)
            if kind not in parts:
                parts[kind] = self._part(report, kind, cache, timings)
        if parts.keys() & {_WITH_NOTES, _WITHOUT_NOTES}:
            from delegate_sim.gate.analysis_cases import analysis_verdict

            parts[_VERDICT] = analysis_verdict(report)
        self._parts.append(parts)

    def whole(self, form: str) -> str | Sequence[str]:
        """Return the whole output in one format, as a string or as parts of a long string."""
        if form == "text":
            return self._text()
        if form == CARD:
            return "".join([parts[CARD] for parts in self._parts])
        if form == "json":
            from delegate_sim.results.report.json_parts import json_array, json_value

            entries = [
                *[parts["json"] for parts in self._parts],
                *[json_value(unreadable_entry(model)) for model in self.models.unreadable],
            ]
            return [*(entries[0] if self.models.is_single else json_array(entries)), "\n"]
        from ...formats import render

        return render(form, self.results(form))

    def results(self, form: str = GITHUB) -> Results:
        """Return the cases of all models for a format."""
        from delegate_sim.gate.results import Results

        unreadable = [case for model in self.models.unreadable for case in _unreadable_cases(model, self.analysis)]
        kind = _kind(form)
        cases = [case for parts in self._parts for case in parts[kind]]
        verdicts = (self._parts[0][_VERDICT],) if len(self._parts) == 1 else _verdicts(cases)
        return Results("analyze", (*cases, *unreadable), verdicts)

    def _part(self, report: Report, kind: str, cache: AnalysisCache, timings: Sequence[Timing]) -> Any:
        if kind == "text":
            return self._rows(report) if self.is_table else list(self.lines(report, cache, timings))
        if kind == "json":
            return self._json(report)
        if kind == CARD:
            from delegate_sim.page.card import card_of
            from delegate_sim.page.card_picture import card_picture

            return card_picture(card_of(report.model, [run for run in report.runs if not run.by_default]))
        from delegate_sim.gate.analysis_cases import analysis_cases

        cases = analysis_cases(self._advised(report), timings)
        if kind != _WITH_NOTES or not self.analysis.names_fixes:
            return cases
        from ...text.analysis.further import further_notes

        runs = [run for run in report.runs if not run.by_default]
        return [
            replace(case, notes=(*case.notes, *further_notes(report, run, cache))) for case, run in zip(cases, runs, strict=True)
        ]

    def _json(self, report: Report) -> list[str]:
        return list(self._advised(report).json_parts())

    def _advised(self, report: Report) -> Report:
        return with_advice(report) if self.analysis.names_fixes else report

    def _rows(self, report: Report) -> list[ModelRow]:
        from ...text.analysis.overview import model_rows

        return model_rows(report)

    def lines(self, report: Report, cache: AnalysisCache, timings: Sequence[Timing]) -> Iterator[Line]:
        """Yield the text of a report."""
        if not self.models.is_single:
            yield Line(f"=== {printable(report.model.path or STANDARD_INPUT)} ===", HEADING)
        yield from self.analysis.lines(report, replace(self.view, cache=cache))
        if self.analysis.footer is not None:
            # The longest footer has the notes on all delegates that take a node.
            self._footer = max(self._footer, list(self.analysis.footer(report, self.view)), key=len)
        if timings:
            from ...text.timing import timing_lines

            yield from timing_lines(timings, report.runs, self.view.width, self.view.verbose)

    def footer(self) -> Sequence[Line]:
        """Return the text after the last model."""
        return self._footer

    def unanswered(self) -> Iterator[Line]:
        """Return the error messages of unreadable models."""
        messages = [model.message for model in self.models.unreadable]
        if not messages:
            return iter(())
        from ...text.many import unanswered_lines

        return unanswered_lines(messages, self.view.width, is_first=not self._parts)

    def _text(self) -> str:
        if self.is_table:
            from ...text.analysis.overview import ModelRow, models_lines

            rows = [row for parts in self._parts for row in parts["text"]]
            rows += [ModelRow(model.path, message=model.message) for model in self.models.unreadable]
            return plain(models_lines(rows, str(self.analysis.targets[0].release), self.view.width))
        texts = "\n".join([plain(parts["text"]) for parts in self._parts])
        return texts + plain(self.footer()) + plain(self.unanswered())


_WITH_NOTES, _WITHOUT_NOTES, _VERDICT = "cases with notes", "cases", "verdict"


def _verdicts(cases: Sequence[Case]) -> tuple[str, ...]:
    from delegate_sim.scan.target_totals import TargetTotals

    totals: dict[str, TargetTotals] = {}
    for case in cases:
        if case.measures is not None and case.compute is not None:
            own = totals.setdefault(case.target, TargetTotals())
            own.add(case.measures.outcome, case.measures.nodes, case.measures.delegated_nodes, *case.compute)
    return tuple(TargetTotals.verdicts(totals)) if totals else ()


def _kind(form: str) -> str:
    """Return the kind of cases for a format. Only Markdown and GitHub's job summary have notes, which need more simulations."""
    return _WITH_NOTES if form in (MARKDOWN, GITHUB) else _WITHOUT_NOTES


def _unreadable_cases(model: Unreadable, analysis: AnalysisJob) -> list[Case]:
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
