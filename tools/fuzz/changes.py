"""Random changes of inputs other than models: bytes, texts, JSON, archives, bundles and tables.

Each function takes a generator and the content of a file, and returns the changed content. The same generator gives the same.
"""

from __future__ import annotations

import base64
import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import random
import re
import sqlite3
import struct
import tarfile
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from fixtures.bundles import litertlm_bytes
from tools.fuzz.children import in_child

Change = Callable[[random.Random, bytes], bytes]

LARGEST = 1 << 20
"""Bytes beyond which a text is not repeated."""
SECRET = "content-of-a-file-outside"
"""The content of ``OUTSIDE``."""
OUTSIDE = "../outside.txt"
"""A file outside the folder of the input, which no command may quote."""
LONE_SURROGATE = "\ud800"
"""A character that UTF-8 cannot write, and that JSON writes as six characters."""
_NOT_UTF8 = "\udcff"
"""A byte of a name that is not UTF-8, as Python decodes it."""
_EDGES = (0, 1, 2, 127, 128, 255, 256, 65_535, 65_536, (1 << 24) - 2, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 64) - 1)
_NUMBERS = (
    *map(str, (*_EDGES, 1 << 64, 10**400)),
    "9" * 5000,
    "-1",
    "-0",
    "1e308",
    "1e999",
    "0.5",
    "nan",
    "inf",
    "0x10",
    "1_0",
    "٣",
)
_WORDS = (
    "", "x" * 300, "n" * 100_000, "a" * 255, "\x1b[31mred", "::error::no", "##[error]no", "<b>|`*_", "=1+1", "\u202e",
    LONE_SURROGATE, "\\ud800", "\0", "\r", "\n", OUTSIDE, "/proc/self/environ", "/dev/zero", "a/../../b", "-v", "--", "$(id)",
    "%s%n", "{}", "'", '"', "\\", "\ufeff", "true", "false", "null", "all", "nnapi",
)  # fmt: skip
_SHORT_WORDS = [word for word in _WORDS if len(word) < 100 and word != LONE_SURROGATE]
_BRACKETS: Sequence[tuple[str, str]] = (("[", "]"), ("{", "}"), ("(", ")"), ("<", ">"), ('"', '"'), ("\n", "\n"))
_REPEATS = (2, 10, 100, 3_000, 30_000, 300_000)
_TOKEN = re.compile(r"[A-Za-z_]+|\d+|\s+|[^\w\s]+|\w+")


def changed_bytes(generator: random.Random, content: bytes) -> bytes:
    """Change a few places: bits, bytes, integers of any width, and runs of bytes."""
    changed = bytearray(content)
    for _ in range(generator.choice((1, 1, 1, 2, 3, 5, 8, 16))):
        place, width = generator.randrange(len(changed) + 1), generator.choice((1, 1, 2, 4, 8))
        end = min(len(changed), place + generator.choice((1, 4, 16, 256)))
        choice = generator.randrange(8)
        if choice < 2 and place < len(changed):
            changed[place] ^= 1 << generator.randrange(8)
        elif choice < 5:
            number = generator.choice(_EDGES) & ((1 << 8 * width) - 1)
            changed[place : place + width] = number.to_bytes(width, generator.choice(("little", "big")))
        elif choice == 5:
            del changed[place:end]
        elif choice == 6:
            changed[place:place] = changed[place:end] * generator.choice((1, 2, 100))
        elif generator.random() < 0.3:
            del changed[place:]
    return bytes(changed)


def changed_text(*fragments: str) -> Change:
    """Return a change of text. ``fragments`` are pieces that have a meaning in texts of this kind."""

    def change(generator: random.Random, content: bytes) -> bytes:
        text = content.decode("utf-8", "surrogateescape")
        for _ in range(generator.choice((1, 1, 1, 2, 3, 5))):
            text = generator.choice(_TEXT_CHANGES)(generator, text, (*fragments, *_WORDS) if fragments else _WORDS)
        changed = text.encode("utf-8", "surrogatepass" if LONE_SURROGATE in text else "surrogateescape")
        return changed_bytes(generator, changed) if generator.random() < 0.05 else changed

    return change


def _with_token(generator: random.Random, text: str, pieces: Sequence[str]) -> str:
    """Replace a word or number, or all equal ones."""
    tokens = _TOKEN.findall(text)
    if not tokens:
        return generator.choice(pieces)
    old = generator.choice(tokens)
    new = generator.choice(_NUMBERS if old.isdecimal() and generator.random() < 0.8 else (*pieces, generator.choice(tokens)))
    start = generator.randrange(len(text))
    place = text.find(old, start) if old in text[start:] else text.find(old)
    return text.replace(old, new, 100) if generator.random() < 0.1 else text[:place] + new + text[place + len(old) :]


def _with_lines(generator: random.Random, text: str, pieces: Sequence[str]) -> str:
    """Remove, move, repeat or join lines. Repeated lines may have numbers that count."""
    lines = text.splitlines(keepends=True) or [""]
    first = generator.randrange(len(lines))
    some = lines[first : first + generator.choice((1, 1, 3, 20))]
    choice = generator.randrange(6)
    if choice == 0:
        del lines[first : first + len(some)]
    elif choice == 1:
        generator.shuffle(lines)
    elif choice == 2:
        return "".join(lines).replace("\n", generator.choice(("", " ", "\r", "\0")))
    else:
        piece = "".join(some)
        count = min(generator.choice(_REPEATS), LARGEST // max(len(piece), 1))
        numbers = re.compile(r"\d+" if choice == 3 else r"\b[A-Za-z]\w*\b")
        spans = [match.span() for match in numbers.finditer(piece)]
        if choice < 5 and spans:
            start, end = generator.choice(spans)
            lines[first:first] = [f"{piece[:start]}{piece[start:end]}{number}{piece[end:]}" for number in range(count)]
        else:
            lines[first:first] = [piece] * count
    return "".join(lines)


def _with_repeats(generator: random.Random, text: str, pieces: Sequence[str]) -> str:
    """Repeat a piece of the text, or a piece that has a meaning."""
    place = generator.randrange(len(text) + 1)
    piece = generator.choice(pieces) if generator.random() < 0.5 else text[place : place + generator.choice((1, 2, 5, 60))]
    count = min(generator.choice(_REPEATS), LARGEST // max(len(piece), 1))
    return text[:place] + piece * count + text[place:]


def _nested(generator: random.Random, text: str, pieces: Sequence[str]) -> str:
    """Put a piece of the text into many brackets."""
    place = generator.randrange(len(text) + 1)
    end = place + generator.choice((0, 1, 10, 100))
    opening, closing = generator.choice(_BRACKETS)
    count = generator.choice((1, 50, 900, 5_000, 100_000))
    return text[:place] + opening * count + text[place:end] + closing * count + text[end:]


def _with_piece(generator: random.Random, text: str, pieces: Sequence[str]) -> str:
    place = generator.randrange(len(text) + 1)
    return text[:place] + generator.choice(pieces) + text[place:]


def _cut(generator: random.Random, text: str, pieces: Sequence[str]) -> str:
    place = generator.randrange(len(text) + 1)
    return text[:place] if generator.random() < 0.2 else text[:place] + text[place + generator.choice((1, 5, 100)) :]


_TEXT_CHANGES = (_with_token, _with_token, _with_token, _with_lines, _with_lines, _with_repeats, _nested, _with_piece, _cut)


def changed_json(generator: random.Random, content: bytes) -> bytes:
    """Change values of a JSON text, or its characters."""
    if generator.random() < 0.3:
        return changed_text()(generator, content)
    try:
        data = json.loads(content)
    except ValueError:
        return changed_text()(generator, content)
    for _ in range(generator.choice((1, 1, 2, 4))):
        data = _with_value(generator, data)
    return json.dumps(data).encode()


def _with_value(generator: random.Random, data: Any) -> Any:
    """Change one value at any depth. Strings that hold packed JSON are unpacked."""
    if isinstance(data, dict | list) and data and generator.random() < 0.85:
        key = generator.choice(list(data) if isinstance(data, dict) else range(len(data)))
        choice = generator.random()
        if choice < 0.05:
            del data[key]
        elif choice < 0.15 and isinstance(data, list):
            times, text = generator.choice((1, 10, 1_000)), json.dumps(data[key])
            if times * len(text) <= LARGEST:
                data[key:key] = [json.loads(text) for _ in range(times)]
        elif choice < 0.15 and isinstance(data, dict):
            data[generator.choice(_WORDS)] = data.pop(key)
        else:
            data[key] = _with_value(generator, data[key])
        return data
    if isinstance(data, str) and len(data) > 40:
        with contextlib.suppress(ValueError, zlib.error):
            inner = _with_value(generator, json.loads(zlib.decompress(base64.b64decode(data, validate=True))))
            return base64.b64encode(zlib.compress(json.dumps(inner).encode())).decode()
    if isinstance(data, str) and generator.random() < 0.5:
        return changed_text("0-16777214", "0-0,")(generator, data.encode("utf-8", "replace")).decode("utf-8", "replace")
    nested: Any = data
    for _ in range(generator.choice((1, 2, 100, 900))):
        nested = [nested]
    numbers = (-1, 0, 1, 0.5, 1 << 31, 1 << 64, 10**400, 1e308, float("nan"), float("inf"))
    values: Sequence[Any] = (None, True, *numbers, "", "x" * 1000, [], {}, nested)
    return generator.choice((*values, *_WORDS))


_MOST_MODELS, _MOST_MEMBERS, _MOST_ARCHIVED = 20, 5_000, 4 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_ZIP_FIELDS = {
    b"PK\x01\x02": ((6, 2), (8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (34, 2), (38, 4), (42, 4)),
    b"PK\x03\x04": ((4, 2), (6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)),
    b"PK\x05\x06": ((4, 2), (6, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2)),
}
"""Positions and widths of the numbers in the records of a zip archive, by signature."""


def changed_zip(generator: random.Random, content: bytes) -> bytes:
    """Write an archive again with other names, methods and repeats, and change numbers in its records."""
    if generator.random() < 0.1:
        return changed_bytes(generator, content)
    if generator.random() < 0.6:
        content = _zip_again(generator, content)
    changed = bytearray(content)
    if generator.random() < 0.6:
        for _ in range(generator.choice((1, 1, 2, 5))):
            signature = generator.choice(list(_ZIP_FIELDS))
            places = [match.start() for match in re.finditer(re.escape(signature), changed)]
            if places:
                offset, width = generator.choice(_ZIP_FIELDS[signature])
                place, number = generator.choice(places) + offset, generator.choice((*_EDGES, generator.randrange(16)))
                changed[place : place + width] = (number & ((1 << 8 * width) - 1)).to_bytes(width, "little")
    return bytes(changed)


def _zip_again(generator: random.Random, content: bytes) -> bytes:
    written = io.BytesIO()
    method = generator.choice(_METHODS)
    with (
        warnings.catch_warnings(),
        zipfile.ZipFile(io.BytesIO(content)) as archive,
        zipfile.ZipFile(written, "w", method) as target,
    ):
        warnings.simplefilter("ignore")  # equal names
        for entry in archive.infolist():
            data = archive.read(entry)
            if generator.random() < 0.2:
                data = changed_bytes(generator, data)
            name = _name(generator, entry.filename).replace(_NOT_UTF8, "d")  # zipfile cannot write it
            extra = generator.choice((b"", b"", b"", b"\x01\x00\x10\x00" + bytes([255] * 16), bytes(60_000)))
            counts = generator.random() < 0.5
            for number in range(_repeats(generator, data, (len(data) + 2 * len(extra) + 200) * len(archive.infolist()))):
                info = zipfile.ZipInfo(f"{number}{name}" if counts and number else name)
                info.compress_type, info.extra = method, extra
                target.writestr(info, data)
        if generator.random() < 0.1:
            target.writestr(zipfile.ZipInfo("zeros.tflite"), bytes(generator.choice((1 << 20, 64 << 20))), zipfile.ZIP_DEFLATED)
        target.comment = generator.choice((b"", b"PK\x05\x06", bytes(65_535)))
    result = written.getvalue()
    for number in range(generator.choice((0, 0, 0, 1, 5, 20))):
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w") as target:
            target.writestr(zipfile.ZipInfo(f"{number}.zip"), result)
        result = written.getvalue()
    return result


def _repeats(generator: random.Random, data: bytes, size: int) -> int:
    """Return the number of times to write a member, if all members with as many copies take ``size`` bytes for each copy."""
    most = _MOST_MODELS if data[4:8] == b"TFL3" or data[:2] == b"PK" else _MOST_MEMBERS
    return min(generator.choice((1, 1, 1, 1, 2, 50, most)), most, max(1, _MOST_ARCHIVED // size))


def _name(generator: random.Random, name: str) -> str:
    """Return the name of a member, or a hostile one, which may have bytes that are not UTF-8, with or without its suffix."""
    if generator.random() < 0.6:
        return name
    word = generator.choice(_WORDS)[:60_000].replace("\0", "0").replace(LONE_SURROGATE, _NOT_UTF8) or "a"
    return word if generator.random() < 0.3 else f"{word}{os.path.splitext(name)[1]}"


_TAR_FIELDS = (
    (0, 100),
    (100, 8),
    (124, 12),
    (148, 8),
    (156, 1),
    (157, 100),
    (257, 6),
    (329, 8),
    (345, 155),
    (386, 48),
    (482, 13),
)
_COMPRESSORS: Sequence[tuple[bytes, Callable[[bytes], bytes], Callable[[bytes], bytes]]] = (
    (b"\x1f\x8b", gzip.decompress, lambda content: gzip.compress(content, mtime=0)),
    (b"BZh", bz2.decompress, bz2.compress),
    (b"\xfd7zXZ", lzma.decompress, lzma.compress),
)


def changed_tar(generator: random.Random, content: bytes) -> bytes:
    """Write an archive again with other names, kinds and records, and change fields of headers, whose sums stay right."""
    for beginning, decompress, compress in _COMPRESSORS:
        if content.startswith(beginning):
            if generator.random() < 0.2:
                return changed_bytes(generator, content)
            return compress(changed_tar(generator, decompress(content)))
    if generator.random() < 0.1:
        return changed_bytes(generator, content)
    if generator.random() < 0.7:
        content = _tar_again(generator, content)
    changed = bytearray(content)
    if generator.random() < 0.6:
        headers = [at for at in range(0, len(changed) - 511, 512) if changed[at + 257 : at + 262] == b"ustar"]
        for at in generator.choices(headers, k=generator.choice((1, 1, 2))) if headers else ():
            start, width = generator.choice(_TAR_FIELDS)
            octal = f"{generator.choice(_EDGES):0{width - 1}o}"[: width - 1].encode() + b"\0"
            values = (
                octal,
                b"\xff" * width,
                b"\x80" + b"\xff" * (width - 1),
                bytes(width),
                generator.randbytes(width),
                b"xgLKSV"[:width],
            )
            changed[at + start : at + start + width] = generator.choice(values)[:width].ljust(width, b"\0")
            header = changed[at : at + 148] + b" " * 8 + changed[at + 156 : at + 512]
            changed[at + 148 : at + 156] = f"{sum(header):06o}\0 ".encode()
    return bytes(changed)


def _tar_again(generator: random.Random, content: bytes) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(content)) as archive, tarfile.open(fileobj=written, mode="w") as target:
        for entry in archive:
            file = archive.extractfile(entry)
            data = file.read() if file else b""
            entry.name = _name(generator, entry.name)
            if generator.random() < 0.3:
                keys = (
                    "size",
                    "path",
                    "linkpath",
                    "mtime",
                    "GNU.sparse.size",
                    "GNU.sparse.map",
                    "GNU.sparse.major",
                    "hdrcharset",
                )
                records = {generator.choice((*keys, "comment")): generator.choice((*_NUMBERS, *_WORDS)) for _ in range(3)}
                records |= {f"k{number}": "" for number in range(generator.choice((0, 0, 5, 3_000)))}
                entry.pax_headers = {key: value.replace(LONE_SURROGATE, _NOT_UTF8) for key, value in records.items()}
            if generator.random() < 0.2:
                entry.type = generator.choice((b"1", b"2", b"3", b"5", b"6", b"7", b"S", b"L", b"K", b"x", b"g", b"Z"))
                entry.linkname = generator.choice((entry.name, OUTSIDE, "/etc/passwd", ""))
            for _ in range(_repeats(generator, data, len(data) + 2_000)):
                entry.size = len(data)
                with contextlib.suppress(ValueError, UnicodeError):
                    target.addfile(entry, io.BytesIO(data))
        if generator.random() < 0.1:
            zeros = tarfile.TarInfo("zeros.tflite")
            zeros.size = generator.choice((1 << 20, 64 << 20))
            target.addfile(zeros, io.BytesIO(bytes(zeros.size)))
    return written.getvalue()


def changed_litertlm(generator: random.Random, content: bytes) -> bytes:
    """Change words of the header, numbers of sections, and the sections themselves."""
    if generator.random() < 0.5:
        content = _litertlm_again(generator, content)
    changed = bytearray(content)
    end = min(int.from_bytes(changed[24:32], "little"), len(changed) - 8)
    for _ in range(generator.choice((0, 1, 1, 2, 4, 16)) if end > 40 else 0):
        place = generator.randrange(8, end) & ~3
        other = generator.randrange(32, end) & ~3
        word = generator.choice(_EDGES) if generator.random() < 0.5 else int.from_bytes(changed[other : other + 4], "little")
        if generator.random() < 0.3:
            word = generator.choice((word + 4, word - 4, len(changed), end, other - place))
        changed[place : place + 4] = struct.pack("<I", word & 0xFFFFFFFF)
    return changed_bytes(generator, bytes(changed)) if generator.random() < 0.2 else bytes(changed)


def _litertlm_again(generator: random.Random, content: bytes) -> bytes:
    """Write sections of random kinds and items, whose contents are pieces of the file."""
    pieces = [piece for piece in re.split(rb"\0{512,}", content[16384:]) if piece] or [b""]
    count = generator.choice((1, 3, 10, 300, 4_000))
    shares_items = count > 300 or generator.random() < 0.5
    if count > 300:
        pieces = [b""]
    keys = ("model_type", "name", "section_backend_constraint", "k" * 300, "")
    items = {
        f"{generator.choice(keys)}{number or ''}": generator.choice(_SHORT_WORDS)
        for number in range(generator.choice((0, 1, 100, 2_000 if shares_items or count < 10 else 3)))
    }
    sections: list[tuple[int, str | dict[str, str] | None, bytes]] = []
    tokenizers = [generator.randrange(count)] if generator.random() < 0.3 else []
    for number in range(count):
        piece = generator.choice(pieces)
        if generator.random() < 0.3 and piece:
            piece = changed_bytes(generator, piece)
        if number in tokenizers:
            tokenizer = json.dumps({"model": {"vocab": {}, "merges": []}}).encode() + bytes(generator.choice((0, 64 << 20)))
            piece = len(tokenizer).to_bytes(8, "little") + zlib.compress(tokenizer)
        sections.append(
            (generator.randrange(10), generator.choice((None, "tf_lite_prefill_decode", "tf_lite_embedder", items)), piece)
        )
    while sum(len(piece) for _, _, piece in sections) > 4 << 20:
        sections.pop()
    return litertlm_bytes(sections, shares_items=shares_items)


def changed_patterns(generator: random.Random, content: bytes) -> bytes:
    """Change a text of op filters, or write patterns of random operators."""
    if generator.random() < 0.5:
        return changed_text("filters { ", '" "', "\\\\b", "(?P<n>", "{1,1000}", "[[:alpha:]]")(generator, content)
    patterns = [_pattern(generator, generator.choice((1, 2, 3, 4))) for _ in range(generator.choice((1, 1, 2, 100)))]
    return "".join([f'filters {{ op_name_pattern: "{pattern}" }}\n' for pattern in patterns]).encode()


def _pattern(generator: random.Random, depth: int) -> str:
    if depth == 0:
        return generator.choice(("a", "t", ".", r"\\w", "[^x]", "$", "^", r"\\b", r"\\pL", "conv", "main", "(?:)", "/"))
    parts = [_pattern(generator, depth - 1) for _ in range(generator.choice((1, 2, 2, 3)))]
    form = generator.choice(("({})*", "({})+", "({})?", "(?:{})*?", "({}){{0,30}}", "({}|.)", "{}", "(?i:{})", "({}){{500}}"))
    return form.format(generator.choice(("", "|")).join(parts))


def changed_sqlite(generator: random.Random, content: bytes) -> bytes:
    """Replace a table by a view or by other rows, or change bytes of pages."""
    if generator.random() < 0.5:
        return _damaged_pages(generator, content)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.sqlite")
        with open(path, "wb") as file:
            file.write(content)
        connection = sqlite3.connect(path, isolation_level=None)
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in generator.sample(tables, k=min(len(tables), generator.choice((1, 1, 2)))):
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            with contextlib.suppress(sqlite3.Error):
                _change_table(generator, connection, table, columns)
        connection.close()
        with open(path, "rb") as file:
            changed = file.read()
    return _damaged_pages(generator, changed) if generator.random() < 0.1 else changed


_VALUES = (
    "NULL",
    "-1",
    "9e999",
    "9223372036854775807",
    "'x'",
    "x'00ff'",
    "zeroblob({size})",
    "printf('%*d', {size}, 1)",
    "hex(zeroblob({size}))",
)


def _change_table(generator: random.Random, connection: sqlite3.Connection, table: str, columns: Sequence[str]) -> None:
    value = generator.choice(_VALUES).format(size=generator.choice((0, 1000, 1 << 20, 1 << 29)))
    choice = generator.randrange(6)
    if choice == 0:
        connection.execute(f'UPDATE "{table}" SET "{generator.choice(columns)}" = {value.replace(str(1 << 29), str(1 << 20))}')
    elif choice == 1:
        rows = generator.choice((10, 1_000, 20_000))
        selected = ", ".join([f'"{name}"' for name in columns])
        numbers = f"WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT {rows})"
        connection.execute(f'{numbers} INSERT OR IGNORE INTO "{table}" SELECT {selected} FROM "{table}" JOIN r LIMIT {rows}')
    elif choice == 2:
        connection.execute(f'ALTER TABLE "{table}" ADD COLUMN "{generator.choice(_WORDS[5:8])}" TEXT')
    elif choice == 3:
        connection.execute(f'DROP TABLE "{table}"')
    else:
        named = ", ".join(
            [f'{value if name == columns[0] or generator.random() < 0.1 else "NULL"} AS "{name}"' for name in columns]
        )
        most = generator.choice(("", " LIMIT 10", " LIMIT 1000000"))
        loop = f"WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r{most}) "
        crossed = ", ".join([f"sqlite_master AS m{number}" for number in range(generator.choice((1, 12)))])
        source = generator.choice(("r", "r WHERE x < 0", crossed))
        connection.execute(f'DROP TABLE "{table}"')
        connection.execute(f'CREATE VIEW "{table}" AS {loop if source[0] == "r" else ""}SELECT {named} FROM {source}')


def _damaged_pages(generator: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(generator.choice((1, 2, 4, 16))):
        start = generator.choice((0, 100, *range(4096, len(changed), 4096)))
        place = min(start + generator.randrange(generator.choice((16, 100, 4096))), len(changed) - 1)
        changed[place] = generator.choice((0, 1, 2, 5, 13, 127, 255, generator.randrange(256)))
    if generator.random() < 0.05:
        del changed[generator.randrange(len(changed)) :]
    return bytes(changed)


_ADDRESS_SPACE = 8 << 30


def changed_parquet(generator: random.Random, content: bytes) -> bytes:
    """Write other columns, or one value in very many rows, or change bytes, most often of the footer."""
    if generator.random() < 0.4:
        # In a process of its own, because pyarrow would stay, and leave no address space to the commands.
        return in_child(lambda: _parquet_again(generator, content), _ADDRESS_SPACE).result or content
    if generator.random() < 0.3:
        return changed_bytes(generator, content)
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[:footer] + changed_bytes(generator, content[footer:-8]) + content[-8:]


def _parquet_again(generator: random.Random, content: bytes) -> bytes:
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(content))
    rows = generator.choice((0, 1, 1_000, 100_000, 2_000_000))
    columns: dict[str, Any] = {}
    for name in table.column_names:
        texts = ("", "x", "x" * 1000, "x" * 1_000_000)
        value = generator.choice((generator.choice(texts), 1, 0.5, None, [1, [2]][:1], {"a": 1}, b"\xff"))
        indices = pyarrow.nulls(rows, pyarrow.int32()).fill_null(0)
        try:
            columns[name] = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array([value]))
        except pyarrow.ArrowException:
            columns[name] = pyarrow.nulls(rows)
    written = io.BytesIO()
    with contextlib.suppress(pyarrow.ArrowException):
        parquet.write_table(pyarrow.table(columns), written, store_schema=generator.random() < 0.2)
        return written.getvalue()
    return content
