"""Apply one delegate to the subgraphs of a model, one after another.

Source: ``Interpreter::ModifyGraphWithDelegateImpl`` (``core/interpreter.cc``) and ``Subgraph::ModifyGraphWithDelegateImpl``
(``core/subgraph.cc``).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from ..delegates.decision import Decision
from ..graph.analysis_cache import AnalysisCache
from ..graph.calls import ReplacingCall
from ..graph.graph import Graph
from ..graph.partition import PartitionError, Subset
from ..graph.reachability import called_subgraphs, subgraphs_from
from ..prepare.preparation import Repreparation, prepare
from ..refusal import Effect, Phrase, Refusal, Stage, node_place
from ..releases import wording
from ..rules.kinds import CPU_KERNEL_AFTER_REMAPPING, CYCLIC_GRAPH, DYNAMIC_TENSORS
from .model_loading import not_prepared
from .reapplication import Reapplications
from .run import REFUSED, Run, SubgraphRun, attributed_decision, attributed_failure, attributed_subsets
from .target import Target

VALIDATION_PREFIX = "VALIDATION:"
"""Name prefix of subgraphs that test the model. No delegate is applied to these subgraphs."""

_BEFORE = {
    Effect.CRASH: "creating a kernel will crash the process: ",
    Effect.CRASH_LATER: "creating a kernel will crash the process: ",
    Effect.FAIL_LATER: "creating a kernel will make the model fail: ",
    Effect.FAIL_AT_INVOKE: "Invoke will fail: ",
}
"""The beginning of messages about delegate kernels that fail although nothing is restored."""

NOT_APPLIED = frozenset({REFUSED, "restored"})
"""Outcomes after which benchmark_model stops with an error."""


class DelegateApplication:
    """The application of one delegate to the current subgraphs."""

    def __init__(
        self,
        graphs: tuple[Graph, ...],
        needs_static: bool,
        is_allocated: bool,
        target: Target,
        cache: AnalysisCache,
        warnings: Sequence[str],
        removed: frozenset[int],
        skipped: frozenset[int],
        ended: frozenset[str],
    ) -> None:
        self.ended = ended
        """The codes of failures of LiteRT's loader that are ignored."""
        self.removed = removed
        """Subgraphs that are no longer in the model."""
        self.graphs = graphs
        self.needs_static = needs_static
        self.is_allocated = is_allocated
        """Whether an earlier delegate made the runtime allocate tensors.

        The runtime then allocates them again after this delegate.
        """
        self.target = target
        self.delegate = target.delegate
        self.options = target.options
        self.release = target.release
        self._cache = cache
        self.log_lines: list[str] = []
        self.warnings = [*map(str, self.delegate.release_notes(self.release)), *warnings]
        self.subgraphs = [SubgraphRun(graph) for graph in graphs]
        self.again = Reapplications(self.release)
        self.later_failure: Refusal | None = None
        self.unprepared: list[tuple[int, Refusal]] = []
        """The delegate kernels that fail when the application allocates tensors, each with the first node that it replaces.

        A kernel after a dynamic tensor fails later, when the model runs.
        """
        self.skipped = skipped
        """Subgraphs that no delegate gets any more, because a delegate runs composites without them."""
        self._has_crashed = False
        self.is_cut_short = False
        """Whether the runtime stopped with an error at a subgraph that cannot be prepared."""

    def run(self) -> Run:
        """Apply the delegate to the subgraphs in order. Stop at the first refusal."""
        refusal = self._refused_to_load()
        if refusal is not None:
            self._judge_rest(self.graphs)
            return self._finish(REFUSED, refusal)
        for graph in self.graphs:
            if self._is_skipped(graph):
                continue
            if self.needs_static and graph.failure is not None and graph.failure.node in graph.execution_plan:
                return self._end_unprepared(graph, graph.failure)
            dynamic = graph.dynamic
            if self.needs_static and dynamic is not None and (dynamic.node is None or dynamic.node in graph.execution_plan):
                return self._finish(REFUSED, self._refuse_dynamic(graph))
            failure = self._apply_where_called(graph)
            if failure is not None:
                refusal = self._restore(graph, failure)
                self._judge_rest(self.graphs[graph.index + 1 :])
                return self._finish(REFUSED if self.delegate.accelerator.fails_with_model else "restored", refusal)
            if self._has_crashed:
                self._judge_rest(self.graphs[graph.index + 1 :])
                break
        self._take_bodies()
        delegated = any(subgraph.delegated for subgraph in self.subgraphs)
        return self._finish("delegated" if delegated else "none", self.later_failure)

    def _end_unprepared(self, graph: Graph, failure: Refusal) -> Run:
        """Stop applying the delegate at a subgraph that cannot be prepared.

        The delegate keeps the nodes of earlier subgraphs, unless failures of the delegate make the whole model fail.
        """
        self.log_lines += failure.log_lines
        self.is_cut_short = True
        is_kept = not self.delegate.accelerator.fails_with_model and any(subgraph.delegated for subgraph in self.subgraphs)
        self._judge_rest(self.graphs[graph.index :])
        return self._finish("delegated" if is_kept else REFUSED, not_prepared(graph, failure))

    def _take_bodies(self) -> None:
        """Mark the nodes of skipped subgraphs as delegated, unless a node on the CPU calls the subgraph too."""
        if not self.skipped:
            return
        model = self.graphs[0].model
        running = [run for run in self.subgraphs if run.graph.index not in self.skipped]
        left = [run.graph.nodes[index] for run in running for index in run.graph.execution_plan if index not in run.delegated]
        on_cpu = subgraphs_from(model, [index for node in left for index in called_subgraphs(model, node)])
        for graph in self.graphs:
            if graph.index in self.skipped - on_cpu and self.subgraphs[graph.index].decision is None:
                self.subgraphs[graph.index] = SubgraphRun(graph, taken=frozenset(graph.execution_plan))

    def _is_skipped(self, graph: Graph) -> bool:
        return graph.name.startswith(VALIDATION_PREFIX) or graph.index in self.removed or graph.index in self.skipped

    def _refused_to_load(self) -> Refusal | None:
        if not self.graphs:
            return None
        refusal = self.delegate.accelerator.load_refusal(self.graphs[0].model, self.options, self.release)
        if refusal is None or refusal.code in self.ended:
            return None
        self.log_lines += refusal.log_lines
        return refusal

    def _apply_where_called(self, graph: Graph) -> Refusal | None:
        """Apply the delegate to a subgraph.

        The runtime then applies the delegate a second time to called subgraphs, so add the log lines of this second
        application.
        """
        if not self.needs_static:
            return self._apply(graph)
        self.log_lines += self.again.lines(graph)
        printed = len(self.log_lines)
        failure = self._apply(graph)
        if failure is None and not self._has_crashed:
            delegated = self.subgraphs[graph.index].delegated
            self.again.note(graph, self.log_lines[printed:], delegated)
            self.log_lines += self.again.lines(graph, delegated)
            if self.again.is_cut_short:
                self.warnings.append("some log lines are left out, because subgraphs call each other very often")
        return failure

    def _apply(self, graph: Graph) -> Refusal | None:
        try:
            decision = self._decide(graph)
        except PartitionError as error:
            return CYCLIC_GRAPH.refusal(f"the nodes cannot be ordered: {error}")
        self.warnings += decision.warnings
        self.warnings += self.delegate.run_warnings(decision, lambda: self._prepared_graphs[graph.index])
        self.log_lines += decision.log_lines
        self.skipped |= decision.skipped
        shown = attributed_decision(graph, decision)
        self.subgraphs[graph.index] = SubgraphRun(graph, shown)
        if decision.failure is not None:
            failure = attributed_failure(graph, decision, decision.failure)
            if failure.effect is not Effect.CRASH:
                return failure
            before = "" if failure.stage is Stage.ACCEPTING else _BEFORE[Effect.CRASH]
            self._will_fail(graph, failure.within(self._place(decision, decision.failure)).within(before))
            return None
        if not decision.nodes:
            return self._ask_of_graph(graph, decision, ())
        subsets = decision.grouped()
        calls = decision.calls or (ReplacingCall(len(decision.nodes), len(decision.graph.execution_plan), len(subsets)),)
        self.log_lines += [
            wording.replacing_line(
                self.release,
                replaced=call.replaced,
                total=call.total,
                kernel=self.delegate.kernel_name_for(self.options),
                partitions=call.partitions,
                subgraph=shown_number(graph.index, self.removed),
                name=graph.name,
            )
            for call in calls
        ]
        self.subgraphs[graph.index] = SubgraphRun(graph, shown, attributed_subsets(graph, decision, subsets), subsets)
        failed = self._prepare_plan(graph, decision, subsets) or self._ask_behind(decision, subsets)
        if failed is None:
            return self._ask_of_graph(graph, decision, subsets)
        failure, first = failed
        place = self._place(decision, failure)
        failure = attributed_failure(graph, decision, failure)
        fails_with_model = self.delegate.accelerator.fails_with_model
        if failure.is_predicted:
            self._will_fail(graph, failure.within(place, f"; {wording.predicted_build(self.release)}"))
        elif failure.effect.is_later or failure.is_at_invoke or (failure.effect is Effect.CRASH and not fails_with_model):
            self._will_fail(graph, failure.within(place).within(_BEFORE[failure.effect]))
        elif fails_with_model or self.is_allocated or not self.delegate.allows_dynamic_tensors(self.options, self.release):
            return failure
        else:
            # If dynamic tensors are allowed, only AllocateTensors prepares the plan, and nothing restores the original plan.
            self._tell_stage(failure)
            failure = replace(failure.within(place), subgraph=graph.index)
            self.unprepared.append((decision.origins.get(first, first), failure))
        return self._ask_of_graph(graph, decision, subsets)

    @functools.cached_property
    def _prepared_graphs(self) -> Sequence[Graph]:
        return prepare(self.graphs[0].model, release=self.release, cache=self._cache)

    def _decide(self, graph: Graph) -> Decision:
        release = self.delegate.decides_like(self.release, graph, self.options)
        key = graph, self.delegate, self.options, release
        return self._cache.get(("decide", graph.index), key, lambda: self.delegate.decide(graph, self.options, release))

    def _ask_of_graph(self, graph: Graph, decision: Decision, subsets: tuple[Subset, ...]) -> Refusal | None:
        failure = self.delegate.accelerator.graph_refusal(decision, subsets, self.options, self.release)
        if failure is None or not failure.effect.is_later:
            return failure
        self._will_fail(graph, failure)
        return None

    @staticmethod
    def _place(decision: Decision, failure: Refusal) -> str | Phrase:
        op = "" if failure.node is None else decision.graph.nodes[failure.node].op
        return "" if failure.node is None else node_place(failure.node, op, "node {node} ({op}): ")

    def _will_fail(self, graph: Graph, failure: Refusal) -> None:
        self._has_crashed |= failure.effect is Effect.CRASH and not failure.is_predicted
        self._tell_stage(failure)
        self.warnings.append(f"subgraph {graph.index}: {failure.message}")
        if self.later_failure is None:
            self.later_failure = replace(failure, subgraph=graph.index)

    def _tell_stage(self, failure: Refusal) -> None:
        if failure.below is not None:
            self.log_lines += [line for line in failure.below.log_lines if line not in failure.log_lines]
            self.warnings += failure.further

    def _prepare_plan(self, graph: Graph, decision: Decision, subsets: tuple[Subset, ...]) -> tuple[Refusal, int] | None:
        """Prepare the new plan in order: the delegate kernels, and the CPU kernels with operands that the delegate changed.

        Return the first failure and the first node of the failing kernel, or None if no kernel fails. A failure that is only
        predicted is returned if no other kernel fails.
        """
        made = {
            subset: failure
            for subset in subsets
            if subset.is_delegated and (failure := self._kernel_failure(graph, decision, subset)) is not None
        }
        # The runtime initializes all kernels before it prepares any kernel, so a crash comes before all other failures.
        crash = next((subset for subset, failure in made.items() if failure.effect.is_crash), None)
        if crash is not None:
            return made[crash], crash.nodes[0]
        repreparation = Repreparation(decision.graph, self.release)
        predicted: tuple[Refusal, int] | None = None
        for subset in subsets:
            if subset in made:
                failed = self._with_kernel_line(made[subset], decision, subsets, subset), subset.nodes[0]
                if not made[subset].is_predicted:
                    return failed
                predicted = predicted or failed
            if subset.is_delegated:
                continue
            for index in subset.nodes:
                node = decision.graph.nodes[index]
                is_added = index >= len(graph.nodes)
                if not is_added and node is graph.nodes[index]:
                    continue
                message = repreparation.refusal(node)
                if message is not None:
                    operands = "operands" if is_added else "float16 constants"
                    failure = CPU_KERNEL_AFTER_REMAPPING.refusal(
                        f"the CPU kernel of {node.op} does not support the {operands} from the delegate: {message}",
                        node=index,
                        log_lines=(wording.prepare_failure_line(index, node.op), wording.RESTORED_LINE),
                    )
                    return failure, index
        return predicted

    def _kernel_failure(self, graph: Graph, decision: Decision, subset: Subset) -> Refusal | None:
        if not graph.assumed.isdisjoint(subset.nodes):
            # The real delegate does not accept assumed nodes, so it is not known whether they fail.
            known = tuple([node for node in subset.nodes if node not in graph.assumed]) if self.delegate.builds_by_node else ()
            subset = subset._replace(nodes=known)
        is_known = subset in decision.initialized or not subset.nodes
        failure = None if is_known else self.delegate.kernel_failure(decision, subset, self.options, self.release)
        if failure is not None or graph.assumed or graph.index:
            return failure
        return self.delegate.shape_failure(decision, subset, lambda: self._prepared_graphs[graph.index], self.release)

    def _ask_behind(self, decision: Decision, subsets: tuple[Subset, ...]) -> tuple[Refusal, int] | None:
        failure = self.delegate.behind.refusal(decision, subsets, self.options, self.release)
        if failure is None:
            return None
        failed = next((subset for subset in subsets if failure.node in subset.nodes), None)
        if failed is None:
            return failure, decision.nodes[0]
        return self._with_kernel_line(failure, decision, subsets, failed), failed.nodes[0]

    def _with_kernel_line(self, failure: Refusal, decision: Decision, subsets: tuple[Subset, ...], failed: Subset) -> Refusal:
        """Add the runtime's log lines about a delegate kernel that cannot be prepared.

        The first of these lines has the kernel's node index. The indices of kernels follow the indices of the graph's nodes.
        """
        if self.delegate.accelerator.fails_with_model or failure.effect.leaves_delegate:
            return failure
        before = subsets[: subsets.index(failed)]
        number = len(decision.graph.nodes) + sum(subset.is_delegated for subset in before)
        line = wording.prepare_failure_line(number, self.delegate.kernel_name_for(self.options))
        return replace(failure, log_lines=(*failure.log_lines, line, wording.RESTORED_LINE))

    def _refuse_dynamic(self, graph: Graph) -> Refusal:
        assert graph.dynamic is not None
        dynamic = graph.dynamic
        self.log_lines.append(wording.DYNAMIC_TENSOR_LINE.format(tensor=dynamic.named))
        tensor = graph.tensors[dynamic.tensor]
        message = "tensor {tensor} ({name}) of subgraph {subgraph} is dynamic-sized"
        hint = DYNAMIC_TENSORS.hint
        values = {"tensor": dynamic.tensor, "name": tensor.name, "subgraph": graph.index}
        node: str | Phrase = "" if dynamic.node is None else node_place(dynamic.node, graph.nodes[dynamic.node].op)
        if dynamic.cause is not None:
            message += " because input tensor {cause} ({cause_name}) of {node} is not constant"
            values |= {"cause": dynamic.cause, "cause_name": graph.tensors[dynamic.cause].name, "node": node}
            hint = f"make tensor {dynamic.cause} a constant: {hint}"
        elif node:
            message += " because of {node}"
            values["node"] = node
        place = {"subgraph": graph.index, "node": dynamic.node, "tensor": dynamic.tensor, "cause": dynamic.cause}
        return DYNAMIC_TENSORS.refusal(message, hint=hint, values=values, **place)

    def _restore(self, graph: Graph, failure: Refusal) -> Refusal:
        self._tell_stage(failure)
        # A crashed process logs nothing more.
        is_silent = failure.effect is Effect.CRASH or failure.effect.leaves_delegate
        self.log_lines += failure.log_lines or (() if is_silent else (wording.RESTORED_LINE,))
        self.subgraphs = [subgraph.without_kernels() for subgraph in self.subgraphs]
        return replace(failure, subgraph=graph.index)

    def _judge_rest(self, graphs: Sequence[Graph]) -> None:
        for graph in graphs:
            if not self._is_skipped(graph) and graph.dynamic is None:
                with suppress(PartitionError):
                    decision = self._decide(graph)
                    self.subgraphs[graph.index] = SubgraphRun(graph, attributed_decision(graph, decision))

    def _finish(self, outcome: str, refusal: Refusal | None) -> Run:
        if outcome == REFUSED:
            self.subgraphs = [subgraph.without_kernels() for subgraph in self.subgraphs]
        has_left = refusal is not None and refusal.effect.leaves_delegate
        if self.target.defaults == "benchmark" and self.delegate.log.is_in_benchmark_model and not has_left:
            self.log_lines.append(self._benchmark_line(outcome, refusal))
        return Run(self.target, outcome, refusal, tuple(self.log_lines), tuple(self.warnings), tuple(self.subgraphs))

    def _benchmark_line(self, outcome: str, refusal: Refusal | None) -> str:
        is_rejected = refusal is not None and refusal.is_predicted
        if outcome in NOT_APPLIED or is_rejected or self.is_cut_short:
            return wording.benchmark_failure_line(self.delegate.provider_name)
        first = self.subgraphs[0]
        kernels = sum(subset.is_delegated for subset in first.subsets)
        cpu_nodes = sum(len(subset.nodes) for subset in first.plan if not subset.is_delegated)
        if not first.plan:
            cpu_nodes = len(first.graph.execution_plan)
        return wording.benchmark_line(self.delegate.provider_name, kernels=kernels, plan_size=kernels + cpu_nodes)


def shown_number(index: int, removed: frozenset[int]) -> int:
    """Convert a subgraph's index in the model file to the subgraph's index in the model that the runtime loads."""
    return index - sum([other < index for other in removed])
