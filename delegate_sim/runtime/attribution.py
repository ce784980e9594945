"""Convert results for nodes that a delegate added into results for the original nodes of the graph (``Decision.origins``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..delegates.decision import Decision, KernelFailure
from ..graph.graph import Graph
from ..graph.partition import Subset
from ..rules.rule import Verdict


def attributed_decision(graph: Graph, decision: Decision) -> Decision:
    """Return a decision whose verdicts, partitions and reasons refer to nodes of the given graph.

    A node that the delegate inlined is supported if all nodes that replaced it are supported. The inlined node has the reasons
    of all these nodes. ``decision.graph`` does not change.
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
    """Return the partitions in terms of the given graph's nodes and tensors.

    An inlined node is listed in each partition that contains a part of the node. Tensors that the delegate added are left out.
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


def attributed_failure(graph: Graph, decision: Decision, failure: KernelFailure) -> KernelFailure:
    """Map the node and the tensor of a failure to the given graph. A tensor that the delegate added becomes None."""
    if not decision.origins:
        return failure
    node = None if failure.node is None else decision.origins.get(failure.node, failure.node)
    tensor = failure.tensor if failure.tensor is not None and failure.tensor < len(graph.tensors) else None
    return replace(failure, node=node, tensor=tensor)
