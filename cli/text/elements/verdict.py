"""The verdict on a run in one sentence: the share of nodes and of multiply-adds that a delegate runs, or the failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from delegate_sim.results.report.blockers import main_blocker
from delegate_sim.results.report.measures import (
    FAILS_LATER,
    NONE_FAILS,
    NOT_RUNNING,
    PREDICTED,
    TAKEN,
    Measures,
    measure,
)
from delegate_sim.results.report.multiply_adds import Compute, compute_of
from delegate_sim.results.report.outcome_words import OutcomeWords, words_of
from delegate_sim.results.report.placement import dropped_partitions, placements
from delegate_sim.runtime.interpreter import REFUSED, Run

from ...console.layout import counted, cut, message, name, share
from ...console.terminal import Line
from .paragraphs import paragraph

_STYLE = "bold"
_BAD = "bold red"
_LONGEST_REASON = 240


def verdict_lines(run: Run, width: int) -> list[Line]:
    """Return the verdict as wrapped lines."""
    measures = measure(run)
    style = _STYLE if measures.outcome == TAKEN else _BAD
    return paragraph(verdict(run, measures), width, "", "  ", style=style)


def chain_verdict_lines(runs: Sequence[Run], width: int) -> list[Line]:
    """Return the verdict on the first run of a chain, and the number of nodes that each later requested delegate takes."""
    places = Counter([place for rows in placements(runs) for _, place in rows])
    left = places.total() - places[runs[0].delegate.name]
    lines = verdict_lines(runs[0], width)
    for run in runs[1:]:
        if run.by_default:
            continue
        if run.refusal is not None:
            lines += verdict_lines(run, width)
            continue
        taken = places[run.delegate.name]
        lines += paragraph(
            f"Then {_subject(run)} runs {taken:,} of the {counted(left, 'node')} left", width, "", "  ", style=_STYLE
        )
        left -= taken
    return lines


def verdict(run: Run, measures: Measures | None = None) -> str:
    """Return the verdict on a run as a sentence without a period."""
    measures = measure(run) if measures is None else measures
    subject, outcome = _subject(run), measures.outcome
    reason = "" if run.refusal is None else cut(message(run.refusal.text).rstrip("."), _LONGEST_REASON)
    if outcome in NOT_RUNNING:
        return f"The model does not run{_before_failure(subject, measures)}: {reason}"
    if outcome == PREDICTED:
        return f"{subject} is predicted to reject the model; everything then runs on the CPU, because {reason}"
    if reason:
        verb = "is not applied" if outcome == REFUSED and not run.delegate.is_plugin else "rejects the model"
        return f"{subject} {verb}; everything runs on the CPU, because {reason}"
    words = words_of(run.delegate.name)
    return _shares(run, subject, measures, compute_of(run), words)


def share_text(delegated_nodes: int, nodes: int, multiply_adds: int, total_multiply_adds: int) -> str:
    """Return the shares of nodes and of multiply-adds, such as ``63 % of nodes but 0 % of multiply-adds``."""
    of_nodes = f"{share(delegated_nodes, nodes)} of nodes"
    if not total_multiply_adds:
        return of_nodes
    # "but" points out that far less work than nodes is delegated.
    is_less = 2 * multiply_adds * nodes < delegated_nodes * total_multiply_adds
    return f"{of_nodes} {'but' if is_less else 'and'} {share(multiply_adds, total_multiply_adds)} of multiply-adds"


def _subject(run: Run) -> str:
    """Return the delegate's name for the start of a sentence, with the release of the platform behind it."""
    delegate = run.delegate
    if delegate.is_plugin:
        return f"The plugin {delegate.name}"
    subject = delegate.title or delegate.provider_name
    platform = delegate.behind.platform
    release = None if platform is None else run.options.get(platform.option)
    if platform is None or release in (None, platform.alone):
        return subject
    return f"{subject} on {platform.key.capitalize()} {release}"


def _before_failure(subject: str, measures: Measures) -> str:
    subject = subject.replace("The ", "the ", 1)
    if measures.outcome == FAILS_LATER:
        return f", although {subject} takes {measures.delegated_nodes:,} of {counted(measures.nodes, 'node')}"
    return f", and {subject} takes no node" if measures.outcome == NONE_FAILS else ""


def _shares(run: Run, subject: str, measures: Measures, compute: Compute, words: OutcomeWords) -> str:
    verb = "takes" if run.delegate.is_plugin else "runs"
    nodes, delegated = measures.nodes, measures.delegated_nodes
    kernels = measures.delegate_kernels
    if not nodes:
        return "The model has no nodes"
    if delegated == nodes:
        made = counted(kernels, "partition" if run.delegate.is_plugin else "kernel")
        return f"{subject} {verb} all nodes ({nodes:,}) in {made}"
    if not delegated:
        blocker = main_blocker(run.subgraphs[0].graph.model, run, compute)
        cause = "" if blocker is None or not blocker.op else f", mainly because of {blocker.nodes:,} {name(blocker.op)}"
        return f"{subject} {verb} none of {counted(nodes, 'node')}; everything runs on the CPU{cause}"
    shares = share_text(delegated, nodes, compute.delegated_multiply_adds, compute.multiply_adds)
    return f"{subject} {verb} {shares}; {_staying(run, compute, words)}"


def _staying(run: Run, compute: Compute, words: OutcomeWords) -> str:
    """Name the operator that keeps most work off the delegate, and count the other nodes."""
    nodes, work = Counter[str](), Counter[str]()
    for subgraph in run.subgraphs:
        for index in subgraph.graph.execution_plan:
            if index not in subgraph.delegated:
                op = subgraph.graph.nodes[index].op
                nodes[op] += 1
                work[op] += compute.by_node[subgraph.graph.index].get(index, 0)
    op = max(nodes, key=lambda op: (work[op], nodes[op]))
    others = nodes.total() - nodes[op]
    more = f" and {counted(others, 'other node')}" if others else ""
    limited = sum([len(subset.nodes) for subgraph in run.subgraphs for subset in dropped_partitions(subgraph)])
    why = f", {limited:,} of them because of the limit on partitions" if limited else ""
    verb = "stays" if nodes.total() == 1 else "stay"
    left = "with TFLite's own kernels" if run.delegate.is_applied_by_default else words.left
    return f"{nodes[op]:,} {name(op)}{more} {verb} {left}{why}"
