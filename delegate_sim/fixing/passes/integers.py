"""Replace INT64 by INT32 where INT32 suffices, and remove needless CASTs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...foundation.late_numpy import np
from ...model import schema
from ...model.model import Allocation, Node, Tensor
from ..pass_workspace import Work, WorkCount
from .base import IN_INT32, INDICES_IN_INT32, Exactness, Pass, graph_pass, node_pass

if TYPE_CHECKING:
    import numpy.typing as npt

_POSITIONS: Mapping[str, tuple[int, ...]] = {
    "ARG_MAX": (1,),
    "ARG_MIN": (1,),
    "BROADCAST_TO": (1,),
    "DYNAMIC_UPDATE_SLICE": (2,),
    "EXPAND_DIMS": (1,),
    "FILL": (0,),
    "GATHER": (1,),
    "GATHER_ND": (1,),
    "MIRROR_PAD": (1,),
    "PAD": (1,),
    "PADV2": (1,),
    "REVERSE_SEQUENCE": (1,),
    "SLICE": (1, 2),
    "SPLIT_V": (1,),
    "TILE": (1,),
}
"""Positions of the index operands of each operator.

Kernels accept index operands of INT32 or INT64, but all index operands of a node must have the same type. INT32 suffices,
because the runtime stores sizes as INT32.
"""
_CONSTANT_POSITIONS: Mapping[str, tuple[int, ...]] = {**_POSITIONS, "ONE_HOT": (0,)}
"""The positions in ``_POSITIONS``, and the positions of operands that can become INT32 only if they are constants."""


def _narrow_constants(work: Work, node: Node) -> Sequence[Node] | None:
    inputs = list(node.inputs)
    for position in _CONSTANT_POSITIONS[node.op]:
        narrow = _narrow_constant(work, work.input(node, position))
        if narrow is None:
            return None
        inputs[position] = narrow
    return [node._replace(inputs=tuple(inputs))]


def _narrow_constant(work: Work, tensor: Tensor) -> int | None:
    values = work.values(tensor) if tensor.type == "INT64" else None
    if values is None or not _fits(values):
        return None
    return work.constant(f"{tensor.name}/int32", "INT32", values)


def _fits(values: npt.NDArray[Any]) -> bool:
    limits = np.iinfo(np.int32)
    return bool(((values >= limits.min) & (values <= limits.max)).all())


def _narrow_operands(work: Work) -> None:
    casts: dict[int, int] = {}

    def narrowed(work: Work, node: Node) -> Sequence[Node] | None:
        operands = {position: work.input(node, position) for position in _POSITIONS[node.op]}
        if any(operand.type != "INT64" for operand in operands.values()) or all(
            operand.is_constant for operand in operands.values()
        ):
            return None
        inputs, nodes = list(node.inputs), []
        for position, operand in operands.items():
            narrow = _narrow_constant(work, operand) if operand.is_constant else casts.get(operand.index)
            if narrow is None and operand.is_constant:
                return None
            if narrow is None:
                narrow = casts[operand.index] = work.result(operand, "int32", kind="INT32")
                nodes.append(_cast(work, operand.index, narrow))
            inputs[position] = narrow
        return [*nodes, node._replace(inputs=tuple(inputs))]

    work.rewrite_each(_POSITIONS, narrowed)


def _cast(work: Work, source: int, target: int) -> Node:
    kinds = [_type_number(work.tensor(index)) for index in (source, target)]
    return work.node("CAST", [source], [target], in_data_type=kinds[0], out_data_type=kinds[1])


def _type_number(tensor: Tensor) -> int:
    return schema.enum_values("TensorType")[tensor.type]


_RESULT_TYPES: Mapping[str, str] = {"ARG_MAX": "output_type", "ARG_MIN": "output_type", "SHAPE": "out_type"}


def _narrow_results(work: Work, node: Node) -> Sequence[Node] | None:
    target = work.output(node)
    if target.type != "INT64":
        return None
    narrow = work.result(target, "int32", kind="INT32")
    changed = work.editor.with_options(node, **{_RESULT_TYPES[node.op]: _type_number(work.tensor(narrow))})
    if changed is node:
        return None
    return [changed._replace(outputs=(narrow,)), _cast(work, narrow, node.outputs[0])]


_COMPARISONS = frozenset({"EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL"})
_ARITHMETIC = frozenset(
    {"ABS", "ADD", "FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM", "MUL", "NEG", "SELECT", "SELECT_V2", "SUB", *_COMPARISONS}
)
"""Operators with the same results in INT32 as in INT64, if all values fit into INT32."""


def _narrow_arithmetic(work: Work, node: Node) -> Sequence[Node] | None:
    wide = [position for position in range(len(node.inputs)) if work.input(node, position).type == "INT64"]
    expected = list(range(1, 3)) if node.op.startswith("SELECT") else list(range(len(node.inputs)))
    if wide != expected or len(node.outputs) != 1:
        return None
    nodes, inputs = [], list(node.inputs)
    for position in wide:
        operand = work.input(node, position)
        narrow = _narrow_constant(work, operand) if operand.is_constant else work.result(operand, "int32", kind="INT32")
        if narrow is None:
            return None
        if not operand.is_constant:
            nodes.append(_cast(work, operand.index, narrow))
        inputs[position] = narrow
    same = node._replace(index=-1, inputs=tuple(inputs))
    if work.output(node).type != "INT64":
        return [*nodes, same]
    result = work.result(work.output(node), "int32", kind="INT32")
    return [*nodes, same._replace(outputs=(result,)), _cast(work, result, node.outputs[0])]


_MOVES: Mapping[str, int | None] = {
    "CONCATENATION": None,
    "EXPAND_DIMS": 1,
    "GATHER": 1,
    "PACK": None,
    "RESHAPE": 1,
    "SLICE": 1,
    "SQUEEZE": 1,
    "STRIDED_SLICE": 1,
    "TILE": 1,
    "TRANSPOSE": 1,
}
"""Operators that only move elements, with the number of operands whose elements are moved. None means all operands."""


def _cast_before_moves(work: Work) -> None:
    """Move a CAST of INT64 values in front of nodes that only move elements. The nodes are processed from last to first."""
    editor = work.editor
    readers = Counter([index for _, node in editor.nodes for index in node.inputs] + editor.outputs)
    moves = {index: node for _, node in editor.nodes if node.op in _MOVES and not node.is_custom for index in node.outputs}
    goals: dict[int, int] = {}
    reversed_nodes = []

    def is_moved(index: int) -> bool:
        move = moves.get(index)
        return move is not None and readers[index] == 1 and len(move.outputs) == 1

    for origin, node in reversed(editor.nodes):
        goal = goals.get(node.outputs[0]) if len(node.outputs) == 1 else None
        if goal is not None:
            reversed_nodes += [(-1, cast) for cast in reversed(_moved_in_type(work, node, goal, goals, is_moved))]
        elif _narrows(work, node) and is_moved(node.inputs[0]):
            goals[node.inputs[0]] = node.outputs[0]
        else:
            reversed_nodes.append((origin, node))
    editor.nodes = reversed_nodes[::-1]


def _narrows(work: Work, node: Node) -> bool:
    is_cast = node.op == "CAST" and len(node.inputs) == len(node.outputs) == 1 and min(*node.inputs, *node.outputs) >= 0
    return is_cast and work.input(node, 0).type == "INT64" and work.output(node).type in ("INT32", "FLOAT32")


def _moved_in_type(work: Work, node: Node, goal: int, goals: dict[int, int], is_moved: Any) -> list[Node]:
    kind = work.tensor(goal).type
    nodes, inputs = [], list(node.inputs)
    for position in range(len(inputs) if _MOVES[node.op] is None else 1):
        source = work.input(node, position)
        other = work.result(source, kind.lower(), kind=kind)
        inputs[position] = other
        if is_moved(source.index):
            goals[source.index] = other
        else:
            nodes.append(_cast(work, source.index, other))
    return [*nodes, node._replace(index=-1, inputs=tuple(inputs), outputs=(goal,))]


_HOLDS: Mapping[str, frozenset[str]] = {
    "BOOL": frozenset({"INT8", "UINT8", "INT16", "INT32", "INT64"}),
    "INT8": frozenset({"INT16", "INT32", "INT64"}),
    "UINT8": frozenset({"INT16", "INT32", "INT64"}),
    "INT16": frozenset({"INT32", "INT64"}),
    "INT32": frozenset({"INT64"}),
    "INT64": frozenset(),
}
"""For each type, the types that can hold all values of the type."""
_INTEGERS = frozenset(_HOLDS)


def _join_casts(work: Work) -> None:
    """Remove the first of two consecutive CASTs, if the first CAST keeps all values.

    The second CAST then reads the operand of the first CAST. If the operand already has the final type, the second CAST is also
    removed.
    """
    editor = work.editor
    writers = {node.outputs[0]: node for _, node in editor.nodes if node.op == "CAST" and len(node.outputs) == 1}
    replaced: dict[int, int] = {}
    orphans: set[int] = set()
    nodes = []
    outputs = frozenset(editor.outputs)
    for origin, old in editor.nodes:
        node = old._replace(inputs=tuple([replaced.get(index, index) for index in old.inputs]))
        source = _origin(work, node, writers) if node.op == "CAST" and not node.is_custom else None
        if source is not None and work.tensor(source).type != work.output(node).type:
            orphans.add(node.inputs[0])
            kind = _type_number(work.tensor(source))
            node = editor.with_options(node._replace(inputs=(source,)), in_data_type=kind)
            writers[node.outputs[0]] = node
        elif source is not None and node.outputs[0] not in outputs:
            orphans.add(node.inputs[0])
            replaced[node.outputs[0]] = source
            continue
        nodes.append((origin, node))
    editor.nodes = nodes
    editor.replace_operands(replaced)
    editor.remove_unread(orphans - set(editor.inputs))


def _origin(work: Work, node: Node, writers: Mapping[int, Node]) -> int | None:
    if len(node.inputs) != 1 or len(node.outputs) != 1 or min(*node.inputs, *node.outputs) < 0:
        return None
    source, target = work.input(node, 0), work.output(node)
    if source.type == target.type and source.type in _INTEGERS and not source.is_constant:
        return source.index
    first = writers.get(source.index)
    if first is None or len(first.inputs) != 1:
        return None
    origin = work.input(first, 0)
    is_kept = source.type in _HOLDS.get(origin.type, ()) and target.type in (*_INTEGERS, "FLOAT32")
    return origin.index if is_kept and not origin.is_constant else None


def _fold_casts(work: Work) -> None:
    def fold(_origin: int, node: Node) -> tuple[Tensor, WorkCount] | None:
        source, target = work.input(node, 0), work.output(node)
        compute = _cast_values(work, source, target.type) if len(node.outputs) == 1 else None
        tensor = target._replace(allocation=Allocation.CONSTANT, shape=source.shape, shape_signature=None)
        return None if compute is None else (tensor, compute)

    work.fold_each({"CAST"}, fold)


def _cast_values(work: Work, source: Tensor, kind: str) -> WorkCount | None:
    is_certain = source.type in _INTEGERS and kind in (*_INTEGERS, "FLOAT32")
    if not is_certain and (source.type, kind) != ("FLOAT16", "FLOAT32"):
        return None
    if not work.has_elements(source):
        return None
    read = work.later(source)
    return lambda: read().astype(schema.NUMPY_TYPES[kind])


PASSES: tuple[Pass, ...] = (
    node_pass("indices-in-int32", " ".join(_CONSTANT_POSITIONS), Exactness.EXACT, _narrow_constants),
    graph_pass("indices-cast-to-int32", Exactness.EXACT, _narrow_operands, _POSITIONS, holds_for=INDICES_IN_INT32),
    node_pass("positions-in-int32", " ".join(_RESULT_TYPES), Exactness.EXACT, _narrow_results),
    node_pass("arithmetic-in-int32", " ".join(_ARITHMETIC), Exactness.EXACT, _narrow_arithmetic, IN_INT32),
)

LAST: tuple[Pass, ...] = (
    graph_pass("casts-before-moves", Exactness.EXACT, _cast_before_moves, {"CAST"}, is_for_all=True),
    graph_pass("casts-joined", Exactness.EXACT, _join_casts, {"CAST"}, is_for_all=True),
    graph_pass("casts-of-constants", Exactness.EXACT, _fold_casts, {"CAST"}, is_for_all=True),
)
