"""One change in the advice for a cause, with the simulated result."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ...results.report.outcome_words import words_of
from ..examiner import Cost

WITH_SIZES = "fixed input sizes"
WITH_OTHERS = "the other causes fixed"


@dataclass(frozen=True, slots=True)
class Alternative:
    """A change that may fix a cause.

    ``cost`` is the result of making only this change. If the result is not known, ``cost`` is None and ``unknown`` is the
    reason. If only this change does not help, ``with_others`` may have the result with other fixes, which ``assumed`` names.
    ``helps`` is true if the change improves one of the two results.
    """

    change: str
    """The instructions."""
    name: str
    """A short name."""
    cost: Cost | None
    helps: bool
    conversion: str = ""
    """The key of a hypothetical conversion in ``CONVERSIONS``. Empty if the change is not a conversion."""
    with_others: Cost | None = None
    assumed: str = ""
    """``WITH_SIZES``, ``WITH_OTHERS``, or "" if ``with_others`` is None."""
    unknown: str = ""

    @property
    def result(self) -> str:
        """The result in words. If the result is not known, the reason."""
        if self.cost is None:
            return self.unknown
        words = result_words(self.cost)
        return words if self.with_others is None else f"{words}; with {self.assumed}, {result_words(self.with_others)}"

    @property
    def last_result(self) -> str:
        """The result in words, with the fixes that ``assumed`` names."""
        return self.result if self.with_others is None else result_words(self.with_others)

    @property
    def text(self) -> str:
        """The instructions with the result."""
        return f"{self.change} ({self.result})"

    def to_dict(self) -> dict[str, Any]:
        """Return the alternative as plain data."""
        return {
            "change": self.change,
            "helps": self.helps,
            "unknown": self.unknown,
            "alone": None if self.cost is None else self.cost.to_dict(),
            "with_others": None if self.with_others is None else self.with_others.to_dict(),
        }


IF_TAKEN = "if the delegate takes the new nodes (counted as one node)"

RESULTS: tuple[str, ...] = (
    f"; (does not help|helps only with {WITH_OTHERS}|not simulated|{re.escape(IF_TAKEN)}): .*$",
    "; not simulated$",
    r" \([\d,]+ of [\d,]+ nodes[^()]*\)",
    r" \(not simulated: [^()]*\)",
)
"""Regular expressions that match the results in ``Alternative.text``, and in advice that contains this text."""


def result_words(cost: Cost) -> str:
    """Describe a result in a few words: delegated nodes, multiply-adds, and delegate kernels.

    For a compiler plugin, the text has the selected partitions instead of delegate kernels.
    """
    measures = cost.measures
    text = f"{measures.delegated_nodes:,} of {measures.nodes:,} nodes"
    if not measures.delegated_nodes:
        return text
    text += f" in {words_of(cost.delegate).short_kernels(measures.delegate_kernels)}"
    if cost.total_multiply_adds:
        # The share is rounded down, so that 100 % always means all multiply-adds.
        text += f", {cost.multiply_adds * 1000 // cost.total_multiply_adds / 10:g} % of multiply-adds"
    return text
