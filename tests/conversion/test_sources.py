import os
import zipfile
from pathlib import Path

import pytest

from delegate_sim.conversion import cache, sources
from delegate_sim.conversion.sources import SourceKind, find_source
from delegate_sim.errors import ModelError
from delegate_sim.foundation.limits import VARIABLE
from tests.support.conversion.fake_converters import make_source


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, content):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return name


def archive(name):
    with zipfile.ZipFile(name, "w") as made:
        made.writestr("a", "")
    return name


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: archive("m.keras"), SourceKind.KERAS),
        (lambda: write("m.h5", b"\x89HDF\r\n\x1a\n..."), SourceKind.KERAS),
        (lambda: write("M.ONNX", b"\x08\x07"), SourceKind.ONNX),
        (lambda: archive("m.pt2"), SourceKind.TORCH_EXPORT),
        (lambda: write("saved/saved_model.pb", b"x") and "saved", SourceKind.SAVED_MODEL),
        (lambda: write("m.py", "def make(): pass") and "m.py:make", SourceKind.FUNCTION),
        (lambda: write("pack/m.py", "def make(): pass") and "pack.m:make", SourceKind.FUNCTION),
        (lambda: write("pack/__init__.py", "from .m import make") and "pack:make", SourceKind.FUNCTION),
    ],
)
def test_a_source_is_known_by_its_form(make, kind):
    text = make()
    found = find_source(text)
    assert (found.kind, found.text) == (kind, text)
    assert os.path.isabs(found.path)
    assert len(found.digest) == 64


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: "absent.keras", "absent.keras: does not exist; give a SavedModel folder, "),
        (lambda: "", ": a folder without saved_model.pb is not a SavedModel"),
        (lambda: write("empty/a", "") and "empty", "empty: a folder without saved_model.pb is not a SavedModel"),
        (lambda: write("m.pb", "x"), "m.pb: cannot be converted: give "),
        (lambda: write("m.keras", "no archive"), "m.keras: is not a valid .keras file"),
        (lambda: write("m.h5", "no archive"), "m.h5: is not a valid .h5 file"),
        (lambda: write("m.pt2", ""), "m.pt2: is not a valid .pt2 file"),
        (lambda: write("m.onnx", ""), "m.onnx: is not a valid .onnx file"),
        (lambda: os.mkfifo("m.onnx") or "m.onnx", "m.onnx: is not a regular file"),
        (lambda: os.symlink("nowhere", "m.onnx") or "m.onnx", "m.onnx: No such file or directory"),
        (lambda: "absent:make", "absent:make: there is no module 'absent' here or on Python's path"),
        (lambda: "absent.py:make", "absent.py:make: No such file or directory"),
        (lambda: write("a-b.py", "def make(): pass") and "a-b.py:make", "a-b.py:make: 'a-b' is not a valid module name"),
        (lambda: write("m.py", "x = 1") and "m.py:make", "m.py:make: "),
        (lambda: write("m.py", "def make(:") and "m.py:make", "m.py:make: is not valid Python: "),
        (lambda: write("m.py", b"\xff\xfe\0") and "m.py:make", "m.py:make: is not valid Python: "),
        (lambda: "a\x1b[31m\nb", "a\\x1b[31m\\nb: does not exist"),
        (lambda: "a\0b", "a\\x00b: "),
    ],
)
def test_what_is_no_source_is_one_line(make, words):
    text = make()
    with pytest.raises(ModelError) as caught:
        find_source(text)
    assert str(caught.value).startswith(words)
    assert str(caught.value).isprintable()


def test_a_module_is_not_imported_and_its_packages_are_known():
    text = "import keras\nfrom torch import nn\nfrom . import x\nraise SystemExit\ndef make():\n    import onnx.helper\n"
    found = find_source(write("m.py", text) + ":make")
    assert found.packages == {"keras", "torch", "onnx"}
    assert (found.module, found.function, found.folder) == ("m", "make", os.getcwd())


def test_a_folder_changes_its_digest_with_each_file():
    write("saved/saved_model.pb", "x")
    digests = {find_source("saved").digest}
    for name, content in (("variables/a", "1"), ("variables/a", "2"), ("variables/b", "2")):
        write(f"saved/{name}", content)
        digests.add(find_source("saved").digest)
    assert len(digests) == 4


def test_a_folder_with_too_many_files(monkeypatch):
    for name in ("saved_model.pb", "variables/a", "variables/b"):
        write(f"saved/{name}", "x")
    monkeypatch.setattr(cache, "_MOST_FILES", 2)
    with pytest.raises(ModelError, match=f"^saved: has more than 2 files; {VARIABLE}=10 raises every limit tenfold$"):
        find_source("saved")
    monkeypatch.setenv(VARIABLE, "2")
    assert find_source("saved").kind is SourceKind.SAVED_MODEL


def test_weights_outside_an_onnx_file_count():
    write("m.onnx", b"\x08\x07...\n\x08location\x12\x06m.data...")
    write("m.data", "1")
    first = find_source("m.onnx").digest
    write("m.data", "2")
    assert find_source("m.onnx").digest != first


def test_each_file_beside_an_onnx_file_is_read_once(monkeypatch, tmp_path):
    (tmp_path.parent / "outside.data").write_text("1")
    names = ["m.data", "./m.data", ".//m.data", "a/../m.data", "../outside.data", str(tmp_path.parent / "outside.data"), "a\0b"]
    locations = [b"\n\x08location\x12" + bytes([len(name)]) + name.encode() for name in names]
    write("m.onnx", b"\x08\x07..." + b"...".join(locations))
    write("m.data", "1")
    read = []
    monkeypatch.setattr(sources, "files_digest", lambda files: read.extend(files) or "0")
    find_source("m.onnx")
    assert [name for name, _ in read] == ["", "m.data"]


def test_the_same_content_has_the_same_digest_elsewhere(tmp_path):
    first = find_source(make_source(tmp_path, "a"))
    second = find_source(make_source(tmp_path, "b"))
    assert first.digest == second.digest
