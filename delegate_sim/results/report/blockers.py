"""Find the main cause that keeps nodes of a run on the CPU. Causes that follow from another cause are ignored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ...model.model import Model
from ...rules.kinds import DYNAMIC_TENSORS, Kind, Problem
from ...runtime.interpreter import Run
from .measures import Measures, awaits_compiler, measure
from .multiply_adds import Compute, compute_of
from .placement import on_cpu

_CONSEQUENCES = frozenset({Problem.NEIGHBORS, Problem.LIMIT})
"""Kinds of problem that follow from other CPU nodes."""


class Blocker(NamedTuple):
    """A cause that keeps nodes on the CPU: a refusal code, the operator of the nodes, and the number of nodes.

    If the whole graph is refused, ``op`` is empty. If the cause is an input of unknown size, ``is_input`` is true. If the model
    must be compiled first, ``compiler`` is the name of the compiler.
    """

    code: str
    op: str = ""
    nodes: int = 0
    is_input: bool = False
    compiler: str = ""


def main_blocker(model: Model, run: Run, compute: Compute) -> Blocker | None:
    """Return the cause that keeps the most multiply-adds on the CPU, or None if there is no cause.

    If the whole run is refused, return the refusal of the run. If several causes keep equally many multiply-adds on the CPU,
    return the cause that keeps the most nodes on the CPU. Two causes follow from other causes: the limit on partitions, and the
    DEQUANTIZE of float16 weights. Such a cause is returned only if there is no other cause.
    """
    refusal = run.refusal
    if refusal is not None and not follows_from_nodes(run):
        if refusal.code == DYNAMIC_TENSORS.name and has_open_input(model):
            return Blocker(refusal.code, is_input=True)
        op = "" if refusal.node is None else run.subgraphs[refusal.subgraph].graph.nodes[refusal.node].op
        return Blocker(refusal.code, op, int(bool(op)))
    blockers = ranked_blockers(run, compute)
    if not blockers:
        return None if refusal is None else Blocker(refusal.code)
    return blockers[0]._replace(compiler=run.delegate.compiler) if awaits_compiler(run.delegate, measure(run)) else blockers[0]


def ranked_blockers(run: Run, compute: Compute) -> list[Blocker]:
    """Return the causes that keep nodes on the CPU. The main blocker comes first, and the least important cause last."""
    totals: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for subgraph, index, reasons in on_cpu(run):
        op, work = subgraph.graph.nodes[index].op, compute.by_node[subgraph.graph.index].get(index, 0)
        for code in {reason.code: None for reason in reasons}:
            total = totals[op, code]
            total[0] += work
            total[1] += 1
    if not totals:
        return []
    kinds = run.delegate.kinds
    consequences = {code: _is_consequence(run, code, kinds) for _, code in totals}
    ordered = sorted(totals.items(), key=lambda entry: (consequences[entry[0][1]], -entry[1][0], -entry[1][1]))
    return [Blocker(code, op, nodes) for (op, code), (_, nodes) in ordered]


class Ranks:
    """The ranks of a run's causes. The main blocker has rank 0. Outputs list causes in the order of the ranks."""

    def __init__(self, run: Run, compute: Compute) -> None:
        blockers = ranked_blockers(run, compute)
        self._ranks = {(blocker.op, blocker.code): rank for rank, blocker in enumerate(blockers)}

    def of(self, op: str, codes: Iterable[str]) -> int:
        """Return the rank of a node's most important code. A node without codes has the last rank."""
        return min([self._ranks.get((op, code), len(self._ranks)) for code in codes], default=len(self._ranks))


def follows_from_nodes(run: Run) -> bool:
    """Return whether the refusal of the run only says that nodes have refusals of their own."""
    kind = None if run.refusal is None else run.delegate.kinds.get(run.refusal.code)
    return kind is not None and kind.problem is Problem.NEIGHBORS


def has_open_input(model: Model) -> bool:
    """Return whether any input has an unknown size in the model file."""
    main = model.subgraphs[0]
    signatures = [main.tensors[index].shape_signature for index in main.inputs if 0 <= index < len(main.tensors)]
    return any(size < 0 for signature in signatures for size in signature or ())


def _is_consequence(run: Run, code: str, kinds: Mapping[str, Kind]) -> bool:
    if run.refusal is not None and code == run.refusal.code:
        return True
    return code in kinds and kinds[code].problem in _CONSEQUENCES


class BlockerSummary(NamedTuple):
    """A run as a table row: measures, total and delegated multiply-adds, and the main blocker."""

    measures: Measures
    multiply_adds: int
    delegated_multiply_adds: int
    blocker: Blocker | None


def summary_of(model: Model, run: Run) -> BlockerSummary:
    """Summarize a run as a table row."""
    compute = compute_of(run)
    return BlockerSummary(measure(run), compute.multiply_adds, compute.delegated_multiply_adds, main_blocker(model, run, compute))
