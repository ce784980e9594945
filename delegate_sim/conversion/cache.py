"""Cache of conversions, keyed by their inputs."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

from ..errors import OptionError
from ..foundation.files import alone_with, cache_folder, open_input, read_whole, write_chunks, write_whole
from ..foundation.limits import how_to_raise, raised
from ..foundation.printable import printable

_MOST_FILES = 100_000


def file_digest(path: str) -> str:
    """Return the SHA-256 of a regular file. Raise OSError if the file cannot be read."""
    digest = hashlib.sha256()
    with open_input(path) as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def files_digest(paths: Iterable[tuple[str, str]]) -> str:
    """Return one digest of several files and their names. Raise OSError if a file cannot be read."""
    digest = hashlib.sha256()
    for name, path in paths:
        digest.update(name.encode("utf-8", "surrogateescape") + b"\0" + file_digest(path).encode())
    return digest.hexdigest()


def files_below(folder: str) -> Sequence[tuple[str, str]]:
    """Return (relative path, path) of each file in a folder and its subfolders, sorted.

    Raise OSError if a folder cannot be read, or if there are too many files.
    """
    files = []

    def fail(error: OSError) -> None:
        raise error

    for parent, folders, names in os.walk(folder, onerror=fail):
        folders.sort()
        files += [(os.path.relpath(path, folder), path) for path in [os.path.join(parent, name) for name in sorted(names)]]
        if len(files) > raised(_MOST_FILES):
            raise OSError(f"has more than {raised(_MOST_FILES):,} files{how_to_raise()}")
    return files


_FORMAT = 1
_PIECE = 1 << 20


class ConversionCache:
    """A folder of cached conversions. Without a path, it is a temporary folder that exists during the ``with`` block.

    An entry consists of a JSON file, whose name is the entry's key, and a model file, whose name is the digest of its content.
    Both files are written atomically, and inconsistent entries are ignored, so several processes can use a folder at the same
    time. Raises OptionError if the folder cannot be created.
    """

    def __init__(self, folder: str | None) -> None:
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        if folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="delegate-sim-")
            folder = self._temporary.name
        self.folder = os.path.abspath(folder)
        try:
            os.makedirs(self.folder, exist_ok=True)
        except OSError as error:
            raise OptionError(printable(f"{folder}: {error.strerror}")) from None

    def __enter__(self) -> ConversionCache:
        """Return the cache."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Remove a temporary folder."""
        if self._temporary is not None:
            self._temporary.cleanup()

    def model_path(self, digest: str) -> str:
        """Return the path of the model with this digest. The file may be missing."""
        return os.path.join(self.folder, f"{digest}.tflite")

    def find(self, key: str) -> Mapping[str, Any] | None:
        """Return the entry of a key, or None if the entry is missing or its model file is missing or changed."""
        try:
            entry = json.loads(read_whole(self._path(key)))
            if entry["format"] != _FORMAT or entry["key"] != key:
                return None
            digest = entry["digest"]
            if digest and file_digest(self.model_path(digest)) != digest:
                return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return entry if isinstance(entry, dict) else None

    def keep(self, key: str, entry: Mapping[str, Any], model: str | None) -> None:
        """Store an entry, and a copy of the model file if there is one. Raise OSError if a file cannot be written."""
        if model is not None:
            path = self.model_path(entry["digest"])
            with alone_with(path), open_input(model, is_updated=True) as file:
                write_chunks(path, iter(functools.partial(file.read, _PIECE), b""), is_updated=True)
        path = self._path(key)
        with alone_with(path):
            write_whole(path, json.dumps({"format": _FORMAT, "key": key, **entry}, indent=1), is_updated=True)

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, f"{key}.json")


def default_folder() -> str:
    """Return the user's default folder for cached conversions."""
    return cache_folder("conversions")
