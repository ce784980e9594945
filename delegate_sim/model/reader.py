"""From a file or bytes to a ``Model``: the flatbuffer is read column by column, through numpy, and never trusted.

Each vector of tables (tensors, operators, ...) is read with a handful of array operations, whatever its length and however
many subgraphs it is spread over. Every position is checked against the size of the file before it is followed, and what all
tables and vectors together claim to hold is checked against the size of the file, so that however many references lead to one
place, memory and time stay proportional to that size.
"""

from __future__ import annotations

import itertools
import mmap
import os
import stat
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from ..text import printable
from . import schema
from .model import (
    OPTIONAL_TENSOR,
    Allocation,
    Model,
    Node,
    OperatorCode,
    Quantization,
    Signature,
    Sparsity,
    Subgraph,
    Tensor,
)

IDENTIFIER = b"TFL3"
_HEAP_TYPES = frozenset({"STRING", "RESOURCE", "VARIANT"})
_DETAILED_QUANTIZATIONS: Mapping[int, str] = MappingProxyType({2: "blockwise", 3: "multi-axis"})
_SMALLEST_TABLE = 8
"""Bytes: the reference to it and its own reference to a vtable."""
_SMALLEST_VTABLE = 4
_SHARING = 2
"""How many times the size of the file its parts may claim in all, since a writer may refer to equal parts but once written."""
_GREATEST_STRUCTURE = 1 << 27
"""Bytes that tables, names and shapes may take, whatever the size of the file: about a million nodes."""
_GREATEST_RANK = 256
"""Far beyond what any kernel takes, and small enough to multiply and to print."""

Positions = npt.NDArray[np.int64]
Item = TypeVar("Item")


def load(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> Model:
    """Read a model from a path (mapped into memory) or from bytes.

    Raises ModelError with one line that names the file and what is wrong with it.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        return _read_named(_bytes_of(memoryview(source)), None, "the given bytes")
    path = os.fsdecode(source)
    try:
        content = _map(path)
    except OSError as error:
        raise _model_error(path, error.strerror or str(error)) from error
    except (ValueError, _Malformed) as error:
        raise _model_error(path, str(error)) from error
    return _read_named(content, path, path)


def _bytes_of(view: memoryview) -> memoryview:
    return (view.cast("B") if view.c_contiguous else memoryview(view.tobytes())).toreadonly()


def _map(path: str) -> memoryview:
    status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        raise _Malformed("is a directory, not a model file")
    if not stat.S_ISREG(status.st_mode):
        raise _Malformed("is not a regular file")
    if status.st_size == 0:
        raise _Malformed("is empty")
    with open(path, "rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _model_error(label: str, fault: str) -> ModelError:
    return ModelError(printable(f"{label}: {fault}"))


def _read_named(content: memoryview, path: str | None, label: str) -> Model:
    try:
        return _read_model(_Flatbuffer(content), path)
    except _Malformed as error:
        raise _model_error(label, str(error)) from error


class _Malformed(Exception):
    pass


class _Flatbuffer:
    """The bytes, with gathers of little-endian numbers at any positions, and a budget of what may be read from them."""

    def __init__(self, content: memoryview) -> None:
        self.content = content
        self.size = len(content)
        if self.size == 0:
            raise _Malformed("is empty")
        if self.size < 8:
            raise _Malformed(f"is {self.size} bytes long, too short for a TFLite model")
        found = bytes(content[4:8])
        if found != IDENTIFIER:
            raise _Malformed(f"is not a TFLite model: the identifier at offset 4 is {found!r}, not {IDENTIFIER!r}")
        self._views: dict[str, npt.NDArray[Any]] = {}
        self._budget = min(_SHARING * self.size, _GREATEST_STRUCTURE)

    def spend(self, amount: int, what: str) -> None:
        """Count bytes that tables or vectors claim to take; raises once all together exceed what the file can hold."""
        self._budget -= amount
        if self._budget < 0:
            raise _Malformed(f"is malformed: with {what}, its parts claim far more bytes than the file holds")

    def gather(self, kind: str, positions: Positions, what: str) -> npt.NDArray[Any]:
        """Read one number of numpy type ``kind`` at each position."""
        if not len(positions):
            return np.empty(0, kind)
        view = self._views.get(kind)
        if view is None:
            length = max(self.size - np.dtype(kind).itemsize + 1, 0)
            view = self._views[kind] = np.ndarray((length,), kind, self.content, strides=(1,))
        if int(positions.view(np.uint64).max()) >= len(view):  # which negative positions exceed as well
            raise _Malformed(f"is truncated or malformed: {what} lies outside the file")
        values: npt.NDArray[Any] = view[positions]
        return values

    def follow(self, positions: Positions, what: str) -> Positions:
        """Return where the offsets at these positions point; 0 (absent) stays 0."""
        targets = _nowhere(positions)
        present = positions > 0
        located = positions[present]
        targets[present] = located + self.gather("<u4", located, what)
        return targets

    def vectors(self, positions: Positions, width: int, what: str) -> tuple[Positions, Positions]:
        """Return (start, count) of the vectors that the offsets at these positions point to; absent ones are (0, 0)."""
        targets = self.follow(positions, what)
        counts = _nowhere(targets)
        present = targets > 0
        if not present.any():
            return targets, counts
        counts[present] = self.gather("<u4", targets[present], what)
        starts = np.where(present, targets + 4, 0)
        if bool((starts + counts * width > self.size).any()):
            raise _Malformed(f"is truncated or malformed: {what} runs past the end of the file")
        return starts, counts

    def numbers(self, positions: Positions, kind: str, what: str) -> tuple[npt.NDArray[Any], Positions]:
        """Read the vectors of numbers that the offsets at these positions point to: all end to end, and each one's length."""
        width = np.dtype(kind).itemsize
        starts, counts = self.vectors(positions, width, what)
        self.spend(int(counts.sum()) * width, what)
        return self.gather(kind, _elements(starts, counts, width), what), counts

    def strings(self, positions: Positions, what: str) -> list[str]:
        """Read the strings that the offsets at these positions point to; absent ones are empty."""
        starts, counts = self.vectors(positions, 1, what)
        self.spend(int(counts.sum()), what)
        content = self.content
        return [
            str(content[start : start + count], "utf-8", "replace")
            for start, count in zip(starts.tolist(), counts.tolist(), strict=True)
        ]

    def root(self, name: str) -> _Tables:
        """Return the table that the file begins with."""
        return _Tables(self, name, self.gather("<u4", np.zeros(1, np.int64), "the root").astype(np.int64))


class _Tables:
    """Tables of one kind, read by column. A position of 0 is an absent table, whose fields are absent."""

    def __init__(self, buffer: _Flatbuffer, name: str, positions: Positions) -> None:
        self.buffer = buffer
        self.what = f"one of its {name} tables"
        self.positions = positions
        self.present = positions > 0
        self._located = positions[self.present]
        buffer.spend(len(self._located) * _SMALLEST_TABLE, f"its {name} tables")
        self._vtables = self._located - buffer.gather("<i4", self._located, self.what)
        self._sizes = buffer.gather("<u2", self._vtables, self.what).astype(np.int64)
        if bool((self._sizes < _SMALLEST_VTABLE).any()):
            raise _Malformed(f"is malformed: {self.what} has no vtable")
        self._largest_size = int(self._sizes.max(initial=0))

    def __len__(self) -> int:
        return len(self.positions)

    def at(self, slot: int) -> Positions:
        """Return where each table keeps the field of this slot number, 0 where it has none."""
        entry = 4 + 2 * slot
        fields = _nowhere(self.positions)
        if entry + 2 > self._largest_size:
            return fields
        has_entry = entry + 2 <= self._sizes
        offsets = _nowhere(self._vtables)
        offsets[has_entry] = self.buffer.gather("<u2", self._vtables[has_entry] + entry, self.what)
        fields[self.present] = np.where(offsets > 0, self._located + offsets, 0)
        return fields

    def column(self, slot: int, kind: str, default: int = 0) -> npt.NDArray[Any]:
        """Read a scalar of numpy type ``kind`` from each table."""
        fields = self.at(slot)
        present = fields > 0
        values = np.full(len(fields), default, kind)
        values[present] = self.buffer.gather(kind, fields[present], self.what)
        return values

    def numbers(self, slot: int, kind: str, default: int = 0) -> list[Any]:
        """Read a scalar of numpy type ``kind`` from each table, as Python numbers."""
        listed: list[Any] = self.column(slot, kind, default).tolist()
        return listed

    def rows(self, slot: int, kind: str) -> list[tuple[int, ...]]:
        """Read a vector of numbers from each table."""
        flat, counts = self.buffer.numbers(self.at(slot), kind, f"a vector of {self.what}")
        return _split(flat.tolist(), counts.tolist())

    def optional_rows(self, slot: int, kind: str) -> list[tuple[int, ...] | None]:
        """Read a vector of numbers from each table, None where the table has none."""
        has_row = (self.at(slot) > 0).tolist()
        return [row if present else None for row, present in zip(self.rows(slot, kind), has_row, strict=True)]

    def tensor_rows(self, slot: int, limits: Positions, place: Callable[[int], str]) -> list[tuple[int, ...]]:
        """Read a vector of tensor indices from each table; ``limits`` is how many tensors each may choose from."""
        flat, counts = self.buffer.numbers(self.at(slot), "<i4", f"a vector of {self.what}")
        outside = (flat < OPTIONAL_TENSOR) | (flat >= np.repeat(limits, counts))
        if bool(outside.any()):
            element = int(outside.argmax())
            table = int(np.searchsorted(np.cumsum(counts), element, side="right"))
            raise _Malformed(f"is malformed: {place(table)} names tensor {flat[element]}, of {limits[table]} tensors")
        return _split(flat.tolist(), counts.tolist())

    def strings(self, slot: int) -> list[str]:
        """Read a string from each table."""
        return self.buffer.strings(self.at(slot), f"a name of {self.what}")

    def spans(self, slot: int, offset_slot: int, size_slot: int, what: str) -> list[tuple[int, int] | None]:
        """Return (offset, size) of the bytes that each table keeps, in the flatbuffer or, in large models, behind it."""
        starts, counts = self.buffer.vectors(self.at(slot), 1, what)
        spans: list[tuple[int, int] | None] = [
            (start, count) if start else None for start, count in zip(starts.tolist(), counts.tolist(), strict=True)
        ]
        offsets, sizes = self.column(offset_slot, "<u8"), self.column(size_slot, "<u8")
        for index in np.flatnonzero((offsets > 1) & (starts == 0)).tolist():
            offset, size = int(offsets[index]), int(sizes[index])
            if offset + size > self.buffer.size:
                raise _Malformed(f"is truncated: {what} (number {index}) lies at offset {offset}, past the end of the file")
            spans[index] = (offset, size)
        return spans

    def children(self, slot: int, name: str) -> _Tables:
        """Return the one table that each table refers to."""
        return _Tables(self.buffer, name, self.buffer.follow(self.at(slot), f"one of its {name} tables"))

    def child_vectors(self, slot: int, name: str) -> tuple[_Tables, list[int]]:
        """Return the tables of the vector that each table refers to, all end to end, and the length of each vector."""
        buffer, what = self.buffer, f"a vector of {name} tables"
        starts, counts = buffer.vectors(self.at(slot), 4, what)
        buffer.spend(int(counts.sum()) * 4, what)
        return _Tables(buffer, name, buffer.follow(_elements(starts, counts, 4), f"one of its {name} tables")), counts.tolist()


def _nowhere(positions: Positions) -> Positions:
    return np.zeros(len(positions), np.int64)


def _elements(starts: Positions, counts: Positions, width: int) -> Positions:
    """Return the positions of the elements of vectors, end to end."""
    elements = np.arange(int(counts.sum()), dtype=np.int64)
    elements *= width
    elements += np.repeat(starts - (np.cumsum(counts) - counts) * width, counts)
    return elements


def _split(items: Iterable[Item], counts: Sequence[int]) -> list[tuple[Item, ...]]:
    """Cut items that lie end to end into rows of these lengths."""
    joined = tuple(items)
    if not joined:
        return [()] * len(counts)
    return [joined[end - count : end] for end, count in zip(itertools.accumulate(counts), counts, strict=True)]


def _namer(what: str, counts: Sequence[int]) -> Callable[[int], str]:
    """Return what names an item among those of all subgraphs, end to end, as one of its own subgraph."""

    def name(position: int) -> str:
        for subgraph, count in enumerate(counts):
            if position < count:
                return f"{what} {position} of subgraph {subgraph}"
            position -= count
        raise IndexError(position)

    return name


def _read_model(buffer: _Flatbuffer, path: str | None) -> Model:
    root = buffer.root("Model")
    operator_codes = _read_operator_codes(root.child_vectors(1, "OperatorCode")[0])
    buffers = root.child_vectors(4, "Buffer")[0].spans(0, 1, 2, "the data of a buffer")
    subgraphs = _read_subgraphs(root.child_vectors(2, "SubGraph")[0], operator_codes, buffers)
    return Model(
        path=path,
        size=buffer.size,
        version=root.numbers(0, "<u4")[0],
        description=root.strings(3)[0],
        subgraphs=subgraphs,
        operator_codes=operator_codes,
        signatures=_read_signatures(root.child_vectors(7, "SignatureDef")[0]),
        metadata=_read_metadata(root.child_vectors(6, "Metadata")[0], buffers),
        content=buffer.content,
    )


def _read_operator_codes(tables: _Tables) -> tuple[OperatorCode, ...]:
    """Old files keep the code in a byte, new ones in an int; the greater counts (``schema_utils.cc``)."""
    codes = []
    for old, new, custom_code, has_custom_code, version in zip(
        tables.numbers(0, "<i1"),
        tables.numbers(3, "<i4"),
        tables.strings(1),
        (tables.at(1) > 0).tolist(),
        tables.numbers(2, "<i4", 1),
        strict=True,
    ):
        code = max(old, new)
        if code == schema.CUSTOM and has_custom_code:
            codes.append(OperatorCode(custom_code, code, custom_code, version))
        else:
            codes.append(OperatorCode(schema.operator_name(code), code, None, version))
    return tuple(codes)


def _read_metadata(tables: _Tables, buffers: Sequence[tuple[int, int] | None]) -> Mapping[str, tuple[int, int]]:
    metadata = {}
    for name, number in zip(tables.strings(0), tables.numbers(1, "<u4"), strict=True):
        span = buffers[number] if number < len(buffers) else None
        if span is not None:
            metadata[name] = span
    return MappingProxyType(metadata)


def _read_subgraphs(
    tables: _Tables, operator_codes: Sequence[OperatorCode], buffers: Sequence[tuple[int, int] | None]
) -> tuple[Subgraph, ...]:
    if not len(tables):
        raise _Malformed("holds no subgraph")
    if len(set(tables.positions.tolist())) != len(tables):
        raise _Malformed("is malformed: two of its subgraphs lie at one place")
    tensor_tables, tensor_counts = tables.child_vectors(0, "Tensor")
    node_tables, node_counts = tables.child_vectors(3, "Operator")
    limits = np.array(tensor_counts, np.int64)
    tensors = _read_tensors(tensor_tables, tensor_counts, buffers)
    nodes = _read_nodes(node_tables, node_counts, operator_codes, np.repeat(limits, node_counts))
    return tuple(
        map(
            Subgraph,
            range(len(tables)),
            tables.strings(4),
            _split(tensors, tensor_counts),
            _split(nodes, node_counts),
            tables.tensor_rows(1, limits, "an input of subgraph {}".format),
            tables.tensor_rows(2, limits, "an output of subgraph {}".format),
        )
    )


def _read_nodes(
    tables: _Tables, counts: Sequence[int], operator_codes: Sequence[OperatorCode], tensor_limits: Positions
) -> list[Node]:
    """Read the nodes of all subgraphs, ``counts`` of them in each."""
    name = _namer("node", counts)
    codes = tables.column(0, "<u4")
    unknown = codes >= len(operator_codes)
    if bool(unknown.any()):
        index = int(unknown.argmax())
        raise _Malformed(f"is malformed: {name(index)} uses operator code {codes[index]}, of {len(operator_codes)}")
    options = [
        first or second for first, second in zip(_read_options(tables, 3, 4, ""), _read_options(tables, 11, 12, "2"), strict=True)
    ]
    return [
        Node(index, code.op, code.builtin_code, code.custom_code, code.version, *columns)
        for index, code, *columns in zip(
            _numbered(counts),
            map(operator_codes.__getitem__, codes.tolist()),
            tables.tensor_rows(1, tensor_limits, name),
            tables.tensor_rows(2, tensor_limits, name),
            tables.tensor_rows(8, tensor_limits, name),
            options,
            tables.spans(5, 9, 10, "the options of a custom operator"),
            strict=True,
        )
    ]


def _numbered(counts: Sequence[int]) -> list[int]:
    return [index for count in counts for index in range(count)]


def _read_options(tables: _Tables, kind_slot: int, slot: int, union: str) -> list[tuple[str, int] | None]:
    """Return (name of the table, its position) of each node's options of one union. What they hold is read when needed."""
    names = schema.enum_names(f"BuiltinOptions{union}")
    kinds = tables.column(kind_slot, "<u1")
    positions = np.where(kinds > 0, tables.buffer.follow(tables.at(slot), "builtin options"), 0)
    tables_of_kind = {kind: names.get(kind, f"UNKNOWN({kind})") for kind in set(kinds.tolist())}
    for kind, name in tables_of_kind.items():
        _spend_on_vectors(tables.buffer, name, positions[kinds == kind])
    return [
        (tables_of_kind[kind], position) if position else None
        for kind, position in zip(kinds.tolist(), positions.tolist(), strict=True)
    ]


def _spend_on_vectors(buffer: _Flatbuffer, name: str, positions: Positions) -> None:
    """Check and count what the vectors and strings in options tables claim to hold."""
    references = [field for field in schema.table_fields(name) if field.format is None]
    if references:
        tables = _Tables(buffer, name, positions)
        for field in references:
            width = struct.calcsize(field.element or "s")
            _, counts = buffer.vectors(tables.at(field.slot), width, f"a vector of {tables.what}")
            buffer.spend(int(counts.sum()) * width, f"a vector of {tables.what}")


def _read_tensors(tables: _Tables, counts: Sequence[int], buffers: Sequence[tuple[int, int] | None]) -> list[Tensor]:
    """Read the tensors of all subgraphs, ``counts`` of them in each."""
    name = _namer("tensor", counts)
    numbers = tables.column(2, "<u4")
    unknown = (numbers >= len(buffers)) & (numbers > 0)
    if bool(unknown.any()):
        index = int(unknown.argmax())
        raise _Malformed(f"is malformed: {name(index)} uses buffer {numbers[index]}, of {len(buffers)}")
    buffer_numbers = numbers.tolist()
    data = [buffers[number] if number else None for number in buffer_numbers]
    kinds = tables.numbers(1, "<i1")
    type_names = {kind: schema.tensor_type_name(kind) for kind in set(kinds)}
    types = [type_names[kind] for kind in kinds]
    is_variable = (tables.column(5, "<u1") > 0).tolist()
    quantizations = _read_quantizations(tables.children(4, "QuantizationParameters"))
    _, ranks = tables.buffer.vectors(tables.at(0), 4, "a shape")
    if int(ranks.max(initial=0)) > _GREATEST_RANK:
        raise _Malformed(f"is malformed: {name(int(ranks.argmax()))} has {ranks.max()} dimensions")
    return list(
        map(
            Tensor,
            _numbered(counts),
            tables.strings(3),
            types,
            tables.rows(0, "<i4"),
            tables.optional_rows(7, "<i4"),
            (tables.column(8, "<u1") > 0).tolist(),
            is_variable,
            map(_allocation, data, types, is_variable),
            buffer_numbers,
            tables.numbers(10, "<u4"),
            data,
            quantizations,
            map(_legacy_scale, quantizations),
            map(_legacy_zero_point, quantizations),
            _read_sparsities(tables.children(6, "SparsityParameters")),
        )
    )


def _allocation(data: tuple[int, int] | None, type_name: str, is_variable: bool) -> Allocation:
    """``SetTensorParametersReadOnly`` and ``SetTensorParametersReadWrite`` (``core/subgraph.cc``)."""
    if data is not None:
        return Allocation.CONSTANT
    if type_name in _HEAP_TYPES:
        return Allocation.DYNAMIC
    return Allocation.VARIABLE if is_variable else Allocation.ARENA


def _legacy_scale(quantization: Quantization | None) -> float:
    """``GetLegacyQuantization`` (``core/subgraph.cc``)."""
    return float(quantization.scales[0]) if quantization is not None and len(quantization.scales) == 1 else 0.0


def _legacy_zero_point(quantization: Quantization | None) -> int:
    """``GetLegacyQuantization`` (``core/subgraph.cc``)."""
    if quantization is None or len(quantization.scales) != 1 or not len(quantization.zero_points):
        return 0
    return int(quantization.zero_points[0])


_NO_SCALES = np.empty(0, np.float32)
_NO_ZERO_POINTS = np.empty(0, np.int64)


def _read_quantizations(tables: _Tables) -> list[Quantization | None]:
    """Affine parameters count only where there are scales; of the other kinds, details decide (``ParseQuantization``)."""
    buffer = tables.buffer
    scale_starts, scale_counts = buffer.vectors(tables.at(2), 4, "scales")
    zero_starts, zero_counts = buffer.vectors(tables.at(3), 8, "zero points")
    buffer.spend(int(scale_counts.sum()) * 4 + int(zero_counts.sum()) * 8, "its scales and zero points")
    kinds = tables.column(4, "<u1")
    has_details = np.isin(kinds, list(_DETAILED_QUANTIZATIONS))
    positions = np.where(has_details, buffer.follow(tables.at(5), "quantisation details"), 0)
    details = _Tables(buffer, "QuantizationDetails", positions)
    found: list[Quantization | None] = []
    for scale_start, scale_count, zero_start, zero_count, dimension, kind, position, scales, zero_points, block_size in zip(
        scale_starts.tolist(),
        scale_counts.tolist(),
        zero_starts.tolist(),
        zero_counts.tolist(),
        tables.numbers(6, "<i4"),
        kinds.tolist(),
        positions.tolist(),
        details.numbers(0, "<i4"),
        details.numbers(1, "<i4"),
        details.numbers(2, "<i4"),
        strict=True,
    ):
        if position:
            parameters = (dimension, block_size, scales, zero_points)
            found.append(Quantization(_DETAILED_QUANTIZATIONS[kind], _NO_SCALES, _NO_ZERO_POINTS, *parameters))
        elif scale_count:
            found.append(
                Quantization(
                    "affine",
                    np.frombuffer(buffer.content, "<f4", scale_count, scale_start),
                    np.frombuffer(buffer.content, "<i8", zero_count, zero_start) if zero_count else _NO_ZERO_POINTS,
                    dimension,
                )
            )
        else:
            found.append(None)
    return found


def _read_sparsities(tables: _Tables) -> list[Sparsity | None]:
    if not bool(tables.present.any()):
        return [None] * len(tables)
    dimension_tables, counts = tables.child_vectors(2, "DimensionMetadata")
    is_dense = (dimension_tables.column(0, "<i1") == 0).tolist()
    dimensions = zip(is_dense, dimension_tables.numbers(1, "<i4"), strict=True)
    sparsities = map(Sparsity, tables.rows(0, "<i4"), tables.rows(1, "<i4"), _split(dimensions, counts))
    return [sparsity if present else None for sparsity, present in zip(sparsities, tables.present.tolist(), strict=True)]


def _read_signatures(tables: _Tables) -> tuple[Signature, ...]:
    return tuple(
        map(
            Signature,
            tables.strings(2),
            tables.numbers(4, "<u4"),
            _read_arguments(*tables.child_vectors(0, "TensorMap")),
            _read_arguments(*tables.child_vectors(1, "TensorMap")),
        )
    )


def _read_arguments(tables: _Tables, counts: Sequence[int]) -> list[Mapping[str, int]]:
    arguments = zip(tables.strings(0), tables.numbers(1, "<u4"), strict=True)
    return [MappingProxyType(dict(row)) for row in _split(arguments, counts)]
