"""Simulate changes in the code of a model: integers computed in float32, and both branches of an IF computed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..errors import LimitError
from ..graph.graph import file_graphs
from ..model.model import Allocation, Model, Node, Subgraph, Tensor
from ..model.numbers import StoredNumbers
from .converted_versions import with_converted_versions
from .model_editing import Edited, Editor, NodeKey, edited

ARITHMETIC = frozenset(
    [
        "ABS",
        "ADD",
        "DIV",
        "EQUAL",
        "FLOOR_DIV",
        "FLOOR_MOD",
        "GREATER",
        "GREATER_EQUAL",
        "LESS",
        "LESS_EQUAL",
        "MAXIMUM",
        "MINIMUM",
        "MUL",
        "NEG",
        "NOT_EQUAL",
        "POW",
        "SQUARE",
        "SQUARED_DIFFERENCE",
        "SUB",
    ]
)
"""The operators that a model can compute in float32 instead of integers."""

_INTEGERS = ("INT32", "INT64")
_MOST_NODES_OF_BRANCHES = 20_000


def with_float_arithmetic(model: Model, nodes: Collection[NodeKey]) -> Edited:
    """Return the model in which these nodes compute in float32, with a CAST for each integer operand and result."""
    changed = edited(model, lambda editor: _cast(editor, {key.node for key in nodes if key.subgraph == editor.subgraph.index}))
    return changed.then(with_converted_versions)


def _cast(editor: Editor, chosen: Collection[int]) -> None:
    nodes, editor.nodes = editor.nodes, []
    for origin, node in nodes:
        if origin not in chosen:
            editor.nodes.append((origin, node))
            continue
        inputs = tuple([_as_float(editor, index) for index in node.inputs])
        results = {index: _floating(editor, index) for index in node.outputs if editor.tensor(index).type in _INTEGERS}
        outputs = tuple([results.get(index, index) for index in node.outputs])
        editor.nodes.append((origin, node._replace(inputs=inputs, outputs=outputs)))
        for index, floating in results.items():
            editor.insert("CAST", floating, index)


def _floating(editor: Editor, index: int) -> int:
    """Add a float32 tensor of the shape of another tensor, and return its index."""
    return editor.add_tensor(editor.tensor(index)._replace(type="FLOAT32", data=None, value=None, allocation=Allocation.ARENA))


def _as_float(editor: Editor, index: int) -> int:
    tensor = editor.tensor(index)
    if tensor.type not in _INTEGERS:
        return index
    if tensor.is_constant:
        numbers = [float(number) for number in editor.model.constant(tensor) or ()]
        return editor.add_tensor(tensor._replace(type="FLOAT32", data=None, value=StoredNumbers.of("<f4", numbers)))
    result = _floating(editor, index)
    editor.insert("CAST", index, result)
    return result


def branches_of(model: Model, key: NodeKey) -> tuple[Subgraph, ...]:
    """Return the two branches of an IF; nothing if a branch has nodes that must not run without their condition."""
    graph = file_graphs(model)[key.subgraph]
    options = model.options(graph.nodes[key.node])
    places = (options.then_subgraph_index, options.else_subgraph_index)
    if not all(isinstance(place, int) and 0 < place < len(model.subgraphs) for place in places):
        return ()
    branches = tuple([model.subgraphs[place] for place in places])
    is_plain = all(not node.is_custom and node.op not in _NOT_INLINED for branch in branches for node in branch.nodes)
    return branches if is_plain else ()


_NOT_INLINED = frozenset(
    """ASSIGN_VARIABLE CALL CALL_ONCE IF READ_VARIABLE STABLEHLO_COMPOSITE STABLEHLO_WHILE VAR_HANDLE WHILE""".split()  # noqa: SIM905
)


def with_both_branches(model: Model, nodes: Collection[NodeKey]) -> Edited:
    """Return the model that computes both branches of these IF nodes, and selects between their results with SELECT_V2."""
    count = sum([len(branch.nodes) for key in nodes for branch in branches_of(model, key)])
    if count > _MOST_NODES_OF_BRANCHES:
        raise LimitError(f"the branches have {count:,} nodes, above the limit of {_MOST_NODES_OF_BRANCHES:,}")
    changed = edited(model, lambda editor: _inline(editor, {key.node for key in nodes if key.subgraph == editor.subgraph.index}))
    called = {branch.index for key in nodes for branch in branches_of(model, key)}
    return _without_last(changed.then(with_converted_versions), called)


def _inline(editor: Editor, chosen: Collection[int]) -> None:
    nodes, editor.nodes = editor.nodes, []
    for origin, node in nodes:
        branches = branches_of(editor.model, NodeKey(editor.subgraph.index, origin)) if origin in chosen else ()
        if not branches:
            editor.nodes.append((origin, node))
            continue
        results = [_inlined(editor, branch, node) for branch in branches]
        for output, *chosen_results in zip(node.outputs, *results, strict=True):
            selected = editor.with_op(node, "SELECT_V2", (node.input(0), *chosen_results))
            editor.nodes.append((-1, selected._replace(outputs=(output,))))


def _inlined(editor: Editor, branch: Subgraph, node: Node) -> list[int]:
    """Add the nodes of a branch, and return the tensors that hold its results."""
    known = dict(zip(branch.inputs, node.inputs[1:], strict=False))

    def own(index: int) -> int:
        if index >= 0 and index not in known:
            tensor: Tensor = branch.tensors[index]
            known[index] = editor.add_tensor(tensor)
        return known.get(index, index)

    for inner in branch.nodes:
        inputs, outputs = tuple(map(own, inner.inputs)), tuple(map(own, inner.outputs))
        editor.nodes.append((-1, inner._replace(inputs=inputs, outputs=outputs)))
    return [own(index) for index in branch.outputs]


def _without_last(changed: Edited, gone: Collection[int]) -> Edited:
    """Leave out subgraphs that nothing calls anymore, as long as they are the last ones."""
    subgraphs = changed.model.subgraphs
    while subgraphs[-1].index in gone:
        subgraphs = subgraphs[:-1]
    return replace(changed, model=changed.model.with_same_bytes(subgraphs=subgraphs), origins=changed.origins[: len(subgraphs)])
