"""Place new tables and vectors in front of an existing flatbuffer.

References in a flatbuffer are relative, and point only forward. The new tables reference the old bytes, so the new tables come
first. The old bytes stay unchanged, including fields that are not in the schema.

The fields ``Buffer.offset`` and ``large_custom_options_offset`` hold positions of data behind the flatbuffer. An appended ZIP
archive of associated files may also hold absolute positions.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ...bundles.ranged import Content, pieces, unpacked
from ...errors import FixError
from ...model import schema
from ...model.model import IDENTIFIER, Model, Node, OperatorCode, Signature, Tensor
from ...model.options import FileTable, Options

ALIGNMENT = 64
"""The old bytes are moved by a multiple of this number. The alignments for the schema and the kernels then stay valid."""
_FILE_POSITIONS = frozenset({("Buffer", "offset"), ("Operator", "large_custom_options_offset")})
"""Fields with positions in the file. The values 0 and 1 mean that there is no position."""
_GREATEST = (1 << 31) - 1
"""Largest number of bytes between a reference and its object in a flatbuffer."""


@dataclass(frozen=True, slots=True)
class Old:
    """An object at a position in the existing file."""

    position: int


@dataclass(eq=False)
class NewVector:
    """A vector of numbers, or a string. ``alignment`` applies to the first element."""

    count: int
    content: Any
    """An object that supports Python's buffer protocol, or a function that returns such an object of ``count`` bytes.

    The function is called when the vector is written, and its result is not kept.
    """
    alignment: int = 4
    is_string: bool = False


@dataclass(eq=False)
class NewReferences:
    """A vector of references to tables."""

    targets: list[TargetPlace]


@dataclass(eq=False)
class NewTable:
    """A table of the schema. Each field name maps to a number or to the object that the field references."""

    name: str
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def layout(self) -> _Layout:
        """The layout of the table's fields."""
        return _layout(self.name, tuple(self.fields))


TargetPlace: TypeAlias = "Old | NewVector | NewReferences | NewTable"


def vector(numbers: Sequence[Any], element: str) -> NewVector:
    """Return a vector of numbers. ``element`` is the struct format of a number."""
    return NewVector(len(numbers), struct.pack(f"<{len(numbers)}{element}", *numbers), struct.calcsize(element))


def string(text: str) -> NewVector:
    """Return a flatbuffer string."""
    content = text.encode("utf-8", "replace")
    return NewVector(len(content), content, is_string=True)


class Front:
    """The new part of a file. The old bytes follow this part."""

    def __init__(self, root: NewTable) -> None:
        self._places: dict[int, int] = {}
        self._chunks: list[tuple[int, TargetPlace]] = []
        self._end = 8
        self._place(root)
        self.size = _aligned(self._end, ALIGNMENT)
        """Size of the new part in bytes, rounded up to the alignment. The old bytes move by this number of bytes."""
        self._root = root

    def _place(self, root: NewTable) -> None:
        waiting: list[TargetPlace] = [root]
        while waiting:
            item = waiting.pop(0) if len(waiting) < 2 else waiting.pop()
            if isinstance(item, Old) or id(item) in self._places:
                continue
            start = self._start(item)
            self._places[id(item)] = start
            self._chunks.append((start, item))
            self._end = start + _size(item)
            if self._end > _GREATEST:
                raise FixError("the rewritten model would exceed 2 GiB, the limit of a flatbuffer")
            if isinstance(item, NewTable):
                waiting += [item.fields[name] for name, (form, _) in item.layout.places.items() if form is None]
            elif isinstance(item, NewReferences):
                waiting += item.targets

    def _start(self, item: TargetPlace) -> int:
        if isinstance(item, NewTable):
            return _aligned(self._end + len(item.layout.vtable), 8)
        alignment = max(4, item.alignment) if isinstance(item, NewVector) else 4
        return _aligned(self._end + 4, alignment) - 4

    def chunks(self) -> Iterator[bytes | memoryview]:
        """Yield the bytes of the new part, in order."""
        yield struct.pack("<I4s", self._places[id(self._root)], IDENTIFIER)
        position = 8
        for start, item in self._chunks:
            if isinstance(item, NewTable):
                yield _padding(position, start - len(item.layout.vtable)) + self._table(item, start)
            elif isinstance(item, NewReferences):
                places = [self._distance(target, start + 4 + 4 * number) for number, target in enumerate(item.targets)]
                yield _padding(position, start) + struct.pack(f"<I{len(places)}I", len(places), *places)
            elif isinstance(item, NewVector):
                yield _padding(position, start) + struct.pack("<I", item.count)
                yield memoryview(item.content() if callable(item.content) else item.content).cast("B")
                yield b"\0" if item.is_string else b""
            position = start + _size(item)
        yield _padding(position, self.size)

    def _distance(self, target: TargetPlace, place: int) -> int:
        target_place = self.size + target.position if isinstance(target, Old) else self._places[id(target)]
        distance = target_place - place
        if not 0 < distance <= _GREATEST:
            raise FixError("the rewritten model would exceed 2 GiB, the limit of a flatbuffer")
        return distance

    def _table(self, table: NewTable, start: int) -> bytes:
        layout = table.layout
        content = bytearray(layout.size)  # bounded: a table of the schema
        struct.pack_into("<i", content, 0, len(layout.vtable))
        for name, (form, offset) in layout.places.items():
            value = table.fields[name]
            if form is None:
                value = self._distance(value, start + offset)
            elif (table.name, name) in _FILE_POSITIONS and value > 1:
                value += self.size
            struct.pack_into(form or "<I", content, offset, value)
        return layout.vtable + bytes(content)


def _padding(start: int, end: int) -> bytes:
    return bytes(end - start)  # bounded: the padding of one table or vector


@dataclass(frozen=True, slots=True)
class _Layout:
    """A vtable, the size of its table, and the struct format and offset of each field. The format of a reference is None."""

    vtable: bytes
    size: int
    places: Mapping[str, tuple[str | None, int]]


@functools.lru_cache(maxsize=1 << 10)
def _layout(table: str, names: tuple[str, ...]) -> _Layout:
    declared = [schema.table_fields(table)[name] for name in names]
    offsets, end = {}, 4
    for one in sorted(declared, key=lambda one: (-one.size, one.slot)):
        end = _aligned(end, one.size)
        offsets[one.slot] = end
        end += one.size
    size, slots = _aligned(end, 4), max(offsets, default=-1) + 1
    entries = [offsets.get(slot, 0) for slot in range(slots)]  # bounded: the fields of the schema
    vtable = struct.pack(f"<HH{slots}H", 4 + 2 * slots, size, *entries)
    return _Layout(vtable, size, {one.name: (one.format, offsets[one.slot]) for one in declared})


def _size(item: TargetPlace) -> int:
    if isinstance(item, NewTable):
        return item.layout.size
    if isinstance(item, NewReferences):
        return 4 + 4 * len(item.targets)
    assert isinstance(item, NewVector)
    size = item.count if callable(item.content) else memoryview(item.content).nbytes
    return 4 + size + item.is_string


def _aligned(size: int, alignment: int) -> int:
    return (size + alignment - 1) // alignment * alignment


def copied(table: FileTable) -> NewTable:
    """Return a copy of a table with the same numbers and references.

    Raise FixError if the table has fields that are not in the schema, because such fields cannot be copied.
    """
    by_slot = {field.slot: field for field in table.fields.values()}
    copy = NewTable(table.name)
    for slot, place in table.places().items():
        field = by_slot.get(slot)
        if field is None:
            raise FixError(
                f"the model cannot be rewritten: field {slot} of one of its {table.name} tables is unknown to this version of "
                "delegate-sim and would be lost"
            )
        if field.format is None:
            copy.fields[field.name] = Old(table.target(field.name))
        else:
            (copy.fields[field.name],) = unpacked(struct.Struct(field.format), table.content, place)
    return copy


_END_OF_ARCHIVE = b"PK\x05\x06"
_ENTRY = b"PK\x01\x02"
_LONGEST_END = 22 + 65535


def moved(model: Model, distance: int) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a model's file in order. The positions are updated for a model that begins ``distance`` bytes later."""
    content = model.content
    position = 0
    for place, patch in sorted(_patches(model, distance).items()):
        yield from pieces(content[position:place])
        yield patch
        position = place + len(patch)
    yield from pieces(content[position:])


def _patches(model: Model, distance: int) -> dict[int, bytes]:
    content = model.content
    root = FileTable.root(content)
    places = [place for buffer in root.children("buffers") if not buffer.place("data") and (place := buffer.place("offset"))]
    for subgraph in root.children("subgraphs"):
        for node in subgraph.children("operators"):
            place = node.place("large_custom_options_offset")
            if place:
                places.append(place)
    patches = {}
    for place in places:
        (offset,) = unpacked(struct.Struct("<Q"), content, place)
        if offset > 1:
            patches[place] = struct.pack("<Q", offset + distance)
    return {**patches, **_archive_patches(content, distance)}


def _archive_patches(content: Content, distance: int) -> dict[int, bytes]:
    """Return the new values of the positions in an appended ZIP archive.

    The result is empty if there is no archive, or if the archive's positions are relative to its own start.
    """
    tail = max(len(content) - _LONGEST_END, 0)
    end = bytes(content[tail:]).rfind(_END_OF_ARCHIVE)
    if end < 0 or tail + end + 22 > len(content):
        return {}
    end += tail
    count, size, start = unpacked(struct.Struct("<HII"), content, end + 10)
    if start + size != end:
        return {}
    patches = {end + 16: struct.pack("<I", start + distance)}
    position = start
    for _ in range(count):  # bounded: a number of 16 bits
        if bytes(content[position : position + 4]) != _ENTRY or position + 46 > end:
            return {}
        patches[position + 42] = struct.pack("<I", unpacked(struct.Struct("<I"), content, position + 42)[0] + distance)
        position += 46 + sum(unpacked(struct.Struct("<HHH"), content, position + 28))
    return patches


_GREATEST_OLD_CODE = 127
_OPTIONS_UNIONS: Mapping[str, str] = {"BuiltinOptions": "builtin_options", "BuiltinOptions2": "builtin_options2"}
"""The field of a node's table for each of the schema's two unions of options tables."""


def operator_code_of(node: Node) -> OperatorCode:
    """Return the operator code of a node."""
    return OperatorCode(node.op, node.builtin_code, node.custom_code, node.version)


def operator_code_table(code: OperatorCode) -> NewTable:
    """Return the flatbuffer table of an operator code."""
    table = NewTable(
        "OperatorCode",
        {
            "deprecated_builtin_code": min(code.builtin_code, _GREATEST_OLD_CODE),
            "version": code.version,
            "builtin_code": code.builtin_code,
        },
    )
    if code.custom_code is not None:
        table.fields["custom_code"] = string(code.custom_code)
    return table


def quantization_table(tensor: Tensor) -> NewTable | None:
    """Return the flatbuffer table of a tensor's quantization, or None if the tensor is not quantized.

    Raise FixError if the quantization is not affine.
    """
    parameters = tensor.quantization
    if parameters is None:
        return None
    if not parameters.is_affine:
        raise FixError("the model cannot be rewritten: only affine quantization is supported")
    return NewTable(
        "QuantizationParameters",
        {
            "scale": vector(parameters.scales.tolist(), "f"),
            "zero_point": vector(parameters.zero_points.tolist(), "q"),
            "quantized_dimension": parameters.dimension,
        },
    )


def set_options(table: NewTable, name: str, target: TargetPlace) -> None:
    """Replace a node's options with ``target``. ``name`` is the type of this table."""
    for union in _OPTIONS_UNIONS.values():
        table.fields.pop(f"{union}_type", None)
        table.fields.pop(union, None)
    for enum, union in _OPTIONS_UNIONS.items():
        number = schema.enum_values(enum).get(name)
        if number is not None:
            table.fields[f"{union}_type"] = number
            table.fields[union] = target
            return
    raise FixError(f"options of the kind {name} cannot be written")


def options_table(name: str, options: Options) -> NewTable:
    """Return an options table. Fields with the schema's default values are left out."""
    table = NewTable(name)
    values = dict(iter(options))
    for column in schema.table_fields(name).values():
        value = values.get(column.name, column.default)
        if column.format is not None:
            if value != column.default:
                table.fields[column.name] = value
        elif column.element is not None:
            if len(value):
                table.fields[column.name] = vector(value, column.element)
        elif value:
            table.fields[column.name] = string(value)
    return table


def signature_table(signature: Signature) -> NewTable:
    """Return the flatbuffer table of a signature."""
    return NewTable(
        "SignatureDef",
        {
            "inputs": _arguments(signature.inputs),
            "outputs": _arguments(signature.outputs),
            "signature_key": string(signature.key),
            "subgraph_index": signature.subgraph,
        },
    )


def _arguments(tensors: Mapping[str, int]) -> NewReferences:
    return NewReferences(
        [NewTable("TensorMap", {"name": string(name), "tensor_index": index}) for name, index in tensors.items()]
    )
