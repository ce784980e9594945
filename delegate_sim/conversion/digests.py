"""Digests of the inputs of conversions."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence

from ..foundation.files import open_input
from ..foundation.limits import how_to_raise, raised

_PIECE = 1 << 20
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
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        files += [(os.path.relpath(path, folder), path) for path in [os.path.join(parent, name) for name in sorted(names)]]
        if len(files) > raised(_MOST_FILES):
            raise OSError(f"has more than {raised(_MOST_FILES):,} files{how_to_raise()}")
    return files


def _raise(error: OSError) -> None:
    raise error
