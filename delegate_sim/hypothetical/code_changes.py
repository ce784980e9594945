"""Simulate changes of a model's source code: removed nodes, float32 instead of integers, and inlined subgraphs."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace

from ..errors import LimitError
from ..foundation.limits import how_to_raise, raised
from ..graph.effort import size_of_body
from ..graph.graph import file_graphs
from ..model.model import Allocation, Model, Subgraph
from ..model.numbers import StoredNumbers, as_float32
from .model_editing import Edited, Editor, NodeKey, edited, with_converted_versions

_NAMES_OF_ARITHMETIC = """
ABS ADD DIV EQUAL FLOOR_DIV FLOOR_MOD GREATER GREATER_EQUAL LESS LESS_EQUAL MAXIMUM MINIMUM MUL NEG NOT_EQUAL POW SQUARE
SQUARED_DIFFERENCE SUB
"""
ARITHMETIC = frozenset(_NAMES_OF_ARITHMETIC.split())
"""The operators that a model can compute in float32 instead of integers."""

_INTEGERS = ("INT32", "INT64")
_MOST_NODES_OF_BODIES = 20_000


def with_float_arithmetic(model: Model, nodes: Collection[NodeKey]) -> Edited:
    """Return the model in which the given nodes compute in float32. Each integer operand and result of the nodes gets a CAST."""
    changed = edited(model, lambda editor: _cast(editor, {key.node for key in nodes if key.subgraph == editor.subgraph.index}))
    return changed.then(with_converted_versions)


def _cast(editor: Editor, chosen: Collection[int]) -> None:
    values: dict[Hashable, StoredNumbers | None] = {}
    nodes, editor.nodes = editor.nodes, []
    for origin, node in nodes:
        if origin not in chosen:
            editor.nodes.append((origin, node))
            continue
        inputs = tuple([_as_float(editor, index, values) for index in node.inputs])
        results = {index: _floating(editor, index) for index in node.outputs if editor.tensor(index).type in _INTEGERS}
        outputs = tuple([results.get(index, index) for index in node.outputs])
        editor.nodes.append((origin, node._replace(inputs=inputs, outputs=outputs)))
        for index, floating in results.items():
            editor.insert("CAST", floating, index)


def _floating(editor: Editor, index: int) -> int:
    return editor.add_tensor(editor.tensor(index)._replace(type="FLOAT32", data=None, value=None, allocation=Allocation.ARENA))


def _as_float(editor: Editor, index: int, values: dict[Hashable, StoredNumbers | None]) -> int:
    """Return an operand as float. ``values`` has the values of constants, because many constants can share their bytes."""
    tensor = editor.tensor(index)
    if tensor.type not in _INTEGERS:
        return index
    if tensor.is_constant:
        place = tensor.data or index, tensor.type
        if place not in values:
            numbers = editor.model.constant(tensor)
            values[place] = None if numbers is None else as_float32(numbers)
        return editor.add_tensor(tensor._replace(type="FLOAT32", data=None, value=values[place]))
    result = _floating(editor, index)
    editor.insert("CAST", index, result)
    return result


_NOT_INLINED = frozenset(
    "ASSIGN_VARIABLE CALL CALL_ONCE IF READ_VARIABLE STABLEHLO_COMPOSITE STABLEHLO_WHILE VAR_HANDLE WHILE".split()  # noqa: SIM905
)
"""A subgraph with any of these operators cannot be inlined."""

_BODIES: Mapping[str, tuple[str, ...]] = {
    "CALL": ("subgraph",),
    "IF": ("then_subgraph_index", "else_subgraph_index"),
    "STABLEHLO_COMPOSITE": ("decomposition_subgraph_index",),
}
"""The operators that can be inlined, each with the options that hold the indices of its subgraphs."""


def bodies_of(model: Model, key: NodeKey) -> tuple[Subgraph, ...]:
    """Return the subgraphs to inline in place of a node. The tuple is empty if the node must stay."""
    node = file_graphs(model)[key.subgraph].nodes[key.node]
    if node.is_custom:
        return ()
    options = model.options(node)
    places = [getattr(options, name) for name in _BODIES.get(node.op, ())]
    if not all(isinstance(place, int) and 0 < place < len(model.subgraphs) for place in places):
        return ()
    bodies = tuple([model.subgraphs[place] for place in places])
    is_plain = all(inner.is_custom or inner.op not in _NOT_INLINED for body in bodies for inner in body.nodes)
    fits = all(len(body.outputs) == len(node.outputs) for body in bodies)
    return bodies if is_plain and fits else ()


def with_inlined_nodes(model: Model, nodes: Collection[NodeKey]) -> Edited:
    """Return the model in which each of the given nodes is replaced by the nodes of its subgraphs.

    For an IF, both branches are computed, and SELECT_V2 selects between the results.
    """
    count = sum([size_of_body(body) for key in nodes for body in bodies_of(model, key)])
    most = raised(_MOST_NODES_OF_BODIES)
    if count > most:
        raise LimitError(f"the subgraphs have {count:,} nodes and operands, above the limit of {most:,}{how_to_raise()}")
    changed = edited(model, lambda editor: _inline(editor, {key.node for key in nodes if key.subgraph == editor.subgraph.index}))
    called = {body.index for key in nodes for body in bodies_of(model, key)}
    return _without_last(changed.then(with_converted_versions), called)


def _inline(editor: Editor, chosen: Collection[int]) -> None:
    nodes, editor.nodes = editor.nodes, []
    for origin, node in nodes:
        bodies = bodies_of(editor.model, NodeKey(editor.subgraph.index, origin)) if origin in chosen else ()
        if len(bodies) < 2:
            if bodies:
                _inlined(editor, bodies[0], node.inputs, dict(zip(bodies[0].outputs, node.outputs, strict=True)))
            else:
                editor.nodes.append((origin, node))
            continue
        results = [_inlined(editor, body, node.inputs[1:], {}) for body in bodies]
        for output, *branch_results in zip(node.outputs, *results, strict=True):
            selected = editor.with_op(node, "SELECT_V2", (node.input(0), *branch_results))
            editor.nodes.append((-1, selected._replace(outputs=(output,))))


def _inlined(editor: Editor, body: Subgraph, operands: Sequence[int], results: Mapping[int, int]) -> list[int]:
    known = {**results, **dict(zip(body.inputs, operands, strict=False))}

    def own(index: int) -> int:
        if index >= 0 and index not in known:
            known[index] = editor.add_tensor(body.tensors[index])
        return known.get(index, index)

    for inner in body.nodes:
        inputs, outputs = tuple(map(own, inner.inputs)), tuple(map(own, inner.outputs))
        editor.nodes.append((-1, inner._replace(inputs=inputs, outputs=outputs)))
    return [own(index) for index in body.outputs]


def _without_last(changed: Edited, gone: Collection[int]) -> Edited:
    subgraphs = changed.model.subgraphs
    while subgraphs[-1].index in gone:
        subgraphs = subgraphs[:-1]
    return replace(changed, model=changed.model.with_same_bytes(subgraphs=subgraphs), origins=changed.origins[: len(subgraphs)])


def without_nodes(model: Model, nodes: Collection[NodeKey]) -> Edited:
    """Return the model without ``nodes``.

    If any remaining node reads a result of a removed node, this result becomes an input of the subgraph. If a node calls a
    subgraph, the inputs and outputs of this subgraph must not change. In such a subgraph, a node stays if its result is read.
    """
    return edited(model, lambda editor: _remove(editor, {key.node for key in nodes if key.subgraph == editor.subgraph.index}))


def _remove(editor: Editor, nodes: Collection[int]) -> None:
    given = {index for origin, node in editor.nodes if origin in nodes for index in node.outputs if index >= 0}
    if editor.subgraph.index:
        needed = _read_tensors(editor, nodes).union(editor.outputs)
        nodes = [origin for origin, node in editor.nodes if origin in nodes and needed.isdisjoint(node.outputs)]
        editor.remove(nodes)
        return
    operands = {index for origin, node in editor.nodes if origin in nodes for index in node.inputs}
    editor.remove(nodes)
    read = _read_tensors(editor, ())
    editor.outputs = [index for index in editor.outputs if index not in given]
    used = read.union(editor.outputs)
    kept = [index for index in editor.inputs if index not in operands or index in used]
    editor.inputs = kept + sorted(given & read)


def _read_tensors(editor: Editor, without: Collection[int]) -> set[int]:
    return {index for origin, node in editor.nodes if origin not in without for index in node.inputs}
