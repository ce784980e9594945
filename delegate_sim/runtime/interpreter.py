"""The runtime's interpreter: apply delegates to a model one after another.

Source: ``Interpreter::ModifyGraphWithDelegateImpl`` (``core/interpreter.cc``) and ``Subgraph::ModifyGraphWithDelegateImpl``
(``core/subgraph.cc``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..errors import OptionError
from ..foundation.limits import naming_model
from ..graph.analysis_cache import AnalysisCache
from ..graph.calls import DELEGATE
from ..graph.effort import SIMULATION, Effort
from ..graph.graph import Graph, file_graphs
from ..model.model import Model
from ..model.precompiled import DISPATCH
from ..prepare.preparation import Taken, prepare, prepare_around, prepare_rest
from ..refusal import Effect, Refusal, Stage
from ..releases.wording import NOT_ALLOCATED_LINE
from .delegate_application import NOT_APPLIED, DelegateApplication, shown_number
from .invoke_types import refused_when_run
from .model_loading import as_read_by, custom_operators, load_on, loading_warnings, not_loaded, not_prepared, stub_not_delegated
from .run import NOTHING_ASSUMED, REFUSED, Assumptions, ChangedPlan, OwnRuntime, Run, SubgraphRun, option_values, plan_after
from .target import Target

__all__ = ["REFUSED", "Assumptions", "Run", "SubgraphRun", "option_values", "simulate", "simulate_chain"]


def simulate(model: Model, target: Target, assumptions: Assumptions = NOTHING_ASSUMED, cache: AnalysisCache | None = None) -> Run:
    """Simulate one delegate on all subgraphs of a model."""
    return simulate_chain(model, [target], assumptions=assumptions, cache=cache)[0]


def simulate_chain(
    model: Model,
    targets: Sequence[Target],
    by_default: Callable[[], Target] | None = None,
    assumptions: Assumptions = NOTHING_ASSUMED,
    cache: AnalysisCache | None = None,
) -> tuple[Run, ...]:
    """Simulate delegates that are applied to a model one after another.

    Each delegate gets the plan that the earlier delegates produced. In this plan, each kernel of an earlier delegate is a
    node. The targets may differ only in delegate and options.

    ``by_default`` returns the target of the delegate that the runtime itself applies when tensors are allocated
    (``Interpreter::ApplyLazyDelegateProviders``, ``core/interpreter.cc``). This delegate is not applied if the first subgraph
    already runs entirely on delegates. It is also not applied if benchmark_model or the application has stopped.
    """
    first = targets[0]
    defaults = first.defaults
    alone = next((target.delegate for target in targets if target.delegate.runs_whole_models), None)
    if alone is not None and len(targets) > 1:
        raise OptionError(f"{alone.display_name} runs a model without delegates: leave out the other delegates of the chain")
    if any(
        (target.release, target.defaults, target.assume_ops_registered) != (first.release, defaults, first.assume_ops_registered)
        for target in targets
    ):
        raise ValueError("the targets of a chain may differ only in delegate and options")
    shared = cache or AnalysisCache()
    Effort(model, cache=shared).require(SIMULATION, max([target.effort for target in targets]))
    with naming_model(model.path):
        return _simulate_chain(model, targets, by_default, assumptions, shared)


def _simulate_chain(
    model: Model,
    targets: Sequence[Target],
    by_default: Callable[[], Target] | None,
    assumptions: Assumptions,
    cache: AnalysisCache,
) -> tuple[Run, ...]:
    first, defaults = targets[0], targets[0].defaults
    if isinstance(first.delegate, OwnRuntime):
        return (first.delegate.evaluate(model, first, assumptions, cache),)
    read = cache.get("read", (model, first.release), lambda: as_read_by(model, first.release))
    chain = _Chain(read, targets, assumptions, cache)
    for target in targets:
        chain.apply(target)
        if chain.is_unreadable:
            return tuple(chain.runs)
    if chain.is_only_compiled and by_default is None:
        chain.check_rest()
        return tuple(chain.runs)
    if not chain.is_loaded:
        return tuple([not_loaded(chain.model, run, chain.loading) for run in chain.runs])
    failed = [run for run in chain.runs if run.outcome in NOT_APPLIED or run.is_rejected or not run.is_prepared]
    is_over = any(defaults == "benchmark" or run.delegate.accelerator.fails_with_model for run in failed)
    if by_default is not None and not is_over and not chain.is_fully_delegated():
        chain.apply_by_default(by_default())
    chain.allocate_tensors(defaults, is_over)
    return tuple(chain.runs)


class _Chain:
    def __init__(self, model: Model, targets: Sequence[Target], assumptions: Assumptions, cache: AnalysisCache) -> None:
        self.cache = cache
        self.model = model
        self.release = targets[0].release
        self.assumptions = assumptions
        self.runs: list[Run] = []
        registered = assumptions.registered.union(*[target.delegate.accelerator.registered_operators for target in targets])
        self.loading = load_on(model, self.release, cache)
        self.is_loaded = self.loading.is_loaded(assume_ops_registered=targets[0].assume_ops_registered)
        custom = custom_operators(model, targets[0], registered)
        self._unregistered = custom.unregistered
        self._stubs = frozenset[str]() if targets[0].assume_ops_registered else registered - {DISPATCH}
        runnable = {op for target in targets for op in target.delegate.rules.custom}
        self._warnings = tuple(loading_warnings(model, self.loading, custom, runnable))
        self._plans: dict[int, ChangedPlan] = {}
        """The changed plans, by subgraph."""
        self._kernels: dict[tuple[int, int], tuple[int, ...]] = {}
        """The nodes in each delegate kernel, keyed by subgraph and by the kernel's node index."""
        self._unprepared: list[tuple[int, int, Refusal]] = []
        """The kernels that fail when tensors are allocated: the number of the run, the first replaced node, and the failure."""
        self._compiled: dict[int, frozenset[int]] | None = None
        """The nodes that a plugin compiled, by subgraph, or None if there is no plugin."""
        self._removed: frozenset[int] = frozenset()
        """Subgraphs that a plugin removed from the model."""
        self._skipped: frozenset[int] = frozenset()
        """Subgraphs that no delegate gets any more."""
        self._is_static = False
        """Whether a delegate without the dynamic-tensors flag was applied. All shapes are known after this delegate."""

    def apply(self, target: Target) -> None:
        delegate, options = target.delegate, target.options
        if delegate.is_plugin:
            self._compile(target)
            return
        self._dispatch()
        is_static = not delegate.allows_dynamic_tensors(options, self.release)
        graphs = self._prepared if is_static or self._is_static else self._unprepared_graphs
        current = tuple(self._current(graph) for graph in graphs)
        needs_static = is_static and not self._is_static
        about = target, self.cache, self._warnings, self._removed, self._skipped, self.assumptions.ended
        simulation = DelegateApplication(current, needs_static, self._is_static, *about)
        run = simulation.run()
        if (
            run.outcome == "restored"
            or (run.outcome == REFUSED and run.is_prepared and delegate.accelerator.fails_with_model)
            or (run.is_rejected and not delegate.accelerator.fails_with_model)
        ):
            self._take_back(run)
        elif run.outcome not in NOT_APPLIED:
            self._unprepared += [(len(self.runs), node, failure) for node, failure in simulation.unprepared]
            self._is_static |= is_static
            self._skipped = simulation.skipped
            for subgraph in run.subgraphs:
                if subgraph.subsets:
                    self._plans[subgraph.graph.index] = self._plan_after(subgraph, delegate.kernel_name_for(options))
                elif subgraph.taken:
                    self._plans[subgraph.graph.index] = ChangedPlan(subgraph.graph.nodes, (), (), subgraph.graph.outputs)
        self.runs.append(run)

    def apply_by_default(self, target: Target) -> None:
        self.apply(target)
        self.runs[-1] = replace(self.runs[-1], by_default=True)
        if self.is_fully_delegated():
            warning = f"if the application goes on after the failure, {target.delegate.display_name} runs all nodes"
            self.runs = [run if run.is_prepared else replace(run, warnings=(*run.warnings, warning)) for run in self.runs]

    def _compile(self, target: Target) -> None:
        if self.runs:
            raise OptionError(f"{target.delegate.name} must be the first delegate, because it compiles the model for the runtime")
        from .compiler_plugins import run_plugin  # few delegates are plugins

        run = run_plugin(self.model, target, self.assumptions.accepted, self.assumptions.ended)
        self._compiled = {subgraph.graph.index: subgraph.delegated for subgraph in run.subgraphs if subgraph.delegated}
        self._removed = run.removed
        self.runs.append(run)

    @property
    def is_only_compiled(self) -> bool:
        return self._compiled is not None and len(self.runs) == 1

    @property
    def is_unreadable(self) -> bool:
        return any(run.refusal is not None and run.refusal.stage is Stage.READING for run in self.runs)

    def _dispatch(self) -> None:
        """Replace each partition that a plugin compiled with a kernel of the dispatch delegate.

        This happens before the first delegate is applied.
        """
        if self._plans or not self.is_only_compiled:
            return
        from .compiler_plugins import dispatched

        run, lines = self.runs[0], list[str]()
        for subgraph in run.subgraphs:
            index = subgraph.graph.index
            if run.outcome != REFUSED and subgraph.decision is not None and index not in self._removed:
                given = len(self.model.subgraphs[index].tensors)
                plan, line = dispatched(
                    subgraph, run.delegate.kernel_name, self.release, given, shown_number(index, self._removed)
                )
                self._plans[index] = plan
                lines += [line] if line else []
        self.runs[0] = replace(run, log_lines=(*run.log_lines, *lines))

    def _plan_after(self, run: SubgraphRun, name: str) -> ChangedPlan:
        assert run.decision is not None
        index, graph = run.graph.index, run.decision.graph
        kernels = [subset.nodes for subset in run.plan if subset.is_delegated]
        self._kernels.update({(index, number): nodes for number, nodes in enumerate(kernels, len(graph.nodes))})
        return plan_after(graph, run.plan, name, len(self.model.subgraphs[index].tensors))

    def is_fully_delegated(self) -> bool:
        self._dispatch()
        first = self._current(self._prepared[0])
        return all(first.nodes[index].builtin_code == DELEGATE for index in first.execution_plan)

    def allocate_tensors(self, defaults: str, is_over: bool) -> None:
        """Simulate the application's ``AllocateTensors``, in which CPU kernels may refuse nodes that are not delegated.

        Nodes after the first dynamic tensor of the final plan are prepared later, when the model runs. ``defaults`` is
        ``Target.defaults``. ``is_over`` means that the application has already stopped.
        """
        failure = None if is_over or self._is_allocated() else self._rest_fails()
        if failure is not None:
            if failure.stage is Stage.PREPARING:
                self._refuse_later(not_prepared(self._prepared[0], failure))
            lines = (*failure.log_lines, NOT_ALLOCATED_LINE) if defaults == "benchmark" else failure.log_lines
            self.runs[-1] = replace(self.runs[-1], log_lines=(*self.runs[-1].log_lines, *lines))
        elif not is_over and (refusal := self._fails_in_invoke()) is not None:
            self._refuse_later(refusal)
        stops_before = failure is None and not is_over and not self._is_static
        for number, _, failed in self._unprepared:
            run = self.runs[number]
            is_at_invoke = stops_before and failed.subgraph == 0
            effect = Effect.FAIL_AT_INVOKE if is_at_invoke else Effect.FAIL_LATER
            step = "Invoke" if is_at_invoke else "AllocateTensors"
            refusal = replace(failed.within(f"{step} will fail: "), effect=effect)
            warnings = (*run.warnings, f"subgraph {refusal.subgraph}: {refusal.message}")
            self.runs[number] = replace(run, refusal=run.refusal or refusal, warnings=warnings)

    def check_rest(self) -> None:
        """Add the failure if a CPU kernel refuses a node that the plugin does not take. The log has the plugin's lines alone."""
        if not self.is_loaded or self.runs[0].outcome in NOT_APPLIED:
            return
        lines = self.runs[0].log_lines
        self._dispatch()
        failure = None if self._is_allocated() else self._rest_fails()
        refusal = self._fails_in_invoke() if failure is None else None
        if failure is not None and failure.stage is Stage.PREPARING:
            refusal = not_prepared(self._prepared[0], failure)
        if refusal is not None:
            self._refuse_later(refusal)
        self.runs[0] = replace(self.runs[0], log_lines=lines)

    def _fails_in_invoke(self) -> Refusal | None:
        first = self._current(self._prepared[0])
        left = [node for index in first.execution_plan if (node := first.nodes[index]).builtin_code != DELEGATE]
        stubs = [node for node in left if node.op in self._stubs]
        if stubs:
            return stub_not_delegated(stubs[0])
        has_default = any(run.delegate.is_applied_by_default for run in self.runs)
        checked = [node for node in left if (first.index, node.index) not in self.assumptions.repaired]
        return refused_when_run(first, checked, self.release, has_default=has_default)

    def _refuse_later(self, refusal: Refusal) -> None:
        for number, run in enumerate(self.runs):
            if run.outcome in ("delegated", "none") and run.refusal is None:
                self.runs[number] = replace(run, refusal=refusal)

    def _is_allocated(self) -> bool:
        if self._is_static or all(run.outcome in NOT_APPLIED for run in self.runs):
            return True
        first = self._prepared[0]
        return first.failure is None and first.dynamic is None and not self._unprepared

    def _rest_fails(self) -> Refusal | None:
        fixed_shapes = self.assumptions.fixed_shapes
        return prepare_rest(self.model, self._taken(), fixed_shapes, self.release, self._unregistered, self.cache)

    def _taken(self) -> dict[int, Taken]:
        nodes = {index: {node for run in self.runs for node in run.subgraphs[index].delegated} for index in self._plans}
        for subgraph, node in self.assumptions.repaired:
            nodes.setdefault(subgraph, set()).add(node)
        failing: dict[int, dict[int, tuple[str, ...]]] = {index: {} for index in nodes}
        for _, node, refusal in self._unprepared:
            failing[refusal.subgraph][node] = refusal.log_lines[:-1]
        return {index: Taken(nodes[index], self._order(index), failing[index]) for index in nodes}

    def _order(self, subgraph: int) -> tuple[int, ...]:
        """Return the original nodes in the order of the final plan. Return an empty tuple if no delegate changed the plan."""
        if subgraph not in self._plans:
            return ()
        order, waiting = list[int](), list(reversed(self._plans[subgraph].plan))
        count = len(file_graphs(self.model)[subgraph].nodes)
        while waiting:
            node = waiting.pop()
            if node < count:
                order.append(node)
            else:
                waiting += reversed(self._kernels.get((subgraph, node), ()))
        return tuple(order)

    @functools.cached_property
    def _prepared(self) -> tuple[Graph, ...]:
        fixed_shapes, repaired = self.assumptions.fixed_shapes, self.assumptions.repaired
        if self._compiled:
            return prepare_around(self.model, self._compiled, fixed_shapes, self.release, self._unregistered, self.cache)
        return prepare(self.model, fixed_shapes, self.release, repaired, self._unregistered, self.cache)

    @property
    def _unprepared_graphs(self) -> tuple[Graph, ...]:
        def shared() -> tuple[Graph, ...]:
            return tuple([graph.within(self.cache) for graph in file_graphs(self.model)])

        return self.cache.get("file graphs", (self.model,), shared)

    def _current(self, graph: Graph) -> Graph:
        accepted = self.assumptions.accepted.get(graph.index)
        if accepted:
            graph = graph.assuming(accepted)
        if graph.index not in self._plans:
            return graph
        nodes, plan, added, outputs = self._plans[graph.index]
        return replace(graph, nodes=nodes, execution_plan=plan, tensors=graph.tensors + added, outputs=outputs)

    def _take_back(self, failed: Run) -> None:
        """Undo the earlier delegates after a delegate failed (``Interpreter::RemoveAllDelegates``)."""
        assert failed.refusal is not None
        self._plans.clear()
        self._unprepared.clear()
        self._is_static = False
        for number, run in enumerate(self.runs):
            if run.outcome == "delegated" and not run.is_rejected:
                subgraphs = tuple([subgraph.without_kernels() for subgraph in run.subgraphs])
                self.runs[number] = replace(run, outcome="restored", refusal=failed.refusal, subgraphs=subgraphs)
