"""What keeps nodes off a delegate: refusals that one change would remove are one cause."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..delegates.base import Delegate
from ..delegates.registry import DELEGATE_NAMES, find_delegate
from ..graph.graph import Graph, NodeView, file_graphs
from ..model.model import Node
from ..options import as_typed
from ..results.nodes import on_cpu
from ..rules.kinds import DYNAMIC_TENSORS, Problem
from ..rules.rule import Reason
from ..runtime.interpreter import Run
from ..runtime.suppositions import NodeKey, Supposition
from ..versions.features import FEATURES
from ..versions.why import shared_version, version_cause
from .problems import SUGGESTION_FOR, SUGGESTIONS
from .rewrites import REWRITES

_NOT_CAUSES = frozenset({Problem.NEIGHBOURS, Problem.MODEL})
"""What disappears once other nodes are taken, and what no change to the model's layers would remove."""


_VERSIONS_TRIED_ABOVE = 3
_FINDINGS_TOLD = 3
_NODES_TOLD = 10


class Identity(NamedTuple):
    """What makes refusals one cause: the kind of problem, and what it is about."""

    problem: Problem
    subject: tuple[str, ...]


@dataclass(frozen=True)
class Cause:
    """One thing that keeps nodes on the CPU.

    ``suggestion`` is a code of ``problems.SUGGESTIONS``; ``change`` says what to do in this case. ``node_versions`` are the
    versions that the nodes would have without it, ``options`` the changes to the delegate's options that remove it.
    """

    identity: Identity
    title: str
    nodes: tuple[NodeKey, ...]
    operators: tuple[tuple[str, int], ...]
    """How many nodes there are of each operator, most frequent first."""
    codes: tuple[str, ...]
    """The codes of the refusals."""
    found: str
    needed: str
    suggestion: str
    change: str
    node_versions: Mapping[NodeKey, int]
    options: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What the cause is called on the command line: its problem and subject."""
        return ":".join([self.identity.problem.value, *self.identity.subject])


@dataclass(frozen=True)
class Blockers:
    """All causes, and which of them each node has."""

    causes: tuple[Cause, ...]
    causes_of: Mapping[NodeKey, frozenset[Identity]]

    def without(self, removed: Iterable[Cause]) -> tuple[Supposition, dict[str, Any]]:
        """Return the supposition that some causes are removed, and the changes to options that go with it.

        A node with another cause stays refused.
        """
        chosen = tuple(removed)
        identities = {cause.identity for cause in chosen}
        by_itself = {(cause.identity, key) for cause in chosen for key in cause.node_versions}
        versions = {key: version for cause in chosen for key, version in cause.node_versions.items()}
        accepted = frozenset(
            [
                key
                for key, own in self.causes_of.items()
                if own <= identities
                and any(identity.problem not in _BY_THEMSELVES and (identity, key) not in by_itself for identity in own)
            ]
        )
        options = {name: value for cause in chosen for name, value in cause.options.items()}
        fixed = any(cause.identity.problem is Problem.DYNAMIC_SHAPE for cause in chosen)
        return Supposition(accepted_nodes=accepted, node_versions=versions, fixed_shapes=fixed), options


_BY_THEMSELVES = frozenset({Problem.TARGET_LEVEL, Problem.DYNAMIC_SHAPE, Problem.LIMIT})
"""Causes whose removal is simulated by changing shapes or options, just as that of a version is by another version. For all
others, the nodes are simulated as accepted."""

_TRIED = (Problem.OPERATOR_VERSION, Problem.TARGET_LEVEL)
"""Causes for which another version or level is tried, once for each node."""

Simulate = Callable[[Supposition, Mapping[str, Any]], Run]
"""Applies the delegate under a supposition, with some options changed."""


def find_causes(run: Run, simulate: Simulate) -> Blockers:
    """Group what keeps nodes on the CPU in a run; ``simulate`` tries versions and levels."""
    finder = _Finder(run, simulate)
    finder.look()
    return finder.blockers()


_Entry = tuple[str, int]
"""Operator and version, which nodes share in a file."""


def _entry(view: NodeView) -> _Entry:
    return view.op, view.version


class _Case(NamedTuple):
    """A node and one of its reasons."""

    key: NodeKey
    op: str
    reason: Reason


class _Finder:
    def __init__(self, run: Run, simulate: Simulate) -> None:
        self.run = run
        self.simulate = simulate
        self.cases: dict[Identity, dict[tuple[NodeKey, str], _Case]] = {}
        self.versions: dict[Identity, dict[NodeKey, int]] = {}
        self.without_kernels: set[NodeKey] = set()
        """Nodes whose kernels cannot be made."""
        self.demanding: dict[Identity, set[tuple[int, int]]] = {}
        """The nodes whose features raised a version, which others of the same operator then share."""
        self.level_options: dict[Identity, Mapping[str, Any]] = {}
        self.limit_options: dict[Identity, Mapping[str, Any]] = {}

    def problem_of(self, code: str) -> Problem:
        """Return what a refusal is about; the delegate knows all of its codes."""
        return self.run.delegate.kinds[code].problem

    def look(self) -> None:
        run = self.run
        if run.refusal is not None and run.refusal.code == DYNAMIC_TENSORS.name:
            self._note_dynamic()
            # Other causes show only once the refusal of the whole graph is removed.
            run = self.simulate(self._fixed(Supposition()), {})
        # A delegate that stops at a node's first failure reports the next one only once the version or level is right.
        while self._look_at(run):
            versions = {key: version for found in self.versions.values() for key, version in found.items()}
            options = {name: value for found in self.level_options.values() for name, value in found.items()}
            accepted = frozenset(self.without_kernels)
            run = self.simulate(self._fixed(Supposition(accepted_nodes=accepted, node_versions=versions)), options)

    def _look_at(self, run: Run) -> bool:
        """Note new causes; return whether removing what was found may reveal more."""
        known = len(self.versions), len(self.level_options), len(self.without_kernels)
        versions: list[_Case] = []
        levels: list[_Case] = []
        for subgraph, index, reasons in on_cpu(run):
            for reason in reasons:
                problem = self.problem_of(reason.code)
                case = _Case(NodeKey(subgraph.graph.index, index), subgraph.graph.nodes[index].op, reason)
                is_derived = problem in _NOT_CAUSES or (run.refusal is not None and reason.code == run.refusal.code)
                if is_derived:
                    continue
                if problem is Problem.OPERATOR_VERSION:
                    versions.append(case)
                elif problem is Problem.TARGET_LEVEL:
                    levels.append(case)
                elif problem is Problem.LIMIT:
                    self._note_limit(case)
                else:
                    self._note(Identity(problem, _subject(problem, case)), case)
        noted = {case.key for identity, cases in self.cases.items() if identity.problem in _TRIED for case in cases.values()}
        self._explain_versions([case for case in versions if case.key not in noted], run)
        self._explain_levels([case for case in levels if case.key not in noted], run)
        self._note_kernel_failure(run)
        return known != (len(self.versions), len(self.level_options), len(self.without_kernels))

    def _note(self, identity: Identity, case: _Case) -> None:
        cases = self.cases.setdefault(identity, {})
        cases.setdefault((case.key, case.reason.code), case)

    def _note_dynamic(self) -> None:
        refusal = self.run.refusal
        assert refusal is not None
        reason = Reason(refusal.code, "runtime", refusal.message, refusal.message, "no dynamic-sized tensor", refusal.hint)
        origin = "" if refusal.node is None else f"{refusal.subgraph}:{refusal.node}"
        identity = Identity(Problem.DYNAMIC_SHAPE, (origin,) if origin else ())
        for subgraph in self.run.subgraphs:
            for index in subgraph.graph.execution_plan:
                self._note(identity, _Case(NodeKey(subgraph.graph.index, index), subgraph.graph.nodes[index].op, reason))

    def _note_limit(self, case: _Case) -> None:
        options = next(iter(self.run.delegate.remedies(case.reason.code, self.run.options)), {})
        identity = Identity(Problem.LIMIT, tuple([f"{name}={value}" for name, value in options.items()]))
        self.limit_options[identity] = options
        self._note(identity, case)

    def _note_kernel_failure(self, run: Run) -> None:
        """A kernel that cannot be made undoes all delegation.

        The cause is a node, along with those of its operator and types, or else the whole partition.
        """
        refusal = run.refusal
        if refusal is None or refusal.code == DYNAMIC_TENSORS.name or self.problem_of(refusal.code) in _NOT_CAUSES:
            return
        problem = self.problem_of(refusal.code)
        graph = run.subgraphs[refusal.subgraph].graph
        blamed = None if refusal.node is None else graph.nodes[refusal.node]
        reason = Reason(refusal.code, "runtime", refusal.message, refusal.message, "a kernel that can be made", refusal.hint)
        subject = (refusal.code,) if blamed is None else (blamed.op, refusal.code, reason.needed)
        for index in graph.execution_plan:
            node = graph.nodes[index]
            if blamed is None or (node.op == blamed.op and _types(graph, node) == _types(graph, blamed)):
                key = NodeKey(graph.index, index)
                self.without_kernels.add(key)
                self._note(Identity(problem, subject), _Case(key, node.op, reason))

    def _explain_versions(self, cases: Sequence[_Case], run: Run) -> None:
        """Find the features without which each node's version is low enough, trying lower and lower versions.

        The nodes of one operator and version share an entry of the file, and with it the features that raised the version.
        """
        left = {case.key: case for case in cases}
        views = {key: _view(run, key) for key in left}
        lowest = {_entry(view): view.version for view in views.values()}
        while lowest:
            codes: dict[_Entry, tuple[str, ...]] = {}
            demanding: dict[_Entry, Sequence[tuple[int, int]]] = {}
            for key in left:
                entry = _entry(views[key])
                if entry in lowest and entry not in codes:
                    cause = version_cause(views[key], lowest[entry] - 1)
                    codes[entry] = tuple([feature.code for feature in cause.features])
                    demanding[entry] = cause.nodes
                    lowest[entry] = shared_version(views[key], codes[entry]) if cause.is_explained and codes[entry] else 0
            lowest = {entry: version for entry, version in lowest.items() if version and entry in codes}
            tried = {key: lowest[_entry(views[key])] for key in left if _entry(views[key]) in lowest}
            if not tried:
                break
            refused = self._refused_for(Problem.OPERATOR_VERSION, self._fixed(Supposition(node_versions=tried)), {})
            for key, version in tried.items():
                if key not in refused:
                    identity = Identity(Problem.OPERATOR_VERSION, codes[_entry(views[key])])
                    self._note(identity, left.pop(key))
                    self.versions.setdefault(identity, {})[key] = version
                    self.demanding.setdefault(identity, set()).update(demanding[_entry(views[key])])
            lowest = {entry: version for entry, version in lowest.items() if version > 1}
        self._try_versions(left, views)

    def _try_versions(self, left: dict[NodeKey, _Case], views: Mapping[NodeKey, NodeView]) -> None:
        """Find the nearest accepted version of nodes whose version nothing explains: lower ones first, all nodes at once."""
        highest = max([view.version for view in views.values()], default=1)
        for step in (*range(-1, -highest, -1), *range(1, _VERSIONS_TRIED_ABOVE + 1)):
            tried = {key: views[key].version + step for key in left if views[key].version + step >= 1}
            if not tried:
                continue
            refused = self._refused_for(Problem.OPERATOR_VERSION, self._fixed(Supposition(node_versions=tried)), {})
            for key in [key for key in tried if key not in refused]:
                self._note_version(left.pop(key), views[key].version, tried[key])
        for case in left.values():
            self._note_version(case, views[case.key].version, None)

    def _note_version(self, case: _Case, version: int, accepted: int | None) -> None:
        identity = Identity(Problem.OPERATOR_VERSION, (case.op, str(version)))
        self._note(identity, case)
        if accepted is not None:
            self.versions.setdefault(identity, {})[case.key] = accepted

    def _explain_levels(self, cases: Sequence[_Case], run: Run) -> None:
        """Find the mildest change to the delegate's options that ends the refusal of each node for its target."""
        left = {case.key: case for case in cases}
        for options in self._remedies(cases):
            if not left:
                return
            refused = self._refused_for(Problem.TARGET_LEVEL, self._fixed(Supposition()), options)
            for key in [key for key in left if key not in refused]:
                told = tuple([f"{name}={value}" for name, value in options.items() if value is not None])
                identity = Identity(Problem.TARGET_LEVEL, told)
                self._note(identity, left.pop(key))
                self.level_options[identity] = options
        for case in left.values():
            self._note(Identity(Problem.OPERATOR, (case.op,)), case)

    def _remedies(self, cases: Sequence[_Case]) -> Iterator[Mapping[str, Any]]:
        """Return the changes to options that the delegate suggests against these refusals, the mildest first, each once."""
        tried: list[Mapping[str, Any]] = []
        for code in dict.fromkeys([case.reason.code for case in cases]):
            for options in self.run.delegate.remedies(code, self.run.options):
                if options not in tried:
                    tried.append(options)
                    yield options

    def _fixed(self, supposition: Supposition) -> Supposition:
        is_dynamic = any(identity.problem is Problem.DYNAMIC_SHAPE for identity in self.cases)
        return dataclasses.replace(supposition, fixed_shapes=is_dynamic)

    def _refused_for(self, problem: Problem, supposition: Supposition, options: Mapping[str, Any]) -> set[NodeKey]:
        run = self.simulate(supposition, options)
        return {
            NodeKey(subgraph.graph.index, index)
            for subgraph, index, reasons in on_cpu(run)
            if any(self.problem_of(reason.code) is problem for reason in reasons)
        }

    def blockers(self) -> Blockers:
        causes_of: dict[NodeKey, set[Identity]] = {}
        for identity, cases in self.cases.items():
            # The refusal of the whole graph is not a reason of any one node.
            if identity.problem is not Problem.DYNAMIC_SHAPE:
                for case in cases.values():
                    causes_of.setdefault(case.key, set()).add(identity)
        return Blockers(
            tuple([self._cause(identity, tuple(cases.values())) for identity, cases in self.cases.items()]),
            {key: frozenset(own) for key, own in causes_of.items()},
        )

    def _cause(self, identity: Identity, cases: Sequence[_Case]) -> Cause:
        first = cases[0].reason
        operators = Counter({case.key: case.op for case in cases}.values()).most_common()
        suggestion, change = _suggestion(identity, operators, cases, self.run.delegate)
        return Cause(
            identity,
            _title(identity, operators, first, self.run.delegate),
            tuple(dict.fromkeys([case.key for case in cases])),
            tuple(operators),
            tuple(dict.fromkeys([case.reason.code for case in cases])),
            _found(cases, self.demanding.get(identity, set())),
            first.needed,
            suggestion,
            change,
            self.versions.get(identity, {}),
            {**self.level_options.get(identity, {}), **self.limit_options.get(identity, {})},
        )


def _found(cases: Sequence[_Case], demanding: Collection[tuple[int, int]]) -> str:
    found = "; ".join(list(dict.fromkeys([case.reason.found for case in cases]))[:_FINDINGS_TOLD])
    if not demanding:
        return found
    places = [str(node) if not subgraph else f"{subgraph}:{node}" for subgraph, node in sorted(demanding)]
    more = f" and {len(places) - _NODES_TOLD:,} more" if len(places) > _NODES_TOLD else ""
    return (
        f"{found}, which {len(places):,} of the nodes require ({', '.join(places[:_NODES_TOLD])}{more}); all nodes of the "
        "operator share the version in the file"
    )


def _subject(problem: Problem, case: _Case) -> tuple[str, ...]:
    """Return what a problem is about, so that refusals which one change would remove are one cause."""
    if problem is Problem.OPERATOR:
        return (case.op,)
    if problem is Problem.DRIVER:
        return (case.op,) if case.reason.found == case.op else (case.op, case.reason.found)
    if problem is Problem.RANK:
        # Tensors with too many dimensions pass from node to node, and one reshape fixes all of them.
        return (case.reason.code,)
    return (case.op, case.reason.code, case.reason.needed)


def _options_told(identity: Identity, delegate: Delegate) -> str:
    """Return the options that remove a cause as the command line takes them."""
    settings = [told.partition("=") for told in identity.subject]
    return " ".join([as_typed(delegate.options, name, value) for name, _, value in settings])


def _title(identity: Identity, operators: Sequence[tuple[str, int]], reason: Reason, delegate: Delegate) -> str:
    ops = ", ".join([op for op, _ in operators[:3]]) + (", ..." if len(operators) > 3 else "")
    match identity.problem:
        case Problem.DYNAMIC_SHAPE:
            return reason.message
        case Problem.OPERATOR_VERSION if all(code in FEATURES for code in identity.subject):
            features = " and ".join([FEATURES[code].title for code in identity.subject])
            return f"{ops}: the version is raised by {features}"
        case Problem.OPERATOR_VERSION:
            return f"{ops} at version {identity.subject[-1]}"
        case Problem.OPERATOR:
            return reason.message
        case Problem.DRIVER:
            return f"{ops}: the driver rejects {reason.found}"
        case Problem.TARGET_LEVEL:
            return f"{ops}: needs {_options_told(identity, delegate)}"
        case Problem.LIMIT:
            return f"accepted, but in partitions dropped by a limit: {reason.message}"
        case _:
            return f"{ops}: needs {reason.needed}"


def _suggestion(
    identity: Identity, operators: Sequence[tuple[str, int]], cases: Sequence[_Case], delegate: Delegate
) -> tuple[str, str]:
    """Return the code of the suggestion, and the change in this case."""
    code = SUGGESTION_FOR[identity.problem]
    general = SUGGESTIONS[code].change
    match identity.problem:
        case Problem.OPERATOR_VERSION if all(subject in FEATURES for subject in identity.subject):
            return "change-converter-setting", "; ".join([FEATURES[subject].advice for subject in identity.subject])
        case Problem.TARGET_LEVEL | Problem.LIMIT:
            return code, f"{_options_told(identity, delegate)}: {general}"
        case Problem.OPERATOR | Problem.DRIVER:
            rewrites = [f"{op} can be written as {REWRITES[op]}" for op, _ in operators if op in REWRITES]
            others = _other_delegates(operators, delegate) if identity.problem is Problem.OPERATOR else ()
            own = "; ".join([*rewrites, *others])
            return code, own or general
        case Problem.DYNAMIC_SHAPE:
            return code, "; ".join([hint for hint in (cases[0].reason.hint, general) if hint])
        case _:
            return code, "; ".join(dict.fromkeys([case.reason.hint for case in cases if case.reason.hint])) or general


def _other_delegates(operators: Sequence[tuple[str, int]], own: Delegate) -> Iterator[str]:
    """Say which other delegates have all of the operators."""
    others = [find_delegate(name) for name in DELEGATE_NAMES if name != own.name]
    names = [other.name for other in others if all(op in other.rules.rules for op, _ in operators)]
    if names:
        yield f"taken by {', '.join(names)}"


def _types(graph: Graph, node: Node) -> list[str]:
    return [tensor.type for tensor in (*graph.view(node).inputs, *graph.view(node).outputs)]


def _view(run: Run, key: NodeKey) -> NodeView:
    """Return a node as it is in the file."""
    graph = file_graphs(run.subgraphs[key.subgraph].graph.model)[key.subgraph]
    return graph.view(graph.nodes[key.node])
