"""Digests of the inputs of conversions."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence

from ..foundation.files import open_input

_PIECE = 1 << 20
_MOST_FILES = 100_000


def file_digest(path: str) -> str:
    """Return the SHA-256 of a regular file. Raises OSError."""
    found = hashlib.sha256()
    with open_input(path) as file:
        while piece := file.read(_PIECE):
            found.update(piece)
    return found.hexdigest()


def files_digest(paths: Iterable[tuple[str, str]]) -> str:
    """Return one digest of files, each with the name that counts for it. Raises OSError."""
    found = hashlib.sha256()
    for name, path in paths:
        found.update(name.encode("utf-8", "surrogateescape") + b"\0" + file_digest(path).encode())
    return found.hexdigest()


def files_below(folder: str) -> Sequence[tuple[str, str]]:
    """Return the files of a folder and of those in it, by their names from there, in order. Raises OSError."""
    found = []
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        found += [(os.path.relpath(path, folder), path) for path in [os.path.join(parent, name) for name in sorted(names)]]
        if len(found) > _MOST_FILES:
            raise OSError(f"has more than {_MOST_FILES:,} files")
    return found


def _raise(error: OSError) -> None:
    raise error
