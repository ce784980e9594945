"""Large local files that are read in parts, because files cannot be mapped in a browser."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.bundles import members
from delegate_sim.bundles.ranged import LocalFile, RangedView, local_content
from delegate_sim.errors import ModelError
from delegate_sim.foundation import files
from fixtures.bundles import litertlm_bytes, zip_bytes
from tests.support.remote.models import heavy_model

MODELS = sorted(Path("fixtures/models").glob("*.tflite"))
HEAVY = heavy_model().bytes()
BUNDLES = {
    "b.task": (zip_bytes({"weights.bin": bytes(1 << 20), "m.tflite": HEAVY}), "m.tflite"),
    "b.litertlm": (litertlm_bytes([(1, None, bytes(1 << 20)), (3, "decoder", HEAVY)]), "decoder"),
}


@pytest.fixture
def in_parts(monkeypatch):
    """Read every file in parts. The fixture is a list of the sizes of the parts that were read."""
    read: list[int] = []
    usual = LocalFile.parts

    def parts(self, ranges):
        found = usual(self, ranges)
        read.extend(map(len, found))
        return found

    monkeypatch.setattr(files, "CAN_MAP", False)
    monkeypatch.setattr(files, "LARGEST_IN_MEMORY", 0)
    monkeypatch.setattr(LocalFile, "parts", parts)
    members._opened.cache_clear()
    yield read
    members._opened.cache_clear()


def results(path):
    return [delegate_sim.analyze(path, name, defaults="api").to_dict() for name in ("nnapi", "npu-google", "xnnpack")]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_that_is_read_in_parts_has_the_same_result(path, request):
    mapped = results(path)
    read = request.getfixturevalue("in_parts")
    assert results(path) == mapped
    assert read


def test_weights_are_not_read(in_parts, tmp_path):
    (tmp_path / "m.tflite").write_bytes(HEAVY)
    assert delegate_sim.analyze(tmp_path / "m.tflite", "nnapi", defaults="api").runs
    assert sum(in_parts) < len(HEAVY) // 10


@pytest.mark.parametrize("name", BUNDLES)
def test_a_model_in_a_bundle_is_read_in_parts(name, request, tmp_path):
    content, member = BUNDLES[name]
    (tmp_path / name).write_bytes(content)
    address = f"{tmp_path / name}!/{member}"
    mapped = results(address)
    read = request.getfixturevalue("in_parts")
    assert delegate_sim.analyze(address, "nnapi", defaults="api").runs
    assert sum(read) < len(HEAVY) // 10
    assert results(address) == mapped


def test_a_file_that_shrinks_is_an_error_that_names_it(in_parts, tmp_path):
    path = tmp_path / "m.tflite"
    shutil.copy(MODELS[0], path)
    content = local_content(str(path))
    assert isinstance(content, RangedView)
    os.truncate(path, 100)
    with pytest.raises(ModelError, match=r"m\.tflite: became shorter"):
        bytes(content[200:300])


def test_a_truncated_model_is_one_line(in_parts, tmp_path):
    path = tmp_path / "m.tflite"
    path.write_bytes(MODELS[0].read_bytes()[:-400])
    with pytest.raises(ModelError, match=r"m\.tflite: is (truncated|malformed)"):
        delegate_sim.load(path)
