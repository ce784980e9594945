"""A delegate's decision about one subgraph, and failures of the delegate's kernels.

Some delegates read float16 weights directly, in place of the DEQUANTIZE that converts them to float32.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from ..graph.calls import ReplacingCall
from ..graph.graph import Graph, NodeView
from ..graph.partition import Subset, partition
from ..model.model import Node, Tensor
from ..refusal import Effect, Refusal, Stage
from ..releases.catalogue import NEWEST, Release
from ..rules import kinds
from ..rules.book import RuleBook
from ..rules.kinds import FLOAT16_DEQUANTIZE, Kind
from ..rules.rule import ACCEPTED, Reason, Verdict

READS_BEYOND_OPERANDS = kinds.READS_BEYOND_OPERANDS


def kernel_failure(
    kinds: Mapping[str, Kind], code: str, node: int | None, tensor: Tensor | None = None, **values: Any
) -> Refusal:
    """Return a failure of a delegate's kernel, or of a CPU kernel with changed operands. ``values`` fill its message."""
    return kinds[code].failure(tensor, node, **values)


FileNode: TypeAlias = tuple[int, int]
"""A node of the model file: the index of the subgraph, and the index of the node in the subgraph."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decision:
    """A delegate's decision about one subgraph.

    ``graph`` is the subgraph after the delegate's own changes, such as replaced operands. ``nodes`` are the nodes to replace,
    chosen from the partitions of ``preview``. ``set_aside`` has the reason for each supported node that is not replaced.
    ``initialized`` has the partitions whose kernels are known to initialize without a failure. If ``failure`` is set, the
    delegate fails before any node is replaced.
    """

    graph: Graph
    verdicts: Mapping[int, Verdict]
    nodes: tuple[int, ...] = ()
    preview: tuple[Subset, ...] = ()
    set_aside: Mapping[int, Reason] = field(default_factory=dict)
    initialized: frozenset[Subset] = frozenset()
    failure: Refusal | None = None
    warnings: tuple[str, ...] = ()
    log_lines: tuple[str, ...] = ()
    """The lines that the delegate itself prints before the runtime reports the replacement."""
    findings: object = None
    """Data that the delegate stores during its decision and reads when it builds kernels."""
    subsets: tuple[Subset, ...] | None = None
    """All partitions in running order, if the delegate forms the partitions itself; None if the runtime forms them."""
    calls: tuple[ReplacingCall, ...] = ()
    """The runtime's report on each call that replaces nodes, if there are several. ``subsets`` is the result of the last."""
    origins: Mapping[int, int] = field(default_factory=dict)
    """The index of the inlined node, keyed by the index of each node that was added in its place.

    To inline a node, a delegate removes the node from the execution plan and adds nodes at the end of ``graph``. Reports show
    the verdicts on the added nodes at the inlined node.
    """
    skipped: frozenset[int] = frozenset()
    """Subgraphs that no delegate receives, because this delegate runs their callers."""

    groups: tuple[tuple[FileNode, ...], ...] | None = None
    """The groups of nodes that a compiler receives, or None if no compiler is involved. The nodes are nodes of the model file.

    Unlike ``subsets``, the groups include the nodes of inlined bodies. The groups exclude each ``odml.npu_call`` that becomes a
    partition of its own.
    """
    places: Mapping[int, FileNode] = field(default_factory=dict)
    """The original node of each copy at the end of ``graph``, by the copy's index. Inlined composites are copied, for example."""

    @property
    def candidates(self) -> tuple[Subset, ...]:
        """The partitions that the delegate could take."""
        return tuple(subset for subset in self.preview if subset.is_delegated)

    @property
    def keeps_preview(self) -> bool:
        """Whether all candidates are replaced. If so, the partitions of the preview are final."""
        return sum(len(subset.nodes) for subset in self.candidates) == len(self.nodes)

    def grouped(self) -> tuple[Subset, ...]:
        """Return all partitions in running order. Raises ValueError unless the delegated ones contain exactly ``nodes``."""
        if self.subsets is None:
            return self.preview if self.keeps_preview else partition(self.graph, self.nodes)
        if {node for subset in self.subsets if subset.is_delegated for node in subset.nodes} != set(self.nodes):
            raise ValueError("the groups must contain exactly the nodes that the delegate asks the runtime to replace")
        return self.subsets


class ReleaseOnly(NamedTuple):
    """The target of rules that depend only on the release of the runtime."""

    release: Release = NEWEST


def take_supported(graph: Graph, rules: RuleBook[Any], target: Any) -> Decision:
    """Decide about every node in plan order, and take all supported nodes."""
    return take_accepted(graph, rules.verdicts(graph, graph.execution_plan, target))


def take_accepted(graph: Graph, verdicts: Mapping[int, Verdict]) -> Decision:
    """Return the decision that takes every node with a positive verdict."""
    supported = tuple(index for index in graph.execution_plan if verdicts[index].is_supported)
    return Decision(graph, verdicts, supported, partition(graph, supported) if supported else ())


def kinds_by_code(*kinds: Kind) -> Mapping[str, Kind]:
    """Return the kinds of problem, keyed by code."""
    return MappingProxyType({kind.name: kind for kind in kinds})


def summary_line(name: str, decision: Decision) -> str:
    """Return the line that a SimpleDelegate prints before nodes are replaced (``DelegatePrepare``), with all candidates."""
    total = len(decision.graph.execution_plan)
    return f"{name}: {len(decision.nodes)} nodes delegated out of {total} nodes with {len(decision.candidates)} partitions."


def crash_while_checking(decision: Decision, rules: RuleBook[Any], crash: Kind) -> Refusal | None:
    """Return the failure of a delegate that crashes while it checks the first node with the problem ``crash``, or None."""
    first = next(_refused_for(decision, rules, crash), None)
    if first is None:
        return None
    node, reason = first
    message = f"the delegate crashes while it checks this node: {reason.found}, but the delegate reads its value without a check"
    return Refusal(reason.code, message, reason.hint, node=node, stage=Stage.ACCEPTING, effect=Effect.CRASH)


def chance_warnings(decision: Decision, rules: RuleBook[Any]) -> Iterator[str]:
    """Yield a warning if the delegate reads an operand or a result that a node lacks."""
    nodes = [node for node, _ in _refused_for(decision, rules, READS_BEYOND_OPERANDS)]
    if nodes:
        op = decision.graph.nodes[nodes[0]].op
        lack = "1 node lacks" if len(nodes) == 1 else f"{len(nodes)} nodes lack"
        yield (
            f"subgraph {decision.graph.index}: {lack} an operand or a result that the delegate reads (first: node {nodes[0]}, "
            f"{op}). Usually the delegate refuses the node, but the process may also crash"
        )


def _refused_for(decision: Decision, rules: RuleBook[Any], kind: Kind) -> Iterator[tuple[int, Reason]]:
    code = rules.code_of(kind)
    for index in decision.graph.execution_plan:
        for reason in decision.verdicts[index].reasons:
            if reason.code == code:
                yield index, reason


FLOAT16_WIDENING = Verdict(
    False,
    (
        Reason(
            FLOAT16_DEQUANTIZE.name,
            "FP16GraphPartitionHelper",
            "unpacks a FLOAT16 constant; the node is delegated only if all other nodes are delegated",
            "DEQUANTIZE of a float16 constant",
            "all other nodes supported",
            FLOAT16_DEQUANTIZE.hint,
        ),
    ),
)
"""The verdict on a DEQUANTIZE of a float16 constant (``delegates/utils.cc``)."""


class Float16Remapping:
    """The replacement of dequantized weights by their float16 constants.

    The delegate checks and runs nodes with these constants as operands. A DEQUANTIZE affects only later nodes of the execution
    plan. Source: ``FP16GraphPartitionHelper`` (``delegates/utils.cc``).
    """

    def __init__(self) -> None:
        self.constants: dict[int, int] = {}
        """The float16 constant of each recorded DEQUANTIZE, keyed by the tensor index of its output."""
        self.nodes: dict[int, int] = {}
        """The node index of each recorded DEQUANTIZE, keyed by the tensor index of its output."""

    def notice(self, node: NodeView) -> bool:
        """Record the node if it is a DEQUANTIZE of a float16 constant. Return whether the node was recorded."""
        if not node.is_constant_float16_dequantize or not node.node.outputs:
            return False
        self.constants[node.node.output(0)] = node.node.input(0)
        self.nodes[node.node.output(0)] = node.node.index
        return True

    def verdicts(self, graph: Graph, rules: RuleBook[Any], target: Any) -> dict[int, Verdict]:
        """Return the verdict on each node after the replacement. The recorded DEQUANTIZE nodes are refused."""
        plan, nodes = graph.execution_plan, graph.nodes
        candidates = [graph.view(nodes[index]) for index in plan if nodes[index].op == "DEQUANTIZE"]
        if not any(view.is_constant_float16_dequantize for view in candidates):
            return rules.verdicts(graph, plan, target)
        known = graph.results.get("float16 verdicts", (rules, target), dict[int, Verdict])
        unassuming = graph.assuming(frozenset())
        verdicts = {}
        for index in plan:
            node = nodes[index]
            if node.op == "DEQUANTIZE" and self.notice(graph.view(node)):
                verdicts[index] = FLOAT16_WIDENING
            elif index in graph.assumed:
                verdicts[index] = ACCEPTED
            else:
                if index not in known:
                    known[index] = rules.validate(unassuming.view(self.remapped(node)), target)
                verdicts[index] = known[index]
        return verdicts

    def remapped(self, node: Node) -> Node:
        """Return a copy of the node that reads the float16 constants, or the node itself if it reads none of them."""
        constants = self.constants
        if constants.keys().isdisjoint(node.inputs):
            return node
        return node._replace(inputs=tuple([constants.get(index, index) for index in node.inputs]))

    def apply(self, graph: Graph, nodes: Iterable[int]) -> Graph:
        """Return the graph in which these nodes read the float16 constants."""
        chosen = set(nodes)
        inputs = {
            node.index: changed.inputs
            for node in graph.nodes
            if node.index in chosen and (changed := self.remapped(node)) is not node
        }
        if not inputs:
            return graph
        return graph.results.get("float16", (inputs,), lambda: graph.with_inputs(inputs)).assuming(graph.assumed)

    def applied(self, decision: Decision) -> Decision:
        """Return the decision with the graph in which the delegated nodes read the float16 constants."""
        graph = self.apply(decision.graph, decision.nodes)
        # The operands change after the preview, so the partitions may change too.
        return decision if graph is decision.graph else replace(decision, graph=graph, preview=())
