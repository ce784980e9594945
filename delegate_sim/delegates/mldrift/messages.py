"""Messages that ML Drift prints about refused nodes, through the runtime's error reporter.

Source: ``GetOpsToReplaceWithOptions`` (``ml_drift_delegate/tflite/model_builder.cc``), and ``GetSupportedNodes`` and
``GetOpsToReplace`` (``ml_drift_delegate/tflite/support/support.cc``).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...graph.graph import Graph

_DELEGATE = 51
"""The builtin code of another delegate's kernel in the graph."""
HEADING = "Following operations are not supported by GPU delegate:"
LAST_LINE = r"(No|\d+) operations will run on the GPU, and .* operations will run on the CPU\."


def refusal_lines(graph: Graph, said: Mapping[int, str], taken: int) -> tuple[str, ...]:
    """Return the lines of the message on a subgraph: each operator with each reason once, and how many nodes go where.

    ``said`` is what is said of each refused node, ``taken`` how many nodes are replaced. Nothing is printed if none was refused,
    or if all are replaced all the same.
    """
    total = len(graph.execution_plan)
    if not said or taken >= total:
        return ()
    return tuple("\n".join([HEADING, *_reasons(graph, said), _counted(taken, total)]).split("\n"))


def _reasons(graph: Graph, said: Mapping[int, str]) -> list[str]:
    reasons = {f"{_name(graph, index)}: {reason}" for index, reason in said.items()}
    return sorted(reasons, key=lambda line: line.encode(errors="surrogateescape"))


def _name(graph: Graph, index: int) -> str:
    node = graph.nodes[index]
    if node.builtin_code == _DELEGATE:
        return f"DELEGATE {node.op}"
    return f"CUSTOM {node.op}" if node.is_custom else node.op


def _counted(taken: int, total: int) -> str:
    if not taken:
        return f"No operations will run on the GPU, and all {total} operations will run on the CPU."
    return f"{taken} operations will run on the GPU, and the remaining {total - taken} operations will run on the CPU."
