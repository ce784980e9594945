"""The bytes of a remote file, fetched on demand."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import BinaryIO, cast

from .bundle_error import BundleError
from .stores import RemoteFile

_BLOCK = 1 << 16
_MOST_BLOCKS = 128


class RangedView:
    """A range of a remote file's bytes.

    A slice of a view is a view. ``bytes(view)`` fetches the bytes, in blocks. All views of a file share a cache of the last used
    blocks.
    """

    def __init__(self, file: RemoteFile, start: int, end: int, blocks: dict[int, bytes] | None = None) -> None:
        self._file, self._start, self._end = file, start, max(start, end)
        self._blocks: dict[int, bytes] = {} if blocks is None else blocks

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
        if not self.size:
            return b""
        first, last = self._start // _BLOCK, -(-self._end // _BLOCK)
        numbers = range(first, last)  # bounded: at most the blocks of the view
        cached = {number: self._blocks[number] for number in numbers if number in self._blocks}
        missing = [number for number in numbers if number not in cached]
        greatest = self._file.size or 0
        ranges = [(number * _BLOCK, min((number + 1) * _BLOCK, greatest)) for number in missing]
        cached.update(zip(missing, self._read(ranges), strict=True))
        self._blocks.update((number, cached[number]) for number in missing[-_MOST_BLOCKS:])
        while len(self._blocks) > _MOST_BLOCKS:
            del self._blocks[next(iter(self._blocks))]
        content = b"".join([cached[number] for number in numbers])
        return content[self._start - first * _BLOCK : self._end - first * _BLOCK]

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


Content = memoryview | RangedView
"""The bytes of a file, in memory or in a remote store."""


class ContentFile(io.RawIOBase):
    """A file object over bytes. Bytes in memory are not copied. Remote bytes are fetched when they are read."""

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
        """Move to a position. Raises ValueError if the position is negative."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._content)}[whence]
        if start + offset < 0:
            raise ValueError("negative position")
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Read bytes into the buffer until it is full or no bytes are left, and return the number of bytes."""
        piece = self._content[self._at : self._at + len(buffer)]
        buffer[: len(piece)] = bytes(piece)
        self._at += len(piece)
        return len(piece)


def opened(content: Content) -> BinaryIO:
    """Return a buffered file object over bytes."""
    return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, ContentFile(content))))
