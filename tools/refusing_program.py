"""A program that refuses some nodes, as a compiler does: ``python tools/refusing_program.py MODEL``."""

from __future__ import annotations

import sys

from delegate_sim.model.model import Model
from delegate_sim.model.reader import load


def refusal(model: Model) -> str:
    """Return the message of a program that refuses some nodes, or an empty string."""
    graph = model.subgraphs[0]
    writers = {node.outputs[0]: node.op for node in graph.nodes}
    for node in graph.nodes:
        result = graph.tensors[node.outputs[0]]
        place = f"node {node.index} ({result.name})"
        if node.op == "ELU":
            return f"error: {place}: ELU is not supported"
        if node.op == "CONV_2D" and model.options(node).stride_h == 3:
            return f"error: {place}: stride 3 of CONV_2D is not supported"
        if node.op == "SQUARE" and result.rank == 5:
            return f"error: {place}: results with 5 dimensions are not supported"
        if node.op == "LEAKY_RELU" and writers.get(node.inputs[0]) == "PRELU":
            return f"error: {place}: LEAKY_RELU cannot be merged into PRELU"
    return ""


if __name__ == "__main__":
    words = refusal(load(sys.argv[1]))
    print(words or "done")
    sys.exit(bool(words))
