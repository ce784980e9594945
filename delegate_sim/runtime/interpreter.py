"""What the runtime does with a delegate and a model, subgraph by subgraph.

Source: ``Interpreter::ModifyGraphWithDelegateImpl`` (``core/interpreter.cc``) and ``Subgraph::ModifyGraphWithDelegateImpl``
(``core/subgraph.cc``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ..delegates.base import Decision, Delegate, KernelFailure, OptionValues
from ..graph.graph import Graph, PrepareFailure, file_graphs
from ..graph.partition import PartitionError, Subset
from ..model.model import Model
from ..prepare import Repreparation, prepare, prepare_rest
from ..releases.catalogue import Release
from ..releases.notes import predicted_build
from ..releases.wording import (
    DYNAMIC_TENSOR_LINE,
    NOT_ALLOCATED_LINE,
    NOT_INITIALISED_LINE,
    RESTORED_LINE,
    benchmark_failure_line,
    benchmark_line,
    replacing_line,
)
from ..rules.kinds import (
    CPU_KERNEL_AFTER_REMAPPING,
    CPU_KERNEL_NOT_PREPARED,
    CYCLIC_GRAPH,
    DYNAMIC_TENSORS,
    OPERATOR_NOT_LOADED,
    TENSOR_TYPE_NOT_LOADED,
)
from .attribution import attributed_decision, attributed_failure, attributed_subsets
from .loading import Loading, first_node, load_on, loading_warnings
from .plan import DELEGATE, ChangedPlan, plan_after
from .reading import as_read_by
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


@dataclass(frozen=True)
class Assumptions:
    """What to assume, for what-if questions."""

    accepted: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Nodes of each subgraph that count as accepted by every delegate."""
    fixed_shapes: bool = False
    """Whether every tensor has the shape that the file gives it."""
    has_own_resolver: bool = False
    """Whether the application registers every operator that the runtime's own resolver does not have."""
    repaired: frozenset[tuple[int, int]] = frozenset()
    """Nodes, as subgraph and node, that their CPU kernels do not refuse."""


NOTHING_ASSUMED = Assumptions()

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
    benchmark_model does not get that far after a delegate that cannot be applied.
    """
    model = as_read_by(model, release)
    chain = _Chain(model, release, assumptions)
    for delegate, options in targets:
        chain.apply(delegate, options, defaults)
    if not chain.is_loaded:
        return tuple([_not_loaded(model, run, chain.loading, defaults) for run in chain.runs])
    is_over = defaults == "benchmark" and any(run.outcome in _NOT_APPLIED for run in chain.runs)
    if by_default is not None and not is_over and not chain.is_fully_delegated():
        chain.apply(*by_default(), "api")
        chain.runs[-1] = dataclasses.replace(chain.runs[-1], by_default=True)
    if not is_over:
        chain.allocate_tensors(defaults)
    return tuple(chain.runs)


_NOT_APPLIED = frozenset({"refused", "restored", NOT_PREPARED})
"""Outcomes of a delegate after which benchmark_model gives up."""


def _load_refusal(model: Model, loading: Loading) -> Refusal:
    """Return why a release does not load a model: at the first operator or tensor that it refuses."""
    if not loading.refused:
        tensor = loading.refused_tensors[0].index
        kind = TENSOR_TYPE_NOT_LOADED
        return Refusal(kind.name, loading.message, kind.hint, loading.subgraph, None, tensor)
    message = loading.message
    subgraph, node = first_node(model, loading.refused[0]) or (0, None)
    if node is None:
        message += "; the file lists the first of these, though no node uses it"
    return Refusal(OPERATOR_NOT_LOADED.name, message, OPERATOR_NOT_LOADED.hint, subgraph, node, None)


def _not_loaded(model: Model, run: Run, loading: Loading, defaults: str) -> Run:
    """Say that the model does not load. What the delegate's rules say of each node stays in the report."""
    return dataclasses.replace(
        run,
        outcome=NOT_LOADED,
        refusal=_load_refusal(model, loading),
        log_lines=(*loading.lines, NOT_INITIALISED_LINE) if defaults == "benchmark" else loading.lines,
        subgraphs=tuple([subgraph.without_kernels() for subgraph in run.subgraphs]),
    )


def _not_prepared(graph: Graph, failure: PrepareFailure) -> Refusal:
    message = f"the CPU runtime cannot prepare node {failure.node} ({graph.nodes[failure.node].op}): {failure.message}"
    hint = CPU_KERNEL_NOT_PREPARED.hint
    return Refusal(CPU_KERNEL_NOT_PREPARED.name, message, hint, graph.index, failure.node, None)


def _refusal(graph: Graph, failure: KernelFailure, message: str) -> Refusal:
    return Refusal(
        failure.code,
        message,
        failure.hint,
        graph.index,
        failure.node,
        failure.tensor,
        is_predicted=not failure.is_known,
        stage=failure.stage,
    )


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
        self._is_static = False
        """Whether a delegate without the dynamic-tensors flag was applied, after which all shapes are known."""

    def apply(self, delegate: Delegate, options: OptionValues, defaults: str) -> None:
        """Apply one more delegate."""
        is_static = not delegate.allows_dynamic_tensors(options)
        graphs = self._prepared() if is_static or self._is_static else file_graphs(self.model)
        current = tuple(self._current(graph) for graph in graphs)
        needs_static = is_static and not self._is_static
        run = _Simulation(current, needs_static, self._is_static, delegate, options, self.release, defaults, self._warnings).run()
        if run.outcome == "restored":
            self._take_back(run)
        elif run.outcome not in _NOT_APPLIED:
            self._is_static |= is_static
            for subgraph in run.subgraphs:
                if subgraph.subsets:
                    self._plans[subgraph.graph.index] = self._plan_after(subgraph, delegate)
        self.runs.append(run)

    def _plan_after(self, run: SubgraphRun, delegate: Delegate) -> ChangedPlan:
        assert run.decision is not None
        given = len(self.model.subgraphs[run.graph.index].tensors)
        return plan_after(run.decision.graph, run.plan, delegate.kernel_name, given)

    def is_fully_delegated(self) -> bool:
        """Whether nothing of the first subgraph is left to the CPU."""
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
        refusal = _not_prepared(first, failure)
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
        return prepare(self.model, self.assumptions.fixed_shapes, self.release, self.assumptions.repaired)

    def _current(self, graph: Graph) -> Graph:
        accepted = self.assumptions.accepted.get(graph.index)
        if accepted:
            graph = dataclasses.replace(graph, assumed=accepted)
        if graph.index not in self._plans:
            return graph
        nodes, plan, added = self._plans[graph.index]
        return dataclasses.replace(graph, nodes=nodes, execution_plan=plan, tensors=graph.tensors + added)

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
    ) -> None:
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

    def run(self) -> Run:
        for graph in self.graphs:
            if graph.name.startswith(VALIDATION_PREFIX):
                continue
            if self.needs_static and graph.failure is not None and graph.failure.node in graph.execution_plan:
                self.log_lines += graph.failure.lines
                self._judge_rest(self.graphs[graph.index :])
                return self._finish(NOT_PREPARED, _not_prepared(graph, graph.failure))
            if self.needs_static and _is_dynamic(graph):
                return self._finish("refused", self._refuse_dynamic(graph))
            failure = self._apply(graph)
            if failure is not None:
                refusal = self._restore(graph, failure)
                self._judge_rest(self.graphs[graph.index + 1 :])
                return self._finish("restored", refusal)
        delegated = any(subgraph.delegated for subgraph in self.subgraphs)
        return self._finish("delegated" if delegated else "none", self.later_failure)

    def _apply(self, graph: Graph) -> KernelFailure | None:
        try:
            decision = self.delegate.decide(graph, self.options, self.release)
        except PartitionError as error:
            message = f"the nodes cannot be put in running order: {error}"
            return KernelFailure(None, None, CYCLIC_GRAPH.name, message, CYCLIC_GRAPH.hint)
        self.warnings += decision.warnings
        self.log_lines += decision.log_lines
        shown = attributed_decision(graph, decision)
        self.subgraphs[graph.index] = SubgraphRun(graph, shown)
        if decision.failure is not None:
            return attributed_failure(graph, decision, decision.failure)
        if not decision.nodes:
            return None
        subsets = decision.grouped()
        self.log_lines.append(
            replacing_line(
                self.release,
                replaced=len(decision.nodes),
                total=len(decision.graph.execution_plan),
                kernel=self.delegate.kernel_name,
                partitions=len(subsets),
                subgraph=graph.index,
                name=graph.name,
            )
        )
        self.subgraphs[graph.index] = SubgraphRun(graph, shown, attributed_subsets(graph, decision, subsets), subsets)
        failure = self._prepare_plan(graph, decision, subsets) or self._ask_behind(graph, decision, subsets)
        if failure is None:
            return None
        place = "" if failure.node is None else f"node {failure.node} ({decision.graph.nodes[failure.node].op}): "
        failure = attributed_failure(graph, decision, failure)
        if not failure.is_known:
            self._will_fail(graph, failure, f"{place}{failure.message}; {predicted_build(self.release)}")
        elif failure.is_crash:
            self._will_fail(graph, failure, f"making a kernel will crash the process: {place}{failure.message}")
        elif self.delegate.allows_dynamic_tensors(self.options) and not self.is_allocated:
            # The plan of such a delegate is first prepared when the application allocates tensors, and nothing restores it.
            self._will_fail(graph, failure, f"AllocateTensors will fail: {place}{failure.message}")
        else:
            return failure
        return None

    def _will_fail(self, graph: Graph, failure: KernelFailure, message: str) -> None:
        """Note that the nodes are replaced, and yet they will not run on the delegate, or that this is predicted."""
        self._tell_stage(failure)
        self.warnings.append(f"subgraph {graph.index}: {message}")
        if self.later_failure is None:
            self.later_failure = _refusal(graph, failure, message)

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
        self.log_lines.append(RESTORED_LINE)
        self.subgraphs = [subgraph.without_kernels() for subgraph in self.subgraphs]
        return _refusal(graph, failure, failure.message)

    def _judge_rest(self, graphs: Sequence[Graph]) -> None:
        """Judge the nodes of subgraphs that the runtime no longer reaches, for the report."""
        for graph in graphs:
            if not graph.name.startswith(VALIDATION_PREFIX) and graph.dynamic is None:
                with suppress(PartitionError):
                    decision = self.delegate.decide(graph, self.options, self.release)
                    self.subgraphs[graph.index] = SubgraphRun(graph, attributed_decision(graph, decision))

    def _finish(self, outcome: str, refusal: Refusal | None) -> Run:
        if outcome in ("refused", NOT_PREPARED):
            self.subgraphs = [subgraph.without_kernels() for subgraph in self.subgraphs]
        if self.defaults == "benchmark":
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


def _is_dynamic(graph: Graph) -> bool:
    """Whether a tensor is dynamic-sized, and the node that makes it so still runs on the CPU."""
    return graph.dynamic is not None and (graph.dynamic.node is None or graph.dynamic.node in graph.execution_plan)
