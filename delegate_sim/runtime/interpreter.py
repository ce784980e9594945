"""What the runtime does with a delegate and a model, subgraph by subgraph.

Source: ``Interpreter::ModifyGraphWithDelegateImpl`` (``core/interpreter.cc``) and ``Subgraph::ModifyGraphWithDelegateImpl``
(``core/subgraph.cc``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import suppress

from ..delegates.base import Decision, Delegate, KernelFailure, OptionValues
from ..errors import OptionError
from ..graph.graph import Graph, file_graphs
from ..graph.partition import PartitionError, Subset
from ..model.model import Model
from ..prepare import Repreparation, prepare, prepare_around, prepare_rest
from ..releases.catalogue import Release
from ..releases.notes import predicted_build
from ..releases.wording import (
    DYNAMIC_TENSOR_LINE,
    NOT_ALLOCATED_LINE,
    RESTORED_LINE,
    benchmark_failure_line,
    benchmark_line,
    replacing_line,
)
from ..rules.kinds import (
    CPU_KERNEL_AFTER_REMAPPING,
    CYCLIC_GRAPH,
    DYNAMIC_TENSORS,
)
from .ahead import dispatched, run_plugin
from .assumptions import NOTHING_ASSUMED, Assumptions
from .attribution import attributed_decision, attributed_failure, attributed_subsets
from .loading import load_on, loading_warnings
from .plan import DELEGATE, ChangedPlan, plan_after
from .reading import as_read_by
from .refusals import kernel_refusal, not_loaded, not_prepared
from .run import NOT_LOADED, NOT_PREPARED, Refusal, Run, SubgraphRun, option_values

__all__ = [
    "NOTHING_ASSUMED",
    "NOT_LOADED",
    "NOT_PREPARED",
    "Application",
    "Assumptions",
    "Refusal",
    "Run",
    "SubgraphRun",
    "option_values",
    "simulate",
    "simulate_chain",
]

VALIDATION_PREFIX = "VALIDATION:"
"""Subgraphs with such names hold tests of the model; no delegate is applied to them."""


Application = tuple[Delegate, OptionValues]
"""A delegate that is applied, with its options."""


def simulate(
    model: Model,
    delegate: Delegate,
    options: OptionValues,
    release: Release,
    defaults: str = "api",
    assumptions: Assumptions = NOTHING_ASSUMED,
) -> Run:
    """Apply one delegate to every subgraph of a model."""
    return simulate_chain(model, [(delegate, options)], release, defaults, assumptions=assumptions)[0]


def simulate_chain(
    model: Model,
    targets: Sequence[Application],
    release: Release,
    defaults: str = "api",
    by_default: Callable[[], Application] | None = None,
    assumptions: Assumptions = NOTHING_ASSUMED,
) -> tuple[Run, ...]:
    """Apply delegates one after another: each sees the execution plan that those before it left, with their kernels as nodes.

    ``by_default`` gives the delegate that the runtime applies by itself when tensors are allocated, unless the first subgraph
    then runs wholly on delegates (``Interpreter::ApplyLazyDelegateProviders``, ``core/interpreter.cc``): only then is it called.
    benchmark_model does not get that far after a delegate that cannot be applied, nor does anything after one that fails with the
    model.
    """
    model = as_read_by(model, release)
    chain = _Chain(model, release, assumptions)
    for delegate, options in targets:
        chain.apply(delegate, options, defaults)
        if chain.is_unreadable:
            return tuple(chain.runs)
    if all(delegate.is_plugin for delegate, _ in targets) and by_default is None:
        return tuple(chain.runs)
    if not chain.is_loaded:
        return tuple([not_loaded(model, run, chain.loading, defaults) for run in chain.runs])
    is_over = any(
        run.outcome in _NOT_APPLIED and (defaults == "benchmark" or run.delegate.fails_with_model) for run in chain.runs
    )
    if by_default is not None and not is_over and not chain.is_fully_delegated():
        chain.apply(*by_default(), "api")
        chain.runs[-1] = dataclasses.replace(chain.runs[-1], by_default=True)
    if not is_over:
        chain.allocate_tensors(defaults)
    return tuple(chain.runs)


_NOT_APPLIED = frozenset({"refused", "restored", NOT_PREPARED})
"""Outcomes of a delegate after which benchmark_model gives up."""


class _Chain:
    """The state of a model between delegates."""

    def __init__(self, model: Model, release: Release, assumptions: Assumptions) -> None:
        self.model = model
        self.release = release
        self.assumptions = assumptions
        self.runs: list[Run] = []
        self.loading = load_on(model, release)
        is_refused = self.loading.refused and not assumptions.has_own_resolver
        self.is_loaded = not (is_refused or self.loading.refused_tensors)
        self._warnings = tuple(loading_warnings(model, self.loading, has_own_resolver=assumptions.has_own_resolver))
        self._plans: dict[int, ChangedPlan] = {}
        """Those of the subgraphs that a delegate changed."""
        self._compiled: dict[int, frozenset[int]] | None = None
        """Nodes of each subgraph that a plugin compiled before the runtime loads the model; None if there is no plugin."""
        self._removed: frozenset[int] = frozenset()
        """Subgraphs that a plugin took out of the model."""
        self._prepared_around: tuple[Graph, ...] | None = None
        self._is_static = False
        """Whether a delegate without the dynamic-tensors flag was applied, after which all shapes are known."""

    def apply(self, delegate: Delegate, options: OptionValues, defaults: str) -> None:
        """Apply one more delegate."""
        if delegate.is_plugin:
            self._compile(delegate, options)
            return
        self._dispatch()
        is_static = not delegate.allows_dynamic_tensors(options)
        graphs = self._prepared() if is_static or self._is_static else file_graphs(self.model)
        current = tuple(self._current(graph) for graph in graphs)
        needs_static = is_static and not self._is_static
        simulation = _Simulation(
            current, needs_static, self._is_static, delegate, options, self.release, defaults, self._warnings, self._removed
        )
        run = simulation.run()
        if run.outcome == "restored" or (run.outcome == "refused" and delegate.fails_with_model):
            self._take_back(run)
        elif run.outcome not in _NOT_APPLIED:
            self._is_static |= is_static
            for subgraph in run.subgraphs:
                if subgraph.subsets:
                    self._plans[subgraph.graph.index] = self._plan_after(subgraph, delegate.kernel_name_for(options))
        self.runs.append(run)

    def _compile(self, delegate: Delegate, options: OptionValues) -> None:
        """Have a compiler plugin select nodes of the file, which the runtime then loads without them."""
        if self.runs:
            raise OptionError(f"{delegate.name} compiles parts of the file before delegates are applied: name it first")
        run = run_plugin(self.model, delegate, options, self.release, self.assumptions.accepted, self.assumptions.ended)
        self._compiled = {subgraph.graph.index: subgraph.delegated for subgraph in run.subgraphs if subgraph.delegated}
        self._removed = run.removed
        self.runs.append(run)

    @property
    def is_unreadable(self) -> bool:
        """Whether LiteRT cannot read the model for a plugin, so that it has no model to apply delegates to either."""
        return any(run.refusal is not None and run.refusal.stage == "load" for run in self.runs)

    def _dispatch(self) -> None:
        """Have the runtime replace what a plugin compiled, before it applies the first delegate."""
        if self._compiled is None or self._plans or not self.runs or len(self.runs) > 1:
            return
        run, lines = self.runs[0], list[str]()
        for subgraph in run.subgraphs:
            index = subgraph.graph.index
            if run.outcome != "refused" and subgraph.decision is not None and index not in self._removed:
                given = len(self.model.subgraphs[index].tensors)
                plan, line = dispatched(subgraph, run.delegate.kernel_name, self.release, given, _number(index, self._removed))
                self._plans[index] = plan
                lines += [line] if line else []
        self.runs[0] = dataclasses.replace(run, log_lines=(*run.log_lines, *lines))

    def _plan_after(self, run: SubgraphRun, name: str) -> ChangedPlan:
        assert run.decision is not None
        given = len(self.model.subgraphs[run.graph.index].tensors)
        return plan_after(run.decision.graph, run.plan, name, given)

    def is_fully_delegated(self) -> bool:
        """Whether nothing of the first subgraph is left to the CPU."""
        self._dispatch()
        first = self._current(self._prepared()[0])
        return all(first.nodes[index].builtin_code == DELEGATE for index in first.execution_plan)

    def allocate_tensors(self, defaults: str) -> None:
        """Have the application allocate tensors, where no delegate had the runtime do so: CPU kernels may now refuse nodes."""
        if self._is_static or all(run.outcome in _NOT_APPLIED for run in self.runs):
            return
        first = self._prepared()[0]
        if first.failure is None and first.dynamic is None:
            return
        failure = prepare_rest(self.model, self._delegated(), self.assumptions.fixed_shapes, self.release)
        if failure is None:
            return
        refusal = not_prepared(first, failure)
        for number, run in enumerate(self.runs):
            if run.outcome in ("delegated", "none") and run.refusal is None:
                self.runs[number] = dataclasses.replace(run, outcome=NOT_PREPARED, refusal=refusal)
        lines = (*failure.lines, NOT_ALLOCATED_LINE) if defaults == "benchmark" else failure.lines
        self.runs[-1] = dataclasses.replace(self.runs[-1], log_lines=(*self.runs[-1].log_lines, *lines))

    def _delegated(self) -> dict[int, set[int]]:
        """Return the nodes of each subgraph whose CPU kernels are not asked: what runs on delegates, their kernels among them."""
        found = {index: {node for run in self.runs for node in run.subgraphs[index].delegated} for index in self._plans}
        for subgraph, node in self.assumptions.repaired:
            found.setdefault(subgraph, set()).add(node)
        return found

    def _prepared(self) -> tuple[Graph, ...]:
        if self._compiled:
            if self._prepared_around is None:
                self._prepared_around = prepare_around(self.model, self._compiled, self.assumptions.fixed_shapes, self.release)
            return self._prepared_around
        return prepare(self.model, self.assumptions.fixed_shapes, self.release, self.assumptions.repaired)

    def _current(self, graph: Graph) -> Graph:
        accepted = self.assumptions.accepted.get(graph.index)
        if accepted:
            graph = dataclasses.replace(graph, assumed=accepted)
        if graph.index not in self._plans:
            return graph
        nodes, plan, added, outputs = self._plans[graph.index]
        return dataclasses.replace(graph, nodes=nodes, execution_plan=plan, tensors=graph.tensors + added, outputs=outputs)

    def _take_back(self, failed: Run) -> None:
        """One delegate that fails undoes those before it (``Interpreter::RemoveAllDelegates``)."""
        assert failed.refusal is not None
        self._plans.clear()
        self._is_static = False
        for number, run in enumerate(self.runs):
            if run.outcome == "delegated":
                subgraphs = tuple([subgraph.without_kernels() for subgraph in run.subgraphs])
                self.runs[number] = dataclasses.replace(run, outcome="restored", refusal=failed.refusal, subgraphs=subgraphs)


class _Simulation:
    """One delegate applied to the subgraphs as they are."""

    def __init__(
        self,
        graphs: tuple[Graph, ...],
        needs_static: bool,
        is_allocated: bool,
        delegate: Delegate,
        options: OptionValues,
        release: Release,
        defaults: str,
        warnings: Sequence[str] = (),
        removed: frozenset[int] = frozenset(),
    ) -> None:
        self.removed = removed
        """Subgraphs that the model no longer has."""
        self.graphs = graphs
        self.needs_static = needs_static
        self.is_allocated = is_allocated
        """Whether a delegate before this one had the runtime allocate tensors, as it then does after this one too."""
        self.delegate = delegate
        self.options = options
        self.release = release
        self.defaults = defaults
        self.log_lines: list[str] = []
        self.warnings = [*delegate.release_notes(release), *warnings]
        self.subgraphs = [SubgraphRun(graph) for graph in graphs]
        self.later_failure: Refusal | None = None
        self.skipped: frozenset[int] = frozenset()

    def run(self) -> Run:
        refusal = self._refused_to_load()
        if refusal is not None:
            self._judge_rest(self.graphs)
            return self._finish("refused", refusal)
        for graph in self.graphs:
            if self._is_skipped(graph):
                continue
            if self.needs_static and graph.failure is not None and graph.failure.node in graph.execution_plan:
                self.log_lines += graph.failure.lines
                self._judge_rest(self.graphs[graph.index :])
                return self._finish(NOT_PREPARED, not_prepared(graph, graph.failure))
            if self.needs_static and _is_dynamic(graph):
                return self._finish("refused", self._refuse_dynamic(graph))
            failure = self._apply(graph)
            if failure is not None:
                refusal = self._restore(graph, failure)
                self._judge_rest(self.graphs[graph.index + 1 :])
                return self._finish("refused" if self.delegate.fails_with_model else "restored", refusal)
        delegated = any(subgraph.delegated for subgraph in self.subgraphs)
        return self._finish("delegated" if delegated else "none", self.later_failure)

    def _is_skipped(self, graph: Graph) -> bool:
        return graph.name.startswith(VALIDATION_PREFIX) or graph.index in self.removed or graph.index in self.skipped

    def _refused_to_load(self) -> Refusal | None:
        found = self.delegate.load_refusal(self.graphs[0].model, self.options, self.release) if self.graphs else None
        if found is None:
            return None
        index, failure = found
        self.log_lines += failure.log_lines
        return kernel_refusal(self.graphs[index], failure, failure.message)

    def _apply(self, graph: Graph) -> KernelFailure | None:
        try:
            decision = self.delegate.decide(graph, self.options, self.release)
        except PartitionError as error:
            message = f"the nodes cannot be put in running order: {error}"
            return KernelFailure(None, None, CYCLIC_GRAPH.name, message, CYCLIC_GRAPH.hint)
        self.warnings += decision.warnings
        self.log_lines += decision.log_lines
        self.skipped |= decision.skipped
        shown = attributed_decision(graph, decision)
        self.subgraphs[graph.index] = SubgraphRun(graph, shown)
        if decision.failure is not None:
            return attributed_failure(graph, decision, decision.failure)
        if not decision.nodes:
            return self._ask_of_graph(graph, decision, ())
        subsets = decision.grouped()
        self.log_lines.append(
            replacing_line(
                self.release,
                replaced=len(decision.nodes),
                total=len(decision.graph.execution_plan),
                kernel=self.delegate.kernel_name_for(self.options),
                partitions=len(subsets),
                subgraph=_number(graph.index, self.removed),
                name=graph.name,
            )
        )
        self.subgraphs[graph.index] = SubgraphRun(graph, shown, attributed_subsets(graph, decision, subsets), subsets)
        failure = self._prepare_plan(graph, decision, subsets) or self._ask_behind(graph, decision, subsets)
        if failure is None:
            return self._ask_of_graph(graph, decision, subsets)
        place = "" if failure.node is None else f"node {failure.node} ({decision.graph.nodes[failure.node].op}): "
        failure = attributed_failure(graph, decision, failure)
        if not failure.is_known:
            self._will_fail(graph, failure, f"{place}{failure.message}; {predicted_build(self.release)}")
        elif failure.is_crash:
            self._will_fail(graph, failure, f"making a kernel will crash the process: {place}{failure.message}")
        elif self.delegate.fails_with_model:
            return failure
        elif self.delegate.allows_dynamic_tensors(self.options) and not self.is_allocated:
            # The plan of such a delegate is first prepared when the application allocates tensors, and nothing restores it.
            self._will_fail(graph, failure, f"AllocateTensors will fail: {place}{failure.message}")
        else:
            return failure
        return self._ask_of_graph(graph, decision, subsets)

    def _ask_of_graph(self, graph: Graph, decision: Decision, subsets: tuple[Subset, ...]) -> KernelFailure | None:
        """Ask whether the subgraph may stay as it now is."""
        failure = self.delegate.graph_refusal(decision, subsets, self.options, self.release)
        if failure is None or not failure.is_later:
            return failure
        self._will_fail(graph, failure, failure.message)
        return None

    def _will_fail(self, graph: Graph, failure: KernelFailure, message: str) -> None:
        """Note that the nodes are replaced, and yet they will not run on the delegate, or that this is predicted."""
        self._tell_stage(failure)
        self.warnings.append(f"subgraph {graph.index}: {message}")
        if self.later_failure is None:
            self.later_failure = kernel_refusal(graph, failure, message)

    def _tell_stage(self, failure: KernelFailure) -> None:
        """Print what the delegate prints when a stage behind it refuses a call, and name what it would refuse next."""
        if failure.stage is not None:
            self.log_lines.append(failure.stage.error_line)
            self.warnings += failure.stage.further

    def _prepare_plan(self, graph: Graph, decision: Decision, subsets: tuple[Subset, ...]) -> KernelFailure | None:
        """Prepare the new plan in order: the delegate's kernels, and CPU kernels whose operands the delegate changed."""
        repreparation = Repreparation(decision.graph, self.release)
        for subset in subsets:
            if subset.is_delegated:
                # How the delegate would change a node that it does not accept is not known.
                is_known = subset in decision.initialised or not graph.assumed.isdisjoint(subset.nodes)
                failure = None if is_known else self.delegate.kernel_failure(decision, subset, self.options, self.release)
                if failure is not None:
                    return failure
                continue
            for index in subset.nodes:
                node = decision.graph.nodes[index]
                is_added = index >= len(graph.nodes)
                if not is_added and node is graph.nodes[index]:
                    continue
                message = repreparation.refusal(node)
                if message is not None:
                    operands = "operands" if is_added else "float16 constants"
                    return KernelFailure(
                        index,
                        None,
                        CPU_KERNEL_AFTER_REMAPPING.name,
                        f"the CPU kernel of {node.op} cannot take the {operands} that the delegate gave it: {message}",
                        CPU_KERNEL_AFTER_REMAPPING.hint,
                    )
        return None

    def _ask_behind(self, graph: Graph, decision: Decision, subsets: tuple[Subset, ...]) -> KernelFailure | None:
        """Ask the stage behind the delegate, once all kernels are made."""
        return self.delegate.refusal_behind(decision, subsets, self.options, self.release)

    def _refuse_dynamic(self, graph: Graph) -> Refusal:
        assert graph.dynamic is not None
        dynamic = graph.dynamic
        self.log_lines.append(DYNAMIC_TENSOR_LINE.format(tensor=dynamic.tensor))
        tensor = graph.tensors[dynamic.tensor]
        message = f"tensor {dynamic.tensor} ({tensor.name}) of subgraph {graph.index} is dynamic-sized"
        hint = DYNAMIC_TENSORS.hint
        if dynamic.node is not None:
            message += f", made so by node {dynamic.node} ({graph.nodes[dynamic.node].op})"
        if dynamic.cause is not None:
            cause = graph.tensors[dynamic.cause]
            message += f", because its input tensor {dynamic.cause} ({cause.name}) is not constant"
            hint = f"make tensor {dynamic.cause} a constant: {hint}"
        return Refusal(DYNAMIC_TENSORS.name, message, hint, graph.index, dynamic.node, dynamic.tensor, dynamic.cause)

    def _restore(self, graph: Graph, failure: KernelFailure) -> Refusal:
        """The runtime undoes all delegation, in every subgraph."""
        self._tell_stage(failure)
        self.log_lines += failure.log_lines or (RESTORED_LINE,)
        self.subgraphs = [subgraph.without_kernels() for subgraph in self.subgraphs]
        return kernel_refusal(graph, failure, failure.message)

    def _judge_rest(self, graphs: Sequence[Graph]) -> None:
        """Judge the nodes of subgraphs that the runtime no longer reaches, for the report."""
        for graph in graphs:
            if not self._is_skipped(graph) and graph.dynamic is None:
                with suppress(PartitionError):
                    decision = self.delegate.decide(graph, self.options, self.release)
                    self.subgraphs[graph.index] = SubgraphRun(graph, attributed_decision(graph, decision))

    def _finish(self, outcome: str, refusal: Refusal | None) -> Run:
        if outcome in ("refused", NOT_PREPARED):
            self.subgraphs = [subgraph.without_kernels() for subgraph in self.subgraphs]
        if self.defaults == "benchmark" and self.delegate.is_in_benchmark_model:
            self.log_lines.append(self._benchmark_line(outcome))
        return Run(
            self.delegate,
            self.options,
            self.release,
            outcome,
            refusal,
            tuple(self.log_lines),
            tuple(self.warnings),
            tuple(self.subgraphs),
        )

    def _benchmark_line(self, outcome: str) -> str:
        if outcome in _NOT_APPLIED:
            return benchmark_failure_line(self.delegate.provider_name)
        first = self.subgraphs[0]
        kernels = sum(subset.is_delegated for subset in first.subsets)
        cpu_nodes = sum(len(subset.nodes) for subset in first.plan if not subset.is_delegated)
        if not first.plan:
            cpu_nodes = len(first.graph.execution_plan)
        return benchmark_line(self.delegate.provider_name, kernels=kernels, plan_size=kernels + cpu_nodes)


def _number(index: int, removed: frozenset[int]) -> int:
    """Return the index of a subgraph in the model that the runtime loads, from its index in the file."""
    return index - sum([other < index for other in removed])


def _is_dynamic(graph: Graph) -> bool:
    """Whether a tensor is dynamic-sized, and the node that makes it so still runs on the CPU."""
    return graph.dynamic is not None and (graph.dynamic.node is None or graph.dynamic.node in graph.execution_plan)
