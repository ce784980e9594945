"""Models in bundles in remote stores: found, judged alike, and read in part."""

from __future__ import annotations

import zipfile

import pytest

import delegate_sim
from delegate_sim.bundles import members, stores
from delegate_sim.bundles.model_files import files_for
from delegate_sim.bundles.stores import RemoteFile
from delegate_sim.errors import ModelError
from fixtures.bundles import litertlm_bytes, tar_bytes, zip_bytes
from tests.support.remote.models import heavy_model

fsspec = pytest.importorskip("fsspec", reason="remote stores need fsspec")
HEAVY = heavy_model().bytes()
FILES = {"notes.txt": b"nothing", "weights.bin": bytes(1 << 20), "m.tflite": HEAVY}
BUNDLES = {
    "b.zip": (zip_bytes(FILES), "m.tflite"),
    "b.tar": (tar_bytes(FILES), "m.tflite"),
    "b.litertlm": (litertlm_bytes([(1, None, bytes(1 << 20)), (3, "decoder", HEAVY)]), "decoder"),
    "b.task": (zip_bytes({"deep.task": zip_bytes({"decoder": HEAVY})}), "deep.task!/decoder"),
}


@pytest.fixture
def store(monkeypatch):
    """A store in memory; ``read`` holds the bytes that were asked of it."""
    members._opened.cache_clear()
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.read = 0
    usual = RemoteFile.parts

    def parts(self, ranges):
        found = usual(self, ranges)
        memory.read += sum(map(len, found))
        return found

    monkeypatch.setattr(RemoteFile, "parts", parts)
    yield memory
    memory.store.clear()
    members._opened.cache_clear()


@pytest.mark.parametrize("name", BUNDLES)
def test_what_is_stored_as_it_is_is_read_in_part(store, name):
    content, member = BUNDLES[name]
    store.pipe(f"/zoo/{name}", content)
    (address,) = files_for(f"memory://zoo/{name}")
    assert address == f"memory://zoo/{name}!/{member}"
    report = delegate_sim.analyze(address, "nnapi", defaults="api")
    assert report.model.size == len(HEAVY)
    assert report.to_dict()["runs"] == delegate_sim.analyze(HEAVY, "nnapi", defaults="api").to_dict()["runs"]
    assert store.read < len(HEAVY) // 10


def test_what_is_compressed_is_read_whole(store):
    store.pipe("/b.zip", zip_bytes({"m.tflite": HEAVY}, zipfile.ZIP_DEFLATED))
    model = delegate_sim.load("memory://b.zip!/m.tflite")
    assert model.sha256 == delegate_sim.load(HEAVY).sha256


def test_a_folder_has_bundles(store):
    store.pipe("/zoo/a.tflite", HEAVY)
    store.pipe("/zoo/b.zip", BUNDLES["b.zip"][0])
    assert files_for("memory://zoo") == ["memory:///zoo/a.tflite", "memory:///zoo/b.zip!/m.tflite"]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("memory://b.zip", "is a bundle that holds 1 model: name one, such as memory://b.zip!/m.tflite"),
        ("memory://b.zip!/other", "holds no other"),
        ("memory://nothing.zip!/m.tflite", "cannot be read"),
        ("memory://half.zip", "is a damaged zip archive"),
    ],
)
def test_what_cannot_be_read_is_one_line(store, url, message):
    store.pipe("/b.zip", BUNDLES["b.zip"][0])
    store.pipe("/half.zip", BUNDLES["b.zip"][0][: 1 << 20])
    with pytest.raises(ModelError, match=message) as raised:
        delegate_sim.load(url)
    assert str(raised.value).startswith(url)
    assert "\n" not in str(raised.value)


def test_a_store_that_gives_no_parts(store, monkeypatch):
    content = BUNDLES["b.zip"][0]
    store.pipe("/b.zip", content)
    monkeypatch.setattr(RemoteFile, "parts", lambda self, ranges: [content for _ in ranges])
    with pytest.raises(ModelError, match="cannot read parts of files: download it first"):
        delegate_sim.load("memory://b.zip!/m.tflite")


def test_a_file_without_a_size(store, monkeypatch):
    store.pipe("/m.tflite", HEAVY)
    usual = type(store).info
    monkeypatch.setattr(type(store), "info", lambda self, path, **options: {**usual(self, path, **options), "size": None})
    assert delegate_sim.load("memory://m.tflite").sha256 == delegate_sim.load(HEAVY).sha256
    monkeypatch.setattr(stores, "_MOST_WHOLE", 10_000)
    with pytest.raises(ModelError, match="has more than 10,000 bytes; "):
        delegate_sim.load("memory://m.tflite")
