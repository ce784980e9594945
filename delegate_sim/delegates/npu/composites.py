"""Reading and inlining of STABLEHLO_COMPOSITE nodes, as in LiteRT. LiteRT inlines the composites that a plugin does not select.

Source: ``CompositeOptions`` (``litert/compiler/cc/litert_op_options.h``) and ``InlineSubgraph``
(``litert/compiler/plugin/algo.cc``).

If a composite was inlined, each node of the body gets the verdict on its inlined copy. Otherwise, each node of the body gets
the verdict on the composite.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...foundation.work_budget import spend_bytes, spend_steps
from ...graph.graph import Graph
from ...model.model import Model, Node, Subgraph, Tensor
from ...releases.catalogue import Release, parse_release
from ...rules.rule import ACCEPTED, Verdict
from ..decision import Decision, FileNode

COMPOSITE = "STABLEHLO_COMPOSITE"
NPU_CALL, CPU_CALL = "odml.npu_call", "odml.cpu_call"

_CPU_CALLS = parse_release("litert-2.1.5")
"""The first release in which a composite named ``odml.cpu_call`` stays on the CPU."""
_CHECKED_ATTRIBUTES = parse_release("litert-2.2.0")
"""The first release that treats a composite as an ordinary node if the attributes are not a map."""
_ERRORS = (AssertionError, AttributeError, IndexError, KeyError, OverflowError, TypeError, UnicodeError, ValueError, struct.error)

_STEPS_OF_A_PART = 16
_READING = "reading the attributes of composites"

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
    """Return the attributes of a composite, or None if the attributes are not a valid flexbuffer map."""
    from flatbuffers import flexbuffers  # few models have composites

    content = bytes(model.options(node).composite_attributes or ())
    try:
        root = flexbuffers.GetRoot(content)
        if not root.IsMap:
            return None
        mapping = root.AsMap
        for key, value in zip(mapping.Keys, mapping.Values, strict=True):
            str(key.AsKey)
            _read_whole(value)
        return mapping
    except _ERRORS:
        return None


def _read_whole(value: Any) -> None:
    """Read a flexbuffer value with all its parts. Raises one of ``_ERRORS`` if a part lies outside the buffer.

    Raises LimitError for too many parts: a part may be a part of several others, so nesting can multiply the parts.
    """
    spend_steps(_STEPS_OF_A_PART, _READING)
    if value.IsMap:
        mapping = value.AsMap
        for key, part in zip(mapping.Keys, mapping.Values, strict=False):
            str(key.AsKey)
            _read_whole(part)
    elif value.IsVector:
        for part in value.AsVector:
            _read_whole(part)
    else:
        if value.IsTypedVector:
            spend_steps(len(value.AsTypedVector), _READING)
        elif value.IsString or value.IsBlob:
            spend_bytes(len(value.AsString if value.IsString else value.AsBlob), _READING)
        value.Value  # noqa: B018 - fails if the value lies outside the buffer


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
    """Return the tensor indices that are not negative. Negative indices mark omitted operands, which LiteRT's graph lacks."""
    return tuple([index for index in indices if index >= 0])


class Inlining:
    """A subgraph while its composites are replaced by their bodies.

    ``origins`` maps each added node to the replaced composite. ``places`` maps each added node to its subgraph and index in the
    model file. ``tensor_places`` maps each added tensor to its subgraph and index in the model file.
    """

    def __init__(self, graph: Graph) -> None:
        self.origins: dict[int, int] = {}
        self.places: dict[int, tuple[int, int]] = {}
        self.tensor_places: dict[int, tuple[int, int]] = {}
        self.lines: list[str] = []
        self._graph = graph
        self._is_current = True
        self._nodes = list(graph.nodes)
        """The nodes. A node may still read the result of an inlined composite (see ``_new_names``)."""
        self._tensors = list(graph.tensors)
        self._new_names: dict[int, int] = {}
        """For each result of an inlined composite, the tensor of the body that replaces the result."""
        self._added: dict[int, range] = {}
        """For each inlined composite, the nodes that replace the composite in the execution plan."""

    @property
    def graph(self) -> Graph:
        """The graph with all composites inlined so far."""
        if not self._is_current:
            self._nodes = [self._renamed(node) for node in self._nodes]
            plan = [index for position in self._graph.execution_plan for index in self._added.get(position, (position,))]
            self._graph = replace(
                self._graph,
                tensors=tuple(self._tensors),
                nodes=tuple(self._nodes),
                execution_plan=tuple([index for index in plan if not _is_dead(self._nodes[index])]),
                outputs=tuple(map(self._name, self._graph.outputs)),
            )
            self._is_current = True
        return self._graph

    @property
    def node_count(self) -> int:
        """The number of nodes, including nodes from bodies."""
        return len(self._nodes)

    def inline(self, index: int, body_index: int) -> bool:
        """Replace a composite by its body. If LiteRT cannot inline the composite, record LiteRT's log line and return False."""
        model = self._graph.model
        if not 0 <= body_index < len(model.subgraphs):
            return False
        node, body = self._renamed(self._nodes[index]), model.subgraphs[body_index]
        fault = _mismatch(self._tensors, node, body)
        if fault is not None:
            self.lines += [fault] if fault else []
            return False
        self._replace(node, body)
        return True

    def _replace(self, node: Node, body: Subgraph) -> None:
        first, first_node = len(self._tensors), len(self._nodes)
        for tensor in body.tensors:
            self.tensor_places[len(self._tensors)] = (body.index, tensor.index)
            self._tensors.append(tensor._replace(index=len(self._tensors)))
        own = dict(zip(present(body.inputs), present(node.inputs), strict=True))
        self._nodes += self._nodes_of(node, body, own, first)
        is_in_plan = not (_is_dead(node) and self._added)  # LiteRT drops the dead nodes each time that it inlines a composite
        # bounded: nodes of bodies, which the reader counted
        self._added[node.index] = range(first_node, len(self._nodes) if is_in_plan else first_node)
        results = {old: first + new for old, new in zip(present(node.outputs), present(body.outputs), strict=True)}
        for old, new in results.items():
            self._new_names.setdefault(old, new)
        self._is_current = False

    def _nodes_of(self, node: Node, body: Subgraph, own: Mapping[int, int], first: int) -> Iterator[Node]:
        origin = self.origins.get(node.index, node.index)
        for index, inner in enumerate(body.nodes, len(self._nodes)):
            self.origins[index] = origin
            self.places[index] = (body.index, inner.index)
            yield inner._replace(
                index=index,
                inputs=tuple([tensor if tensor < 0 else own.get(tensor, first + tensor) for tensor in inner.inputs]),
                outputs=tuple([tensor if tensor < 0 else first + tensor for tensor in inner.outputs]),
            )

    def _renamed(self, node: Node) -> Node:
        if self._new_names.keys().isdisjoint(node.inputs):
            return node
        return node._replace(inputs=tuple(map(self._name, node.inputs)))

    def _name(self, tensor: int) -> int:
        while tensor in self._new_names:
            tensor = self._new_names[tensor]
        return tensor


def _is_dead(node: Node) -> bool:
    return not present(node.inputs) and not present(node.outputs)


def _mismatch(tensors: Sequence[Tensor], node: Node, body: Subgraph) -> str | None:
    """Return LiteRT's message if the tensors of a composite do not fit the inputs and outputs of the body; otherwise None.

    If the composite and the body have different numbers of operands or results, the message is empty.
    """
    pairs = ((present(node.inputs), present(body.inputs)), (present(node.outputs), present(body.outputs)))
    if any(len(outer) != len(inner) for outer, inner in pairs):
        return ""
    for outer, inner in pairs:
        for one, other in zip(outer, inner, strict=True):
            left, right = tensors[one], body.tensors[other]
            if left.type != right.type:
                return _OTHER_TYPE
            if layout(left) != layout(right):
                return _OTHER_SHAPE
    return None


def layout(tensor: Tensor) -> tuple[int, ...]:
    """Return the shape signature of a tensor if the signature has an unknown size; otherwise the shape."""
    signature = tensor.shape_signature
    return signature if signature is not None and any(size < 0 for size in signature) else tensor.shape


@dataclass(frozen=True, slots=True)
class Fate:
    """The verdict on a node of a body, and whether the node runs on the NPU."""

    verdict: Verdict
    is_taken: bool


@dataclass(frozen=True, slots=True)
class Completed:
    """The decisions about all subgraphs, including the bodies of composites.

    For each subgraph, ``taken`` has the nodes that run on the NPU as part of another subgraph. ``removed`` has the subgraphs that
    LiteRT removes.
    """

    decisions: tuple[Decision | None, ...]
    taken: tuple[frozenset[int], ...]
    removed: frozenset[int]


def body_decisions(graphs: Sequence[Graph], decisions: Sequence[Decision | None], release: Release) -> Completed:
    """Add decisions about the bodies of composites. LiteRT removes a body if the composite was inlined or compiled."""
    fates: dict[FileNode, Fate] = {}
    seen: set[int] = set()
    for decision in decisions:
        if decision is not None:
            for place, fate in _fates(graphs, decision, release, seen):
                fates.setdefault(place, fate)
    completed, taken_nodes = list(decisions), [frozenset[int]()] * len(graphs)
    for graph in graphs if fates else ():
        own = {index: fates[graph.index, index] for index in graph.execution_plan if (graph.index, index) in fates}
        if own and decisions[graph.index] is None:
            completed[graph.index] = Decision(graph, {index: fate.verdict for index, fate in own.items()})
            taken_nodes[graph.index] = frozenset([index for index, fate in own.items() if fate.is_taken])
    removed = {place[0] for decision in decisions if decision is not None for place in decision.places.values()}
    removed |= {
        composite.body
        for decision in decisions
        if decision is not None
        for index in decision.nodes
        if decision.graph.nodes[index].op == COMPOSITE
        and (composite := composite_of(decision.graph.model, decision.graph.nodes[index], release)) is not None
    }
    return Completed(tuple(completed), tuple(taken_nodes), frozenset(removed))


def _fates(graphs: Sequence[Graph], decision: Decision, release: Release, seen: set[int]) -> Iterator[tuple[FileNode, Fate]]:
    """Yield the nodes inside composites. ``seen`` has the bodies that are done: the first composite sets a body's fate."""
    places = decision.places
    delegated = set(decision.nodes)
    for index in decision.graph.execution_plan:
        node = decision.graph.nodes[index]
        if index not in places and node.op != COMPOSITE:
            continue
        fate = Fate(decision.verdicts.get(index, ACCEPTED), index in delegated)
        if index in places:
            yield places[index], fate
        composite = composite_of(decision.graph.model, node, release) if node.op == COMPOSITE else None
        if composite is not None:
            verdict = ACCEPTED if fate.is_taken else fate.verdict
            yield from _nodes_inside(graphs, composite, Fate(verdict, fate.is_taken), release, seen)


def _nodes_inside(
    graphs: Sequence[Graph], composite: Composite, fate: Fate, release: Release, seen: set[int]
) -> Iterator[tuple[FileNode, Fate]]:
    if composite.body in seen or not 0 <= composite.body < len(graphs):
        return
    seen.add(composite.body)
    graph = graphs[composite.body]
    for index in graph.execution_plan:
        yield (graph.index, index), fate
        inner = composite_of(graph.model, graph.nodes[index], release)
        if inner is not None:
            yield from _nodes_inside(graphs, inner, fate, release, seen)
