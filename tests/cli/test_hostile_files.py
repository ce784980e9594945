"""Files that are not what they should be: links to inputs, devices, pipes, without end, changed while they are used."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from delegate_sim.errors import OutputError
from delegate_sim.foundation.files import open_input, read_whole, write_whole
from delegate_sim.foundation.outputs import files_kept
from tests.support.cli.forked import Forked
from tests.support.models import MIXED, chain_model

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs pipes, devices and limits of POSIX")
PROGRAM = [sys.executable, "-m", "delegate_sim"]
ENTRY = [sys.executable, "-c", "from delegate_sim_cli.start import main; main()"]
"""The code of the installed script."""
KILLS = int(os.environ.get("KILLS", "6"))
"""The number of programs ended at random points: ``make faults`` does so 100 times."""
CONFIGURATION = 'models = ["*.tflite"]\n[targets.vx]\ndelegate = "vx"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    chain_model(MIXED).write(tmp_path / "model.tflite")
    (tmp_path / "delegate-sim.toml").write_text(CONFIGURATION, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# An output is no input


@pytest.mark.parametrize("link", ["itself", "symbolic", "hard"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", "model.tflite", "--force", "--output"),
        ("analyze", "model.tflite", "--delegate", "vx", "--force", "--report", "json={}"),
        ("diagnose", "model.tflite", "--delegate", "vx", "--force", "--output"),
        ("inspect", "model.tflite", "--force", "--output"),
        ("releases", "model.tflite", "--force", "--output"),
        ("report", "model.tflite", "--delegate", "vx", "--force", "--output"),
        ("export", "model-explorer", "model.tflite", "--delegate", "vx", "--force", "--output"),
        ("fix", "model.tflite", "--delegate", "nnapi", "--feature-level", "28", "--no-proof", "--force", "-o"),
        ("check", "--report", "json={}"),
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[-1]}",
)
def test_a_model_is_not_overwritten(run, folder, arguments, link):
    target = "model.tflite"
    if link != "itself":
        target = "link"
        (os.symlink if link == "symbolic" else os.link)("model.tflite", target)
    before = (folder / "model.tflite").read_bytes()
    *first, last = arguments
    result = run(*first, *([last.format(target)] if "{}" in last else [last, target]))
    assert result.exit_code == 2
    # Only the configuration names the model, so the link is refused before the model is known.
    is_link = (first[0], link) == ("check", "symbolic")
    fault = f"is a link to {os.path.realpath(target)}, " if is_link else "is an input file, which is never overwritten\n"
    assert result.stderr.startswith(f"error: {target}: {fault}")
    assert (folder / "model.tflite").read_bytes() == before


@pytest.mark.parametrize("make", [os.symlink, os.link], ids=["symbolic", "hard"])
@pytest.mark.parametrize("name", ["out.csv.journal", "out.causes.csv", "out.csv"])
def test_a_scan_overwrites_no_model(run, folder, name, make):
    make("model.tflite", name)
    before = (folder / "model.tflite").read_bytes()
    result = run("scan", "model.tflite", "--delegate", "vx", "--processes", 1, "--output", "out.csv")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "out" in result.stderr
    assert (folder / "model.tflite").read_bytes() == before


@posix_only
@pytest.mark.parametrize("name", ["out.csv", "out.csv.journal"])
def test_a_scan_waits_for_no_pipe(run, folder, name):
    os.mkfifo(folder / name)
    result = run("scan", "model.tflite", "--delegate", "vx", "--processes", 1, "--output", "out.csv")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


@posix_only
def test_a_summary_is_no_pipe_and_no_model(run, folder):
    os.mkfifo(folder / "pipe")
    before = (folder / "model.tflite").read_bytes()
    for name, fault in (("pipe", "is not a regular file"), ("model.tflite", "is an input file, which is never overwritten")):
        result = run("analyze", "model.tflite", "--delegate", "vx", "--format", "github", GITHUB_STEP_SUMMARY=name)
        assert (result.exit_code, f"error: {name}: {fault}\n" in result.stderr) == (2, True), result.stderr
    assert (folder / "model.tflite").read_bytes() == before


def test_a_configuration_is_not_overwritten(run, folder):
    run("check", "--update")
    result = run("check", "--report", "json=delegate-sim.toml")
    assert (result.exit_code, result.stderr.startswith("error: delegate-sim.toml: ")) == (2, True)
    assert (folder / "delegate-sim.toml").read_text("utf-8") == CONFIGURATION


def test_a_baseline_is_updated(run, folder):
    assert run("check", "--update").exit_code == 0
    chain_model(["ADD"]).write(folder / "model.tflite")
    assert run("check", "--update").exit_code == 0
    assert run("check").exit_code == 0


@pytest.mark.parametrize("what", ["ADD", "node:0"])
@pytest.mark.parametrize("version", ["9" * 5_000, str(1 << 31), "0", "-1", "\u0661", "1_0", ""])
def test_versions_that_no_file_can_name(run, folder, what, version):
    result = run("whatif", "model.tflite", "--delegate", "vx", "--set-version", f"{what}={version}")
    assert (result.exit_code, "2^31 - 1" in result.stderr) == (2, True)


def test_the_highest_version(run, folder):
    assert run("whatif", "model.tflite", "--delegate", "vx", "--set-version", f"ADD={(1 << 31) - 1}").exit_code == 0


@pytest.mark.parametrize(
    "option",
    [("--accept", f"node:{'9' * 5_000}"), ("--search", "9" * 5_000), ("--batch", "9" * 5_000)],
    ids=lambda option: option[0],
)
def test_numbers_of_thousands_of_digits(run, folder, option):
    result = run("whatif", "model.tflite", "--delegate", "vx", *option)
    assert result.exit_code == 2
    assert len(result.stderr) < 12_000


def test_two_outputs_of_one_name(run, folder):
    result = run("analyze", "model.tflite", "--delegate", "vx", "--report", "sarif=out", "--format", "json", "--output", "./out")
    assert (result.exit_code, "out" in result.stderr) == (2, True)
    assert not (folder / "out").exists()
    (folder / "out").write_text("old")
    os.link("out", "other")
    result = run("analyze", "model.tflite", "--delegate", "vx", "--report", "sarif=out", "--report", "json=other")
    assert (result.exit_code, "other" in result.stderr) == (2, True)


def test_what_was_read_is_kept_only_meanwhile(tmp_path):
    path = str(tmp_path / "file")
    write_whole(path, "one")
    with files_kept():
        assert read_whole(path) == b"one"
        with pytest.raises(OutputError, match="is an input"):
            write_whole(path, "two")
        write_whole(path, "two", is_updated=True)
    write_whole(path, "three", replaces=True)
    assert read_whole(path) == b"three"


# What is read is bounded


@posix_only
@pytest.mark.parametrize("name", ["delegate-sim.toml", "delegate-sim-baseline.json", "model.tflite"])
@pytest.mark.parametrize("what", ["pipe", "/dev/zero", "folder"])
def test_no_regular_file(folder, name, what):
    (folder / name).unlink(missing_ok=True)
    if what == "pipe":
        os.mkfifo(folder / name)
    elif what == "folder":
        (folder / name).mkdir()
    else:
        (folder / name).symlink_to(what)
    arguments = ["analyze", name] if name == "model.tflite" else ["check", "--config", "delegate-sim.toml"]
    code, errors = Forked(*arguments).ended()
    assert (code, errors.count("\n"), errors[:7]) == (2, 1, "error: ")


def test_too_large(tmp_path):
    (tmp_path / "file").write_bytes(b"x" * 11)
    assert len(read_whole(str(tmp_path / "file"), 11)) == 11
    with pytest.raises(OSError, match="has more than 10 bytes"):
        read_whole(str(tmp_path / "file"), 10)


@posix_only
def test_a_pipe_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="is not a regular file"):
        open_input(str(tmp_path / "pipe"))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a" + ".a" * 50_000 + " = 1", "is not TOML: A key has more than 64 parts"),
        ("['a'" + ' . "b"' * 70 + "]", "is not TOML: A key has more than 64 parts"),
        ("x = " + "9" * 5_000, "is not TOML: A value cannot be read"),
        ("x = " + "[" * 5_000, "is not TOML"),
        (CONFIGURATION.replace("*", "../*"), "takes a path inside the folder of this file"),
        ("baseline = '../../b.json'\n" + CONFIGURATION, "takes a path inside the folder of this file"),
        ("baseline = '/tmp/b.json'\n" + CONFIGURATION, "takes a path inside the folder of this file"),
    ],
    ids=["dots", "quoted dots", "digits", "nested", "models", "baseline", "absolute"],
)
def test_configurations(run, folder, text, fault):
    (folder / "delegate-sim.toml").write_text(text, "utf-8")
    result = run("check")
    assert (result.exit_code, fault in result.stderr, result.stderr.count("\n")) == (2, True, 1)


@pytest.mark.parametrize(
    "text", ['{"schema": ' + "9" * 5_000 + "}", "[" * 100_000, '{"a":' * 5_000], ids=["digits", "list", "dict"]
)
def test_baselines(run, folder, text):
    (folder / "delegate-sim-baseline.json").write_text(text, "utf-8")
    result = run("check")
    assert (result.exit_code, "is not JSON" in result.stderr, result.stderr.count("\n")) == (2, True, 1)


# Faults


@posix_only
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "arguments", [("analyze", "model.tflite"), ("--help",), ("rules",), ("analyze", "model.tflite", "--format", "json")]
)
def test_a_full_disk_at_standard_output(folder, arguments):
    assert Forked(*arguments, stdout="/dev/full").ended() == (2, "error: standard output: No space left on device\n")


@posix_only
@pytest.mark.parametrize("limit", [0, 100, 1_000])
def test_a_full_disk_leaves_the_old_file(folder, limit):
    resource = pytest.importorskip("resource")
    (folder / "out.json").write_text("old")

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    arguments = ["analyze", "model.tflite", "--format", "json", "--force", "--output", "out.json"]
    assert Forked(*arguments, before=limited).ended() == (2, "error: out.json: File too large\n")
    assert sorted(path.name for path in folder.iterdir()) == ["delegate-sim.toml", "model.tflite", "out.json"]
    assert (folder / "out.json").read_text() == "old"


def ended_at_any_time(folder, run, start, end):
    """Test that the baseline is whole, whenever an update ends. ``start`` and ``end`` start an update and end it."""
    assert run("check", "--update").exit_code == 0
    before = time.monotonic()
    end(start(), after=120)
    usual = time.monotonic() - before
    generator = random.Random(1)
    for number in range(KILLS):
        chain_model(["ADD"] * (number % 12 + 1)).write(folder / "model.tflite")
        end(start(), after=generator.uniform(0, usual))
        result = run("check")
        assert result.exit_code in (0, 1), result.stderr
    assert run("check", "--update").exit_code == 0
    assert not [path.name for path in folder.iterdir() if path.name.endswith(".unfinished")]


@pytest.mark.slow
@posix_only
def test_killed_at_any_time(folder, run):
    def end(child, after):
        if after < 120:
            time.sleep(after)
            child.kill()
        child.ended()

    ended_at_any_time(folder, run, lambda: Forked("check", "--update"), end)


@pytest.mark.slow
@posix_only
def test_interrupted_at_any_time(folder, run):
    """An interrupt gives no traceback, also while modules are imported."""

    def start():
        return subprocess.Popen([*ENTRY, "check", "--update"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def end(process, after):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=after)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        # Before the first line of the program an interrupt is the interpreter's.
        assert b"/delegate_sim/" not in errors
        assert b"/cli/" not in errors

    ended_at_any_time(folder, run, start, end)


@pytest.mark.slow
@posix_only
@pytest.mark.parametrize("is_old", [False, True], ids=["absent", "old"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", "model.tflite", "--delegate", "vx", "--format", "json", "--output", "out"),
        ("scan", "model.tflite", "--delegate", "vx", "--processes", "1", "--output", "out.sqlite"),
        ("fix", "model.tflite", "--delegate", "nnapi", "--feature-level", "28", "--no-proof", "-o", "out.tflite"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_an_output_is_absent_old_or_whole(folder, run, arguments, is_old):
    """However a process ends that writes it."""
    chain_model(["ADD", "NEG", "ADD"]).write(folder / "model.tflite")
    out = folder / arguments[-1]
    first = run(*arguments)
    assert out.exists(), first.stderr
    out.unlink()
    start = time.monotonic()
    Forked(*arguments).ended()
    usual = time.monotonic() - start
    whole = out.read_bytes()
    old = b"old" if is_old and not arguments[-1].endswith("sqlite") else whole if is_old else None
    generator = random.Random(2)
    for _ in range(-(-KILLS // 6)):
        for path in folder.glob("*out*"):
            path.unlink()
        if old is not None:
            out.write_bytes(old)
        child = Forked(*arguments)
        time.sleep(generator.uniform(0, 1.2 * usual))
        child.kill()
        child.ended()
        found = out.read_bytes() if out.exists() else None
        assert found in (old, whole)


def test_a_file_that_shrinks_while_it_is_used(folder):
    from delegate_sim import analyze, load

    model = load("model.tflite")
    digest = hashlib.sha256((folder / "model.tflite").read_bytes()).hexdigest()
    with open("model.tflite", "r+b") as file:
        file.truncate(8)
    assert analyze(model, "vx", defaults="api").to_dict()["model"]["sha256"] == digest


@posix_only
def test_unreadable(folder):
    (folder / "model.tflite").chmod(0)
    powerless = []
    if os.geteuid() == 0:  # who reads everything, unless told not to
        if shutil.which("setpriv") is None:
            pytest.skip("root reads everything, and setpriv, which takes that from it, is not installed")
        powerless = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    result = subprocess.run(
        [*powerless, *PROGRAM, "analyze", "model.tflite"], capture_output=True, text=True, timeout=120, check=False
    )
    assert (result.returncode, result.stderr) == (2, "error: model.tflite: Permission denied\n")


@posix_only
def test_a_full_file_system(folder):
    disk = folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"cannot mount a small file system: {mounted.stderr.decode().strip()}")
    try:
        (disk / "out").write_text("old")
        chain_model(["ADD"] * 300).write(folder / "model.tflite")
        arguments = ["analyze", "model.tflite", "--delegate", "vx", "--format", "json", "--force", "-o", "disk/out"]
        assert Forked(*arguments).ended() == (2, "error: disk/out: No space left on device\n")
        assert [path.name for path in disk.iterdir()] == ["out"]
        assert (disk / "out").read_text() == "old"
    finally:
        subprocess.run(["umount", disk], check=True)


@posix_only
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "sqlite", "parquet"])
@pytest.mark.parametrize("what", ["pipe", "folder", "nonsense"])
def test_a_scan_that_is_none(run, folder, what, suffix):
    pytest.importorskip("duckdb", reason="questions need duckdb")
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    for name in (f"scan.{suffix}", f"scan.causes.{suffix}"):
        if what == "pipe":
            os.mkfifo(name)
        elif what == "folder":
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(b"\xff\x00no table" * 99)
    result = run("query", f"scan.{suffix}", "--view", "top-causes")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1 or what == "folder", result.stderr
    assert "internal error" not in result.stderr
