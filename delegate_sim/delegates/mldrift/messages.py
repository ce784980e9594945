"""ML Drift's log lines about refused nodes.

Source: ``GetOpsToReplaceWithOptions`` (``ml_drift_delegate/tflite/model_builder.cc``), and ``GetSupportedNodes`` and
``GetOpsToReplace`` (``ml_drift_delegate/tflite/support/support.cc``).

For inputs and outputs of a signature, LiteRT uses the names in the signature.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ...graph.graph import Graph
from ...model.model import Model, Tensor

_DELEGATE = 51
"""The builtin code of a delegate kernel."""
HEADING = "Following operations are not supported by GPU delegate:"
LAST_LINE = r"(No|\d+) operations will run on the GPU, and .* operations will run on the CPU\."


def refusal_lines(graph: Graph, messages: Mapping[int, str], delegated: int) -> tuple[str, ...]:
    """Return the log lines about a subgraph: one line for each operator and reason, then the numbers of GPU and CPU nodes.

    ``messages`` has a message for each refused node. ``delegated`` is the number of replaced nodes. ML Drift prints nothing if no
    node is refused, or if all nodes are replaced.
    """
    total = len(graph.execution_plan)
    if not messages or delegated >= total:
        return ()
    return tuple("\n".join([HEADING, *_reasons(graph, messages), _counted(delegated, total)]).split("\n"))


def _reasons(graph: Graph, messages: Mapping[int, str]) -> list[str]:
    reasons = {f"{_name(graph, index)}: {reason}" for index, reason in messages.items()}
    return sorted(reasons, key=lambda line: line.encode(errors="surrogateescape"))


def _name(graph: Graph, index: int) -> str:
    node = graph.nodes[index]
    if node.builtin_code == _DELEGATE:
        return f"DELEGATE {node.op}"
    return f"CUSTOM {node.op}" if node.is_custom else node.op


def _counted(delegated: int, total: int) -> str:
    if not delegated:
        return f"No operations will run on the GPU, and all {total} operations will run on the CPU."
    return f"{delegated} operations will run on the GPU, and the remaining {total - delegated} operations will run on the CPU."


def name_of(graph: Graph, tensor: Tensor) -> str:
    """Return the name of a tensor in ML Drift's messages."""
    return _names(graph.model, graph.index).get(tensor.index, tensor.name)


@functools.lru_cache(maxsize=8)
def _names(model: Model, subgraph: int) -> Mapping[int, str]:
    signatures = [signature for signature in model.signatures if signature.subgraph == subgraph]
    return {
        index: name for signature in signatures for side in (signature.inputs, signature.outputs) for name, index in side.items()
    }
