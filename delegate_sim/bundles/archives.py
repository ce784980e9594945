"""The members of zip and tar archives."""

from __future__ import annotations

import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from typing import IO, cast

from ..foundation.files import file_content
from .bundle_error import BundleError
from .member import Member, copy_bounded, stored_member
from .ranged import Content, opened

_LOCAL_HEADER = 30
_ENCRYPTED = 1


def read_zip(content: Content) -> Sequence[Member]:
    """Return the files in a zip archive. Raises BundleError."""
    try:
        archive = zipfile.ZipFile(opened(content))
        entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, UnicodeDecodeError) as error:
        raise BundleError(f"is a damaged zip archive: {error}") from error
    refuse_overlaps(entries)
    return [_zip_member(archive, content, entry) for entry in entries if entry.filename and not entry.is_dir()]


def refuse_overlaps(entries: Sequence[zipfile.ZipInfo]) -> None:
    """Raise BundleError if two entries share bytes. Shared bytes would let a small archive expand to any size."""
    end, before = 0, ""
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < end:
            raise BundleError(f"is a damaged zip archive: {before} and {entry.filename} overlap")
        end, before = entry.header_offset + _LOCAL_HEADER + entry.compress_size, entry.filename


def _zip_member(archive: zipfile.ZipFile, content: Content, entry: zipfile.ZipInfo) -> Member:
    def stored() -> Content | None:
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & _ENCRYPTED:
            return None
        header = bytes(content[entry.header_offset : entry.header_offset + _LOCAL_HEADER])
        if len(header) < _LOCAL_HEADER:
            raise BundleError(f"is a damaged zip archive: {entry.filename} lies outside the archive")
        names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        start = entry.header_offset + _LOCAL_HEADER + names
        data = content[start : start + entry.file_size]
        if len(data) < entry.file_size:
            raise BundleError(f"is a damaged zip archive: {entry.filename} lies outside the archive")
        return data

    def beginning(count: int) -> bytes:
        view = stored()
        if view is not None:
            return bytes(view[:count])
        try:
            with archive.open(entry) as file:
                return file.read(count)
        except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError):
            return b""  # the format of an encrypted or damaged member is unknown

    def whole() -> Content:
        view = stored()
        if view is not None:
            return view
        try:
            with archive.open(entry) as file, tempfile.TemporaryFile() as target:
                copy_bounded(file, target, entry.filename, entry.compress_size)
                target.seek(0)
                return file_content(target)
        except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
            raise BundleError(f"{entry.filename} cannot be read: {error}") from error

    return Member(entry.filename, beginning, whole)


def read_tar(content: Content) -> Sequence[Member]:
    """Return the regular files in a tar archive. Raises BundleError."""
    try:
        with tarfile.open(fileobj=opened(content), mode="r:") as archive:
            entries = [entry for entry in archive if entry.isreg() and not entry.issparse()]
    except (tarfile.TarError, ValueError, OSError, EOFError) as error:
        raise BundleError(f"is a damaged tar archive: {error}") from error
    return [stored_member(entry.name, content[entry.offset_data : entry.offset_data + entry.size]) for entry in entries]


def opened_tar_stream(content: Content) -> IO[bytes]:
    """Return the decompressed stream of a compressed tar archive."""
    import bz2
    import gzip
    import lzma

    file = opened(content)
    beginning = bytes(content[:3])
    if beginning[:2] == b"\x1f\x8b":
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    return bz2.BZ2File(file) if beginning == b"BZh" else lzma.LZMAFile(file)
