"""Replacing models in ``.task`` files, and unpacking and packing these files."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from delegate_sim.bundles.task_files import (
    MANIFEST,
    is_unpacked_task,
    repack_task,
    task_models,
    unpack_task,
    with_task_models,
)
from delegate_sim.errors import ModelError
from delegate_sim.foundation import work_budget
from fixtures.builder import ModelBuilder


def model(name):
    builder = ModelBuilder()
    graph = builder.subgraph(name)
    source, result = graph.input("x", "FLOAT32", (1, 4)), graph.tensor("y", "FLOAT32", (1, 4))
    graph.node("RELU", [source], [result])
    graph.outputs(result)
    return builder.bytes()


FIRST, SECOND, INNER = model("first"), model("second"), model("inner")


def zipped(members, compression=zipfile.ZIP_STORED, comment=b""):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.comment = comment
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, (2024, 5, 6, 7, 8, 10))
            entry.external_attr, entry.compress_type = 0o644 << 16, compression
            archive.writestr(entry, content)
    return file.getvalue()


MEMBERS = {"decoder.tflite": FIRST, "words.spiece": b"abc", "hand.task": zipped({"hand.tflite": INNER, "note": b"x"})}


@pytest.fixture
def saved(tmp_path):
    def save(content):
        path = tmp_path / "bundle.task"
        path.write_bytes(content)
        return str(path)

    return save


def contents(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def gaps(path):
    """Return for each member the number of bytes before its header, and the position of its content modulo 4."""
    found, end = [], 0
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            content = entry.header_offset + 30 + len(entry.filename.encode()) + len(entry.extra)
            found.append((entry.header_offset - end, content % 4))
            end = content + entry.compress_size
    return found


def test_the_models(saved):
    assert task_models(saved(zipped(MEMBERS))) == ("decoder.tflite", "hand.task!/hand.tflite")


def test_only_the_models_are_replaced(saved, tmp_path):
    path, target = saved(zipped(MEMBERS, comment=b"made by hand")), str(tmp_path / "new.task")
    with_task_models(path, target, {"decoder.tflite": SECOND, "hand.task!/hand.tflite": SECOND})
    assert list(contents(target)) == list(MEMBERS)
    assert contents(target) | {"hand.task": b""} == {**MEMBERS, "decoder.tflite": SECOND, "hand.task": b""}
    inner = io.BytesIO(contents(target)["hand.task"])
    assert contents(inner) == {"hand.tflite": SECOND, "note": b"x"}
    with zipfile.ZipFile(target) as archive:
        assert archive.comment == b"made by hand"
        assert {(entry.date_time, entry.external_attr, entry.compress_type) for entry in archive.infolist()} == {
            ((2024, 5, 6, 7, 8, 10), 0o644 << 16, zipfile.ZIP_STORED)
        }


def test_content_begins_where_mediapipe_can_map_it(saved, tmp_path):
    target = str(tmp_path / "new.task")
    with_task_models(saved(zipped(MEMBERS)), target, {"decoder.tflite": SECOND})
    assert all(1 <= before <= 4 and position == 0 for before, position in gaps(target))
    again = str(tmp_path / "again.task")
    with_task_models(target, again, {})
    assert Path(again).read_bytes() == Path(target).read_bytes()


def test_compressed_members_stay_compressed(saved, tmp_path):
    target = str(tmp_path / "new.task")
    with_task_models(saved(zipped(MEMBERS, zipfile.ZIP_DEFLATED)), target, {"decoder.tflite": SECOND})
    assert contents(target) == {**MEMBERS, "decoder.tflite": SECOND}
    with zipfile.ZipFile(target) as archive:
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_DEFLATED}


def test_unpacking_and_packing(saved, tmp_path):
    first, folder, again = str(tmp_path / "first.task"), str(tmp_path / "parts"), str(tmp_path / "again.task")
    with_task_models(saved(zipped(MEMBERS)), first, {})
    files = unpack_task(first, folder)
    assert files == ("00-decoder.tflite", "01-words.spiece", "02-hand.task")
    assert is_unpacked_task(folder)
    repack_task(folder, again)
    assert Path(again).read_bytes() == Path(first).read_bytes()
    Path(folder, files[0]).write_bytes(SECOND)
    Path(again).unlink()
    repack_task(folder, again)
    assert contents(again) == {**MEMBERS, "decoder.tflite": SECOND}


def repeated():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", b"1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a", b"2")
    return file.getvalue()


def encrypted():
    content = bytearray(zipped({"a.tflite": FIRST}))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"no zip", "is not a zip archive"),
        (zipped({"a.tflite": FIRST})[:-30], "is a damaged zip archive"),
        (repeated(), "has several members named a"),
        (encrypted(), "a.tflite is encrypted"),
        (zipped({"a.tflite": FIRST}, zipfile.ZIP_BZIP2), "a.tflite has a compression that cannot be written"),
        (zipped({"a.tflite": FIRST}).replace(FIRST, FIRST[:-1] + b"!"), "Bad CRC-32"),
    ],
)
def test_a_file_that_cannot_be_unpacked(saved, tmp_path, content, fault):
    with pytest.raises(ModelError, match=fault):
        unpack_task(saved(content), str(tmp_path / "parts"))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["members"][0].update(date=[1, 2]),
        lambda data: data["members"][0].update(date=[float("inf")] * 6),
        lambda data: data["members"][0].update(attributes=float("inf")),
        lambda data: data["members"][0].pop("name"),
        lambda data: data.update(comment=3),
    ],
)
def test_a_damaged_list_of_members(saved, tmp_path, change):
    folder = tmp_path / "parts"
    unpack_task(saved(zipped(MEMBERS)), str(folder))
    data = json.loads((folder / MANIFEST).read_text())
    change(data)
    (folder / MANIFEST).write_text(json.dumps(data))
    with pytest.raises(ModelError, match=r"bundle\.json: is not a list of members"):
        repack_task(str(folder), str(tmp_path / "again.task"))


def test_a_date_before_1980(saved, tmp_path):
    folder = tmp_path / "parts"
    unpack_task(saved(zipped(MEMBERS)), str(folder))
    text = (folder / MANIFEST).read_text()
    (folder / MANIFEST).write_text(text.replace("2024", "1970"))
    with pytest.raises(ModelError, match="1980"):
        repack_task(str(folder), str(tmp_path / "again.task"))


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        ("../x", "leads outside its folder"),
        ("/etc/passwd", "leads outside its folder"),
        ("a\0b", "leads outside its folder"),
        ("missing", "No such file or directory"),
        ("", "Is a directory"),
    ],
)
def test_a_name_of_no_file_of_the_folder(saved, tmp_path, file, fault):
    folder = tmp_path / "parts"
    unpack_task(saved(zipped(MEMBERS)), str(folder))
    data = json.loads((folder / MANIFEST).read_text())
    data["members"][0]["file"] = file
    (folder / MANIFEST).write_text(json.dumps(data))
    with pytest.raises(ModelError, match=fault):
        repack_task(str(folder), str(tmp_path / "again.task"))


@pytest.mark.parametrize("name", ["01-words.spiece", MANIFEST])
def test_a_link_that_leads_outside_the_folder(saved, tmp_path, name):
    folder, secret = tmp_path / "parts", tmp_path / "secret"
    unpack_task(saved(zipped(MEMBERS)), str(folder))
    (folder / name).rename(secret)
    (folder / name).symlink_to(secret)
    with pytest.raises(ModelError, match=rf"{name}: leads outside its folder$"):
        repack_task(str(folder), str(tmp_path / "again.task"))
    assert not (tmp_path / "again.task").exists()


def test_a_link_inside_the_folder(saved, tmp_path):
    path, folder, again = saved(zipped(MEMBERS)), tmp_path / "parts", tmp_path / "again.task"
    unpack_task(path, str(folder))
    (folder / "01-words.spiece").rename(folder / "moved")
    (folder / "01-words.spiece").symlink_to("moved")
    repack_task(str(folder), str(again))
    assert contents(str(again)) == MEMBERS


def test_a_file_that_is_named_twice(saved, tmp_path):
    folder = tmp_path / "parts"
    unpack_task(saved(zipped(MEMBERS)), str(folder))
    (folder / "01-words.spiece").unlink()
    (folder / "01-words.spiece").symlink_to("00-decoder.tflite")
    with pytest.raises(ModelError, match=r"01-words\.spiece: is named twice$"):
        repack_task(str(folder), str(tmp_path / "again.task"))
    assert not (tmp_path / "again.task").exists()


def test_the_files_of_a_folder_share_the_budget_of_work(saved, tmp_path, monkeypatch):
    folder = tmp_path / "parts"
    unpack_task(saved(zipped(MEMBERS)), str(folder))
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 100)
    with work_budget.work_budget(), pytest.raises(ModelError, match="parts: finding the files of a folder takes more than"):
        repack_task(str(folder), str(tmp_path / "again.task"))
