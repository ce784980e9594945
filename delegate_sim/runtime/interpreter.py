"""What the runtime does with a delegate and a model, subgraph by subgraph.

Source: ``Interpreter::ModifyGraphWithDelegateImpl`` (``core/interpreter.cc``) and ``Subgraph::ModifyGraphWithDelegateImpl``
(``core/subgraph.cc``).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ..delegates.base import Decision, Delegate, KernelFailure, OptionValues
from ..graph.graph import Graph, file_graphs
from ..graph.partition import PartitionError, Subset
from ..model.model import Model
from ..prepare import Repreparation, has_kernel, prepare
from ..releases.catalogue import NEWEST, Release
from ..releases.notes import unknown_build
from ..releases.wording import DYNAMIC_TENSOR_LINE, RESTORED_LINE, benchmark_failure_line, benchmark_line, replacing_line
from ..rules.kinds import CPU_KERNEL_AFTER_REMAPPING, CYCLIC_GRAPH, DYNAMIC_TENSORS
from .attribution import attributed_decision, attributed_failure, attributed_subsets
from .plan import DELEGATE, ChangedPlan, plan_after
from .resolver import unresolved

VALIDATION_PREFIX = "VALIDATION:"
"""Subgraphs with such names hold tests of the model; no delegate is applied to them."""


@dataclass(frozen=True)
class SubgraphRun:
    """One subgraph after the delegate was applied. Without a decision the subgraph was skipped or never reached."""

    graph: Graph
    decision: Decision | None = None
    subsets: tuple[Subset, ...] = ()
    """All partitions in running order; none if no node was replaced."""
    plan: tuple[Subset, ...] = ()
    """The same with the nodes that the delegate added to the graph, where it added any (``Decision.origins``)."""

    @functools.cached_property
    def delegated(self) -> frozenset[int]:
        """The nodes that run on the delegate in the end, each as a whole."""
        nodes = {kind: [subset.nodes for subset in self.subsets if subset.is_delegated == kind] for kind in (True, False)}
        return frozenset().union(*nodes[True]).difference(*nodes[False])


@dataclass(frozen=True)
class Refusal:
    """Why the runtime applied the delegate to nothing (``refused``), or undid it (``restored``).

    With the outcome ``delegated``: why the model, though its nodes are replaced, will not run.
    """

    code: str
    message: str
    hint: str
    subgraph: int
    node: int | None
    tensor: int | None
    cause: int | None = None


@dataclass(frozen=True)
class Run:
    """One delegate applied to a model."""

    delegate: Delegate
    options: OptionValues
    release: Release
    outcome: str
    """``delegated``, ``none``, ``refused`` or ``restored``."""
    refusal: Refusal | None
    log_lines: tuple[str, ...]
    warnings: tuple[str, ...]
    subgraphs: tuple[SubgraphRun, ...]
    by_default: bool = False
    """Whether the runtime applied the delegate by itself."""

    def __repr__(self) -> str:
        return f"<Run {self.delegate.name} on {self.release}: {self.outcome}>"


@dataclass(frozen=True)
class Assumptions:
    """What to assume, for what-if questions."""

    accepted: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Nodes of each subgraph that count as accepted by every delegate."""
    fixed_shapes: bool = False
    """Whether every tensor has the shape that the file gives it."""


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
    by_default: Application | None = None,
    assumptions: Assumptions = NOTHING_ASSUMED,
) -> tuple[Run, ...]:
    """Apply delegates one after another: each sees the execution plan that those before it left, with their kernels as nodes.

    ``by_default`` is a delegate that the runtime applies by itself when tensors are allocated, unless the first subgraph then
    runs wholly on delegates (``Interpreter::ApplyLazyDelegateProviders``, ``core/interpreter.cc``). benchmark_model does not
    get that far after a delegate that cannot be applied.
    """
    chain = _Chain(model, release, assumptions)
    for delegate, options in targets:
        chain.apply(delegate, options, defaults)
    is_over = defaults == "benchmark" and any(run.outcome in ("refused", "restored") for run in chain.runs)
    if by_default is not None and not is_over and not chain.is_fully_delegated():
        chain.apply(*by_default, "api")
        chain.runs[-1] = dataclasses.replace(chain.runs[-1], by_default=True)
    return tuple(chain.runs)


class _Chain:
    """The state of a model between delegates."""

    def __init__(self, model: Model, release: Release, assumptions: Assumptions) -> None:
        self.model = model
        self.release = release
        self.assumptions = assumptions
        self.runs: list[Run] = []
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
        run = _Simulation(self.model, current, needs_static, self._is_static, delegate, options, self.release, defaults).run()
        if run.outcome == "restored":
            self._take_back(run)
        elif run.outcome != "refused":
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

    def _prepared(self) -> tuple[Graph, ...]:
        return prepare(self.model, self.assumptions.fixed_shapes, self.release)

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
                subgraphs = tuple(SubgraphRun(subgraph.graph, subgraph.decision) for subgraph in run.subgraphs)
                self.runs[number] = dataclasses.replace(run, outcome="restored", refusal=failed.refusal, subgraphs=subgraphs)


class _Simulation:
    """One delegate applied to the subgraphs as they are."""

    def __init__(
        self,
        model: Model,
        graphs: tuple[Graph, ...],
        needs_static: bool,
        is_allocated: bool,
        delegate: Delegate,
        options: OptionValues,
        release: Release,
        defaults: str,
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
        self.warnings = [*delegate.release_notes(release), *resolution_warnings(model, release)]
        self.subgraphs = [SubgraphRun(graph) for graph in graphs]
        self.later_failure: Refusal | None = None

    def run(self) -> Run:
        for graph in self.graphs:
            if graph.name.startswith(VALIDATION_PREFIX):
                continue
            if self.needs_static and _is_dynamic(graph):
                return self._finish("refused", self._refuse_dynamic(graph))
            if graph.failure is not None:
                self.warnings.append(
                    f"subgraph {graph.index}: the CPU runtime cannot prepare node {graph.failure.node} "
                    f"({graph.nodes[graph.failure.node].op}): {graph.failure.message}; shapes after it are those of the file"
                )
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
        if failure.is_crash:
            self._will_fail(graph, failure, f"making a kernel will crash the process: {place}{failure.message}")
        elif self.delegate.allows_dynamic_tensors(self.options) and not self.is_allocated:
            # The plan of such a delegate is first prepared when the application allocates tensors, and nothing restores it.
            self._will_fail(graph, failure, f"AllocateTensors will fail: {place}{failure.message}")
        else:
            return failure
        return None

    def _will_fail(self, graph: Graph, failure: KernelFailure, message: str) -> None:
        """Note that the nodes are replaced, and yet the model will not run."""
        self.warnings.append(f"subgraph {graph.index}: {message}")
        if self.later_failure is None:
            self.later_failure = Refusal(failure.code, message, failure.hint, graph.index, failure.node, failure.tensor)

    def _prepare_plan(self, graph: Graph, decision: Decision, subsets: tuple[Subset, ...]) -> KernelFailure | None:
        """Prepare the new plan in order: the delegate's kernels, and CPU kernels whose operands the delegate changed."""
        repreparation = Repreparation(decision.graph, self.release)
        for subset in subsets:
            if subset.is_delegated:
                # How the delegate would change a node that it does not accept is not known.
                is_known = subset in decision.initialised or not graph.assumed.isdisjoint(subset.nodes)
                failure = None if is_known else self.delegate.kernel_failure(decision, subset, self.options, self.release)
                if failure is not None and not failure.is_known:
                    self._warn_of_other_build(graph, failure)
                elif failure is not None:
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
        failure = self.delegate.refusal_behind(decision, subsets, self.options, self.release)
        if failure is not None and not failure.is_known:
            self._warn_of_other_build(graph, failure)
            return None
        return failure

    def _warn_of_other_build(self, graph: Graph, failure: KernelFailure) -> None:
        self.warnings.append(
            f"subgraph {graph.index}: in {NEWEST} a kernel cannot be created, and the runtime undoes all "
            f"delegation; {unknown_build(self.release)}: {failure.message}"
        )

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
        self.log_lines.append(RESTORED_LINE)
        self.subgraphs = [SubgraphRun(subgraph.graph, subgraph.decision) for subgraph in self.subgraphs]
        return Refusal(failure.code, failure.message, failure.hint, graph.index, failure.node, failure.tensor)

    def _judge_rest(self, graphs: Sequence[Graph]) -> None:
        """Judge the nodes of subgraphs that the runtime no longer reaches, for the report."""
        for graph in graphs:
            if not graph.name.startswith(VALIDATION_PREFIX) and graph.dynamic is None:
                with suppress(PartitionError):
                    decision = self.delegate.decide(graph, self.options, self.release)
                    self.subgraphs[graph.index] = SubgraphRun(graph, attributed_decision(graph, decision))

    def _finish(self, outcome: str, refusal: Refusal | None) -> Run:
        if outcome == "refused":
            self.subgraphs = [SubgraphRun(subgraph.graph, subgraph.decision) for subgraph in self.subgraphs]
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
        if outcome in ("refused", "restored"):
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


def resolution_warnings(model: Model, release: Release) -> list[str]:
    """Say which operators the runtime's own kernels do not resolve: a model that uses one fails to load as it is."""
    warnings = []
    for code in dict.fromkeys((node.op, node.version, node.is_custom) for subgraph in model.subgraphs for node in subgraph.nodes):
        op, version, is_custom = code
        if not is_custom:
            problem = unresolved(op, version, release)
            if problem is not None:
                warnings.append(f"{problem}; the model does not load unless the application registers one")
        elif not has_kernel(op, is_custom=True):
            warnings.append(f"custom operator {op}: assumed to be registered by the application")
    return warnings


def option_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options fit for JSON."""
    return {name: _option_value(value) for name, value in options.items()}


def _option_value(value: Any) -> Any:
    """What is not plain data, such as the profile of a driver, is given as text."""
    if value is None or isinstance(value, bool | int | float | str | list):
        return value
    return list(value) if isinstance(value, tuple) else str(value)
