"""Simplify a subgraph as a converter does after unknown shapes become known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..foundation.late_numpy import np
from ..foundation.limits import element_count
from ..model.model import OPTIONAL_TENSOR, Node, Tensor
from ..model.numbers import as_list
from .model_editing import Editor, Replacements

_SHAPING = ("BROADCAST_TO", "RESHAPE")


def simplify(editor: Editor, constants: frozenset[int], zeros: frozenset[int]) -> None:
    """Simplify a subgraph: remove, merge and replace nodes.

    ``constants`` are tensors that became constant. ``zeros`` are constants with only zeros as elements. Additions of zeros are
    always removed. All other nodes are simplified only if their shapes were unknown. Nodes of known shapes were simplified when
    the model was converted.
    """
    _remove_additions_of_zeros(editor, zeros)
    _reshape_in_place_of_transposing(editor, constants)
    _reshape_in_place_of_expanding(editor, constants)
    _remove_reshapes_to_the_same(editor, constants)
    _join_reshapes(editor, constants)
    _add_in_layers(editor)
    _keep_dimensions(editor, constants)


def _was_unknown(editor: Editor, node: Node, constants: frozenset[int]) -> bool:
    return not constants.isdisjoint(node.inputs[1:]) or editor.graph.tensor(node.output(0)).has_unspecified_dimension


def _remove_additions_of_zeros(editor: Editor, zeros: frozenset[int]) -> None:
    replaced, gone = {}, set()
    for origin, node in editor.nodes:
        first, second = (*node.inputs, OPTIONAL_TENSOR, OPTIONAL_TENSOR)[:2]
        if node.op not in ("ADD", "SUB") or editor.options_of(node).fused_activation_function:
            continue
        rest = first if second in zeros else second if first in zeros and node.op == "ADD" else OPTIONAL_TENSOR
        if rest >= 0 and node.outputs and editor.tensors[rest].shape == editor.tensor(node.output(0)).shape:
            replaced[node.output(0)] = rest
            gone.add(origin)
    editor.remove(gone)
    editor.replace_operands(replaced)


def _reshape_in_place_of_transposing(editor: Editor, constants: frozenset[int]) -> None:
    for place, (origin, node) in enumerate(editor.nodes):
        if node.op != "TRANSPOSE" or not _was_unknown(editor, node, constants):
            continue
        order = editor.model.constant(editor.tensor(node.input(1)))
        before, after = editor.tensor(node.input(0)).shape, editor.tensor(node.output(0)).shape
        if (
            order is None
            or len(order) != len(before)
            or sorted(int(axis) for axis in order) != list(range(len(before)))
            or [int(axis) for axis in order if before[axis] != 1] != [axis for axis, size in enumerate(before) if size != 1]
        ):
            continue
        editor.nodes[place] = origin, _reshape(editor, node, editor.tensor(node.input(1)), after)


def _reshape_in_place_of_expanding(editor: Editor, constants: frozenset[int]) -> None:
    for place, (origin, node) in enumerate(editor.nodes):
        if node.op == "EXPAND_DIMS" and editor.tensor(node.input(1)).is_constant and _was_unknown(editor, node, constants):
            axis = editor.tensor(node.input(1))
            editor.nodes[place] = origin, _reshape(editor, node, axis, editor.tensor(node.output(0)).shape)


def _reshape(editor: Editor, node: Node, constant: Tensor, sizes: tuple[int, ...]) -> Node:
    """Return a RESHAPE to ``sizes`` in place of a node.

    The RESHAPE reads the sizes from a copy of one of the node's constants.
    """
    shape = np.array(sizes, np.int32)
    told = editor.add_tensor(constant._replace(shape=shape.shape, type="INT32", value=shape, data=None))
    return editor.with_op(node, "RESHAPE", (node.input(0), told))


def _remove_reshapes_to_the_same(editor: Editor, constants: frozenset[int]) -> None:
    replaced, gone, outputs = {}, set(), frozenset(editor.outputs)
    for origin, node in editor.nodes:
        if (
            node.op not in _SHAPING
            or not node.inputs
            or not node.outputs
            or node.output(0) in outputs
            or not _was_unknown(editor, node, constants)
        ):
            continue
        if editor.tensor(node.input(0)).shape == editor.tensor(node.output(0)).shape:
            replaced[node.output(0)] = node.input(0)
            gone.add(origin)
    editor.remove(gone)
    editor.replace_operands(replaced)


def _join_reshapes(editor: Editor, constants: frozenset[int]) -> None:
    writers = {index: node for _, node in editor.nodes for index in node.outputs}
    joined = Replacements(
        {
            index: node.input(0)
            for index, node in writers.items()
            if node.op == "RESHAPE" and node.inputs and _was_unknown(editor, node, constants)
        }
    )
    for position, (origin, node) in enumerate(editor.nodes):
        if node.op == "RESHAPE" and node.inputs:
            editor.nodes[position] = origin, node._replace(inputs=(joined.last(node.inputs[0]), *node.inputs[1:]))
    editor.remove_unread(joined.known)


class _Neighbors:
    def __init__(self, editor: Editor) -> None:
        self.nodes = editor.nodes
        self._writers = {index: place for place, (_, node) in enumerate(editor.nodes) for index in node.outputs}
        self._readers = {index: place for place, (_, node) in enumerate(editor.nodes) for index in node.inputs}
        self._reads = Counter([*editor.outputs, *[index for _, node in editor.nodes for index in node.inputs]])
        widening = [node for node in editor.graph.nodes if editor.graph.view(node).is_constant_float16_dequantize]
        self.widened = {index: node.input(0) for node in reversed(widening) for index in node.outputs}
        """The float16 constants that DEQUANTIZE nodes convert to float32, keyed by the result's index."""

    def is_shared(self, index: int) -> bool:
        """Return whether a tensor has more than one reader. The caller of the subgraph is a reader of each output."""
        return self._reads[index] > 1

    def before(self, index: int, *ops: str, may_be_shared: bool = False) -> int | None:
        """Return the position of a tensor's writer.

        Return None if the tensor is shared, or if the writer's operator is not in ``ops``.
        """
        place = self._writers.get(index)
        if place is None or self.nodes[place][1].op not in ops or (self.is_shared(index) and not may_be_shared):
            return None
        return place

    def behind(self, index: int, *ops: str) -> int | None:
        """Return the position of a tensor's only reader.

        Return None if the tensor is shared, or if the reader's operator is not in ``ops``.
        """
        place = self._readers.get(index)
        return None if place is None or self.is_shared(index) or self.nodes[place][1].op not in ops else place


def _add_in_layers(editor: Editor) -> None:
    """Turn the constant of an ADD into the bias of the FULLY_CONNECTED before the ADD.

    The constant must have one value for each unit. A RESHAPE may be between the FULLY_CONNECTED and the ADD.
    """
    neighbors = _Neighbors(editor)
    replaced, gone = {}, set()
    for origin, node in editor.nodes:
        place = _layer_before(editor, node, neighbors)
        if place is not None:
            layer_origin, layer = editor.nodes[place]
            bias = _as_bias(editor, node.input(1), neighbors)
            activation = editor.options_of(node).fused_activation_function
            changed = editor.with_options(layer, fused_activation_function=activation) if activation else layer
            editor.nodes[place] = layer_origin, changed._replace(inputs=(*layer.inputs[:2], bias))
            replaced[node.output(0)] = node.input(0)
            gone.add(origin)
    editor.remove(gone)
    editor.replace_operands(replaced)


def _layer_before(editor: Editor, node: Node, neighbors: _Neighbors) -> int | None:
    if node.op != "ADD" or len(node.inputs) != 2:
        return None
    source, constant = node.inputs
    is_fixed = editor.tensor(constant).is_constant or constant in neighbors.widened
    if not is_fixed or not editor.graph.tensor(node.output(0)).has_unspecified_dimension:
        return None
    reshape = neighbors.before(source, "RESHAPE")
    place = neighbors.before(source if reshape is None else editor.nodes[reshape][1].input(0), "FULLY_CONNECTED")
    if place is None:
        return None
    layer = editor.nodes[place][1]
    if layer.input(2) != OPTIONAL_TENSOR or editor.options_of(layer).fused_activation_function:
        return None
    added, shape = editor.tensor(constant).shape, editor.tensor(source).shape
    units = editor.tensor(layer.output(0)).shape[-1:]
    return place if added and shape[-len(added) :] == added and (element_count(added),) == units else None


def _as_bias(editor: Editor, index: int, neighbors: _Neighbors) -> int:
    own = editor.tensors[index]
    biased = _biased(own)
    if (own.shape, own.type) == (biased.shape, biased.type):
        return index
    if own.is_constant and neighbors.is_shared(index):
        return editor.add_tensor(biased)
    for tensor in (index, neighbors.widened.get(index)):
        if tensor is not None:
            editor.tensors[tensor] = _biased(editor.tensors[tensor])
    return index


def _biased(tensor: Tensor) -> Tensor:
    kind = "INT32" if tensor.type in ("INT8", "UINT8") else tensor.type
    return tensor._replace(shape=(tensor.element_count,), type=kind, data=None if kind == "INT32" else tensor.data)


def _keep_dimensions(editor: Editor, constants: frozenset[int]) -> None:
    """Remove each RESHAPE that only restores dimensions. The layer or reduction before the RESHAPE then keeps its dimensions."""
    neighbors = _Neighbors(editor)
    unread, gone = set(), set()
    for origin, node in editor.nodes:
        if node.op != "RESHAPE" or not _was_unknown(editor, node, constants):
            continue
        place = neighbors.before(node.input(0), "FULLY_CONNECTED", *_REDUCTIONS)
        source = None if place is None else _source_with_dimensions(editor, place, node, neighbors)
        if place is None or source is None:
            continue
        layer_origin, layer = editor.nodes[place]
        changes: dict[str, Any] = {"keep_dims": True}
        outputs = node.outputs
        if layer.op == "FULLY_CONNECTED":
            changes = {"keep_num_dims": True}
            behind = neighbors.behind(node.output(0), *_ACTIVATIONS)
            if behind is not None and not editor.options_of(layer).fused_activation_function:
                activation_origin, activation = editor.nodes[behind]
                changes["fused_activation_function"] = _ACTIVATIONS[activation.op]
                outputs = activation.outputs
                gone.add(activation_origin)
        unread.add(layer.input(0))
        changed = editor.with_options(layer, **changes)
        editor.nodes[place] = layer_origin, changed._replace(inputs=(source, *layer.inputs[1:]), outputs=outputs)
        gone.add(origin)
    editor.remove(gone)
    editor.remove_unread(unread)


_ACTIVATIONS: Mapping[str, int] = {"RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3}
"""Operators that can become the fused activation of a FULLY_CONNECTED, each with the value of the option."""
_REDUCTIONS = ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "SUM")


def _source_with_dimensions(editor: Editor, place: int, reshape: Node, neighbors: _Neighbors) -> int | None:
    """Return the tensor that a layer must read to keep its dimensions, so that the RESHAPE after the layer can be removed.

    Return None if the RESHAPE cannot be removed in this way.
    """
    layer = editor.nodes[place][1]
    shape = editor.tensor(reshape.output(0)).shape
    if layer.op == "FULLY_CONNECTED":
        before = neighbors.before(layer.input(0), "RESHAPE", may_be_shared=True)
        first = None if before is None else editor.nodes[before][1].input(0)
        units = editor.tensor(layer.output(0)).shape[-1:]
        depth = editor.tensor(layer.input(0)).shape[-1:]
        if first is None or editor.tensor(first).shape != (*shape[:-1], *depth) or shape[-1:] != units:
            return None
        return first
    source, axes = editor.tensor(layer.input(0)), editor.model.constant(editor.tensor(layer.input(1)))
    if axes is None or editor.options_of(layer).keep_dims:
        return None
    reduced = {int(axis) % max(source.rank, 1) for axis in as_list(axes)}
    kept = tuple([1 if axis in reduced else size for axis, size in enumerate(source.shape)])
    return layer.input(0) if kept == shape else None
