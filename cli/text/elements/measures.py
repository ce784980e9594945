"""The measures of a run as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...console.layout import counted, share

if TYPE_CHECKING:
    from delegate_sim.results.report.measures import Measures
    from delegate_sim.results.report.outcome_words import OutcomeWords


def kernels_text(number: int, words: OutcomeWords) -> str:
    """Return the number of delegate kernels, or of partitions to compile, with its noun."""
    return f"{number:,} {words.kernel if number == 1 else words.kernels}"


def nodes_text(measures: Measures, words: OutcomeWords, *, has_share: bool = False) -> str:
    """Return the numbers of delegated (or selected) nodes, partitions and kernels."""
    part = f" ({share(measures.delegated_nodes, measures.nodes)})" if has_share else ""
    return (
        f"{measures.delegated_nodes:,} of {counted(measures.nodes, 'node')} {words.taken}{part}, "
        f"{counted(measures.partitions, 'partition')}, {kernels_text(measures.delegate_kernels, words)}"
    )


def measures_text(measures: Measures, words: OutcomeWords, *, has_share: bool = False) -> str:
    """Return the outcome, and the text of ``nodes_text``."""
    return f"{measures.outcome}: {nodes_text(measures, words, has_share=has_share)}"
