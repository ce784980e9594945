from __future__ import annotations

import tarfile
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.bundles import member, members
from delegate_sim.bundles.bundle_error import BundleError
from delegate_sim.bundles.formats import MODEL as MODEL_FILE
from delegate_sim.bundles.formats import format_at
from delegate_sim.bundles.members import member_content, models_in
from delegate_sim.bundles.model_files import files_for
from delegate_sim.errors import ModelError
from delegate_sim.foundation import work_budget
from delegate_sim.model.reader import load
from fixtures.bundles import litertlm_bytes, tar_bytes, zip_bytes
from tests.support.models import chain_model

MODEL = chain_model(["ADD", "ROUND"]).bytes()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.zip", zip_bytes({"x/m.tflite": MODEL, "read.me": b"no model"})),
        ("a.apk", zip_bytes({"x/m.tflite": MODEL, "read.me": b"no model"}, zipfile.ZIP_DEFLATED)),
        ("a.tar", tar_bytes({"x/m.tflite": MODEL, "read.me": b"no model"})),
        ("a.tar.gz", tar_bytes({"x/m.tflite": MODEL, "read.me": b"no model"}, "w:gz")),
        ("a.tar.bz2", tar_bytes({"x/m.tflite": MODEL, "read.me": b"no model"}, "w:bz2")),
        ("a.tar.xz", tar_bytes({"x/m.tflite": MODEL, "read.me": b"no model"}, "w:xz")),
    ],
)
def test_models_are_found_by_their_content_and_read_by_their_address(saved, name, content):
    path = saved(name, content)
    assert format_at(path) not in (MODEL_FILE, None)
    assert files_for(path) == [f"{name}!/x/m.tflite"]
    assert bytes(member_content(f"{name}!/x/m.tflite")) == MODEL
    model = load(f"{name}!/x/m.tflite")
    assert [node.op for node in model.subgraphs[0].nodes] == ["ADD", "ROUND"]
    assert model.sha256 == load(MODEL).sha256


def test_a_bundle_in_an_application(saved):
    bundle = zip_bytes({"TF_LITE_PREFILL_DECODE": MODEL, "TOKENIZER_MODEL": b"words"})
    path = saved("app.apk", zip_bytes({"assets/llm.task": bundle, "classes.dex": b"dex\n035"}, zipfile.ZIP_DEFLATED))
    assert models_in(path) == ["app.apk!/assets/llm.task!/TF_LITE_PREFILL_DECODE"]
    assert load(models_in(path)[0]).size == len(MODEL)


def test_bundles_are_nested_only_a_few_times(saved):
    content = zip_bytes({"m.tflite": MODEL})
    for _ in range(3):
        content = zip_bytes({"inner.zip": content})
    path = saved("deep.zip", content)
    assert models_in(path) == ["deep.zip!/inner.zip!/inner.zip!/inner.zip!/m.tflite"]
    assert load(models_in(path)[0]).size == len(MODEL)
    with pytest.raises(BundleError, match="holds bundles that are nested more than 4 deep: unpack it first"):
        models_in(saved("deeper.zip", zip_bytes({"inner.zip": content})))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.zip", zip_bytes({"m.tflite": MODEL})[:-30], "a.zip: is a damaged zip archive"),
        ("a.zip", zip_bytes({"read.me": b"x"}), "a.zip: is a bundle or an archive that holds no model"),
        ("a.zip", zip_bytes({"m.tflite": MODEL}), r"a.zip: is a bundle that holds 1 model: name one, such as a.zip!/m.tflite"),
        ("a.litertlm", b"LITERTLM" + bytes(24), "a.litertlm: has version 0"),
        ("a.litertlm", b"LITERTLM\1" + bytes(15) + b"\xff" * 8 + b"\xff" * 64, "a.litertlm: is a damaged LiteRT-LM file"),
        ("a.tar.gz", b"\x1f\x8b" + bytes(600), "a.tar.gz: the archive cannot be decompressed"),
    ],
)
def test_what_cannot_be_read_is_one_line(saved, name, content, message):
    with pytest.raises(ModelError, match=message):
        load(saved(name, content))


def test_an_address_that_leads_nowhere(saved):
    path = saved("a.zip", zip_bytes({"m.tflite": MODEL, "read.me": b"no model, and long enough"}))
    with pytest.raises(ModelError, match=r"a\.zip!/n\.tflite: holds no n\.tflite"):
        load(f"{path}!/n.tflite")
    with pytest.raises(ModelError, match="is not a TFLite model"):
        load(f"{path}!/read.me")
    with pytest.raises(ModelError, match=r"nowhere\.zip!/m\.tflite: No such file"):
        load("nowhere.zip!/m.tflite")


def test_entries_that_share_bytes_are_refused(saved):
    content = bytearray(zip_bytes({"a.tflite": MODEL, "b.tflite": MODEL}))
    second = content.rindex(b"PK\x01\x02")
    content[second + 42 : second + 46] = bytes(4)
    with pytest.raises(ModelError, match=r"a\.zip: is a damaged zip archive: [ab]\.tflite and [ab]\.tflite overlap"):
        load(saved("a.zip", bytes(content)))


def test_bundles_of_too_many_models(saved, monkeypatch):
    monkeypatch.setattr(members, "_MOST_MODELS", 2)
    path = saved("a.zip", zip_bytes({f"{number}": MODEL for number in range(3)}))
    with pytest.raises(BundleError, match="holds more than 2 models: unpack it first"):
        models_in(path)
    assert len(models_in(saved("b.zip", zip_bytes({"1": MODEL, "2": MODEL})))) == 2


def test_bundles_of_too_large_bundles(saved, monkeypatch):
    monkeypatch.setattr(members, "_MOST_UNPACKED", 3 << 20)
    inner = zip_bytes({"m": MODEL, "x": bytes(1 << 20)})
    assert len(models_in(saved("a.zip", zip_bytes({"1.zip": inner, "2.zip": inner})))) == 2
    with pytest.raises(BundleError, match="holds nested bundles of more than 3 MiB"):
        models_in(saved("b.zip", zip_bytes({str(number): inner for number in range(3)}, zipfile.ZIP_DEFLATED)))


def test_a_bundle_inside_is_opened_once(saved, monkeypatch):
    path = saved("a.zip", zip_bytes({"inner.zip": zip_bytes({f"{number}.tflite": MODEL for number in range(9)})}))
    opened = []
    original = members._inside
    monkeypatch.setattr(members, "_inside", lambda content, name: opened.append(name) or original(content, name))
    for address in models_in(path):
        load(address)
    assert opened.count("inner.zip") == 2  # to find the models, and to read them


NAMES = ("a!/b.tflite", "[a].tflite", "\x1b[31m\n::error::", "../../x.tflite", "/x", "a.zip!/a.zip", " ", "*")


@pytest.mark.parametrize("make", [zip_bytes, tar_bytes])
def test_members_of_any_name_are_found_and_read(saved, make):
    path = saved("a.zip", make(dict.fromkeys(NAMES, MODEL)))
    assert files_for(path) == [f"a.zip!/{name}" for name in NAMES]
    for address in files_for(path):
        assert load(address).size == len(MODEL)


def test_of_several_members_of_one_name_the_first_counts(saved):
    twice = tar_bytes({"m": MODEL})[: -2 * 512].rstrip(b"")
    path = saved("a.tar", tar_bytes({"m": MODEL})[: 512 + -(-len(MODEL) // 512) * 512] + twice + bytes(1024))
    assert models_in(path) == ["a.tar!/m"]


def test_an_encrypted_member_is_no_model(saved):
    content = bytearray(zip_bytes({"m.tflite": MODEL}))
    content[6] |= 1
    directory = content.rindex(b"PK\x01\x02")
    content[directory + 8] |= 1
    assert models_in(saved("secret.zip", bytes(content))) == []


@given(st.data())
def test_damage_raises_nothing_else(tmp_path_factory, data):
    kind = data.draw(st.sampled_from(["a.zip", "a.tar", "a.litertlm"]))
    good = {
        "a.zip": zip_bytes({"m.tflite": MODEL, "n": b"x" * 50}, zipfile.ZIP_DEFLATED),
        "a.tar": tar_bytes({"m.tflite": MODEL}),
        "a.litertlm": litertlm_bytes([(3, "m", MODEL)]),
    }[kind]
    content = bytearray(good)
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / kind
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    for found in files_for(str(path)):
        with suppress(ModelError):
            load(found)
    with suppress(BundleError):
        models_in(str(path))


def test_a_very_long_name_is_refused(tmp_path):
    path = tmp_path / "long.zip"
    path.write_bytes(zip_bytes({f"{'n' * member._LONGEST_NAME}.tflite": MODEL}))
    with pytest.raises(BundleError, match="holds a name of more than 4,096 characters"):
        models_in(str(path))


def test_sections_that_share_a_very_long_name_are_refused(tmp_path):
    path = tmp_path / "long.litertlm"
    items = {"model_type": "n" * (member._LONGEST_NAME + 1)}
    path.write_bytes(litertlm_bytes([(3, items, MODEL), (3, items, MODEL)]))
    with pytest.raises(BundleError, match="holds a name of more than 4,096 characters"):
        models_in(str(path))


def test_each_copy_of_a_name_in_a_global_header_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 5_000)
    path = tmp_path / "names.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT, pax_headers={"path": "n" * 4000}) as archive:
        for _ in range(20):
            archive.addfile(tarfile.TarInfo("m"))
    with work_budget.work_budget(is_new=True), pytest.raises(BundleError, match="more than the limit of 5,000 steps"):
        models_in(str(path))


def test_a_damaged_number_of_a_tar_archive_is_not_quoted(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT, pax_headers={"size": "secret"}) as archive:
        archive.addfile(tarfile.TarInfo("m.tflite"))
    with pytest.raises(BundleError) as caught:
        models_in(str(path))
    assert "secret" not in str(caught.value)
