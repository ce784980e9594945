"""Commands on damaged and hostile archives and bundles."""

from __future__ import annotations

import csv
import gzip
import struct
import zipfile

import pytest
from click.testing import CliRunner

from delegate_sim.bundles import member, members
from delegate_sim_cli.main import program
from fixtures.bundles import litertlm_bytes, tar_bytes, zip_bytes
from tests.support.models import chain_model

MODEL = chain_model(["ADD", "ROUND"]).bytes()
NAME = "m.tflite"


def nested(depth):
    content = MODEL
    for number in range(depth):
        content = zip_bytes({f"{number}.zip" if number else NAME: content})
    return content


def replaced(content, old, new):
    """Replace bytes without changing the size."""
    assert old in content
    return content.replace(old, new.ljust(len(old), b"\0"))


def changed_zip(compression, local, central, value):
    """Change bytes in the header of a member and in the directory."""
    content = bytearray(zip_bytes({NAME: MODEL}, compression))
    directory = content.rindex(b"PK\x01\x02")
    content[local : local + len(value)] = value
    content[directory + central : directory + central + len(value)] = value
    return bytes(content)


def changed_data(compression, offset, value):
    """Change bytes of the compressed data of a member."""
    content = bytearray(zip_bytes({NAME: MODEL}, compression))
    start = 30 + len(NAME) + offset
    content[start : start + len(value)] = value
    return bytes(content)


def with_pax(records):
    """Return a tar archive with an extended header in front of the model."""
    data = records + bytes(-len(records) % 512)
    header = bytearray(tar_bytes({"pax": records})[:512])
    header[156:157] = b"x"
    header[148:156] = f"{sum(header[:148] + b' ' * 8 + header[156:]):06o}\0 ".encode()
    return bytes(header) + data + tar_bytes({NAME: MODEL})


def record(text):
    size = len(text) + 3
    return f"{size + (size > 9)} {text}\n".encode()


def litertlm_with(begin, end):
    """Return a bundle whose only section has other positions."""
    content = litertlm_bytes([(3, NAME, MODEL)])
    first, last = struct.pack("<Q", 16384), struct.pack("<Q", 16384 + len(MODEL))
    return replaced(replaced(content, first, struct.pack("<Q", begin)), last, struct.pack("<Q", end))


def overlapping():
    """Return an archive whose second member begins where the first one begins."""
    content = bytearray(zip_bytes({"a.tflite": MODEL, "b.tflite": MODEL}))
    second = content.rindex(b"PK\x01\x02") + 42
    content[second : second + 4] = bytes(4)
    return bytes(content)


WHOLE = zip_bytes({NAME: MODEL})
TAR = tar_bytes({NAME: MODEL})
LITERTLM = litertlm_bytes([(3, NAME, MODEL)])
DAMAGED = "is a damaged zip archive"
UNREADABLE = [
    *[(f"cut{size}.zip", WHOLE[:size], DAMAGED) for size in (4, 30, 100, len(WHOLE) - 22, len(WHOLE) - 1)],
    ("start.zip", WHOLE[50:] + bytes(9), "is not a TFLite model"),
    ("version.zip", changed_zip(0, 4, 6, b"\xff\xff"), DAMAGED),
    ("name.zip", changed_zip(0, 30, 30, b"x"), "another name"),
    ("size.zip", changed_zip(0, 18, 20, b"\xff\xff\xff\x7f"), "lies outside the archive"),
    ("offset.zip", changed_zip(0, 30, 42, b"\xff\xff\xff\x7f"), DAMAGED),
    ("method.zip", changed_zip(0, 8, 10, b"\x63"), "has a compression that cannot be read (method 99)"),
    ("crc.zip", changed_zip(zipfile.ZIP_DEFLATED, 14, 16, b"\0\0\0\0"), f"{NAME} cannot be read: Bad CRC-32"),
    ("deflate.zip", changed_data(zipfile.ZIP_DEFLATED, 0, b"\xff" * 9), f"{NAME} cannot be decompressed"),
    ("bzip2.zip", changed_data(zipfile.ZIP_BZIP2, 0, b"\xff" * 9), f"{NAME} cannot be decompressed"),
    ("lzma.zip", changed_data(zipfile.ZIP_LZMA, 4, b"\xff" * 5), f"{NAME} cannot be decompressed"),
    ("dictionary.zip", changed_data(zipfile.ZIP_LZMA, 5, b"\xff" * 4), f"{NAME} cannot be decompressed"),
    ("utf8.zip", replaced(zip_bytes({"\u00e9.tflite": MODEL}), "\u00e9".encode(), b"\xff\xfe"), DAMAGED),
    ("overlap.zip", overlapping(), "overlap"),
    ("deep.zip", nested(6), "holds bundles that are nested more than 4 deep"),
    ("bomb.zip", zip_bytes({NAME: MODEL + bytes(9 << 20)}, zipfile.ZIP_DEFLATED), "takes up more than 4 MiB when decompressed"),
    (
        "nested.zip",
        zip_bytes({f"{n}.zip": zip_bytes({NAME: MODEL, "x": bytes(2 << 20)}) for n in range(3)}),
        "more than 4 MiB in total",
    ),
    ("cut.tar", TAR[:700], "is a damaged tar archive: a member lies outside the archive"),
    ("header.tar", TAR[:400], "is a damaged tar archive: it ends inside a header"),
    ("sum.tar", replaced(TAR, NAME.encode(), b"n.tflite"), "is a damaged tar archive: a header has a wrong checksum"),
    *[
        (f"pax{number}.tar", with_pax(records), "is a damaged tar archive")
        for number, records in enumerate(
            [b"9999 path=x\n", b"0 path=x\n", b"-5 path=x\n", b"x path=x\n", b"5", record("size=-1"), record("size=x")]
            + [record(f"size={'9' * digits}") for digits in (9, 30)]
        )
    ],
    ("digits.tar", with_pax(b"5015 size=" + b"9" * 5004 + b"\n"), "is a damaged tar archive"),
    ("empty.tar.gz", b"\x1f\x8b" + bytes(600), "the archive cannot be decompressed"),
    ("cut.tar.gz", gzip.compress(TAR)[:-20], "the archive cannot be decompressed"),
    ("bomb.tar.gz", gzip.compress(tar_bytes({NAME: MODEL + bytes(9 << 20)})), "takes up more than 4 MiB when decompressed"),
    ("bad.tar.xz", b"\xfd7zXZ\0" + bytes(600), "the archive cannot be decompressed"),
    ("bad.tar.bz2", b"BZh9" + bytes(600), "the archive cannot be decompressed"),
    *[(f"cut{size}.litertlm", LITERTLM[:size], "LiteRT-LM") for size in (8, 20, 40)],
    ("cut.litertlm", LITERTLM[:16400], "is truncated or damaged: section 0 ends at byte"),
    ("end.litertlm", litertlm_with(16384, 1 << 63), "is truncated or damaged: section 0 ends at byte"),
    ("order.litertlm", litertlm_with(16385, 1), "is damaged: section 0 ends before it begins"),
]


def run(*arguments):
    return CliRunner().invoke(program, [str(argument) for argument in arguments])


def errors(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [(row["model"], row["error"]) for row in csv.DictReader(file)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(member, "_ALWAYS", 4 << 20)
    monkeypatch.setattr(members, "_MOST_UNPACKED", 4 << 20)
    members._opened.cache_clear()
    return tmp_path


@pytest.mark.parametrize(("name", "content", "message"), UNREADABLE, ids=[name for name, *_ in UNREADABLE])
def test_an_unreadable_archive_is_one_line_and_one_row(folder, name, content, message):
    (folder / name).write_bytes(content)
    result = run("analyze", name, "--delegate", "vx")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.output
    assert result.stderr.startswith(f"error: {name}")
    assert message in result.stderr
    result = run("scan", name, "--delegate", "vx", "--processes", 1, "--output", "out.csv")
    assert (result.exit_code, len(errors("out.csv"))) == (2, 1), result.output
    model, error = errors("out.csv")[0]
    assert model.startswith(name)
    assert error.startswith(name)
    assert message in error


def test_sections_of_equal_names_are_told_apart(folder):
    names = ["a", "a-1", "a", "a", ""]
    (folder / "m.litertlm").write_bytes(litertlm_bytes([(3, name, MODEL) for name in names]))
    result = run("scan", "m.litertlm", "--delegate", "vx", "--processes", 1, "--output", "out.csv")
    assert result.exit_code == 0
    assert sorted(errors("out.csv")) == [(f"m.litertlm!/{name}", "") for name in ("a", "a-1", "a-2", "a-3", "section-4")]


def test_damaged_members_leave_the_others(folder):
    damaged = changed_data(zipfile.ZIP_DEFLATED, 0, b"\xff" * 9)
    (folder / "a.zip").write_bytes(zip_bytes({"a.tflite": MODEL, "b.zip": damaged, "c.tflite": MODEL}))
    result = run("scan", "a.zip", "--delegate", "vx", "--processes", 1, "--output", "out.csv")
    assert result.exit_code == 2
    assert [(model, bool(error)) for model, error in sorted(errors("out.csv"))] == [
        ("a.zip!/a.tflite", False),
        ("a.zip!/b.zip!/m.tflite", True),
        ("a.zip!/c.tflite", False),
    ]
