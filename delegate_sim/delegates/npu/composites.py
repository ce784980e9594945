"""Read STABLEHLO_COMPOSITE nodes like LiteRT, and inline the composites that a plugin does not select.

Source: ``CompositeOptions`` (``litert/compiler/cc/litert_op_options.h``) and ``InlineSubgraph``
(``litert/compiler/plugin/algo.cc``).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...graph.graph import Graph
from ...model.model import Model, Node, Subgraph, Tensor
from ...releases.catalogue import Release, parse_release

COMPOSITE = "STABLEHLO_COMPOSITE"
NPU_CALL, CPU_CALL = "odml.npu_call", "odml.cpu_call"

_CPU_CALLS = parse_release("litert-2.1.5")
"""The first release in which a composite can stay on the CPU by its name."""
_CHECKED_ATTRIBUTES = parse_release("litert-2.2.0")
"""The first release in which a composite is an ordinary node if its attributes are not a map."""
_ERRORS = (AssertionError, AttributeError, IndexError, KeyError, OverflowError, TypeError, UnicodeError, ValueError, struct.error)

_OTHER_TYPE = "Tensors of destination op and source subgraph does not have the same element type."
_OTHER_SHAPE = "Tensors of destination op and source subgraph does not have the same ranked tensor layout."


@dataclass(frozen=True, slots=True)
class Composite:
    """The name of a composite, and the index of the subgraph that is its body."""

    name: str
    body: int


def composite_name(model: Model, node: Node) -> str | None:
    """Return the name of a composite, or None if the node is not a composite or has no options."""
    if node.op != COMPOSITE:
        return None
    options = model.options(node)
    return None if options.table is None else str(options.name)


def composite_of(model: Model, node: Node, release: Release) -> Composite | None:
    """Return the composite that a node calls, or None if LiteRT treats the node as an ordinary node."""
    name = composite_name(model, node)
    if name is None:
        return None
    options = model.options(node)
    if release.is_at_least(_CHECKED_ATTRIBUTES) and options.composite_attributes and attributes(model, node) is None:
        return None
    return Composite(name, int(options.decomposition_subgraph_index))


def is_cpu_call(composite: Composite | None, release: Release) -> bool:
    """Return whether a composite must stay on the CPU."""
    return composite is not None and composite.name == CPU_CALL and release.is_at_least(_CPU_CALLS)


def attributes(model: Model, node: Node) -> Any:
    """Return the attributes of a composite, or None if they are not a valid flexbuffer map."""
    from flatbuffers import flexbuffers  # few models have composites

    content = bytes(model.options(node).composite_attributes or ())
    try:
        root = flexbuffers.GetRoot(content)
        if not root.IsMap:
            return None
        mapping = root.AsMap
        for key, value in zip(mapping.Keys, mapping.Values, strict=True):
            str(key.AsKey)
            value.Value  # noqa: B018 - fails if the value lies outside the buffer
        return mapping
    except _ERRORS:
        return None


def as_integer(value: Any) -> int:
    """Convert a flexbuffer value to an integer as the C++ library does, or to 0 if no conversion is possible."""
    try:
        if value.IsBool:
            return int(value.AsBool)
        if value.IsInt:
            return int(value.AsInt)
        if value.IsFloat:
            return int(value.AsFloat)
        if value.IsString or value.IsKey:
            return _leading_integer(str(value.AsString if value.IsString else value.AsKey))
        return len(value.AsVector) if value.IsVector else 0
    except _ERRORS:
        return 0


def _leading_integer(text: str) -> int:
    digits = ""
    for character in text.lstrip():
        if not (character.isdecimal() or (not digits and character in "+-")):
            break
        digits += character
    return int(digits) if digits.strip("+-") else 0


def bodies(model: Model, release: Release) -> frozenset[int]:
    """Return the subgraphs that are bodies of composites. LiteRT does not ask plugins about these subgraphs."""
    nodes = [node for subgraph in model.subgraphs for node in subgraph.nodes if node.op == COMPOSITE]
    composites = [composite_of(model, node, release) for node in nodes]
    return frozenset([composite.body for composite in composites if composite is not None])


def present(indices: Sequence[int]) -> tuple[int, ...]:
    """Return the tensor indices without omitted operands, as in LiteRT's own graph."""
    return tuple([index for index in indices if index >= 0])


@dataclass
class Inlining:
    """A subgraph while its composites are replaced by their bodies.

    ``origins`` maps each added node to the replaced composite. ``places`` maps each added node to its subgraph and index in the
    model file. ``tensor_places`` does the same for each added tensor.
    """

    graph: Graph
    origins: dict[int, int] = field(default_factory=dict)
    places: dict[int, tuple[int, int]] = field(default_factory=dict)
    tensor_places: dict[int, tuple[int, int]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def inline(self, index: int, body_index: int) -> bool:
        """Replace a composite by its body. If LiteRT cannot replace it, record the log line and return False."""
        graph = self.graph
        node = graph.nodes[index]
        if not 0 <= body_index < len(graph.model.subgraphs):
            return False
        body = graph.model.subgraphs[body_index]
        fault = _mismatch(graph, node, body)
        if fault is not None:
            self.lines += [fault] if fault else []
            return False
        self.graph = self._replaced(node, body)
        return True

    def _replaced(self, node: Node, body: Subgraph) -> Graph:
        graph = self.graph
        tensors, first = list(graph.tensors), len(graph.tensors)
        for tensor in body.tensors:
            self.tensor_places[len(tensors)] = (body.index, tensor.index)
            tensors.append(tensor._replace(index=len(tensors)))
        own = dict(zip(present(body.inputs), present(node.inputs), strict=True))
        added = list(self._added(node, body, own, first))
        results = {old: first + new for old, new in zip(present(node.outputs), present(body.outputs), strict=True)}
        nodes = [_renamed(node, results) for node in graph.nodes]
        plan: list[int] = []
        for position in graph.execution_plan:
            plan += [origin.index for origin in added] if position == node.index else [position]
        nodes += added
        return replace(
            graph,
            tensors=tuple(tensors),
            nodes=tuple(nodes),
            execution_plan=tuple([position for position in plan if not _is_dead(nodes[position])]),
            outputs=tuple([results.get(tensor, tensor) for tensor in graph.outputs]),
        )

    def _added(self, node: Node, body: Subgraph, own: Mapping[int, int], first: int) -> Iterator[Node]:
        origin = self.origins.get(node.index, node.index)
        for number, inner in enumerate(body.nodes):
            index = len(self.graph.nodes) + number
            self.origins[index] = origin
            self.places[index] = (body.index, inner.index)
            yield inner._replace(
                index=index,
                inputs=tuple([tensor if tensor < 0 else own.get(tensor, first + tensor) for tensor in inner.inputs]),
                outputs=tuple([tensor if tensor < 0 else first + tensor for tensor in inner.outputs]),
            )


def _renamed(node: Node, results: Mapping[int, int]) -> Node:
    if results.keys().isdisjoint(node.inputs):
        return node
    return node._replace(inputs=tuple([results.get(tensor, tensor) for tensor in node.inputs]))


def _is_dead(node: Node) -> bool:
    return not present(node.inputs) and not present(node.outputs)


def _mismatch(graph: Graph, node: Node, body: Subgraph) -> str | None:
    """Return LiteRT's message if the tensors of a composite do not fit its body, or None if the tensors fit.

    If the number of operands or results differs, the message is empty.
    """
    pairs = ((present(node.inputs), present(body.inputs)), (present(node.outputs), present(body.outputs)))
    if any(len(outer) != len(inner) for outer, inner in pairs):
        return ""
    for outer, inner in pairs:
        for one, other in zip(outer, inner, strict=True):
            left, right = graph.tensors[one], body.tensors[other]
            if left.type != right.type:
                return _OTHER_TYPE
            if layout(left) != layout(right):
                return _OTHER_SHAPE
    return None


def layout(tensor: Tensor) -> tuple[int, ...]:
    """Return the shape signature of a tensor with an unknown size, or the shape of any other tensor."""
    signature = tensor.shape_signature
    return signature if signature is not None and any(size < 0 for size in signature) else tensor.shape
