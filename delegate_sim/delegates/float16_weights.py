"""Models with float16 weights: constants behind DEQUANTIZE, which delegates with ``FP16GraphPartitionHelper`` read directly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..graph.graph import Graph, NodeView
from ..model.model import Node
from ..rules.book import RuleBook
from ..rules.kinds import FLOAT16_DEQUANTIZE
from ..rules.rule import ACCEPTED, Reason, Verdict

FLOAT16_WIDENING = Verdict(
    False,
    (
        Reason(
            FLOAT16_DEQUANTIZE.name,
            "FP16GraphPartitionHelper",
            "widens a float16 constant; is delegated only together with every other node",
            "DEQUANTIZE of a float16 constant",
            "all other nodes supported",
            FLOAT16_DEQUANTIZE.hint,
        ),
    ),
)
"""Delegates with ``FP16GraphPartitionHelper`` (``delegates/utils.cc``) take such nodes with all others, or not at all."""


class Float16Remapping:
    """Constant float16 weights behind DEQUANTIZE: nodes are asked about, and run, with the float16 constants themselves.

    Source: ``FP16GraphPartitionHelper`` (``delegates/utils.cc``). A DEQUANTIZE counts once it has come up in plan order.
    """

    def __init__(self) -> None:
        self.constants: dict[int, int] = {}
        """Output of each such DEQUANTIZE to its constant."""
        self.nodes: dict[int, int] = {}
        """Output of each such DEQUANTIZE to its node."""

    def notice(self, node: NodeView) -> bool:
        """Remember a DEQUANTIZE of a float16 constant; say whether this is one."""
        if not node.is_constant_float16_dequantize or not node.node.outputs:
            return False
        self.constants[node.node.output(0)] = node.node.input(0)
        self.nodes[node.node.output(0)] = node.node.index
        return True

    def verdicts(self, graph: Graph, rules: RuleBook[Any], target: Any) -> dict[int, Verdict]:
        """Return the verdict on each node, asked about with the constants; those that widen them are refused one by one."""
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
        """Return the node with the constants as operands."""
        constants = self.constants
        if constants and any(index in constants for index in node.inputs):
            return node._replace(inputs=tuple(constants.get(index, index) for index in node.inputs))
        return node

    def apply(self, graph: Graph, nodes: Iterable[int]) -> Graph:
        """Return the graph with these nodes remapped."""
        chosen = set(nodes)
        inputs = {
            node.index: changed.inputs
            for node in graph.nodes
            if node.index in chosen and (changed := self.remapped(node)) is not node
        }
        if not inputs:
            return graph
        return graph.results.get("float16", (inputs,), lambda: graph.with_inputs(inputs)).assuming(graph.assumed)
