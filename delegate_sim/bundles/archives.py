"""The members of zip archives and of compressed files."""

from __future__ import annotations

import io
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from typing import BinaryIO, cast

from ..errors import LimitError
from ..foundation.files import file_content
from ..foundation.work_budget import spend_steps
from .bundle_error import READING, BundleError
from .decompression import BZIP2, DEFLATE, FILES, Compression, decompressed, lzma_of
from .member import Member, UnpackedBytes, copy_bounded
from .ranged import Content, ContentFile, pieces

_LOCAL_HEADER = 30
_LOCAL_MAGIC = b"PK\x03\x04"
_ENCRYPTED, _HAS_END_MARK, _UTF8 = 1, 1 << 1, 1 << 11
_STEPS_FOR_A_MEMBER = 10
_STEPS_FOR_A_BZIP2_BLOCK = 50_000
"""To return the first bytes, bzip2 decompresses a block of 900,000 bytes."""
_DIRECTORY_BYTES_IN_A_STEP = 4
"""An entry of the directory has at least 46 bytes, and ``zipfile`` takes about ten microseconds for it."""


def read_zip(content: Content) -> Sequence[Member]:
    """Return the files in a zip archive. Raises BundleError, or LimitError if there are too many."""
    return [_zip_member(content, entry) for entry in read_directory(content).infolist() if entry.filename and not entry.is_dir()]


def read_directory(content: Content) -> zipfile.ZipFile:
    """Return the directory of a zip archive. Raises BundleError, or LimitError if there are too many entries.

    The entries do not share bytes. Use ``copy_entry`` to read them: ``zipfile`` may decompress any number of bytes at once.
    """
    try:
        archive = zipfile.ZipFile(cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, _DirectoryFile(content)))))
    except (BundleError, LimitError, MemoryError):
        raise
    except Exception as error:  # zipfile does not document all its errors
        raise BundleError(f"is a damaged zip archive: {error}") from error
    entries = archive.infolist()
    spend_steps(_STEPS_FOR_A_MEMBER * len(entries), READING)
    _refuse_overlaps(entries)
    return archive


class _DirectoryFile(ContentFile):
    """The bytes of an archive for ``zipfile``, which reads the directory. Each byte is counted before it is read."""

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        spend_steps(len(buffer) // _DIRECTORY_BYTES_IN_A_STEP, READING)
        return super().readinto(buffer)


def _refuse_overlaps(entries: Sequence[zipfile.ZipInfo]) -> None:
    """Raise BundleError if two entries share bytes. Shared bytes would let a small archive expand to any size."""
    end, before = 0, ""
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < end:
            raise BundleError(f"is a damaged zip archive: {before} and {entry.filename} overlap")
        end, before = entry.header_offset + _LOCAL_HEADER + entry.compress_size, entry.filename


def _zip_member(content: Content, entry: zipfile.ZipInfo) -> Member:
    def beginning(count: int) -> bytes:
        if entry.flag_bits & _ENCRYPTED:
            return b""
        raw = _raw_bytes(content, entry)
        if entry.compress_type == zipfile.ZIP_STORED:
            return bytes(raw[:count])
        compression, raw = _compression_of(entry, raw)
        if compression is BZIP2:
            spend_steps(_STEPS_FOR_A_BZIP2_BLOCK, READING)
        first = b""
        for piece in decompressed(raw, compression, entry.filename, count):
            first += piece
            if len(first) >= count:
                break
        return first[:count]

    def whole(unpacking: UnpackedBytes) -> Content:
        if entry.compress_type == zipfile.ZIP_STORED:
            return _raw_bytes(content, entry)
        with tempfile.TemporaryFile() as target:
            copy_entry(content, entry, target, unpacking)
            target.seek(0)
            return file_content(target)

    return Member(entry.filename, beginning, whole)


def copy_entry(content: Content, entry: zipfile.ZipInfo, target: BinaryIO, unpacking: UnpackedBytes) -> None:
    """Copy the content of an archive's entry to a file.

    Raises BundleError, or LimitError if decompressing takes too much work.
    """
    raw = _raw_bytes(content, entry)
    if entry.compress_type == zipfile.ZIP_STORED:
        checksum = 0
        for piece in pieces(raw):
            checksum = zlib.crc32(piece, checksum)
            target.write(piece)
    else:
        compression, raw = _compression_of(entry, raw)
        checksum = copy_bounded(raw, compression, target, entry.filename, unpacking)
    if checksum != entry.CRC:
        raise BundleError(f"{entry.filename} cannot be read: Bad CRC-32")


def _raw_bytes(content: Content, entry: zipfile.ZipInfo) -> Content:
    """Return the stored bytes of a member, which may be compressed.

    Raises BundleError if the member is encrypted, lies outside the archive, or has another name in its own header.
    """
    if entry.flag_bits & _ENCRYPTED:
        raise BundleError(f"{entry.filename} is encrypted")
    start = entry.header_offset
    header = bytes(content[start : start + _LOCAL_HEADER]) if start >= 0 else b""
    if len(header) < _LOCAL_HEADER:
        raise BundleError(f"is a damaged zip archive: {entry.filename} lies outside the archive")
    size = int.from_bytes(header[26:28], "little")
    start += _LOCAL_HEADER
    name = bytes(content[start : start + size])
    encoding = "utf-8" if int.from_bytes(header[6:8], "little") & _UTF8 else "cp437"
    if header[:4] != _LOCAL_MAGIC or name.decode(encoding, "replace") != entry.orig_filename:
        raise BundleError(f"is a damaged zip archive: {entry.filename} has another name in its own header")
    start += size + int.from_bytes(header[28:30], "little")
    raw = content[start : start + entry.compress_size]
    if len(raw) < entry.compress_size:
        raise BundleError(f"is a damaged zip archive: {entry.filename} lies outside the archive")
    return raw


def _compression_of(entry: zipfile.ZipInfo, raw: Content) -> tuple[Compression, Content]:
    if entry.compress_type == zipfile.ZIP_DEFLATED:
        return DEFLATE, raw
    if entry.compress_type == zipfile.ZIP_BZIP2:
        return BZIP2, raw
    if entry.compress_type == zipfile.ZIP_LZMA:
        # Two bytes of version, two bytes with the size of the properties, and five bytes of properties are in front.
        return lzma_of(bytes(raw[4:9]), None if entry.flag_bits & _HAS_END_MARK else entry.file_size), raw[9:]
    raise BundleError(f"{entry.filename} has a compression that cannot be read (method {entry.compress_type}): unpack it first")


def unpacked_file(content: Content, unpacking: UnpackedBytes) -> Content:
    """Return the decompressed bytes of a file that is compressed with gzip, bzip2 or xz. Raises BundleError or LimitError."""
    beginning = bytes(content[:6])
    compression = next(one for one in FILES if beginning.startswith(one.magic))
    with tempfile.TemporaryFile() as target:
        copy_bounded(content, compression, target, "the archive", unpacking)
        target.seek(0)
        return file_content(target)
