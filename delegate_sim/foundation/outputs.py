"""Decide which files a command may write.

A command declares its outputs together, before it works. An output is never an input or another output. The command replaces an
existing file, and writes through a link, only if the user asks for it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple

from ..errors import OutputError
from .printable import printable

_Identity = tuple[int, int]
"""The device and the inode of a file."""


class OutputFile(NamedTuple):
    """A file, or a folder of files, that a command writes."""

    path: str
    is_forced: bool | None = False
    """Whether the user asked to replace an existing file. If the path is a link, the file that it names is written.

    None if the user cannot ask for it.
    """
    replaces: bool = False
    """Whether an existing file, but no link, is replaced although the user did not ask for it."""
    is_updated: bool = False
    """Whether the command reads an existing file and writes it again. If the path is a link, the command writes to its target."""
    is_folder: bool = False
    within: str | None = None
    """A folder that the path must not leave. Set for a path that an input names, such as the baseline."""


@dataclass(slots=True)
class _Files:
    inputs: set[_Identity] = field(default_factory=set)
    outputs: dict[str, OutputFile] = field(default_factory=dict)
    """The declared outputs, by path without links."""
    written: set[_Identity] = field(default_factory=set)
    """The files that the command wrote. It may write them again."""


_files: ContextVar[_Files | None] = ContextVar("files", default=None)


@contextmanager
def files_kept() -> Iterator[None]:
    """Record inputs and outputs inside this context, or in the context around it.

    Every file that is opened for reading in the context is an input.
    """
    token = _files.set(_files.get() or _Files())
    try:
        yield
    finally:
        _files.reset(token)


def declare_outputs(outputs: Sequence[OutputFile], inputs: Iterable[str] = ()) -> None:
    """Declare files that the command writes, and files that it reads.

    Raises OutputError for an output that is an input, is given twice, exists although it must not, or cannot be a file. Earlier
    declarations in the same ``files_kept`` count too.
    """
    files = _files.get() or _Files()
    given = _identities(inputs)
    files.inputs |= given
    for output in files.outputs.values():
        _refuse_input(output.path, given)
    known = {place for output in files.outputs.values() for place in _places(output.path)}
    for output in outputs:
        places = _places(output.path)
        if not known.isdisjoint(places):
            raise OutputError("is given twice", printable(output.path))
        known |= places
    for output in outputs:
        _refuse_input(output.path, files.inputs)  # also if it is updated
        check_output(output)
    files.outputs |= {_real(output.path): output for output in outputs}


def check_output(output: OutputFile, inputs: Iterable[str] = ()) -> None:
    """Raise OutputError if a file must not be written, or is one of ``inputs``.

    This function decides when an output is declared, and again when it is written.
    """
    files, path = _files.get() or _Files(), output.path
    remedy = "remove it, or give another name" if output.is_forced is None else "--force replaces it"
    _refuse_input(path, _identities(inputs))
    try:
        status = os.stat(path)
    except FileNotFoundError:
        status = None
    except (OSError, ValueError) as error:
        raise OutputError(getattr(error, "strerror", None) or str(error), printable(path)) from error
    if not output.is_updated:
        _refuse_input(path, files.inputs)
    if output.within is not None and not is_within(path, output.within):
        raise OutputError(f"is outside the folder {printable(output.within)}", printable(path))
    if os.path.islink(path) and not output.is_forced and (status is None or not output.is_updated):
        target = printable(os.path.realpath(path))
        raise OutputError(f"is a link to {target}, which is not written unasked; name the file itself", printable(path))
    if status is None:
        if not output.is_folder and not os.path.isdir(os.path.dirname(_real(path))):
            raise OutputError("No such file or directory", printable(path))
    elif output.is_folder:
        if not stat.S_ISDIR(status.st_mode):
            raise OutputError("is not a folder", printable(path))
        if os.listdir(path) and not output.is_forced:
            raise OutputError(f"is not empty; {remedy}", printable(path))
    elif not stat.S_ISREG(status.st_mode) and (output.is_updated or not stat.S_ISCHR(status.st_mode)):
        raise OutputError("is not a regular file", printable(path))
    elif stat.S_ISREG(status.st_mode) and status.st_size:
        is_own = (status.st_dev, status.st_ino) in files.written
        if not (is_own or output.is_forced or output.replaces or output.is_updated):
            raise OutputError(f"already exists; {remedy}", printable(path))


def output_at(path: str) -> OutputFile | None:
    """Return the declared output with this path, or None. A file in a declared folder is an output as well."""
    files = _files.get()
    if files is None:
        return None
    real = _real(path)
    folder = files.outputs.get(os.path.dirname(real))
    if folder is not None and folder.is_folder:
        return OutputFile(path, is_forced=folder.is_forced)
    return files.outputs.get(real)


def keep_input(file: int) -> None:
    """Record an open file, given by its descriptor, as an input of the command."""
    _keep(file, "inputs")


def keep_written(file: str) -> None:
    """Record a file that the command wrote."""
    _keep(file, "written")


def is_input(file: int) -> bool:
    """Return whether an open file, given by its descriptor, is an input of the command."""
    files = _files.get()
    return files is not None and _identity(file) in files.inputs


def is_device(path: str) -> bool:
    """Return whether a path is a character device, such as /dev/null. Writing to a device replaces nothing."""
    try:
        return stat.S_ISCHR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def is_within(path: str, folder: str) -> bool:
    """Return whether a path is a folder or is below the folder, after links are resolved."""
    try:
        path, folder = os.path.realpath(path), os.path.realpath(folder)
        return os.path.commonpath([path, folder]) == folder
    except ValueError:  # on different drives, or no valid path
        return False


def _keep(file: int | str, kind: str) -> None:
    files, identity = _files.get(), _identity(file)
    if files is not None and identity is not None:
        getattr(files, kind).add(identity)


def _refuse_input(path: str, inputs: set[_Identity]) -> None:
    if inputs and _identity(path) in inputs:
        raise OutputError("is an input file, which is never overwritten", printable(path))


def _places(path: str) -> set[str | _Identity]:
    """Return what two paths to one file have in common. Several outputs may go to one device, so a device has nothing."""
    if is_device(path):
        return set()
    identity = _identity(path)
    try:
        return {_real(path)} | ({identity} if identity else set())
    except ValueError:  # no valid path
        return set()


def _identities(paths: Iterable[str]) -> set[_Identity]:
    return {identity for path in paths if (identity := _identity(path)) is not None}


def _identity(file: int | str) -> _Identity | None:
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def _real(path: str) -> str:
    return os.path.normcase(os.path.realpath(path))
