"""Fix the input shapes of a model: simulate a conversion with fixed shapes, or replace nodes in the file by constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..errors import OptionError
from ..foundation.late_numpy import np
from ..foundation.parsing.shapes import parse_shape
from ..foundation.printable import LONGEST_SAID, item_list, printable, shortened
from ..graph.graph import file_graphs
from ..model import schema
from ..model.model import Allocation, Model, Subgraph, Tensor
from ..prepare.folding import FoldedGraph
from ..prepare.preparation import fold
from ..releases.catalogue import Release
from .model_editing import Edited, Editor, demanded_versions, edited, unchanged, with_versions
from .simplification import simplify

_FLOAT16_DEQUANTIZE = 3
"""The version of DEQUANTIZE that accepts float16 operands."""

_OF_SHAPES = ("SHAPE", "RANK")


def open_inputs(model: Model) -> tuple[Tensor, ...]:
    """Return the inputs of the model that have a dimension of unknown size."""
    first = model.subgraphs[0]
    return tuple(
        [first.tensors[index] for index in first.inputs if index >= 0 and first.tensors[index].has_unspecified_dimension]
    )


def computes_shapes(model: Model) -> bool:
    """Return whether the model has a SHAPE or RANK node.

    If the shape is known, a converter replaces such a node by a constant.
    """
    return any(node.op in _OF_SHAPES for subgraph in model.subgraphs for node in subgraph.nodes)


def with_inputs(model: Model, release: Release, batch: int | None = None, *, all_sizes: bool = False) -> Edited:
    """Return the model that a converter would write for inputs of known sizes.

    ``batch`` becomes the first dimension of every input. If ``all_sizes`` is true, unknown sizes become the sizes in the model
    file. In every subgraph, nodes with results that depend only on shapes become constants. Older converters write 1 for an
    unknown size, and keep the nodes that compute shapes. If ``all_sizes`` is true, these nodes therefore become constants even
    in a model without unknown sizes.
    """
    subgraphs = (_with_known_inputs(model.subgraphs[0], batch, all_sizes), *model.subgraphs[1:])
    if batch is None and subgraphs[0] is model.subgraphs[0] and not (all_sizes and computes_shapes(model)):
        return unchanged(model)
    known = model.with_same_bytes(subgraphs=subgraphs)
    folded = fold(known, release)
    result = edited(known, lambda editor: _fold(editor, folded[editor.subgraph.index]))
    explained = _explained_versions(model)
    return result.then(lambda model: _with_versions(model, explained))


def _explained_versions(model: Model) -> frozenset[str]:
    versions = demanded_versions(model)
    own: dict[str, set[int]] = {}
    for graph in file_graphs(model):
        for node in graph.nodes:
            own.setdefault(node.op, set()).add(node.version)
    return frozenset([op for op, version in versions.items() if own[op] == {version}])


def _with_versions(model: Model, explained: frozenset[str]) -> Edited:
    return with_versions(model, {op: version for op, version in demanded_versions(model).items() if op in explained})


def _with_known_inputs(subgraph: Subgraph, batch: int | None, all_sizes: bool) -> Subgraph:
    tensors = list(subgraph.tensors)
    for index in subgraph.inputs:
        if index >= 0:
            tensors[index] = _with_shape(tensors[index], batch, all_sizes)
    return subgraph if tensors == list(subgraph.tensors) else replace(subgraph, tensors=tuple(tensors))


def _with_shape(tensor: Tensor, batch: int | None, all_sizes: bool) -> Tensor:
    shape, signature = tensor.shape, tensor.shape_signature
    if batch is not None and shape:
        shape = (batch, *shape[1:])
        signature = (batch, *signature[1:]) if signature else signature
    if all_sizes or signature == shape:
        signature = None
    if shape == tensor.shape and signature == tensor.shape_signature:
        return tensor
    return tensor._replace(shape=shape, shape_signature=signature)


def _fold(editor: Editor, folded: FoldedGraph) -> None:
    before = editor.graph
    after = folded.graph.tensors
    for tensor in before.tensors:
        if tensor.index in folded.constants:
            editor.tensors[tensor.index] = after[tensor.index]._replace(shape_signature=None)
        elif tensor.index not in folded.open and not tensor.is_constant:
            editor.tensors[tensor.index] = tensor._replace(shape=after[tensor.index].shape, shape_signature=None)
    editor.remove([node.index for node in before.nodes if node.outputs and folded.constants.issuperset(node.outputs)])
    orphans = {index for node in before.nodes if folded.constants.issuperset(node.outputs) for index in node.inputs}
    editor.remove_unread(orphans)
    simplify(editor, folded.constants, folded.zeros)
    _narrow(editor, folded)


def _narrow(editor: Editor, folded: FoldedGraph) -> None:
    """If the model has float16 weights, store the new float constants in float16 too.

    A DEQUANTIZE follows each of these constants.
    """
    if not any(editor.graph.view(node).is_constant_float16_dequantize for node in editor.graph.nodes):
        return
    read = {index for _, node in editor.nodes for index in node.inputs}
    for index in sorted(folded.constants & read):
        tensor = editor.tensors[index]
        if tensor.type == "FLOAT32" and tensor.element_count > 1:
            editor.tensors[index] = tensor._replace(allocation=Allocation.ARENA, value=None)
            value = None if tensor.value is None else np.asarray(tensor.value).astype(np.float16)
            narrow = editor.add_tensor(tensor._replace(type="FLOAT16", value=value))
            editor.insert("DEQUANTIZE", narrow, index, version=_FLOAT16_DEQUANTIZE, at=0)


_FOLDED = frozenset({"BOOL", "INT32", "INT64"})
"""Types of shapes, indices and conditions. Only tensors of these types become constants."""


def parse_shapes(model: Model, texts: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """Parse texts such as ``INPUT=1,224,224,3``. Return the shapes of the first subgraph's inputs, by tensor index.

    Raise OptionError if a text is malformed, or does not fit the model.
    """
    given = dict(map(parse_shape, texts))
    shapes = _by_tensor(model, given)
    for name, (index, shape) in zip(given, shapes.items(), strict=False):
        tensor = model.subgraphs[0].tensors[index]
        open_shape = tensor.shape_signature or tensor.shape
        if len(shape) != len(open_shape) or any(old not in (-1, new) for old, new in zip(open_shape, shape, strict=True)):
            fault = f"input {name!r} has shape {list(open_shape)}, which does not match {list(shape)}"
            raise OptionError(printable(f"{fault}; whatif with resize simulates other sizes"))
    return shapes


def _by_tensor(model: Model, shapes: Mapping[str, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    graph = model.subgraphs[0]
    names = {graph.tensors[index].name: index for index in graph.inputs if index >= 0}
    inputs = frozenset(names.values())
    for signature in model.signatures:
        if signature.subgraph == 0:
            for name, index in signature.inputs.items():
                if index in inputs:  # a signature may name any number
                    names.setdefault(name, index)
    for name in shapes:
        if name not in names:
            inputs_text = item_list(map(repr, map(shortened, names)), LONGEST_SAID)
            raise OptionError(printable(f"the model has no input {shortened(name)!r}; it has {inputs_text}"))
    return {names[name]: shape for name, shape in shapes.items()}


def with_resized_inputs(model: Model, shapes: Mapping[str, tuple[int, ...]]) -> Edited:
    """Return the model after the application resized inputs, without another conversion.

    ``shapes`` has the shapes by the names of inputs. Raise OptionError if the model lacks an input.
    """
    first = model.subgraphs[0]
    tensors = list(first.tensors)
    for index, shape in _by_tensor(model, shapes).items():
        signature = tensors[index].shape_signature
        kept = signature if signature is not None and len(signature) == len(shape) else None
        tensors[index] = tensors[index]._replace(shape=shape, shape_signature=kept)
    return unchanged(model.with_same_bytes(subgraphs=(replace(first, tensors=tuple(tensors)), *model.subgraphs[1:])))


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
    return edited(known, lambda editor: _fold_in_file(editor, folded[editor.subgraph.index]))


def _fold_in_file(editor: Editor, folded: FoldedGraph) -> None:
    after = folded.graph.tensors
    constants = {
        index
        for index in folded.constants
        if after[index].type in _FOLDED and after[index].value is not None and after[index].quantization is None
    }
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
