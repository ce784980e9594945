"""Convert results for nodes that a delegate added into results for the original nodes.

A delegate adds nodes when it inlines a node (``Decision.origins``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..delegates.decision import Decision
from ..graph.graph import Graph
from ..graph.partition import Subset
from ..refusal import Refusal
from ..rules.rule import Verdict


def attributed_decision(graph: Graph, decision: Decision) -> Decision:
    """Return the decision with verdicts, partitions and reasons for the nodes of the given graph.

    An inlined node has the reasons of all nodes that replace it, and is supported if all these nodes are supported.
    ``decision.graph`` does not change.
    """
    if not decision.origins:
        return decision
    verdicts: dict[int, Verdict] = {}
    for index, verdict in decision.verdicts.items():
        origin = decision.origins.get(index, index)
        before = verdicts.get(origin, Verdict(True))
        reasons = tuple(dict.fromkeys((*before.reasons, *verdict.reasons)))
        verdicts[origin] = Verdict(before.is_supported and verdict.is_supported, reasons)
    set_aside = {decision.origins.get(index, index): reason for index, reason in decision.set_aside.items()}
    preview = attributed_subsets(graph, decision, decision.preview)
    return replace(decision, verdicts=verdicts, set_aside=set_aside, preview=preview)


def attributed_subsets(graph: Graph, decision: Decision, subsets: Sequence[Subset]) -> tuple[Subset, ...]:
    """Return the partitions with the nodes and tensors of the given graph.

    An inlined node is in every partition that contains at least one of its replacements. Tensors that the delegate added are
    left out.
    """
    if not decision.origins:
        return tuple(subsets)
    return tuple(
        [
            Subset(
                subset.is_delegated,
                tuple(dict.fromkeys([decision.origins.get(node, node) for node in subset.nodes])),
                tuple([tensor for tensor in subset.inputs if tensor < len(graph.tensors)]),
                tuple([tensor for tensor in subset.outputs if tensor < len(graph.tensors)]),
            )
            for subset in subsets
        ]
    )


def attributed_failure(graph: Graph, decision: Decision, failure: Refusal) -> Refusal:
    """Return a failure with the node and the tensor of the given graph. A tensor that the delegate added becomes None."""
    if not decision.origins:
        return failure
    node = None if failure.node is None else decision.origins.get(failure.node, failure.node)
    tensor = failure.tensor if failure.tensor is not None and failure.tensor < len(graph.tensors) else None
    return replace(failure, node=node, tensor=tensor)
