"""A file inside a bundle, and the limits for decompressing it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, BinaryIO

from ..foundation.limits import how_to_raise, raised
from .bundle_error import BundleError
from .ranged import Content

_GREATEST = 1 << 30
"""Largest number of bytes to decompress from one member, whatever its compressed size is."""
_ALWAYS = 256 << 20
"""Up to this decompressed size, in bytes, the ratio is not checked.

Test models often have equal weights, which compress extremely well.
"""
_RATIO = 100
"""Largest ratio of decompressed size to compressed size. Trained weights seldom compress to less than half their size."""
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Member:
    """A file in a bundle: its name, its first bytes, and its content.

    If the content is not compressed, it is a view of the bundle's bytes.
    """

    name: str
    beginning: Callable[[int], bytes]
    content: Callable[[], Content]


def stored_member(name: str, view: Content) -> Member:
    """Return a member whose content is a view of the bundle's bytes."""
    return Member(name, lambda count: bytes(view[:count]), lambda: view)


def copy_bounded(source: IO[bytes], target: BinaryIO, name: str, compressed: int) -> None:
    """Copy decompressed content to a file. Raises BundleError if the content is too large or cannot be decompressed."""
    import lzma
    import zlib

    copied, most = 0, raised(min(max(_RATIO * compressed, _ALWAYS), _GREATEST))
    try:
        while piece := source.read(_PIECE):
            copied += len(piece)
            if copied > most:
                raise BundleError(
                    f"{name} ({compressed:,} bytes) takes up more than {most >> 20:,} MiB when decompressed: unpack it first"
                    f"{how_to_raise()}"
                )
            target.write(piece)
    except (EOFError, lzma.LZMAError, zlib.error, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise BundleError(f"{name} cannot be decompressed: {error}") from error
