"""A changed model as a file: what changed is written in front of the old bytes, and refers to the rest of them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import FixError
from ..graph.graph import file_graphs
from ..late_numpy import np
from ..model import schema
from ..model.control_dependencies import METADATA_NAME
from ..model.model import Model, Node, OperatorCode, Subgraph, Tensor
from ..model.precompiled import precompiled
from ..runtime.editing import Edited
from .layout import Front, NewReferences, NewTable, NewVector, Old, TargetPlace, string, vector
from .moving import moved
from .new_tables import (
    enum_member,
    operator_code_of,
    operator_code_table,
    options_table,
    quantization_table,
    set_options,
    signature_table,
)
from .tables import FileTables

if TYPE_CHECKING:
    import numpy.typing as npt

Weights: TypeAlias = "Mapping[int, Callable[[], npt.NDArray[Any]]]"
"""What computes the elements of large new constants, by the (negative) number of a buffer."""
_DATA_ALIGNMENT = 16


def check_writable(model: Model) -> None:
    """Raise FixError for a model of which no rewritten form can be written, with the reason."""
    if precompiled(model).dispatches:
        raise FixError("the model cannot be rewritten: it was compiled for a NPU, and names positions of its code in the file")
    for graph, subgraph in zip(file_graphs(model), model.subgraphs, strict=True):
        if len(graph.nodes) != len(subgraph.nodes):
            raise FixError("the model cannot be rewritten: a node reads the tensor that it writes, so the runtime leaves it out")


def keeps_nodes(original: Model, change: Edited) -> bool:
    """Whether a changed model has the same nodes at the same indices."""
    return change.origins == tuple([tuple(range(len(graph.nodes))) for graph in original.subgraphs])


def write(original: Model, change: Edited, weights: Weights = MappingProxyType({})) -> Iterator[bytes | memoryview]:
    """Return the bytes, in order, of a file that holds a changed model.

    ``original`` is the model that the change was made of, whose bytes are kept: signatures, metadata, fields that the schema does
    not know, buffers outside the flatbuffer and files that are appended to it. Tensors keep their indices. Raises FixError where
    that is not possible.
    """
    check_writable(original)
    if change.model is original:
        return iter([original.content])
    front = Front(_Writer(original, change, weights).root())
    return _joined(front, original)


def _joined(front: Front, original: Model) -> Iterator[bytes | memoryview]:
    yield from front.chunks()
    yield from moved(original, front.size)


class _Writer:
    """Makes the new tables. What is as it was in the file is referred to there."""

    def __init__(self, original: Model, change: Edited, weights: Weights) -> None:
        self._original = original
        self._change = change
        self._weights = weights
        self._file = FileTables(original.content)
        self._buffers: list[TargetPlace] = [Old(position) for position in self._file.children(self._file.root, 4)]
        self._new_buffers: dict[int, int] = {}
        self._codes = {code: index for index, code in reversed(list(enumerate(change.model.operator_codes)))}

    def root(self) -> NewTable:
        """Return the table of the whole model."""
        file, model = self._file, self._change.model
        if METADATA_NAME in self._original.metadata and not keeps_nodes(self._original, self._change):
            raise FixError("the model's metadata gives an order of its nodes, which the change would not keep")
        root = file.copied("Model", file.root)
        root.references[1] = NewReferences(self._operator_codes(model))
        places = file.children(file.root, 2)
        root.references[2] = NewReferences([self._subgraph(graph, places[graph.index]) for graph in model.subgraphs])
        root.references[4] = NewReferences(self._buffers)
        gone = self._original.metadata.keys() - model.metadata.keys() - {METADATA_NAME}
        if gone:
            root.references[6] = NewReferences(
                [Old(entry) for entry in file.children(file.root, 6) if file.text(entry, 0) not in gone]
            )
        if model.signatures is not self._original.signatures:
            root.references[7] = NewReferences([signature_table(signature) for signature in model.signatures])
        return root

    def _operator_codes(self, model: Model) -> list[TargetPlace]:
        old: dict[OperatorCode, int] = {}
        for code, place in zip(self._original.operator_codes, self._file.children(self._file.root, 1), strict=True):
            old.setdefault(code, place)
        return [Old(old[code]) if code in old else operator_code_table(code) for code in model.operator_codes]

    def _subgraph(self, graph: Subgraph, place: int) -> TargetPlace:
        before = self._original.subgraphs[graph.index]
        if before is graph:
            return Old(place)
        table = self._file.copied("SubGraph", place)
        tensors = self._file.children(place, 0)
        table.references[0] = NewReferences(
            [
                self._tensor(tensor, before.tensors[index], tensors[index])
                if index < len(tensors)
                else self._tensor(tensor, None, 0)
                for index, tensor in enumerate(graph.tensors)
            ]
        )
        nodes = self._file.children(place, 3)
        table.references[3] = NewReferences(
            [
                self._node(node, before.nodes[origin], nodes[origin]) if origin >= 0 else self._node(node, None, 0)
                for node, origin in zip(graph.nodes, self._change.origins[graph.index], strict=True)
            ]
        )
        if graph.inputs != before.inputs:
            table.references[1] = vector(graph.inputs, "i")
        if graph.outputs != before.outputs:
            table.references[2] = vector(graph.outputs, "i")
        return table

    def _tensor(self, tensor: Tensor, before: Tensor | None, place: int) -> TargetPlace:
        if before is tensor:
            return Old(place)
        table = NewTable() if before is None else self._file.copied("Tensor", place)
        if before is None:
            table.references[3] = string(tensor.name)
        if before is None or tensor.shape != before.shape:
            table.references[0] = vector(tensor.shape, "i")
        table.numbers[1] = ("<b", enum_member("TensorType", tensor.type))
        table.numbers[2] = ("<I", self._buffer(tensor, before))
        if before is None or tensor.quantization is not before.quantization:
            self._set(table, 4, quantization_table(tensor))
        if before is None or tensor.sparsity is not before.sparsity:
            if tensor.sparsity is not None:
                raise FixError("a sparse constant cannot be written anew")
            table.references.pop(6, None)
        if before is None or tensor.shape_signature != before.shape_signature:
            self._set(table, 7, None if tensor.shape_signature is None else vector(tensor.shape_signature, "i"))
        table.numbers[5] = ("<?", tensor.is_variable)
        table.numbers[8] = ("<?", tensor.has_rank)
        if tensor.data is None:
            table.numbers.pop(10, None)
        return table

    @staticmethod
    def _set(table: NewTable, slot: int, target: TargetPlace | None) -> None:
        table.references.pop(slot, None)
        if target is not None:
            table.references[slot] = target

    def _buffer(self, tensor: Tensor, before: Tensor | None) -> int:
        """Return the number of the buffer of a tensor, a new one where its elements are not those of the file."""
        if tensor.buffer < 0:
            if tensor.buffer not in self._new_buffers:
                with np.errstate(all="ignore"):  # as the runtime computes
                    values = self._weights[tensor.buffer]()
                self._new_buffers[tensor.buffer] = self._add(values, tensor)
            return self._new_buffers[tensor.buffer]
        if tensor.data is not None:
            return tensor.buffer
        if tensor.value is not None:
            return self._add(np.asarray(tensor.value), tensor)
        if tensor.is_constant:
            raise FixError(f"the elements of the constant {tensor.name!r} are not known")
        return tensor.buffer if before is not None and before.data is None else 0

    def _add(self, values: npt.NDArray[Any], tensor: Tensor) -> int:
        kind = schema.NUMPY_TYPES[tensor.type]
        stored = np.ascontiguousarray(values.reshape(-1), kind)
        if stored.size != tensor.element_count:
            raise FixError(f"a new constant of {tensor.element_count} elements would get {stored.size}")
        content = stored.view(np.uint8)
        self._buffers.append(NewTable(references={0: NewVector(content.size, content, _DATA_ALIGNMENT)}))
        return len(self._buffers) - 1

    def _node(self, node: Node, before: Node | None, place: int) -> TargetPlace:
        code = self._codes[operator_code_of(node)]
        if before is not None and node._replace(index=before.index) == before and self._old_code(place) == code:
            return Old(place)
        table = NewTable() if before is None else self._file.copied("Operator", place)
        table.numbers[0] = ("<I", code)
        if before is None or node.inputs != before.inputs:
            table.references[1] = vector(node.inputs, "i")
        if before is None or node.outputs != before.outputs:
            table.references[2] = vector(node.outputs, "i")
        if node.options is not None and (before is None or node.options != before.options):
            self._set_options(table, node)
        return table

    def _old_code(self, place: int) -> int:
        position = self._file.fields(place).get(0)
        return 0 if position is None else int(struct.unpack_from("<I", self._original.content, position)[0])

    def _set_options(self, table: NewTable, node: Node) -> None:
        assert node.options is not None
        name, position = node.options
        target: TargetPlace = Old(position) if position >= 0 else options_table(name, self._change.model.options(node))
        set_options(table, name, target)
