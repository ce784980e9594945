"""An executor that computes small models with numpy, and may compute some operators wrongly."""

from __future__ import annotations

import numpy as np

from delegate_sim.verification.execution import ExecutionError, ExecutionResults, ModelExecutor

COMPUTED = {
    "ABS": np.abs,
    "ADD": np.add,
    "MEAN": lambda values, axes: values.mean(tuple(axes), keepdims=True),
    "MUL": np.multiply,
    "NEG": np.negative,
    "RSQRT": lambda values: values**-0.5,
    "SQRT": lambda values: values**0.5,
    "SQUARE": np.square,
    "SUM": lambda values, axes: values.sum(tuple(axes), keepdims=True),
}


class FakeExecutor(ModelExecutor):
    """Runs models of a few operators. Nodes of the operators ``wrong`` add 1. Nodes of ``failing`` do not run."""

    def __init__(self, wrong=(), failing=()):
        self.wrong, self.failing, self.runs = wrong, failing, 0

    def run(self, model, entry, samples, *, kept=(), expected=()):
        self.runs += 1
        return [self._results(model, model.subgraphs[entry.subgraph], entry, sample, kept) for sample in samples]

    def _results(self, model, graph, entry, sample, kept):
        values = dict(zip(graph.inputs, sample, strict=True))
        for tensor in graph.tensors:
            if tensor.is_constant:
                values[tensor.index] = np.asarray(model.constant(tensor)).reshape(tensor.shape)
        for node in graph.nodes:
            if node.op in self.failing:
                raise ExecutionError("load", f"{node.op} does not run", is_crash=False)
            if node.op == "RESHAPE":
                values[node.outputs[0]] = values[node.inputs[0]].reshape(graph.tensors[node.outputs[0]].shape)
            else:
                result = COMPUTED[node.op](*[values[index] for index in node.inputs]).astype(np.float32)
                values[node.outputs[0]] = result + np.float32(node.op in self.wrong)
        return ExecutionResults(tuple([values[index] for index in graph.outputs]), {index: values[index] for index in kept})
