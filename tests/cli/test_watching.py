"""``analyze --watch``: again whenever a file changes."""

from __future__ import annotations

import os

import click
import pytest

from delegate_sim_cli.commands.analyze.analyze import run_watching
from delegate_sim_cli.main import program
from tests.support.models import MIXED, chain_model


class Clock:
    """Sleeps for no time, doing something each time instead; interrupts when there is nothing left to do."""

    def __init__(self, *steps):
        self.steps = list(steps)

    def __call__(self, seconds):
        if not self.steps:
            raise KeyboardInterrupt
        self.steps.pop(0)()


def nothing():
    """Let time pass."""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.tflite"
    chain_model(MIXED).write(path)
    return path


def watched(paths, *steps):
    """Return how often something was run."""
    runs = []
    with pytest.raises(KeyboardInterrupt):
        run_watching([str(path) for path in paths], lambda: runs.append(1) or 0, Clock(*steps))
    return len(runs)


def test_without_a_change_it_runs_once(model, capsys):
    assert watched([model], nothing, nothing) == 1
    assert "Waiting for a change" in capsys.readouterr().out


def test_it_runs_again_once_a_changed_file_stays_as_it_is(model, capsys):
    def change(size):
        return lambda: model.write_bytes(b"x" * size)

    assert watched([model], change(1), change(2), nothing) == 2
    assert f"{model} ===" in capsys.readouterr().out
    assert watched([model], change(3), change(4)) == 1


def test_a_model_that_goes_and_comes_back_is_a_change(model, tmp_path):
    content = model.read_bytes()
    assert watched([tmp_path], model.unlink, nothing, lambda: model.write_bytes(content), nothing) == 3


def test_a_touched_file_is_a_change(model):
    assert watched([model], lambda: os.utime(model, ns=(1, 1)), nothing) == 2


def test_standard_input_does_not_change():
    with pytest.raises(click.UsageError, match="standard input can be read only once"):
        run_watching(["-"], lambda: 0)


def test_the_command_ends_when_it_is_interrupted(model, monkeypatch, capsys):
    monkeypatch.setattr("delegate_sim_cli.commands.analyze.analyze.time.sleep", lambda seconds: None)
    monkeypatch.setattr("delegate_sim_cli.commands.analyze.analyze._wait", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(SystemExit) as ended:
        program.main(["analyze", str(model), "--delegate", "nnapi", "--watch"])
    assert ended.value.code == 130
    assert "yielding 3 partitions" in capsys.readouterr().out
