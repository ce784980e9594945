"""Write zip archives in the same way as MediaPipe's bundler writes ``.task`` files.

Uncompressed members begin at a multiple of four bytes, because MediaPipe maps them into memory. Padding (bytes of value 0)
before a member's header moves the member to this position. Source: google-ai-edge/mediapipe,
``mediapipe/tasks/python/metadata/metadata_writers/model_asset_bundle_utils.py`` (``AlignZipFile``).
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

from .bundle_error import BundleError

_ALIGNMENT = 4
_ZIP64 = 1
"""The id of the extra field for sizes of 8 bytes. ``zipfile`` adds this field if a size does not fit into 4 bytes."""
_ROOM = 1.05
"""``zipfile`` uses sizes of 8 bytes if this number times the size is above its limit."""
_ENCRYPTED = 1


@dataclass(frozen=True, slots=True)
class ZipMember:
    """A member of an archive: its name, its compression and its other properties."""

    name: str
    is_compressed: bool
    date: tuple[int, int, int, int, int, int]
    attributes: int
    system: int
    comment: bytes
    extra: bytes

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> ZipMember:
        """Return the member with the plain data that ``to_dict`` returned.

        Raises ValueError, KeyError, TypeError or OverflowError.
        """
        date = tuple([int(part) for part in entry["date"]])
        if len(date) != 6:
            raise ValueError("a date has six parts")
        return cls(
            str(entry["name"]),
            bool(entry["is_compressed"]),
            date,
            int(entry["attributes"]),
            int(entry["system"]),
            bytes.fromhex(entry["comment"]),
            bytes.fromhex(entry["extra"]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the member as plain data."""
        return {**asdict(self), "date": list(self.date), "comment": self.comment.hex(), "extra": self.extra.hex()}

    def info(self, size: int) -> zipfile.ZipInfo:
        """Return the archive entry for a member with this size."""
        info = zipfile.ZipInfo(self.name, self.date)
        info.compress_type = zipfile.ZIP_DEFLATED if self.is_compressed else zipfile.ZIP_STORED
        info.external_attr, info.create_system, info.comment, info.extra = self.attributes, self.system, self.comment, self.extra
        info.file_size, info.CRC = size, 0
        return info


def member_of(entry: zipfile.ZipInfo) -> ZipMember:
    """Return the properties of an archive entry. Raises BundleError if this module cannot write an entry with such properties."""
    if entry.flag_bits & _ENCRYPTED:
        raise BundleError(f"{entry.filename} is encrypted")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BundleError(f"{entry.filename} has a compression that cannot be written")
    return ZipMember(
        entry.filename,
        entry.compress_type == zipfile.ZIP_DEFLATED,
        entry.date_time,
        entry.external_attr,
        entry.create_system,
        entry.comment,
        _without_sizes(entry.extra),
    )


class ZipWriter:
    """Writes the members of an archive one after another. The directory is written when the context ends."""

    def __init__(self, file: BinaryIO, comment: bytes = b"") -> None:
        self._file = file
        self._archive = zipfile.ZipFile(file, "w")
        self._archive.comment = comment

    def write(self, member: ZipMember, pieces: Iterable[bytes | memoryview], size: int) -> None:
        """Write a member whose content has ``size`` bytes."""
        info = member.info(size)
        is_large = size * _ROOM > zipfile.ZIP64_LIMIT
        if not member.is_compressed:
            self._align(len(info.FileHeader(is_large)))
        with self._archive.open(info, "w", force_zip64=is_large) as target:
            for piece in pieces:
                target.write(piece)

    def __enter__(self) -> ZipWriter:
        return self

    def __exit__(self, *error: object) -> None:
        """Write the directory of the archive."""
        self._archive.close()

    def _align(self, header: int) -> None:
        """Add padding as MediaPipe's bundler does: 1 to 4 bytes of value 0.

        The content then begins at a multiple of 4.
        """
        begin = self._archive.start_dir
        self._file.seek(begin)
        self._file.write(bytes(_ALIGNMENT - (begin + header) % _ALIGNMENT))
        self._archive.start_dir = self._file.tell()


def _without_sizes(extra: bytes) -> bytes:
    kept, at = b"", 0
    while at + 4 <= len(extra):
        field, size = struct.unpack_from("<HH", extra, at)
        if field != _ZIP64:
            kept += extra[at : at + 4 + size]
        at += 4 + size
    return kept
