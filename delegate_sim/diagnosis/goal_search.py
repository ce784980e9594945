"""Search for the fewest causes to fix to reach a goal: few partitions, few kernels, or many delegated multiply-adds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from ..errors import OptionError
from ..foundation.columns import INTEGER, LIST, NUMBER, OBJECT, YES_OR_NO, Column, Declared, attributes
from ..results.report.measures import Measures
from ..results.report.tables import NOT_SIMULATED
from .causes.cause import SUGGESTION, Cause
from .diagnosis import Diagnosis
from .examiner import Cost, Examiner
from .ranking import fewest

_SETS_TRIED_AT_MOST = 512
_SETS_TRIED_AT_LEAST = 8

PARTITIONS, KERNELS, MULTIPLY_ADDS = "partitions", "kernels", "multiply-adds"
_GOAL = re.compile(rf"(?:({PARTITIONS}|{KERNELS})=)?([1-9][0-9]{{0,8}})|({MULTIPLY_ADDS})=([0-9]{{1,3}}(?:\.[0-9]{{1,30}})?)%?")


@dataclass(frozen=True, slots=True)
class Goal:
    """A limit on partitions or kernels, or the least percentage of delegated multiply-adds.

    At least one node must also be delegated.
    """

    measure: str
    """``partitions``, ``kernels`` or ``multiply-adds``."""
    value: float
    """The largest number of partitions or kernels, or the smallest percentage of delegated multiply-adds."""

    def is_reached(self, cost: Cost) -> bool:
        """Return whether a run reaches the goal. If the model has no multiply-adds, the share of delegated nodes is used."""
        measures = cost.measures
        if not measures.is_delegated:
            return False
        if self.measure == MULTIPLY_ADDS:
            return 100 * cost.multiply_add_share >= self.value
        return (measures.partitions if self.measure == PARTITIONS else measures.delegate_kernels) <= self.value

    def distance(self, cost: Cost) -> tuple[float, ...]:
        """Return a sort key for the distance between a run and the goal. A smaller key means a smaller distance."""
        measures = cost.measures
        if self.measure == MULTIPLY_ADDS:
            return -cost.multiply_add_share, measures.delegate_kernels
        number = measures.partitions if self.measure == PARTITIONS else measures.delegate_kernels
        return math.inf if not measures.is_delegated else number, -measures.delegated_nodes


def parse_goal(text: str) -> Goal:
    """Parse ``N``, ``partitions=N``, ``kernels=N`` or ``multiply-adds=P%``. Raises OptionError for other texts."""
    match = _GOAL.fullmatch(text)
    if match is None or (match[3] and float(match[4]) > 100):
        raise OptionError(f"a goal must be N, partitions=N or kernels=N (N is at least 1), or multiply-adds=P%, not {text!r}")
    return Goal(MULTIPLY_ADDS, float(match[4])) if match[3] else Goal(match[1] or PARTITIONS, int(match[2]))


@dataclass(frozen=True, slots=True)
class Way(Declared):
    """A set of causes to fix to reach the goal, and the result of fixing the set."""

    columns = (
        Column("causes", LIST, parts=(*attributes("name", "title"), SUGGESTION)),
        *(Column("measures", OBJECT), Column("multiply_add_share", NUMBER, source="cost.multiply_add_share")),
    )

    causes: tuple[Cause, ...]
    cost: Cost

    @property
    def measures(self) -> Measures:
        """The measures of the result."""
        return self.cost.measures


_Attempt = Callable[[Sequence[Cause]], Way]
"""A function that simulates the fix of a set of causes."""


@dataclass(frozen=True, slots=True)
class Search(Declared):
    """The smallest sets of causes to fix.

    If ``is_exact`` is true, no smaller set exists. If ``is_exact`` is false, a smaller set may exist, but has at least
    ``at_least`` causes. ``without_all`` is the result of fixing all causes.
    """

    document = "search"
    columns = (
        Column("goal", OBJECT),
        Column("max_partitions", INTEGER, source=lambda own: own.goal.value if own.goal.measure == PARTITIONS else None),
        *(Column("is_exact", YES_OR_NO), *attributes("at_least", "simulations", type=INTEGER)),
        Column("ways", LIST, parts=Way.columns),
        *(Column("causes", INTEGER), Column("without_all", OBJECT, source="without_all.measures"), NOT_SIMULATED),
    )

    goal: Goal
    ways: tuple[Way, ...]
    is_exact: bool
    at_least: int
    simulations: int
    causes: int
    without_all: Cost
    not_simulated: tuple[str, ...] = ()
    """The hypothetical changes that were not tried because of a limit. Each text names the limit."""


def search(diagnosis: Diagnosis, goal: Goal | int) -> Search:
    """Find the smallest sets of causes to fix to reach a goal.

    A number as ``goal`` is the largest number of partitions. The search first tries every single cause, then every set of two
    causes, and so on. If there are too many sets, the search fixes causes one by one. In each step, it fixes the cause that
    brings the result nearest to the goal. If there are also too many causes for single steps, the search fixes all causes. It
    then undoes fixes that the goal does not need. If the goal cannot be reached, ``ways`` is empty.
    """
    aim = goal if isinstance(goal, Goal) else Goal(PARTITIONS, goal)
    examiner = Examiner(diagnosis.model, diagnosis.target, diagnosis.effort)
    causes = tuple(finding.cause for finding in diagnosis.findings)
    tried = 0
    allowed = diagnosis.effort.simulations(_SETS_TRIED_AT_LEAST, _SETS_TRIED_AT_MOST)

    def attempt(chosen: Sequence[Cause]) -> Way:
        nonlocal tried
        tried += 1
        return Way(tuple(chosen), examiner.simulate(diagnosis.blockers.without(chosen)).cost)

    def result(ways: Sequence[Way], is_exact: bool, at_least: int, *left_out: str) -> Search:
        not_simulated = (*diagnosis.not_simulated, *left_out)
        return Search(aim, tuple(ways), is_exact, at_least, tried, len(causes), diagnosis.without_all, not_simulated)

    for size in range(len(causes) + 1):
        if size and tried + comb(len(causes), size) > allowed:
            is_quick = comb(len(causes) + 1, 2) <= allowed
            way = _greedy(causes, attempt, aim) if is_quick else _put_back(causes, attempt, aim, allowed)
            is_exact = way is not None and len(way.causes) <= size
            left_out = () if allowed or is_exact else (f"most sets of causes: {diagnosis.effort.reason}",)
            return result([] if way is None else [way], is_exact, size, *left_out)
        ways = [way for way in map(attempt, combinations(causes, size)) if aim.is_reached(way.cost)]
        if ways:
            ways.sort(key=lambda way: aim.distance(way.cost))
            return result(ways, True, size)
    return result((), True, len(causes) + 1)


def _greedy(causes: Sequence[Cause], attempt: _Attempt, goal: Goal) -> Way | None:
    """Fix causes one by one until the goal is reached. Return None if the goal is not reached."""
    left = list(causes)
    chosen: tuple[Cause, ...] = ()
    while left:
        way = min([attempt([*chosen, cause]) for cause in left], key=lambda way: goal.distance(way.cost))
        chosen = way.causes
        left.remove(chosen[-1])
        if goal.is_reached(way.cost):
            return way
    return None


def _put_back(causes: Sequence[Cause], attempt: _Attempt, goal: Goal, most: int) -> Way | None:
    """Fix all causes, then undo the fixes that the goal does not need. Return None if the goal is not reached.

    ``most`` is the largest number of sets to try. Fixes with the smallest improvement are undone first.
    """
    way, tried = attempt(causes), 1
    if not goal.is_reached(way.cost):
        return None

    def are_enough(fewer: Sequence[Cause]) -> bool:
        nonlocal way, tried
        then, tried = attempt(fewer), tried + 1
        if goal.is_reached(then.cost):
            way = then
        return way is then

    fewest(list(causes), are_enough, lambda: tried >= most)
    return way
