"""Files of very many nodes one after another, written with numpy: a million nodes in a second, without an object for each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from tflite import BuiltinOperator

_SHAPE = (1, 2, 2, 4)
_NAME = 8
_TENSOR = np.dtype(
    [
        ("vtable", "<i4"), ("shape", "<u4"), ("name", "<u4"), ("buffer", "<u4"), ("type", "<i4"),
        ("rank", "<u4"), ("sizes", "<i4", len(_SHAPE)), ("length", "<u4"), ("text", f"S{_NAME}"), ("end", "<u4"),
    ]
)  # fmt: skip
"""A tensor's table, with its shape and name behind it."""
_OPERATOR = np.dtype(
    [
        ("vtable", "<i4"), ("code", "<u4"), ("inputs", "<u4"), ("outputs", "<u4"),
        ("input_count", "<u4"), ("input", "<i4"), ("output_count", "<u4"), ("output", "<i4"),
    ]
)  # fmt: skip
"""An operator's table, with its operands behind it."""


def write_chain(path: str | os.PathLike[str], ops: Sequence[str], count: int) -> None:
    """Write a model of so many nodes of one operand, each fed by the one before; ``ops`` are their operators in turn."""
    known = tuple(dict.fromkeys(ops))
    file = _File()
    file.words(0, int.from_bytes(b"TFL3", "little"))
    # Version, operator codes, subgraphs, buffers; the vtables come first.
    model_vtable = file.vtable(20, (4, 8, 12, 0, 16))
    code_vtable = file.vtable(12, (0, 0, 8, 4))
    subgraph_vtable = file.vtable(24, (4, 8, 12, 16))
    tensor_vtable = file.vtable(20, (4, 16, 12, 8))
    operator_vtable = file.vtable(16, (4, 8, 12))
    buffer_vtable = file.vtable(4, ())
    file.set(0, file.size)
    model = file.words(file.size - model_vtable, 3, 0, 0, 0)
    codes = file.words(len(known), *[0] * len(known))
    for number, op in enumerate(known):
        table = file.words(file.size - code_vtable, getattr(BuiltinOperator, op), 1)
        file.refer(codes + 4 + 4 * number, table)
    file.refer(model + 8, codes)
    buffers = file.words(1, 4, buffer_vtable)
    file.set(buffers + 8, buffers + 8 - buffer_vtable)
    file.refer(model + 16, buffers)
    subgraphs = file.words(1, 4)
    subgraph = file.words(file.size - subgraph_vtable, 0, 0, 0, 0, 0)
    file.refer(model + 12, subgraphs)
    file.set(subgraphs + 4, subgraph - subgraphs - 4)
    for field, tensor in ((8, 0), (12, count)):
        file.refer(subgraph + field, file.words(1, tensor))
    file.refer(subgraph + 4, file.records(_tensors(count + 1), tensor_vtable))
    file.refer(subgraph + 16, file.records(_operators(ops, known, count), operator_vtable))
    file.write(path)


def _tensors(count: int) -> npt.NDArray[Any]:
    found = np.zeros(count, _TENSOR)
    found["rank"], found["sizes"], found["length"] = len(_SHAPE), _SHAPE, _NAME
    found["text"] = np.char.add("t", np.char.zfill(np.arange(count).astype("U7"), 7)).astype(f"S{_NAME}")
    for field, target in (("shape", "rank"), ("name", "length")):
        found[field] = _place(_TENSOR, target) - _place(_TENSOR, field)
    return found


def _operators(ops: Sequence[str], known: Sequence[str], count: int) -> npt.NDArray[Any]:
    found = np.zeros(count, _OPERATOR)
    found["code"] = np.resize(np.array([known.index(op) for op in ops], "<u4"), count)
    found["input_count"] = found["output_count"] = 1
    found["input"], found["output"] = np.arange(count), np.arange(1, count + 1)
    for field, target in (("inputs", "input_count"), ("outputs", "output_count")):
        found[field] = _place(_OPERATOR, target) - _place(_OPERATOR, field)
    return found


def _place(record: np.dtype[Any], field: str) -> int:
    assert record.fields is not None
    return record.fields[field][1]


class _File:
    """The bytes of a flatbuffer, written from the front: references point forward, to vtables backward."""

    def __init__(self) -> None:
        self._parts: list[bytearray | bytes] = []
        self._head = bytearray()
        self.size = 0

    def words(self, *values: int) -> int:
        """Append 32-bit words and return where they begin."""
        return self._append(np.array(values, "<u4").tobytes())

    def vtable(self, size: int, offsets: Sequence[int]) -> int:
        """Append a vtable, padded to whole words."""
        entries = [4 + 2 * len(offsets), size, *offsets]
        return self._append(np.array(entries + [0] * (len(entries) % 2), "<u2").tobytes())

    def records(self, tables: npt.NDArray[Any], vtable: int) -> int:
        """Append a vector of tables, and the tables, which are all of one layout."""
        count, width = len(tables), tables.dtype.itemsize
        first = self.size + 4 + 4 * count
        places = first + width * np.arange(count)
        vector = np.empty(count + 1, "<u4")
        vector[0], vector[1:] = count, places - (self.size + 4 + 4 * np.arange(count))
        tables["vtable"] = places - vtable
        start = self.size
        self._parts += [vector.tobytes(), tables.tobytes()]
        self.size = first + width * count
        return start

    def set(self, position: int, value: int) -> None:
        """Change a word at the front."""
        self._head[position : position + 4] = value.to_bytes(4, "little")

    def refer(self, position: int, target: int) -> None:
        """Let the word at a position refer to what lies at a target behind it."""
        self.set(position, target - position)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file."""
        with open(path, "wb") as file:
            file.writelines([self._head, *self._parts])

    def _append(self, content: bytes) -> int:
        if self._parts:
            raise ValueError("the records come last")
        start = self.size
        self._head += content
        self.size += len(content)
        return start
