"""The members of tar archives.

The module ``tarfile`` is not used, because the time and memory that it takes for the extended headers of some archives grow with
the square of the archive's size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..foundation.work_budget import spend_steps
from .bundle_error import READING, BundleError
from .member import Member, stored_member
from .ranged import Content

_BLOCK = 512
_STEPS_FOR_A_HEADER = 20
_STEPS_FOR_A_RECORD = 3
_BYTES_IN_A_STEP = 10
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
            spend_steps(len(name) // _BYTES_IN_A_STEP, READING)
            is_sparse = kind == _SPARSE or b"sparse" in records
            if kind in _REGULAR and not is_sparse and not name.endswith(b"/"):
                yield stored_member(name.decode("utf-8", "surrogateescape"), data)
            continue
        spend_steps(size // _BYTES_IN_A_STEP, READING)
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
