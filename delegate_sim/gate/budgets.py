"""Budgets: absolute limits, and limits on how much worse than the baseline a result may be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import TypeVar

from ..foundation.printable import counted, percentages
from ..results.report.measures import FURTHER, NOT_RUNNING, NUMBERS, OUTCOMES, TAKEN, Measures, outcome_text
from ..results.report.multiply_adds import ComputeTotals
from ..results.report.outcome_words import DELEGATED, OutcomeWords


@dataclass(frozen=True, slots=True)
class Allowance:
    """The allowed increase of a count: the larger of a number and a share of the old count (0.1 for 10%)."""

    number: int = 0
    share: float = 0.0

    def limit(self, base: int) -> int:
        """Return the highest allowed count."""
        return base + max(self.number, int(base * self.share))


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The largest tolerated worsening of each measure, or None if the measure must not get worse."""

    partitions: Allowance | None = None
    delegate_kernels: Allowance | None = None
    fallback_nodes: Allowance | None = None
    delegated_share: float | None = None
    border_bytes: Allowance | None = None
    multiply_add_share: float | None = None
    wrong_results: Allowance | None = None


@dataclass(frozen=True, slots=True)
class Budgets:
    """Limits for a model on a target. None and an empty tuple mean no limit."""

    max_partitions: int | None = None
    min_delegated_share: float | None = None
    max_fallback: int | None = None
    forbid_fallback_ops: tuple[str, ...] | None = None
    tolerance: Tolerance = Tolerance()
    min_multiply_add_share: float | None = None

    def overridden_by(self, other: Budgets) -> Budgets:
        """Return these budgets, with the values that ``other`` sets."""
        return replace(_joined(self, other), tolerance=_joined(self.tolerance, other.tolerance))


@dataclass(frozen=True, slots=True)
class Regression:
    """A measure that is worse than in the baseline. ``limit`` is the worst tolerated value."""

    code: str
    what: str
    base: str
    now: str
    limit: str
    is_allowed: bool


def regressions(
    base: Measures, now: Measures, tolerance: Tolerance = Tolerance(), words: OutcomeWords = DELEGATED, *, fell_back: bool = False
) -> Iterator[Regression]:
    """Yield each measure that is worse than in the baseline.

    Partitions, kernels and bytes are compared only if both runs delegate nodes. If a run delegates no node, these measures are 0,
    which is not an improvement. If no run delegates a node, the nodes on the CPU are not compared, because their number then only
    says how many nodes the model has.

    A smaller share of nodes is worse only if more nodes stay on the CPU, or if ``fell_back`` says that a node fell back to the
    CPU. Otherwise, the model only has fewer nodes.
    """
    rank, base_rank = _RANKS[now.outcome], _RANKS[base.outcome]
    if rank > base_rank:
        before = outcome_text(base.outcome)
        yield Regression("worse-outcome", "outcome", before, outcome_text(now.outcome), before, False)
    for code, title, name, was, count in _counts(base, now, words):
        if count > was:
            limit = (getattr(tolerance, name) or Allowance()).limit(was)
            yield Regression(code, title, f"{was:,}", f"{count:,}", f"{limit:,}", count <= limit)
    if fell_back or now.fallback_nodes > base.fallback_nodes:
        shares = base.delegated_share, now.delegated_share
        yield from _smaller_share("smaller-delegated-share", "delegated share", *shares, tolerance.delegated_share)


def compute_regressions(
    base: ComputeTotals | None, now: ComputeTotals, tolerance: Tolerance = Tolerance()
) -> Iterator[Regression]:
    """Yield a regression if the delegated share of multiply-adds is smaller than in the baseline.

    Yield nothing if the baseline is of an older version and has no multiply-adds. Yield nothing if the model has no
    multiply-adds.
    """
    if base is not None and base.multiply_adds:
        shares = base.delegated_share, now.delegated_share
        yield from _smaller_share("smaller-multiply-add-share", _COMPUTE_TITLE, *shares, tolerance.multiply_add_share)


def compute_improvements(base: ComputeTotals | None, now: ComputeTotals) -> list[str]:
    """If the delegated share of multiply-adds is larger than in the baseline, return the old and the new share as text."""
    if base is None or not now.multiply_adds or now.delegated_share <= base.delegated_share:
        return []
    return [f"{_COMPUTE_TITLE} {' -> '.join(percentages(base.delegated_share, now.delegated_share))}"]


def _smaller_share(code: str, title: str, base: float, now: float, tolerance: float | None) -> Iterator[Regression]:
    if now < base:
        least = max(base - (tolerance or 0.0), 0.0)
        was, share, limit = percentages(base, now, least)
        yield Regression(code, title, was, share, limit, now >= least - _ROUNDING)


def improvements(base: Measures, now: Measures, words: OutcomeWords = DELEGATED) -> list[str]:
    """Return the measures that are better than in the baseline, with old and new values.

    A larger share of nodes is better only if fewer nodes are left to the CPU. Otherwise, the model has more nodes.
    """
    texts = []
    if _RANKS[now.outcome] < _RANKS[base.outcome]:
        texts.append(f"outcome {outcome_text(base.outcome)} -> {outcome_text(now.outcome)}")
    texts += [f"{title} {was:,} -> {count:,}" for _, title, _, was, count in _counts(base, now, words) if count < was]
    if now.delegated_share > base.delegated_share and now.fallback_nodes < base.fallback_nodes:
        texts.append(f"delegated share {' -> '.join(percentages(base.delegated_share, now.delegated_share))}")
    return texts


def exceeded(
    now: Measures, compute: ComputeTotals, budgets: Budgets, words: OutcomeWords = DELEGATED
) -> Iterator[tuple[str, str]]:
    """Yield the code and the message of each exceeded limit. ``judgment`` checks forbidden operators."""
    if budgets.max_partitions is not None and now.partitions > budgets.max_partitions:
        yield "budget-partitions", f"{counted(now.partitions, 'partition')}; max-partitions is {budgets.max_partitions:,}"
    if budgets.max_fallback is not None and now.fallback_nodes > budgets.max_fallback:
        stay = "stays" if now.fallback_nodes == 1 else "stay"
        nodes = f"{counted(now.fallback_nodes, 'node')} {stay} {words.left}"
        yield "budget-fallback", f"{nodes}; max-fallback is {budgets.max_fallback:,}"
    if budgets.min_delegated_share is not None and now.delegated_share < budgets.min_delegated_share - _ROUNDING:
        part, least_part = percentages(now.delegated_share, budgets.min_delegated_share)
        description = f"{now.delegated_nodes:,} of {now.nodes:,} nodes ({part}) are delegated"
        if now.outcome in NOT_RUNNING:
            description = f"the model does not run, which counts as {part} of nodes"
        yield "budget-delegated-share", f"{description}; min-delegated-share is {least_part}"
    least = budgets.min_multiply_add_share
    work = 0.0 if now.outcome in NOT_RUNNING and compute.multiply_adds else compute.delegated_share
    if least is not None and work < least - _ROUNDING:
        part, least_part = percentages(work, least)
        description = f"{part} of multiply-adds are delegated"
        if now.outcome in NOT_RUNNING:
            description = f"the model does not run, which counts as {part} of multiply-adds"
        yield "budget-multiply-add-share", f"{description}; min-multiply-add-share is {least_part}"


_COMPUTE_TITLE = "delegated share of multiply-adds"
_ROUNDING = 1e-9
"""The rounding error allowed in a computed share."""

Values = TypeVar("Values", Budgets, Tolerance)

_RANKS = {**dict.fromkeys(OUTCOMES, 1), TAKEN: 0, **dict.fromkeys(NOT_RUNNING, 2)}
"""The rank of each outcome: 0 if nodes are delegated, 1 if the model runs on the CPU, and 2 if the model does not run."""

FURTHER_CODES = {f"more-{column.key.replace('_', '-')}": column for column in FURTHER if column.better < 0}
"""The further measures by the code of their regression."""
_NUMBER_CODES = {f"more-{column.key.replace('_', '-')}": column for column in NUMBERS if column.better < 0}

MEASURE_CODES = frozenset(
    {
        *("worse-outcome", "more-partitions", "more-delegate-kernels", "more-fallback-nodes", *FURTHER_CODES, *_NUMBER_CODES),
        *("smaller-delegated-share", "smaller-multiply-add-share"),
    }
)
"""The codes of all regressions of measures."""


_NUMBERS = frozenset([column.key for column in _NUMBER_CODES.values()])
"""The counts that are compared even if a run delegates no node."""


def _counts(base: Measures, now: Measures, words: OutcomeWords) -> Iterator[tuple[str, str, str, int, int]]:
    counts = {
        "more-partitions": ("partitions", "partitions"),
        "more-delegate-kernels": (words.kernels, "delegate_kernels"),
        "more-fallback-nodes": (words.left_nodes, "fallback_nodes"),
        **{code: (column.title, column.key) for code, column in (FURTHER_CODES | _NUMBER_CODES).items()},
    }
    for code, (title, name) in counts.items():
        of_runs = any if name == "fallback_nodes" else all
        was, count = getattr(base, name), getattr(now, name)
        is_compared = name in _NUMBERS or of_runs((base.is_delegated, now.is_delegated))
        if is_compared and was is not None and count is not None:
            yield code, title, name, was, count


def _joined(values: Values, other: Values) -> Values:
    overriding = {field.name: getattr(other, field.name) for field in fields(other) if field.name != "tolerance"}
    return replace(values, **{name: value for name, value in overriding.items() if value is not None})
