"""The request to simulate one model of a scan, and the answer, as plain data that processes can exchange."""

from __future__ import annotations

import functools
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from ..foundation.limits import problem_text
from ..foundation.printable import printable
from ..foundation.work_budget import work_budget
from ..graph.analysis_cache import AnalysisCache
from .schema import LONGEST_TEXT

ScanRow = dict[str, Any]

_GREATEST = (1 << 63) - 1
"""The largest number that columns can store."""


@dataclass(frozen=True, slots=True)
class TargetSpec:
    """A target as plain data for other processes."""

    delegate: str
    options: tuple[tuple[str, Any], ...]
    release: str
    defaults: str
    assume_ops_registered: bool

    @property
    def name(self) -> str:
        """The target in command-line form, without ``--delegate``."""
        parts = [self.delegate, f"--runtime={self.release}"]
        parts += [] if self.defaults == "benchmark" else [f"--defaults={self.defaults}"]
        parts += ["--assume-ops-registered"] if self.assume_ops_registered else []
        return shlex.join([*parts, *[f"--option={name}={_typed(value)}" for name, value in self.options]])


@dataclass(frozen=True, slots=True)
class Job:
    """A model to simulate.

    ``known`` describes the results of earlier scans, keyed by target: the digest of the model file and the version of the rules.
    """

    model: str
    targets: tuple[TargetSpec, ...]
    known: Mapping[str, tuple[str, str]]


class JobAnswer(NamedTuple):
    """The answer for a model: new rows for the tables ``runs`` and ``causes``.

    Only targets that were simulated have new rows. ``is_fault`` is true if one of the rows has an internal error.
    """

    runs: Sequence[ScanRow]
    causes: Sequence[ScanRow]
    is_fault: bool = False


def failed(job: Job, message: str, is_fault: bool = False) -> JobAnswer:
    """Return the answer for a model that cannot be simulated."""
    return JobAnswer([_storable(_failed_row(job.model, spec, message)) for spec in job.targets], (), is_fault)


def stored_name(path: str) -> str:
    """Return the path of a model for storage in the tables of a scan. Unprintable characters are escaped."""
    return printable(path)


def answer(job: Job) -> JobAnswer:
    """Simulate a model on every target.

    A target is skipped if an earlier scan has its result, and neither the model file nor the rules have changed. A model that
    cannot be simulated gets rows with an error. No exception is raised. Each model has its own budget of work.
    """
    with work_budget(is_new=True):
        return _answer(job)


def _answer(job: Job) -> JobAnswer:
    from ..graph.effort import Effort
    from ..model.reader import load
    from ..results.report.rule_set import rule_set_version

    try:
        model = load(job.model)
        sha256 = model.sha256
    except Exception as error:  # a model that fails also gets a row
        return failed(job, *problem_text(error, job.model))
    is_fault = False
    runs: list[ScanRow] = []
    causes: list[ScanRow] = []
    cache = AnalysisCache()
    effort, advice_effort = Effort(model), Effort(model)
    for spec in job.targets:
        target = _target(spec)
        if job.known.get(spec.name) == (sha256, rule_set_version(target.delegate)):
            continue
        try:
            effort.begin_target()
            row, own = _judged(job.model, model, spec, cache, advice_effort)
        except Exception as error:
            message, is_own_fault = problem_text(error, job.model)
            is_fault |= is_own_fault
            row, own = _failed_row(job.model, spec, message, sha256, model.size), []
        runs.append(_storable(row))
        causes += map(_storable, own)
    return JobAnswer(runs, causes, is_fault)


def _storable(row: ScanRow) -> ScanRow:
    """Return a row that every output format can store.

    Text is made printable and cut at a limit, and numbers are limited to 64 bits.
    """
    if len(row.get("delegated_operators") or "") > LONGEST_TEXT:
        row = {**row, "delegated_operators": None}  # a part of the list would not be JSON
    return {name: _stored(value) for name, value in row.items()}


def _stored(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)[:LONGEST_TEXT]
    return max(-_GREATEST, min(value, _GREATEST)) if isinstance(value, int) else value


def _judged(path: str, model: Any, spec: TargetSpec, cache: AnalysisCache, advice_effort: Any) -> tuple[ScanRow, list[ScanRow]]:
    from ..diagnosis.advice.node_advice import advised
    from ..live.live_runs import run_target
    from ..results.report.blockers import summary_of
    from ..results.report.measures import TAKEN
    from ..results.report.rule_set import rule_set_version

    target = _target(spec)
    run = run_target(model, target, cache)
    summary = summary_of(model, run)
    measures = summary.measures
    is_running = measures.outcome == TAKEN
    delegated_multiply_adds = summary.delegated_multiply_adds if is_running else 0
    row = {
        "model": path,
        "target": spec.name,
        "sha256": model.sha256,
        "size": model.size,
        "delegate": spec.delegate,
        "runtime": spec.release,
        "rule_set": rule_set_version(target.delegate),
        "error": None,
        **asdict(measures),
        "delegated_share": measures.delegated_share if is_running else 0.0,
        "multiply_adds": summary.multiply_adds,
        "delegated_multiply_adds": summary.delegated_multiply_adds,
        "multiply_add_share": delegated_multiply_adds / summary.multiply_adds if summary.multiply_adds else None,
        "refusal_code": run.refusal.code if run.refusal else None,
        "refusal": run.refusal.message if run.refusal else None,
        "log_line": run.log_lines[0] if run.log_lines else None,
    }
    operators = Counter(
        [graph.nodes[index].op for graph in [subgraph.graph for subgraph in run.subgraphs] for index in graph.execution_plan]
    )
    causes = list(_cause_rows(path, spec, advised(model, run, effort=advice_effort), operators))
    counts: Counter[str] = Counter()
    for cause in causes:
        counts[cause["operator"]] += cause["nodes"]
    row["delegated_operators"] = json.dumps(sorted(operators - counts))
    return row, causes


def _cause_rows(path: str, spec: TargetSpec, run: Any, operators: Counter[str]) -> Iterator[ScanRow]:
    """Yield a row for each combination of refusal code and operator among the CPU nodes, most multiply-adds first."""
    from ..results.report.multiply_adds import compute_of
    from ..results.report.placement import code_of, on_cpu

    compute = compute_of(run)
    groups: dict[tuple[str, str], ScanRow] = {}
    for subgraph, index, reasons in on_cpu(run):
        op = subgraph.graph.nodes[index].op
        first = reasons[0] if reasons else None
        key = (code_of(reasons), op)
        row = groups.setdefault(
            key,
            {
                "model": path,
                "target": spec.name,
                "code": key[0],
                "problem": run.delegate.kinds[key[0]].problem.value if key[0] in run.delegate.kinds else None,
                "operator": op,
                "nodes": 0,
                "operator_nodes": operators[op],
                "multiply_adds": 0,
                "reason": first.message if first else None,
                "change": (first.hint or None) if first else None,
            },
        )
        row["nodes"] += 1
        row["multiply_adds"] += compute.by_node[subgraph.graph.index].get(index, 0)
    yield from sorted(groups.values(), key=lambda row: (-row["multiply_adds"], -row["nodes"], row["code"], row["operator"]))


def _failed_row(path: str, spec: TargetSpec, message: str, sha256: str | None = None, size: int | None = None) -> ScanRow:
    from ..results.report.rule_set import rule_set_version
    from .schema import RUNS, names

    known = {
        "model": path,
        "target": spec.name,
        "sha256": sha256,
        "size": size,
        "delegate": spec.delegate,
        "runtime": spec.release,
        "rule_set": rule_set_version(_target(spec).delegate),
        "error": message,
    }
    return {name: known.get(name) for name in names(RUNS)}


@functools.cache
def _target(spec: TargetSpec) -> Any:
    from ..delegates.options import parse_options
    from ..delegates.registry import find_live
    from ..releases.catalogue import parse_release
    from ..runtime.target import Target

    delegate = find_live(spec.delegate)
    values = parse_options(delegate.name, delegate.options, dict(spec.options), spec.defaults)
    return Target(delegate, values, parse_release(spec.release), spec.defaults, spec.assume_ops_registered)


def _typed(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, Iterable) and not isinstance(value, str) else str(value)
