"""A file inside a bundle, and the limits for decompressing it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from ..foundation.limits import how_to_raise, raised
from ..foundation.work_budget import spend_bytes
from .bundle_error import READING, BundleError
from .decompression import Compression, decompressed
from .ranged import Content

_LONGEST_NAME = 4096
"""The largest number of characters in the name of a model or nested bundle."""
_GREATEST = 1 << 30
"""Largest number of bytes to decompress from one file, whatever the size of the file is."""
_ALWAYS = 256 << 20
"""Up to this decompressed size, in bytes, the ratio is not checked.

Test models often have equal weights, which compress extremely well.
"""
_RATIO = 50
"""Largest ratio of decompressed bytes to bytes of the file. Trained weights seldom compress to less than half their size."""
_PIECE = 1 << 20
"""Largest number of decompressed bytes that are counted at once."""
_ORDINARY_RATIO = 4
"""Up to this ratio, decompression is not counted as work, because its time is proportional to the size of the file."""


class UnpackedBytes:
    """The count of the bytes that are decompressed from one file, in all levels of nested bundles.

    ``file_size`` is the size of the file in bytes. ``unpacked`` is the number of bytes that are already decompressed.
    """

    def __init__(self, file_size: int, unpacked: int = 0) -> None:
        self.file_size = file_size
        self.unpacked = unpacked

    def add(self, count: int, price: int, name: str, compressed: int) -> None:
        """Count bytes of a member before they are kept. Raises BundleError or LimitError if there are too many.

        Decompressing costs ``price`` times as much as with the fastest compression. The message names the member and its
        compressed size.
        """
        self.unpacked += count
        most = raised(min(max(_RATIO * self.file_size, _ALWAYS), _GREATEST))
        if self.unpacked > most:
            raise BundleError(
                f"{name} ({compressed:,} bytes) takes up more than {most >> 20:,} MiB when decompressed: unpack it first"
                f"{how_to_raise()}"
            )
        extraordinary = min(count, self.unpacked - _ORDINARY_RATIO * self.file_size)
        if extraordinary > 0:
            spend_bytes(extraordinary * price, READING)


@dataclass(frozen=True, slots=True)
class Member:
    """A file in a bundle: its name, its first bytes, and its content.

    If the content is not compressed, it is a view of the bundle's bytes. Otherwise, ``UnpackedBytes`` counts its bytes. Both
    functions raise BundleError if the member is damaged.
    """

    name: str
    beginning: Callable[[int], bytes]
    content: Callable[[UnpackedBytes], Content]


def stored_member(name: str, view: Content) -> Member:
    """Return a member whose content is a view of the bundle's bytes."""
    return Member(name, lambda count: bytes(view[:count]), lambda unpacking: view)


def copy_bounded(content: Content, compression: Compression, target: BinaryIO, name: str, unpacking: UnpackedBytes) -> int:
    """Decompress content into a file, and return the CRC-32 of the decompressed bytes.

    Raises BundleError if the content is damaged or there are too many bytes, and LimitError if they take too much work.
    """
    checksum = 0
    for piece in decompressed(content, compression, name, _PIECE):
        unpacking.add(len(piece), compression.price, name, len(content))
        checksum = zlib.crc32(piece, checksum)
        target.write(piece)
    return checksum


def check_name(name: str) -> None:
    """Raise BundleError if the name of a file in a bundle is too long."""
    if len(name) > raised(_LONGEST_NAME):
        raise BundleError(f"holds a name of more than {raised(_LONGEST_NAME):,} characters{how_to_raise()}")
