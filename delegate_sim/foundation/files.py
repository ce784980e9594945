"""Read regular files of limited size, and replace the whole content of files."""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from .limits import how_to_raise, raised
from .outputs import OutputFile, check_output, is_device, is_input, is_within, keep_input, keep_written, output_at
from .printable import printable
from .work_budget import spend_steps

MOST_TEXT = 64 << 20
"""Largest size in bytes of a file that is read as text."""

_MOST_STREAM = 256 << 20
"""Largest number of bytes that are read from standard input."""

LARGEST_IN_MEMORY = 64 << 20
"""Largest size in bytes of a model or bundle that is read into memory. Larger files are mapped."""

CAN_MAP = sys.platform != "emscripten"
"""Whether files are mapped into memory. False in a browser, because mapping would copy the file there."""

_STEPS_OF_A_FILE = 100
_ZEROS = bytes(1 << 16)


@contextmanager
def naming_file(path: str, kind: type[Exception]) -> Iterator[None]:
    """Raise an OSError as an exception of this kind, with the path of the file that cannot be read or written."""
    try:
        yield
    except OSError as error:
        raise kind(printable(f"{path}: {error.strerror or error}")) from error


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
        if not is_updated:
            keep_input(descriptor)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def named_file(folder: str, name: str) -> str:
    """Return the path of a file in a folder. The name of the file may come from a stranger, and the file may be a link.

    Raise OSError if the path leads outside the folder, or is not the path of a regular file.
    """
    path = os.path.join(folder, name)
    if not is_within(path, folder):
        raise OSError(errno.EACCES, "leads outside its folder", path)
    open_input(path).close()
    return path


def named_files(folder: str, names: Iterable[str]) -> list[str]:
    """Return the paths of files in a folder, like ``named_file``. Raise OSError also if a file is named twice.

    The files therefore have no more bytes than the folder. Raise LimitError for too many files.
    """
    paths, identities = [], set()
    for name in names:
        spend_steps(_STEPS_OF_A_FILE, "finding the files of a folder")
        path = named_file(folder, name)
        status = os.stat(path)
        if (status.st_dev, status.st_ino) in identities:
            raise OSError(errno.EEXIST, "is named twice", path)
        identities.add((status.st_dev, status.st_ino))
        paths.append(path)
    return paths


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


def open_appended(path: str) -> BinaryIO:
    """Open a file for appending and reading. Create the file if it is missing. Raise OSError on failure."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "is not a regular file")
        if is_input(descriptor):
            raise OSError(errno.EEXIST, "is an input file, which is never overwritten")
        return os.fdopen(descriptor, "a+b")
    except BaseException:
        os.close(descriptor)
        raise


def write_whole(path: str, text: str | bytes | Iterable[str], *, replaces: bool = False, is_updated: bool = False) -> None:
    """Write text, given as one string or in parts, or bytes to a file. Raise OSError if writing fails.

    The old content stays until the whole new text is on disk. An output that the command declared is written as declared. Any
    other existing file with content is replaced only if ``replaces`` or ``is_updated`` is True, and an input file only if
    ``is_updated`` is True. Raise OutputError if the file must not be written.
    """
    parts = [text] if isinstance(text, (str, bytes)) else text
    chunks = (part if isinstance(part, bytes) else part.encode("utf-8", "backslashreplace") for part in parts)
    write_chunks(path, chunks, replaces=replaces, is_updated=is_updated)


def write_chunks(
    path: str,
    chunks: Iterable[bytes | memoryview],
    check: Callable[[str], None] | None = None,
    *,
    replaces: bool = False,
    is_updated: bool = False,
    has_holes: bool = False,
) -> int:
    """Write chunks of bytes to a file, like ``write_whole``. Return the number of bytes.

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

    return write_by(path, fill, replaces=replaces, is_updated=is_updated)


def _write_with_holes(file: BinaryIO, chunks: Iterable[bytes | memoryview]) -> None:
    for chunk in chunks:
        for start in range(0, len(chunk), len(_ZEROS)):
            block = chunk[start : start + len(_ZEROS)]
            if block == _ZEROS:
                file.seek(len(block), os.SEEK_CUR)
            else:
                file.write(block)
    file.truncate()  # a hole at the end


def write_by(path: str, fill: Callable[[str], None], *, replaces: bool = False, is_updated: bool = False) -> int:
    """Write a file with a function, like ``write_whole``. Return the number of bytes.

    ``fill`` writes the new file to the path that it gets. If ``fill`` raises an error, the old file stays.
    """
    import tempfile  # imported here because the import is slow

    output = output_at(path) or OutputFile(path, is_forced=replaces)
    output = output._replace(is_updated=output.is_updated or is_updated)
    check_output(output)
    path = os.path.realpath(path)
    folder = tempfile.gettempdir() if is_device(path) else os.path.dirname(path)
    handle, temporary = tempfile.mkstemp(_UNFINISHED, _prefix(path), folder)
    os.close(handle)
    try:
        fill(temporary)
        size = os.path.getsize(temporary)
        if is_device(path):
            with open(temporary, "rb") as source, open(path, "wb", buffering=0) as device:
                shutil.copyfileobj(source, device)
            return size
        _sync(temporary)
        os.chmod(temporary, permissions(path))
        check_output(output)
        os.replace(temporary, path)
        keep_written(path)
        with suppress(OSError):  # not every system can sync a folder
            _sync(os.path.dirname(path))
        return size
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
_LONGEST_NAME = 240
"""Largest number of bytes of the name of a side file. File systems allow 255."""
_KEPT_OF_NAME = 20
"""Number of characters of a name that a shortened name keeps."""


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDWR if os.path.isfile(path) else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _prefix(path: str) -> str:
    """Return the beginning of the names of unfinished copies. These names are short, because file systems limit names."""
    return f".{_shortened(os.path.basename(path))}."


def beside(path: str, suffix: str) -> str:
    """Return the path of a file beside another file: the path with a suffix. If the name is too long, it is shortened."""
    folder, name = os.path.split(path)
    is_long = len(os.fsencode(name + suffix)) > _LONGEST_NAME
    return os.path.join(folder, f"{_shortened(name)}{suffix}") if is_long else f"{path}{suffix}"


def _shortened(name: str) -> str:
    import hashlib  # imported here because the import is slow

    return f"{name[:_KEPT_OF_NAME]}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}"


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
                try:
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    break
                except OSError as error:
                    if error.errno != errno.EDEADLK:  # raised after ten seconds of waiting
                        raise
            try:
                yield
            finally:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

    def lock(file: BinaryIO) -> bool:
        """Lock an open file until it is closed. Return False if it is locked already. Raise OSError if locking fails."""
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

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

    def lock(file: BinaryIO) -> bool:
        """Lock an open file until it is closed. Return False if it is locked already. Raise OSError if locking fails.

        In a browser, nothing is locked.
        """
        try:
            import fcntl
        except ImportError:
            return True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def permissions(path: str) -> int:
    """Return the permissions of an existing file, or the default permissions of a new file."""
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def cache_folder(name: str) -> str:
    """Return the default path of the cache folder with this name."""
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~")
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(base):  # its files could come from a stranger, like those of the current folder
            base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "delegate-sim", name)
