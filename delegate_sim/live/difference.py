"""A bug report about a difference between real code and the simulation. The report contains no weights and no names."""

from __future__ import annotations

import platform
from typing import Any

from ..foundation.documents import head
from ..model.model import Model, Node, Subgraph
from ..results.report.rule_set import rule_set_version
from ..runtime.interpreter import Run, option_values
from .comparison import LiveResult


def difference_report(model: Model, run: Run, result: LiveResult) -> dict[str, Any]:
    """Return a bug report as plain data: versions, options, both decisions, and the nodes with types and shapes."""
    return {
        **head("live-difference"),
        "host": {"system": platform.system(), "machine": platform.machine(), "python": platform.python_version()},
        "rule_set": rule_set_version(run.delegate),
        "release": str(run.release),
        "options": option_values(run.options),
        "live": result.to_dict(),
        "simulated": {
            "outcome": run.outcome,
            "lines": list(run.log_lines),
            "delegated": [[subgraph.graph.index, sorted(subgraph.delegated)] for subgraph in run.subgraphs],
        },
        "subgraphs": [[_node(graph, node) for node in graph.nodes] for graph in model.subgraphs],
    }


def _node(graph: Subgraph, node: Node) -> dict[str, Any]:
    return {
        "op": node.op,
        "version": node.version,
        "inputs": [_tensor(graph, index) for index in node.inputs],
        "outputs": [_tensor(graph, index) for index in node.outputs],
    }


def _tensor(graph: Subgraph, index: int) -> str:
    """Return a tensor's index, type, shape and quantization, and whether the tensor is constant."""
    if index < 0:
        return "none"
    tensor = graph.tensors[index]
    scales = len(tensor.quantization.scales) if tensor.quantization is not None else 0
    words = [f"{index}:{tensor.type}{list(tensor.shape)}", *(["constant"] if tensor.is_constant else [])]
    words += ["per tensor" if scales == 1 else f"per channel ({scales})"] if scales else []
    return " ".join(words)
