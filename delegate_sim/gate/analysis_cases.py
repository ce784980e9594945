"""Convert the report of an analysis to cases, for the output formats of ``check``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..hypothetical.hypothetical_changes import NodeKey
from ..results.report.blockers import Ranks
from ..results.report.display import run_lengths
from ..results.report.findings import ERROR, WARNING, Finding, node_finding, node_location, risk_findings
from ..results.report.measures import measure
from ..results.report.multiply_adds import compute_of
from ..results.report.outcome_words import outcome_notes, words_of
from ..results.report.placement import code_of, on_cpu
from ..results.report.report import Report
from ..results.report.rule_set import rule_set_version
from ..results.report.verdict import coverage_verdict, verdict
from ..runtime.interpreter import Run
from ..runtime.target import target_names
from .results import FAILED, PASSED, Case, identity_of

if TYPE_CHECKING:
    from ..results.report.accelerator_stack import StackResult
    from ..timing.measured import Timing


def analysis_cases(report: Report, timings: Sequence[Timing] = ()) -> tuple[Case, ...]:
    """Return a case for each requested delegate. Delegates that the runtime applies by default have no case.

    ``timings`` are the times that op profiles measured. A case gets the times of profiles of its delegate, and of profiles
    without a delegate.
    """
    runs = [run for run in report.runs if not run.by_default]
    names = target_names([run.target for run in runs])
    return tuple([_case(report, name, run, timings) for name, run in zip(names, runs, strict=True)])


def stack_cases(result: StackResult) -> tuple[Case, ...]:
    """Return a case for each accelerator of a CompiledModel. The CPU has no case if it follows another accelerator.

    The notes of the first case say whether the CompiledModel is created. If it is not created, the first case fails.
    """
    first, *others = analysis_cases(result)
    notes = (result.statement, *result.notes, *first.notes)
    status = first.status if result.is_created else FAILED
    cases = (replace(first, status=status, notes=tuple(dict.fromkeys(notes))), *others)
    soc = result.stack.soc
    return tuple([replace(case, target=f"{soc}, {case.target}") for case in cases]) if soc else cases


def analysis_verdict(report: Report) -> str:
    """Return the verdict on a single model: on its run, on the first run of a chain, or on the best of several runs."""
    runs = [run for run in report.runs if not run.by_default]
    return verdict(runs[0]) if report.is_chain or len(runs) == 1 else coverage_verdict(runs)


def _case(report: Report, target: str, run: Run, timings: Sequence[Timing]) -> Case:
    path = report.model.path or "-"
    own = [timing for timing in timings if not timing.delegates or run.delegate.name in timing.delegates]
    own.sort(key=lambda timing: not timing.delegates)  # the profile of the delegated run counts
    return Case(
        path,
        path,
        *identity_of(target, run.target),
        FAILED if report.has_failed(run) else PASSED,
        tuple(_findings(report, run, _node_times(own))),
        notes=(*outcome_notes(run), *map(_sentence, own)),
        measures=measure(run),
        log_lines=run.log_lines,
        sha256=report.model.sha256,
        rule_set=rule_set_version(run.delegate),
        compute=compute_of(run).totals,
        strip=run_lengths(run),
        times=own[0].totals if own else None,
    )


def _node_times(timings: Sequence[Timing]) -> Mapping[NodeKey, float]:
    if not timings:
        return {}
    from ..timing.measured import node_times

    return node_times(timings)


def _sentence(timing: Timing) -> str:
    from ..timing.measured import timing_sentence

    return timing_sentence(timing)


def _findings(report: Report, run: Run, times: Mapping[NodeKey, float]) -> Iterator[Finding]:
    if run.refusal is None and report.has_failed(run):
        yield from [replace(finding, level=ERROR) for finding in _run_findings(run, times)]
    else:
        yield from _run_findings(run, times)


def _run_findings(run: Run, times: Mapping[NodeKey, float]) -> Iterator[Finding]:
    if run.refusal is not None:
        refusal = run.refusal
        place = node_location(run.subgraphs[refusal.subgraph], refusal.node)
        yield Finding(refusal.code, ERROR, refusal.message, refusal.hint, place)
    yield from risk_findings(run)
    ranks = Ranks(run, compute_of(run))
    for subgraph, index, reasons in on_cpu(run):
        code = code_of(reasons)
        if run.refusal is None or code != run.refusal.code:
            left = words_of(run.delegate.name).left
            finding = node_finding(code, WARNING, f"stays {left}", subgraph, index, reasons, ranks=ranks)
            yield replace(finding, measured_ms=times.get(NodeKey(subgraph.graph.index, index)))
