"""Whole commands in processes of their own, by tools/fuzz/commands.py."""

from __future__ import annotations

import mmap
import os
import random
import sys
from pathlib import Path

import pytest

from delegate_sim.runtime import interpreter
from tools.fuzz.targets import command_steps, run_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="commands run in forked processes whose memory is limited")
resource = pytest.importorskip("resource")

MODEL = (Path(__file__).parents[3] / "fixtures" / "models" / "pooling.tflite").read_bytes()


class OneStep:
    """Takes the place of a command."""

    words = ("analyze", "mutant.tflite")

    def __init__(self, run):
        self.run = run


def outcome(monkeypatch, run, most_seconds=10, most_bytes=1 << 62):
    from tools.fuzz import commands

    monkeypatch.setattr(commands, "_MOST_CPU_SECONDS", most_seconds)
    monkeypatch.setattr(commands, "_MOST_BYTES", most_bytes)
    monkeypatch.setattr(commands, "command_steps", lambda content, generator, folder: [OneStep(run)])
    monkeypatch.setattr(commands, "_CPU_SECONDS", 1)
    # What the tests before have mapped counts as well.
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    monkeypatch.setattr(commands, "_ADDRESS_SPACE", mapped + (1 << 30))
    return commands.run_in_child(MODEL, "1:2")


def too_long():
    while True:
        pass


def an_error():
    raise IndexError("tuple index out of range")


@pytest.mark.parametrize(
    ("run", "what", "detail"),
    [
        (lambda: bytearray(2 << 30), "memory", "MemoryError"),
        (an_error, "error", "IndexError: tuple index"),
        (os.abort, "crash", "$ delegate-sim analyze mutant.tflite"),
        (too_long, "timeout", "in too_long"),
    ],
)
def test_a_command_that_goes_wrong_is_found(monkeypatch, run, what, detail):
    finding = outcome(monkeypatch, run).finding
    assert (finding.seed, finding.what, finding.content) == ("1:2", what, MODEL)
    assert detail in finding.detail


def test_a_command_that_ends_too_late_or_takes_too_much_memory_is_found(monkeypatch):
    def large():
        return b"x" * (200 << 20)

    assert outcome(monkeypatch, large).finding is None
    assert outcome(monkeypatch, large, most_bytes=200 << 20).finding.what == "memory"
    assert outcome(monkeypatch, large, most_seconds=0).finding.what == "time"


def nested(*arguments):
    return nested(*arguments)


def larger_than_the_address_space(*arguments):
    return bytearray(1 << 40)


def refused_by_the_system(*arguments):
    return mmap.mmap(-1, 1 << 40)


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("exhaust", [larger_than_the_address_space, refused_by_the_system, nested])
def test_a_command_that_survives_a_lack_of_memory_is_found(monkeypatch, tmp_path, exhaust, form):
    """Such a command prints one line and exits as with any model that it does not simulate."""
    path = tmp_path / "model.tflite"
    path.write_bytes(MODEL)
    monkeypatch.setattr(interpreter, "_simulate_chain", exhaust)
    arguments = ["analyze", str(path), "--delegate", "gpu", "--format", form]
    assert outcome(monkeypatch, lambda: run_program(arguments)).finding.what == "memory"


def test_time_and_memory_of_a_command_are_measured(monkeypatch):
    run = outcome(monkeypatch, lambda: b"x" * (200 << 20))
    assert run.finding is None
    assert run.seconds > 0
    assert run.peak > 200 << 20


def test_the_same_seed_gives_the_same_command(tmp_path):
    def words(seed):
        return [step.words for step in command_steps(MODEL, random.Random(seed), str(tmp_path))]

    assert words("1") == words("1")
    assert len({str(words(str(seed))) for seed in range(40)}) > 20
