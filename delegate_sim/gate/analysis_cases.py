"""Convert the report of an analysis to cases, for the output formats of ``check``."""

from __future__ import annotations

from collections.abc import Iterator

from ..results.report.findings import ERROR, WARNING, Finding, node_finding, node_location
from ..results.report.measures import measure
from ..results.report.multiply_adds import compute_of
from ..results.report.outcome_words import outcome_notes, words_of
from ..results.report.placement import code_of, on_cpu
from ..results.report.plan_strip import run_lengths
from ..results.report.report import Report
from ..results.report.rule_set import rule_set_version
from ..runtime.interpreter import Run, option_values
from .results import FAILED, PASSED, Case


def analysis_cases(report: Report) -> tuple[Case, ...]:
    """Return a case for each requested delegate. Delegates that the runtime applies by default have no case."""
    path = report.model.path or "-"
    return tuple([_case(path, report.model.sha256, run) for run in report.runs if not run.by_default])


def _case(path: str, sha256: str, run: Run) -> Case:
    return Case(
        model=path,
        path=path,
        target=run.delegate.name,
        delegate=run.delegate.name,
        runtime=str(run.release),
        options=option_values(run.options),
        status=FAILED if run.refusal else PASSED,
        findings=tuple(_findings(run)),
        notes=outcome_notes(run),
        measures=measure(run),
        log_lines=run.log_lines,
        sha256=sha256,
        rule_set=rule_set_version(run.delegate),
        compute=compute_of(run).totals,
        strip=run_lengths(run),
    )


def _findings(run: Run) -> Iterator[Finding]:
    """Yield an error if the whole graph is refused. Yield a warning for each node that stays on the CPU for another reason."""
    if run.refusal is not None:
        refusal = run.refusal
        place = node_location(run.subgraphs[refusal.subgraph], refusal.node)
        yield Finding(refusal.code, ERROR, refusal.message, refusal.hint, place)
    for subgraph, index, reasons in on_cpu(run):
        code = code_of(reasons)
        if run.refusal is None or code != run.refusal.code:
            yield node_finding(code, WARNING, f"stays {words_of(run.delegate.name).left}", subgraph, index, reasons)
