"""Every command declares its files before it runs, and destroys none."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import click
import pytest

from delegate_sim_cli.console.output_file import FileCommand
from delegate_sim_cli.console.terminal import write
from delegate_sim_cli.main import _COMMANDS, program
from tests.support.models import MIXED, chain_model

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs devices and links")
CONFIGURATION = 'models = ["*.tflite"]\n[targets.vx]\ndelegate = "vx"\n'
BASELINE = "delegate-sim-baseline.json"
PROGRAM = (sys.executable, "-m", "delegate_sim")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    chain_model(MIXED).write(tmp_path / "model.tflite")
    (tmp_path / "delegate-sim.toml").write_text(CONFIGURATION, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_declares_its_files(name):
    with click.Context(program) as context:
        command = program.get_command(context, name)
    assert isinstance(command, FileCommand)
    for parameter in command.params:
        writes = {"--output", "--report", "--live-report", "--learn"} & set(parameter.opts)
        assert hasattr(parameter.type, "written") == bool(writes), parameter.opts


SCAN = ("scan", "model.tflite", "--delegate", "vx", "--processes", "1", "-o")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("zoo.causes.csv", "mine\n"),
        ("zoo.csv", "mine\n"),
        ("zoo.csv.journal", "mine\n"),
    ],
)
def test_a_scan_keeps_files_that_no_scan_wrote(run, folder, name, text):
    (folder / name).write_text(text)
    before = contents(folder)
    result = run(*SCAN, "zoo.csv")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(f"error: {name}: ")
    assert "--force" not in result.stderr
    assert contents(folder) == before


@posix_only
def test_a_scan_keeps_an_empty_file_that_its_journal_links_to(run, folder):
    (folder / "mine").touch()
    os.symlink("mine", "zoo.csv.journal")
    result = run(*SCAN, "zoo.csv")
    assert (result.exit_code, result.stderr.startswith("error: zoo.csv.journal: ")) == (2, True), result.stderr
    assert (folder / "mine").read_bytes() == b""


def hot_journal(victim):
    """A journal of SQLite that names a super-journal, which SQLite deletes when it opens the database."""
    magic, name = bytes.fromhex("d9d505f920a163d7"), os.fsencode(victim)
    header = magic + struct.pack(">5I", 0, 0, 1, 512, 4096)
    return header.ljust(512, b"\0") + struct.pack(">I", (1 << 18) + 1) + name + struct.pack(">II", len(name), sum(name)) + magic


@pytest.mark.parametrize("suffix", [".csv", ".sqlite"])
@pytest.mark.parametrize("is_old", [False, True], ids=["new", "journal of an old version"])
def test_a_scan_keeps_files_that_a_hostile_journal_names(run, folder, suffix, is_old):
    (folder / "victim").write_text("mine")
    assert run(*SCAN, f"zoo{suffix}").exit_code == 0
    if is_old:
        with closing(sqlite3.connect(f"zoo{suffix}.journal")) as connection:
            connection.execute(f"PRAGMA application_id = {0x64537363}")
    for name in (f"zoo{suffix}", f"zoo{suffix}.journal"):
        for added in ("-journal", "-wal", "-shm"):
            (folder / f"{name}{added}").write_bytes(hot_journal(folder / "victim"))
    before = contents(folder)
    result = run(*SCAN, f"zoo{suffix}")
    error = f"error: zoo{suffix}.journal: is not the journal of a scan: remove it\n" if is_old else ""
    assert (result.exit_code, result.stderr) == (2 if is_old else 0, error)
    assert contents(folder) == before


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".sqlite"])
def test_a_scan_extends_its_own_output(run, folder, suffix):
    assert run(*SCAN, f"zoo{suffix}").exit_code == 0
    assert run(*SCAN, f"zoo{suffix}").exit_code == 0
    if suffix != ".sqlite":
        (folder / f"zoo{suffix}").unlink()  # the table of causes is still from a scan
        assert run(*SCAN, f"zoo{suffix}").exit_code == 0


@pytest.mark.parametrize("target", ["zoo.csv", "zoo.causes.csv"])
def test_a_query_keeps_its_scan(run, folder, target):
    pytest.importorskip("duckdb", reason="query needs duckdb")
    assert run(*SCAN, "zoo.csv").exit_code == 0
    before = contents(folder)
    result = run("query", "zoo.csv", "-o", target, "--force")
    assert (result.exit_code, result.stderr.startswith(f"error: {target}: ")) == (2, True)
    assert contents(folder) == before


@pytest.mark.parametrize("arguments", [("--report", f"json={BASELINE}"), ("--format", "json", "-o", BASELINE)])
def test_an_update_keeps_the_baseline(run, folder, arguments):
    assert run("check", "--update").exit_code == 0
    before = contents(folder)
    result = run("check", "--update", *arguments)
    assert (result.exit_code, BASELINE in result.stderr) == (2, True), result.stderr
    result = run("check", *arguments)
    assert (result.exit_code, BASELINE in result.stderr) == (2, True), result.stderr
    assert contents(folder) == before


@posix_only
@pytest.mark.parametrize("name", [BASELINE, "report.html", "delegate-sim.toml", "out.json", "driver.toml"])
def test_a_link_of_a_repository_leads_to_no_new_file(run, folder, name):
    outside = folder.parent / f"{folder.name}-outside"
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(outside)
    (folder / "log.txt").write_text(
        "INFO: Replacing 1 out of 4 node(s) with delegate (TfLiteVxDelegate) node, yielding 2 partitions\n"
    )
    arguments = {
        BASELINE: ("check", "--update"),
        "report.html": ("report", "model.tflite", "--delegate", "vx"),
        "delegate-sim.toml": ("init",),
        "out.json": ("check", "--exit-zero", "--report", "json=out.json"),
        "driver.toml": ("reconcile", "model.tflite", "--log", "log.txt", "--learn", "driver.toml"),
    }[name]
    result = run(*arguments)
    assert (result.exit_code, f"{name}: is " in result.stderr) == (2, True), result.stderr
    assert not outside.exists()


@posix_only
def test_the_baseline_leaves_the_folder_of_its_configuration_through_no_link(run, folder):
    outside = folder.parent / f"{folder.name}-outside"
    outside.mkdir()
    (folder / "sub").symlink_to(outside, target_is_directory=True)
    (folder / "delegate-sim.toml").write_text(f'baseline = "sub/baseline.json"\n{CONFIGURATION}', "utf-8")
    result = run("check", "--update")
    assert (result.exit_code, "delegate-sim.toml:1: baseline: " in result.stderr) == (2, True), result.stderr
    assert not list(outside.iterdir())


@pytest.mark.parametrize("two", [("m.vx.json", "m.gpu.json"), ("m.gpu.json",)])
def test_files_of_several_targets_are_declared_before_any_is_written(run, folder, two):
    for name in two:
        (folder / name).write_text("mine")
    before = contents(folder)
    result = run("export", "model-explorer", "model.tflite", "--delegate", "vx", "--delegate", "gpu", "-o", "m.json")
    assert (result.exit_code, "already exists; --force replaces it" in result.stderr) == (2, True)
    assert contents(folder) == before


@pytest.mark.parametrize("option", ["--per-target", "--split-tail"])
def test_fix_declares_all_its_files(run, folder, option):
    name = "fixed.gpu.tflite" if option == "--per-target" else "fixed.tail.tflite"
    (folder / name).write_text("mine")
    before = contents(folder)
    targets = ("--delegate", "gpu", "--delegate", "nnapi") if option == "--per-target" else ("--delegate", "nnapi")
    result = run("fix", "model.tflite", *targets, option, "--no-proof", "-o", "fixed.tflite")
    assert (result.exit_code, result.stderr) == (2, f"error: {name}: already exists; --force replaces it\n")
    assert contents(folder) == before


def test_models_are_written_into_an_empty_folder(run, folder):
    import zipfile

    with zipfile.ZipFile("b.task", "w") as archive:
        archive.write("model.tflite")
    (folder / "out").mkdir()
    (folder / "out" / "bundle.json").write_text("mine")
    result = run("export", "models", "b.task", "-o", "out")
    assert (result.exit_code, result.stderr) == (2, "error: out: is not empty; --force replaces it\n")
    assert (folder / "out" / "bundle.json").read_text() == "mine"
    assert run("export", "models", "b.task", "-o", "out", "--force").exit_code == 0


def test_watching_asks_before_it_replaces(run, folder):
    (folder / "out").write_text("mine")
    result = run("analyze", "model.tflite", "--watch", "-o", "out")
    assert (result.exit_code, result.stderr) == (2, "error: out: already exists; --force replaces it\n")


@posix_only
@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", "model.tflite", "--delegate", "vx", "--report", "sarif=/dev/null", "-o"),
        ("report", "model.tflite", "--delegate", "vx", "-o"),
        ("export", "model-explorer", "model.tflite", "--delegate", "all", "-o"),
        ("check", "--exit-zero", "--live-report", "/dev/null", "--live", "-o"),
        ("fix", "model.tflite", "--delegate", "nnapi", "--android", "11", "--split-tail", "--no-proof", "-o"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_device_takes_the_output(run, folder, arguments):
    before = contents(folder)
    result = run(*arguments, "/dev/null")
    if "none of the targets can run live" not in result.stderr:
        assert result.exit_code in (0, 1), result.stderr
    assert contents(folder) == before
    assert [path.name for path in Path("/dev").iterdir() if path.name.startswith("null")] == ["null"]


@posix_only
def test_a_device_cannot_be_a_table(run, folder):
    result = run(*SCAN, "/dev/null")
    assert (result.exit_code, "/dev/null: " in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "suffix"), [(("report", "model.tflite", "--delegate", "vx", "-o"), ".html"), (SCAN, ".sqlite"), (SCAN, ".csv")]
)
def test_a_name_of_250_characters(run, folder, arguments, suffix):
    name = "n" * (250 - len(suffix)) + suffix
    result = run(*arguments, name)
    if suffix == ".csv":  # the name of the second table is too long
        assert (result.exit_code, result.stderr.endswith(".causes.csv: File name too long\n")) == (2, True)
        assert not (folder / name).exists()
        return
    assert result.exit_code == 0, result.stderr
    assert sorted(contents(folder)) == sorted(["delegate-sim.toml", "model.tflite", name])


@posix_only
@pytest.mark.parametrize(
    ("closed", "arguments", "code"),
    [
        ("2>&-", ("analyze", "model.tflite", "--delegate", "vx"), 0),
        ("2>&-", ("analyze", "nothing.tflite"), 2),
        ("2>&-", ("check", "--update"), 0),
        ("2>/dev/full", ("analyze", "nothing.tflite"), 2),
        (">&-", ("analyze", "model.tflite", "--delegate", "vx"), 2),
        (">&-", ("--version",), 2),
        (">&- 2>&- <&-", ("analyze", "model.tflite", "--delegate", "vx", "-o", "out"), 0),
        ("<&-", ("analyze", "-"), 2),
    ],
)
def test_closed_streams(folder, closed, arguments, code):
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *PROGRAM, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    if ">&-" in closed.split() and "-o" not in arguments:
        assert result.stderr == "error: standard output: Bad file descriptor\n"
    if "-o" in arguments:
        assert "delegate" in (folder / "out").read_text("utf-8")


def test_printed_commands_can_be_typed(run, folder):
    os.rename("model.tflite", "-m.tflite")
    (folder / "delegate-sim.toml").write_text(CONFIGURATION, "utf-8")
    texts = [
        run("analyze", "--delegate", "nnapi", "--android", "11", "--", "-m.tflite").stdout,
        run("analyze", "--soc", "mediatek:mt6991", "--", "-m.tflite").stdout,
        run("diagnose", "--delegate", "nnapi", "--delegate", "gpu", "--verbose", "--", "-m.tflite").stdout,
        json.dumps(json.loads(run("check", "--format", "json").stdout)),
    ]
    for text in texts:
        lines = text.replace("\\n", "\n").splitlines()
        commands = [line for line in lines if "delegate-sim " in line and "m.tflite" in line]
        assert commands, text
        assert not [line for line in commands if " -m.tflite" in line.partition("delegate-sim ")[2]]


def test_the_command_after_a_scan_can_be_typed(run, folder):
    result = run(*SCAN[:-1], "--output=-my zoo.csv")
    assert "delegate-sim query './-my zoo.csv'" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    "words", [("analyze", "--delegate", "vx", "."), ("scan", ".", *SCAN[2:], "zoo.csv"), ("check", "--update")]
)
@pytest.mark.parametrize("target", ["loop", "model.tflite/x"])
def test_a_link_that_leads_nowhere(run, folder, words, target):
    (folder / "loop").symlink_to(target)
    assert run(*words).exit_code == 0


def test_a_found_name_is_no_pattern(run, folder):
    (folder / "c*.tflite").symlink_to("nowhere")
    assert run("scan", ".", *SCAN[2:], "zoo.csv").exit_code == 2  # for the one model that cannot be read
    assert "c*.tflite" in (folder / "zoo.csv").read_text()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(5, "Input/output error", "a.txt"), "a.txt: Input/output error"),
        (OSError(5, "Input/output error"), "Input/output error"),
    ],
)
def test_an_error_of_a_file_is_none_of_standard_output(error, text):
    def lines():
        yield "first"
        raise error

    command = FileCommand("write", callback=lambda: write(lines()))
    with pytest.raises(click.ClickException, match=f"^{text}$"):
        command.main([], standalone_mode=False)
