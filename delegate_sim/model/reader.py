"""Read a model from the bytes of a source, or a model in a remote store without its weights."""

from __future__ import annotations

import hashlib
import mmap
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..bundles.bundle_error import BundleError
from ..bundles.formats import MODEL, format_of, source_fault
from ..bundles.opening import GIVEN_BYTES, ModelSource, NamedBytes, open_source
from ..bundles.ranged import RangedView
from ..bundles.stores import RemoteFile
from ..errors import ModelError
from ..foundation.printable import printable
from .flatbuffer import Flatbuffer, Malformed, flatbuffer_of
from .model import IDENTIFIER, Model
from .parsing import read_model

_BLOCK = 4096
_LEAST_LEFT_OUT = 1 << 16
"""Smallest size in bytes of a buffer that is not fetched. The constants that rules read are far smaller."""
_GREATEST_REQUEST = 1 << 22
_SMALLEST = 8


class RemoteContent(NamedTuple):
    """The bytes of a model, with zeros in place of large weights, and a digest of the parts that were read."""

    content: memoryview
    digest: str
    read: int
    """The number of bytes that were fetched."""


def remote_content(file: RemoteFile | RangedView) -> RemoteContent:
    """Read a remote model without its large weights.

    If the remote file is a bundle, read only the start of the file. If the store cannot return parts of a file, read the whole
    file. Raise BundleError if reading fails, or Malformed if the flatbuffer is not valid.
    """
    if file.size is None or file.size < _LEAST_LEFT_OUT:
        content = file.whole()
        return RemoteContent(memoryview(content), hashlib.sha256(content).hexdigest(), len(content))
    parts = _Parts(file, file.size)
    try:
        parts.ensure([0], _SMALLEST)
        beginning = bytes(parts.content[:_BLOCK])
        kind = format_of(beginning, "")
        if kind not in (MODEL, None):
            return RemoteContent(memoryview(beginning), parts.digest(), parts.read)
        try:
            weights = _weights(_RangedFlatbuffer(parts))
        except Malformed:
            if kind == MODEL:
                raise
            return RemoteContent(memoryview(beginning), parts.digest(), parts.read)  # the reader says that this is no model
        parts.fetch(_outside(weights, file.size))
    except _WholeFile as whole:
        return RemoteContent(memoryview(whole.content), hashlib.sha256(whole.content).hexdigest(), len(whole.content))
    return RemoteContent(memoryview(parts.content).toreadonly(), parts.digest(), parts.read)


class _WholeFile(Exception):
    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.content = content


class _Parts:
    def __init__(self, file: RemoteFile | RangedView, size: int) -> None:
        self._file = file
        self.size = size
        self.content = mmap.mmap(-1, size)
        self._has = bytearray(-(-size // _BLOCK))  # bounded: blocks of the file
        """One byte for each block: 1 if the block was read, otherwise 0."""
        self.read = 0

    def ensure(self, positions: Sequence[int], width: int) -> None:
        """Read the blocks that contain the numbers at these positions.

        Each number has ``width`` bytes. Positions outside the file are ignored.
        """
        inside = [position for position in positions if 0 <= position < self.size]
        blocks = {position // _BLOCK for position in inside}
        blocks |= {(min(position + width, self.size) - 1) // _BLOCK for position in inside}
        self.fetch(_runs(sorted(blocks)))

    def fetch(self, blocks: Iterable[tuple[int, int]]) -> None:
        """Read all blocks in these ranges that were not read before. A range is (first, end)."""
        ranges = [
            (start * _BLOCK, min(end * _BLOCK, self.size))
            for first, last in blocks
            # bounded: blocks of the file
            for run_first, run_last in _runs([block for block in range(first, last) if not self._has[block]])
            for start, end in _cut(run_first, run_last)
        ]
        if not ranges:
            return
        for (start, end), part in zip(ranges, self._file.parts(ranges), strict=True):
            if len(part) == self.size and end - start != self.size:
                raise _WholeFile(part)
            if len(part) != end - start:
                raise BundleError(f"cannot be read: the store returned {len(part):,} bytes instead of {end - start:,}")
            self.content[start:end] = part
            first, last = start // _BLOCK, -(-end // _BLOCK)
            self._has[first:last] = b"\1" * (last - first)  # bounded: blocks of the file
            self.read += len(part)

    def digest(self) -> str:
        sha256 = hashlib.sha256(f"parts of {self.size}".encode())
        for first, last in _runs([block for block, has in enumerate(self._has) if has]):
            sha256.update(f"{first}".encode() + self.content[first * _BLOCK : last * _BLOCK])
        return sha256.hexdigest()


class _RangedFlatbuffer(Flatbuffer):
    def __init__(self, parts: _Parts) -> None:
        self._parts = parts
        super().__init__(memoryview(parts.content))

    def gather(self, kind: str, positions: Sequence[int], what: str) -> list[int]:
        self._parts.ensure(positions, struct.calcsize(kind))
        return super().gather(kind, positions, what)


def _weights(buffer: Flatbuffer) -> list[tuple[int, int]]:
    buffers = buffer.root("Model").child_vectors("buffers")[0]
    spans = buffers.spans("data", "offset", "size", "the data of a buffer")
    return sorted({span for span in spans if span is not None and span[1] >= _LEAST_LEFT_OUT})


def _outside(weights: Sequence[tuple[int, int]], size: int) -> Iterator[tuple[int, int]]:
    at = 0
    for offset, length in weights:
        first = -(-offset // _BLOCK)
        if first > at:
            yield at, first
        at = max(at, (offset + length) // _BLOCK)
    yield at, -(-size // _BLOCK)


def _runs(blocks: Sequence[int]) -> Iterator[tuple[int, int]]:
    starts = [block for place, block in enumerate(blocks) if not place or blocks[place - 1] != block - 1]
    ends = [block for place, block in enumerate(blocks, 1) if place == len(blocks) or blocks[place] != block + 1]
    for start, end in zip(starts, ends, strict=True):
        yield start, end + 1


def _cut(first: int, last: int) -> Iterator[tuple[int, int]]:
    step = _GREATEST_REQUEST // _BLOCK
    for start in range(first, last, step):  # bounded: blocks of the file
        yield start, min(start + step, last)


_SCHEMA_VERSION = 3
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def load(source: ModelSource, *, any_identifier: bool = False) -> Model:
    """Read a model from a path, from an address in a bundle (``app.apk!/assets/m.tflite``), from a URL, or from bytes.

    A file of more than 64 MiB is mapped into memory. Such a file must not become shorter while the model is used. In a model
    from a URL (``s3://...``, ``https://...``), zeros replace large weights. With ``any_identifier``, a model with a wrong
    identifier is accepted. Raise ModelError with a line that says which file is faulty, and why.
    """
    opened = open_source(source)
    try:
        return _model(opened, any_identifier)
    except (Malformed, BundleError) as error:
        raise ModelError(printable(f"{opened.name}: {error}")) from error


def require_identifier(model: Model) -> None:
    """Raise ModelError if a model has the wrong identifier."""
    if model.identifier != IDENTIFIER:
        raise ModelError(printable(f"{model.path or GIVEN_BYTES}: {_identifier_fault(model.identifier)}"))


def _identifier_fault(identifier: bytes) -> str:
    """Return a message that quotes only identifiers of TFLite files. The bytes of any other file may be secret."""
    needed = IDENTIFIER.decode()
    opening = f"is {identifier.decode('latin-1')!r}, not" if identifier.startswith(IDENTIFIER[:3]) else "is not"
    return f"is not a TFLite model: the identifier at offset 4 {opening} {needed!r}"


def _model(opened: NamedBytes, any_identifier: bool) -> Model:
    content, digest = opened.content, ""
    if isinstance(content, RemoteFile) or not (isinstance(content, memoryview) or content.is_local):
        content, digest, _ = remote_content(content)
    beginning = bytes(content[:512])
    if not beginning:
        raise Malformed("is empty")
    if beginning.startswith(_LFS_POINTER):
        raise Malformed("is a Git LFS pointer, not the model itself: run git lfs pull")
    if fault := source_fault(opened.name, beginning):
        raise Malformed(fault)
    if format_of(beginning, opened.name) not in (MODEL, None):
        raise Malformed(_bundle_fault(opened.path))
    buffer = flatbuffer_of(content)
    identifier = bytes(content[4:8])
    if identifier != IDENTIFIER and not (any_identifier and _is_otherwise_a_model(buffer)):
        raise Malformed(_identifier_fault(identifier))
    return read_model(buffer, opened.path, digest)


def _bundle_fault(path: str | None) -> str:
    if path is None:
        return "are a bundle or an archive: give the path of the file, or the bytes of one of its models"
    from ..bundles.members import models_in

    try:
        models = models_in(path)
    except (BundleError, OSError) as error:
        return str(error)
    if not models:
        return "is a bundle or an archive that holds no model"
    return f"is a bundle that holds {len(models)} model{'' if len(models) == 1 else 's'}: name one, such as {models[0]}"


def _is_otherwise_a_model(buffer: Flatbuffer) -> bool:
    """Return whether a file with the wrong identifier has the known schema version and at least one subgraph."""
    try:
        root = buffer.root("Model")
        return root.numbers("version")[0] == _SCHEMA_VERSION and root.lengths("subgraphs", "the subgraphs")[0] > 0
    except Malformed:
        return False
