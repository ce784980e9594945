"""The card of a model: one sentence, one command, and a row for each target with a strip of the execution plan."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import NamedTuple

from ..delegates.devices import in_groups
from ..diagnosis.shared_refusals import SharedRefusal, shared_refusals
from ..model.model import Model
from ..results.report.measures import TAKEN, Measures, measure
from ..results.report.multiply_adds import compute_of
from ..results.report.plan_strip import Lengths, node_state
from ..results.report.verdict import coverage, has_wrong_results, subject, verdict_summary
from ..runtime.interpreter import REFUSED, Run
from ..version import __version__


class CardRow(NamedTuple):
    """The result of one target."""

    label: str
    note: str
    """Since when the delegate is deprecated, or that its nodes are only selected. Empty for most delegates."""
    part: int
    """The delegated multiply-adds. For a model without multiply-adds, and if ``counts_nodes``: the delegated nodes."""
    whole: int
    counts_nodes: bool
    kernels: int
    is_applied: bool
    """Whether nodes run on the delegate in the end."""
    summary: str
    """The main reason why nodes stay on the CPU."""
    lengths: Lengths
    """Groups of consecutive nodes in the same state, in the order of the file."""


class CardGroup(NamedTuple):
    """The targets of one kind of devices. The largest share comes first. Targets with wrong results come after right ones."""

    title: str
    rows: tuple[CardRow, ...]


class CardStop(NamedTuple):
    """A reason that keeps several targets from starting, and the command that mends it with its result for one target."""

    targets: int
    reason: str
    mended: str = ""
    """The target with a simulated result. Empty if no command is known."""
    result: str = ""
    command: str = ""


class Card(NamedTuple):
    """The results of several targets for one model."""

    model: str
    """The name of the model file."""
    nodes: int
    headline: str
    aside: str
    stops: tuple[CardStop, ...]
    groups: tuple[CardGroup, ...]
    runtime: str
    version: str


def card_of(model: Model, runs: Sequence[Run]) -> Card:
    """Return the card of a model. ``runs`` must not be empty."""
    headline, aside = coverage(runs)
    nodes = sum([len(subgraph.graph.execution_plan) for subgraph in runs[0].subgraphs])
    names = [run.delegate.name for run in runs]
    name = "a model given as bytes" if model.path is None else os.path.basename(model.path)
    groups = tuple([_group(title, [runs[place] for place in places]) for title, places in in_groups(names)])
    stops = tuple(map(_stop, shared_refusals(model, runs)))
    return Card(name, nodes, headline, aside, stops, groups, str(runs[0].release), __version__)


def _group(title: str, runs: Sequence[Run]) -> CardGroup:
    rows = [(has_wrong_results(run), _row(run)) for run in runs]
    rows.sort(key=lambda pair: (not pair[1].is_applied, pair[0], -pair[1].part * 1000 // max(pair[1].whole, 1)))
    return CardGroup(title, tuple([row for _, row in rows]))


def _row(run: Run) -> CardRow:
    measures, compute, delegate = measure(run), compute_of(run), run.delegate
    counts_nodes = not compute.multiply_adds
    part = measures.delegated_nodes if counts_nodes else compute.delegated_multiply_adds
    whole = measures.nodes if counts_nodes else compute.multiply_adds
    is_applied = measures.outcome == TAKEN
    note = f"deprecated {delegate.deprecated}" if delegate.deprecated else "selected, not compiled" if delegate.is_plugin else ""
    label = delegate.name if delegate.is_plugin else subject(run.target, with_own_release=False).removeprefix("The ")
    kernels = measures.delegate_kernels if is_applied else 0
    summary, lengths = _summary(run, measures), _lengths(run)
    return CardRow(label, note, part if is_applied else 0, whole, counts_nodes, kernels, is_applied, summary, lengths)


def _stop(shared: SharedRefusal) -> CardStop:
    if shared.fix is None:
        return CardStop(len(shared.runs), shared.title)
    return CardStop(len(shared.runs), shared.title, subject(shared.fix.run.target), shared.fix.fix.result, shared.fix.command)


def _summary(run: Run, measures: Measures) -> str:
    refusal = run.refusal
    if run.outcome == REFUSED and run.is_prepared and refusal is not None and refusal.code in run.delegate.kinds:
        return f"is not applied: {run.delegate.kinds[refusal.code].title}"
    return verdict_summary(run, measures)


def _lengths(run: Run) -> Lengths:
    """Group consecutive nodes in the same state, in the order of the file, so that the strips of all targets align."""
    states = [node_state(subgraph, index) for subgraph in run.subgraphs for index in subgraph.graph.execution_plan]
    return tuple([(state, len(list(members))) for state, members in itertools.groupby(states)])
