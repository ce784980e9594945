"""Replace composites of a subgraph by their bodies, as the interpreter does before the first run of the subgraph.

Source: ``Subgraph::InlineCompositeNodes`` (``tflite/core/subgraph.cc``).
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from ..errors import LimitError
from ..foundation.limits import how_to_raise, raised
from ..graph.effort import size_of_body
from ..graph.reachability import subgraphs_from
from ..model.model import Model, Node

COMPOSITE = "STABLEHLO_COMPOSITE"
_MOST_NODES = 200_000
_WEIGHT_OF_A_SUBGRAPH = 16
"""The size that a subgraph has in addition to its nodes, counted in nodes. Delegates are applied to each subgraph."""


class InliningBudget:
    """The limit on the total size of the models that are made while composites are inlined.

    Each round inlines the composites that the delegate did not take in the previous round. If each body calls another body twice,
    the number of nodes doubles in each round. If a body calls itself, the rounds have no end.
    """

    def __init__(self) -> None:
        self._nodes = 0

    def spend(self, model: Model, subgraph: int, composites: Iterable[int]) -> None:
        """Add the size of a model and of the bodies that will replace composites.

        Raises LimitError if all models together are too large.
        """
        nodes = [model.subgraphs[subgraph].nodes[index] for index in composites]
        bodies = [model.subgraphs[body] for node in nodes if (body := _body(model, node)) is not None]
        self._nodes += sum(map(size_of_body, bodies))
        self._nodes += sum([size_of_body(one) + _WEIGHT_OF_A_SUBGRAPH for one in model.subgraphs if one.nodes])
        if self._nodes > raised(_MOST_NODES):
            raise LimitError(
                f"inlining the composites of subgraph {subgraph}, and the composites in their bodies, needs models of more than "
                f"{raised(_MOST_NODES):,} nodes in total{how_to_raise()}"
            )


def composites_left(model: Model, subgraph: int, delegated: Container[int]) -> frozenset[int]:
    """Return the composites of a subgraph that no delegate takes and that can be inlined."""
    return frozenset(
        [node.index for node in model.subgraphs[subgraph].nodes if node.index not in delegated and _body(model, node) is not None]
    )


def with_inlined_composites(model: Model, index: int, composites: Container[int]) -> Model:
    """Return the model with some composites of a subgraph replaced by their bodies. Composites in the bodies are kept."""
    subgraph = model.subgraphs[index]
    tensors, nodes = list(subgraph.tensors), list[Node]()
    for node in subgraph.nodes:
        body_index = _body(model, node) if node.index in composites else None
        if body_index is None:
            nodes.append(node)
            continue
        body = model.subgraphs[body_index]
        places = {tensor: len(tensors) + tensor for tensor in range(len(body.tensors))}
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
    inlined = replace(
        subgraph, tensors=tuple(tensors), nodes=tuple([node._replace(index=number) for number, node in enumerate(nodes)])
    )
    return model.with_same_bytes(subgraphs=tuple([inlined if one.index == index else one for one in model.subgraphs]))


def only_called(model: Model, index: int) -> Model:
    """Return a model that is faster to simulate: subgraphs that subgraph ``index`` does not call have no nodes."""
    called = subgraphs_from(model, [index])
    kept = [one if one.index in called else replace(one, nodes=()) for one in model.subgraphs]
    return model.with_same_bytes(subgraphs=tuple(kept))


def _body(model: Model, node: Node) -> int | None:
    if node.op != COMPOSITE or node.is_custom:
        return None
    index = int(model.options(node).decomposition_subgraph_index)
    if not 0 <= index < len(model.subgraphs):
        return None
    body = model.subgraphs[index]
    fits = len(body.inputs) == len(node.inputs) and len(body.outputs) == len(node.outputs)
    return index if fits else None
