"""Passes over a whole graph. For example, passes lower operator versions or remove nodes that cancel each other."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...foundation.late_numpy import MOST_ARRAY_DIMENSIONS, np
from ...foundation.limits import is_above_limit
from ...graph.forms import FormTable, node_forms
from ...graph.graph import file_graphs
from ...hypothetical.model_editing import version_of
from ...model.model import Allocation, Node, Tensor
from ...prepare.constants import evaluate
from ..pass_workspace import Work, WorkCount
from .base import Exactness, Pass, graph_pass, node_pass

if TYPE_CHECKING:
    import numpy.typing as npt

_PACKED: Mapping[str, int] = {"INT4": 4, "INT2": 2}
"""The types with several elements in a byte, and the bits of an element."""


def _own_versions(work: Work) -> None:
    """Lower the operator version of each node to the version that the node requires.

    Converters often give all nodes of an operator the highest version that one of the nodes requires.
    """
    graph = work.editor.graph
    forms, known = node_forms(graph), graph.results.get("versions", (), FormTable[int, int])
    nodes = []
    for origin, node in work.editor.nodes:
        if not node.is_custom and work.is_chosen(origin):
            own = version_of(graph.view(graph.nodes[origin]), forms[origin], known)
            node = node._replace(version=min(own, node.version))  # noqa: PLW2901
        nodes.append((origin, node))
    work.editor.nodes = nodes


def widened(source: Tensor, read: WorkCount) -> WorkCount | None:
    """Return a function that dequantizes a constant as DEQUANTIZE does. Return None if the scales are unknown."""
    if source.type == "FLOAT16":
        return lambda: read().astype(np.float32)
    parameters = source.quantization
    if parameters is None or not parameters.is_affine or not len(parameters.scales):
        return None
    count = len(parameters.scales)
    if count > 1 and (parameters.dimension >= source.rank or source.shape[parameters.dimension] != count):
        return None
    axis = [1] * source.rank
    if count > 1:
        axis[parameters.dimension] = count
    scales = np.asarray(parameters.scales, np.float64).reshape(axis)
    zeros = np.zeros(len(parameters.scales), np.int64)
    zeros[: len(parameters.zero_points)] = np.asarray(parameters.zero_points)[:count]
    return lambda: (scales * (read().astype(np.int64) - zeros.reshape(axis))).astype(np.float32)


def unpacked(work: Work, tensor: Tensor) -> WorkCount | None:
    """Return a function that reads elements of 4 or 2 bits as INT8. Return None for other tensors."""
    bits = _PACKED.get(tensor.type)
    if bits is None or tensor.data is None or tensor.sparsity is not None or tensor.rank > MOST_ARRAY_DIMENSIONS:
        return None
    (offset, size), count, content = tensor.data, tensor.element_count, work.model.content
    if size != -(-count * bits // 8):
        return None

    def read() -> npt.NDArray[Any]:
        """The first element has the lowest bits of a byte."""
        stored = np.frombuffer(bytes(content[offset : offset + size]), np.uint8)
        shifts = np.arange(8 - bits, -1, -bits, dtype=np.uint8)  # bounded: two or four
        highest = (stored[:, np.newaxis] << shifts).astype(np.int8)
        return (highest >> (8 - bits)).reshape(-1)[:count].reshape(tensor.shape)

    return read


def _elements(work: Work, tensor: Tensor) -> WorkCount | None:
    return work.later(tensor) if work.has_elements(tensor) else unpacked(work, tensor)


def _widen_constants(work: Work, types: Collection[str]) -> None:
    def fold(_origin: int, node: Node) -> tuple[Tensor, WorkCount] | None:
        source = work.input(node, 0)
        read = _elements(work, source) if source.type in types else None
        compute = None if read is None else widened(source, read)
        tensor = work.output(node)._replace(allocation=Allocation.CONSTANT, shape=source.shape)
        return None if compute is None else (tensor, compute)

    work.fold_each({"DEQUANTIZE"}, fold)


_MOVES = """
BROADCAST_TO CONCATENATION EXPAND_DIMS FILL GATHER PACK RESHAPE SELECT SELECT_V2 SLICE SQUEEZE STRIDED_SLICE TILE TRANSPOSE
"""
_SIMPLE = "ABS ADD CAST EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL LOGICAL_AND LOGICAL_NOT LOGICAL_OR MUL NEG NOT_EQUAL SUB"
_COMPUTED = frozenset(f"{_MOVES} {_SIMPLE}".split())
"""Operators whose results for constants do not depend on the kernel."""
_COMPUTED_TYPES = frozenset({"BOOL", "FLOAT32", "INT8", "INT16", "INT32", "INT64", "UINT8"})
_MOST_COMPUTED = 1 << 25
"""Elements that one pass reads and computes at most."""


def _compute_constants(work: Work) -> None:
    left = _MOST_COMPUTED

    def fold(origin: int, node: Node) -> tuple[Tensor, WorkCount] | None:
        nonlocal left
        target = work.output(node)
        if not work.is_chosen(origin) or not _is_computable(work, node):
            return None
        size = target.element_count + sum([work.tensor(index).element_count for index in node.inputs])
        if size > left:
            return None
        left -= size
        operands = [work.later(work.tensor(index))() for index in node.inputs]
        if node.op == "GATHER" and not _are_inside(operands, work.options(node).axis):
            return None
        values = evaluate(node.op, work.options(node), operands, [target.type])
        # Results of another size than the file says are computed, and thrown away.
        left -= 0 if values is None else values[0].size
        if values is None or values[0].shape != target.shape:
            return None
        return target._replace(allocation=Allocation.CONSTANT), lambda: np.ascontiguousarray(values[0])

    work.fold_each(_COMPUTED, fold)


def _are_inside(operands: Sequence[npt.NDArray[Any]], axis: int) -> bool:
    """Return whether all positions that a GATHER reads exist."""
    table, places = operands[:2]
    size = table.shape[axis % table.ndim] if table.ndim else 0
    return bool(((places >= 0) & (places < size)).all())


def _is_computable(work: Work, node: Node) -> bool:
    operands, target = [work.tensor(index) for index in node.inputs], work.output(node)
    if len(node.outputs) != 1 or work.is_open(target) or not all(map(work.has_elements, operands)):
        return False
    if not {tensor.type for tensor in (*operands, target)} <= _COMPUTED_TYPES:
        return False
    if target.rank > MOST_ARRAY_DIMENSIONS or is_above_limit(sum([tensor.element_count for tensor in (*operands, target)])):
        return False
    moved = [tensor for tensor in operands if tensor.type == target.type]
    if node.op in _MOVES.split():
        own = target.scale, target.zero_point
        is_exact = not any(tensor.is_per_channel or (tensor.scale, tensor.zero_point) != own for tensor in moved)
    else:
        is_exact = all(tensor.quantization is None for tensor in (*operands, target))
    options = work.options(node)
    if node.op == "CAST":
        return is_exact and (operands[0].type != "FLOAT32" or target.type == "FLOAT32")
    return is_exact and not getattr(options, "fused_activation_function", 0)


_HYBRID: Mapping[str, int] = {"BATCH_MATMUL": 1, "CONV_2D": 1, "DEPTHWISE_CONV_2D": 1, "FULLY_CONNECTED": 1, "TRANSPOSE_CONV": 1}


def _widen_weights(work: Work, node: Node) -> Sequence[Node] | None:
    position = _HYBRID[node.op]
    weights, target = work.input(node, position), work.output(node)
    is_read = weights.type in ("INT8", "UINT8", "INT4") or node.op == "FULLY_CONNECTED"
    read = _elements(work, weights) if is_read else None
    compute = None if read is None or target.type != "FLOAT32" else widened(weights, read)
    if compute is None:
        return None
    wide = work.computed(f"{weights.name}/float", "FLOAT32", weights.shape, compute)
    inputs = (*node.inputs[:position], wide, *node.inputs[position + 1 :])
    changed = work.editor.with_options(node._replace(inputs=inputs), asymmetric_quantize_inputs=False)
    return [changed]


def _unpack_weights(work: Work, node: Node) -> Sequence[Node] | None:
    weights = work.input(node, 1)
    read = unpacked(work, weights)
    if read is None or weights.quantization is None or not weights.quantization.is_affine:
        return None
    wide = work.computed(f"{weights.name}/int8", "INT8", weights.shape, read, weights.quantization)
    return [node._replace(inputs=(node.inputs[0], wide, *node.inputs[2:]))]


def _cancel(work: Work) -> None:
    editor = work.editor
    writers = {index: node for _, node in editor.nodes for index in node.outputs}
    replaced: dict[int, int] = {}
    orphans: set[int] = set()
    outputs = frozenset(editor.outputs)
    nodes = []
    for origin, old in editor.nodes:
        node = old
        if not replaced.keys().isdisjoint(old.inputs):
            node = old._replace(inputs=tuple([replaced.get(index, index) for index in old.inputs]))
        source = _undone(work, node, writers)
        if source is None:
            pass
        elif node.op == "RESHAPE" and (work.tensor(source).shape != work.output(node).shape or node.outputs[0] in outputs):
            orphans.add(node.inputs[0])
            node = node._replace(inputs=(source, *node.inputs[1:]))
        elif node.outputs[0] not in outputs:
            replaced[node.outputs[0]] = source
            orphans.add(node.inputs[0])
            continue
        nodes.append((origin, node))
        writers.update(dict.fromkeys(node.outputs, node))
    editor.nodes = nodes
    editor.replace_operands(replaced)
    editor.remove_unread(orphans - set(editor.inputs))


def _undone(work: Work, node: Node, writers: Mapping[int, Node]) -> int | None:
    """If a pair of nodes only keeps or reshapes its input, return this input. Otherwise, return None.

    ``node`` is the second node of the pair. If ``node`` is a RESHAPE that keeps the shape, return the input of ``node``.
    """
    if node.is_custom or not node.inputs or not node.outputs:
        return None
    own = (work.input(node, 0), *[work.tensor(index) for index in node.outputs])
    if node.op == "RESHAPE" and own[0].shape == work.output(node).shape:
        return node.inputs[0] if not own[0].is_constant and not work.is_open(*own) else None
    first = writers.get(node.inputs[0])
    if first is None or first.is_custom or not _do_cancel(work, first, node) or work.is_open(work.input(first, 0), *own):
        return None
    return first.inputs[0]


def _do_cancel(work: Work, first: Node, second: Node) -> bool:
    """Return whether two nodes together only keep or reshape the input of the first node, if no shape changes at run time."""
    pair = first.op, second.op
    if pair == ("TRANSPOSE", "TRANSPOSE"):
        orders = [work.integers(work.input(either, 1)) for either in (first, second)]
        if orders[0] is None or orders[1] is None or orders[0].size != orders[1].size:
            return False
        if any(work.input(either, 1).type != "INT32" for either in (first, second)):  # the kernel reads the order as INT32
            return False
        before, after = orders[0].reshape(-1).tolist(), orders[1].reshape(-1).tolist()
        in_order = list(range(len(after)))
        are_permutations = sorted(before) == sorted(after) == in_order
        return are_permutations and [before[axis] for axis in after] == in_order
    if pair == ("DEQUANTIZE", "QUANTIZE"):
        source, target = work.input(first, 0), work.output(second)
        same = (source.type, source.scale, source.zero_point) == (target.type, target.scale, target.zero_point)
        return same and source.scale > 0 and not source.is_constant
    return pair == ("RESHAPE", "RESHAPE")


def _inline_composites(work: Work) -> None:
    nodes: list[tuple[int, Node]] = []
    for origin, node in work.editor.nodes:
        inner = _decomposed(work, node) if node.op == "STABLEHLO_COMPOSITE" and work.is_chosen(origin) else None
        nodes += [(origin, node)] if inner is None else [(-1, part) for part in inner]
    work.editor.nodes = nodes


def _decomposed(work: Work, node: Node) -> list[Node] | None:
    index = work.options(node).decomposition_subgraph_index
    if not 0 <= index < len(work.model.subgraphs) or index == work.editor.subgraph.index:
        return None
    graph = file_graphs(work.model)[index]
    inputs, outputs = work.model.subgraphs[index].inputs, work.model.subgraphs[index].outputs
    if (len(inputs), len(outputs)) != (len(node.inputs), len(node.outputs)) or len({*inputs, *outputs}) < len(inputs) + len(
        outputs
    ):
        return None
    written = {tensor for part in graph.nodes for tensor in part.outputs}
    if any(tensor.is_variable for tensor in graph.tensors) or not written.issuperset(outputs):
        return None
    moved: dict[int, int] = dict(zip((*inputs, *outputs), (*node.inputs, *node.outputs), strict=True))

    def place(tensor: int) -> int:
        if tensor >= 0 and tensor not in moved:
            own = graph.tensors[tensor]
            moved[tensor] = work.editor.add_tensor(own._replace(name=f"{work.output(node).name}/{own.name}"))
        return moved.get(tensor, -1)

    return [
        part._replace(index=-1, inputs=tuple(map(place, part.inputs)), outputs=tuple(map(place, part.outputs)))
        for part in graph.nodes
    ]


_MERGED = frozenset(
    (
        *("ADD", "AVERAGE_POOL_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D", "MEAN", "MUL", "REDUCE_MAX", "REDUCE_MIN"),
        *("REDUCE_PROD", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "SLICE", "STRIDED_SLICE", "SUM"),
    )
)
"""The operators of nodes that a delegate merges with the node before them, even if the tensor between them is an output."""


def _copy_outputs(work: Work) -> None:
    editor = work.editor
    outputs = frozenset(editor.outputs)
    read = {
        index
        for origin, node in editor.nodes
        if work.is_chosen(origin) and node.op in _MERGED
        for index in node.inputs
        if index in outputs
    }
    copied: dict[int, int] = {}
    nodes = []
    for origin, node in editor.nodes:
        own = [index for index in node.outputs if index in read and not work.is_open(work.tensor(index))]
        copied |= {index: work.result(work.tensor(index), "copied") for index in own}
        renamed = node._replace(
            inputs=tuple([copied.get(index, index) for index in node.inputs]),
            outputs=tuple([copied.get(index, index) for index in node.outputs]),
        )
        nodes += [(origin, renamed), *[(-1, work.reshape(copied[index], index)) for index in own]]
    editor.nodes = nodes


_widen_float16 = functools.partial(_widen_constants, types=("FLOAT16",))
_dequantize_constants = functools.partial(_widen_constants, types=("INT8", "UINT8", "INT16", "INT4"))

PASSES: tuple[Pass, ...] = (
    graph_pass("composites-inlined", Exactness.EXACT, _inline_composites, {"STABLEHLO_COMPOSITE"}),
    graph_pass("nodes-of-constants", Exactness.EXACT, _compute_constants, _COMPUTED),
    graph_pass("own-versions", Exactness.EXACT, _own_versions),
    graph_pass("float16-widened", Exactness.EXACT, _widen_float16, {"DEQUANTIZE"}, is_for_all=True),
    graph_pass("constants-dequantized", Exactness.EXACT, _dequantize_constants, {"DEQUANTIZE"}, is_for_all=True),
)

LAST: tuple[Pass, ...] = (
    graph_pass("pairs-that-cancel", Exactness.EXACT, _cancel, {"TRANSPOSE", "RESHAPE", "QUANTIZE"}, is_for_all=True),
    node_pass("weights-in-int8", "FULLY_CONNECTED", Exactness.ROUNDING, _unpack_weights),
    node_pass("weights-widened", " ".join(_HYBRID), Exactness.APPROXIMATE, _widen_weights),
    graph_pass("output-as-copy", Exactness.EXACT, _copy_outputs, _MERGED, is_for_wrong=True),
)
"""Passes that run last. They remove pairs of nodes that other passes add, or make the file larger."""
