"""Files that are written whole or not at all, and changed by one process at a time."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress


def write_whole(path: str, text: str) -> None:
    """Replace a file once its new content is complete; until then the old file stays as it is. Raises OSError."""
    write_chunks(path, [text.encode("utf-8", "backslashreplace")])


def write_chunks(path: str, chunks: Iterable[bytes | memoryview], check: Callable[[str], None] | None = None) -> None:
    """Replace a file by chunks of bytes once they are complete; until then the old file stays as it is. Raises OSError.

    ``check`` is called with the path of the complete file before it takes its place, and keeps it from doing so by raising.
    """
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(errno.EINVAL, "is not a regular file")
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(
            "wb", dir=os.path.dirname(path), prefix=_prefix(path), suffix=_UNFINISHED, delete=False
        ) as file:
            temporary = file.name
            file.writelines(chunks)
        if check is not None:
            check(temporary)
        os.chmod(temporary, permissions(path))
        os.replace(temporary, path)
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


@contextmanager
def alone_with(path: str) -> Iterator[None]:
    """Keep other processes that take this lock from changing a file in the meantime; wait for one that holds it. Raises OSError.

    Unfinished files beside it, left by processes that were killed while writing, are removed.
    """
    path = os.path.realpath(path)
    with _lock(path):
        folder, prefix = os.path.dirname(path), _prefix(path)
        for name in os.listdir(folder):
            if name.startswith(prefix) and name.endswith(_UNFINISHED):
                with suppress(FileNotFoundError):
                    os.unlink(os.path.join(folder, name))
        yield


_UNFINISHED = ".unfinished"


def _prefix(path: str) -> str:
    return f".{os.path.basename(path)}."


if sys.platform == "win32":
    import hashlib
    import msvcrt

    @contextmanager
    def _lock(path: str) -> Iterator[None]:
        name = hashlib.sha256(os.path.normcase(path).encode()).hexdigest()[:16]
        with open(os.path.join(tempfile.gettempdir(), f"delegate-sim-{name}.lock"), "ab") as file:
            file.seek(0)
            while True:
                with suppress(OSError):  # raised after ten seconds of waiting
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    break
            try:
                yield
            finally:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    @contextmanager
    def _lock(path: str) -> Iterator[None]:
        """Lock the folder, which leaves no lock file behind; the lock ends with the process."""
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)


def permissions(path: str) -> int:
    """Return those of the file that is replaced, or those that a new file gets."""
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
