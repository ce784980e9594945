"""The request to simulate one model of a scan, and the answer, as plain data that processes can exchange."""

from __future__ import annotations

import functools
import itertools
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..delegates.options import parse_options
from ..delegates.registry import find_live
from ..foundation.columns import entry
from ..foundation.limits import problem_text
from ..foundation.printable import printable
from ..foundation.work_budget import work_budget
from ..graph.analysis_cache import AnalysisCache
from ..graph.effort import Effort
from ..model.model import Model
from ..model.reader import load
from ..results.report import rule_set
from ..results.report.blockers import summary_of
from ..results.report.measures import TAKEN
from ..results.report.multiply_adds import compute_of
from ..results.report.number_risks import number_risks
from ..results.report.placement import code_of, on_cpu
from ..runtime.target import Target
from .schema import CAUSES, LONGEST_TEXT, RUN_COLUMNS, names

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


@dataclass(frozen=True, slots=True)
class _Result:
    model: str
    spec: TargetSpec
    sha256: str | None = None
    size: int | None = None
    error: str | None = None
    run: Any = None
    summary: Any = None
    delegated_operators: str | None = None
    number_codes: str | None = None

    @property
    def rule_set(self) -> str:
        return rule_set.rule_set_version(_target(self.spec).delegate)

    @property
    def multiply_add_share(self) -> float | None:
        if self.summary is None or not self.summary.multiply_adds:
            return None
        is_running = self.summary.measures.outcome == TAKEN
        return self.summary.delegated_multiply_adds / self.summary.multiply_adds if is_running else 0.0

    @property
    def row(self) -> ScanRow:
        return entry(RUN_COLUMNS, self)


def failed(job: Job, message: str, is_fault: bool = False) -> JobAnswer:
    """Return the answer for a model that cannot be simulated."""
    return JobAnswer([_storable(_Result(job.model, spec, error=message).row) for spec in job.targets], (), is_fault)


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
        if job.known.get(spec.name) == (sha256, rule_set.rule_set_version(target.delegate)):
            continue
        try:
            effort.begin_target()
            row, own = _judged(job.model, model, spec, cache, advice_effort)
        except Exception as error:
            message, is_own_fault = problem_text(error, job.model)
            is_fault |= is_own_fault
            row, own = _Result(job.model, spec, sha256, model.size, message).row, []
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


def _judged(
    path: str, model: Model, spec: TargetSpec, cache: AnalysisCache, advice_effort: Effort
) -> tuple[ScanRow, list[ScanRow]]:
    from ..diagnosis.advice.node_advice import advised
    from ..live.live_runs import run_target

    run = run_target(model, _target(spec), cache)
    summary = summary_of(model, run)
    operators = Counter(
        [graph.nodes[index].op for graph in [subgraph.graph for subgraph in run.subgraphs] for index in graph.execution_plan]
    )
    causes = list(_cause_rows(path, spec, advised(model, run, effort=advice_effort), operators))
    counts: Counter[str] = Counter()
    for cause in causes:
        counts[cause["operator"]] += cause["nodes"]
    delegated = json.dumps(sorted(operators - counts))
    codes = sorted({risk.refusal.code for risk in number_risks(run)})
    numbers = json.dumps(codes) if run.delegate.has_number_rules else None
    result = _Result(path, spec, model.sha256, model.size, None, run, summary, delegated, numbers)
    return result.row, causes


def _cause_rows(path: str, spec: TargetSpec, run: Any, operators: Counter[str]) -> Iterator[ScanRow]:
    compute = compute_of(run)
    groups: dict[tuple[str, str], ScanRow] = {}
    for subgraph, index, reasons in on_cpu(run):
        op = subgraph.graph.nodes[index].op
        code = code_of(reasons)
        problem = run.delegate.kinds[code].problem.value if code in run.delegate.kinds else None
        texts = (reasons[0].message, reasons[0].hint or None) if reasons else (None, None)
        values = (path, spec.name, code, problem, op, 0, operators[op], 0, *texts)
        row = groups.setdefault((code, op), dict(zip(names(CAUSES), values, strict=True)))
        row["nodes"] += 1
        row["multiply_adds"] += compute.by_node[subgraph.graph.index].get(index, 0)
    yield from sorted(groups.values(), key=lambda row: (-row["multiply_adds"], -row["nodes"], row["code"], row["operator"]))


@functools.cache
def _target(spec: TargetSpec) -> Target:
    delegate = find_live(spec.delegate)
    values = parse_options(delegate.name, delegate.options, dict(spec.options), spec.defaults)
    return Target(delegate, values, delegate.release_of(spec.release), spec.defaults, spec.assume_ops_registered)


def _typed(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, Iterable) and not isinstance(value, str) else str(value)


_MOST = 8
_FOR_EACH_WORKER = 16
"""The smallest number of tasks per worker. With many small tasks, all workers finish at about the same time."""

Batch = Sequence[Job]


def batches_of(jobs: Iterable[Job], count: int, workers: int) -> Iterator[Batch]:
    """Group ``count`` jobs into batches. With a single worker, every batch has one job.

    >>> {len(batch) for batch in batches_of([Job("m", (), {})] * 70, 70, 2)}
    {2}
    """
    size = 1 if workers == 1 else max(1, min(_MOST, count // (workers * _FOR_EACH_WORKER)))
    waiting = iter(jobs)
    while batch := list(itertools.islice(waiting, size)):
        yield batch


def answers_to(batch: Batch) -> list[JobAnswer]:
    """Simulate the models of a batch, and return the answers."""
    return [answer(job) for job in batch]
