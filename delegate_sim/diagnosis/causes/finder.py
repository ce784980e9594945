"""Find the causes of a run's refusals: find causes in a run, assume that they are fixed, look at the next run."""

from __future__ import annotations

from dataclasses import replace

from ...graph.effort import Tries
from ...graph.graph import overlapping_nodes
from ...hypothetical.hypothetical_changes import HypotheticalChanges
from ...rules.kinds import Problem
from ..advice.simulated_changes import with_results
from ..advice.surroundings import Others, Surroundings
from ..advice.wording import Wording
from ..examiner import Examiner
from .cause import Blockers, Cause, advised_in_loops
from .change import Advice, feature_change
from .conversion_causes import inputs, types
from .evidence import CauseSearch, EvidenceFinder, SearchState, blockers_of, by_cause, cases_in
from .node_causes import refusals, rest, switches
from .whole_graph_causes import dynamic, guesses, loading, preparation, preparation_again, registration, stages, text

_REPAIRED_AT_LEAST, _REPAIRED_AT_MOST = 2, 16
"""Smallest and largest number of repeated simulations. Large models get fewer simulations than small models.

Each simulation assumes that one more CPU kernel accepts its node.
"""

_TRIED_AT_LEAST, _TRIED_AT_MOST = 2, 512
"""Smallest and largest number of simulations with other operator versions. Large models get fewer than small models."""

_OF_COMPILED: tuple[EvidenceFinder, ...] = (loading, registration, refusals)
"""For a delegate with a compiler, no change of the source model is simulated, because the compiler decides about the nodes."""

_FINDERS: tuple[EvidenceFinder, ...] = (
    loading,
    registration,
    text,
    inputs,
    preparation,
    switches,
    types,
    dynamic,
    preparation_again,
    stages,
    refusals,
)
_REPAIRING = (preparation, preparation_again, guesses)
"""Each of these finders finds one node at a time, so the number of steps is limited."""

_OVERLAPPING = "the causes: a node of the model reads its own result, and LiteRT leaves out such nodes"
"""The reason for which a runtime that keeps such nodes has no causes: the nodes have other indices there."""

_TYPE_FEATURE = "-type"
"""The codes of features that are tensor types have this suffix."""


def find_causes(examiner: Examiner, *, names_others: bool = True) -> Blockers:
    """Group the refusals of a model's CPU nodes into causes, with advice and its simulated results.

    If ``names_others`` is true, all delegates are simulated, and suggestions name other delegates that take the nodes.
    """
    model, effort, simulate = examiner.model, examiner.effort, examiner.simulate
    first = simulate(HypotheticalChanges())
    if first.run.delegate.runs_whole_models and any(map(overlapping_nodes, model.subgraphs)):
        return Blockers((), {}, (_OVERLAPPING,))
    most_repairs = effort.simulations(_REPAIRED_AT_LEAST, _REPAIRED_AT_MOST)
    tries = Tries(effort.simulations(_TRIED_AT_LEAST, _TRIED_AT_MOST), effort)
    search = CauseSearch(model, simulate, effort, first, tries, most_repairs)
    state = SearchState(HypotheticalChanges(), first)
    for find in _OF_COMPILED if search.delegate.compiler else _FINDERS:
        state = _with_causes(find, search, state)
    state = state._replace(evidence=(*state.evidence, *rest(search, state)))
    others = Others(first, effort) if names_others and not search.delegate.runs_whole_models else None
    worded = advised_in_loops(model, _joined(_worded(search, state, others)))
    return with_results(worded, model, first.run.target, simulate, effort)


def _with_causes(find: EvidenceFinder, search: CauseSearch, state: SearchState) -> SearchState:
    """Find causes and assume that they are fixed, until no new cause changes the run."""
    tries = Tries(search.most_repairs, search.effort)
    while find not in _REPAIRING or tries.take():
        then = search.assume(state, find(search, state))
        if then.changes == state.changes:
            return then
        state = then if find is guesses else _with_causes(guesses, search, then)
    return state


def _worded(search: CauseSearch, state: SearchState, others: Others | None) -> Blockers:
    blockers = blockers_of(search.model, state.evidence, search.not_simulated)
    groups = by_cause(state.evidence)
    surroundings = Surroundings(state.run)
    causes = []
    for cause in blockers.causes:
        group = groups[cause.identity]
        wording = Wording(search.model, search.first, state.run, surroundings, cause, cases_in(group), search.effort, others)
        demanding = frozenset().union(*[own.demanding for own in group])
        causes.append(wording.worded(demanding))
    return blockers._replace(causes=tuple(causes))


def _joined(blockers: Blockers) -> Blockers:
    """Merge the cause of a refused version into the cause of the refused rank or type that raised the version.

    The merged cause has the identity of the rank or type, and the codes and versions of both causes. Causes are merged only if
    all nodes with the refused version also have the refused rank or type. A cause whose fix converts the whole model is not
    merged.
    """
    causes = {cause.identity: cause for cause in blockers.causes}
    for version in blockers.causes:
        problem = _raised_by(version)
        if problem is None:
            continue
        hosts = [cause for cause in causes.values() if cause.identity.problem is problem and cause.remedy.accepts]
        host = next((cause for cause in hosts if set(version.nodes) <= set(cause.nodes)), None)
        if host is None:
            continue
        del causes[version.identity]
        remedy = replace(host.remedy, node_versions={**host.node_versions, **version.node_versions})
        codes = tuple(dict.fromkeys([*host.codes, *version.codes]))
        causes[host.identity] = host._replace(codes=codes, remedy=remedy, advice=_advice(host, version))
    causes_of = {key: frozenset([cause for cause in own if cause in causes]) for key, own in blockers.causes_of.items()}
    return blockers._replace(causes=tuple(causes.values()), causes_of=causes_of)


def _advice(host: Cause, version: Cause) -> Advice:
    """Return the advice of a merged cause.

    The advice of ``version`` is more specific than the advice of ``host``, but may not cover all nodes of ``host``.
    """
    if version.identity.subject[-1].isdecimal():
        return host.advice
    if set(version.nodes) == set(host.nodes):
        return replace(host.advice, changes=version.advice.changes)
    added = [feature_change(code, is_continued=True) for code in version.identity.subject]
    return replace(host.advice, changes=(*host.advice.changes, *added))


def _raised_by(cause: Cause) -> Problem | None:
    """Return the kind of the feature that raised a version: rank or type.

    Return None if several features raised the version, or if the feature is not a rank or a type. A version that is too low
    counts as a type, because converters write a higher version only for another type.
    """
    if cause.identity.problem is not Problem.OPERATOR_VERSION or not cause.node_versions:
        return None
    subject = cause.identity.subject
    if subject[-1].isdecimal():
        return Problem.TYPE if min(cause.node_versions.values()) > int(subject[-1]) else None
    if subject == ("high-rank",):
        return Problem.RANK
    return Problem.TYPE if len(subject) == 1 and subject[0].endswith(_TYPE_FEATURE) else None
