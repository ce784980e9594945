"""Cache of conversions, keyed by their inputs."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from ..errors import OptionError
from ..foundation.cache_folder import cache_folder
from ..foundation.files import alone_with, open_input, read_whole, write_chunks, write_whole
from ..foundation.printable import printable
from .digests import file_digest

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
            with alone_with(path):
                write_chunks(path, _pieces(model), is_updated=True)
        path = self._path(key)
        with alone_with(path):
            write_whole(path, json.dumps({"format": _FORMAT, "key": key, **entry}, indent=1), is_updated=True)

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, f"{key}.json")


def _pieces(path: str) -> Any:
    with open_input(path, is_updated=True) as file:
        while piece := file.read(_PIECE):
            yield piece


def default_folder() -> str:
    """Return the user's default folder for cached conversions."""
    return cache_folder("conversions")
