"""Processes load no code from the current folder."""

import os
import select
import subprocess
import sys

import pytest

from delegate_sim.foundation import processes
from delegate_sim.foundation.processes import clean_environment, isolated_python, python_file, python_module, run, start
from tests.support.shadows import imported_shadows, write_shadows

ABSOLUTE = os.path.abspath(os.sep + "absolute")
LISTS = ["PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"]


@pytest.mark.parametrize("name", [*LISTS, "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX"])
def test_only_absolute_folders_stay_in_a_variable(name):
    given = os.pathsep.join(["", ".", ABSOLUTE, "here/lib"])
    assert clean_environment({name: given})[name] == ABSOLUTE
    assert name not in clean_environment({name: "here"})


def test_variables_that_start_further_code_are_removed():
    clean = clean_environment({"PYTHONSTARTUP": ABSOLUTE, "PYTHONINSPECT": "1", "PYTHONBREAKPOINT": "a.b", "HOME": "here"})
    assert clean == {"HOME": "here", "PYTHONSAFEPATH": "1", "NoDefaultCurrentDirectoryInExePath": "1"}


@pytest.fixture
def hostile_folder(tmp_path, monkeypatch):
    """The current folder, which has a file for every module, and a script that prints its path."""
    folder = tmp_path / "downloads"
    write_shadows(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", str(tmp_path / "own")]))
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "module_of_user.py").write_text("import json, socket, sys\nprint(json.dumps([sys.argv[1:], sys.path]))\n")
    return folder


@pytest.mark.slow
def test_no_way_to_start_python_imports_from_the_current_folder(hostile_folder, tmp_path):
    script = str(tmp_path / "own" / "module_of_user.py")
    (hostile_folder / "module_of_user.py").unlink(missing_ok=True)
    for command in (
        python_module("module_of_user", "x"),
        python_file(script, "x"),
        python_file(script, "x", python=sys.executable, options=["-u"]),
        isolated_python("-c", "import json, socket, sys; print([['x'], sys.path])"),
    ):
        ended = run(command, seconds=60)
        text = ended.stdout.decode()
        assert ended.returncode == 0, text
        assert "x" in text
        assert repr(str(hostile_folder))[1:-1] not in text
    assert imported_shadows(hostile_folder) == []


@pytest.mark.slow
def test_a_users_absolute_path_works(hostile_folder, tmp_path):
    (tmp_path / "b.py").write_text("import module_of_user\n")
    assert b"own" in run(python_file(str(tmp_path / "b.py")), seconds=60).stdout


@pytest.mark.slow
def test_a_script_does_not_import_from_its_own_folder(tmp_path):
    write_shadows(tmp_path / "scripts")
    (tmp_path / "scripts" / "a.py").write_text("import socket\nprint('done')\n")
    with start(python_file(str(tmp_path / "scripts" / "a.py")), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read().split() == [b"done"]
    assert imported_shadows(tmp_path / "scripts") == []


@pytest.mark.parametrize("call", [lambda: start(["python3"]), lambda: run(["python3"], seconds=1)], ids=["start", "run"])
def test_a_program_has_an_absolute_path(call):
    with pytest.raises(FileNotFoundError, match="'python3' is not named by an absolute path"):
        call()


def test_flags_of_this_python_hold_for_further_processes(monkeypatch):
    class Flags:
        ignore_environment = no_user_site = 1

    monkeypatch.setattr(processes.sys, "flags", Flags)
    clean = clean_environment({"PYTHONPATH": ABSOLUTE, "PYTHONUTF8": "1"})
    assert {name for name in clean if name.startswith("PYTHON")} == {"PYTHONSAFEPATH", "PYTHONNOUSERSITE"}


@pytest.mark.skipif(os.name != "posix", reason="the system has no sessions")
def test_a_program_that_is_stopped_leaves_no_process_behind(tmp_path):
    """The end of the pipe is read only when no process can write to it."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(subprocess.TimeoutExpired):
        run(["/bin/sh", "-c", f"sleep 60 > {tmp_path}/pipe & wait"], seconds=3)
    at_end, _, _ = select.select([reader], [], [], 30)
    os.close(reader)
    assert at_end


FLOOD = "import sys; sys.stdout.write('first' + 'x' * 3_000_000 + 'last'); sys.stdout.flush(); sys.stderr.write('e' * 3_000_000)"


def test_the_middle_of_much_output_is_left_out():
    ended = run([sys.executable, "-c", FLOOD], seconds=60, stderr=subprocess.PIPE, most_output=2_000)
    assert (len(ended.stdout), len(ended.stderr)) == (2_000, 2_000)
    assert ended.stdout.startswith(b"first")
    assert ended.stdout.endswith(b"last")
    whole = run([sys.executable, "-c", "print('all')"], seconds=60, most_output=2_000)
    assert whole.stdout.split() == [b"all"]


def test_output_without_end_is_not_kept():
    with pytest.raises(subprocess.TimeoutExpired) as stopped:
        run([sys.executable, "-c", "while True: print('x' * 10_000)"], seconds=2)
    assert 0 < len(stopped.value.output) <= processes._MOST_OUTPUT


def test_a_check_that_fails_ends_the_program():
    checks = iter(range(2))
    with pytest.raises(StopIteration):
        run([sys.executable, "-c", "import time; time.sleep(60)"], seconds=50, check=lambda: next(checks))


@pytest.mark.skipif(os.name != "posix", reason="the system has no sessions")
def test_a_program_that_leaves_a_process_behind_has_ended(monkeypatch):
    monkeypatch.setattr(processes, "_SECONDS_AFTER_END", 0.2)
    ended = run(["/bin/sh", "-c", "echo own; sleep 60 & exit 3"], seconds=50)
    assert (ended.returncode, ended.stdout) == (3, b"own\n")
