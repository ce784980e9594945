"""Replace the models in MediaPipe's ``.task`` files, which are zip archives. Also unpack and pack these files.

A new file has the same members in the same order, with the same compression and MediaPipe's alignment.
"""

from __future__ import annotations

import functools
import json
import os
import struct
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from ..errors import LimitError, ModelError
from ..foundation.columns import schema_of
from ..foundation.files import file_content, named_file, named_files, open_input, write_by, write_chunks
from ..foundation.printable import printable
from .address import SEPARATOR
from .archives import copy_entry, read_directory
from .bundle_error import BundleError
from .formats import ZIP, format_of
from .member import UnpackedBytes
from .members import models_in
from .ranged import Content
from .zip_writing import ZipMember, ZipWriter, member_of

MANIFEST = "bundle.json"
_MARK = schema_of("unpacked-task")
_PIECE = 1 << 20
_FAULTS = (zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, struct.error, NotImplementedError, EOFError, RuntimeError)


def task_models(path: str) -> tuple[str, ...]:
    """Return the names of the models in a file. Raises ModelError.

    If a model is in a nested file, its name begins with the name of this file.
    """
    with _naming(path), open_input(path) as file:
        _opened(file)
        return tuple([address[len(path) + len(SEPARATOR) :] for address in models_in(path)])


def with_task_models(path: str, target: str, models: Mapping[str, bytes | memoryview]) -> None:
    """Write a copy of a file in which some models, given by name, have other bytes. Raises ModelError."""
    with _naming(path), open_input(path) as source, open(target, "wb") as written:
        _rewrite(source, written, models, UnpackedBytes(os.fstat(source.fileno()).st_size))


def unpack_task(path: str, folder: str) -> tuple[str, ...]:
    """Write each member of an archive to its own file in a folder. Return the names of these files. Raises ModelError."""
    with _naming(path), open_input(path) as source:
        content, archive = _opened(source)
        unpacking = UnpackedBytes(len(content))
        os.makedirs(folder, exist_ok=True)
        members = []
        for number, entry in enumerate(archive.infolist()):
            member = member_of(entry)
            name = _file_name(number, member.name)
            write_by(os.path.join(folder, name), functools.partial(_extract, content, entry, unpacking))
            members.append({"file": name, **member.to_dict()})
        manifest = {"schema": _MARK, "comment": archive.comment.hex(), "members": members}
        write_chunks(os.path.join(folder, MANIFEST), [(json.dumps(manifest, indent=2) + "\n").encode()])
    return tuple([str(member["file"]) for member in members])


def is_unpacked_task(folder: str) -> bool:
    """Return whether ``unpack_task`` wrote this folder."""
    try:
        with open_input(os.path.join(folder, MANIFEST)) as file:
            return _MARK.encode() in file.read(len(_MARK) + 64)
    except OSError:
        return False


def repack_task(folder: str, path: str) -> None:
    """Pack the files that ``unpack_task`` wrote to a folder. Raises ModelError."""
    manifest = os.path.join(folder, MANIFEST)
    try:
        with open_input(named_file(folder, MANIFEST)) as file:
            data: Any = json.loads(file.read())
        comment = bytes.fromhex(data["comment"])
        members = [(str(entry["file"]), ZipMember.from_dict(entry)) for entry in data["members"]]
    except OSError as error:
        raise ModelError(printable(f"{manifest}: {error.strerror or error}")) from error
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ModelError(printable(f"{manifest}: is not a list of members that 'export models' wrote")) from error

    with _naming(folder):
        paths = named_files(folder, [name for name, _ in members])

    def fill(temporary: str) -> None:
        with open(temporary, "wb") as target, ZipWriter(target, comment) as writer:
            for file_path, (_, member) in zip(paths, members, strict=True):
                with _naming(file_path), open_input(file_path) as file:
                    writer.write(member, _pieces(file), os.fstat(file.fileno()).st_size)

    with _naming(path):
        write_by(path, fill)


def _rewrite(source: BinaryIO, target: BinaryIO, models: Mapping[str, bytes | memoryview], unpacking: UnpackedBytes) -> None:
    content, archive = _opened(source)
    inner_models = _by_bundle(models)
    with ZipWriter(target, archive.comment) as writer:
        for entry in archive.infolist():
            model = models.get(entry.filename)
            if model is not None:
                writer.write(member_of(entry), [model], len(model))
                continue
            nested = inner_models.get(entry.filename)
            with tempfile.TemporaryFile() as member:
                copy_entry(content, entry, member, unpacking)
                if not nested:
                    _write(writer, entry, member)
                    continue
                member.seek(0)
                with tempfile.TemporaryFile() as changed:
                    _rewrite(member, changed, nested, unpacking)
                    _write(writer, entry, changed)


def _by_bundle(models: Mapping[str, bytes | memoryview]) -> dict[str, dict[str, bytes | memoryview]]:
    nested: dict[str, dict[str, bytes | memoryview]] = {}
    for name, model in models.items():
        at = name.find(SEPARATOR)
        while at >= 0:
            nested.setdefault(name[:at], {})[name[at + len(SEPARATOR) :]] = model
            at = name.find(SEPARATOR, at + 1)
    return nested


def _write(writer: ZipWriter, entry: zipfile.ZipInfo, content: BinaryIO) -> None:
    size = content.seek(0, os.SEEK_END)
    content.seek(0)
    writer.write(member_of(entry), _pieces(content), size)


def _opened(file: BinaryIO) -> tuple[Content, zipfile.ZipFile]:
    content = file_content(file)
    if format_of(bytes(content[:512]), "") != ZIP:
        raise BundleError("is not a zip archive, or contains a bundle that is not a zip archive")
    archive = read_directory(content)
    names = set[str]()
    for entry in archive.infolist():
        if entry.filename in names:
            raise BundleError(f"has several members named {entry.filename}")
        names.add(entry.filename)
        member_of(entry)
    return content, archive


def _extract(content: Content, entry: zipfile.ZipInfo, unpacking: UnpackedBytes, path: str) -> None:
    with open(path, "wb") as target:
        copy_entry(content, entry, target, unpacking)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


def _file_name(number: int, name: str) -> str:
    stem, suffix = os.path.splitext(os.path.basename(name.rstrip("/")))
    safe = "".join(
        [character if character.isascii() and (character.isalnum() or character in "-_") else "_" for character in stem]
    )
    kept = suffix if suffix.isascii() and suffix[1:].isalnum() and len(suffix) < 12 else ""
    return f"{number:02d}-{safe[:80]}{kept}"


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Raise every error about a file as a ModelError with the file's path."""
    try:
        yield
    except OSError as error:
        raise ModelError(printable(f"{error.filename or path}: {error.strerror or error}")) from error
    except (BundleError, LimitError) as error:
        raise ModelError(printable(f"{path}: {error}")) from error
    except _FAULTS as error:
        raise ModelError(printable(f"{path}: is a damaged zip archive: {error}")) from error
