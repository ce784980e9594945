"""Local files: in memory, mapped into memory, or read in parts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from ..errors import ModelError
from ..foundation import files
from ..foundation.files import file_content, open_input
from ..foundation.printable import printable
from .ranged import Content, RangedView

_LONGEST_RUN = 1 << 22
"""Largest number of bytes of adjacent parts that are read together."""


class LocalFile:
    """A large local file that is read in parts. The file is opened again for each read."""

    block = 1 << 12
    is_local = True

    def __init__(self, path: str, size: int) -> None:
        self._path = path
        self.size = size

    def parts(self, ranges: Iterable[tuple[int, int]]) -> Sequence[bytes]:
        """Read parts of the file, given as (start, end) in ascending order. Raises ModelError.

        Adjacent parts are read together.
        """
        contents: list[bytes] = []
        try:
            with open_input(self._path) as file:
                for run in _runs(ranges):
                    file.seek(run[0][0])
                    content = file.read(run[-1][1] - run[0][0])
                    if len(content) < run[-1][1] - run[0][0]:
                        raise OSError("became shorter while it was read")
                    contents += [content[start - run[0][0] : end - run[0][0]] for start, end in run]
        except OSError as error:
            raise ModelError(printable(f"{self._path}: {error.strerror or error}")) from error
        return contents


def local_content(path: str) -> Content:
    """Return the bytes of a file. A large file is mapped into memory. Raises OSError on failure.

    If a large file cannot be mapped, it is read in parts.
    """
    with open_input(path) as file:
        size = os.fstat(file.fileno()).st_size
        if files.CAN_MAP or size <= files.LARGEST_IN_MEMORY:
            return file_content(file)
    return RangedView(LocalFile(path, size), 0, size)


def _runs(ranges: Iterable[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Join adjacent ranges into groups of limited size."""
    runs: list[list[tuple[int, int]]] = []
    for start, end in ranges:
        if runs and runs[-1][-1][1] == start and end - runs[-1][0][0] <= _LONGEST_RUN:
            runs[-1].append((start, end))
        else:
            runs.append([(start, end)])
    return runs
