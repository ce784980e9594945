"""Decompress bytes in pieces of limited size.

The file objects of the standard library are not used, because some of them decompress all their input at once, and none of them
counts the streams of a file.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from ..errors import DelegateSimError
from ..foundation.work_budget import spend_steps
from .bundle_error import READING, BundleError
from .ranged import Content

_INPUT = 1 << 14
"""Number of compressed bytes that a decompressor gets at once. It copies the rest of them for each stream."""
_STEPS_FOR_A_STREAM = 20
_MOST_MEMORY = 256 << 20
"""Largest number of bytes that a decompressor may use. The header of a stream can demand 4 GiB."""


class Decompressor(Protocol):
    """A decompressor of one stream, like those of the modules ``bz2`` and ``lzma``."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Return at most ``max_length`` bytes. Keep the rest of the input."""

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether the decompressor has used up its input."""

    @property
    def unused_data(self) -> bytes:
        """The input after the end of the stream."""


class _Inflater:
    def __init__(self, bits: int) -> None:
        self._stream = zlib.decompressobj(bits)
        self.needs_input = True

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        piece = self._stream.decompress(self._stream.unconsumed_tail + data, max_length)
        self.needs_input = len(piece) < max_length and not self._stream.unconsumed_tail
        return piece

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data


@dataclass(frozen=True, slots=True)
class Compression:
    """A compression: its decompressor, and how many times as long as inflating the decompression of repetitive bytes takes.

    ``magic`` is the beginning of each stream if the compressed bytes may be several streams; otherwise, it is empty.
    """

    start: Callable[[], Decompressor]
    price: int
    magic: bytes = b""


DEFLATE = Compression(lambda: _Inflater(-zlib.MAX_WBITS), 1)
BZIP2 = Compression(bz2.BZ2Decompressor, 6)
FILES = (
    Compression(lambda: _Inflater(16 + zlib.MAX_WBITS), 1, b"\x1f\x8b"),
    Compression(bz2.BZ2Decompressor, 6, b"BZh"),
    Compression(lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _MOST_MEMORY), 1, b"\xfd7zXZ\x00"),
)
"""The compressions of whole files: gzip, bzip2 and xz."""


def lzma_of(properties: bytes, size: int | None) -> Compression:
    """Return the compression of an LZMA stream in a zip archive, which has 5 bytes of properties in front.

    ``size`` is the number of decompressed bytes, or None if the stream has an end mark.
    """
    header = properties + (b"\xff" * 8 if size is None else size.to_bytes(8, "little"))

    def start() -> Decompressor:
        decompressor = lzma.LZMADecompressor(lzma.FORMAT_ALONE, _MOST_MEMORY)
        decompressor.decompress(header, 0)
        return decompressor

    return Compression(start, 1)


def decompressed(content: Content, compression: Compression, name: str, most: int) -> Iterator[bytes]:
    """Yield the decompressed bytes in pieces of at most ``most`` bytes.

    Raises BundleError if the content is damaged, and LimitError if it has too many streams. Bytes after the last stream are
    ignored, as gzip, bzip2 and xz do.
    """
    stream: Decompressor | None = None
    data, is_first = b"", True
    with _decompressing(name):
        for position in range(0, len(content), _INPUT):
            data += bytes(content[position : position + _INPUT])
            while data or (stream is not None and not stream.needs_input):
                if stream is None:
                    if not is_first:
                        data = data.lstrip(b"\0")
                        if not compression.magic or not data.startswith(compression.magic[: len(data)]):
                            return
                        if len(data) < len(compression.magic):
                            break
                    spend_steps(_STEPS_FOR_A_STREAM, READING)
                    stream, is_first = compression.start(), False
                piece = stream.decompress(data, most)
                data = b""
                if piece:
                    yield piece
                if stream.eof:
                    data, stream = stream.unused_data, None
        if stream is not None or is_first:
            raise EOFError("the compressed bytes end too early")


@contextmanager
def _decompressing(name: str) -> Iterator[None]:
    """Raise the errors of all decompressors as BundleError. Each module has its own errors, and not all are documented."""
    try:
        yield
    except (BundleError, DelegateSimError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise BundleError(f"{name} cannot be decompressed: {error}") from error
