"""One file inside another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, BinaryIO

from ..foundation.limits import how_to_raise, raised
from .bundle_error import BundleError
from .ranged import Content

_GREATEST = 1 << 30
"""Bytes that may come out of compressed content, whatever it claims."""
_ALWAYS = 256 << 20
"""Bytes that may come out of the smallest content: weights that are all alike, as in models made for tests, shrink to nothing."""
_RATIO = 100
"""Number of times larger content may become: trained weights seldom shrink to a half."""
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Member:
    """A file in a bundle: its name there, how it begins, and all of it (a view where it is stored as it is)."""

    name: str
    beginning: Callable[[int], bytes]
    content: Callable[[], Content]


def copy_bounded(source: IO[bytes], target: BinaryIO, name: str, compressed: int) -> None:
    """Copy what comes out of so many bytes of compressed content; raises BundleError if that is too much or cannot be done."""
    import lzma
    import zlib

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
