"""Log lines about refused nodes. ML Drift and the older GPU delegate print the same lines.

Source: ``GetOpsToReplace`` (``delegates/gpu/common/model_builder.cc``), and ``GraphPartitionHelper::PrepareSupportedNodes``
(``delegates/utils.cc``). ML Drift has its own copies: ``GetOpsToReplaceWithOptions``
(``ml_drift_delegate/tflite/model_builder.cc``), and ``GetSupportedNodes`` and ``GetOpsToReplace``
(``ml_drift_delegate/tflite/support/support.cc``).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...graph.graph import Graph
from ...rules.rule import Verdict
from ..float16_weights import FLOAT16_WIDENING

_DELEGATE = 51
"""The builtin code of a delegate kernel."""
HEADING = "Following operations are not supported by GPU delegate:"
LAST_LINE = r"(No|\d+) operations will run on the GPU, and .* operations will run on the CPU\."


def refusal_lines(graph: Graph, verdicts: Mapping[int, Verdict], delegated: int) -> tuple[str, ...]:
    """Return the log lines about a subgraph: one line for each operator and reason, then the numbers of GPU and CPU nodes.

    ``verdicts`` are the verdicts that the delegate asked for. ``delegated`` is the number of replaced nodes. The delegate prints
    nothing if no node is refused, or if all nodes are replaced.
    """
    total = len(graph.execution_plan)
    reasons = {f"{_name(graph, index)}: {_message(verdict)}" for index, verdict in verdicts.items() if not verdict.is_supported}
    if not reasons or delegated >= total:
        return ()
    in_order = sorted(reasons, key=lambda line: line.encode(errors="surrogateescape"))
    return tuple("\n".join([HEADING, *in_order, _counted(delegated, total)]).split("\n"))


def _message(verdict: Verdict) -> str:
    return "" if verdict is FLOAT16_WIDENING else verdict.reasons[0].kind


def _name(graph: Graph, index: int) -> str:
    node = graph.nodes[index]
    if node.builtin_code == _DELEGATE:
        return f"DELEGATE {node.op}"
    return f"CUSTOM {node.op}" if node.is_custom else node.op


def _counted(delegated: int, total: int) -> str:
    if not delegated:
        return f"No operations will run on the GPU, and all {total} operations will run on the CPU."
    return f"{delegated} operations will run on the GPU, and the remaining {total - delegated} operations will run on the CPU."
