"""The results of a command. All output formats are written from these results."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..delegates.registry import DELEGATE_NAMES, find_delegate
from ..foundation.columns import (
    INTEGER,
    LIST,
    NUMBER,
    OBJECT,
    YES_OR_NO,
    Column,
    Declared,
    Table,
    attributes,
    entry,
    group,
    keys,
    values,
    within,
)
from ..hypothetical.hypothetical_changes import NodeKey
from ..releases.catalogue import parse_release
from ..results.compare.model_changes import NodeChange
from ..results.report.blockers import Ranks
from ..results.report.coverage import coverage_verdict
from ..results.report.display import Lengths, Shown, TimeTotals, run_lengths
from ..results.report.findings import ERROR, FINDING, WARNING, Finding, node_finding, node_location, risk_findings
from ..results.report.measures import DERIVED, MEASURES, TAKEN, Measures, measure, work_share
from ..results.report.multiply_adds import COMPUTE, ComputeTotals, compute_of
from ..results.report.outcome_words import outcome_notes, words_of
from ..results.report.placement import code_of, on_cpu
from ..results.report.report import Report
from ..results.report.rule_set import rule_set_version
from ..results.report.tables import NUMBERS
from ..results.report.verdict import unchecked_text, verdict
from ..runtime.interpreter import Run
from ..runtime.run import option_values
from ..runtime.target import Target, target_names

if TYPE_CHECKING:
    from ..results.report.accelerator_stack import StackResult
    from ..timing.measured import Timing


PASSED = "passed"
BETTER = "better"
"""Status of a case that passed and is better than the baseline."""
FAILED = "failed"
UNREADABLE = "unreadable"
"""Status of a case without a result, because the model cannot be read or the program failed."""
STATUSES = (PASSED, BETTER, FAILED, UNREADABLE)

_FINDING = (
    *within(
        "finding",
        [*attributes("code", "level", "message", "hint"), Column("location", OBJECT), Column("ignored", is_optional=True)],
    ),
    Column("fingerprint"),
)


class TargetIdentity(NamedTuple):
    """A target as a case names it: name, delegate, release of the runtime, and options."""

    target: str
    delegate: str
    runtime: str
    options: Mapping[str, Any]


def identity_of(name: str, target: Target) -> TargetIdentity:
    """Return the identity of a target that has this name."""
    return TargetIdentity(name, target.delegate.name, str(target.release), option_values(target.options))


@dataclass(frozen=True, slots=True)
class Case(Declared):
    """The result for a model on a target.

    ``model`` is the model's name in a baseline, and ``path`` is the path from the working directory. ``measures`` is None if the
    model cannot be read or does not exist. ``baseline`` is None if the baseline has no entry. ``baseline`` is also None for
    ``analyze``.
    """

    columns = (
        *attributes("model", "path", "sha256", "target", "delegate", "runtime"),
        *(Column("options", OBJECT), *attributes("rule_set", "status")),
        Column("measures", OBJECT, source=lambda case: _measures(case.measures, case.compute)),
        Column("baseline", OBJECT, source=lambda case: _measures(case.baseline, case.baseline_compute)),
        Column("findings", LIST, source=lambda case: map(_Finding, case.findings, fingerprints(case)), parts=_FINDING),
        *attributes("changes", "notes", "log_lines", type=LIST),
    )

    model: str
    path: str
    target: str
    delegate: str
    runtime: str
    options: Mapping[str, Any]
    status: str
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """Remarks, for example about improvements, changed options or changed rules."""
    measures: Measures | None = None
    baseline: Measures | None = None
    changes: tuple[NodeChange, ...] = ()
    """Changes of the model since the baseline, node by node."""
    log_lines: tuple[str, ...] = ()
    sha256: str = ""
    rule_set: str = ""
    compute: ComputeTotals | None = None
    """Multiply-adds of the whole model and of the delegated nodes, or None if there is no result."""
    baseline_compute: ComputeTotals | None = None
    """The multiply-adds in the baseline. None if the baseline has no entry, or if an older version wrote the entry."""
    strip: Lengths = ()
    """Groups of consecutive nodes in the same state, as (state, number of nodes), in execution order."""
    times: TimeTotals | None = None
    """The measured times of an op profile, if the user gave one."""

    @property
    def unchecked(self) -> str:
        """The parts of the release that were not checked for the delegate. Empty if all parts were checked."""
        if self.delegate not in DELEGATE_NAMES or not self.runtime:
            return ""
        return unchecked_text(find_delegate(self.delegate), parse_release(self.runtime))

    @property
    def multiply_adds(self) -> int | None:
        """The multiply-adds of the whole model, or None if there is no result."""
        return None if self.compute is None else self.compute.multiply_adds

    @property
    def delegated_multiply_adds(self) -> int | None:
        """The multiply-adds of the delegated nodes, or None if there is no result."""
        return None if self.compute is None else self.compute.delegated_multiply_adds


MISSING_ENTRY = "no-baseline-entry"
STALE_ENTRY = "no-model-for-entry"
UNREADABLE_MODEL = "unreadable-model"
FAILED_CONVERSION = "failed-conversion"
INTERNAL_ERROR = "internal-error"


def unreadable_case(
    model: str,
    path: str,
    target: str,
    delegate: str,
    runtime: str,
    options: Mapping[str, Any],
    message: str,
    code: str = UNREADABLE_MODEL,
) -> Case:
    """Return the case of a model without a result. The model cannot be read, or the program failed (``INTERNAL_ERROR``)."""
    return Case(model, path, target, delegate, runtime, options, UNREADABLE, (Finding(code, ERROR, message),))


def fingerprints(case: Case) -> Sequence[str]:
    """Return a digest for each finding. New node numbers and new wordings of messages do not change the digest.

    The digest depends on the model, target, code, subgraph, operator and tensor name. If two findings agree in all these
    properties, the digest also depends on their order.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    digests = []
    for finding in case.findings:
        place = finding.location
        key = (case.model, case.target, finding.code, str(place.subgraph), place.op, place.name)
        digest = hashlib.sha256("\0".join([*key, str(seen[key])]).encode("utf-8", "backslashreplace")).hexdigest()
        seen[key] += 1
        digests.append(digest[:32])
    return digests


def _count(status: str, results: Results) -> int:
    return results.count(status)


class _Finding(NamedTuple):
    finding: Finding
    fingerprint: str


def _measures(measures: Measures | None, compute: ComputeTotals | None) -> dict[str, Any] | None:
    if measures is None:
        return None
    work = {} if compute is None else {**entry(COMPUTE, compute), "multiply_add_share": work_share(measures, compute)}
    return {**entry((*MEASURES, *DERIVED), measures), **work}


@dataclass(frozen=True, repr=False)
class Results(Shown):
    """All cases of one command: ``analyze`` or ``check``."""

    document = "check"
    columns = (
        Column("passed", YES_OR_NO, source=lambda own: all(case.status in (PASSED, BETTER) for case in own.cases)),
        group("counts", *[Column(status, INTEGER, source=partial(_count, status)) for status in STATUSES]),
        Column("cases", LIST, parts=Case.columns),
    )

    command: str
    cases: tuple[Case, ...]
    verdicts: tuple[str, ...] = ()
    """Of an analysis: sentences that say how much of the models the targets run."""

    def count(self, status: str) -> int:
        """Return the number of cases with a status."""
        return sum(case.status == status for case in self.cases)

    @property
    def selected_only(self) -> str:
        """The note that nodes are only selected; empty if no compiler plugin takes nodes.

        It is also empty for ``analyze``, because the cases of an analysis contain this note.
        """
        taken = [case.delegate for case in self.cases if case.measures is not None and case.measures.outcome == TAKEN]
        notes = [note for delegate in taken if (note := words_of(delegate).note)]
        return notes[0] if self.command == "check" and notes else ""

    def _line(self) -> str:
        counts = {case.status: self.count(case.status) for case in self.cases}
        return f"{self.command}: {', '.join([f'{count:,} {status}' for status, count in counts.items()]) or 'no case'}"

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        return {
            "cases": lambda: Table.of(CASE, self.cases),
            "findings": lambda: Table(
                ("model", "target", *keys(FINDING)),
                [(case.model, case.target, *values(FINDING, finding)) for case in self.cases for finding in case.findings],
            ),
        }

    def _shown(self) -> Mapping[str, Sequence[str]]:
        return {
            "cases": ("model", "target", "status", "delegated_share", "multiply_add_share", "partitions"),
            "findings": ("model", "target", "op", "message", "hint"),
        }


_OUTCOME, _NODES, _DELEGATED, _SHARE, *_COUNTS = within("measures", NUMBERS)
CASE = (
    *attributes("model", "target", "delegate", "runtime", "status"),
    Column("findings", INTEGER, "number of findings", source=lambda case: len(case.findings)),
    *(_OUTCOME, _NODES, _DELEGATED, _SHARE),
    Column(
        "multiply_add_share",
        NUMBER,
        "the share of multiply-adds that are delegated",
        source=lambda case: work_share(case.measures, case.compute),
    ),
    *_COUNTS,
    Column("notes", source=lambda case: "; ".join(case.notes)),
)
"""The columns of a case."""


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
