"""The options ``--output`` and ``--force`` of all commands, and commands that check their files before they run."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import click

_FORCED = "delegate_sim.forced"


class ReportFile(NamedTuple):
    """The format and the path of a report file."""

    form: str
    path: str


class Outputs(NamedTuple):
    """The main format, its output file (None for standard output), and further report files."""

    form: str
    output: str | None = None
    files: Sequence[ReportFile] = ()


def single_output(form: str, output: str | None) -> Outputs:
    """Return the outputs of a command without report files."""
    return Outputs(form, output)


class Written(NamedTuple):
    """Mark of the type of an option that names files that the command writes.

    ``replaces`` and ``is_updated`` are those of ``OutputFile``. With ``is_declared=False``, the command calls ``declare_outputs``
    itself, because other options decide which files it writes.
    """

    replaces: bool = False
    is_updated: bool = False
    is_declared: bool = True


class OutputPath(click.Path):
    """The path of a file that the command writes."""

    def __init__(self, *, is_updated: bool = False, is_declared: bool = True) -> None:
        super().__init__()
        self.written = Written(is_updated=is_updated, is_declared=is_declared)


class FileCommand(click.Command):
    """A command whose inputs and outputs are declared together, before the command runs.

    The outputs are the options whose type has a mark ``Written``. The inputs are all other paths.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Raises OutputError if an output must not be written, or ClickException for an unexpected OSError."""
        from delegate_sim.bundles.address import split_address
        from delegate_sim.foundation.outputs import OutputFile, declare_outputs, files_kept

        outputs, inputs = [], []
        for parameter in self.params:
            paths = [*_paths(ctx.params.get(parameter.name or ""))]
            written: Written | None = getattr(parameter.type, "written", None)
            if written is None:
                inputs += [split_address(path)[0] for path in paths if isinstance(parameter.type, click.Path)]
            elif written.is_declared:
                outputs += [OutputFile(path, is_forced(ctx), written.replaces, written.is_updated) for path in paths]
        try:
            with files_kept():
                declare_outputs(outputs, inputs)
                return super().invoke(ctx)
        except OSError as error:
            message = error.strerror or str(error)
            raise click.ClickException(f"{error.filename}: {message}" if error.filename else message) from error
        except Exception as error:
            _name_model(error, ctx)
            raise


def _name_model(error: Exception, ctx: click.Context) -> None:
    """Put the only argument of the command in place of MODEL into the commands that an error suggests."""
    import shlex

    from delegate_sim.errors import DelegateSimError
    from delegate_sim.foundation.printable import typed_path

    paths = [
        path for own in ctx.command.params if isinstance(own, click.Argument) for path in _paths(ctx.params.get(own.name or ""))
    ]
    if isinstance(error, DelegateSimError) and len(paths) == 1 and error.args:
        first, *rest = error.args
        error.args = (str(first).replace(" MODEL ", f" {shlex.quote(typed_path(paths[0]))} "), *rest)


def output_option(
    description: str = "Write to a file instead of standard output.",
    *,
    name: str = "output",
    is_required: bool = False,
    default: str | None = None,
    is_declared: bool = True,
    force: str = "Replace an existing output file.",
) -> Callable[[Command], Command]:
    """Return ``-o/--output`` and ``--force``. ``name`` is the name of the parameter, and ``force`` is the help of ``--force``.

    Without ``--force``, an existing file is an error, which is reported before the command runs. With ``is_declared=False``, the
    command must itself call ``declare_outputs``.
    """

    def decorate(command: Command) -> Command:
        return click.option(
            "-o",
            "--output",
            name,
            metavar="FILE",
            type=OutputPath(is_declared=is_declared),
            required=is_required,
            default=default,
            show_default=default is not None,
            help=description,
        )(force_option(force)(command))

    return decorate


def force_option(description: str) -> Callable[[Command], Command]:
    """Return ``--force``. ``is_forced`` returns its value."""
    return click.option("--force", is_flag=True, expose_value=False, callback=_keep_force, help=description)


def is_forced(context: click.Context | None = None) -> bool:
    """Return whether ``--force`` was given to the command."""
    return bool((context or click.get_current_context()).meta.get(_FORCED))


def _keep_force(context: click.Context, _: click.Parameter, value: bool) -> None:
    context.meta[_FORCED] = value


def _paths(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, ReportFile):
        yield value.path
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _paths(item)


Command = Callable[..., Any]


def gathered(name: str, make: Callable[..., Any]) -> Callable[[Command], Command]:
    """Return a decorator that replaces some options of a command by one argument ``name``.

    The options are the parameters of ``make``, and the argument is the result of ``make``. The options must be declared above the
    decorator.
    """
    options = tuple(inspect.signature(make).parameters)

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def call(**given: Any) -> Any:
            return command(**{name: make(**{option: given.pop(option) for option in options})}, **given)

        return call

    return decorate
