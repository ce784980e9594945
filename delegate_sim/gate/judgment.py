"""Judge a model on a target.

Find measures that are worse than in the baseline, and measures that exceed a budget. Find the nodes that cause these changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..delegates.base import Delegate
from ..delegates.options import option_as_typed
from ..foundation.limits import how_to_raise, raised
from ..foundation.printable import counted
from ..graph.reachability import unassigned_variables
from ..model.model import Model
from ..results.compare.model_changes import Matching, NodeChange, compare_outlines
from ..results.compare.model_outline import outline
from ..results.report.blockers import Ranks
from ..results.report.display import run_lengths
from ..results.report.findings import ERROR, NOTE, WARNING, Finding, missing_weights, node_finding, node_location, risk_findings
from ..results.report.measures import NOT_RUNNING, TAKEN, Measures, measure
from ..results.report.multiply_adds import ComputeTotals, compute_of, has_programs
from ..results.report.outcome_words import words_of
from ..results.report.placement import code_of, on_cpu
from ..results.report.rule_set import rule_set_version
from ..results.report.verdict import short_verdict
from ..rules.rule import Reason
from ..runtime.interpreter import Run, SubgraphRun, option_values
from ..runtime.target import Target
from ..version import __version__
from .baseline import Entry, EntryKey, Fallback
from .budgets import (
    FURTHER_CODES,
    Budgets,
    Regression,
    compute_improvements,
    compute_regressions,
    exceeded,
    improvements,
    regressions,
)
from .results import BETTER, FAILED, PASSED, Case, identity_of

_MOST_LISTED = 1_000
"""The largest number of listed findings with the same code and level. The same limit applies to listed changes of the model."""


def take_entry(run: Run, model: Model) -> Entry:
    """Return a baseline entry with the result of a run."""
    target = run.target
    groups: dict[tuple[int, str], list[int]] = {}
    for subgraph, index, reasons in on_cpu(run):
        groups.setdefault((subgraph.graph.index, code_of(reasons)), []).append(index)
    return Entry(
        model.sha256,
        target.delegate.name,
        option_values(target.options),
        str(target.release),
        target.defaults,
        rule_set_version(target.delegate),
        __version__,
        measure(run),
        tuple([Fallback(subgraph, code, frozenset(nodes)) for (subgraph, code), nodes in sorted(groups.items())]),
        outline(model),
        compute_of(run).totals,
    )


def update_notes(before: Entry | None, entry: Entry) -> Iterator[str]:
    """Yield notes about a new entry of the baseline: its differences from the entry ``before``, and what checks cannot notice."""
    if not entry.measures.is_delegated and entry.measures.nodes:
        yield "the delegate takes no node of this model, so later checks notice no node that falls back to the CPU"
    if before is None:
        yield "new in the baseline"
        return
    words, compute = words_of(entry.delegate), entry.compute or ComputeTotals(0, 0)
    worse = [*regressions(before.measures, entry.measures, words=words), *compute_regressions(before.compute, compute)]
    changed = [f"{regression.what} {regression.base} -> {regression.now}" for regression in worse]
    changed += [*improvements(before.measures, entry.measures, words), *compute_improvements(before.compute, compute)]
    if changed:
        yield f"changed in the baseline: {'; '.join(changed)}"


class _Listing:
    """The choice of the findings to list: the first findings of each code and level. Further findings are only counted."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._numbers: Counter[tuple[str, str]] = Counter()

    def takes(self, code: str, level: str) -> bool:
        self._numbers[code, level] += 1
        return self._numbers[code, level] <= self._most

    def of(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        return (finding for finding in findings if self.takes(finding.code, finding.level))

    @property
    def left_out(self) -> int:
        return sum([max(number - self._most, 0) for number in self._numbers.values()])


def judge(
    key: EntryKey,
    path: str,
    run: Run,
    model: Model,
    entry: Entry | None,
    budgets: Budgets,
    update_command: str = "",
    most: int | None = None,
) -> Case:
    """Compare a run with the budgets, and with the baseline entry if there is one.

    ``update_command`` is the command that accepts the current result, for notes. ``most`` is the number of findings to list for
    each code, if it is below the limit. At least one is listed.
    """
    limit = raised(_MOST_LISTED)
    listing = _Listing(limit if most is None else max(min(most, limit), 1))
    target = run.target
    now = measure(run)
    compute = compute_of(run).totals
    case = Case(
        key.model,
        path,
        *identity_of(key.target, run.target),
        PASSED,
        measures=now,
        log_lines=run.log_lines,
        sha256=model.sha256,
        rule_set=rule_set_version(target.delegate),
        compute=compute,
        strip=run_lengths(run),
    )
    if entry is not None:
        case = _against_baseline(case, run, model, entry, now, compute, budgets, update_command, listing)
        if changed := _target_changes(target, entry):
            case = replace(case, notes=(f"the target changed since the baseline: {', '.join(changed)}", *case.notes))
    further = (
        *listing.of(_not_running(run, now, entry)),
        *listing.of(_expected_idle(run, now, compute, entry)),
        *_over_budget(run, now, compute, budgets, listing),
        *listing.of(risk_findings(run)),
        *([missing_weights(variables)] if (variables := unassigned_variables(model)) else []),
    )
    left_out = {"more finding": listing.left_out, "more change": max(len(case.changes) - limit, 0)}
    notes = [f"{counted(count, what)} left out{how_to_raise()}" for what, count in left_out.items() if count]
    return replace(
        case,
        status=FAILED if any(finding.level == ERROR for finding in further) else case.status,
        findings=(*case.findings, *further),
        changes=case.changes[:limit],
        notes=(*case.notes, *notes),
    )


def _not_running(run: Run, now: Measures, entry: Entry | None) -> Iterator[Finding]:
    """Yield a finding if the model does not run.

    Without a baseline entry, the finding is an error. If the model does not run according to the entry either, the finding is a
    warning. If the model runs according to the entry, yield nothing: the comparison with the baseline yields this finding.
    """
    is_agreed = entry is not None and entry.measures.outcome in NOT_RUNNING
    if run.refusal is None or now.outcome not in NOT_RUNNING or not (is_agreed or entry is None):
        return
    place = node_location(run.subgraphs[run.refusal.subgraph], run.refusal.node)
    message = f"the model does not run ({now.outcome}): {run.refusal.message}"
    yield Finding(run.refusal.code, WARNING if is_agreed else ERROR, message, run.refusal.hint, place)


def _expected_idle(run: Run, now: Measures, compute: ComputeTotals, entry: Entry | None) -> Iterator[Finding]:
    if entry is None or now.outcome in NOT_RUNNING or not now.nodes:
        return
    is_same_outcome = (now.outcome == TAKEN) == (entry.measures.outcome == TAKEN)
    if is_same_outcome and _is_idle(now, compute) and _is_idle(entry.measures, entry.compute):
        verdict = short_verdict(run.target, now, compute.delegated_multiply_adds, compute.multiply_adds, run.refusal)
        why = f": {run.refusal.message}" if run.refusal is not None else ""
        yield Finding("no-work-delegated", NOTE, f"{verdict} (the baseline expects that){why}")


def _is_idle(measures: Measures, compute: ComputeTotals | None) -> bool:
    has_no_work = compute is not None and compute.multiply_adds > 0 and not compute.delegated_multiply_adds
    return measures.outcome != TAKEN or has_no_work


def _against_baseline(
    case: Case,
    run: Run,
    model: Model,
    entry: Entry,
    now: Measures,
    compute: ComputeTotals,
    budgets: Budgets,
    update_command: str,
    listing: _Listing,
) -> Case:
    words = words_of(case.delegate)
    same_model = entry.sha256 == model.sha256
    if same_model:
        matching = Matching(
            tuple([{index: index for index in range(len(subgraph.graph.nodes))} for subgraph in run.subgraphs]), ()
        )
    else:
        matching = compare_outlines(entry.subgraphs, outline(model))
    fell_back = not all(is_new for _, _, _, is_new in _newly_on_cpu(run, entry, matching))
    worse = [
        *regressions(entry.measures, now, budgets.tolerance, words, fell_back=fell_back),
        *compute_regressions(entry.compute, compute, budgets.tolerance),
    ]
    worse = [regression for regression in worse if not _is_free(regression, run.delegate, budgets)]
    better = [*improvements(entry.measures, now, words), *compute_improvements(entry.compute, compute)]
    has_more_wrong = (now.wrong_results or 0) > (entry.measures.wrong_results or 0)
    is_better = bool(better) and not has_more_wrong and (not worse or _may_grow(worse, budgets))
    if is_better:
        worse = [replace(regression, is_allowed=True) for regression in worse]
    is_failed = not all(regression.is_allowed for regression in worse)
    fallen = tuple(_fallen(run, entry, matching, ERROR if is_failed else WARNING, listing))
    notes = []
    if (worse or better or fallen) and entry.rule_set != case.rule_set:
        notes.append(_rules_changed(entry, case, same_model))
    if is_failed and not fallen:
        moved = "" if matching.changes else ": only the boundaries between partitions moved"
        notes.append(f"no delegated node fell back {words.back}{moved}")
    risks, risks_now = entry.measures.possibly_wrong_results, now.possibly_wrong_results
    has_other_risks = risks is not None and risks_now is not None and risks != risks_now
    if has_other_risks:
        notes.append(f"possibly wrong results: {risks:,} -> {risks_now:,}")
    if is_better:
        notes.append(f"better than the baseline: {'; '.join(better)}")
        notes.append(f"to keep this improvement: {update_command}")
        if worse:
            notes += [
                f"more {regression.what} alone do not fail a better result; to limit them, set "
                f"{FURTHER_CODES[regression.code].key.replace('_', '-')} in budgets.tolerance"
                for regression in worse
            ]
    elif worse and not is_failed:
        notes.append("worse than the baseline, but within the tolerance")
    elif not worse and now.delegated_share < entry.measures.delegated_share:
        fewer = f"{entry.measures.nodes:,} -> {now.nodes:,}"
        notes.append(f"the delegated share is smaller only because the model has fewer nodes ({fewer})")
    elif not worse and not same_model and not has_other_risks:
        notes.append("the model changed since the baseline, but the result is the same")
    if is_failed:
        notes.append(f"to accept this result: {update_command}")
    return replace(
        case,
        status=FAILED if is_failed else BETTER if is_better else PASSED,
        findings=(*fallen, *listing.of([_regression_finding(regression, is_cause=not fallen) for regression in worse])),
        notes=tuple(notes),
        baseline=entry.measures,
        baseline_compute=entry.compute,
        changes=matching.changes,
    )


def _is_free(regression: Regression, delegate: Delegate, budgets: Budgets) -> bool:
    """Return whether a measure costs nothing: boundary bytes without a tolerance, if no bytes move to another processor."""
    return delegate.computes_on_cpu and _may_grow([regression], budgets)


def _may_grow(worse: Sequence[Regression], budgets: Budgets) -> bool:
    """Return whether only further measures such as boundary bytes are worse, and their tolerance is not set.

    A delegate that takes more nodes often passes more bytes, so more bytes do not fail a result that is better otherwise.
    """
    columns = [FURTHER_CODES.get(regression.code) for regression in worse]
    return all(column is not None and getattr(budgets.tolerance, column.key) is None for column in columns)


def _target_changes(target: Target, entry: Entry) -> list[str]:
    then = {"delegate": entry.delegate, "runtime": entry.runtime, "defaults": entry.defaults, **entry.options}
    now = {
        "delegate": target.delegate.name,
        "runtime": str(target.release),
        "defaults": target.defaults,
        **option_values(target.options),
    }
    changed = [name for name in now if name in then and then[name] != now[name]]
    return [f"{option_as_typed(target.delegate.options, name)} {then[name]} -> {now[name]}" for name in changed]


def _rules_changed(entry: Entry, case: Case, same_model: bool) -> str:
    versions = f"delegate-sim {entry.tool}, rule set {entry.rule_set} -> delegate-sim {__version__}, rule set {case.rule_set}"
    if same_model:
        return f"the model is the same as in the baseline, but the rules of delegate-sim changed ({versions})"
    return f"the model and the rules of delegate-sim changed ({versions})"


def _regression_finding(regression: Regression, *, is_cause: bool) -> Finding:
    """Return a finding about a measure. It is a note if nodes that fell back are the cause, and have findings of their own."""
    allowed = f" (allowed: {regression.limit})" if regression.limit != regression.base else ""
    message = f"{regression.what}: {regression.base} -> {regression.now}{allowed}"
    return Finding(regression.code, ERROR if is_cause and not regression.is_allowed else NOTE, message)


def _fallen(run: Run, entry: Entry, matching: Matching, level: str, listing: _Listing) -> Iterator[Finding]:
    """Yield a finding for each node that fell back to the CPU. A refusal of the whole graph is one finding for all nodes."""
    changes = _changes_by_node(matching)
    ranks = Ranks(run, compute_of(run))
    with_graph = 0
    words = words_of(run.delegate.name)
    for subgraph, index, reasons, is_new in _newly_on_cpu(run, entry, matching):
        if run.refusal is not None and code_of(reasons) == run.refusal.code:
            with_graph += 1
            continue
        if not listing.takes(code_of(reasons), level):
            continue
        outcome = f"is new and stays {words.left}" if is_new else f"fell back {words.back}"
        changed = _changed(changes.get((subgraph.graph.index, index), ()))
        yield node_finding(code_of(reasons), level, outcome, subgraph, index, reasons, changed, ranks)
    refusal = run.refusal
    now = measure(run).outcome
    is_worse = with_graph or (now in NOT_RUNNING and entry.measures.outcome not in NOT_RUNNING)
    if refusal is not None and is_worse:
        more = f"; {with_graph:,} {'node falls' if with_graph == 1 else 'nodes fall'} back for this reason" if with_graph else ""
        if refusal.node is not None:
            changed = _changed(changes.get((refusal.subgraph, refusal.node), ()))
            more += f" (changed: {changed})" if changed else ""
        place = node_location(run.subgraphs[refusal.subgraph], refusal.node)
        yield from listing.of([Finding(refusal.code, level, f"{refusal.message}{more}", refusal.hint, place)])


def _newly_on_cpu(run: Run, entry: Entry, matching: Matching) -> Iterator[tuple[SubgraphRun, int, tuple[Reason, ...], bool]]:
    """Yield each CPU node that was not a CPU node in the baseline.

    With the node, yield the reasons, and whether the node is new in the model.
    """
    before = entry.on_cpu
    for subgraph, index, reasons in on_cpu(run):
        old = matching.old_of[subgraph.graph.index].get(index)
        if old is None or (entry.measures.is_delegated and old not in before[subgraph.graph.index]):
            yield subgraph, index, reasons, old is None


def _changes_by_node(matching: Matching) -> Mapping[tuple[int, int], Sequence[NodeChange]]:
    changes: dict[tuple[int, int], list[NodeChange]] = {}
    for change in matching.changes:
        if change.node is not None and change.old_node is not None:
            changes.setdefault((change.subgraph, change.node), []).append(change)
    return changes


def _changed(changes: Sequence[NodeChange]) -> str:
    return ", ".join([f"{change.what} {change.old} -> {change.new}" for change in changes])


def _over_budget(run: Run, now: Measures, compute: ComputeTotals, budgets: Budgets, listing: _Listing) -> Iterator[Finding]:
    for code, message in exceeded(now, compute, budgets, words_of(run.delegate.name)):
        yield from listing.of([Finding(code, ERROR, message)])
    if budgets.min_multiply_add_share is not None and has_programs(run):
        message = "the file does not have the multiply-adds of compiled programs, so min-multiply-add-share cannot be checked"
        yield from listing.of([Finding("budget-multiply-add-share", ERROR, message)])
    forbidden = frozenset(budgets.forbid_fallback_ops or ())
    if forbidden:
        for subgraph, index, reasons in on_cpu(run):
            if subgraph.graph.nodes[index].op in forbidden and listing.takes("budget-fallback-op", ERROR):
                change = f"stays {words_of(run.delegate.name).left}, which forbid-fallback-ops does not allow"
                yield node_finding("budget-fallback-op", ERROR, change, subgraph, index, reasons)
