"""Read regular files of limited size, and replace the whole content of files."""

from __future__ import annotations

import errno
import mmap
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import BinaryIO

from .limits import how_to_raise, raised

MOST_TEXT = 64 << 20
"""Largest size in bytes of a file that is read as text."""

_MOST_STREAM = 256 << 20
"""Largest number of bytes that are read from standard input."""

LARGEST_IN_MEMORY = 64 << 20
"""Largest size in bytes of a model or bundle that is read into memory. Larger files are mapped."""

CAN_MAP = sys.platform != "emscripten"
"""Whether files are mapped into memory. False in a browser, because mapping would copy the file there."""

_ZEROS = bytes(1 << 16)

_Identity = tuple[int, int]
_inputs: ContextVar[set[_Identity] | None] = ContextVar("inputs", default=None)


@contextmanager
def inputs_kept() -> Iterator[None]:
    """Refuse to overwrite input files inside this context. Every file that is opened in the context is an input file."""
    token = _inputs.set(set())
    try:
        yield
    finally:
        _inputs.reset(token)


def open_input(path: str, *, is_updated: bool = False) -> BinaryIO:
    """Open a regular file for reading. Raise OSError for a folder, a pipe or a device.

    If ``is_updated`` is True, the caller will change the file, so the file does not become an input file.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "is not a regular file")
        kept = _inputs.get()
        if kept is not None and not is_updated:
            kept.add((status.st_dev, status.st_ino))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_whole(path: str, most: int = MOST_TEXT) -> bytes:
    """Return the content of a file. Raise OSError if the file has more than ``most`` bytes."""
    most = raised(most)
    with open_input(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"has more than {most:,} bytes{how_to_raise()}")
    return content


def read_stream(stream: BinaryIO) -> bytes:
    """Return the bytes of a stream without a known size, such as standard input. Raise OSError if there are too many."""
    most = raised(_MOST_STREAM)
    content = stream.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"has more than {most:,} bytes{how_to_raise()}")
    return content


def file_content(file: BinaryIO) -> memoryview:
    """Return the bytes of an open file. A large file is mapped into memory. Raise OSError on failure.

    A mapped file must not become shorter. Otherwise, reading past the new end kills the process (SIGBUS).
    """
    size = os.fstat(file.fileno()).st_size
    if size > LARGEST_IN_MEMORY:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return memoryview(file.read(size or LARGEST_IN_MEMORY))  # some file systems do not report the size


def keep_inputs(paths: Iterable[str]) -> None:
    """Record files that other processes read as input files. Missing files are skipped."""
    kept = _inputs.get()
    if kept is None:
        return
    for path in paths:
        with suppress(OSError, ValueError):
            status = os.stat(path)
            kept.add((status.st_dev, status.st_ino))


def open_appended(path: str) -> BinaryIO:
    """Open a file for appending and reading. Create the file if it is missing. Raise OSError on failure."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        _refuse_status(os.fstat(descriptor))
        return os.fdopen(descriptor, "a+b")
    except BaseException:
        os.close(descriptor)
        raise


def refuse_input(path: str) -> None:
    """Raise OSError if the path is an input file, or is not a regular file."""
    with suppress(FileNotFoundError):
        _refuse_status(os.stat(path))


def _refuse_status(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file")
    if (status.st_dev, status.st_ino) in (_inputs.get() or ()):
        raise OSError(errno.EEXIST, "is an input file, which is never overwritten")


def write_whole(path: str, text: str | Iterable[str], *, is_updated: bool = False) -> None:
    """Replace the content of a file with text, given as one string or in parts. Raise OSError on failure.

    The old content stays until the whole new text is on disk. An input file is replaced only if ``is_updated`` is True.
    """
    parts = [text] if isinstance(text, str) else text
    write_chunks(path, (part.encode("utf-8", "backslashreplace") for part in parts), is_updated=is_updated)


def write_chunks(
    path: str,
    chunks: Iterable[bytes | memoryview],
    check: Callable[[str], None] | None = None,
    *,
    is_updated: bool = False,
    has_holes: bool = False,
) -> None:
    """Replace the content of a file with chunks of bytes, like ``write_whole``.

    ``check`` gets the path of the complete new file. If ``check`` raises an error, the old file stays. If ``has_holes`` is True,
    long runs of zeros become holes of the file, which take no space where the file system can store holes.
    """

    def fill(temporary: str) -> None:
        with open(temporary, "wb") as file:
            if has_holes:
                _write_with_holes(file, chunks)
            else:
                file.writelines(chunks)
        if check is not None:
            check(temporary)

    write_by(path, fill, is_updated=is_updated)


def _write_with_holes(file: BinaryIO, chunks: Iterable[bytes | memoryview]) -> None:
    """Write chunks of bytes. Blocks that contain only zeros are skipped."""
    for chunk in chunks:
        for start in range(0, len(chunk), len(_ZEROS)):
            block = chunk[start : start + len(_ZEROS)]
            if block == _ZEROS:
                file.seek(len(block), os.SEEK_CUR)
            else:
                file.write(block)
    file.truncate()  # a hole at the end


def write_by(path: str, fill: Callable[[str], None], *, is_updated: bool = False) -> None:
    """Replace the content of a file with the output of a function, like ``write_whole``.

    ``fill`` writes the new file to the path that it gets. If ``fill`` raises an error, the old file stays.
    """
    import tempfile  # imported here because the import is slow

    path = os.path.realpath(path)
    if not is_updated:
        refuse_input(path)
    elif os.path.exists(path) and not os.path.isfile(path):
        raise OSError(errno.EINVAL, "is not a regular file")
    handle, temporary = tempfile.mkstemp(_UNFINISHED, _prefix(path), os.path.dirname(path))
    os.close(handle)
    try:
        fill(temporary)
        _sync(temporary)
        os.chmod(temporary, permissions(path))
        os.replace(temporary, path)
        with suppress(OSError):  # not every system can sync a folder
            _sync(os.path.dirname(path))
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


@contextmanager
def alone_with(path: str) -> Iterator[None]:
    """Lock a file inside this context. If another process holds the lock, wait.

    Raise OSError if locking fails. Also remove unfinished copies of the file, which an earlier process leaves if it is killed.
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


def _sync(path: str) -> None:
    """Flush a file, or the entries of a folder, to disk."""
    descriptor = os.open(path, os.O_RDWR if os.path.isfile(path) else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _prefix(path: str) -> str:
    return f".{os.path.basename(path)}."


if sys.platform == "win32":
    import hashlib
    import msvcrt
    import tempfile

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

    @contextmanager
    def _lock(path: str) -> Iterator[None]:
        """Lock the folder of the file. The lock ends with the process.

        In a browser, Python has no ``fcntl``, and nothing is locked, because no other process can write files.
        """
        try:
            import fcntl
        except ImportError:
            yield
            return
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)


def permissions(path: str) -> int:
    """Return the permissions of an existing file, or the default permissions of a new file."""
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
