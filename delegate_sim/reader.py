"""From a file or bytes to a ``Model``: the flatbuffer is read column by column, through numpy, and never trusted.

Each vector of tables (tensors, operators, ...) is read with a handful of array operations, whatever its length. Every
position is checked against the size of the file before it is followed, and what all vectors together claim to hold is
checked against what a file of that size can hold, so that a hostile file costs no more than an honest one.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from . import schema
from .errors import ModelError
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
_SMALLEST_TABLE = 12
"""Bytes: an offset to it, its offset to a vtable and one field."""

Positions = npt.NDArray[np.int64]


def load(source: str | os.PathLike[str] | bytes | bytearray | memoryview) -> Model:
    """Read a model from a path (mapped into memory) or from bytes.

    Raises ModelError with one line that names the file and what is wrong with it.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        return _read_named(memoryview(source).cast("B"), None, "the given bytes")
    path = os.fspath(source)
    try:
        if os.path.isdir(path):
            raise ModelError(f"{path}: is a directory, not a model file")
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise ModelError(f"{path}: is empty")
            content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise ModelError(f"{path!r}: {error}") from error
    return _read_named(content, path, path)


def _read_named(content: memoryview, path: str | None, label: str) -> Model:
    try:
        return _read_model(_Flatbuffer(content), path)
    except _Malformed as error:
        raise ModelError(f"{label}: {error}") from error


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
        if bytes(content[4:8]) != IDENTIFIER:
            found = bytes(content[4:8])
            raise _Malformed(f"is not a TFLite model: the identifier at offset 4 is {found!r}, not {IDENTIFIER!r}")
        self._views: dict[str, npt.NDArray[Any]] = {}
        self._budget = self.size

    def spend(self, amount: int, what: str) -> None:
        """Count bytes that a vector claims to hold; raises once all together exceed the file."""
        self._budget -= amount
        if self._budget < 0:
            raise _Malformed(f"is malformed: its {what} claim more than the file can hold")

    def gather(self, kind: str, positions: Positions, what: str) -> npt.NDArray[Any]:
        """Read one number of numpy type ``kind`` at each position."""
        view = self._views.get(kind)
        if view is None:
            width = np.dtype(kind).itemsize
            length = max(self.size - width + 1, 0)
            view = self._views[kind] = np.ndarray((length,), kind, self.content, strides=(1,))
        if len(positions) and (int(positions.min()) < 0 or int(positions.max()) >= len(view)):
            raise _Malformed(f"is truncated or malformed: {what} lies outside the file")
        values: npt.NDArray[Any] = view[positions]
        return values

    def follow(self, positions: Positions, what: str) -> Positions:
        """Return where the offsets at these positions point; 0 (absent) stays 0."""
        present = positions > 0
        targets = np.zeros_like(positions)
        targets[present] = positions[present] + self.gather("<u4", positions[present], what).astype(np.int64)
        return targets

    def vectors(self, positions: Positions, width: int, what: str) -> tuple[Positions, Positions]:
        """Return (start, count) of the vectors that the offsets at these positions point to; absent ones are (0, 0)."""
        targets = self.follow(positions, what)
        present = targets > 0
        counts = np.zeros_like(targets)
        counts[present] = self.gather("<u4", targets[present], what).astype(np.int64)
        starts = np.where(present, targets + 4, 0)
        if bool((starts + counts * width > self.size).any()):
            raise _Malformed(f"is truncated or malformed: {what} runs past the end of the file")
        return starts, counts

    def number_rows(self, positions: Positions, kind: str, what: str) -> list[tuple[int, ...]]:
        """Read the vectors of numbers that the offsets at these positions point to, one tuple each."""
        width = np.dtype(kind).itemsize
        starts, counts = self.vectors(positions, width, what)
        total = int(counts.sum())
        self.spend(total, what)
        ends = np.cumsum(counts)
        if not total:
            return [()] * len(positions)
        elements = np.repeat(starts - (ends - counts) * width, counts) + np.arange(total, dtype=np.int64) * width
        flat = self.gather(kind, elements, what).tolist()
        stops = ends.tolist()
        return [tuple(flat[first:last]) for first, last in zip([0, *stops[:-1]], stops, strict=True)]

    def strings(self, positions: Positions, what: str) -> list[str]:
        """Read the strings that the offsets at these positions point to; absent ones are empty."""
        starts, counts = self.vectors(positions, 1, what)
        self.spend(int(counts.sum()), what)
        content = self.content
        return [
            str(content[start : start + count], "utf-8", "replace")
            for start, count in zip(starts.tolist(), counts.tolist(), strict=True)
        ]

    def table(self, position: int, name: str) -> _Tables:
        """Return the one table at a position."""
        return _Tables(self, name, np.array([position], np.int64))

    def tables(self, positions: Positions, name: str) -> _Tables:
        """Return the tables in the vector that the offset at the one position in ``positions`` points to."""
        starts, counts = self.vectors(positions, 4, f"the vector of {name} tables")
        count = int(counts[0])
        self.spend(count * _SMALLEST_TABLE, f"{name} tables")
        return _Tables(self, name, self.follow(starts[0] + 4 * np.arange(count, dtype=np.int64), f"a {name} table"))


class _Tables:
    """Tables of one kind, read by column. A position of 0 is an absent table, whose fields are absent."""

    def __init__(self, buffer: _Flatbuffer, name: str, positions: Positions) -> None:
        self.buffer = buffer
        self.name = name
        self.what = f"a {name} table"
        self.positions = positions
        self._present = positions > 0
        located = positions[self._present]
        self._vtables = located - buffer.gather("<i4", located, self.what)
        self._sizes = buffer.gather("<u2", self._vtables, self.what).astype(np.int64)

    def __len__(self) -> int:
        return len(self.positions)

    def at(self, slot: int) -> Positions:
        """Return where each table keeps the field of this slot number, 0 where it has none."""
        entries = self._vtables + 4 + 2 * slot
        has_entry = 4 + 2 * slot + 2 <= self._sizes
        offsets = np.zeros_like(entries)
        offsets[has_entry] = self.buffer.gather("<u2", entries[has_entry], self.what)
        fields = np.zeros_like(self.positions)
        fields[self._present] = np.where(offsets > 0, self.positions[self._present] + offsets, 0)
        return fields

    def numbers(self, slot: int, kind: str, default: int = 0) -> list[Any]:
        """Read a scalar of numpy type ``kind`` from each table."""
        fields = self.at(slot)
        present = fields > 0
        values = np.full(len(fields), default, kind)
        values[present] = self.buffer.gather(kind, fields[present], self.what)
        listed: list[Any] = values.tolist()
        return listed

    def rows(self, slot: int, kind: str) -> list[tuple[int, ...]]:
        """Read a vector of numbers from each table."""
        return self.buffer.number_rows(self.at(slot), kind, f"a vector of {self.what}")

    def optional_rows(self, slot: int, kind: str) -> list[tuple[int, ...] | None]:
        """Read a vector of numbers from each table, None where the table has none."""
        fields = self.at(slot)
        rows = self.buffer.number_rows(fields, kind, f"a vector of {self.what}")
        return [row if present else None for row, present in zip(rows, (fields > 0).tolist(), strict=True)]

    def strings(self, slot: int) -> list[str]:
        """Read a string from each table."""
        return self.buffer.strings(self.at(slot), f"a name of {self.what}")

    def children(self, slot: int, name: str) -> _Tables:
        """Return the one table that each table refers to."""
        return _Tables(self.buffer, name, self.buffer.follow(self.at(slot), f"a {name} table"))

    def child_vector(self, slot: int, name: str) -> _Tables:
        """Return the tables of the vector of a single table (``len(self) == 1``)."""
        return self.buffer.tables(self.at(slot), name)

    def one(self, index: int) -> _Tables:
        """Return one of the tables alone."""
        return _Tables(self.buffer, self.name, self.positions[index : index + 1])


def _read_model(buffer: _Flatbuffer, path: str | None) -> Model:
    root = buffer.table(int(buffer.gather("<u4", np.zeros(1, np.int64), "the root")[0]), "Model")
    operator_codes = _read_operator_codes(root.child_vector(1, "OperatorCode"))
    buffers = _read_buffers(root.child_vector(4, "Buffer"), buffer.size)
    subgraph_tables = root.child_vector(2, "SubGraph")
    if len(np.unique(subgraph_tables.positions)) != len(subgraph_tables):
        raise _Malformed("is malformed: two of its subgraphs lie at one place")
    if not len(subgraph_tables):
        raise _Malformed("holds no subgraph")
    names = subgraph_tables.strings(4)
    subgraphs = tuple(
        _read_subgraph(subgraph_tables.one(index), index, name, operator_codes, buffers)
        for index, name in enumerate(names)
    )
    metadata_tables = root.child_vector(6, "Metadata")
    metadata = {
        name: buffers[number]
        for name, number in zip(metadata_tables.strings(0), metadata_tables.numbers(1, "<u4"), strict=True)
        if number < len(buffers)
    }
    return Model(
        path=path,
        size=buffer.size,
        version=root.numbers(0, "<u4")[0],
        description=root.strings(3)[0],
        subgraphs=subgraphs,
        operator_codes=operator_codes,
        signatures=_read_signatures(root.child_vector(7, "SignatureDef")),
        metadata=MappingProxyType({name: data for name, data in metadata.items() if data is not None}),
        content=buffer.content,
    )


def _read_operator_codes(tables: _Tables) -> tuple[OperatorCode, ...]:
    """Old files keep the code in a byte, new ones in an int; the greater counts (``schema_conversion_utils.cc``)."""
    has_custom_code = (tables.at(1) > 0).tolist()
    codes = []
    for old, new, custom_code, has_code, version in zip(
        tables.numbers(0, "<i1"), tables.numbers(3, "<i4"), tables.strings(1), has_custom_code, tables.numbers(2, "<i4", 1), strict=True
    ):
        code = max(old, new)
        is_custom = code == schema.CUSTOM
        op = custom_code if is_custom and has_code else schema.operator_name(code)
        codes.append(OperatorCode(op, code, custom_code if is_custom and has_code else None, version))
    return tuple(codes)


def _read_buffers(tables: _Tables, size: int) -> list[tuple[int, int] | None]:
    """Return (offset, size) of each buffer's bytes, inside the flatbuffer or behind it; None where there are none."""
    starts, counts = tables.buffer.vectors(tables.at(0), 1, "the data of a buffer")
    buffers: list[tuple[int, int] | None] = []
    for number, (start, count, offset, length) in enumerate(
        zip(starts.tolist(), counts.tolist(), tables.numbers(1, "<u8"), tables.numbers(2, "<u8"), strict=True)
    ):
        if start:
            buffers.append((start, count))
        elif offset > 1:
            if offset + length > size:
                raise _Malformed(f"is truncated: buffer {number} lies at offset {offset}, past the end of the file")
            buffers.append((offset, length))
        else:
            buffers.append(None)
    return buffers


def _read_subgraph(
    table: _Tables, index: int, name: str, operator_codes: Sequence[OperatorCode], buffers: Sequence[tuple[int, int] | None]
) -> Subgraph:
    tensors = _read_tensors(table.child_vector(0, "Tensor"), index, buffers)
    subgraph = Subgraph(
        index=index,
        name=name,
        tensors=tensors,
        nodes=_read_nodes(table.child_vector(3, "Operator"), index, operator_codes),
        inputs=table.rows(1, "<i4")[0],
        outputs=table.rows(2, "<i4")[0],
    )
    _check_tensor_indices(subgraph)
    return subgraph


def _check_tensor_indices(subgraph: Subgraph) -> None:
    count = len(subgraph.tensors)

    def check(indices: tuple[int, ...], what: str) -> None:
        for tensor in indices:
            if not OPTIONAL_TENSOR <= tensor < count:
                raise _Malformed(
                    f"is malformed: {what} of subgraph {subgraph.index} names tensor {tensor}, of {count} tensors"
                )

    check(subgraph.inputs, "an input")
    check(subgraph.outputs, "an output")
    for node in subgraph.nodes:
        for indices in (node.inputs, node.outputs, node.intermediates):
            if indices and not (min(indices) >= OPTIONAL_TENSOR and max(indices) < count):
                check(indices, f"node {node.index}")


def _read_nodes(tables: _Tables, subgraph: int, operator_codes: Sequence[OperatorCode]) -> tuple[Node, ...]:
    opcode_indices = tables.numbers(0, "<u4")
    for index, opcode_index in enumerate(opcode_indices):
        if opcode_index >= len(operator_codes):
            raise _Malformed(
                f"is malformed: node {index} of subgraph {subgraph} uses operator code {opcode_index}, of {len(operator_codes)}"
            )
    custom_starts, custom_counts = tables.buffer.vectors(tables.at(5), 1, "custom options")
    names, names2 = schema.enum_names("BuiltinOptions"), schema.enum_names("BuiltinOptions2")
    nodes = []
    for index, (opcode, inputs, outputs, intermediates, kind, position, kind2, position2, start, length) in enumerate(
        zip(
            opcode_indices,
            tables.rows(1, "<i4"),
            tables.rows(2, "<i4"),
            tables.rows(8, "<i4"),
            tables.numbers(3, "<u1"),
            tables.buffer.follow(tables.at(4), "builtin options").tolist(),
            tables.numbers(11, "<u1"),
            tables.buffer.follow(tables.at(12), "builtin options").tolist(),
            custom_starts.tolist(),
            custom_counts.tolist(),
            strict=True,
        )
    ):
        op, builtin_code, custom_code, version = operator_codes[opcode]
        options = None
        if position and kind:
            options = (names.get(kind, f"UNKNOWN({kind})"), position)
        elif position2 and kind2:
            options = (names2.get(kind2, f"UNKNOWN({kind2})"), position2)
        custom_options = (start, length) if start else None
        nodes.append(
            Node(index, op, builtin_code, custom_code, version, inputs, outputs, intermediates, options, custom_options)
        )
    return tuple(nodes)


def _read_tensors(tables: _Tables, subgraph: int, buffers: Sequence[tuple[int, int] | None]) -> tuple[Tensor, ...]:
    types = tables.numbers(1, "<i1")
    type_names = {value: schema.tensor_type_name(value) for value in set(types)}
    quantizations = _read_quantizations(tables.children(4, "QuantizationParameters"))
    sparsities = _read_sparsities(tables.children(6, "SparsityParameters"))
    tensors = []
    for index, (name, kind, shape, signature, has_rank, is_variable, number, external, quantization, sparsity) in enumerate(
        zip(
            tables.strings(3),
            types,
            tables.rows(0, "<i4"),
            tables.optional_rows(7, "<i4"),
            tables.numbers(8, "<u1"),
            tables.numbers(5, "<u1"),
            tables.numbers(2, "<u4"),
            tables.numbers(10, "<u4"),
            quantizations,
            sparsities,
            strict=True,
        )
    ):
        if number >= len(buffers) and number:
            raise _Malformed(
                f"is malformed: tensor {index} of subgraph {subgraph} uses buffer {number}, of {len(buffers)}"
            )
        data = buffers[number] if number else None
        type_name = type_names[kind]
        if data is not None:
            allocation = Allocation.CONSTANT
        elif type_name in _HEAP_TYPES:
            allocation = Allocation.DYNAMIC
        else:
            allocation = Allocation.VARIABLE if is_variable else Allocation.ARENA
        scale, zero_point = 0.0, 0
        if quantization is not None and len(quantization.scales) == 1:
            scale = float(quantization.scales[0])
            zero_point = int(quantization.zero_points[0]) if len(quantization.zero_points) else 0
        tensors.append(
            Tensor(
                index,
                name,
                type_name,
                shape,
                signature,
                bool(has_rank),
                bool(is_variable),
                allocation,
                number,
                external,
                data,
                quantization,
                scale,
                zero_point,
                sparsity,
            )
        )
    return tuple(tensors)


_NO_SCALES = np.empty(0, np.float32)
_NO_ZERO_POINTS = np.empty(0, np.int64)


def _read_quantizations(tables: _Tables) -> list[Quantization | None]:
    """Affine parameters count only where there are scales; of the other kinds, details decide (``ParseQuantization``)."""
    buffer = tables.buffer
    scale_starts, scale_counts = buffer.vectors(tables.at(2), 4, "scales")
    zero_starts, zero_counts = buffer.vectors(tables.at(3), 8, "zero points")
    details = buffer.follow(tables.at(5), "quantisation details").tolist()
    found: list[Quantization | None] = []
    for scale_start, scale_count, zero_start, zero_count, dimension, kind, position in zip(
        scale_starts.tolist(),
        scale_counts.tolist(),
        zero_starts.tolist(),
        zero_counts.tolist(),
        tables.numbers(6, "<i4"),
        tables.numbers(4, "<u1"),
        details,
        strict=True,
    ):
        if kind in (2, 3) and position:
            detail = buffer.table(position, "BlockwiseQuantization" if kind == 2 else "MultiAxisQuantization")
            scales, zero_points = detail.numbers(0, "<i4")[0], detail.numbers(1, "<i4")[0]
            name = "blockwise" if kind == 2 else "multi-axis"
            block_size = detail.numbers(2, "<i4")[0]
            found.append(Quantization(name, _NO_SCALES, _NO_ZERO_POINTS, dimension, block_size, scales, zero_points))
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
    present = tables.positions > 0
    if not bool(present.any()):
        return [None] * len(tables)
    found: list[Sparsity | None] = []
    for index, is_sparse in enumerate(present.tolist()):
        if not is_sparse:
            found.append(None)
            continue
        table = tables.one(index)
        dimensions = table.child_vector(2, "DimensionMetadata")
        dense = [kind == 0 for kind in dimensions.numbers(0, "<i1")]
        sizes = dimensions.numbers(1, "<i4")
        order, block_map = table.rows(0, "<i4")[0], table.rows(1, "<i4")[0]
        found.append(Sparsity(order, block_map, tuple(zip(dense, sizes, strict=True))))
    return found


def _read_signatures(tables: _Tables) -> tuple[Signature, ...]:
    signatures = []
    for index, (key, subgraph) in enumerate(zip(tables.strings(2), tables.numbers(4, "<u4"), strict=True)):
        table = tables.one(index)
        arguments = [
            MappingProxyType(dict(zip(maps.strings(0), maps.numbers(1, "<u4"), strict=True)))
            for maps in (table.child_vector(0, "TensorMap"), table.child_vector(1, "TensorMap"))
        ]
        signatures.append(Signature(key, subgraph, *arguments))
    return tuple(signatures)
