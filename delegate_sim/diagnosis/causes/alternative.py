"""One change that the advice for a cause offers, with its simulated result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..examiner import Cost


@dataclass(frozen=True, slots=True)
class Alternative:
    """A change that may fix a cause.

    ``cost`` is the result of making only this change (after the changes in ``condition``, if that is not empty); None if the
    result is not known, for the reason in ``unknown``. ``helps`` is true if the result is better than without the change.
    """

    change: str
    """The instructions."""
    name: str
    """A short name."""
    cost: Cost | None
    helps: bool
    condition: str = ""
    unknown: str = ""

    @property
    def result(self) -> str:
        """The result in words."""
        if self.cost is None:
            return self.unknown
        return f"{self.condition}: {result_words(self.cost)}" if self.condition else result_words(self.cost)

    @property
    def text(self) -> str:
        """The instructions with the result."""
        return f"{self.change} ({self.result})"

    def to_dict(self) -> dict[str, Any]:
        """Return the alternative as plain data."""
        cost = self.cost
        return {
            "change": self.change,
            "helps": self.helps,
            "condition": self.condition,
            "unknown": self.unknown,
            "delegated_nodes": None if cost is None else cost.measures.delegated_nodes,
            "nodes": None if cost is None else cost.measures.nodes,
            "delegate_kernels": None if cost is None else cost.measures.delegate_kernels,
            "multiply_adds": None if cost is None else cost.multiply_adds,
            "total_multiply_adds": None if cost is None else cost.total_multiply_adds,
        }


def result_words(cost: Cost) -> str:
    """Describe a result in a few words: delegated nodes, kernels and multiply-adds."""
    measures = cost.measures
    text = f"{measures.delegated_nodes:,} of {measures.nodes:,} nodes"
    if not measures.delegated_nodes:
        return text
    text += f" in {measures.delegate_kernels:,} {'kernel' if measures.delegate_kernels == 1 else 'kernels'}"
    if cost.total_multiply_adds:
        # Rounded down, so that 100 % always means all.
        text += f", {cost.multiply_adds * 1000 // cost.total_multiply_adds / 10:g} % of multiply-adds"
    return text
