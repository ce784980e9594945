"""Serve commands to coding assistants over the Model Context Protocol."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..console.output_file import FileCommand
from ..exits import DONE
from ..mcp_server import make_server, serve

_EPILOG = """\b
Example, in the configuration of an assistant:
  {"mcpServers": {"delegate-sim": {"command": "delegate-sim", "args": ["mcp", "--root", "models"]}}}
"""


@click.command("mcp", cls=FileCommand, epilog=_EPILOG)
@click.option(
    "--root",
    "roots",
    metavar="FOLDER",
    multiple=True,
    default=(".",),
    show_default=True,
    type=click.Path(),
    help="A folder whose files the tools may read; may be given several times.",
)
@click.option("--allow-writing", is_flag=True, help="Also serve `fix`, which writes a new model into one of the folders.")
def command(roots: Sequence[str], allow_writing: bool) -> int:
    """Serve analyze, diagnose, compare, releases, rules, explain and fix as tools, on standard input and output.

    Each tool runs a command and returns the JSON of the command. Tools read only files below the roots.
    """
    serve(make_server(roots, may_write=allow_writing))
    return DONE
