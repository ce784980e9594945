"""What a scan has found so far, on the disk before the next model is judged."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import BinaryIO

from ..errors import DelegateSimError
from .job import JobAnswer


class ScanError(DelegateSimError):
    """A scan cannot begin or go on: names the file and what is wrong."""


class Journal:
    """A file of answers, a line each, that one scan at a time appends to.

    A line that was cut short, because the scan was killed while writing it, is dropped.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        if os.path.exists(path) and not os.path.isfile(path):
            raise ScanError(f"{path}: is not a regular file")
        try:
            self._file: BinaryIO = open(path, "a+b")  # noqa: SIM115 - open as long as the scan
        except OSError as error:
            raise ScanError(f"{path}: {error.strerror}") from error
        self._lock()

    def answers(self) -> Iterator[JobAnswer]:
        """Return the answers of an earlier scan that did not come to its end; what follows the last whole line is cut off."""
        self._file.seek(0)
        end = 0
        for line in self._file:
            try:
                found = JobAnswer(*json.loads(line))
            except (ValueError, TypeError):
                break
            if not line.endswith(b"\n"):
                break
            end += len(line)
            yield found
        self._file.truncate(end)
        self._file.seek(end)

    def append(self, answer: JobAnswer) -> None:
        """Write an answer so that it outlives this process. Raises OSError."""
        self._file.write(json.dumps(answer, ensure_ascii=True).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file, and let another scan have it."""
        self._file.close()

    def remove(self) -> None:
        """Close and delete the file, since everything in it is in the output."""
        os.unlink(self.path)
        self._file.close()

    def _lock(self) -> None:
        import fcntl

        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise ScanError(f"{self.path}: another scan is writing it") from error
