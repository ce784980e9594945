"""The decision which files a command may write."""

from __future__ import annotations

import errno
import importlib.util
import os
import sys
import types

import pytest

from delegate_sim.errors import OutputError
from delegate_sim.foundation import files
from delegate_sim.foundation.files import beside, open_input, write_by, write_chunks, write_whole
from delegate_sim.foundation.outputs import OutputFile, check_output, declare_outputs, files_kept, is_within

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs pipes, devices and links")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old").write_text("old")
    (tmp_path / "empty").write_text("")
    return tmp_path


def test_a_new_or_empty_file_may_be_written():
    declare_outputs([OutputFile("new"), OutputFile("empty")])


def test_an_existing_file_is_replaced_only_if_somebody_asks():
    with pytest.raises(OutputError, match=r"^old: already exists; --force replaces it$"):
        declare_outputs([OutputFile("old")])
    with pytest.raises(OutputError, match=r"^old: already exists; remove it, or give another name$"):
        declare_outputs([OutputFile("old", is_forced=None)])
    for output in (OutputFile("old", is_forced=True), OutputFile("old", replaces=True), OutputFile("old", is_updated=True)):
        declare_outputs([output])


@pytest.mark.parametrize("make", [os.symlink, os.link])
@pytest.mark.parametrize("output", [OutputFile("other", is_forced=True), OutputFile("other", is_updated=True)])
def test_an_input_is_never_an_output(make, output):
    make("old", "other")
    with pytest.raises(OutputError, match=r"^other: is an input file, which is never overwritten$"):
        declare_outputs([output], ["old"])
    with files_kept(), open_input("old"), pytest.raises(OutputError, match="is an input file"):
        declare_outputs([output])
    with files_kept():
        declare_outputs([output])
        with pytest.raises(OutputError, match="is an input file"):
            declare_outputs([], ["old"])


@pytest.mark.parametrize("make", [os.symlink, os.link])
def test_two_outputs_are_two_files(make):
    make("old", "other")
    with pytest.raises(OutputError, match=r"^other: is given twice"):
        declare_outputs([OutputFile("old", is_forced=True), OutputFile("other", is_forced=True)])
    with pytest.raises(OutputError, match=r"^\./new: is given twice"):
        declare_outputs([OutputFile("new"), OutputFile("./new")])
    with files_kept():
        declare_outputs([OutputFile("new")])
        with pytest.raises(OutputError, match=r"^new: is given twice"):
            declare_outputs([OutputFile("new", is_updated=True)])


@posix_only
@pytest.mark.parametrize("target", ["nothing", "old"])
def test_a_link_is_written_through_only_if_somebody_asks(folder, target):
    (folder / "link").symlink_to(target)
    refused = [OutputFile("link"), OutputFile("link", replaces=True), OutputFile("link", is_forced=None)]
    for output in [*refused, *([OutputFile("link", is_updated=True)] if target == "nothing" else [])]:
        with pytest.raises(OutputError, match=rf"^link: is a link to .*{target}, which is not written unasked"):
            declare_outputs([output])
    declare_outputs([OutputFile("link", is_forced=True)])
    write_whole("link", "new", replaces=True)
    assert (folder / "link").is_symlink()
    assert (folder / target).read_text() == "new"


@posix_only
def test_a_path_that_an_input_names_stays_within_its_folder(folder):
    (folder / "in").mkdir()
    (folder / "in" / "link").symlink_to("../old")
    (folder / "in" / "out").symlink_to("..")
    for path in ("in/../old", "in/link", "in/out/new"):
        with pytest.raises(OutputError, match="is outside the folder in"):
            declare_outputs([OutputFile(path, is_updated=True, within="in")])
    declare_outputs([OutputFile("in/new", is_updated=True, within="in")])
    assert is_within("in/x", "in")
    assert not is_within("inside", "in")


@posix_only
def test_what_is_no_file(folder):
    os.mkfifo("pipe")
    (folder / "loop").symlink_to("loop")
    (folder / "folder").mkdir()
    for path, fault in (
        ("pipe", "is not a regular file"),
        ("folder", "is not a regular file"),
        ("loop", "Too many levels of symbolic links"),
        ("none/x", "No such file or directory"),
        ("old/x", "Not a directory"),
        ("n" * 256, "File name too long"),
        ("a\0b", "embedded null"),
    ):
        with pytest.raises(OutputError, match=fault):
            declare_outputs([OutputFile(path, is_forced=True)])


def test_a_folder_of_files(folder):
    (folder / "empty folder").mkdir()
    (folder / "full").mkdir()
    (folder / "full" / "file").write_text("mine")
    with files_kept():
        declare_outputs([OutputFile("empty folder", is_folder=True), OutputFile("new folder", is_folder=True)])
    with pytest.raises(OutputError, match="full: is not empty; --force replaces it"):
        declare_outputs([OutputFile("full", is_folder=True)])
    with files_kept():
        declare_outputs([OutputFile("full", is_folder=True, is_forced=True)])
        write_whole("full/file", "new")
    with pytest.raises(OutputError, match="old: is not a folder"):
        declare_outputs([OutputFile("old", is_folder=True, is_forced=True)])


def test_what_is_not_declared_replaces_nothing(folder):
    with files_kept():
        with pytest.raises(OutputError, match="old: already exists"):
            write_whole("old", "new")
        declare_outputs([OutputFile("old", is_forced=True)])
        write_whole("old", "new")
    with pytest.raises(OutputError, match="old: already exists"):
        write_whole("old", "newer")
    assert (folder / "old").read_text() == "new"


def test_a_file_that_appears_meanwhile_is_kept(folder):
    with files_kept():
        declare_outputs([OutputFile("new")])
        with pytest.raises(OutputError, match="new: already exists"):
            write_by("new", lambda _: (folder / "new").write_text("of another program"))
    assert (folder / "new").read_text() == "of another program"


def test_a_command_may_write_its_own_file_again(folder):
    with files_kept():
        declare_outputs([OutputFile("new")])
        write_whole("new", "one")
        write_whole("new", "two")
    assert (folder / "new").read_text() == "two"
    with pytest.raises(OutputError):
        check_output(OutputFile("new"))


@posix_only
def test_a_device_takes_everything_and_may_be_given_twice():
    with files_kept():
        declare_outputs([OutputFile(os.devnull), OutputFile(os.devnull)])
        assert write_chunks(os.devnull, [b"123", b"45"]) == 5
        with pytest.raises(OutputError, match="is not a regular file"):
            declare_outputs([OutputFile(os.devnull, is_updated=True)])
    with pytest.raises(OSError, match="No space left"):
        write_whole("/dev/full", "text")


@pytest.mark.parametrize("name", ["n" * 250 + ".html", "\u00fc" * 125, "n" * 255])
def test_long_names(folder, name):
    write_whole(name, "text")
    assert (folder / name).read_text() == "text"
    assert sorted(os.listdir(folder)) == sorted(["empty", "old", name])


def test_a_file_beside_a_file_with_a_long_name():
    assert beside("a/zoo.csv", ".journal") == "a/zoo.csv.journal"
    names = {os.path.basename(beside(letter * 250, ".journal")) for letter in "ab"}
    assert len(names) == 2
    assert all(len(name) < 100 and name.endswith(".journal") for name in names)


@pytest.mark.parametrize(("number", "attempts"), [(errno.EACCES, 1), (errno.EDEADLK, 3)])
def test_a_lock_on_windows_waits_only_for_other_processes(tmp_path, monkeypatch, number, attempts):
    asked = []

    def locking(file, mode, count):
        asked.append(mode)
        if len(asked) >= attempts:
            raise OSError(errno.EACCES, "Permission denied")
        raise OSError(number, "Resource deadlock avoided")

    names = {"locking": locking, "LK_LOCK": 1, "LK_NBLCK": 2, "LK_UNLCK": 0}
    monkeypatch.setitem(sys.modules, "msvcrt", types.SimpleNamespace(**names))
    monkeypatch.setattr(sys, "platform", "win32")
    spec = importlib.util.spec_from_file_location("delegate_sim.foundation.files_on_windows", files.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(PermissionError), module._lock(str(tmp_path / "file")):
        pass
    assert len(asked) == attempts
