"""The page for assistants names only commands and options that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from delegate_sim_cli.main import program

PAGE = Path(__file__).resolve().parents[2] / "skills" / "delegate-sim" / "SKILL.md"
COMMANDS = [shlex.split(line) for line in re.findall(r"`delegate-sim ([^`]+)`", PAGE.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_command_and_its_options_exist(words):
    if words[0] == "COMMAND":
        return
    command = program.get_command(click.Context(program), words[0])
    assert command is not None
    options = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in words[1:] if word.startswith("-")} <= options


def test_every_command_is_named():
    assert {*program.list_commands(click.Context(program))} - {words[0] for words in COMMANDS} <= {"report", "export", "mcp"}
