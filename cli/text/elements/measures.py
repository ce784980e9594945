"""The measures of a run as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from delegate_sim.results.report.measures import FAILS_LATER, NONE_FAILS, NOT_LOADED, NOT_PREPARED, PREDICTED
from delegate_sim.runtime.interpreter import REFUSED

from ...console.layout import counted, share

if TYPE_CHECKING:
    from delegate_sim.results.report.measures import Measures
    from delegate_sim.results.report.outcome_words import OutcomeWords


def kernels_text(number: int, words: OutcomeWords) -> str:
    """Return the number of delegate kernels, or of partitions to compile, with its noun."""
    return f"{number:,} {words.kernel if number == 1 else words.kernels}"


def nodes_text(measures: Measures, words: OutcomeWords, *, has_share: bool = False) -> str:
    """Return the numbers of delegated nodes, partitions and kernels."""
    part = f" ({share(measures.delegated_nodes, measures.nodes)})" if has_share else ""
    return (
        f"{measures.delegated_nodes:,} of {counted(measures.nodes, 'node')} delegated{part}, "
        f"{counted(measures.partitions, 'partition')}, {kernels_text(measures.delegate_kernels, words)}"
    )


_FAILURES = {
    "none": "none of {nodes} delegated; everything runs on the CPU",
    REFUSED: "the {actor} is not applied; {if_not_applied} ({nodes})",
    "restored": "the {actor} rejects the model; everything runs on the CPU ({nodes})",
    PREDICTED: "the {actor} is predicted to reject the model; everything then runs on the CPU ({nodes})",
    FAILS_LATER: "the model does not run, although the {actor} takes {delegated} of {nodes}",
    NONE_FAILS: "the model does not run, and the {actor} takes no node",
    NOT_PREPARED: "the model does not run: its CPU kernels cannot be prepared",
    NOT_LOADED: "the model does not run: the runtime does not load it",
}


def measures_text(measures: Measures, words: OutcomeWords, *, has_share: bool = False) -> str:
    """Return the text of ``nodes_text``, or a sentence about the failure if no delegated node will run."""
    sentence = _FAILURES.get(measures.outcome) if measures.nodes else None
    if sentence is None:
        return nodes_text(measures, words, has_share=has_share)
    return sentence.format(
        actor=words.actor,
        if_not_applied=words.if_not_applied,
        nodes=counted(measures.nodes, "node"),
        delegated=f"{measures.delegated_nodes:,}",
    )
