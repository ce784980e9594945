"""Float16 weights that a DEQUANTIZE converts to float32, and delegates that read the float16 weights directly."""

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
            "unpacks a FLOAT16 constant; the node is delegated only if all other nodes are delegated",
            "DEQUANTIZE of a float16 constant",
            "all other nodes supported",
            FLOAT16_DEQUANTIZE.hint,
        ),
    ),
)
"""The verdict on a DEQUANTIZE of a float16 constant (``delegates/utils.cc``).

The node is delegated only if all other nodes are delegated.
"""


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
