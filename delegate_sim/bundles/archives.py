"""The members of zip and tar archives, and of compressed files.

The module ``tarfile`` is not used, because the time and memory that it takes for the extended headers of some archives grow with
the square of the archive's size.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import BinaryIO, cast

from ..errors import LimitError
from ..foundation.files import file_content
from ..foundation.work_budget import spend_steps
from .bundle_error import READING, BundleError
from .decompression import BZIP2, DEFLATE, FILES, Compression, decompressed, lzma_of
from .member import Member, UnpackedBytes, copy_bounded, stored_member
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


_BLOCK = 512
_STEPS_FOR_A_HEADER = 20
_STEPS_FOR_A_RECORD = 3
_TAR_BYTES_IN_A_STEP = 10
"""Number of bytes in extended headers and names that count as a step. Members copy the name in a global header."""
_REGULAR = (b"0", b"\0", b"7")
_SPARSE = b"S"
_WITHOUT_CONTENT = (b"1", b"2", b"3", b"4", b"5", b"6")
"""Links, devices, folders and pipes. They have no content, whatever size their header has."""
_LONG_NAME, _LONG_LINK = b"L", b"K"
_EXTENDED, _GLOBAL = (b"x", b"X"), b"g"
_SIGNED = 128
_MOST_DIGITS = 19


def read_tar(content: Content) -> Sequence[Member]:
    """Return the regular files in a tar archive. Raises BundleError, or LimitError if there are too many headers."""
    try:
        return list(_members(content))
    except (ValueError, IndexError) as error:
        raise BundleError(f"is a damaged tar archive: {error}") from error


def _members(content: Content) -> Iterator[Member]:
    at = 0
    common: dict[bytes, bytes] = {}
    own: dict[bytes, bytes] = {}
    while at < len(content):
        spend_steps(_STEPS_FOR_A_HEADER, READING)
        header = bytes(content[at : at + _BLOCK])
        if not any(header):
            return
        _check(header)
        kind, size, at = header[156:157], _number(header[124:136]), at + _BLOCK
        is_extension = kind in (*_EXTENDED, _GLOBAL, _LONG_NAME, _LONG_LINK)
        records = {} if is_extension else {**common, **own}
        if kind == _SPARSE:
            is_extended = header[482]
            while is_extended:
                spend_steps(_STEPS_FOR_A_HEADER, READING)
                is_extended, at = bytes(content[at : at + _BLOCK])[504], at + _BLOCK
        size = _decimal(records[b"size"]) if b"size" in records else size
        if kind in _WITHOUT_CONTENT:
            size = 0
        if not 0 <= size <= len(content) - at:
            raise ValueError("a member lies outside the archive")
        data, at = content[at : at + size], at + -(-size // _BLOCK) * _BLOCK
        if not is_extension:
            own = {}
            name = records.get(b"path") or _name(header)
            spend_steps(len(name) // _TAR_BYTES_IN_A_STEP, READING)
            is_sparse = kind == _SPARSE or b"sparse" in records
            if kind in _REGULAR and not is_sparse and not name.endswith(b"/"):
                yield stored_member(name.decode("utf-8", "surrogateescape"), data)
            continue
        spend_steps(size // _TAR_BYTES_IN_A_STEP, READING)
        if kind == _LONG_NAME:
            own[b"path"] = _text(bytes(data))
        elif kind != _LONG_LINK:
            (common if kind == _GLOBAL else own).update(_records(bytes(data)))


def _check(header: bytes) -> None:
    """Raise ValueError if the checksum of a header is wrong. Some programs compute it from signed bytes."""
    if len(header) < _BLOCK:
        raise ValueError("it ends inside a header")
    given, rest = _number(header[148:156]), header[:148] + b" " * 8 + header[156:]
    total = sum(rest)
    if given != total and given != total - 2 * _SIGNED * sum(byte >= _SIGNED for byte in rest):
        raise ValueError("a header has a wrong checksum")


def _number(field: bytes) -> int:
    if field[0] & 0x80:
        return int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big") if field[0] == 0x80 else -1
    digits = _text(field).strip()
    if digits.strip(b"01234567"):
        raise ValueError("a number has other characters than digits")
    return int(digits, 8) if digits else 0


def _decimal(digits: bytes) -> int:
    if not digits.isdigit() or len(digits) > _MOST_DIGITS:
        raise ValueError("a number has other characters than digits")
    return int(digits)


def _text(field: bytes) -> bytes:
    return field.partition(b"\0")[0]


def _name(header: bytes) -> bytes:
    name, prefix = _text(header[:100]), _text(header[345:500])
    return prefix + b"/" + name if prefix else name


def _records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the records of an extended header that matter: ``path``, ``size``, and ``sparse`` for all that describe holes.

    A record has its own length, a space, a name, an equals sign, a value and a line feed. Raises ValueError.
    """
    at = 0
    while at < len(data) and data[at]:
        spend_steps(_STEPS_FOR_A_RECORD, READING)
        space = data.find(b" ", at, at + _MOST_DIGITS + 1)
        end = at + _decimal(data[at:space])
        if not space < end <= len(data):
            raise ValueError("an extended header has a wrong length")
        name, _, value = data[space + 1 : end - 1].partition(b"=")
        if name in (b"path", b"size"):
            yield name, value
        elif name.startswith(b"GNU.sparse."):
            yield b"sparse", b""
        at = end
