"""The known conditions of nodes that do not run, or compute wrong numbers, and the passes of ``fix`` that cure them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ..fixing.applying import apply_pass, start
from ..fixing.passes.base import Exactness
from ..fixing.passes.catalogue import PASSES
from ..fixing.score import Score, standing, standing_of
from ..foundation.columns import Column, Declared, within
from ..hypothetical.model_editing import NodeKey
from ..model.model import Model
from ..refusal import Stage
from ..results.report.number_risks import NUMBER_RISK, NumberRisk, number_risks
from ..runtime.interpreter import Run


@dataclass(frozen=True, slots=True)
class KnownCondition(Declared):
    """A known reason for wrong numbers, or a predicted failure, and a pass of ``fix`` that cures the node, or ""."""

    columns = (
        *[Column("certainty") if column.key == "certainty" else column for column in within("risk", NUMBER_RISK)],
        Column("cure"),
    )

    risk: NumberRisk
    cure: str

    @property
    def certainty(self) -> str:
        """``wrong`` or ``may be wrong``, or ``fails`` if the model is predicted not to run on the delegate."""
        return self.risk.refusal.effect.value if self.risk.refusal.stage is Stage.COMPUTING else "fails"


def known_conditions(model: Model, run: Run, subgraph: int, nodes: Collection[int | None] | None) -> Iterator[KnownCondition]:
    """Yield the known conditions of some nodes of a subgraph, or of all nodes if ``nodes`` is None.

    None among the nodes stands for the inputs and outputs of the subgraph.
    """
    for risk in (*_predicted_failures(run), *number_risks(run)):
        if risk.subgraph == subgraph and (nodes is None or risk.node in nodes):
            yield KnownCondition(risk, _cure_of(model, run, risk))


def _predicted_failures(run: Run) -> Iterator[NumberRisk]:
    refusal = run.refusal
    if refusal is not None:
        graph = run.subgraphs[refusal.subgraph].graph
        yield NumberRisk(refusal, graph.nodes[refusal.node].op if refusal.node is not None else "")


def _cure_of(model: Model, run: Run, risk: NumberRisk) -> str:
    """Return the name of the first pass that cures a node which fails or has wrong numbers, or "" if there is none.

    Passes that approximate are left out, as in ``fix``.
    """
    if risk.node is None:
        return ""
    op = model.subgraphs[risk.subgraph].nodes[risk.node].op
    nodes = None if run.refusal is not None else [NodeKey(risk.subgraph, risk.node)]
    before = standing_of(run).score
    for name, pass_ in sorted(PASSES.items(), key=lambda entry: not entry[1].is_for_wrong):
        if op in pass_.ops and pass_.exactness < Exactness.APPROXIMATE:
            rewritten = apply_pass(start(model), pass_, nodes)
            if rewritten is not None and _failures(standing(rewritten.model, run.target).score) < _failures(before):
                return name
    return ""


def _failures(score: Score) -> tuple[bool, int, int]:
    return score.fails, score.wrong, score.perhaps_wrong
