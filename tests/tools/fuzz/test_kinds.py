"""The inputs other than models, by tools/fuzz/kinds.py, and what counts as a finding for them."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import defaultdict

import pytest

pytest.importorskip("resource", reason="seeds are written in forked processes")
pytest.importorskip("duckdb", reason="the package duckdb is not installed")
pytest.importorskip("pyarrow", reason="the package pyarrow is not installed")
pytest.importorskip("google.protobuf", reason="protobuf is not installed")

from delegate_sim_cli.main import program
from tools.fuzz import commands, targets
from tools.fuzz.changes import OUTSIDE, SECRET
from tools.fuzz.kinds import KINDS, chosen, input_steps, seeds_of
from tools.fuzz.minimize import minimized_text

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="commands run in forked processes whose memory is limited")


def exit_code(step):
    if step.words[0] in (targets.LINK, targets.TOOL, targets.ARRAYS):
        step.run()
        return 0
    return targets._captured(lambda: program.main(list(step.words)))[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_command_reads_a_seed(monkeypatch, tmp_path, kind):
    """A command that refuses all seeds finds nothing."""
    codes = defaultdict(set)
    for number, seed in enumerate(seeds_of(kind)):
        for place, command in enumerate(KINDS[kind].commands):
            known = [found for (_, other), found in codes.items() if other == command]
            if known and all(found & {0, 1} for found in known):
                continue
            folder = tmp_path / f"{number}-{place}"
            folder.mkdir()
            monkeypatch.chdir(folder)
            for step in input_steps(seed, seed.content, [command], random.Random(1), str(folder)):
                codes[step.words[0], command].add(exit_code(step))
    assert not [command for command, found in codes.items() if not found & {0, 1}]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_number_gives_the_same_mutant(kind):
    mutants = [chosen(kind, f"tests:{number}")[1] for number in range(8)]
    assert mutants[:3] == [chosen(kind, f"tests:{number}")[1] for number in range(3)]
    assert len(set(mutants)) > 5
    assert max(map(len, mutants)) < 10 << 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_mutants_of_every_kind(monkeypatch, kind):
    monkeypatch.setattr(commands, "_ADDRESS_SPACE", 1 << 40)  # what the tests before have mapped counts as well
    for number in range(3):
        own = f"tests:{number}"
        finding = commands.run_in_child(chosen(kind, own)[1], own, kind).finding
        assert finding is None, finding.detail


@pytest.mark.slow
def test_mutants_of_tables_load_no_library_that_takes_address_space():
    """A command with limited address space could then not import DuckDB."""
    code = """
import sys
from tools.fuzz.kinds import chosen
mutants = {chosen("parquet", f"tests:{number}")[1] for number in range(12)}
assert len(mutants) > 8 and not {"duckdb", "pyarrow"} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


class OneStep:
    """Takes the place of a command that reads a device's log."""

    def __init__(self, run, *words):
        self.run = run
        self.words = words


def outcome(monkeypatch, run, *words):
    original = commands.input_steps

    def steps(*arguments):
        original(*arguments)
        return [OneStep(run, *words)]

    monkeypatch.setattr(commands, "input_steps", steps)
    monkeypatch.setattr(commands, "_ADDRESS_SPACE", 1 << 40)
    return commands.run_in_child(b"log", "1:2", "log").finding


def write(name):
    with open(name, "w") as file:
        file.write("x")


@pytest.mark.parametrize(
    ("run", "detail"),
    [
        (lambda: write("../new"), "escape: open "),
        (lambda: os.mkdir("../new"), "escape: os.mkdir "),
        (lambda: os.rename("device.log", "../new"), "escape: os.rename "),
        (lambda: os.remove("device.log"), "escape: changed device.log"),
        (lambda: write("device.log"), "escape: changed device.log"),
        (lambda: subprocess.run(["true"], check=True), "escape: subprocess.Popen "),
        (lambda: exec(compile("1", os.path.abspath("click.py"), "exec")), "escape: runs "),
    ],
    ids=["writes", "makes a folder", "moves", "removes", "changes", "starts", "imports"],
)
def test_what_leaves_the_folder_is_found(monkeypatch, run, detail):
    finding = outcome(monkeypatch, run, "reconcile")
    assert (finding.what, finding.kind, finding.suffix) == ("escape", "log", ".log")
    assert detail in finding.detail


def test_outputs_that_are_asked_for_are_no_findings(monkeypatch):
    assert outcome(monkeypatch, lambda: write("out/new"), "reconcile", "--output", "out/new") is None
    assert outcome(monkeypatch, lambda: write("device.log"), "reconcile", "--output", "device.log") is None
    assert outcome(monkeypatch, lambda: write("device.log"), "reconcile", "--learn", "device.log") is None


def test_the_content_of_another_file_is_found(monkeypatch):
    def quote(*arguments, **settings):
        with open(OUTSIDE) as file:
            print(file.read())

    monkeypatch.setattr(program, "main", quote)
    finding = outcome(monkeypatch, lambda: targets.run_program(["reconcile"]), "reconcile")
    assert finding.what == "error"
    assert SECRET in finding.detail


def test_a_link_cannot_name_a_file(monkeypatch):
    given = []
    monkeypatch.setattr(targets.bridge, "run", lambda words: given.append(words) or '{"exit": 0, "output": "", "error": ""}')
    targets.run_link("delegate=nnapi&driver=a.toml&android=11&max_delegated_partitions=3&runtime=none", "model.tflite")
    words = ["analyze", "model.tflite", "--delegate", "nnapi", "--android=11", "--max-delegated-partitions=3"]
    assert sorted(given[0]) == sorted(words)


def test_a_tool_gets_only_arguments_of_its_types(monkeypatch):
    given = []
    monkeypatch.setattr(targets, "run_program", given.append)
    for arguments in ('{"code": 1}', "{}", '{"code": "x", "other": "y"}', "[]", '{"code": ["x"]}', '{"code": "x"}'):
        targets.run_tool(f'{{"tool": "explain", "arguments": {arguments}}}')
    targets.run_tool('{"tool": "fix"}')
    targets.run_tool("[")
    assert given == [["explain", "--format", "json", "--", "x"]]


def test_bytes_that_do_not_matter_are_removed():
    content = bytes(range(200)) * 3
    assert minimized_text(content, lambda smaller: b"\x10" in smaller and b"\x20" in smaller, 60) in (b"\x10 ", b" \x10")
