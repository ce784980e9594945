"""One file inside another."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import IO, BinaryIO, NamedTuple, cast

from ..limits import how_to_raise, raised

_GREATEST = 1 << 30
"""Bytes that may come out of compressed content, whatever it claims."""
_ALWAYS = 256 << 20
"""Bytes that may come out of the smallest content: weights that are all alike, as in models made for tests, shrink to nothing."""
_RATIO = 100
"""How many times larger content may become: trained weights seldom shrink to a half."""
_PIECE = 1 << 20


class BundleError(Exception):
    """What is wrong with a bundle, worded to follow its name."""


class Member(NamedTuple):
    """A file in a bundle: its name there, how it begins, and all of it (a view where it is stored as it is)."""

    name: str
    beginning: Callable[[int], bytes]
    content: Callable[[], memoryview]


class ViewFile(io.RawIOBase):
    """A file over bytes in memory, which are not copied as a whole."""

    def __init__(self, content: memoryview) -> None:
        self._content = content
        self._at = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position; one before the beginning raises ValueError."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._content)}[whence]
        if start + offset < 0:
            raise ValueError("negative position")
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Read as much as fits."""
        piece = self._content[self._at : self._at + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


def view_file(content: memoryview) -> BinaryIO:
    """Return a buffered file over bytes in memory."""
    return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, ViewFile(content))))


def opened_tar_stream(content: memoryview) -> IO[bytes]:
    """Return what comes out of a compressed archive."""
    import bz2
    import gzip
    import lzma

    file = view_file(content)
    beginning = bytes(content[:3])
    if beginning[:2] == b"\x1f\x8b":
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    return bz2.BZ2File(file) if beginning == b"BZh" else lzma.LZMAFile(file)


def copy_bounded(source: IO[bytes], target: BinaryIO, name: str, compressed: int) -> None:
    """Copy what comes out of so many bytes of compressed content; raises BundleError if that is too much or cannot be done."""
    import lzma

    copied, most = 0, raised(min(max(_RATIO * compressed, _ALWAYS), _GREATEST))
    try:
        while piece := source.read(_PIECE):
            copied += len(piece)
            if copied > most:
                raise BundleError(
                    f"{name} takes more than {most >> 20:,} MiB when decompressed, from {compressed:,} bytes: unpack it first"
                    f"{how_to_raise()}"
                )
            target.write(piece)
    except (EOFError, lzma.LZMAError, zlib.error, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise BundleError(f"{name} cannot be decompressed: {error}") from error
