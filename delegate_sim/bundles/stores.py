"""Models in remote stores, given by URL and read through fsspec."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..foundation.limits import how_to_raise, raised
from ..foundation.printable import install_command
from ..foundation.work_budget import spend_bytes
from .bundle_error import BundleError
from .formats import SEARCHED_SUFFIXES

_MOST_WHOLE = 1 << 28
"""Largest number of bytes that are read from a store that does not report sizes."""
_MOST_SIZE = 1 << 38
"""Largest size in bytes of a file in a store."""


def is_url(path: str) -> bool:
    """Return whether a path is a URL, such as ``s3://``, ``gs://``, ``hf://``, ``https://`` or ``memory://``."""
    return "://" in path and re.match(r"[a-z][a-z0-9+.-]+://", path) is not None


def is_pattern(path: str) -> bool:
    """Return whether a path or URL has a wildcard: ``*``, ``?``, ``[...]``, or ``**`` for any number of folders."""
    return any(letter in path for letter in "*?[")


def models_at(url: str) -> list[str]:
    """Return the URLs of the models and bundles in a remote folder, or of those that match a pattern.

    Any other URL is returned unchanged. Raises BundleError if the store reports an error.
    """
    if url.lower().endswith(SEARCHED_SUFFIXES) and not is_pattern(url):
        return [url]
    store, path = _store(url)
    with _reported():
        if is_pattern(url):
            paths = store.glob(path)
        elif not store.isdir(path):
            return [url]
        else:
            paths = store.find(path)
    return [store.unstrip_protocol(name) for name in sorted(paths) if name.lower().endswith(SEARCHED_SUFFIXES)]


class RemoteFile:
    """A file in a remote store that can be read in parts."""

    block = 1 << 16
    is_local = False

    def __init__(self, url: str) -> None:
        self._store, self._path = _store(url)
        with _reported():
            details = self._store.info(self._path)
        if details.get("type") == "directory":
            raise BundleError("is a folder, not a model")
        size = details.get("size")
        self.size: int | None = None if size is None else int(size)
        if self.size is not None and not 0 <= self.size <= raised(_MOST_SIZE):
            raise BundleError(f"has {self.size:,} bytes, more than the limit of {raised(_MOST_SIZE):,} bytes{how_to_raise()}")
        """The size in bytes, or None if the store does not report the size."""

    def parts(self, ranges: Iterable[tuple[int, int]]) -> Sequence[bytes]:
        """Fetch parts of the file, given as (start, end). Raises BundleError.

        If a store has no range requests, a part may have more bytes than requested. Raises LimitError if the parts of all files
        have too many bytes.
        """
        spans = list(ranges)
        spend_bytes(sum([end - start for start, end in spans]), "reading a file in a store")
        with _reported():
            parts: list[Any] = self._store.cat_ranges(
                [self._path] * len(spans), [start for start, _ in spans], [end for _, end in spans], on_error="raise"
            )
        return parts

    def whole(self) -> bytes:
        """Fetch the whole file. Raises BundleError, also if the store does not report the size, and the file is too large."""
        most = raised(_MOST_WHOLE) if self.size is None else self.size
        # The client for HTTP has a limit of its own, and a server that does not report sizes may not return parts.
        limit = {"start": 0, "end": most + 1} if self.size is None and "http" not in self._store.protocol else {}
        with _reported():
            content: bytes = self._store.cat_file(self._path, **limit)
        if len(content) > most:
            raise BundleError(f"has more than {most:,} bytes{how_to_raise() if self.size is None else ''}")
        return content


def _store(url: str) -> tuple[Any, str]:
    try:
        fsspec: Any = importlib.import_module("fsspec")
    except ImportError as error:
        raise BundleError(f"a remote store needs the package fsspec: {install_command('remote')}") from error
    try:
        options = {}
        if url.startswith(("http://", "https://")):
            from .http_client import limited_client

            options = {"get_client": limited_client}
        store, path = fsspec.core.url_to_fs(url, **options)
    except (ImportError, ValueError) as error:
        raise _fault(error) from error
    return store, str(path)


@contextmanager
def _reported() -> Iterator[None]:
    """Raise every error as a BundleError, because every store has its own exceptions."""
    try:
        yield
    except Exception as error:
        raise _fault(error) from error


def _fault(error: Exception) -> BundleError:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, BundleError):
            return cause  # a store may hide the error of the client behind an error of its own
        cause = cause.__cause__ or cause.__context__
    words = str(error).strip().splitlines()
    return BundleError(f"cannot be read: {words[0] if words else type(error).__name__}")
