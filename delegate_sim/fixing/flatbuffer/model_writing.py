"""Write a changed model. New tables are placed in front of the original bytes, and reference these bytes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from ...bundles.ranged import pieces
from ...errors import FixError
from ...foundation.late_numpy import ignoring_overflow, np
from ...graph.graph import file_graphs
from ...hypothetical.model_editing import Edited
from ...model import schema
from ...model.model import CONTROL_DEPENDENCIES, Model, Node, OperatorCode, Subgraph, Tensor
from ...model.numbers import width_of
from ...model.options import FileTable
from ...model.precompiled import precompiled
from .layout import (
    Front,
    NewReferences,
    NewTable,
    NewVector,
    Old,
    TargetPlace,
    copied,
    moved,
    operator_code_of,
    operator_code_table,
    options_table,
    quantization_table,
    set_options,
    signature_table,
    string,
    vector,
)

if TYPE_CHECKING:
    import numpy.typing as npt

Weights: TypeAlias = "Mapping[int, Callable[[], npt.NDArray[Any]]]"
"""Functions that compute the elements of large new constants, keyed by buffer number. The numbers are negative."""
_DATA_ALIGNMENT = 16


def check_writable(model: Model) -> None:
    """Raise FixError if no change of the model can be written."""
    if precompiled(model).code_sizes:
        raise FixError(
            "the model cannot be rewritten: it was compiled for an NPU, and the file stores positions of the compiled code"
        )
    for graph, subgraph in zip(file_graphs(model), model.subgraphs, strict=True):
        if len(graph.nodes) != len(subgraph.nodes):
            raise FixError("the model cannot be rewritten: a node reads its own output, so the runtime never runs this node")


def keeps_nodes(original: Model, change: Edited) -> bool:
    """Return whether a changed model has the nodes of the original, with the same indices."""
    return change.origins == tuple([tuple(range(len(graph.nodes))) for graph in original.subgraphs])


def write(original: Model, change: Edited, weights: Weights = MappingProxyType({})) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a file with the changed model, in order.

    ``change`` must be a change of ``original``. Unchanged parts of the file are kept, including fields that are not in the
    schema, buffers outside the flatbuffer, and appended files. Tensors keep their indices. Raise FixError if the changed model
    cannot be written.
    """
    check_writable(original)
    if change.model is original:
        return pieces(original.content)
    front = Front(_Writer(original, change, weights).root())
    return _joined(front, original)


def computed_vector(compute: Callable[[], npt.NDArray[Any]], tensor: Tensor) -> NewVector:
    """Return the bytes of a new constant with the elements that ``compute`` returns.

    They are computed when the file is written, because all new constants together may take too much memory. Raise FixError if
    the elements cannot be stored. Writing raises FixError for another number of elements than the tensor's.
    """
    kind, count = schema.NUMPY_TYPES.get(tensor.type), tensor.element_count
    if kind is None:
        raise FixError(f"the model cannot be rewritten: elements of type {tensor.type} cannot be stored")
    return NewVector(count * width_of(kind), functools.partial(_stored_bytes, compute, kind, count), _DATA_ALIGNMENT)


def _stored_bytes(compute: Callable[[], npt.NDArray[Any]], kind: str, count: int) -> npt.NDArray[Any]:
    with ignoring_overflow():
        stored = np.ascontiguousarray(compute().reshape(-1), kind)
    if stored.size != count:
        raise FixError(f"the model cannot be rewritten: a new constant needs {count} elements, but has {stored.size}")
    elements: npt.NDArray[Any] = stored.view(np.uint8)
    return elements


def _joined(front: Front, original: Model) -> Iterator[bytes | memoryview]:
    yield from front.chunks()
    yield from moved(original, front.size)


class _Writer:
    """Builds new tables, and references the unchanged parts of the old file."""

    def __init__(self, original: Model, change: Edited, weights: Weights) -> None:
        self._original = original
        self._change = change
        self._weights = weights
        self._file = FileTable.root(original.content)
        self._buffers: list[TargetPlace] = [Old(buffer.position) for buffer in self._file.children("buffers")]
        self._new_buffers: dict[int, int] = {}
        self._codes = {code: index for index, code in reversed(list(enumerate(change.model.operator_codes)))}

    def root(self) -> NewTable:
        """Return the flatbuffer table of the whole model."""
        file, model = self._file, self._change.model
        if CONTROL_DEPENDENCIES in self._original.metadata and not keeps_nodes(self._original, self._change):
            raise FixError(
                "the model cannot be rewritten: its metadata fixes the order of the nodes, which the change would break"
            )
        root = copied(file)
        root.fields["operator_codes"] = NewReferences(self._operator_codes(model))
        subgraphs = file.children("subgraphs")
        root.fields["subgraphs"] = NewReferences([self._subgraph(graph, subgraphs[graph.index]) for graph in model.subgraphs])
        root.fields["buffers"] = NewReferences(self._buffers)
        removed = self._original.metadata.keys() - model.metadata.keys() - {CONTROL_DEPENDENCIES}
        if removed:
            root.fields["metadata"] = NewReferences(
                [Old(entry.position) for entry in file.children("metadata") if entry.value("name") not in removed]
            )
        if model.signatures is not self._original.signatures:
            root.fields["signature_defs"] = NewReferences([signature_table(signature) for signature in model.signatures])
        return root

    def _operator_codes(self, model: Model) -> list[TargetPlace]:
        old: dict[OperatorCode, int] = {}
        for code, table in zip(self._original.operator_codes, self._file.children("operator_codes"), strict=True):
            old.setdefault(code, table.position)
        return [Old(old[code]) if code in old else operator_code_table(code) for code in model.operator_codes]

    def _subgraph(self, graph: Subgraph, old: FileTable) -> TargetPlace:
        before, codes = self._original.subgraphs[graph.index], self._original.operator_codes
        if before is graph and self._change.model.operator_codes[: len(codes)] == codes:
            return Old(old.position)
        table = copied(old)
        tensors = old.children("tensors")
        table.fields["tensors"] = NewReferences(
            [
                self._tensor(tensor, before.tensors[index], tensors[index])
                if index < len(tensors)
                else self._tensor(tensor, None, None)
                for index, tensor in enumerate(graph.tensors)
            ]
        )
        nodes = old.children("operators")
        table.fields["operators"] = NewReferences(
            [
                self._node(node, before.nodes[origin], nodes[origin]) if origin >= 0 else self._node(node, None, None)
                for node, origin in zip(graph.nodes, self._change.origins[graph.index], strict=True)
            ]
        )
        if graph.inputs != before.inputs:
            table.fields["inputs"] = vector(graph.inputs, "i")
        if graph.outputs != before.outputs:
            table.fields["outputs"] = vector(graph.outputs, "i")
        return table

    def _tensor(self, tensor: Tensor, before: Tensor | None, old: FileTable | None) -> TargetPlace:
        if old is not None and before is tensor:
            return Old(old.position)
        table = NewTable("Tensor") if old is None else copied(old)
        if before is None:
            table.fields["name"] = string(tensor.name)
        if before is None or tensor.shape != before.shape:
            table.fields["shape"] = vector(tensor.shape, "i")
        table.fields["type"] = schema.enum_values("TensorType")[tensor.type]
        table.fields["buffer"] = self._buffer(tensor, before)
        if before is None or tensor.quantization is not before.quantization:
            self._set(table, "quantization", quantization_table(tensor))
        if before is None or tensor.sparsity is not before.sparsity:
            if tensor.sparsity is not None:
                raise FixError("the model cannot be rewritten: one of the changed constants is sparse")
            table.fields.pop("sparsity", None)
        if before is None or tensor.shape_signature != before.shape_signature:
            self._set(table, "shape_signature", None if tensor.shape_signature is None else vector(tensor.shape_signature, "i"))
        table.fields["is_variable"] = tensor.is_variable
        table.fields["has_rank"] = tensor.has_rank
        if tensor.data is None:
            table.fields.pop("external_buffer", None)
        return table

    @staticmethod
    def _set(table: NewTable, field: str, target: TargetPlace | None) -> None:
        table.fields.pop(field, None)
        if target is not None:
            table.fields[field] = target

    def _buffer(self, tensor: Tensor, before: Tensor | None) -> int:
        if tensor.buffer < 0:
            if tensor.buffer not in self._new_buffers:
                self._new_buffers[tensor.buffer] = self._add(self._weights[tensor.buffer], tensor)
            return self._new_buffers[tensor.buffer]
        if tensor.data is not None:
            return tensor.buffer
        if tensor.value is not None:
            return self._add(functools.partial(np.asarray, tensor.value), tensor)
        if tensor.is_constant:
            raise FixError(f"the elements of the constant {tensor.name!r} are not known")
        return tensor.buffer if before is not None and before.data is None else 0

    def _add(self, compute: Callable[[], npt.NDArray[Any]], tensor: Tensor) -> int:
        self._buffers.append(NewTable("Buffer", {"data": computed_vector(compute, tensor)}))
        return len(self._buffers) - 1

    def _node(self, node: Node, before: Node | None, old: FileTable | None) -> TargetPlace:
        code = self._codes[operator_code_of(node)]
        is_same = before is not None and node._replace(index=before.index) == before
        if is_same and old is not None and old.value("opcode_index") == code:
            return Old(old.position)
        table = NewTable("Operator") if old is None else copied(old)
        table.fields["opcode_index"] = code
        if before is None or node.inputs != before.inputs:
            table.fields["inputs"] = vector(node.inputs, "i")
        if before is None or node.outputs != before.outputs:
            table.fields["outputs"] = vector(node.outputs, "i")
        if node.options is not None and (before is None or node.options != before.options):
            self._set_options(table, node)
        return table

    def _set_options(self, table: NewTable, node: Node) -> None:
        assert node.options is not None
        name, position = node.options
        target: TargetPlace = Old(position) if position >= 0 else options_table(name, self._change.model.options(node))
        set_options(table, name, target)
