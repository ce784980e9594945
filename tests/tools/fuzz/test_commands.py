"""Whole commands in processes of their own, by tools/fuzz/commands.py."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest

from tools.fuzz.targets import command_steps

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="commands run in forked processes whose memory is limited")
resource = pytest.importorskip("resource")

MODEL = (Path(__file__).parents[3] / "fixtures" / "models" / "pooling.tflite").read_bytes()


class OneStep:
    """Takes the place of a command."""

    words = ("analyze", "mutant.tflite")

    def __init__(self, run):
        self.run = run


def outcome(monkeypatch, run):
    from tools.fuzz import commands

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
