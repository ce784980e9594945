"""Every command that writes files, killed at any time or with a full disk: a file is absent, as it was, or whole."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from typing import NamedTuple

import pytest

import delegate_sim
from fixtures.device_logs import Device, HiddenDriver, HiddenRule, write_log
from tests.support.cli.forked import Forked
from tests.support.conversion.fake_converters import make_environment, make_source
from tests.support.models import chain_model

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs signals and limits of POSIX"),
]
KILLS = int(os.environ.get("KILLS", "6"))
"""The number of programs ended at random points: ``make faults`` does so 100 times."""
OPS = ("ADD", "RELU", "ADD", "ROUND", "TANH", "ADD")
CONFIGURATION = 'models = ["*.tflite"]\n[targets.vx]\ndelegate = "vx"\n'
PROGRAM = (sys.executable, "-m", "delegate_sim")


class Writing(NamedTuple):
    """A command, what it writes, and the modules that it needs besides."""

    arguments: tuple[str, ...]
    out: str
    needs: tuple[str, ...] = ()


WRITING = {
    "check --update": Writing(("check", "--update"), "delegate-sim-baseline.json"),
    "check --report": Writing(("check", "--exit-zero", "--report", "sarif=out.sarif"), "out.sarif"),
    "analyze --report": Writing(
        ("analyze", "model.tflite", "--delegate", "vx", "--force", "--report", "junit=out.xml"), "out.xml"
    ),
    "diagnose": Writing(("diagnose", "model.tflite", "--delegate", "vx", "--format", "json", "--force", "-o", "out"), "out"),
    "inspect": Writing(("inspect", "model.tflite", "--force", "-o", "out"), "out"),
    "report": Writing(("report", "model.tflite", "--delegate", "vx", "--force", "-o", "out.html"), "out.html"),
    "export": Writing(("export", "graphml", "model.tflite", "--delegate", "vx", "--force", "-o", "out"), "out"),
    "reconcile --learn": Writing(("reconcile", "model.tflite", "--log", "device.txt", "--learn", "out.toml"), "out.toml"),
    "init": Writing(("init", "--delegate", "vx", "--force"), "delegate-sim.toml"),
}


def prepare(folder, ops=OPS):
    chain_model(ops).write(folder / "model.tflite")
    (folder / "delegate-sim.toml").write_text(CONFIGURATION, "utf-8")
    device = Device(HiddenDriver(HiddenRule("RELU")), {}, "tf-2.15")
    (folder / "device.txt").write_text(write_log(delegate_sim.load(folder / "model.tflite"), device), "utf-8")


def content(path):
    return path.read_bytes() if path.exists() else None


@pytest.fixture(params=WRITING)
def writing(request):
    for module in WRITING[request.param].needs:
        pytest.importorskip(module)
    return WRITING[request.param]


@pytest.fixture
def run_in(run, monkeypatch):
    """Run the program in this process, in a folder."""

    def run_in(folder, arguments):
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            return run(*arguments)

    return run_in


@pytest.fixture
def folder(writing, run_in, tmp_path):
    """A folder with the models, in which the file is an old one."""
    old = tmp_path / "old"
    old.mkdir()
    prepare(old)
    if writing.out == "out.toml":  # a profile is learned on top of what it holds
        run_in(old, writing.arguments)
    elif writing.out == "delegate-sim-baseline.json":
        prepare(old, ["ADD"])
        run_in(old, writing.arguments)
        prepare(old)
    elif not (old / writing.out).exists():
        (old / writing.out).write_bytes(b"old")
    assert (old / writing.out).exists()
    return old


def test_killed(writing, folder, run_in):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    references = [folder.parent / name for name in ("first", "second")]
    for reference in references:
        shutil.copytree(folder, reference)
    done = run_in(references[0], writing.arguments)  # imports modules
    start = time.monotonic()
    Forked(*writing.arguments, folder=references[1]).ended()
    usual = time.monotonic() - start
    whole, again = (content(reference / writing.out) for reference in references)
    assert whole == again
    assert writing.out == "out.toml" or whole != before[writing.out], done.stderr
    generator = random.Random(str(writing.arguments))
    for _ in range(-(-KILLS // 9) + 1):
        child = Forked(*writing.arguments, folder=folder)
        time.sleep(generator.uniform(0.3, 1.2) * usual)
        child.kill()
        child.ended()
        assert content(folder / writing.out) in (before[writing.out], whole)
        for name, kept in before.items():
            assert name == writing.out or content(folder / name) == kept
        (folder / writing.out).write_bytes(before[writing.out])


def test_a_sweep_that_is_killed_keeps_whole_conversions_or_none(tmp_path):
    source, kept = make_source(tmp_path, "good"), tmp_path / "kept"
    command = [*PROGRAM, "sweep", source, "--delegate", "vx", "--python", make_environment(tmp_path / "environment")]
    command += ["--format", "json", "--cache", str(kept)]

    def swept():
        found = json.loads(subprocess.run(command, capture_output=True, timeout=120, check=False).stdout)
        return [
            {key: value for key, value in row.items() if key not in ("seconds", "memory", "is_kept")} for row in found["rows"]
        ]

    def kept_files():
        found = {
            path.name: path.read_bytes() for path in (kept.iterdir() if kept.exists() else ()) if not path.name.startswith(".")
        }
        return {
            name: {**json.loads(content), "seconds": 0, "memory": 0} if name.endswith(".json") else content
            for name, content in found.items()
        }

    start = time.monotonic()
    expected = swept()
    usual = time.monotonic() - start
    whole = kept_files()
    assert len(whole) > 1
    generator = random.Random("sweep")
    for _ in range(-(-KILLS // 9) + 1):
        shutil.rmtree(kept)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(generator.uniform(0.3, 1.1) * usual)
        process.kill()
        process.wait(timeout=120)
        left = kept_files()
        assert left == {name: whole[name] for name in left}
        assert (swept(), kept_files()) == (expected, whole)


@pytest.mark.parametrize("limit", [0, 60])
def test_a_full_disk(writing, folder, limit):
    import resource
    import signal

    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    code, errors = Forked(*writing.arguments, folder=folder, before=limited).ended()
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert (code, after) == (2, before), errors
    assert errors.splitlines()[-1].endswith(f"{writing.out}: File too large")


@pytest.mark.parametrize("what", ["pipe", "folder"])
def test_what_is_no_file_is_not_written(writing, folder, run_in, what):
    if writing.out == "delegate-sim.toml":
        pytest.skip("the configuration has a name of its own")
    (folder / writing.out).unlink()
    (os.mkfifo if what == "pipe" else os.mkdir)(folder / writing.out)
    names = sorted(os.listdir(folder))
    done = run_in(folder, writing.arguments)
    assert done.exit_code == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "internal error" not in done.stderr
    assert sorted(os.listdir(folder)) == names


def test_a_circle_of_links_is_not_written(writing, folder, run_in):
    if writing.out == "delegate-sim.toml":
        pytest.skip("the configuration has a name of its own")
    (folder / writing.out).unlink()
    (folder / writing.out).symlink_to("other")
    (folder / "other").symlink_to(writing.out)
    names = sorted(os.listdir(folder))
    done = run_in(folder, writing.arguments)
    assert done.exit_code == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "internal error" not in done.stderr
    assert sorted(os.listdir(folder)) == names
