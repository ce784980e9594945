"""Serve commands to coding assistants over the Model Context Protocol."""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

import click

from delegate_sim.bundles.address import SEPARATOR, join_address, split_address
from delegate_sim.bundles.stores import is_pattern, is_url
from delegate_sim.errors import DelegateSimError
from delegate_sim.foundation.outputs import is_within
from delegate_sim.foundation.printable import install_command, printable
from delegate_sim.foundation.processes import python_module, run
from delegate_sim.version import __version__

from ..console.output_file import FileCommand
from ..exits import DONE, FINDINGS
from ..options.delegate_flags import with_checked_paths

_SECONDS = 300
_MOST_OUTPUT = 1 << 25
"""Largest number of bytes of a command's answer. Parsed and written again, an answer takes many times as much memory."""
_LONE_SURROGATE = re.compile(rb"(?<!\\)((?:\\\\)*)\\u(d[89a-f][0-9a-f]{2})")
"""Matches the escape for a byte that is not UTF-8. Commands do not escape other characters with such a code."""
_INSTRUCTIONS = """\
delegate-sim predicts, without a device, what a TFLite / LiteRT delegate does to a .tflite model: the nodes that the delegate
takes, the reasons for all other nodes, the line that the runtime prints, and what to change.
Start with `analyze`. `diagnose` ranks causes and their fixes.
"""

ModelPath = Annotated[str, "Path of a .tflite model, or path of a model in a bundle or archive."]
DelegateArgument = Annotated[str, "Delegate, such as nnapi, gpu, mldrift, xnnpack or npu-google, or `all`."]
ToolOptions = Annotated[Sequence[str] | None, "Options of the delegate as NAME=VALUE, such as android=13; `rules` lists them."]
ReleaseName = Annotated[str | None, "Release of the runtime, such as tf-2.15 or litert-2.3."]


class McpError(DelegateSimError):
    """Raised if the server cannot start, if a path is outside the roots, or if a command fails."""


@dataclass(frozen=True, slots=True)
class Roots:
    """The folders in which tools may read and, if allowed, write files."""

    folders: tuple[str, ...]

    def model(self, path: str) -> str:
        """Return the address of a model in the form that commands read: the real path of a file, and members of a bundle.

        The path is split like on the command line. Then links are resolved, and the result is checked. Raises McpError if the
        file is in none of the folders, or if the path does not name one regular file.
        """
        file, *members = split_address(self._expanded(path))
        address = join_address(self._inside(file, path), *members)
        if split_address(address) != (os.path.realpath(file), *members):
            raise McpError(f"{path}: names another file after its links are resolved; rename the folder with '!' in its name")
        return address

    def file(self, path: str) -> str:
        """Return the real path of a file that is not a model. Raises McpError like ``model``."""
        return self._inside(self._expanded(path), path)

    def output(self, path: str) -> str:
        """Return the real path of a new file. Raises McpError if the path is in none of the folders, or is inside a bundle."""
        if SEPARATOR in path:
            raise McpError(f"{path}: an output cannot be inside a bundle")
        real = os.path.realpath(self._expanded(path))
        self._require_inside(real, path)
        if not os.path.isdir(os.path.dirname(real)):
            raise McpError(f"{path}: No such file or directory")
        if os.path.lexists(real):
            raise McpError(f"{path}: already exists; give another name")
        return real

    def _expanded(self, path: str) -> str:
        if is_url(path) or may_be_on_network(path) or not _is_encodable(path):
            raise McpError(f"{printable(path)} is outside the folders that this server may read: {', '.join(self.folders)}")
        return os.path.expanduser(path)

    def _inside(self, file: str, given: str) -> str:
        real = os.path.realpath(file)
        self._require_inside(real, given)
        if os.path.isdir(real):
            raise McpError(f"{given}: is a folder; give the path of one file")
        if not os.path.isfile(real):
            hint = "; a pattern is not possible here: give the path of one file" if is_pattern(given) else ""
            raise McpError(f"{given}: No such file or directory{hint}")
        return real

    def _require_inside(self, real: str, given: str) -> None:
        if not any(is_within(real, folder) for folder in self.folders):
            raise McpError(f"{given} is outside the folders that this server may read: {', '.join(self.folders)}")


def may_be_on_network(path: str, is_windows: bool = os.name == "nt") -> bool:
    """Return whether Windows may send the user's credentials to a computer that the path names.

    Such paths begin with a slash or a backslash, not with a drive.
    """
    return is_windows and path.startswith(("/", "\\"))


def _is_encodable(path: str) -> bool:
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def run_command(name: str, *arguments: str) -> dict[str, Any]:
    """Run a command in a separate process, and return the JSON of the command. Raises McpError if the command fails.

    The process is ended if the client cancels the call or closes the connection.
    """
    command = python_module("delegate_sim", name, "--format", "json", *arguments)
    try:
        finished = run(command, seconds=_SECONDS, stderr=subprocess.PIPE, check=_check_canceled, most_output=_MOST_OUTPUT)
    except subprocess.TimeoutExpired as error:
        raise McpError(f"{name} took more than {_SECONDS} seconds and was stopped") from error
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise McpError(f"{name} cannot be started with these arguments: {reason}") from error
    if finished.returncode not in (DONE, FINDINGS) or not finished.stdout:
        lines = finished.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {finished.returncode}"]
        raise McpError(lines[-1].removeprefix("error: "))
    if len(finished.stdout) >= _MOST_OUTPUT:
        raise McpError(f"the answer of {name} has more than {_MOST_OUTPUT:,} bytes")
    # A path may have bytes that are not UTF-8. The assistant gets them as text, because an answer cannot have them.
    answer: dict[str, Any] = json.loads(_LONE_SURROGATE.sub(rb"\1\\\\u\2", finished.stdout))
    return answer


def _check_canceled() -> None:
    """Raise the exception for a canceled call, in the thread in which the server runs the tool."""
    from anyio.from_thread import check_cancelled

    with suppress(RuntimeError):  # this is not a thread of the server
        check_cancelled()


def make_server(folders: Sequence[str], *, may_write: bool = False) -> Any:
    """Return the server. Raises McpError if the package ``mcp`` is missing or a folder does not exist."""
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.types import ToolAnnotations
    except ImportError as error:
        raise McpError(f"the MCP server needs the package mcp: {install_command('mcp')}") from error
    missing = [folder for folder in folders if not os.path.isdir(folder)]
    if missing:
        raise McpError(f"{missing[0]} is not a folder")
    roots = Roots(tuple(os.path.realpath(folder) for folder in folders))

    def named(tool: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
        """Return a tool that reports errors to the assistant as results, without a traceback in the server's log."""

        @functools.wraps(tool)
        def call(*args: Any, **kwargs: Any) -> dict[str, Any]:
            try:
                return tool(*args, **kwargs)
            except DelegateSimError as error:
                raise ToolError(str(error)) from error

        return call

    server = MCPServer("delegate-sim", version=__version__, instructions=_INSTRUCTIONS)
    for tool in _tools(roots):
        server.add_tool(named(tool), annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    if may_write:
        server.add_tool(named(_fix(roots)), annotations=ToolAnnotations(read_only_hint=False, open_world_hint=False))
    return server


def serve(server: Any) -> None:
    """Serve on standard input and output. The signal SIGTERM ends the server like Ctrl-C, with the processes of running calls."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started the server with SIGINT ignored
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    server.run("stdio")


def _target(roots: Roots, delegate: str, options: Sequence[str] | None, runtime: str | None) -> list[str]:
    """Return the arguments for a target. Each value is joined with its flag by ``=``, so that it cannot be another flag."""
    checked = with_checked_paths(delegate, list(options or ()), roots.file)
    arguments = [f"--delegate={delegate}", *[f"--option={option}" for option in checked]]
    return arguments + ([f"--runtime={runtime}"] if runtime else [])


def _tools(roots: Roots) -> list[Callable[..., dict[str, Any]]]:
    def analyze(
        model: ModelPath, delegate: DelegateArgument = "nnapi", options: ToolOptions = None, runtime: ReleaseName = None
    ) -> dict[str, Any]:
        """Predict which nodes a delegate takes, the reasons for all other nodes, and the lines that the runtime prints."""
        return run_command("analyze", *_target(roots, delegate, options, runtime), "--", roots.model(model))

    def diagnose(
        model: ModelPath, delegate: DelegateArgument = "nnapi", options: ToolOptions = None, runtime: ReleaseName = None
    ) -> dict[str, Any]:
        """Rank the causes that keep nodes on the CPU.

        Each cause has a cost, a change that fixes the cause, and the result of this change.
        """
        return run_command("diagnose", *_target(roots, delegate, options, runtime), "--", roots.model(model))

    def compare(
        model: ModelPath,
        other: Annotated[str, "Path of the second model."],
        delegate: DelegateArgument = "nnapi",
        options: ToolOptions = None,
        runtime: ReleaseName = None,
    ) -> dict[str, Any]:
        """Compare a delegate's results for two models: the nodes that move, and the reasons."""
        return run_command("compare", *_target(roots, delegate, options, runtime), "--", roots.model(model), roots.model(other))

    def releases(model: ModelPath, delegate: DelegateArgument = "nnapi", options: ToolOptions = None) -> dict[str, Any]:
        """Predict what each release of the runtime does to a model."""
        return run_command("releases", *_target(roots, delegate, options, None), "--", roots.model(model))

    def rules(operator: Annotated[str, "Operator, such as CONV_2D."], delegate: DelegateArgument = "nnapi") -> dict[str, Any]:
        """List the conditions under which a delegate accepts an operator, with links to the delegate's source code."""
        return run_command("rules", f"--delegate={delegate}", f"--op={operator}")

    def explain(code: Annotated[str, "Code of a refusal, such as nnapi-operator-version."]) -> dict[str, Any]:
        """Explain a code: its meaning, and what to do about it."""
        return run_command("explain", "--", code)

    def plan_fix(model: ModelPath, delegate: DelegateArgument = "nnapi", options: ToolOptions = None) -> dict[str, Any]:
        """List the rewrites of a model that let a delegate take more nodes. Nothing is written."""
        return run_command("fix", *_target(roots, delegate, options, None), "--plan", "--", roots.model(model))

    return [analyze, diagnose, compare, releases, rules, explain, plan_fix]


def _fix(roots: Roots) -> Callable[..., dict[str, Any]]:
    def fix(
        model: ModelPath,
        output: Annotated[str, "Path of the new model. An existing file is not replaced."],
        delegate: DelegateArgument = "nnapi",
        options: ToolOptions = None,
    ) -> dict[str, Any]:
        """Write a rewritten model for a delegate, and check that the outputs are the same."""
        written = f"--output={roots.output(output)}"
        return run_command("fix", *_target(roots, delegate, options, None), written, "--", roots.model(model))

    return fix


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
