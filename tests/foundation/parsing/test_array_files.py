"""Arrays in ``.npz`` files, also in files that are damaged or made to take much memory."""

from __future__ import annotations

import re
import zipfile

import numpy as np
import pytest

from delegate_sim.errors import OptionError
from delegate_sim.foundation import work_budget
from delegate_sim.foundation.parsing import array_files
from delegate_sim.foundation.parsing.array_files import array_kinds, read_arrays

MAGIC = b"\x93NUMPY"


def with_header(text, version=1):
    header = text.encode()
    return MAGIC + bytes([version, 0]) + len(header).to_bytes(2 if version == 1 else 4, "little") + header


def with_shape(shape, kind="<f4"):
    return with_header(f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}\n")


def write(path, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", content)
    return str(path)


def changed(path, places, value):
    """Write an archive with one array, and change bytes of the member's two headers at ``places`` after their signatures."""
    write(path, with_shape((1,)) + bytes(4))
    content = bytearray(path.read_bytes())
    for signature, place in zip((b"PK\x03\x04", b"PK\x01\x02"), places, strict=True):
        content[content.index(signature) + place] = value
    path.write_bytes(content)
    return str(path)


def test_arrays_are_read_by_name(tmp_path):
    path = str(tmp_path / "x.npz")
    arrays = {"a": np.arange(6, dtype=np.int8).reshape(2, 3), "b": np.ones((2, 2), np.float32, order="F"), "c": np.array(True)}
    np.savez_compressed(path, **arrays)
    assert {name: (kind.dtype, kind.shape) for name, kind in array_kinds(path).items()} == {
        name: (array.dtype, array.shape) for name, array in arrays.items()
    }
    found = read_arrays(path, ["b", "c"])
    assert list(found) == ["b", "c"]
    assert all(np.array_equal(array, arrays[name]) for name, array in found.items())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (with_shape((10**12,)), "its arrays have more than 268,435,456 bytes; DELEGATE_SIM_LIMITS=10 raises"),
        (with_shape((1,), "|S300000000"), "its arrays have more than"),
        (with_shape((-5,)), "the shape of an array is not possible"),
        (with_shape((1,) * 33), "the shape of an array is not possible"),
        (with_shape((1,), "|O"), "an array has Python objects"),
        (with_header('{"descr": "<f4",\0'), ""),
        (with_header(f"{{'descr': '{'(' * 3000}', 'fortran_order': False, 'shape': (5,)}}"), ""),
        (with_header("(" * 9000), ""),
        (with_header(" " * 10_001), "the header of an array has more than 10,000 bytes"),
        (MAGIC + b"\2\0" + b"\xff" * 8, "the header of an array has more than 10,000 bytes"),
        (MAGIC + b"\3\0" + b"\0" * 8, "an array has an unknown version"),
        (MAGIC + b"\1\0\xff", "an array is cut off"),
        (b"hello", ""),
    ],
)
def test_bad_arrays_are_refused(tmp_path, content, reason):
    path = write(tmp_path / "x.npz", content)
    with pytest.raises(OptionError, match=re.escape(f"{path}: cannot be read as a .npz file: {reason}")) as caught:
        array_kinds(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions_that_decompress_without_a_limit_are_refused(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "x.npz", "w", method) as archive:
        archive.writestr("x.npy", with_shape((1,)) + bytes(4))
    with pytest.raises(OptionError, match=r"x\.npz: .* an array has a compression that numpy\.savez does not use$"):
        array_kinds(str(tmp_path / "x.npz"))


@pytest.mark.parametrize("change", [((6, 8), 1), ((8, 10), 99)], ids=["encrypted", "unknown compression"])
def test_members_that_cannot_be_decompressed_are_refused(tmp_path, change):
    with pytest.raises(OptionError, match=r"x\.npz: cannot be read as a \.npz file: "):
        array_kinds(changed(tmp_path / "x.npz", *change))


def test_an_array_that_is_cut_off_is_refused(tmp_path):
    path = write(tmp_path / "x.npz", with_shape((100,)) + bytes(4))
    with pytest.raises(OptionError, match="cannot be read as"):
        read_arrays(path, ["x"])


def test_arrays_are_limited_unless_the_file_is_as_large(tmp_path, monkeypatch):
    monkeypatch.setattr(array_files, "_MOST_BYTES", 4000)
    packed, plain = str(tmp_path / "packed.npz"), str(tmp_path / "plain.npz")
    for count, is_refused in ((1000, False), (1001, True)):
        np.savez_compressed(packed, x=np.zeros(count, np.float32))
        np.savez(plain, x=np.zeros(count, np.float32))
        assert array_kinds(plain)["x"].shape == (count,)
        if not is_refused:
            assert array_kinds(packed)["x"].shape == (count,)
            continue
        with pytest.raises(OptionError, match="its arrays have more than 4,000 bytes"):
            array_kinds(packed)


def test_the_headers_of_arrays_cost_steps(tmp_path, monkeypatch):
    fields = "('', '|V1')," * 700
    header = with_header(f"{{'descr': [{fields}], 'fortran_order': False, 'shape': (1,)}}\n")
    path = str(tmp_path / "x.npz")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(10):
            archive.writestr(f"{number}.npy", header + bytes(700))
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 9 * len(header))
    with work_budget.work_budget(), pytest.raises(OptionError, match="reading arrays takes more than the limit"):
        array_kinds(path)


def test_no_array_is_decompressed_before_it_is_checked(tmp_path, monkeypatch):
    path = write(tmp_path / "x.npz", with_shape((1 << 20,)) + bytes(1 << 22))
    monkeypatch.setattr(array_files, "_MOST_BYTES", 1000)
    monkeypatch.setattr(array_files.np.lib.format, "read_array", None)
    with pytest.raises(OptionError, match="more than"):
        read_arrays(path, ["x"])
