"""Find the models in a bundle by their first bytes, and read them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ..errors import LimitError
from ..foundation.limits import how_to_raise, raised
from ..foundation.work_budget import spend_steps, work_budget
from .address import join_address, split_address
from .archives import read_tar, read_zip, unpacked_file
from .bundle_error import READING, BundleError
from .formats import COMPRESSED_TAR, LITERTLM, MODEL, SEARCHED_SUFFIXES, TAR, ZIP, format_of
from .litertlm import read_litertlm
from .member import Member, UnpackedBytes, check_name
from .ranged import Content, RangedView, local_content, pieces
from .stores import RemoteFile, is_url

_DEEPEST = 4
"""The largest number of bundles that may be nested in each other."""
_MOST_MODELS = 10_000
_MOST_UNPACKED = 1 << 30
"""The largest total size, in bytes, of the bundles nested in one file."""
_STEPS_FOR_A_BUNDLE = 200
_STEPS_FOR_A_MEMBER = 10
_BYTES_IN_A_STEP = 100

_READERS: dict[str, Callable[[Content], Sequence[Member]]] = {ZIP: read_zip, TAR: read_tar, LITERTLM: read_litertlm}


def models_in(path: str) -> list[str]:
    """Return the addresses of the models in a bundle and in its nested bundles, in file order.

    A damaged member counts as a model if its name has the suffix of a model or bundle, so that reading it reports the damage.
    Raises BundleError if the bundle is invalid or exceeds a limit, or OSError if the file cannot be read.
    """
    with _limited():
        opened = _opened_file(path) if is_url(path) else _opened(path, _stamp(path), ())
        return list(_addresses(opened, (path,)))


def member_content(path: str) -> Content | None:
    """Return the bytes of the model at an address, or None if the path is not an address.

    Uncompressed content is not copied. Content in a remote store is fetched later. Raises BundleError if the bundle is
    invalid or exceeds a limit, or OSError if the file cannot be read.
    """
    file, *names = split_address(path)
    if not names:
        return None
    with _limited():
        return _content_at(file, names)


@contextmanager
def _limited() -> Iterator[None]:
    """Count the work of reading a bundle. Raise LimitError as BundleError, because the caller adds the name of the file."""
    try:
        with work_budget():
            yield
    except LimitError as error:
        raise BundleError(error.reason) from error


def _content_at(file: str, names: Sequence[str]) -> Content:
    stamp = _stamp(file)
    above: tuple[str, ...] = ()
    while True:
        opened = _opened(file, stamp, above)
        # Try the longest name first, since the name of a member may contain the separator.
        longest = next((end for end in range(len(names), 0, -1) if join_address(*names[:end]) in opened.by_name), None)
        if longest is None:
            raise BundleError(f"holds no {names[0]}")
        name = join_address(*names[:longest])
        names = names[longest:]
        if not names:
            return opened.by_name[name].content(opened.unpacking())
        above = (*above, name)
        if len(above) >= raised(_DEEPEST):
            raise _too_deep()


def _too_deep() -> BundleError:
    return BundleError(f"holds bundles that are nested more than {raised(_DEEPEST)} deep: unpack it first{how_to_raise()}")


def _addresses(opened: _Opened, above: tuple[str, ...]) -> Iterator[str]:
    waiting: list[tuple[tuple[str, ...], _Opened, Iterator[Member]]] = [(above, opened, iter(opened.members))]
    models = nested_bytes = 0
    unpacking = opened.unpacking()
    while waiting:
        names, opened, members = waiting[-1]
        member = next(members, None)
        if member is None:
            waiting.pop()
            continue
        spend_steps(_STEPS_FOR_A_MEMBER, READING)
        kind = _kind(member)
        if kind is None:
            continue
        check_name(member.name)
        first = opened.by_name[member.name]
        if first is not member:
            _refuse_difference(first, member, unpacking)
        elif kind == MODEL:
            models += 1
            if models > raised(_MOST_MODELS):
                raise BundleError(f"holds more than {raised(_MOST_MODELS):,} models: unpack it first{how_to_raise()}")
            address = join_address(*names, member.name)
            spend_steps(len(address) // _BYTES_IN_A_STEP, READING)
            yield address
        elif len(waiting) >= raised(_DEEPEST):
            raise _too_deep()
        else:
            content = member.content(unpacking)
            nested_bytes += len(content)
            if nested_bytes > raised(_MOST_UNPACKED):
                most = raised(_MOST_UNPACKED) >> 20
                raise BundleError(f"holds nested bundles of more than {most:,} MiB in total: unpack it first{how_to_raise()}")
            nested = _Opened(content, member.name, unpacking)
            waiting.append(((*names, member.name), nested, iter(nested.members)))


def _kind(member: Member) -> str | None:
    try:
        return format_of(member.beginning(512), member.name)
    except BundleError:  # a damaged member
        return MODEL if member.name.lower().endswith(SEARCHED_SUFFIXES) else None


def _refuse_difference(first: Member, member: Member, unpacking: UnpackedBytes) -> None:
    """Raise BundleError if two members have the same name and different contents. Only the first one can be opened."""
    contents = [one.content(unpacking) for one in (first, member)]
    is_same = len(contents[0]) == len(contents[1]) and all(
        piece == other for piece, other in zip(*map(pieces, contents), strict=True)
    )
    if not is_same:
        raise BundleError(f"holds different files with the name {member.name}: unpack it first")


class _Opened:
    def __init__(self, content: Content, name: str, unpacking: UnpackedBytes) -> None:
        spend_steps(_STEPS_FOR_A_BUNDLE, READING)
        if format_of(bytes(content[:512]), name) == COMPRESSED_TAR:
            members: Sequence[Member] | None = read_tar(unpacked_file(content, unpacking))
        else:
            members = _inside(content, name)
        self.is_bundle = members is not None
        self.members = members or ()
        self.by_name: dict[str, Member] = {}
        for member in self.members:
            self.by_name.setdefault(member.name, member)
        self._file_size, self._unpacked = unpacking.file_size, unpacking.unpacked

    def unpacking(self) -> UnpackedBytes:
        return UnpackedBytes(self._file_size, self._unpacked)


def _opened_file(path: str) -> _Opened:
    content = _file_content(path)
    opened = _Opened(content, path, UnpackedBytes(len(content)))
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
    if not above:
        return _opened_file(path)
    *outer, name = above
    parent = _opened(path, stamp, tuple(outer))
    unpacking = parent.unpacking()
    return _Opened(parent.by_name[name].content(unpacking), name, unpacking)


def _stamp(path: str) -> tuple[int, ...]:
    if is_url(path):
        return (RemoteFile(path).size or 0,)
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _inside(content: Content, name: str) -> Sequence[Member] | None:
    kind = format_of(bytes(content[:512]), name)
    return None if kind in (None, MODEL) else _READERS[str(kind)](content)
