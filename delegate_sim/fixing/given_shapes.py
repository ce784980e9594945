"""Fix the input shapes of a model, and replace nodes that depend only on shapes by constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..errors import OptionError
from ..foundation.late_numpy import np
from ..foundation.parsing.shapes import parse_shape
from ..foundation.printable import LONGEST_SAID, item_list, printable, shortened
from ..hypothetical.model_editing import Edited, Editor, edited
from ..model import schema
from ..model.model import Model, Tensor
from ..prepare.folding import FoldedGraph
from ..prepare.preparation import fold
from ..releases.catalogue import Release

_FOLDED = frozenset({"BOOL", "INT32", "INT64"})
"""Types of shapes, indices and conditions. Only tensors of these types become constants."""


def parse_shapes(model: Model, texts: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """Parse texts such as ``INPUT=1,224,224,3``. Return the shapes of the first subgraph's inputs, by tensor index.

    Raise OptionError if a text is malformed, or does not fit the model.
    """
    graph = model.subgraphs[0]
    names = {graph.tensors[index].name: index for index in graph.inputs if index >= 0}
    inputs = frozenset(names.values())
    for signature in model.signatures:
        if signature.subgraph == 0:
            for name, index in signature.inputs.items():
                if index in inputs:  # a signature may name any number
                    names.setdefault(name, index)
    shapes = {}
    for text in texts:
        name, shape = parse_shape(text)
        if name not in names:
            inputs_text = item_list(map(repr, map(shortened, names)), LONGEST_SAID)
            raise OptionError(printable(f"the model has no input {shortened(name)!r}; it has {inputs_text}"))
        tensor = graph.tensors[names[name]]
        open_shape = tensor.shape_signature or tensor.shape
        if len(shape) != len(open_shape) or any(old not in (-1, new) for old, new in zip(open_shape, shape, strict=True)):
            raise OptionError(printable(f"input {name!r} has shape {list(open_shape)}, which does not match {list(shape)}"))
        shapes[names[name]] = shape
    return shapes


def with_shapes(model: Model, shapes: Mapping[int, Sequence[int]], release: Release) -> Edited:
    """Return the model with fixed input shapes. All other shapes are computed from the input shapes.

    ``shapes`` has the fixed shapes, keyed by tensor index in the first subgraph.
    """
    first = model.subgraphs[0]
    tensors = list(first.tensors)
    for index, shape in shapes.items():
        tensors[index] = tensors[index]._replace(shape=tuple(shape), shape_signature=None)
    known = model.with_same_bytes(subgraphs=(replace(first, tensors=tuple(tensors)), *model.subgraphs[1:]))
    folded = fold(known, release)
    return edited(known, lambda editor: _fold(editor, folded[editor.subgraph.index]))


def _fold(editor: Editor, folded: FoldedGraph) -> None:
    after = folded.graph.tensors
    constants = {index for index in folded.constants if _is_folded(after[index])}
    for tensor in editor.graph.tensors:
        if tensor.index in constants:
            value = after[tensor.index].value
            assert value is not None
            array = np.ascontiguousarray(value, schema.NUMPY_TYPES[tensor.type])
            editor.tensors[tensor.index] = after[tensor.index]._replace(shape_signature=None, value=array, name=tensor.name)
        elif tensor.index not in folded.open and not tensor.is_constant:
            shape = after[tensor.index].shape
            if shape != tensor.shape or tensor.shape_signature is not None:
                editor.tensors[tensor.index] = tensor._replace(shape=shape, shape_signature=None)
    computed = [node for node in editor.graph.nodes if node.outputs and constants.issuperset(node.outputs)]
    outputs = frozenset(editor.outputs)
    gone = [node.index for node in computed if outputs.isdisjoint(node.outputs)]
    for node in computed:
        if not outputs.isdisjoint(node.outputs):
            for index in node.outputs:
                editor.tensors[index] = editor.graph.tensors[index]
    editor.remove(gone)
    editor.remove_unread({index for node in computed for index in node.inputs} - set(editor.inputs))


def _is_folded(tensor: Tensor) -> bool:
    return tensor.type in _FOLDED and tensor.value is not None and tensor.quantization is None
