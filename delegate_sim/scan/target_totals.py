"""Totals of many models on a target, and a verdict on the target in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..delegates.registry import PLUGIN_NAMES
from ..foundation.printable import counted
from ..results.report.measures import TAKEN, Measures
from ..results.report.verdict import best_of_text, share_text, unranked_text

_MOST_IN_WORDS = 3
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

    @property
    def in_part(self) -> int:
        """Number of partly delegated models."""
        return self.models - self.without_answer - self.whole - self.untouched - self.failing

    @classmethod
    def by_target(cls, results: Iterable[tuple[str, Measures, int, int]]) -> dict[str, TargetTotals]:
        """Return the totals of results: target, measures, multiply-adds, and multiply-adds of delegated nodes."""
        totals: dict[str, TargetTotals] = {}
        for target, measures, *work in results:
            totals.setdefault(target, cls()).add(measures.outcome, measures.nodes, measures.delegated_nodes, *work)
        return totals

    def add_unanswered(self) -> None:
        """Add a model that cannot be simulated."""
        self.models += 1
        self.without_answer += 1

    def add(self, outcome: str, nodes: int, delegated_nodes: int, multiply_adds: int, delegated_multiply_adds: int) -> None:
        """Add the result for a model. If the delegate fails, no node of the model is counted as delegated."""
        self.models += 1
        self.nodes += nodes
        self.multiply_adds += multiply_adds
        if outcome not in (TAKEN, "none"):
            self.failing += 1
            return
        self.whole += 0 < nodes == delegated_nodes
        self.untouched += not delegated_nodes
        self.delegated_nodes += delegated_nodes
        self.delegated_multiply_adds += delegated_multiply_adds

    def verdict(self, target: str) -> str:
        """Return the share of the models' work that the target runs, and the number of failed models, in one sentence."""
        shares = share_text(self.delegated_nodes, self.nodes, self.delegated_multiply_adds, self.multiply_adds)
        verb = "takes" if _is_plugin(target) else "runs"
        text = f"{target} {verb} {shares} of {counted(self.models - self.without_answer, 'model')}"
        failures = f"the target fails on {counted(self.failing, 'model')} (everything runs on the CPU, or nothing runs)"
        return f"{text}; {failures}" if self.failing else text

    def _quality(self) -> tuple[float, float]:
        """Return a sort key, larger for better targets: the delegated shares of multiply-adds and of nodes."""
        return self.delegated_multiply_adds / (self.multiply_adds or 1), self.delegated_nodes / (self.nodes or 1)

    @staticmethod
    def verdicts(targets: Mapping[str, TargetTotals]) -> list[str]:
        """Return a sentence for each target. For many targets, return only a sentence for the best target.

        The best target is the one that runs the most multiply-adds. Compiler plugins are ignored if other targets run nodes, and
        are not ranked, because a plugin only selects nodes and does not run them.
        """
        if len(targets) <= _MOST_IN_WORDS:
            return [totals.verdict(target) for target, totals in targets.items()]
        models = counted(max(totals.models - totals.without_answer for totals in targets.values()), "model")
        if not any(totals.delegated_nodes for totals in targets.values()):
            return [f"None of {counted(len(targets), 'target')} runs a node of {models}"]
        plugins = {target: totals for target, totals in targets.items() if _is_plugin(target)}
        others = {target: totals for target, totals in targets.items() if target not in plugins}
        if plugins and not any(totals.delegated_nodes for totals in others.values()):
            (first, totals), *more = plugins.items()
            selected = [(own.delegated_nodes, own.nodes) for own in plugins.values()]
            return [unranked_text(selected, "" if more else totals.verdict(first), are_all=not others, what=f" of {models}")]
        best = max(others, key=lambda target: others[target]._quality())
        return [f"{best_of_text(len(others), are_all=not plugins)}: {others[best].verdict(best)}"]


def _is_plugin(target: str) -> bool:
    return target.partition(" ")[0] in PLUGIN_NAMES
