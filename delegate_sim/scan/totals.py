"""Totals of a scan, totals of many models on a target, and a verdict on the target in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..delegates.base import Delegate
from ..delegates.registry import find_live
from ..delegates.traits import Ranking
from ..foundation.printable import and_list, counted
from ..results.report.coverage import aside_text, ranked_groups, ranking_text, unranked_text
from ..results.report.measures import TAKEN, Measures
from ..results.report.outcome_words import words_of
from ..results.report.verdict import share_text
from .journal import ScanRows
from .schema import MEASURES, NUMBER_COUNTS, RUNS, names

MOST_IN_WORDS = 3
"""The largest number of targets for which every target has its own sentence."""


@dataclass
class TargetTotals:
    """Totals for one target: numbers of models by result, and sums of their measures."""

    models: int = 0
    without_answer: int = 0
    whole: int = 0
    untouched: int = 0
    failing: int = 0
    nodes: int = 0
    delegated_nodes: int = 0
    multiply_adds: int = 0
    delegated_multiply_adds: int = 0
    judged: int = 0
    """Number of models whose numbers are judged by rules."""
    wrong: int = 0
    """Number of models with wrong results."""
    nodes_of_wrong: int = 0
    """Number of delegated nodes of these models."""
    multiply_adds_of_wrong: int = 0
    """Number of delegated multiply-adds of these models."""
    possibly_wrong: int = 0
    """Number of further models with results that may be wrong."""

    @property
    def in_part(self) -> int:
        """Number of partly delegated models."""
        return self.models - self.without_answer - self.whole - self.untouched - self.failing

    @classmethod
    def by_target(cls, results: Iterable[tuple[str, Measures, int, int]]) -> dict[str, TargetTotals]:
        """Return the totals of results: target, measures, multiply-adds, and multiply-adds of delegated nodes."""
        totals: dict[str, TargetTotals] = {}
        for target, measures, total, delegated in results:
            own = totals.setdefault(target, cls())
            numbers = measures.wrong_results, measures.possibly_wrong_results
            own.add(measures.outcome, measures.nodes, measures.delegated_nodes, total, delegated, *numbers)
        return totals

    def add_unanswered(self) -> None:
        """Add a model that cannot be simulated."""
        self.models += 1
        self.without_answer += 1

    def add(
        self,
        outcome: str,
        nodes: int,
        delegated_nodes: int,
        multiply_adds: int,
        delegated_multiply_adds: int,
        wrong_results: int | None = None,
        possibly_wrong_results: int | None = None,
    ) -> None:
        """Add the result for a model. If the delegate fails, no node of the model is counted as delegated.

        The numbers of wrong results are None if the delegate has no rules for numbers.
        """
        self.models += 1
        self.nodes += nodes
        self.multiply_adds += multiply_adds
        self.judged += wrong_results is not None
        if outcome not in (TAKEN, "none"):
            self.failing += 1
            return
        self.whole += 0 < nodes == delegated_nodes
        self.untouched += not delegated_nodes
        self.delegated_nodes += delegated_nodes
        self.delegated_multiply_adds += delegated_multiply_adds
        self.possibly_wrong += bool(possibly_wrong_results and not wrong_results)
        if wrong_results:
            self.wrong += 1
            self.nodes_of_wrong += delegated_nodes
            self.multiply_adds_of_wrong += delegated_multiply_adds

    def verdict(self, *targets: str) -> str:
        """Return the share of the models' work that each of the targets runs, and the number of failed models."""
        shares = share_text(self.delegated_nodes, self.nodes, self.delegated_multiply_adds, self.multiply_adds)
        verb = words_of(targets[0].partition(" ")[0]).verb
        models = counted(self.models - self.without_answer, "model")
        text = f"{and_list(targets)} {verb.removesuffix('s') if len(targets) > 1 else verb} {shares} of {models}"
        fails = "each target fails" if len(targets) > 1 else "the target fails"
        failures = f"{fails} on {counted(self.failing, 'model')} (everything runs on the CPU, or nothing runs)"
        notes = [*([failures] if self.failing else []), *self._uncompiled(targets), *self._numbers(len(targets) > 1)]
        return "; ".join([text, *notes])

    def _uncompiled(self, targets: Sequence[str]) -> Iterator[str]:
        compilers = dict.fromkeys([compiler for target in targets if (compiler := _delegate_of(target).compiler)])
        if self.untouched:
            models = counted(self.untouched, "model")
            verb = "is" if self.untouched == 1 else "are"
            yield from [f"{models} {verb} not compiled with {compiler} yet, which is not simulated" for compiler in compilers]

    def _numbers(self, is_each: bool) -> Iterator[str]:
        actor = "each target" if is_each else "the target"
        if self.wrong:
            yield f"{actor} computes parts of {counted(self.wrong, 'model')} wrongly"
        if self.possibly_wrong:
            yield f"{actor} may compute parts of {counted(self.possibly_wrong, 'model')} wrongly"

    def _quality(self) -> tuple[float, float, int, int, int]:
        """Return a sort key, larger for better targets: shares of multiply-adds and nodes, failures, wrong models.

        Models with wrong results do not count in the shares.
        """
        right = self.delegated_multiply_adds - self.multiply_adds_of_wrong, self.delegated_nodes - self.nodes_of_wrong
        shares = right[0] / (self.multiply_adds or 1), right[1] / (self.nodes or 1)
        return *shares, -self.failing, -self.wrong, -self.possibly_wrong

    @staticmethod
    def verdicts(targets: Mapping[str, TargetTotals]) -> list[str]:
        """Return a sentence for each target. For many targets, return only a sentence for the best target.

        The best targets are those that run the most multiply-adds. Deprecated targets are ranked only if no other target runs
        nodes, or with the same shares as the best of the others. XNNPACK is the CPU, and compiler plugins only select nodes, so
        both are ranked only if no other target runs nodes. A runtime that runs whole models has no sentence.
        """
        targets = {name: own for name, own in targets.items() if words_of(name.partition(" ")[0]).has_parts}
        if len(targets) <= MOST_IN_WORDS:
            return [totals.verdict(target) for target, totals in targets.items()]
        models = counted(max(totals.models - totals.without_answer for totals in targets.values()), "model")
        if not any(totals.delegated_nodes for totals in targets.values()):
            return [f"None of {counted(len(targets), 'target')} runs a node of {models}"]
        groups = [{target: targets[target] for target in group} for group in ranked_groups(list(targets), _delegate_of)]
        place = next(place for place, group in enumerate(groups) if any(own.delegated_nodes for own in group.values()))
        ranked = groups[place]
        (first, totals), *more = ranked.items()
        if _delegate_of(first).ranking is Ranking.PLUGINS:
            selected = [(own.delegated_nodes, own.nodes) for own in ranked.values()]
            text = "" if more else totals.verdict(first)
            return [unranked_text(selected, text, are_all=len(groups) == 1, what=f" of {models}")]
        current = [own for target, own in ranked.items() if own.delegated_nodes and not _delegate_of(target).deprecated]
        best = max(own._quality() for own in current or ranked.values())
        leaders = [target for target, totals in ranked.items() if totals._quality() == best]
        ahead = {target: _delegate_of(target).deprecated for target, own in ranked.items() if own._quality()[:2] > best[:2]}
        ranking = ""
        if place:
            several = len(groups[0]) > 1
            ranking = (
                f"None of {len(groups[0]):,} accelerators runs a node. " if several else f"{next(iter(groups[0]))} runs no node. "
            )
        is_whole = ranked[leaders[0]].whole == ranked[leaders[0]].models
        ranking = ranking or ranking_text(len(ranked) - len(ahead), len(leaders), "all models" if is_whole else "")
        further = [f"{target} (deprecated {since}, takes more)" for target, since in ahead.items()]
        aside = aside_text([_delegate_of(name) for group in groups[place + 1 :] for name in group], further)
        return [f"{ranking}{ranked[leaders[0]].verdict(*leaders)}{aside}"]


def _delegate_of(target: str) -> Delegate:
    return find_live(target.partition(" ")[0])


_MOST_ERRORS = 5


class Totals:
    """Totals of the rows of ``runs`` that pass through ``count``. The rows are not kept."""

    def __init__(self) -> None:
        self.rows = 0
        self.models = 0
        self.targets: dict[str, TargetTotals] = {}
        self.failed_models = 0
        self.errors: list[str] = []
        """The errors of the first few failed models."""

    def count(self, rows: ScanRows) -> Iterator[tuple[Any, ...]]:
        """Yield the rows unchanged, and add them to the totals. The rows of one model must be consecutive."""
        keys = names(RUNS)
        model = failed = None
        for values in rows:
            row = dict(zip(keys, values, strict=True))
            self.rows += 1
            self.models += row["model"] != model
            model = row["model"]
            if row["error"] and model != failed:
                failed = model
                self.failed_models += 1
                self.errors += [row["error"]] if len(self.errors) < _MOST_ERRORS else []
            self._add(row)
            yield values

    def _add(self, row: dict[str, Any]) -> None:
        target = self.targets.setdefault(row["target"], TargetTotals())
        if row["error"]:
            target.add_unanswered()
        else:
            target.add(*[row[key] for key in (*MEASURES, *NUMBER_COUNTS)])
