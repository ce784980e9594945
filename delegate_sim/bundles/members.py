"""The models in a bundle, found by what they begin with, and their bytes."""

from __future__ import annotations

import functools
import mmap
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

from ..files import open_input
from .address import join_address, split_address
from .archives import read_tar, read_zip
from .formats import COMPRESSED_TAR, LITERTLM, MODEL, TAR, ZIP, format_of
from .litertlm import read_litertlm
from .member import BundleError, Member, copy_bounded, opened_tar_stream

_DEEPEST = 4
"""How many bundles may lie in each other."""

_READERS: dict[str, Callable[[memoryview], Sequence[Member]]] = {ZIP: read_zip, TAR: read_tar, LITERTLM: read_litertlm}


def models_in(path: str) -> list[str]:
    """Return the addresses of the models in a bundle and in the bundles inside it, in the order of the file.

    Raises BundleError with what is wrong, and OSError.
    """
    return list(_addresses(_Opened(path), (path,)))


def member_content(path: str) -> memoryview | None:
    """Return the bytes of the model at an address, None if the path is not an address.

    Nothing is copied of what is stored as it is. Raises BundleError with what is wrong, and OSError.
    """
    file, *names = split_address(path)
    if not names:
        return None
    members = _opened(file, _stamp(file)).members
    content = None
    for depth, name in enumerate(names):
        found = next((member for member in members if member.name == name), None)
        if found is None:
            raise BundleError(f"holds no {name}")
        content = found.content()
        if depth + 1 < len(names):
            members = _inside(content, name) or ()
    return content


def _addresses(opened: _Opened, above: tuple[str, ...]) -> Iterator[str]:
    waiting: list[tuple[tuple[str, ...], Iterator[Member]]] = [(above, iter(opened.members))]
    while waiting:
        names, members = waiting[-1]
        member = next(members, None)
        if member is None:
            waiting.pop()
            continue
        kind = format_of(member.beginning(512), member.name)
        if kind == MODEL:
            yield join_address(*names, member.name)
        elif kind is not None and len(waiting) < _DEEPEST:
            waiting.append(((*names, member.name), iter(_inside(member.content(), member.name) or ())))


class _Opened:
    """A file mapped into memory, and its members."""

    def __init__(self, path: str) -> None:
        with open_input(path) as file:
            content = _mapped(file)
        members = _inside(content, path)
        if members is None:
            raise BundleError("is neither an archive nor a bundle")
        self.members = members


@functools.lru_cache(maxsize=1)
def _opened(path: str, stamp: tuple[int, ...]) -> _Opened:
    """Return an opened bundle; the last one is kept, since its models are usually asked for one after another."""
    del stamp
    return _Opened(path)


def _stamp(path: str) -> tuple[int, ...]:
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _inside(content: memoryview, name: str) -> Sequence[Member] | None:
    """Return the members of a bundle, None if it is none."""
    kind = format_of(bytes(content[:512]), name)
    if kind == COMPRESSED_TAR:
        with tempfile.TemporaryFile() as file:
            copy_bounded(opened_tar_stream(content), file, "the archive")
            content = _mapped(file)
        kind = TAR
    return None if kind in (None, MODEL) else _READERS[str(kind)](content)


def _mapped(file: BinaryIO) -> memoryview:
    file.flush()
    if os.fstat(file.fileno()).st_size == 0:
        return memoryview(b"")
    return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
