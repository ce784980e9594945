"""Taking bundles apart, and putting them together again."""

from __future__ import annotations

import filecmp
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.bundles.litertlm import with_offsets
from delegate_sim.errors import ModelError
from delegate_sim.llm import packing
from delegate_sim.llm.contents import read_contents
from delegate_sim.llm.packing import HEADER, MANIFEST, TAIL, read_parts, repack, unpack, with_models, write_bundle
from fixtures.language_models import bundle, decoder, embedder

MODEL = decoder()
SECTIONS = [
    (42, {"name": "of a later format"}, b"abc"),
    (3, {"model_type": "tf_lite_embedder", "backend_constraint": "cpu"}, embedder()),
]


def test_a_bundle_that_is_not_changed_keeps_all_bytes(saved, tmp_path):
    path, folder, again = saved("llm.litertlm", bundle(MODEL, further=SECTIONS)), str(tmp_path / "parts"), str(tmp_path / "again")
    files = unpack(path, folder)
    assert files[2] == "02-tf_lite_prefill_decode.tflite"
    assert (tmp_path / "parts" / files[2]).read_bytes() == MODEL
    repack(folder, again)
    assert Path(again).read_bytes() == Path(path).read_bytes()


@pytest.mark.parametrize("model", [decoder(prefill={"prefill_16": 16, "prefill_8": 8, "prefill_4": 4}), decoder(prefill={})])
def test_only_one_model_is_replaced(saved, tmp_path, model):
    path, changed = saved("llm.litertlm", bundle(MODEL, further=SECTIONS)), str(tmp_path / "changed.litertlm")
    with_models(path, changed, {2: model})
    before, after = read_contents(path).sections, read_contents(changed).sections
    assert [(one.name, one.kind, one.constraint, one.items) for one in before] == [
        (one.name, one.kind, one.constraint, one.items) for one in after
    ]
    contents = [Path(name).read_bytes() for name in (path, changed)]
    for old, new in zip(before, after, strict=True):
        expected = model if old.number == 2 else contents[0][old.begin : old.end]
        assert contents[1][new.begin : new.end] == expected


def test_a_section_outside_the_file(saved, tmp_path):
    with pytest.raises(ModelError, match="section 2 overlaps another section or lies outside the file"):
        unpack(saved("llm.litertlm", bundle(MODEL)[:-20000]), str(tmp_path / "parts"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"sections": [{"number": 1e999, "file": "x"}]}',
        "[" * 100_000,
    ],
)
def test_a_damaged_list_of_sections(saved, tmp_path, text):
    folder = tmp_path / "parts"
    unpack(saved("llm.litertlm", bundle(MODEL)), str(folder))
    (folder / MANIFEST).write_text(text)
    with pytest.raises(ModelError, match=r"bundle\.json: is not a list of sections that 'unpack' wrote"):
        repack(str(folder), str(tmp_path / "again"))


@pytest.mark.parametrize("name", ["../x", "a\0b", "\ud800", "/etc/passwd"])
def test_a_name_of_no_file_of_the_folder(saved, tmp_path, name):
    folder = tmp_path / "parts"
    unpack(saved("llm.litertlm", bundle(MODEL)), str(folder))
    (folder / MANIFEST).write_text(json.dumps({"sections": [{"number": 0, "file": name}]}))
    with pytest.raises(ModelError, match="leads outside its folder"):
        repack(str(folder), str(tmp_path / "again"))


@pytest.mark.parametrize("name", [TAIL, "01-section-1.spiece"])
def test_a_file_that_is_named_twice(saved, tmp_path, name):
    folder = tmp_path / "parts"
    unpack(saved("llm.litertlm", bundle(MODEL)), str(folder))
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["sections"][0]["file"] = name
    (folder / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(ModelError, match=r"is named twice$"):
        repack(str(folder), str(tmp_path / "again"))


def test_gaps_between_sections_are_limited_together(saved, tmp_path, monkeypatch):
    content = saved("llm.litertlm", bundle(MODEL))
    head, header, _ = read_parts(content)
    files = {section.number: memoryview(b"x") for section in header.sections}
    begins = {section.number: (1 << 20) * (place + 1) for place, section in enumerate(header.sections)}
    far = [replace(one, begin=begins[one.number], end=begins[one.number] + 1) for one in header.sections]
    changed = memoryview(with_offsets(bytes(head[: header.end]), far))
    write_bundle(str(tmp_path / "written"), changed, files, memoryview(b""))
    monkeypatch.setattr(packing, "_GREATEST_GAP", 3 << 19)
    with pytest.raises(ModelError, match="the header places sections far apart"):
        write_bundle(str(tmp_path / "written"), changed, files, memoryview(b""))


@pytest.mark.parametrize("name", [MANIFEST, HEADER, TAIL, "02-tf_lite_prefill_decode.tflite"])
def test_a_link_that_leads_outside_the_folder(saved, tmp_path, name):
    folder, secret = tmp_path / "parts", tmp_path / "secret"
    unpack(saved("llm.litertlm", bundle(MODEL, further=SECTIONS)), str(folder))
    (folder / name).rename(secret)
    (folder / name).symlink_to(secret)
    with pytest.raises(ModelError, match=rf"{name}: leads outside its folder$"):
        repack(str(folder), str(tmp_path / "again"))
    assert not (tmp_path / "again").exists()


def test_the_contents_of_a_bundle(saved):
    contents = read_contents(saved("llm.litertlm", bundle(MODEL, {"backend_constraint": "gpu"}, further=SECTIONS)))
    model = contents.sections[2]
    assert (model.constraint, model.model.context, model.model.prefill_lengths) == ("gpu", 64, (16,))
    assert model.model.caches == contents.caches == 2 * 64 * 8 * 4
    assert contents.tokenizer == "SP_Tokenizer"
    assert json.loads(json.dumps(contents.to_dict()))["sections"][3]["items"] == {"name": "of a later format"}


def test_holes_stay_holes(tmp_path):
    path, folder, again = tmp_path / "large.litertlm", str(tmp_path / "parts"), tmp_path / "again.litertlm"
    path.write_bytes(bundle(MODEL, further=SECTIONS))
    with open(path, "r+b") as file:
        file.truncate(1 << 26)
        for start in ((1 << 23) + 123, 1 << 24, (1 << 25) + (1 << 20) - 7):
            file.seek(start)
            file.write(bytes(range(256)) * 9000)
        file.seek(0, os.SEEK_END)
        file.write(b"end")
    if used(path) > 1 << 24:
        pytest.skip("the file system stores no holes")
    unpack(str(path), folder)
    repack(folder, str(again))
    changed = tmp_path / "changed.litertlm"
    with_models(str(path), str(changed), {2: MODEL})
    assert filecmp.cmp(path, again, shallow=False)
    assert filecmp.cmp(path, changed, shallow=False)
    written = [again, changed, *Path(folder).iterdir()]
    assert [file for file in written if used(file) > 1 << 24] == []


def used(path):
    """Return the bytes that a file takes on the disk."""
    return os.stat(path).st_blocks * 512


def test_a_large_bundle_is_not_read_whole(tmp_path):
    path = tmp_path / "large.litertlm"
    path.write_bytes(bundle(MODEL))
    with open(path, "r+b") as file:
        file.truncate(4 << 30)
    assert read_contents(str(path)).size == 4 << 30
    assert delegate_sim.analyze_bundle(path).outcome == "starts"


def test_sections_far_apart_are_not_written(saved, tmp_path):
    content = saved("llm.litertlm", bundle(MODEL))
    head, header, _ = read_parts(content)
    last = max(section.number for section in header.sections)
    far = [replace(section, begin=1 << 40, end=1 << 40) if section.number == last else section for section in header.sections]
    files = {section.number: memoryview(bytes(section.end - section.begin)) for section in far}
    changed = memoryview(with_offsets(bytes(head[: header.end]), far))
    with pytest.raises(ModelError, match="the header places sections far apart"):
        write_bundle(str(tmp_path / "far.litertlm"), changed, files, memoryview(b""))
