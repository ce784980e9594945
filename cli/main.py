"""The command line. It imports subcommands on first use, prints errors as one line, and sets exit codes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from .console.terminal import open_closed_streams, print_error, silence_stdout, start_progress, stop_progress
from .exits import BROKEN_PIPE, DEBUG_VARIABLE, INTERNAL_ERROR, INTERRUPTED, USAGE, fault_message

_PROGRAM = "delegate-sim"

_COMMANDS = {
    "analyze": ("analyze", "Show what a delegate does to a model: log line, coverage, reasons, partitions."),
    "diagnose": ("diagnose", "Show what keeps nodes off a delegate, what each cause costs, and what to change."),
    "compare": ("compare", "Compare two models, or two targets: which nodes move, and why."),
    "whatif": ("whatif", "Show what would change with other versions, shapes, types or options."),
    "fix": ("fix", "Rewrite a model so that delegates take more nodes, and check the outputs."),
    "sweep": ("sweep", "Convert a source model in many ways, and find the best for each delegate."),
    "verify": ("verify", "Run two models on this CPU and compare their outputs and latency."),
    "reduce": ("reduce", "Reduce a model that fails to the smallest model with the same message."),
    "report": ("report", "Write an HTML page with the graph, the partitions, and the reasons."),
    "export": ("export", "Write what delegates do to a model for Model Explorer, Graphviz and others."),
    "micro": ("micro", "Show if TensorFlow Lite Micro runs a model, and the arena of the model."),
    "releases": ("releases", "Show how each release of the runtime treats a model."),
    "reconcile": ("reconcile", "Compare a device's log with the simulation, and explain the differences."),
    "import-records": ("import_records", "Compare records of device runs that others publish with the simulation."),
    "scan": ("scan", "Simulate many models on many targets, and write a table."),
    "query": ("query", "Query the table of a scan: top causes, regressions, what to change."),
    "check": ("check", "Compare every model on every target with the committed baseline, for CI."),
    "init": ("init", "Write a first configuration for check."),
    "rules": ("rules", "Show what a delegate accepts, operator by operator."),
    "explain": ("explain", "Explain a code from a report."),
    "doctor": ("doctor", "Show which real delegates can run on this host."),
    "mcp": ("mcp", "Serve these commands to coding assistants (MCP)."),
    "inspect": ("inspect", "Show the graph of a model as a delegate sees it."),
}
"""The module and the summary of each command. The summaries are here so that the help imports no modules of commands."""


def command_summary(name: str) -> str:
    """Return the summary of a command."""
    return _COMMANDS[name][1]


_ALIASES = {"analyse": "analyze", "diff": "verify"}
"""Hidden names of commands. The help does not show these names."""

_HELP_SHOWN: tuple[type[click.UsageError], ...] = (
    (click.exceptions.NoArgsIsHelpError,) if hasattr(click.exceptions, "NoArgsIsHelpError") else ()
)
"""The exception with which click shows the help if there are no arguments. Releases of click before 8.2 lack this exception."""


class _Program(click.Group):
    """The group of commands. It imports a command on first use, and prints an error as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = _ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in _COMMANDS:
            return None
        from delegate_sim.foundation.late_numpy import without_threads
        from delegate_sim.foundation.work_budget import work_budget

        without_threads()
        ctx.with_resource(work_budget())
        command: click.Command = import_module(f".commands.{_COMMANDS[cmd_name][0]}", __package__).command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name. For a file or a misspelled name, the error suggests a command."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from delegate_sim.foundation.printable import command_line, shortened, suggestion, typed_path

            name = args[0]
            if os.path.exists(name):
                raise click.UsageError(
                    f"a command comes first, such as: {command_line(['analyze', typed_path(name)])}"
                ) from error
            what = "file and no command" if "." in name or os.sep in name else "command"
            near = suggestion(name, _COMMANDS)
            raise click.UsageError(f"there is no {what} {shortened(repr(name))}{near}", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> NoReturn:
        open_closed_streams()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        start_progress(_PROGRAM)
        try:
            code = super().main(args, _PROGRAM, complete_var, False, windows_expand_args=windows_expand_args, **extra)
            sys.stdout.flush()
        except BrokenPipeError:
            silence_stdout()
            code = BROKEN_PIPE
        except OSError as error:  # concerns standard output, because FileCommand reports the errors of commands
            silence_stdout()
            print_error(f"standard output: {error.strerror or error}")
            code = USAGE
        except (click.Abort, KeyboardInterrupt):
            code = INTERRUPTED
        except Exception as error:
            code = _report(error)
        finally:
            stop_progress()
        sys.exit(code)


def _report(error: Exception) -> int:
    from delegate_sim.errors import DelegateSimError
    from delegate_sim.foundation.limits import exhausted

    if isinstance(error, MemoryError | RecursionError):
        error = exhausted(error)
    if isinstance(error, _HELP_SHOWN):
        error.show()
        return USAGE
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        advice = f" (see '{context.command_path} --help')" if context else ""
        print_error(f"{error.format_message().rstrip('.')}{advice}")
        return USAGE
    if isinstance(error, DelegateSimError):
        print_error(str(error))
        return USAGE
    print_error(fault_message(error))
    return INTERNAL_ERROR


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from delegate_sim.version import __version__

        click.echo(f"{_PROGRAM} {__version__}")
        context.exit()


_EPILOG = f"""\b
Examples:
  {_PROGRAM} analyze model.tflite
  {_PROGRAM} diagnose model.tflite
  {_PROGRAM} check
  {_PROGRAM} rules --op CONV_2D
  {_PROGRAM} explain nnapi-missing-bias
  {_PROGRAM} inspect model.tflite

\b
Exit codes:
  0    done; for check: no result is worse or over budget
  1    findings: a worse result (check), an unexplained difference (reconcile)
  2    wrong usage, or a file that cannot be read
  70   an internal error; {DEBUG_VARIABLE}=1 shows the traceback
  130  interrupted
  141  the reader of the output closed the pipe

\b
Shell completion (add the line to the shell's start-up file):
  bash  eval "$(_DELEGATE_SIM_COMPLETE=bash_source {_PROGRAM})"
  zsh   eval "$(_DELEGATE_SIM_COMPLETE=zsh_source {_PROGRAM})"
  fish  _DELEGATE_SIM_COMPLETE=fish_source {_PROGRAM} | source

Output on a terminal has colors, unless the variable NO_COLOR is set. The variable COLUMNS sets the width of the output.
"""


@click.group(cls=_Program, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version and exit."
)
def program() -> None:
    """Tell, without a device, what a TFLite / LiteRT delegate will do to a model."""


def main() -> NoReturn:
    """Run the command line and exit."""
    program.main()
