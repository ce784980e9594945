"""Write a part of a model as a file of its own, which has no other bytes of the original file.

All tables are copied with the schema. The order of nodes and operands stays, and the indices of tensors, buffers, operator codes
and subgraphs change. Generated elements replace the weights. They depend only on the type, the size and a seed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from ..bundles.ranged import part_of
from ..errors import FixError
from ..fixing.flatbuffer.layout import (
    Front,
    NewReferences,
    NewTable,
    NewVector,
    Old,
    TargetPlace,
    copied,
    signature_table,
    string,
    vector,
)
from ..fixing.flatbuffer.model_writing import check_writable
from ..foundation.late_numpy import np
from ..graph.reachability import called_subgraphs, subgraphs_from
from ..model import schema
from ..model.model import CONTROL_DEPENDENCIES, Model, Node, Signature, Tensor
from ..model.options import FileTable
from ..model.schema import NUMPY_TYPES
from .failures import neutral_name

if TYPE_CHECKING:
    import numpy.typing as npt


_SMALL = 8
"""Limit for elements of quantized 32-bit and 64-bit integers, which are biases."""
_ONE_BFLOAT16, _ONE_FLOAT8 = 0x3F80, 0x38
"""The bits of 1.0, or of a number near 1.0. Smaller bits are smaller numbers that are not negative."""


def can_generate(tensor: Tensor) -> bool:
    """Return whether ``generated_bytes`` supports the type of a constant."""
    return tensor.type in NUMPY_TYPES or tensor.type in _PACKED


_PACKED = frozenset({"INT4", "INT2", "UINT4", "BFLOAT16", "FLOAT8_E4M3FN", "FLOAT8_E5M2"})


def generated_bytes(tensor: Tensor, size: int, seed: int) -> bytes:
    """Return ``size`` bytes of elements for a constant.

    Floats are between -1 and 1. Small integers are of any value but the smallest one. Large integers without quantization are 0,
    because such constants are axes, indices or sizes.
    """
    return _elements(tensor, size, np.random.default_rng(seed)).tobytes().ljust(size, b"\0")


def _elements(tensor: Tensor, size: int, random: np.random.Generator) -> npt.NDArray[Any]:
    if tensor.type == "BFLOAT16":
        return random.integers(0, _ONE_BFLOAT16, size // 2, np.uint16, endpoint=True)
    if tensor.type in _PACKED:
        most = _ONE_FLOAT8 if tensor.type.startswith("FLOAT8") else 255
        return random.integers(0, most, size, np.uint8, endpoint=True)
    kind = np.dtype(NUMPY_TYPES[tensor.type])
    count = size // kind.itemsize
    if kind.kind in "fc":
        return random.uniform(-1, 1, count).astype(kind)
    if tensor.type == "BOOL":
        return random.integers(0, 2, count).astype(kind)
    if kind.itemsize > 2:
        values = random.integers(0 if kind.kind == "u" else -_SMALL, _SMALL, count)
        return (values if tensor.quantization is not None else values * 0).astype(kind)
    limits = np.iinfo(kind)
    return random.integers(limits.min + 1, limits.max, count, kind, endpoint=True)


_DATA_ALIGNMENT = 16
_UNIONS = {
    "builtin_options": "BuiltinOptions",
    "builtin_options2": "BuiltinOptions2",
    "details": "QuantizationDetails",
    "array_segments": "SparseIndexVector",
    "array_indices": "SparseIndexVector",
}
"""The enumeration of the types of each union, keyed by field."""
_QUANTIZATION_TENSORS = ("scales", "zero_points")
_VARIABLE_NAMES = ("container", "shared_name")


class ContentKind(Enum):
    """Content of a model that can be replaced by neutral content, or left out."""

    METADATA = "metadata"
    """The description, the metadata, and the ranges that the converter measured."""
    ATTRIBUTES = "attributes"
    """Options of custom operators, and attributes of composites."""
    NAMES = "names"
    """Names of tensors, subgraphs, signatures and variables."""


@dataclass(frozen=True)
class ModelPart:
    """Some nodes of one subgraph, which becomes the first subgraph. Subgraphs that these nodes call are complete."""

    subgraph: int
    nodes: tuple[int, ...]
    neutral: frozenset[ContentKind] = frozenset()
    """Content that is replaced or left out."""
    generated: frozenset[tuple[int, int]] = frozenset()
    """The constants with generated elements, as (subgraph, tensor) in the original model."""


class PartWriter:
    """Writes parts of one model. Raise FixError if the model cannot be written."""

    def __init__(self, model: Model) -> None:
        check_writable(model)
        self.model = model
        self._root = FileTable.root(model.content)
        subgraphs = self._root.children("subgraphs")
        self._subgraphs = subgraphs
        self._tensors = [table.children("tensors") for table in subgraphs]
        self._nodes = [table.children("operators") for table in subgraphs]
        self._codes = self._root.children("operator_codes")
        self._vectors: dict[tuple[int, str], NewVector] = {}

    def nodes_of(self, part: ModelPart) -> list[Node]:
        """Return the nodes of the part's own subgraph and of the subgraphs that it calls."""
        return [
            self.model.subgraphs[index].nodes[node] for index in self.subgraphs_of(part) for node in self._chosen(part, index)
        ]

    def constants(self, part: ModelPart) -> list[tuple[int, int]]:
        """Return the constants of a part, as (subgraph, tensor)."""
        return [
            (index, tensor)
            for index in self.subgraphs_of(part)
            for tensor in self.tensors_of(part, index)
            if self.model.subgraphs[index].tensors[tensor].data is not None
        ]

    def write(self, part: ModelPart) -> bytes:
        """Return the bytes of a model file with a part. Raise FixError if the part cannot be written."""
        try:
            front = Front(_PartFile(self, part).root())
            content = b"".join(map(bytes, front.chunks()))
        except (struct.error, IndexError, KeyError, ValueError) as error:
            raise FixError(f"the model cannot be rewritten: {error or type(error).__name__}") from error
        return content[:4] + self.model.identifier + content[8:]

    def subgraphs_of(self, part: ModelPart) -> list[int]:
        """Return the subgraphs of the part's file in order."""
        nodes = [self.model.subgraphs[part.subgraph].nodes[node] for node in part.nodes]
        called = subgraphs_from(self.model, [index for node in nodes for index in called_subgraphs(self.model, node)])
        return [part.subgraph, *sorted(called - {part.subgraph})]

    def _chosen(self, part: ModelPart, index: int) -> Sequence[int]:
        return part.nodes if index == part.subgraph else range(len(self.model.subgraphs[index].nodes))

    def ends(self, part: ModelPart, index: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return the inputs and outputs of a subgraph of the part.

        The outputs of some nodes are the results that no other of these nodes reads, and the outputs of the original subgraph.
        """
        graph, chosen = self.model.subgraphs[index], self._chosen(part, index)
        if len(chosen) == len(graph.nodes):
            return graph.inputs, graph.outputs
        nodes = [graph.nodes[node] for node in chosen]
        read = dict.fromkeys([tensor for node in nodes for tensor in node.inputs if tensor >= 0])
        written = dict.fromkeys([tensor for node in nodes for tensor in node.outputs if tensor >= 0])
        inputs = [
            tensor
            for tensor in dict.fromkeys([*[own for own in graph.inputs if own in read], *read])
            if tensor not in written and graph.tensors[tensor].data is None and not graph.tensors[tensor].is_variable
        ]
        ends = frozenset(graph.outputs)
        return inputs, [tensor for tensor in written if tensor not in read or tensor in ends]

    def tensors_of(self, part: ModelPart, index: int) -> list[int]:
        """Return the tensors of a subgraph that the part needs, in the order of the original file."""
        graph = self.model.subgraphs[index]
        inputs, outputs = self.ends(part, index)
        used = {*inputs, *outputs}
        for node in self._chosen(part, index):
            own = graph.nodes[node]
            used.update(own.inputs, own.outputs, own.intermediates)
        details = [graph.tensors[tensor].quantization for tensor in used if tensor >= 0]
        used.update([tensor for own in details if own is not None for tensor in (own.scales_tensor, own.zero_points_tensor)])
        return sorted([tensor for tensor in used if tensor >= 0])

    def copy(self, table: FileTable) -> NewTable:
        """Return a copy of a table with copies of everything that it refers to."""
        copy = copied(table)
        for name, value in copy.fields.items():
            if isinstance(value, Old):
                copy.fields[name] = self._copied(table, name, value.position, copy.fields.get(f"{name}_type"))
        return copy

    def _copied(self, table: FileTable, name: str, position: int, kind: int | None) -> Any:
        field = table.fields[name]
        target = field.target
        if name in _UNIONS:
            target = schema.enum_names(_UNIONS[name]).get(kind or 0)
            if target not in schema.TABLES:
                raise FixError(f"the model cannot be rewritten: the type of {name} is unknown to this version of delegate-sim")
        if target is not None and field.is_vector:
            return NewReferences([self.copy(child) for child in table.children(name)])
        if target is not None:
            return self.copy(FileTable(table.content, target, position))
        key = position, field.type
        if key not in self._vectors:  # many tables may share a long vector
            value = table.value(name)
            self._vectors[key] = vector(value, field.element) if field.element else string(value)
        return self._vectors[key]


class _PartFile:
    def __init__(self, writer: PartWriter, part: ModelPart) -> None:
        self._writer, self._part, self._model = writer, part, writer.model
        self._order = writer.subgraphs_of(part)
        self._numbers = {index: number for number, index in enumerate(self._order)}
        self._codes: dict[int, int] = {}
        self._buffers: list[TargetPlace] = [NewTable("Buffer")]
        self._buffer_numbers: dict[tuple[Any, ...], int] = {}
        self._named = 0
        self._variables: dict[str, str] = {"": ""}

    def root(self) -> NewTable:
        model, part = self._model, self._part
        used = {index: self._writer.tensors_of(part, index) for index in self._order}
        places = {index: {tensor: place for place, tensor in enumerate(tensors)} for index, tensors in used.items()}
        subgraphs: list[TargetPlace] = [self._subgraph(index, used[index], places[index]) for index in self._order]
        root = NewTable("Model", {"version": model.version})
        root.fields["operator_codes"] = NewReferences([self._writer.copy(self._writer._codes[code]) for code in self._codes])
        root.fields["subgraphs"] = NewReferences(subgraphs)
        if not self._is_neutral(ContentKind.METADATA):
            root.fields["description"] = string(model.description)
            kept = [(name, span) for name, span in model.metadata.items() if name != CONTROL_DEPENDENCIES]
            numbers = {name: self._data(("metadata", name), span[1], partial(self._bytes, *span)) for name, span in kept}
            root.fields["metadata"] = NewReferences(
                [NewTable("Metadata", {"name": string(name), "buffer": number}) for name, number in numbers.items()]
            )
        signature = next((own for own in model.signatures if own.subgraph == part.subgraph), None)
        if signature is not None:
            root.fields["signature_defs"] = NewReferences([signature_table(self._signature(signature, places[part.subgraph]))])
        root.fields["buffers"] = NewReferences(self._buffers)
        return root

    def _is_neutral(self, content: ContentKind) -> bool:
        return content in self._part.neutral

    def _bytes(self, start: int, size: int) -> bytes:
        return memoryview(part_of(self._model.content, start, start + size)).tobytes()

    def _signature(self, signature: Signature, places: Mapping[int, int]) -> Signature:
        inputs, outputs = self._writer.ends(self._part, self._part.subgraph)
        is_neutral = self._is_neutral(ContentKind.NAMES)

        def arguments(kind: str, tensors: Iterable[int], old: Mapping[str, int]) -> dict[str, int]:
            names = {} if is_neutral else {index: name for name, index in old.items()}
            return {names.get(index, f"{kind}_{place}"): places[index] for place, index in enumerate(tensors)}

        key = "part" if is_neutral else signature.key
        return Signature(key, 0, arguments("input", inputs, signature.inputs), arguments("output", outputs, signature.outputs))

    def _subgraph(self, index: int, used: Sequence[int], places: Mapping[int, int]) -> NewTable:
        graph, writer = self._model.subgraphs[index], self._writer
        inputs, outputs = writer.ends(self._part, index)
        table = NewTable("SubGraph")
        table.fields["tensors"] = NewReferences([self._tensor(index, graph.tensors[tensor], places) for tensor in used])
        table.fields["inputs"] = vector([places[tensor] for tensor in inputs], "i")
        table.fields["outputs"] = vector([places[tensor] for tensor in outputs], "i")
        nodes = writer._chosen(self._part, index)
        table.fields["operators"] = NewReferences([self._node(index, graph.nodes[node], places) for node in nodes])
        name = f"subgraph_{self._numbers[index]}" if self._is_neutral(ContentKind.NAMES) else graph.name
        table.fields["name"] = string(name)
        return table

    def _tensor(self, index: int, tensor: Tensor, places: Mapping[int, int]) -> NewTable:
        if tensor.external_buffer:
            raise FixError("the model cannot be rewritten: a constant is in another file")
        table = self._writer.copy(self._writer._tensors[index][tensor.index])
        if self._is_neutral(ContentKind.NAMES):
            table.fields["name"] = string(neutral_name(self._named))
            self._named += 1
        quantization = table.fields.get("quantization")
        if quantization is not None:
            details = quantization.fields.get("details")
            for name in _QUANTIZATION_TENSORS if details is not None else ():
                old = details.fields.get(name, -1)
                details.fields[name] = places[old] if old >= 0 else old
            if self._is_neutral(ContentKind.METADATA):
                quantization.fields.pop("min", None)
                quantization.fields.pop("max", None)
        table.fields["buffer"] = self._buffer(index, tensor)
        return table

    def _buffer(self, index: int, tensor: Tensor) -> int:
        span = tensor.data
        if tensor.buffer == 0:
            return 0
        if span is None:
            return self._data((tensor.buffer,))
        if (index, tensor.index) not in self._part.generated:
            return self._data((tensor.buffer, *span), span[1], partial(self._bytes, *span))
        key = tensor.buffer, *span, tensor.type, tensor.quantization is None
        seed = len(self._buffers)
        return self._data(key, span[1], partial(generated_bytes, tensor, span[1], seed))

    def _data(self, key: tuple[Any, ...], size: int = 0, content: Callable[[], bytes] | None = None) -> int:
        if key not in self._buffer_numbers:
            self._buffer_numbers[key] = len(self._buffers)
            fields = {} if content is None else {"data": NewVector(size, content, _DATA_ALIGNMENT)}
            self._buffers.append(NewTable("Buffer", fields))
        return self._buffer_numbers[key]

    def _node(self, index: int, node: Node, places: Mapping[int, int]) -> NewTable:
        old = self._writer._nodes[index][node.index]
        table = self._writer.copy(old)
        table.fields["opcode_index"] = self._codes.setdefault(old.value("opcode_index"), len(self._codes))
        for name, tensors in (("inputs", node.inputs), ("outputs", node.outputs), ("intermediates", node.intermediates)):
            if tensors or name in table.fields:
                table.fields[name] = vector([places[tensor] if tensor >= 0 else tensor for tensor in tensors], "i")
        for name in ("large_custom_options_offset", "large_custom_options_size", "debug_metadata_index", "custom_options"):
            table.fields.pop(name, None)
        if node.custom_options is not None and not self._is_neutral(ContentKind.ATTRIBUTES):
            data = self._bytes(*node.custom_options)
            table.fields["custom_options"] = NewVector(len(data), data, _DATA_ALIGNMENT)
        for name in ("builtin_options", "builtin_options2"):
            if name in table.fields:
                self._change_options(table.fields[name])
        return table

    def _change_options(self, options: NewTable) -> None:
        """Give options the new numbers of subgraphs, and leave out or replace what is neutral."""
        for name, value in options.fields.items():
            if "subgraph" in name and isinstance(value, NewVector):
                called = struct.unpack(f"<{value.count}i", value.content)
                options.fields[name] = vector([self._number(index) for index in called], "i")
            elif "subgraph" in name:
                options.fields[name] = self._number(value)
            elif name in _VARIABLE_NAMES and self._is_neutral(ContentKind.NAMES):
                text = bytes(value.content).decode("utf-8", "replace")
                options.fields[name] = string(self._variables.setdefault(text, f"variable_{len(self._variables)}"))
        if self._is_neutral(ContentKind.ATTRIBUTES):
            options.fields.pop("composite_attributes", None)
            options.fields.pop("custom_attributes", None)

    def _number(self, subgraph: int) -> int:
        return self._numbers.get(subgraph, subgraph)
