"""The models given to a command: files, folders, patterns and standard input."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from delegate_sim.bundles import model_files
from delegate_sim.bundles.address import split_address
from delegate_sim.bundles.formats import MODEL_SUFFIXES, source_format
from delegate_sim.bundles.opening import NamedBytes
from delegate_sim.bundles.stores import is_pattern, is_url
from delegate_sim.errors import DelegateSimError, LimitError, ModelError
from delegate_sim.foundation.files import read_stream
from delegate_sim.foundation.limits import exhausted, naming_model
from delegate_sim.model.model import Model
from delegate_sim.model.reader import load
from delegate_sim.runtime.target import ignore_identifier

from .console.terminal import print_error, show_progress, show_step
from .exits import DONE, INTERNAL_ERROR, USAGE, fault_message

if TYPE_CHECKING:
    from delegate_sim.graph.effort import Effort
    from delegate_sim.runtime.target import Target

Found = TypeVar("Found")

STANDARD_INPUT = "-"


class Unreadable(NamedTuple):
    """A model that cannot be read, or that causes an internal error: the given path, and the error message."""

    path: str
    message: str
    is_fault: bool = False
    """Whether the error is an internal error."""


def model_paths(given: Iterable[str]) -> list[str]:
    """Expand the given paths into paths of models, in the given order and without duplicates.

    A folder is replaced by the models below it. A pattern is replaced by the matching files. A path that is the name of an
    existing file is not a pattern. A folder or pattern without models is kept, so that the command can report it.
    """
    return list(dict.fromkeys([path for argument in given for path in _files_of(argument)]))


def stands_for_many(path: str) -> bool:
    """Return whether a path may expand to several models: a folder or a pattern."""
    return path != STANDARD_INPUT and model_files.stands_for_many(path)


def read_model(path: str, targets: Sequence[Target] = ()) -> Model:
    """Read a model from a file, or from standard input if the path is ``-``. Raises ModelError, like ``load``.

    A file with another identifier is read only if no target is a delegate of LiteRT, because other runtimes may ignore it.
    """
    any_identifier = ignore_identifier(targets)
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise ModelError("standard input is closed")
        try:
            source = NamedBytes(memoryview(read_stream(sys.stdin.buffer)), "standard input")
        except OSError as error:
            raise ModelError(f"standard input: {error.strerror or error}") from error
        return load(source, any_identifier=any_identifier)
    require_models(path)
    return load(path, any_identifier=any_identifier)


def require_models(path: str) -> None:
    """Raise ModelError if a path is a folder without models, or a pattern that matches no file."""
    if os.path.isdir(path) and source_format(path, b"") is None:
        raise ModelError(f"{path}: contains no model (no file below it ends in {' or '.join(MODEL_SUFFIXES)})")
    if is_pattern(path) and not is_url(path) and not os.path.exists(path) and len(split_address(path)) == 1:
        raise ModelError(f"{path}: matches no file")


def one_path(path: str) -> str:
    """Expand a path into the path of one model. Raises UsageError if there are several models."""
    paths = _files_of(path)
    if len(paths) > 1:
        raise click.UsageError(f"{path} matches {len(paths)} models; give one model")
    return paths[0]


def naming_its_model(command: Callable[..., int]) -> Callable[..., int]:
    """Decorate a command on one model. Every message about the model then has the path of the model (the argument ``path``)."""

    @functools.wraps(command)
    def call(path: str, **given: Any) -> int:
        with naming_model(path):
            return command(path=path, **given)

    return call


class Models:
    """The given models. They are processed one after another.

    A model that fails is added to ``unreadable``, and the next model is processed.
    """

    def __init__(self, given: Sequence[str], *, are_bundles: bool = False) -> None:
        self.paths = list(dict.fromkeys(given)) if are_bundles else model_paths(given)
        self.is_single = len(self.paths) == 1 and not any(map(stands_for_many, given))
        """Whether exactly one model was given, as a file and not as a folder or pattern."""
        self.unreadable: list[Unreadable] = []

    @property
    def exit_code(self) -> int:
        """The exit code of the command if it has no findings."""
        if any(model.is_fault for model in self.unreadable):
            return INTERNAL_ERROR
        return USAGE if self.unreadable else DONE

    def each(self, take: Callable[[str], Found]) -> Iterator[Found]:
        """Yield the result of ``take`` for each path. Errors about a model are printed on standard error."""
        for number, path in enumerate(self.paths, 1):
            if len(self.paths) > 1:
                total = len(self.paths)
                show_progress(f"{number:,} of {total:,}: {path}", (number - 1) / total, 1 / total)
            else:
                show_progress(path)
            try:
                result = take(path)
            except (MemoryError, RecursionError) as error:
                self._fail(path, str(exhausted(error, path)))
            except DelegateSimError as error:
                name = "standard input" if path == STANDARD_INPUT else path
                if isinstance(error, LimitError) and not str(error).startswith(name):
                    error = LimitError(error.reason, name)
                # The message of another ModelError already names the file.
                self._fail(path, str(error) if isinstance(error, ModelError) else f"{name}: {error}")
            except (click.ClickException, click.Abort, click.exceptions.Exit):
                raise  # concerns the command line, so it would repeat for every model
            except Exception as error:  # a failure on one model must not stop the command
                self._fail(path, fault_message(error) if self.is_single else f"{path}: {fault_message(error)}", is_fault=True)
            else:
                yield result

    def affordable(self, path: str, targets: Sequence[Target], effort: Effort) -> Iterator[Target]:
        """Yield the targets of a model until the limit on simulations is reached. Report the remaining targets as not simulated.

        Each target counts as one simulation of its delegate. The caller must count further simulations.
        """
        for number, target in enumerate(targets):
            try:
                effort.begin_target(len(targets) - number - 1, target.effort)
            except LimitError:
                self.leave_out(path, targets[number:], effort)
                return
            show_target(targets, number)
            yield target

    def leave_out(self, path: str, targets: Sequence[Target], effort: Effort) -> None:
        """Report targets of a model that are not simulated, if there are any."""
        if targets:
            names = ", ".join([target.delegate.name for target in targets])
            self._fail(path, f"{path}: not simulated: {names}: {effort.reason}")

    def _fail(self, path: str, message: str, *, is_fault: bool = False) -> None:
        print_error(message)
        self.unreadable.append(Unreadable(path, message, is_fault))


def show_target(targets: Sequence[Target], number: int) -> None:
    """If there are several targets, show the current target as progress."""
    if len(targets) > 1:
        show_step(targets[number].delegate.name, number / len(targets))


def print_not_simulated(path: str, delegate: str, reasons: Iterable[str]) -> None:
    """Print messages about skipped simulations, for formats that have no lines about limits."""
    for reason in reasons:
        print_error(f"{path}: not simulated: {delegate}: {reason}")


def unreadable_entry(model: Unreadable) -> dict[str, object]:
    """Return the JSON entry of a model that cannot be read."""
    return {"model": {"path": model.path}, "error": model.message}


def _files_of(path: str) -> list[str]:
    return [path] if path == STANDARD_INPUT else model_files.files_for(path)
