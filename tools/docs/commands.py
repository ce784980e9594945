"""Print docs/commands.md: commands, their arguments and options, from the command line's own declarations (``make docs``)."""

from __future__ import annotations

import inspect
import re
import textwrap

import click

from delegate_sim_cli.main import command_summary, program

from .browser import ROOT
from .sections import title

_HEAD = """\
# Commands and options

This page is the reference of all commands. It is generated from the output of `delegate-sim COMMAND --help` (`make docs`).

- A delegate's page of [rules](targets.md#delegates) lists the delegate's options, such as `--android`.
  `delegate-sim analyze --help --delegate NAME` prints these options.
- [The page on formats](formats.md) explains output formats and exit codes.
- A MODEL is a file, a folder, a quoted pattern such as `'models/**/*.tflite'`, or `-` for standard input.
"""

_PAGES = {
    "analyze": "which-delegate",
    "diagnose": "fallback",
    "compare": "targets",
    "whatif": "fallback",
    "fix": "fix",
    "sweep": "sweep",
    "verify": "numbers",
    "reduce": "reduce",
    "report": "fallback",
    "export": "formats",
    "micro": "micro",
    "releases": "targets",
    "reconcile": "device-logs",
    "import-records": "device-logs",
    "scan": "scan",
    "query": "scan",
    "check": "ci",
    "init": "ci",
    "rules": "how-it-works",
    "explain": "codes",
    "doctor": "numbers",
    "mcp": "python",
    "inspect": "first-model",
}
"""The page that explains each command."""


def page() -> str:
    """Return the page as Markdown."""
    context = _program_context()
    names = program.list_commands(context)
    index = [f"[{name}](#{name})" for name in names]
    return "\n".join([_HEAD, textwrap.fill(f"{', '.join(index)}.", 120, break_on_hyphens=False), "", *map(_section, names)])


def _program_context() -> click.Context:
    return click.Context(program, info_name="delegate-sim", terminal_width=100)


def _section(name: str) -> str:
    """Return the section of a command, or of a group and its commands."""
    context = _program_context()
    command = program.get_command(context, name)
    assert command is not None
    card = f"- **Use it for:** {command_summary(name)}\n- **Begin with:** `{_first_example(command) or f'delegate-sim {name}'}`\n"
    page = f"{_PAGES[name]}.md"
    card += f"- **Read:** [{title(ROOT / 'docs' / page)}]({page})\n\n"
    return f"## {name}\n\n{card}" + _described(command, click.Context(command, context, info_name=name))


def _first_example(command: click.Command) -> str:
    """Return the first command line in the epilog of a command, or "" if there is none."""
    lines = [line.strip() for line in (command.epilog or "").splitlines()]
    return next((line.partition("  #")[0] for line in lines if line.startswith("delegate-sim ")), "")


def _described(command: click.Command, context: click.Context) -> str:
    parts = [_without_marks(command.help or ""), f"```\n{command.get_usage(context).removeprefix('Usage: ')}\n```"]
    rows = [row for parameter in command.params if (row := _row(parameter, context))]
    if rows:
        parts.append("\n".join(["| option | meaning | default |", "|---|---|---|", *rows]))
    if command.epilog:
        parts.append(f"```\n{_without_marks(command.epilog)}\n```")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            parts.append(f"### {context.info_name} {name}\n")
            parts.append(_described(inner, click.Context(inner, context, info_name=name)))
    return "\n\n".join(parts) + "\n"


def _row(parameter: click.Parameter, context: click.Context) -> str:
    """Return the row of an option; an empty string for arguments and hidden options."""
    record = parameter.get_help_record(context)
    if record is None or not isinstance(parameter, click.Option):
        return ""
    names, text = record
    meaning, _, extra = f"  {text}".partition("  [")
    notes = extra.removesuffix("]").split("; ") if extra else []
    default = next((note.removeprefix("default: ") for note in notes if note.startswith("default: ")), "")
    others = ", ".join([note for note in notes if not note.startswith("default: ")])
    meaning = f"{meaning} ({others})" if others else meaning
    if choices := re.search(r" \[(\w[\w|-]*)\]$", names):
        names = f"{names[: choices.start()]} VALUE"
        meaning = f"{meaning} One of {', '.join(choices[1].split('|'))}."
    return f"| `{_cell(names)}` | {_cell(meaning)} | {_cell(default.removeprefix('(').removesuffix(')'))} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _without_marks(text: str) -> str:
    """Return a help text without the marks that click reads."""
    return re.sub(r"^\x08\n?", "", inspect.cleandoc(text), flags=re.MULTILINE).strip()


if __name__ == "__main__":
    print(page(), end="")
