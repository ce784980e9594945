"""Runs of delegates that cannot be simulated, and the engines of the delegates whose real code can run on this host.

The real code decides. Its decision becomes a run, in the same form as the result of a simulation.

LiteRT's wheel contains most of this code. Some delegates need a library from the vendor. delegate-sim neither includes nor
downloads the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..delegates.ahead_of_time import CONSTRAINT, NOT_COMPILED, UNEXPLAINED
from ..delegates.base import Delegate
from ..delegates.decision import Decision
from ..delegates.npu.partitioning import in_running_order
from ..delegates.registry import LIVE_NAMES, find_live
from ..delegates.traits import AcceleratorTraits, PluginTraits, VelaTraits
from ..errors import OptionError
from ..foundation.packages import Runtime
from ..foundation.printable import counted, shortened
from ..graph.analysis_cache import AnalysisCache
from ..graph.effort import COMPARISON, Effort
from ..graph.graph import Graph
from ..graph.partition import Subset
from ..model.model import Model
from ..refusal import Refusal
from ..results.compare.comparison import Side
from ..rules.kinds import Kind
from ..rules.rule import ACCEPTED, Reason, Verdict
from ..runtime.compiler_plugins import whole_graphs
from ..runtime.interpreter import REFUSED, Run, SubgraphRun, simulate
from ..runtime.target import Target
from .engine import CPU, GONE, NPU, Engine, LiveDecision, LivePlacement, NoEngine, figures_text
from .litert_engines import AcceleratorEngine, RuntimeEngine
from .plugin_engine import PluginEngine
from .vela import VelaEngine


def find_engine(delegate: Delegate, runtime: Runtime | None = None, sdks: Sequence[str] = ()) -> Engine:
    """Return a delegate's engine. The engine's ``lacks`` names the requirements that are missing on this host.

    ``runtime`` is LiteRT as another Python has it, for engines of plugins and accelerators. ``sdks`` are the folders of vendors'
    SDKs. A vendor's missing library is detected only when the engine runs.
    """
    traits = delegate.live
    if traits is None:
        return NoEngine(delegate, "an engine for this platform")
    if isinstance(traits, AcceleratorTraits):
        return AcceleratorEngine(delegate, traits, runtime)
    if isinstance(traits, VelaTraits):
        return VelaEngine(delegate, traits)
    return PluginEngine(delegate, traits, runtime, sdks) if isinstance(traits, PluginTraits) else RuntimeEngine(delegate)


def engines(sdks: Sequence[str] = ()) -> Iterator[Engine]:
    """Yield all engines. ``sdks`` are the folders of vendors' SDKs."""
    for name in LIVE_NAMES:
        yield find_engine(find_live(name), sdks=sdks)


def run_target(model: Model, target: Target, cache: AnalysisCache | None = None) -> Run:
    """Simulate a model on a target, or run the delegate's real code if the delegate cannot be simulated.

    Raises OptionError if the real code cannot run on this host.
    """
    engine = _deciding_engine(target.delegate)
    if engine is None:
        return simulate(model, target, cache=cache)
    decision = engine.decide(model, target.options)
    if decision.placements is None:
        name = target.delegate.name
        raise OptionError(
            f"{name} does not say where every node runs. Its answer is the output of "
            f"`delegate-sim analyze MODEL --delegate {name} --live`"
        )
    return decided_run(model, target, engine, decision, decision.placements)


def run_side(model: Model, target: Target) -> Side:
    """Run a model on a target, for a comparison. Raises LimitError if the model is too large for a comparison."""
    Effort(model).require(COMPARISON, target.effort)
    return Side(model, run_target(model, target))


def ready_engine(delegate: Delegate, sdks: Sequence[str] = ()) -> Engine:
    """Return the engine of a delegate. Raises OptionError if requirements are known to be missing on this host."""
    engine = find_engine(delegate, sdks=sdks)
    if engine.lacks:
        raise OptionError(f"{delegate.name} cannot run here: {engine.lacks} is missing ('delegate-sim doctor' shows more)")
    return engine


def require_engines(delegates: Iterable[Delegate]) -> None:
    """Raise OptionError if one of the delegates can neither be simulated nor run on this host."""
    for delegate in delegates:
        _deciding_engine(delegate)


def _deciding_engine(delegate: Delegate) -> Engine | None:
    return ready_engine(delegate) if delegate.is_live_only else None


def decided_run(model: Model, target: Target, engine: Engine, decision: LiveDecision, placed: Iterable[LivePlacement]) -> Run:
    """Convert a decision of real code to a run. ``placed`` are the places of all nodes."""
    refusal = None
    if decision.has_failed:
        refusal = NOT_COMPILED.refusal(decision.end)
    placements: dict[int, dict[int, LivePlacement]] = {}
    for placement in placed:
        placements.setdefault(placement.subgraph, {})[placement.node] = placement
    subgraphs = [_subgraph_run(graph, placements.get(graph.index, {}), refusal) for graph in whole_graphs(model, {})]
    is_delegated = any(run.subsets for run in subgraphs)
    outcome = REFUSED if refusal is not None else "delegated" if is_delegated else "none"
    return Run(target, outcome, refusal, (), tuple(_notes(engine, decision)), tuple(subgraphs))


def _subgraph_run(graph: Graph, placements: Mapping[int, LivePlacement], refusal: Refusal | None) -> SubgraphRun:
    plan = [index for index in graph.execution_plan if placements[index].place != GONE]
    kept = replace(graph, execution_plan=tuple(plan))
    verdicts = {
        index: ACCEPTED if placements[index].place == NPU else Verdict(False, (_reason(placements[index], refusal),))
        for index in plan
    }
    subsets = _subsets(graph, placements)
    nodes = tuple([index for subset in subsets if subset.is_delegated for index in subset.nodes])
    return SubgraphRun(kept, Decision(kept, verdicts, nodes, subsets, subsets=subsets or None), subsets, subsets)


def _subsets(graph: Graph, placements: Mapping[int, LivePlacement]) -> tuple[Subset, ...]:
    """Return the partitions in running order: one for each NPU operator of the compiled file. Empty if there is none.

    The tensors of a partition include the tensors of its removed nodes.
    """
    if all(placement.place != NPU for placement in placements.values()):
        return ()
    groups: dict[int, list[int]] = {}
    kernels = _kernels(graph, placements)
    for index in graph.execution_plan:
        if index in kernels:
            groups.setdefault(kernels[index], []).append(index)
    subsets, _ = in_running_order(graph, tuple([tuple(group) for group in groups.values()]))
    kept = [
        subset._replace(nodes=tuple([index for index in subset.nodes if placements[index].place != GONE])) for subset in subsets
    ]
    return tuple([subset for subset in kept if subset.nodes])


def _kernels(graph: Graph, placements: Mapping[int, LivePlacement]) -> Mapping[int, int]:
    """Return the NPU operator of each node that is not on the CPU.

    A node without commands gets the NPU operator of a node that writes its operand. If there is none, the node gets the NPU
    operator of a node that reads its result.
    """
    kernels = {index: placement.kernel for index, placement in placements.items() if placement.kernel is not None}
    for writer, reader, _ in graph.links:
        if writer in kernels and placements[reader].place != CPU:
            kernels.setdefault(reader, kernels[writer])
    for writer, reader, _ in reversed(graph.links):
        if reader in kernels and placements[writer].place != CPU:
            kernels.setdefault(writer, kernels[reader])
    alone = [index for index, placement in placements.items() if placement.place == NPU and index not in kernels]
    return {**kernels, **{index: -1 - index for index in alone}}


def _reason(placement: LivePlacement, refusal: Refusal | None) -> Reason:
    op = shortened(placement.op)
    if placement.reason:
        problem, _, needed = placement.reason.partition("; ")
        demand = f"to pass the compiler's check: {shortened(needed)}" if needed else "an operator that the compiler supports"
        return _of_kind(CONSTRAINT, shortened(placement.reason), shortened(problem), demand)
    if refusal is not None:
        message = shortened(refusal.message)
        return _of_kind(NOT_COMPILED, f"nothing is compiled: {message}", message, "a file that the compiler accepts")
    return _of_kind(UNEXPLAINED, f"{op}: the compiler printed no reason", op, "a node that the compiler takes")


def _of_kind(kind: Kind, message: str, found: str, needed: str) -> Reason:
    return Reason(kind.name, kind.native or kind.name, message, found, needed, kind.hint)


def _notes(engine: Engine, decision: LiveDecision) -> Iterator[str]:
    estimates = figures_text(decision.figures)
    yield f"decided by {engine.software}{f': {estimates}' if estimates else ''}"
    removed = sum([placement.place == GONE for placement in decision.placements or ()])
    if removed:
        yield f"the compiler removed or folded {counted(removed, 'node')}, which the counts leave out"
    yield from [f"the compiler printed: {line}" for line in decision.lines]
