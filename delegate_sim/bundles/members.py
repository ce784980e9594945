"""Find the models in a bundle by their first bytes, and read them."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence

from ..foundation.files import file_content
from ..foundation.limits import how_to_raise, raised
from .address import join_address, split_address
from .archives import opened_tar_stream, read_tar, read_zip
from .bundle_error import BundleError
from .formats import COMPRESSED_TAR, LITERTLM, MODEL, TAR, ZIP, format_of
from .litertlm import read_litertlm
from .local_files import local_content
from .member import Member, copy_bounded
from .ranged import Content, RangedView
from .stores import RemoteFile, is_url

_DEEPEST = 4
"""The largest number of bundles that may be nested in each other."""
_MOST_MODELS = 10_000
_MOST_UNPACKED = 1 << 30
"""The largest total size, in bytes, of the bundles nested in one file."""

_READERS: dict[str, Callable[[Content], Sequence[Member]]] = {ZIP: read_zip, TAR: read_tar, LITERTLM: read_litertlm}


def models_in(path: str) -> list[str]:
    """Return the addresses of the models in a bundle and in its nested bundles, in file order.

    Raises BundleError if the bundle is invalid, or OSError if the file cannot be read.
    """
    return list(_addresses(_opened_file(path), (path,)))


def member_content(path: str) -> Content | None:
    """Return the bytes of the model at an address, or None if the path is not an address.

    Uncompressed content is not copied. Content in a remote store is fetched later. Raises BundleError if the bundle is
    invalid, or OSError if the file cannot be read.
    """
    file, *names = split_address(path)
    if not names:
        return None
    stamp = _stamp(file)
    above: tuple[str, ...] = ()
    while True:
        members = _opened(file, stamp, above).by_name
        # Try the longest name first, since the name of a member may contain the separator.
        longest = next((end for end in range(len(names), 0, -1) if join_address(*names[:end]) in members), None)
        if longest is None:
            raise BundleError(f"holds no {names[0]}")
        name = join_address(*names[:longest])
        names = names[longest:]
        if not names:
            return members[name].content()
        above = (*above, name)
        if len(above) >= raised(_DEEPEST):
            raise BundleError(f"holds bundles that are nested more than {raised(_DEEPEST)} deep: unpack it first{how_to_raise()}")


def _addresses(opened: _Opened, above: tuple[str, ...]) -> Iterator[str]:
    waiting: list[tuple[tuple[str, ...], Iterator[Member]]] = [(above, iter(opened.by_name.values()))]
    models = unpacked = 0
    while waiting:
        names, members = waiting[-1]
        member = next(members, None)
        if member is None:
            waiting.pop()
            continue
        kind = format_of(member.beginning(512), member.name)
        if kind == MODEL:
            models += 1
            if models > raised(_MOST_MODELS):
                raise BundleError(f"holds more than {raised(_MOST_MODELS):,} models: unpack it first{how_to_raise()}")
            yield join_address(*names, member.name)
        elif kind is not None and len(waiting) < raised(_DEEPEST):
            content = member.content()
            unpacked += len(content)
            if unpacked > raised(_MOST_UNPACKED):
                most = raised(_MOST_UNPACKED) >> 20
                raise BundleError(f"holds nested bundles of more than {most:,} MiB in total: unpack it first{how_to_raise()}")
            waiting.append(((*names, member.name), iter(_Opened(content, member.name).by_name.values())))


class _Opened:
    """The members of a bundle by name. If several members have the same name, only the first one can be opened."""

    def __init__(self, content: Content, name: str) -> None:
        members = _inside(content, name)
        self.is_bundle = members is not None
        self.by_name: dict[str, Member] = {}
        for member in members or ():
            self.by_name.setdefault(member.name, member)


def _opened_file(path: str) -> _Opened:
    opened = _Opened(_file_content(path), path)
    if not opened.is_bundle:
        raise BundleError("is neither an archive nor a bundle")
    return opened


def _file_content(path: str) -> Content:
    if is_url(path):
        remote = RemoteFile(path)
        if remote.size is None:
            raise BundleError("is in a store that does not report sizes of files: download the file first")
        return RangedView(remote, 0, remote.size)
    return local_content(path)


@functools.lru_cache(maxsize=_DEEPEST)
def _opened(path: str, stamp: tuple[int, ...], above: tuple[str, ...]) -> _Opened:
    """Open a bundle. The last few bundles are cached, because callers usually read all models of a bundle one after another."""
    if not above:
        return _opened_file(path)
    *outer, name = above
    return _Opened(_opened(path, stamp, tuple(outer)).by_name[name].content(), name)


def _stamp(path: str) -> tuple[int, ...]:
    if is_url(path):
        return (RemoteFile(path).size or 0,)
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _inside(content: Content, name: str) -> Sequence[Member] | None:
    """Return the members of a bundle, or None if the content is not a bundle."""
    kind = format_of(bytes(content[:512]), name)
    if kind == COMPRESSED_TAR:
        with tempfile.TemporaryFile() as file:
            copy_bounded(opened_tar_stream(content), file, "the archive", len(content))
            file.seek(0)
            content = file_content(file)
        kind = TAR
    return None if kind in (None, MODEL) else _READERS[str(kind)](content)
