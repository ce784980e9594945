"""Replace the composites of a subgraph by their bodies, as the interpreter does before the first run of the subgraph."""

from __future__ import annotations

from dataclasses import replace

from ..foundation.limits import raised
from ..model.model import Model, Node, Subgraph

COMPOSITE = "STABLEHLO_COMPOSITE"
_MOST_NODES = 1 << 20


def has_composites(model: Model, subgraph: int) -> bool:
    """Return whether a subgraph calls the body of a composite."""
    return any(node.op == COMPOSITE for node in model.subgraphs[subgraph].nodes)


def with_inlined_composites(model: Model, index: int) -> Model:
    """Return the model with each composite of a subgraph replaced by its body. Composites in bodies are replaced as well.

    A composite is kept if its body has other numbers of inputs or outputs, or if its body contains the composite itself.
    """
    subgraph = _inlined(model, model.subgraphs[index], frozenset({index}))
    subgraphs = [subgraph if other.index == index else other for other in model.subgraphs]
    return model.with_same_bytes(subgraphs=tuple(subgraphs))


def _inlined(model: Model, subgraph: Subgraph, outer: frozenset[int]) -> Subgraph:
    tensors, nodes = list(subgraph.tensors), list[Node]()
    for node in subgraph.nodes:
        body_index = _body(model, node)
        if body_index is None or body_index in outer or len(nodes) > raised(_MOST_NODES):
            nodes.append(node)
            continue
        body = _inlined(model, model.subgraphs[body_index], outer | {body_index})
        if len(body.inputs) != len(node.inputs) or len(body.outputs) != len(node.outputs):
            nodes.append(node)
            continue
        places = {index: len(tensors) + index for index in range(len(body.tensors))}
        tensors += [tensor._replace(index=places[tensor.index]) for tensor in body.tensors]
        places.update(zip(body.inputs, node.inputs, strict=True))
        places.update(zip(body.outputs, node.outputs, strict=True))
        nodes += [
            inner._replace(
                inputs=tuple([places.get(tensor, tensor) for tensor in inner.inputs]),
                outputs=tuple([places.get(tensor, tensor) for tensor in inner.outputs]),
                intermediates=tuple([places.get(tensor, tensor) for tensor in inner.intermediates]),
            )
            for inner in body.nodes
        ]
    return replace(
        subgraph, tensors=tuple(tensors), nodes=tuple([node._replace(index=number) for number, node in enumerate(nodes)])
    )


def _body(model: Model, node: Node) -> int | None:
    if node.op != COMPOSITE or node.is_custom:
        return None
    index = int(model.options(node).decomposition_subgraph_index)
    return index if 0 <= index < len(model.subgraphs) else None
