"""The elements of constants, read from the file on first use. Small constants are read without numpy."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from ..bundles.ranged import Content, part_of, unpacked
from ..foundation.float32 import float32
from ..foundation.late_numpy import np
from ..foundation.limits import bounded
from ..foundation.work_budget import spend_bytes, spend_steps

T = TypeVar("T")

_KINDS = "<f2 <f4 <f8 <i1 <i2 <i4 <i8 <u1 <u2 <u4 <u8"
_FORMATS: Mapping[str, str] = dict(zip(_KINDS.split(), "efdbhiqBHIQ", strict=True))
"""The format characters of the struct module, keyed by numpy's type. Complex types are left out."""
_NOTHING = memoryview(b"")
_MANY = 1 << 12
"""For more elements than this number, numpy is faster, even if it must first be imported."""
_FEW = 1 << 8
"""Largest number of elements that are read without a cost, such as axes or sizes: at most one for each dimension."""
_ELEMENTS_IN_A_STEP = 4
"""Number of elements that a rule looks at in a step."""
_LISTED_IN_A_STEP = 16
"""Number of elements that become Python numbers in a step."""
_CONVERTED_IN_A_STEP = 1 << 10
_BYTES_IN_A_STEP = 1 << 10
"""Number of bytes that numpy looks at in a step."""
_READING = "reading the elements of constants"


def width_of(kind: str) -> int:
    """Return the size in bytes of an element of the type ``kind``."""
    return int(kind[2:])


class FlatNumbers(Protocol):
    """The interface that flat numpy arrays and ``StoredNumbers`` have in common."""

    @property
    def nbytes(self) -> int:
        """Size in bytes."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...

    def any(self) -> Any:
        """Return whether any element is not 0."""

    def tolist(self) -> Any:
        """Return the elements as Python numbers."""

    def tobytes(self) -> bytes:
        """Return the elements as bytes."""


class StoredNumbers:
    """Consecutive numbers of one type in a file. ``numpy.asarray`` returns an array that uses the same bytes.

    Each read of many numbers costs steps, whoever reads, because a file decides how many tensors and nodes share the numbers.
    A read raises LimitError if too few steps are left. ``fact`` keeps what was found in the numbers.
    """

    __slots__ = ("_content", "_count", "_facts", "_start", "kind")

    def __init__(self, kind: str, content: Content = _NOTHING, start: int = 0, count: int = 0) -> None:
        self.kind = kind
        """numpy's name for the type, such as ``<i4``."""
        self._content = content
        self._start = start
        self._count = count
        self._facts: dict[Any, Any] | None = None

    def fact(self, find: Callable[[StoredNumbers], T]) -> T:
        """Return ``find(self)``. It is found once, because a file decides how many nodes read the numbers."""
        if self._facts is None:
            self._facts = {}
        if find not in self._facts:
            self._facts[find] = find(self)
        result: T = self._facts[find]
        return result

    @classmethod
    def of(cls, kind: str, numbers: Iterable[float]) -> StoredNumbers:
        """Return numbers as elements of the type ``kind``. Raise OverflowError if the type cannot hold a number."""
        listed = list(numbers)
        try:
            return cls.read(kind, struct.pack(f"<{len(listed)}{_FORMATS[kind]}", *listed))
        except struct.error as error:
            raise OverflowError(f"the type {kind} cannot hold one of the numbers") from error

    @classmethod
    def read(cls, kind: str, content: bytes) -> StoredNumbers:
        """Return bytes as elements of the type ``kind``. An incomplete element at the end is dropped."""
        return cls(kind, memoryview(content), 0, len(content) // width_of(kind))

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self._count * width_of(self.kind)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._count)
            if step != 1:
                raise ValueError("a slice of elements must have step 1")
            return StoredNumbers(self.kind, self._content, self._start + start * width_of(self.kind), max(stop - start, 0))
        if not -self._count <= index < self._count:
            raise IndexError(f"there is no element {index}: there are {self._count} elements")
        form, width = _FORMATS.get(self.kind), width_of(self.kind)
        if form is None:
            return self[index : index + 1 or None].tolist()[0]
        return unpacked(struct.Struct(f"<{form}"), self._content, self._start + index % self._count * width)[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoredNumbers) and self.kind == other.kind and self.tobytes() == other.tobytes()

    def __hash__(self) -> int:
        return hash((self.kind, self.tobytes()))

    def __repr__(self) -> str:
        return f"<{self._count} elements of {self.kind}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = np.frombuffer(self._stored(), self.kind, self._count)
        return array if dtype is None and not copy else array.astype(array.dtype if dtype is None else dtype)

    def any(self) -> bool:
        """Return whether any element is not 0."""
        return self.fact(lambda values: bool(np.asarray(values).any()) if len(values) > _MANY else any(values.tolist()))

    def tolist(self) -> list[Any]:
        """Return the elements as Python numbers. Raise LimitError if there are too many."""
        _spend_for_list(len(self))
        form = _FORMATS.get(self.kind)
        if form is None:
            elements: list[Any] = np.asarray(self).tolist()
            return elements
        return list(struct.unpack(f"<{self._count}{form}", self._stored()))

    def tobytes(self) -> bytes:
        """Return the elements as bytes."""
        stored = self._stored()
        return stored if isinstance(stored, bytes) else stored.tobytes()

    def _stored(self) -> bytes | memoryview:
        if self._count > _FEW:
            spend_steps(self.nbytes // _BYTES_IN_A_STEP, _READING)
        return part_of(self._content, self._start, self._start + self.nbytes)


def _spend_for_list(count: int) -> None:
    bounded(count, "elements of a constant")
    if count > _FEW:
        spend_steps(count // _LISTED_IN_A_STEP, _READING)


def fact_of(values: FlatNumbers, find: Callable[[FlatNumbers], T]) -> T:
    """Return ``find(values)``. For stored numbers, it is found once."""
    return values.fact(find) if isinstance(values, StoredNumbers) else find(values)


class RepeatedNumber(StoredNumbers):
    """The elements of a tensor in which all elements are equal. The value is stored once."""

    __slots__ = ("number",)

    def __init__(self, kind: str, number: float, count: int) -> None:
        super().__init__(kind, memoryview(struct.pack(f"<{_FORMATS[kind]}", number)), 0, count)
        self.number = number

    @property
    def form(self) -> tuple[str, bytes, int]:
        """The type, the bytes of one element, and the number of elements. Objects of one form have equal elements."""
        return self.kind, bytes(self._content), len(self)

    def __getitem__(self, index: Any) -> Any:
        places = range(len(self))[index]
        return RepeatedNumber(self.kind, self.number, len(places)) if isinstance(places, range) else self.number

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        number = np.array(self.number, self.kind if dtype is None else dtype)
        array = np.broadcast_to(number, (bounded(len(self), "elements of a constant"),))
        return array.copy() if copy else array

    def any(self) -> bool:
        """Return whether any element is not 0."""
        return bool(len(self) and self.number)

    def tolist(self) -> list[Any]:
        """Return the elements as Python numbers."""
        _spend_for_list(len(self))
        return [self.number] * len(self)

    def tobytes(self) -> bytes:
        """Return the elements as bytes."""
        return bytes(self._content) * bounded(len(self), "elements of a constant")


class FloatNumbers(StoredNumbers):
    """Integers as float32 numbers. They are converted each time that they are read, so they take no memory."""

    __slots__ = ("_source",)

    def __init__(self, source: FlatNumbers) -> None:
        super().__init__("<f4", count=len(source))
        self._source = source

    def __getitem__(self, index: Any) -> Any:
        return FloatNumbers(self._source[index]) if isinstance(index, slice) else float32(self._source[index])

    def _stored(self) -> bytes:
        spend_steps(len(self) // _CONVERTED_IN_A_STEP, _READING)
        return np.asarray(self._source).astype(self.kind).tobytes()


def as_float32(values: FlatNumbers) -> StoredNumbers:
    """Return integers as float32 numbers. Many numbers are converted only when they are read."""
    if isinstance(values, RepeatedNumber):
        return RepeatedNumber("<f4", float32(values.number), len(values))
    return FloatNumbers(values) if len(values) > _MANY else StoredNumbers.of("<f4", map(float, values))


def kind_of(values: Any) -> str:
    """Return numpy's name for the type of the elements."""
    name: str = values.kind if isinstance(values, StoredNumbers) else values.dtype.str.replace("|", "<")
    return name


def read_as(values: FlatNumbers, kind: str) -> StoredNumbers:
    """Return the bytes of ``values`` as elements of the type ``kind``. Raise ValueError if the last element is incomplete."""
    if isinstance(values, StoredNumbers) and values.kind == kind:
        return values
    if values.nbytes % width_of(kind):
        raise ValueError(f"{values.nbytes} bytes are not a whole number of elements of {kind}")
    return StoredNumbers.read(kind, values.tobytes())


def picked(values: FlatNumbers, positions: Iterable[int]) -> StoredNumbers:
    """Return the elements at these positions, bit for bit."""
    kind, places = kind_of(values), list(positions)
    if isinstance(values, RepeatedNumber):
        return RepeatedNumber(kind, values.number, len(places))
    width = width_of(kind)
    if max(len(places), len(values)) > _MANY:
        return StoredNumbers.read(kind, np.asarray(values)[np.array(places, np.int64)].tobytes())
    content = values.tobytes()
    return StoredNumbers.read(kind, b"".join([content[width * place : width * (place + 1)] for place in places]))


def as_list(values: FlatNumbers) -> list[Any]:
    """Return the elements of a constant as Python numbers. Raise LimitError if there are too many in one or in all constants.

    Operands that hold axes, sizes or indices are read with this function, because a file decides how many elements they have,
    and how many nodes read them.
    """
    if len(values) > _FEW:
        spend_steps(bounded(len(values), "elements of a constant") // _ELEMENTS_IN_A_STEP, _READING)
    elements: list[Any] = values.tolist()
    return elements


def distinct(values: FlatNumbers) -> Sequence[Any]:
    """Return the elements as Python numbers. For a ``RepeatedNumber``, return the number once."""
    if isinstance(values, RepeatedNumber):
        return [values.number] if len(values) else []
    numbers: list[Any] = values.tolist()
    return numbers


def bounds(values: FlatNumbers) -> tuple[Any, Any]:
    """Return the smallest and the largest element. Raise ValueError if there are no elements."""
    return fact_of(values, _bounds)


def _bounds(values: FlatNumbers) -> tuple[Any, Any]:
    if len(values) > _MANY and not isinstance(values, RepeatedNumber):
        spend_bytes(values.nbytes, _READING)
        array = np.asarray(values)
        return array.min().item(), array.max().item()
    numbers = distinct(values)
    return min(numbers), max(numbers)


def fulfill(values: FlatNumbers, condition: Callable[[Any], Any]) -> bool:
    """Return whether all elements fulfill a condition, which is called with an array or with a number.

    Ask through ``fact_of``.
    """
    if len(values) > _MANY and not isinstance(values, RepeatedNumber):
        with np.errstate(invalid="ignore"):
            return bool(condition(np.asarray(values)).all())
    return all(map(condition, distinct(values)))


def flat(values: Any) -> FlatNumbers:
    """Return the elements of an array of any shape as a flat sequence in C order."""
    elements: FlatNumbers = values if isinstance(values, StoredNumbers) else values.reshape(-1)
    return elements


def varints(content: Iterable[int]) -> Iterator[int]:
    """Yield the numbers in bytes of variable-length integers, cut to 32 bits."""
    value = shift = 0
    for byte in content:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value & 0xFFFFFFFF
            value = shift = 0
