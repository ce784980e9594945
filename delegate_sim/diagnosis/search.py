"""The fewest causes whose removal would bring the number of partitions down to a limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from ..results.measures import Measures, measure
from .causes import Cause
from .diagnose import Diagnosis, Examiner

_SETS_TRIED_AT_MOST = 512


@dataclass(frozen=True)
class Way:
    """Causes whose removal brings partitions down to at most the limit, and the result."""

    causes: tuple[Cause, ...]
    measures: Measures


@dataclass(frozen=True)
class Search:
    """The smallest sets of causes to remove.

    ``is_exact`` says that there is no smaller one; otherwise ``at_least`` is how many causes any set must have.
    """

    limit: int
    ways: tuple[Way, ...]
    is_exact: bool
    at_least: int
    simulations: int


def search(diagnosis: Diagnosis, limit: int) -> Search:
    """Find the smallest sets of causes whose removal leaves at most ``limit`` partitions with something delegated.

    All sets of one, two, three and so on causes are tried as long as there are not too many; after that, causes are removed one
    by one, each time the one that leaves the fewest partitions. The ways are empty if there is no such set.
    """
    examiner = Examiner(diagnosis.model, diagnosis.target)
    causes = tuple(finding.cause for finding in diagnosis.findings)
    tried = 0

    def attempt(chosen: Sequence[Cause]) -> Measures:
        return measure(examiner.run_without(diagnosis.blockers, chosen))

    def is_enough(measures: Measures) -> bool:
        return measures.is_delegated and measures.partitions <= limit

    for size in range(len(causes) + 1):
        if size and tried + comb(len(causes), size) > _SETS_TRIED_AT_MOST:
            return _greedy(causes, attempt, is_enough, limit, size, tried)
        ways = []
        for chosen in combinations(causes, size):
            tried += 1
            measures = attempt(chosen)
            if is_enough(measures):
                ways.append(Way(chosen, measures))
        if ways:
            ways.sort(key=lambda way: (way.measures.partitions, -way.measures.delegated_nodes))
            return Search(limit, tuple(ways), True, size, tried)
    return Search(limit, (), True, len(causes) + 1, tried)


def _greedy(
    causes: Sequence[Cause],
    attempt: Callable[[Sequence[Cause]], Measures],
    is_enough: Callable[[Measures], bool],
    limit: int,
    at_least: int,
    tried: int,
) -> Search:
    chosen: list[Cause] = []
    left = list(causes)
    while left:
        measured = [(attempt([*chosen, cause]), cause) for cause in left]
        tried += len(measured)
        measures, best = min(measured, key=lambda pair: (not pair[0].is_delegated, pair[0].partitions, -pair[0].delegated_nodes))
        chosen.append(best)
        left.remove(best)
        if is_enough(measures):
            return Search(limit, (Way(tuple(chosen), measures),), len(chosen) <= at_least, at_least, tried)
    return Search(limit, (), False, at_least, tried)
