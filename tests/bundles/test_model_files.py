"""Files and members that are models."""

from __future__ import annotations

import io
import zipfile

import pytest

from delegate_sim.bundles import model_files
from delegate_sim.bundles.formats import MODEL as MODEL_FILE
from delegate_sim.bundles.formats import format_at
from delegate_sim.bundles.model_files import FilePattern, files_for, models_below
from fixtures.bundles import zip_bytes
from tests.support.models import chain_model

MODEL = chain_model(["ADD", "ROUND"]).bytes()


def test_a_model_with_files_behind_it_is_a_model(saved):
    path = saved("with_labels.tflite", MODEL + zip_bytes({"labels.txt": b"cat"}))
    assert format_at(path) == MODEL_FILE
    assert files_for(path) == [path]


def test_a_member_without_a_name(saved):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in ("", "y"):
            entry = zipfile.ZipInfo("x")
            entry.filename = name
            archive.writestr(entry, MODEL)
    assert files_for(saved("a.zip", content.getvalue())) == ["a.zip!/y"]


def test_a_folder_is_entered_only_a_few_times(monkeypatch, tmp_path):
    """Folders of links to the same folder would otherwise multiply."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "m.tflite").write_bytes(MODEL)
    try:
        for number in range(4):
            (tmp_path / f"link{number}").symlink_to("models", target_is_directory=True)
    except OSError:
        pytest.skip("this system does not allow links")
    assert len(models_below(str(tmp_path))) == 5
    monkeypatch.setattr(model_files, "_MOST_ENTRIES", 2)
    assert len(models_below(str(tmp_path))) == 2


@pytest.mark.parametrize("target", ["loop", "m.tflite/x", "x" * 300, "missing"])
def test_a_link_that_leads_nowhere(tmp_path, target):
    (tmp_path / "m.tflite").write_bytes(MODEL)
    try:
        (tmp_path / "loop").symlink_to(target)
    except OSError:
        pytest.skip("this system does not allow links")
    assert models_below(str(tmp_path)) == [str(tmp_path / "m.tflite")]


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("**/**/**/x", "x", True),
        ("**/**/x", "a/b/c/x", True),
        ("a/a/x", "a/x", False),
        ("*/*/x", "a/x", False),
        ("**/**", "a/b", True),
        ("**/x", ".a/x", False),
        (".*/x", ".a/x", True),
        ("[.]a", ".a", False),
    ],
)
def test_patterns(pattern, path, fits):
    assert FilePattern(pattern).matches(path) is fits


def test_repeated_folders_of_a_pattern_are_one():
    assert len(FilePattern("**/" * 1000 + "x")._parts) == 2
