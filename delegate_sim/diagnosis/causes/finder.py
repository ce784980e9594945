"""Find the causes of a run's refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...graph.effort import Effort, Tries
from ...graph.graph import NodeView, file_graphs
from ...hypothetical.fixed_inputs import open_inputs
from ...hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey
from ...model.model import Model
from ...refusal import Refusal
from ...rules.kinds import DYNAMIC_TENSORS, PARTITION_LIMIT, Problem
from ...rules.rule import Reason
from ..advice.other_delegates import Others
from ..advice.simulated_changes import with_results
from ..advice.surroundings import Surroundings
from ..advice.wording import RefusedCase, Wording, limited_partitions
from ..examiner import Examined, RefusedNode
from . import conversion_causes as roots
from .cause import Blockers, Cause, Identity
from .cause_merging import joined
from .change import Remedy
from .conversion_causes import Simulate
from .refusal_subjects import reason_of, subject_of, told_options, types_of
from .undelegatable_nodes import special_subject, text_nodes
from .version_search import find_versions
from .whole_graph_causes import WholeCause, loading_cause, nodes_behind, preparation_cause, registration_cause, whole_refusal

_NOT_CAUSES = frozenset({Problem.NEIGHBORS, Problem.MODEL, Problem.RELEASE})
"""Kinds of problem that do not become causes. They follow from other problems, or concern the whole graph."""

_REPAIRED_AT_LEAST, _REPAIRED_AT_MOST = 2, 16
"""Smallest and largest number of repeated simulations. Large models get fewer simulations than small models.

Each simulation assumes that one more CPU kernel accepts its node.
"""

_TRIED_AT_LEAST, _TRIED_AT_MOST = 2, 512
"""Smallest and largest number of simulations with other operator versions. Large models get fewer than small models."""

_TRIED = (Problem.OPERATOR_VERSION, Problem.TARGET_LEVEL)
"""Kinds of problem for which the search tries other versions or feature levels, once for each node."""

_TEXT = Identity(Problem.OPERATOR, ("text",))

_OF_QUANTIZATION = frozenset({"asymmetric-quantize-inputs", "hybrid-weights", "int8-type", "int16-type"})
"""Features that a conversion to float removes."""


def find_causes(model: Model, simulate: Simulate, effort: Effort, *, names_others: bool = True) -> Blockers:
    """Group the refusals of a model's CPU nodes into causes.

    ``simulate`` runs the simulations of hypothetical changes. If ``names_others`` is true, all delegates are simulated, and
    suggestions name other delegates that take the nodes.
    """
    finder = _Finder(model, simulate, effort, names_others)
    finder.look()
    return with_results(joined(finder.blockers()), model, finder.first.run.target, simulate, effort)


class _Finder:
    def __init__(self, model: Model, simulate: Simulate, effort: Effort, names_others: bool) -> None:
        self.model = model
        self.simulate = simulate
        self.effort = effort
        self.first = simulate(HypotheticalChanges(), {})
        self.last = self.first
        self.others = Others(self.first, effort) if names_others else None
        self.tries = Tries(effort.simulations(_TRIED_AT_LEAST, _TRIED_AT_MOST), effort)
        """The remaining simulations with other operator versions."""
        self.most_repairs = effort.simulations(_REPAIRED_AT_LEAST, _REPAIRED_AT_MOST)
        self.base = HypotheticalChanges()
        """The hypothetical changes of the causes found so far.

        A changed model may show refusals that the original model hides.
        """
        self.cases: dict[Identity, dict[tuple[NodeKey, str], RefusedCase]] = {}
        self.remedies: dict[Identity, Remedy] = {}
        self.versions: dict[Identity, dict[NodeKey, int]] = {}
        self.without_kernels: set[NodeKey] = set()
        """Nodes whose delegate kernels cannot be created."""
        self.demanding: dict[Identity, set[tuple[int, int]]] = {}
        """For each cause, the nodes with the features that raised a refused version.

        All nodes of an operator have this version, with or without the features.
        """
        self.level_options: dict[Identity, Mapping[str, Any]] = {}
        self.limit_options: dict[str, Mapping[str, Any]] = {}
        """The options that raise a limit on partitions, keyed by the code of the refusal."""
        self.whole: set[Identity] = set()
        """Causes that keep the whole graph on the CPU."""
        self.guessed: tuple[Identity, frozenset[NodeKey]] | None = None
        """The cause of an unknown size, and the nodes that depend on this size.

        A fix of the cause must guess the sizes of their operands.
        """
        self.own: dict[Identity, set[NodeKey]] = {}
        """The nodes at fault for each cause. A cause in ``whole`` without an entry has no nodes at fault."""
        self.not_simulated: list[str] = []
        """The hypothetical changes that exceed a limit. Each text names the limit."""

    def _simulate_optionally(self, hypothetical: HypotheticalChanges, options: Mapping[str, Any]) -> Examined:
        """Simulate changes that the diagnosis can do without. Raises LimitError if the limit on simulations is reached."""
        self.effort.check()
        return self.simulate(hypothetical, options)

    @property
    def delegate(self) -> Any:
        """The applied delegate."""
        return self.first.run.delegate

    def problem_of(self, code: str) -> Problem:
        """Return the kind of problem that the delegate assigns to a refusal's code."""
        problem: Problem = self.delegate.kinds[code].problem
        return problem

    def look(self) -> None:
        self._look_at_loading()
        if self.delegate.compiler:
            # No change of the source model is simulated, because the compiler decides about the nodes.
            self._look_at(self.simulate(self.base, {}))
            self._note_rest()
            return
        self._look_at_text()
        self._look_at_inputs()
        self._look_at_preparation()
        self._look_at_types()
        now = self.simulate(self.base, {})
        if roots.is_dynamic(now.run):
            identity = self._note_dynamic(now)
            self.base = replace(self.base, fixed_shapes=True)
            self.guessed = identity, nodes_behind(now)
            self._repair_guesses(self.base, {})
            # A refusal of the whole graph may hide refusals by CPU kernels.
            self._look_at_preparation()
            now = self.simulate(self.base, {})
        now = self._end_stages(now)
        self.last = now
        # Delegates may stop at the first failed check of a node. The next failed check appears only after a simulated fix.
        while self._look_at(self.last):
            remedies = [self._remedy(identity) for identity in self.versions]
            versions = {key: version for remedy in remedies for key, version in remedy.node_versions.items()}
            conversion = next((remedy.conversion for remedy in remedies if remedy.conversion), "")
            self.base = replace(self.base, conversion=self.base.conversion or conversion)
            options: dict[str, Any] = {name: value for level in self.level_options.values() for name, value in level.items()}
            accepted = frozenset(self.without_kernels)
            hypothetical = replace(self.base, accepted_nodes=accepted, node_versions=versions)
            self.last = self._repair_guesses(hypothetical, options)
        self._note_rest()

    def _look_at_loading(self) -> None:
        """Add the causes that keep the model from loading, and the cause of unregistered operators.

        Such causes hide all other causes.
        """
        for find in (loading_cause, registration_cause):
            now = self.simulate(self.base, {})
            if (cause := find(self.model, now.run)) is not None:
                self._note_whole(cause, now, only_remedy=cause.remedy.accepts)
                release = cause.remedy.release or self.base.release
                is_assumed = cause.remedy.assume_ops_registered or find is registration_cause
                self.base = replace(self.base, release=release, assume_ops_registered=is_assumed)

    def _look_at_preparation(self) -> None:
        """Add a cause for each node that a CPU kernel cannot prepare.

        Nodes of the same operator share a cause. Later simulations assume that the CPU kernels accept the nodes.
        """
        repairs = Tries(self.most_repairs, self.effort)
        while repairs.take():
            now = self.simulate(self.base, {})
            cause = preparation_cause(now)
            if cause is None:
                return
            self._note_whole(cause, now)
            known = self.remedies[cause.identity].repaired_nodes
            self.remedies[cause.identity] = Remedy(repaired_nodes=known | cause.remedy.repaired_nodes)
            repaired = self.base.repaired_nodes | cause.remedy.repaired_nodes
            self.base = replace(self.base, repaired_nodes=repaired)

    def _repair_guesses(self, hypothetical: HypotheticalChanges, options: Mapping[str, Any]) -> Examined:
        """Simulate hypothetical changes. Ignore refusals by CPU kernels that come from guessed sizes.

        The fix of an unknown size must guess all sizes that depend on the unknown size. The remedy therefore also assumes that
        CPU kernels accept the guessed sizes.
        """
        now = self.simulate(hypothetical, options)
        if self.guessed is None:
            return now
        identity, behind = self.guessed
        repairs = Tries(self.most_repairs, self.effort)
        while repairs.take():
            cause = preparation_cause(now)
            if cause is None or not cause.remedy.repaired_nodes.issubset(behind):
                break
            remedy = self.remedies[identity]
            repaired = remedy.repaired_nodes | cause.remedy.repaired_nodes
            self.remedies[identity] = replace(remedy, repaired_nodes=repaired)
            self.base = replace(self.base, repaired_nodes=self.base.repaired_nodes | repaired)
            now = self.simulate(replace(hypothetical, repaired_nodes=self.base.repaired_nodes), options)
        return now

    def _note_whole(self, cause: WholeCause, now: Examined, only_remedy: bool = False) -> None:
        self.remedies.setdefault(cause.identity, cause.remedy)
        if only_remedy or (reason := whole_refusal(now.run)) is None:
            return
        self.whole.add(cause.identity)
        self._note_all(cause.identity, now.on_cpu(), reason)

    def _look_at_text(self) -> None:
        """Add the cause of nodes that work on text.

        The results of text nodes have unknown sizes, and a tensor of unknown size may prevent all delegation.
        """
        nodes = text_nodes(self.model)
        if not nodes:
            return
        now = self.simulate(self.base, {})
        hypothetical = replace(self.base, removed_nodes=nodes)
        self.base = hypothetical
        self.remedies[_TEXT] = Remedy(accepts=True, removed_nodes=nodes)
        refusal = whole_refusal(now.run) if roots.is_no_longer_dynamic(now, self.simulate(hypothetical, {})) else None
        if refusal is not None:
            self.whole.add(_TEXT)
        for refused in now.on_cpu():
            is_own = refused.key in nodes
            for reason in refused.reasons if refusal is None else (refusal,):
                if is_own or refusal is not None:
                    self._note(_TEXT, RefusedCase(refused.key, refused.op, reason), is_own=is_own)

    def _look_at_inputs(self) -> None:
        now = self.simulate(self.base, {}).run
        root = roots.unknown_inputs(self.model, self.simulate, self.base)
        if root is None:
            return
        self.base = root.hypothetical
        identity = Identity(Problem.DYNAMIC_SHAPE, ("inputs",) if open_inputs(self.model) else ("shapes",))
        self.remedies[identity] = Remedy(fixed_inputs=True)
        refusal = whole_refusal(now) if roots.is_dynamic(now) else None
        if refusal is not None:
            self.whole.add(identity)
        self._note_all(identity, root.ended, refusal)

    def _look_at_types(self) -> None:
        now = self.simulate(self.base, {})
        root = roots.other_types(self.model, now, self._simulate_optionally, self.base, self.not_simulated)
        if root is None:
            return
        self.base = root.hypothetical
        conversion = root.hypothetical.conversion
        identity = Identity(Problem.QUANTIZATION, (roots.form(self.model), f"to-{conversion}"))
        self.remedies[identity] = Remedy(conversion=conversion)
        self._note_all(identity, root.ended)
        if identity not in self.cases:
            self._note_all(identity, now.on_cpu(), whole_refusal(now.run))

    def _look_at(self, now: Examined) -> bool:
        """Add causes for new refusals in ``now``. Return whether fixing these causes may reveal more refusals."""
        known = len(self.versions), len(self.level_options), len(self.without_kernels)
        versions: list[RefusedCase] = []
        levels: list[RefusedCase] = []
        refusal = now.run.refusal
        for refused in now.on_cpu():
            subject = self._special_subject(refused.key, now)
            for reason in refused.reasons:
                problem = self.problem_of(reason.code)
                case = RefusedCase(refused.key, refused.op, reason)
                if subject is not None:
                    self._note_special(subject, case)
                elif problem in _NOT_CAUSES or (refusal is not None and reason.code == refusal.code):
                    continue
                elif problem is Problem.OPERATOR_VERSION:
                    versions.append(case)
                elif problem is Problem.TARGET_LEVEL:
                    levels.append(case)
                elif problem is Problem.LIMIT:
                    self._note_limit(case)
                else:
                    self._note(Identity(problem, subject_of(problem, case)), case)
        noted = {case.key for identity, cases in self.cases.items() if identity.problem in _TRIED for case in cases.values()}
        self._explain_versions([case for case in versions if case.key not in noted], now)
        self._explain_levels([case for case in levels if case.key not in noted])
        self._note_kernel_failure(now)
        return known != (len(self.versions), len(self.level_options), len(self.without_kernels))

    def _note(self, identity: Identity, case: RefusedCase, *, is_own: bool = False) -> None:
        cases = self.cases.setdefault(identity, {})
        cases.setdefault((case.key, case.reason.code), case)
        if is_own:
            self.own.setdefault(identity, set()).add(case.key)

    def _note_all(self, identity: Identity, nodes: Iterable[RefusedNode], reason: Reason | None = None) -> None:
        """Add nodes to a cause, with their own reasons or with ``reason``."""
        for refused in nodes:
            for own in refused.reasons if reason is None else (reason,):
                self._note(identity, RefusedCase(refused.key, refused.op, own))

    def _special_subject(self, key: NodeKey, now: Examined) -> tuple[str, ...] | None:
        subject = special_subject(self._view(key, now))
        is_compiled = subject is not None and subject[0] == "compiled"
        return ("compile",) if self.delegate.compiler and not is_compiled else subject

    def _note_special(self, subject: tuple[str, ...], case: RefusedCase) -> None:
        identity = Identity(Problem.OPERATOR, subject)
        if subject[0] in ("compiled", "compile"):  # no change makes a program run elsewhere, and no compiler is simulated
            self.remedies.setdefault(identity, Remedy())
        self._note(identity, case, is_own=True)

    def _note_dynamic(self, now: Examined) -> Identity:
        refusal, reason = now.run.refusal, whole_refusal(now.run)
        assert refusal is not None
        assert reason is not None
        origin = None if refusal.node is None else now.change.origin(NodeKey(refusal.subgraph, refusal.node))
        subject = None if origin is None else special_subject(self._view(origin, now))
        if origin is not None and subject is not None:
            # No delegate takes the operator that makes the size unknown, so its cause is the operator.
            identity = Identity(Problem.OPERATOR, subject)
            # The operators of lists may also be unregistered.
            known = self.remedies.get(identity, Remedy(accepts=True))
            self.remedies[identity] = replace(known, fixed_shapes=True, repaired_nodes=known.repaired_nodes | {origin})
            self.base = replace(self.base, repaired_nodes=self.base.repaired_nodes | {origin})
        else:
            identity = Identity(Problem.DYNAMIC_SHAPE, () if origin is None else (f"{origin.subgraph}:{origin.node}",))
            self.remedies[identity] = Remedy(fixed_shapes=True, sized_by=origin)
        self.whole.add(identity)
        self._note_all(identity, now.on_cpu(), reason)
        return identity

    def _end_stages(self, now: Examined) -> Examined:
        """Add a cause for each refusal of the whole model by LiteRT or a plugin. Return a run without such refusals."""
        options: dict[str, Any] = {}
        known: set[str] = set()
        while (refusal := now.run.refusal) is not None and refusal.stage.is_of_plugin and refusal.code not in known:
            known.add(refusal.code)
            change: Mapping[str, Any] = next(iter(self.delegate.remedies(refusal.code, now.run.options)), {})
            subject = tuple([f"{name}={value}" for name, value in change.items()]) or (refusal.code,)
            identity = Identity(self.problem_of(refusal.code), subject)
            self.remedies[identity] = Remedy(options=change) if change else Remedy(ended=refusal.code)
            for refused in now.on_cpu():
                for reason in refused.reasons:
                    if reason.code == refusal.code:
                        self._note(identity, RefusedCase(refused.key, refused.op, reason))
            if change:
                options |= change
                self.level_options[identity] = change
            else:
                self.base = replace(self.base, ended=self.base.ended | {refusal.code})
            now = self.simulate(self.base, options)
        return now

    def _note_limit(self, case: RefusedCase) -> None:
        if case.reason.code not in self.limit_options:
            self.limit_options[case.reason.code] = self._raised_limit(case.reason)
        options = self.limit_options[case.reason.code]
        identity = Identity(Problem.LIMIT, tuple([f"{name}={value}" for name, value in options.items()]))
        self.remedies[identity] = Remedy(options=options)
        self._note(identity, case)

    def _raised_limit(self, reason: Reason) -> Mapping[str, Any]:
        """Return the options that lift a limit on partitions.

        If the delegate fails without a limit, return the largest safe limit instead. Partitions are delegated in order of size,
        largest first. A partition that makes the delegate fail therefore fails with all larger limits. If no larger limit is
        safe, return the options without a limit.
        """
        lifted: Mapping[str, Any] = next(iter(self.delegate.remedies(reason.code, self.first.run.options)), {})
        option = self.delegate.limits.option
        if reason.code != PARTITION_LIMIT.name or option not in lifted or not self._is_delegated({}):
            return lifted
        now = most = max(self.first.run.options[option], self.delegate.limits.fallback, 1)
        rejected = limited_partitions([reason])
        if self.effort.is_over or self._is_delegated(lifted):
            return lifted
        while rejected - most > 1 and not self.effort.is_over:
            middle = (most + rejected) // 2
            if self._is_delegated({option: middle}):
                most = middle
            else:
                rejected = middle
        return {option: most} if most > now else lifted

    def _is_delegated(self, options: Mapping[str, Any]) -> bool:
        return self.simulate(HypotheticalChanges(), options).cost.measures.is_delegated

    def _note_rest(self) -> None:
        """Add causes for the refusals of CPU nodes that still have no cause."""
        known = {key for cases in self.cases.values() for key, _ in cases}
        rest = [refused for refused in self.first.on_cpu() if refused.key not in known]
        if not rest:
            return
        blockers = self.blockers()
        left = {refused.key for refused in self.simulate(*blockers.without(blockers.causes)).on_cpu()}
        refusal = self.first.run.refusal
        for refused in [refused for refused in rest if refused.key in left]:
            for reason in refused.reasons:
                case = RefusedCase(refused.key, refused.op, reason)
                if refusal is not None and reason.code == refusal.code:
                    self._note(Identity(self.problem_of(reason.code), (reason.code,)), case)
                elif self.problem_of(reason.code) is Problem.LIMIT:
                    self._note_limit(case)
                else:
                    self._note(Identity(self.problem_of(reason.code), (refused.op, reason.code, reason.needed)), case)

    def _note_kernel_failure(self, now: Examined) -> None:
        """Add a cause for a delegate kernel that cannot be created.

        The failure undoes all delegation. The cause covers all nodes with the operator and types of the node at fault. If no
        node is at fault, the cause covers the whole graph.
        """
        refusal = now.run.refusal
        if refusal is None or refusal.code == DYNAMIC_TENSORS.name or self.problem_of(refusal.code) in _NOT_CAUSES:
            return
        graph = now.run.subgraphs[refusal.subgraph].graph
        blamed = graph.nodes[refusal.node] if refusal.is_of_node and refusal.node is not None else None
        reason = reason_of(refusal)
        problem = self.problem_of(refusal.code)
        subject: tuple[str, ...] = (refusal.code,)
        if blamed is not None:
            subject = (blamed.op, refusal.code, reason.needed)
        options = self._options_against(refusal, now)
        if options:
            problem, subject = Problem.TARGET_LEVEL, told_options(options)
            self.level_options[Identity(problem, subject)] = options
        elif problem is Problem.TARGET_LEVEL:
            problem, subject = Problem.OPERATOR, subject[:1]
        alike = None if blamed is None else (blamed.op, types_of(graph.view(blamed)))
        for index in graph.execution_plan:
            node = graph.nodes[index]
            key = now.change.origin(NodeKey(graph.index, index))
            if key is not None and alike in (None, (node.op, types_of(graph.view(node)))):
                self.without_kernels.add(key)
                self._note(Identity(problem, subject), RefusedCase(key, node.op, reason))

    def _options_against(self, refusal: Refusal, now: Examined) -> Mapping[str, Any]:
        """Return the smallest change of options that makes the stage behind the delegate accept a refused node.

        The result is empty if no change of options helps.
        """
        if refusal.behind is None:
            return {}
        for options in self.delegate.remedies(refusal.code, now.run.options):
            then = self.simulate(self.base, options).run.refusal
            if then is None or (then.code, then.subgraph, then.node) != (refusal.code, refusal.subgraph, refusal.node):
                return dict(options)
        return {}

    def _explain_versions(self, cases: Sequence[RefusedCase], now: Examined) -> None:
        def refused_with(versions: Mapping[NodeKey, int]) -> set[NodeKey]:
            return self._refused_for(Problem.OPERATOR_VERSION, replace(self.base, node_versions=versions), {})

        views = {case.key: self._view(case.key, now) for case in cases}
        for find_version in find_versions(cases, views, refused_with, self.tries):
            self._note(find_version.identity, find_version.case)
            if find_version.version is not None:
                self.versions.setdefault(find_version.identity, {})[find_version.case.key] = find_version.version
            if find_version.demanding:
                self.demanding.setdefault(find_version.identity, set()).update(find_version.demanding)

    def _explain_levels(self, cases: Sequence[RefusedCase]) -> None:
        """Find, for each node, the smallest change of options that raises the feature level enough."""
        left = {case.key: case for case in cases}
        for options in self._remedies(cases):
            if not left:
                return
            refused = self._refused_for(Problem.TARGET_LEVEL, self.base, options)
            for key in [key for key in left if key not in refused]:
                identity = Identity(Problem.TARGET_LEVEL, told_options(options))
                self._note(identity, left.pop(key))
                self.level_options[identity] = options
        for case in left.values():
            self._note(Identity(Problem.OPERATOR, (case.op,)), case)

    def _remedies(self, cases: Sequence[RefusedCase]) -> Iterator[Mapping[str, Any]]:
        """Yield the changes of options that the delegate suggests for these refusals. The smallest change comes first."""
        tried: list[Mapping[str, Any]] = []
        for code in dict.fromkeys([case.reason.code for case in cases]):
            for options in self.delegate.remedies(code, self.first.run.options):
                if options not in tried:
                    tried.append(options)
                    yield options

    def _refused_for(self, problem: Problem, hypothetical: HypotheticalChanges, options: Mapping[str, Any]) -> set[NodeKey]:
        return {
            refused.key
            for refused in self.simulate(hypothetical, options).on_cpu()
            if any(self.problem_of(reason.code) is problem for reason in refused.reasons)
        }

    def _view(self, key: NodeKey, examined: Examined) -> NodeView:
        """Return a node of the model file, with the hypothetical changes of a simulated run."""
        now = examined.change.now[key]
        graph = file_graphs(examined.change.model)[now.subgraph]
        return graph.view(graph.nodes[now.node])

    def blockers(self) -> Blockers:
        """Return all causes, and the causes of each node."""
        causes_of: dict[NodeKey, set[Identity]] = {}
        for identity, cases in self.cases.items():
            keys = {case.key for case in cases.values()} if identity not in self.whole else self.own.get(identity, ())
            for key in keys:
                causes_of.setdefault(key, set()).add(identity)
        surroundings = Surroundings(self.last)
        causes = tuple([self._cause(identity, tuple(cases.values()), surroundings) for identity, cases in self.cases.items()])
        return Blockers(causes, {key: frozenset(own) for key, own in causes_of.items()}, tuple(self.not_simulated))

    def _cause(self, identity: Identity, cases: Sequence[RefusedCase], surroundings: Surroundings) -> Cause:
        operators = tuple(Counter({case.key: case.op for case in cases}.values()).most_common())
        remedy = self._remedy(identity)
        wording = Wording(self.model, self.first, self.last, surroundings, identity, operators, cases, remedy, self.others)
        return Cause(
            identity,
            wording.title(),
            tuple(dict.fromkeys([case.key for case in cases])),
            operators,
            tuple(dict.fromkeys([case.reason.code for case in cases])),
            wording.found(self.demanding.get(identity, set())),
            cases[0].reason.needed,
            wording.advice(),
            remedy,
        )

    def _remedy(self, identity: Identity) -> Remedy:
        if identity in self.remedies:
            return self.remedies[identity]
        if identity in self.level_options:
            return Remedy(options=self.level_options[identity])
        versions = self.versions.get(identity, {})
        if identity.problem is not Problem.OPERATOR_VERSION or not versions:
            return Remedy(accepts=True)
        if not _OF_QUANTIZATION.isdisjoint(identity.subject) and roots.form(self.model) != "float":
            return Remedy(conversion="float")
        return Remedy(node_versions=versions)
