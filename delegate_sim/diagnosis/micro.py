"""Find the causes that keep TensorFlow Lite Micro from running a model, with the cost and the fix of each cause."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..fixing.applying import apply_pass, start
from ..fixing.micro_search import score_of
from ..fixing.passes.base import Pass
from ..fixing.passes.catalogue import PASSES
from ..foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, Declared, attributes, within
from ..graph.effort import REWRITING, Effort
from ..hypothetical.model_editing import Editor, NodeKey, edited
from ..micro.preparation import MicroNode
from ..micro.report import MicroReport, analyze
from ..micro.target import EXPLAINED, HYBRID, MISSING_OPERATOR, NAME, TENSOR_TYPE, MicroTarget
from ..model.model import Model

_MOST_PASSES = 12
"""Largest number of passes to try for one cause."""
_OF_TYPES = frozenset({TENSOR_TYPE.code(NAME), HYBRID.code(NAME)})
"""The codes of reasons that concern the types of a node's tensors."""
_CONVERT_UINT8 = "convert the model again to int8: the kernels take uint8 only in a few operators, such as QUANTIZE"


@dataclass(frozen=True, slots=True)
class MicroCause(Declared):
    """One reason why nodes are refused."""

    columns = (
        *attributes("code", "title", "needed"),
        Column("nodes", LIST, source=lambda cause: [[node.subgraph, node.index] for node in cause.nodes]),
        *(Column("operators", OBJECT, source=lambda cause: dict(cause.operators)), Column("multiply_adds", INTEGER)),
        *(Column("advice"), Column("fix_passes", LIST, source=lambda cause: [pass_.name for pass_ in cause.passes])),
    )

    code: str
    title: str
    needed: str
    nodes: tuple[MicroNode, ...]
    advice: str
    passes: tuple[Pass, ...]
    """The passes of ``fix`` that help. With any of these passes, the runtime takes more nodes."""

    @property
    def multiply_adds(self) -> int:
        """The multiply-adds of the nodes in one inference."""
        return sum([node.multiply_adds for node in self.nodes])

    @property
    def operators(self) -> tuple[tuple[str, int], ...]:
        """Each operator with its number of nodes, the most frequent operator first."""
        return tuple(Counter([node.operator for node in self.nodes]).most_common())


@dataclass(frozen=True, slots=True)
class MicroDiagnosis(Declared):
    """The report of a run, with the causes of its refusals.

    Causes are ordered by multiply-adds, then by the number of nodes. The largest cause comes first. ``causes`` is None if the
    causes were not requested.
    """

    document = "micro-diagnosis"
    columns = (
        Column("model", source="model.path"),
        *within("report", [*attributes("outcome", "problem"), Column("runs", YES_OR_NO), Column("multiply_adds", INTEGER)]),
        Column("causes", LIST, parts=MicroCause.columns),
    )

    model: Model
    report: MicroReport
    causes: tuple[MicroCause, ...] | None = None


def diagnose_micro(model: Model, target: MicroTarget) -> MicroDiagnosis:
    """Find the causes that keep TensorFlow Lite Micro from running a model. A node can have several causes.

    If the model is too large for a search for rewrites, the causes have no passes.
    """
    report = analyze(model, target)
    with_int8 = functools.cache(lambda: _refused_for_types(analyze(edited(model, _use_int8).model, target)))
    groups: dict[tuple[str, str, str], list[tuple[MicroNode, str]]] = {}
    for node in report.refused:
        for reason in node.reasons:
            # Each missing operator is a separate cause. Nodes with uint8 have a separate cause, because their advice differs.
            detail = node.operator if reason.code == MISSING_OPERATOR.code(NAME) else reason.needed
            is_old = reason.code in _OF_TYPES and "UINT8" in _types(model, node)
            advice = _CONVERT_UINT8 if is_old and (node.subgraph, node.index) not in with_int8() else reason.hint
            groups.setdefault((reason.code, detail, advice), []).append((node, reason.needed))
    causes = []
    effort = Effort(model)
    is_searched = not effort.refusal(REWRITING)
    for (code, _, advice), members in groups.items():
        nodes = tuple(dict.fromkeys([node for node, _ in members]))
        passes = _passes(model, report, nodes, effort) if is_searched else ()
        causes.append(MicroCause(code, EXPLAINED[code].title, members[0][1], nodes, advice, passes))
    causes.sort(key=lambda cause: (-cause.multiply_adds, -len(cause.nodes), cause.code))
    return MicroDiagnosis(model, report, tuple(causes))


def _use_int8(editor: Editor) -> None:
    editor.tensors = [tensor._replace(type="INT8") if tensor.type == "UINT8" else tensor for tensor in editor.tensors]


def _refused_for_types(report: MicroReport) -> frozenset[tuple[int, int]]:
    """Return the subgraph and the index of each node with a refused type."""
    return frozenset(
        [(node.subgraph, node.index) for node in report.refused if any(own.code in _OF_TYPES for own in node.reasons)]
    )


def _types(model: Model, node: MicroNode) -> set[str]:
    """Return the types of a node's operands and results. Nodes of the file are read: TensorFlow Lite Micro leaves out none."""
    subgraph = model.subgraphs[node.subgraph]
    read = subgraph.nodes[node.index]
    return {subgraph.tensors[index].type for index in (*read.inputs, *read.outputs) if index >= 0}


def _passes(model: Model, report: MicroReport, nodes: Sequence[MicroNode], effort: Effort) -> tuple[Pass, ...]:
    operators = {node.operator for node in nodes}
    keys = frozenset([NodeKey(node.subgraph, node.index) for node in nodes])
    helpful = []
    tried = 0
    passes = [pass_ for pass_ in PASSES.values() if not pass_.is_for_wrong]
    for pass_ in sorted(passes, key=lambda pass_: pass_.exactness):
        if not pass_.ops or operators.isdisjoint(pass_.ops):
            continue
        if effort.is_over or tried == _MOST_PASSES:
            break
        tried += 1
        rewritten = apply_pass(start(model), pass_, keys)
        if rewritten is None:
            effort.spend_nodes(len(report.nodes))
            continue
        effort.spend(2)  # rewriting the model takes as long as analyzing it
        if score_of(analyze(rewritten.model, report.target)) < score_of(report):
            helpful.append(pass_)
    return tuple(helpful)
