"""The bytes of a file that is read in parts.

Remote files are read in parts. Local files are in memory or mapped, or read in parts if they are large and cannot be mapped.
"""

from __future__ import annotations

import errno
import io
import os
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Protocol, cast

from ..errors import ModelError
from ..foundation import files
from ..foundation.files import file_content, naming_file, open_input
from .bundle_error import BundleError

_MOST_CACHED = 8 << 20
"""Largest number of bytes in the cache of a file."""
_LONGEST_RUN = 1 << 22
"""Largest number of bytes of adjacent parts that are read together."""
_PIECE = 1 << 20
"""Number of bytes that are read at once. A part of this size or more is read without the cache."""


class RangedFile(Protocol):
    """A file that can be read in parts."""

    block: int
    """The size in bytes of the blocks in which the file is read."""
    is_local: bool

    @property
    def size(self) -> int | None:
        """The size in bytes, or None if it is unknown."""

    def parts(self, ranges: Iterable[tuple[int, int]]) -> Sequence[bytes]:
        """Read parts of the file, given as (start, end). Raises BundleError or ModelError."""


class RangedView:
    """A range of a file's bytes.

    A slice of a view is a view. ``bytes(view)`` fetches the bytes in blocks. All views of a file share a cache of the last
    used blocks.
    """

    def __init__(self, file: RangedFile, start: int, end: int, blocks: dict[int, bytes] | None = None) -> None:
        self._file, self._start, self._end = file, start, max(start, end)
        self._blocks: dict[int, bytes] = {} if blocks is None else blocks

    @property
    def is_local(self) -> bool:
        """Whether the file is on this computer. If so, the whole file can be read quickly."""
        return self._file.is_local

    @property
    def size(self) -> int:
        """The number of bytes in the view."""
        return self._end - self._start

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> RangedView:
        start, end, _ = part.indices(self.size)
        return RangedView(self._file, self._start + start, self._start + end, self._blocks)

    def __bytes__(self) -> bytes:
        if self.size >= _PIECE:  # would drive everything else out of the cache
            return self._read([(self._start, self._end)])[0]
        return self.read_each([(0, self.size)])[0]

    def read_each(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return small parts of the view, given as (start, end). Raises BundleError.

        All missing blocks are fetched together.
        """
        block = self._file.block
        places = [(self._start + start, self._start + end) for start, end in spans]
        numbers = {number for start, end in places for number in _blocks(start, end, block)}
        held = {number: self._blocks[number] for number in numbers if number in self._blocks}
        missing = sorted(numbers - held.keys())
        greatest = self._file.size or 0
        ranges = [(number * block, min((number + 1) * block, greatest)) for number in missing]
        held.update(zip(missing, self._read(ranges), strict=True))
        most = _MOST_CACHED // block
        self._blocks.update((number, held[number]) for number in missing[-most:])
        while len(self._blocks) > most:
            del self._blocks[next(iter(self._blocks))]
        return [_joined(held, start, end, block) for start, end in places]

    def parts(self, ranges: Iterable[tuple[int, int]]) -> Sequence[bytes]:
        """Fetch parts of the view, given as (start, end). Raises BundleError."""
        return self._read([(self._start + start, self._start + end) for start, end in ranges])

    def whole(self) -> bytes:
        """Fetch the whole view. Raises BundleError."""
        return bytes(self)

    def _read(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        if not ranges:
            return []
        parts = []
        for (start, end), part in zip(ranges, self._file.parts(ranges), strict=True):
            if len(part) != end - start:
                raise BundleError("is a bundle in a store that cannot read parts of files: download it first")
            parts.append(part)
        return parts


def _joined(blocks: Mapping[int, bytes], start: int, end: int, block: int) -> bytes:
    first, at = divmod(start, block)
    if at + end - start <= block:
        return blocks[first][at : at + end - start] if end > start else b""
    return b"".join([blocks[number] for number in _blocks(start, end, block)])[at : at + end - start]


def _blocks(start: int, end: int, block: int) -> range:
    return range(start // block, -(-end // block))  # bounded: the size of the file


Content = memoryview | RangedView
"""The bytes of a file, in memory, in a remote store or in a large local file."""


def part_of(content: Content, start: int, end: int) -> bytes | memoryview:
    """Return a part of the content. Bytes in memory are not copied. All other bytes are read, which may raise BundleError."""
    part = content[start:end]
    return part if isinstance(part, memoryview) else bytes(part)


def pieces(content: Content) -> Iterator[bytes | memoryview]:
    """Yield the content in pieces. For bytes that are not in memory, only one piece is in memory at once. Raises BundleError."""
    for start in range(0, len(content), _PIECE):
        yield part_of(content, start, start + _PIECE)


def unpacked(form: struct.Struct, content: Content, position: int) -> tuple[Any, ...]:
    """Unpack numbers at a position. Raises struct.error if the position is outside the content."""
    return form.unpack(part_of(content, position, position + form.size)) if position >= 0 else form.unpack(b"")


class ContentFile(io.RawIOBase):
    """A file object over bytes. Bytes in memory are not copied. Remote bytes are fetched when the file object is read."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._at = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position. Raises OSError if the position is negative, as a file does."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._content)}[whence]
        if start + offset < 0:
            raise OSError(errno.EINVAL, "negative position")
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Read bytes into the buffer until it is full or no more bytes are left. Return the number of bytes."""
        piece = self._content[self._at : self._at + len(buffer)]
        buffer[: len(piece)] = bytes(piece)
        self._at += len(piece)
        return len(piece)


def opened(content: Content) -> BinaryIO:
    """Return a buffered file object over bytes."""
    return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, ContentFile(content))))


class LocalFile:
    """A large local file that is read in parts. The file is opened again for each read."""

    block = 1 << 12
    is_local = True

    def __init__(self, path: str, size: int) -> None:
        self._path = path
        self.size = size

    def parts(self, ranges: Iterable[tuple[int, int]]) -> Sequence[bytes]:
        """Read parts of the file, given as (start, end) in ascending order. Raises ModelError.

        Adjacent parts are read together.
        """
        contents: list[bytes] = []
        with naming_file(self._path, ModelError), open_input(self._path) as file:
            for run in _joined_runs(ranges):
                file.seek(run[0][0])
                content = file.read(run[-1][1] - run[0][0])
                if len(content) < run[-1][1] - run[0][0]:
                    raise OSError("became shorter while it was read")
                contents += [content[start - run[0][0] : end - run[0][0]] for start, end in run]
        return contents


def local_content(path: str) -> Content:
    """Return the bytes of a file. A large file is mapped into memory. Raises OSError on failure.

    If a large file cannot be mapped, it is read in parts.
    """
    with open_input(path) as file:
        size = os.fstat(file.fileno()).st_size
        if files.CAN_MAP or size <= files.LARGEST_IN_MEMORY:
            return file_content(file)
    return RangedView(LocalFile(path, size), 0, size)


def _joined_runs(ranges: Iterable[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    runs: list[list[tuple[int, int]]] = []
    for start, end in ranges:
        if runs and runs[-1][-1][1] == start and end - runs[-1][0][0] <= _LONGEST_RUN:
            runs[-1].append((start, end))
        else:
            runs.append([(start, end)])
    return runs
