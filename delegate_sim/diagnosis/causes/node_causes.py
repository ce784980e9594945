"""Find causes of single nodes: the refusals of one run by rules, drivers, limits and delegate kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...graph.effort import Tries
from ...graph.graph import NodeView
from ...hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey, combined
from ...refusal import Refusal
from ...rules.kinds import DYNAMIC_TENSORS, PARTITION_LIMIT, Problem
from ...rules.rule import Reason
from ...versions.explanation import VersionCause, shared_version, version_cause, versions_to_try
from ..examiner import RefusedNode
from .cause import Identity
from .change import Remedy
from .conversion_causes import form, refusals_removed
from .evidence import CauseSearch, Evidence, FoundEvidence, SearchState, blockers_of, cases_of, view_of
from .whole_graph_causes import reason_of, special_subject

_NOT_CAUSES = frozenset({Problem.NEIGHBORS, Problem.MODEL, Problem.RELEASE})
"""Kinds of problem that do not become causes. They follow from other problems, or concern the whole graph."""

_LEFT_TO_OTHERS = ("control-flow", "application")
"""Subjects that are no cause for a runtime that runs whole models, because it has kernels for them."""

_TRIED = (Problem.OPERATOR_VERSION, Problem.TARGET_LEVEL)
"""Kinds of problem for which the search tries other versions or feature levels, once for each node."""

_OF_SWITCHES = frozenset({Problem.TYPE, Problem.QUANTIZATION})
"""Kinds of problem that an option may remove which has nothing to do with a feature level."""

_OF_QUANTIZATION = frozenset({"asymmetric-quantize-inputs", "hybrid-weights", "int8-type", "int16-type"})
"""Features that a conversion to float removes."""

_OperatorEntry = tuple[str, int]
"""An operator and its version. In a model file, all nodes with the same operator and version share one entry."""

_Refused = Callable[[Mapping[NodeKey, int]], set[NodeKey]]
"""A function that sets the versions of some nodes and returns the nodes with a refused version."""


def refusals(search: CauseSearch, state: SearchState) -> FoundEvidence:
    """Find the causes of single nodes.

    Delegates may stop at the first failed check of a node. The next failed check appears only in a run with the assumed fixes.
    """
    return (*_of_nodes(search, state), *_kernel_failure(search, state))


def _of_nodes(search: CauseSearch, state: SearchState) -> Iterator[Evidence]:
    refusal = state.run.run.refusal
    left: dict[Problem, list[RefusedNode]] = {Problem.LIMIT: [], **{problem: [] for problem in _TRIED}}
    tried = {case.key for own in state.evidence if own.identity.problem in _TRIED for case in own.cases}
    for refused in state.run.on_cpu:
        special = _special_subject(search, view_of(refused.key, state.run))
        for case in cases_of([refused]):
            problem = search.problem_of(case.reason.code)
            if special is not None:
                # No change makes a program run elsewhere, and no compiler is simulated.
                remedy = Remedy() if special[0] in ("compiled", "compile") else None
                yield Evidence(Identity(Problem.OPERATOR, special), (case,), remedy)
            elif problem in _NOT_CAUSES or (refusal is not None and case.reason.code == refusal.code):
                continue
            elif problem not in left:
                yield Evidence(Identity(problem, _subject(problem, case)), (case,))
            elif problem is Problem.LIMIT or case.key not in tried:
                left[problem].append(case)
    yield from _limits(search, state, left[Problem.LIMIT])
    yield from _versions(search, state, left[Problem.OPERATOR_VERSION])
    yield from _levels(search, state, left[Problem.TARGET_LEVEL])


def _special_subject(search: CauseSearch, node: NodeView) -> tuple[str, ...] | None:
    subject = special_subject(node)
    if search.delegate.runs_whole_models and subject is not None and subject[0] in _LEFT_TO_OTHERS:
        return None
    is_compiled = subject is not None and subject[0] == "compiled"
    return ("compile",) if search.delegate.compiler and not is_compiled else subject


def _subject(problem: Problem, case: RefusedNode) -> tuple[str, ...]:
    """Return the subject of a refusal. Refusals that one change fixes have the same subject."""
    if problem is Problem.OPERATOR:
        return (case.op,)
    if problem is Problem.DRIVER:
        return tuple(dict.fromkeys([case.op, case.reason.found]))
    if problem is Problem.RANK:
        # Neighboring nodes share tensors with too many dimensions, and one reshape fixes all of these nodes.
        return (case.reason.code,)
    return (case.op, case.reason.code, case.reason.needed)


def _limits(search: CauseSearch, state: SearchState, cases: Iterable[RefusedNode]) -> Iterator[Evidence]:
    earlier = [own for own in state.evidence if own.identity.problem is Problem.LIMIT and own.remedy is not None]
    raised = {case.reason.code: own.remedy for own in earlier for case in own.cases}
    for case in cases:
        code = case.reason.code
        remedy = raised[code] = raised.get(code) or Remedy(options=_raised_limit(search, case.reason))
        yield Evidence(Identity(Problem.LIMIT, _told(remedy.options)), (case,), remedy, assumed=HypotheticalChanges())


def _raised_limit(search: CauseSearch, reason: Reason) -> Mapping[str, Any]:
    """Return the options that lift a limit on partitions.

    If the delegate fails without a limit, return the largest safe limit instead. Partitions are delegated in order of size,
    largest first. A partition that makes the delegate fail therefore fails with all larger limits. If no larger limit is
    safe, return the options without a limit.
    """

    def is_delegated(options: Mapping[str, Any]) -> bool:
        return search.simulate(HypotheticalChanges(options=options)).cost.measures.is_delegated

    first = search.first.run
    lifted: Mapping[str, Any] = next(iter(search.delegate.remedies(reason.code, first.options)), {})
    option = search.delegate.limits.option
    if reason.code != PARTITION_LIMIT.name or option not in lifted or not is_delegated({}):
        return lifted
    now = most = max(first.options[option], search.delegate.limits.fallback, 1)
    rejected = reason.partitions
    if search.effort.is_over or is_delegated(lifted):
        return lifted
    while rejected - most > 1 and not search.effort.is_over:
        middle = (most + rejected) // 2
        if is_delegated({option: middle}):
            most = middle
        else:
            rejected = middle
    return {option: most} if most > now else lifted


def _levels(search: CauseSearch, state: SearchState, cases: Sequence[RefusedNode]) -> Iterator[Evidence]:
    """Find, for each node, the smallest change of options that raises the feature level enough."""
    left = {case.key: case for case in cases}
    tried: list[Mapping[str, Any]] = []
    codes = dict.fromkeys([case.reason.code for case in cases])
    for options in [options for code in codes for options in search.delegate.remedies(code, search.first.run.options)]:
        if not left:
            return
        if options in tried:
            continue
        tried.append(options)
        refused = search.refused_for(Problem.TARGET_LEVEL, replace(state.of_model, options=options))
        for key in [key for key in left if key not in refused]:
            yield Evidence(Identity(Problem.TARGET_LEVEL, _told(options)), (left.pop(key),), Remedy(options=options))
    for case in left.values():
        yield Evidence(Identity(Problem.OPERATOR, (case.op,)), (case,))


def switches(search: CauseSearch, state: SearchState) -> FoundEvidence:
    """Find the refusals of types that an option of the delegate removes."""
    all_codes = dict.fromkeys([reason.code for refused in state.run.on_cpu for reason in refused.reasons])
    codes = [code for code in all_codes if search.problem_of(code) in _OF_SWITCHES]
    for options in [dict(options) for code in codes for options in search.delegate.remedies(code, search.first.run.options)]:
        then = search.simulate(replace(state.changes, options={**state.changes.options, **options}))
        removed = refusals_removed(state.run, then, _OF_SWITCHES)
        if removed:
            return (Evidence(Identity(Problem.TARGET_LEVEL, _told(options)), cases_of(removed), Remedy(options=options)),)
    return ()


def _versions(search: CauseSearch, state: SearchState, cases: Sequence[RefusedNode]) -> Iterator[Evidence]:
    """Find the features that raised the version of each node, and a lower version that the delegate accepts.

    A version is lowered step by step until the delegate accepts the version, no lower version exists, or the tries run out.
    Nodes with the same operator and version share an entry in the model file. The same features therefore explain the version
    of all these nodes.
    """

    def refused_with(versions: Mapping[NodeKey, int]) -> set[NodeKey]:
        return search.refused_for(Problem.OPERATOR_VERSION, replace(state.of_model, node_versions=versions))

    is_float = form(search.model) == "float"
    views = {case.key: view_of(case.key, state.run) for case in cases}
    left = {case.key: case for case in cases}
    lowest = {_entry(view): view.version for view in views.values()}
    while lowest:
        causes: dict[_OperatorEntry, VersionCause] = {}
        for key in left:
            entry = _entry(views[key])
            if entry in lowest and entry not in causes:
                causes[entry] = version_cause(views[key], lowest[entry] - 1)
                codes = _codes(causes[entry])
                lowest[entry] = shared_version(views[key], codes) if causes[entry].is_explained and codes else 0
        lowest = {entry: version for entry, version in lowest.items() if version and entry in causes}
        tried = {key: lowest[_entry(views[key])] for key in left if _entry(views[key]) in lowest}
        if not tried or not search.tries.take():
            break
        refused = refused_with(tried)
        for key, version in tried.items():
            if key not in refused:
                cause = causes[_entry(views[key])]
                is_converted = not is_float and not _OF_QUANTIZATION.isdisjoint(_codes(cause))
                remedy = Remedy(conversion="float") if is_converted else Remedy(node_versions={key: version})
                identity = Identity(Problem.OPERATOR_VERSION, _codes(cause))
                in_file = [state.run.change.origin(NodeKey(*position)) for position in cause.nodes]
                demanding = frozenset([position for position in in_file if position is not None])
                yield Evidence(identity, (left.pop(key),), remedy, demanding=demanding)
        lowest = {entry: version for entry, version in lowest.items() if version > 1}
    yield from _nearest_versions(left, views, refused_with, search.tries)


def _nearest_versions(
    left: dict[NodeKey, RefusedNode], views: Mapping[NodeKey, NodeView], refused_with: _Refused, tries: Tries
) -> Iterator[Evidence]:
    ways = {key: versions_to_try(views[key].version) for key in left}
    for attempt in range(max(map(len, ways.values()), default=0)):  # bounded: the longest of the lists
        tried = {key: ways[key][attempt] for key in left if attempt < len(ways[key])}
        if not tried:
            continue
        if not tries.take():
            break
        refused = refused_with(tried)
        for key in [key for key in tried if key not in refused]:
            yield Evidence(_by_number(views[key]), (left.pop(key),), Remedy(node_versions={key: tried[key]}))
    for key, case in left.items():
        yield Evidence(_by_number(views[key]), (case,))


def _codes(cause: VersionCause) -> tuple[str, ...]:
    return tuple([feature.code for feature in cause.features])


def _by_number(view: NodeView) -> Identity:
    return Identity(Problem.OPERATOR_VERSION, (view.op, str(view.version)))


def _entry(view: NodeView) -> _OperatorEntry:
    return view.op, view.version


def _told(options: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple([f"{name}={value}" for name, value in options.items() if value is not None])


def _kernel_failure(search: CauseSearch, state: SearchState) -> FoundEvidence:
    """Find the cause of a delegate kernel that cannot be created.

    The failure undoes all delegation. The cause covers all nodes with the operator and types of the node at fault. If no
    node is at fault, the cause covers the whole graph.
    """
    refusal = state.run.run.refusal
    if refusal is None or refusal.code == DYNAMIC_TENSORS.name or search.problem_of(refusal.code) in _NOT_CAUSES:
        return ()
    graph = state.run.run.subgraphs[refusal.subgraph].graph
    blamed = graph.nodes[refusal.node] if refusal.is_of_node and refusal.node is not None else None
    key = None if blamed is None else state.run.change.origin(NodeKey(graph.index, blamed.index))
    is_joined = search.problem_of(refusal.code) in (Problem.RANK, Problem.TYPE)  # the version joins these causes later
    if key is not None and not is_joined and (of_feature := _feature_cause(state, key)) is not None:
        accepted = HypotheticalChanges(accepted_nodes=frozenset([key]))
        return (Evidence(of_feature, remedy=Remedy(accepts=True), assumed=accepted),)
    reason = reason_of(refusal, state.run)
    problem = search.problem_of(refusal.code)
    subject: tuple[str, ...] = (refusal.code,) if blamed is None else (blamed.op, refusal.code, reason.needed)
    options = _options_against(search, state, refusal)
    if options:
        problem, subject = Problem.TARGET_LEVEL, _told(options)
    elif problem is Problem.TARGET_LEVEL:
        problem, subject = Problem.OPERATOR, subject[:1]
    alike = None if blamed is None else (blamed.op, _types_of(graph.view(blamed)))
    nodes = [graph.nodes[index] for index in graph.execution_plan]
    cases = [
        RefusedNode(own, node.op, (reason,))
        for node in nodes
        if (own := state.run.change.origin(NodeKey(graph.index, node.index))) is not None
        and alike in (None, (node.op, _types_of(graph.view(node))))
    ]
    if key is not None and len(cases) > 1 and not _fails_again(search, state, key, options, [case.key for case in cases]):
        cases = [case for case in cases if case.key == key]
    assumed = HypotheticalChanges(accepted_nodes=frozenset([case.key for case in cases]), options=options)
    remedy = Remedy(options=options) if options else None
    return (Evidence(Identity(problem, subject), tuple(cases), remedy, assumed),)


def _feature_cause(state: SearchState, key: NodeKey) -> Identity | None:
    """Return the cause of a version that a feature of this node raised, if an earlier run had this cause.

    The change of this cause removes the feature, so a failure of the node with the feature is not a cause of its own.
    """
    own = [own for own in state.evidence if own.identity.problem is Problem.OPERATOR_VERSION and key in own.demanding]
    return own[0].identity if own else None


def _fails_again(
    search: CauseSearch, state: SearchState, blamed: NodeKey, options: Mapping[str, Any], alike: Sequence[NodeKey]
) -> bool:
    """Return whether one of the nodes ``alike`` fails if only the node that failed first is accepted."""
    accepted = HypotheticalChanges(accepted_nodes=frozenset([blamed]), options=options)
    then = search.simulate(combined(state.changes, accepted))
    refusal, failed = then.run.refusal, state.run.run.refusal
    if refusal is None or failed is None or refusal.node is None or refusal.code != failed.code:
        return False
    return then.change.origin(NodeKey(refusal.subgraph, refusal.node)) in alike


def _types_of(node: NodeView) -> list[str]:
    return [tensor.type for tensor in (*node.inputs, *node.outputs)]


def _options_against(search: CauseSearch, state: SearchState, refusal: Refusal) -> Mapping[str, Any]:
    """Return the smallest change of options that makes the stage behind the delegate accept a refused node.

    The result is empty if no change of options helps.
    """
    if refusal.below is None:
        return {}
    for options in search.delegate.remedies(refusal.code, state.run.run.options):
        then = search.simulate(replace(state.of_model, options=options)).run.refusal
        if then is None or (then.code, then.subgraph, then.node) != (refusal.code, refusal.subgraph, refusal.node):
            return dict(options)
    return {}


def rest(search: CauseSearch, state: SearchState) -> FoundEvidence:
    """Find causes for the refusals of CPU nodes in the first run that still have no cause."""
    known = {case.key for own in state.evidence for case in own.cases}
    cases = [case for case in cases_of(search.first.on_cpu) if case.key not in known]
    if not cases:
        return ()
    blockers = blockers_of(search.model, state.evidence, ())
    left = {refused.key for refused in search.simulate(blockers.without(blockers.causes)).on_cpu}
    refusal = search.first.run.refusal
    evidence: list[Evidence] = []
    for case in [case for case in cases if case.key in left]:
        code, problem = case.reason.code, search.problem_of(case.reason.code)
        is_whole = refusal is not None and code == refusal.code
        if problem is Problem.LIMIT and not is_whole:
            evidence += _limits(search, state, [case])
        else:
            evidence.append(Evidence(Identity(problem, (code,) if is_whole else (case.op, code, case.reason.needed)), (case,)))
    return tuple(evidence)
