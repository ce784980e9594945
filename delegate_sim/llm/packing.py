"""Unpack a bundle into files, and pack the files into a bundle again.

Only the positions of sections are changed in the header. All other fields are kept, even fields of a newer format. If no section
has changed, the new bundle is identical to the old one.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, TypeAlias

from ..bundles.bundle_error import BundleError
from ..bundles.litertlm import Header, Section, read_header, section_names, with_offsets
from ..errors import LimitError, ModelError
from ..foundation.columns import schema_of
from ..foundation.files import file_content, named_files, naming_file, open_input, write_chunks
from ..foundation.printable import printable
from .bundle import checked_header

MANIFEST, HEADER, TAIL = "bundle.json", "header.bin", "tail.bin"
_ALIGNMENT = 16384
_PIECE = 1 << 20
_GREATEST_GAP = 64 << 20
"""The largest number of bytes between all sections of a bundle that is written. The bytes are zeros."""
_ZEROS = bytes(_PIECE)
_SUFFIXES = {3: ".tflite", 4: ".spiece", 5: ".pb", 6: ".json.zlib", 9: ".pb"}


@dataclass(frozen=True, slots=True)
class Part:
    """A section, and the name of the file with the section's bytes."""

    section: Section
    file: str


@dataclass(frozen=True, slots=True)
class FileSpan:
    """A range of bytes in a file.

    The bytes are read in pieces. The pages of a mapped file would count as used memory after they were read.
    """

    path: str
    begin: int
    end: int

    def __len__(self) -> int:
        return self.end - self.begin

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes in pieces. Raises OSError if the file cannot be read or has become shorter."""
        # A search for data moves the position of its file, so there are two.
        with open_input(self.path) as file, open_input(self.path) as finder:
            if os.fstat(file.fileno()).st_size < self.end:
                raise OSError(errno.EIO, "the file has changed", self.path)
            data = _next_data(finder, self.begin)
            # bounded: pieces of the file
            for start in range(self.begin, self.end, _PIECE):
                size = min(_PIECE, self.end - start)
                if data < start:
                    data = _next_data(finder, start)
                if data >= start + size:
                    yield _ZEROS[:size]
                    continue
                file.seek(start)
                piece = file.read(size)
                if len(piece) < size:
                    raise OSError(errno.EIO, "the file has changed", self.path)
                yield piece


def _next_data(file: BinaryIO, start: int) -> int:
    """Return the position of the first byte, at or after ``start``, that is not in a hole."""
    if not hasattr(os, "SEEK_DATA"):
        return start
    try:
        return os.lseek(file.fileno(), start, os.SEEK_DATA)
    except OSError as error:
        return sys.maxsize if error.errno == errno.ENXIO else start


PartBytes: TypeAlias = "memoryview | FileSpan"


def read_parts(path: str) -> tuple[memoryview, Header, tuple[Part, ...]]:
    """Return the bytes of a bundle, its header, and a file name for each section. Raises ModelError."""
    content = _read(path)
    header = checked_header(path, content)
    end = header.end
    for section in sorted(header.sections, key=lambda one: one.begin):
        if not end <= section.begin <= section.end <= len(content):
            raise ModelError(printable(f"{path}: section {section.number} overlaps another section or lies outside the file"))
        end = section.end
    names = section_names(header.sections)
    parts = [Part(section, _file_name(section, name)) for section, name in zip(header.sections, names, strict=True)]
    return content, header, tuple(parts)


def unpack(path: str, folder: str) -> tuple[str, ...]:
    """Write the header and each section of a bundle to files in a folder, and return the file names. Raises ModelError."""
    content, header, parts = read_parts(path)
    spans, tail = _spans(path, len(content), header)
    os.makedirs(folder, exist_ok=True)
    _write(folder, HEADER, content[: header.end])
    for part in parts:
        _write(folder, part.file, spans[part.section.number])
    _write(folder, TAIL, tail)
    sections = [
        {"number": part.section.number, "kind": part.section.kind, "file": part.file, "items": dict(part.section.items)}
        for part in parts
    ]
    manifest = json.dumps({"schema": schema_of("unpacked-bundle"), "sections": sections}, indent=2) + "\n"
    _write(folder, MANIFEST, memoryview(manifest.encode()))
    return tuple([part.file for part in parts])


def repack(folder: str, path: str) -> None:
    """Make a bundle from the files that ``unpack`` wrote to a folder. Raises ModelError."""
    manifest = _manifest(folder)
    header, tail, *spans = _named_spans(folder, [HEADER, TAIL, *manifest.values()])
    write_bundle(path, _read(header.path), dict(zip(manifest, spans, strict=True)), tail)


def model_sections(path: str) -> tuple[tuple[Section, str], ...]:
    """Return each section with a model, and the name of the model in the bundle. Raises ModelError."""
    _, header, _ = read_parts(path)
    models = [section for section in header.sections if section.is_model]
    return tuple(zip(models, section_names(models), strict=True))


def with_models(path: str, target: str, models: Mapping[int, bytes | memoryview]) -> None:
    """Write a copy of a bundle in which some sections have new bytes, keyed by section number. Raises ModelError."""
    content, header, _ = read_parts(path)
    spans, tail = _spans(path, len(content), header)
    files: dict[int, PartBytes] = {**spans, **{number: memoryview(model) for number, model in models.items()}}
    write_bundle(target, content[: header.end], files, tail)


def _spans(path: str, size: int, header: Header) -> tuple[dict[int, FileSpan], FileSpan]:
    spans = {section.number: FileSpan(path, section.begin, section.end) for section in header.sections}
    return spans, FileSpan(path, max([header.end, *[span.end for span in spans.values()]]), size)


def write_bundle(path: str, head: memoryview, files: Mapping[int, PartBytes], tail: PartBytes) -> None:
    """Write a bundle from its parts.

    ``head`` is the bytes up to the end of the header. ``files`` has the bytes of each section, keyed by number. ``tail`` is the
    bytes after the last section. Raises ModelError if the header does not fit the sections.
    """
    try:
        header = read_header(head)
        if set(files) != {section.number for section in header.sections}:
            raise ModelError(printable(f"{path}: the header has {len(header.sections)} sections, but {len(files)} are given"))
        placed = _placed(header.sections, files, header.end)
        # bounded: read_header limits the header
        beginning = with_offsets(bytes(head), placed)
    except BundleError as error:
        raise ModelError(printable(f"{path}: the header {error}")) from error
    write_chunks(path, _chunks(beginning, placed, files, tail), has_holes=True)


def _placed(sections: Sequence[Section], files: Mapping[int, PartBytes], first: int) -> tuple[Section, ...]:
    placed, is_moved, end, gaps = list[Section](), False, first, 0
    for section in sorted(sections, key=lambda one: one.begin):
        size = len(files[section.number])
        begin = section.begin
        if placed and (is_moved or end > begin):
            begin = -(-end // _ALIGNMENT) * _ALIGNMENT
        gaps += max(begin - end, 0)
        if gaps > _GREATEST_GAP:
            raise BundleError("places sections far apart")
        end = begin + size
        placed.append(replace(section, begin=begin, end=end))
        is_moved = is_moved or size != section.size
    return tuple(sorted(placed, key=lambda one: one.number))


def _chunks(beginning: bytes, placed: Sequence[Section], files: Mapping[int, PartBytes], tail: PartBytes) -> Iterator[bytes]:
    yield beginning
    at = len(beginning)
    for section in sorted(placed, key=lambda one: one.begin):
        yield from _zeros(section.begin - at)
        yield from _pieces(files[section.number])
        at = section.end
    yield from _pieces(tail)


def _zeros(count: int) -> Iterator[bytes]:
    # bounded: zeros are written in pieces
    for start in range(0, count, _PIECE):
        yield _ZEROS[: min(_PIECE, count - start)]


def _pieces(content: PartBytes) -> Iterator[bytes]:
    if isinstance(content, FileSpan):
        yield from content.pieces()
        return
    for start in range(0, len(content), _PIECE):
        yield bytes(content[start : start + _PIECE])


def _file_name(section: Section, name: str) -> str:
    safe = "".join([character if character.isalnum() or character in "-_" else "_" for character in name])[:80]
    return f"{section.number:02d}-{safe}{_SUFFIXES.get(section.data_type, '.bin')}"


def _manifest(folder: str) -> dict[int, str]:
    path = _named_spans(folder, [MANIFEST])[0].path
    try:
        # bounded: as long as the file
        data: Any = json.loads(bytes(_read(path)))
        return {int(section["number"]): str(section["file"]) for section in data["sections"]}
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ModelError(printable(f"{path}: is not a list of sections that 'unpack' wrote")) from error


def _read(path: str) -> memoryview:
    with naming_file(path, ModelError), open_input(path) as file:
        return file_content(file)


def _named_spans(folder: str, names: Sequence[str]) -> list[FileSpan]:
    try:
        return [FileSpan(path, 0, os.path.getsize(path)) for path in named_files(folder, names)]
    except OSError as error:
        raise ModelError(printable(f"{error.filename or folder}: {error.strerror or error}")) from error
    except LimitError as error:
        raise ModelError(printable(f"{folder}: {error}")) from error


def _write(folder: str, name: str, content: PartBytes) -> None:
    with naming_file(os.path.join(folder, name), ModelError):
        write_chunks(os.path.join(folder, name), _pieces(content), has_holes=True)
