"""Check the calls of public functions: their signatures, former names of arguments, models, paths and names.

A wrong argument raises ModelError or OptionError.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, TypeAlias, TypeVar

from ..errors import ModelError, OptionError
from ..foundation.limits import exhausted
from ..model.model import Model
from ..model.reader import load, require_identifier

ModelLike: TypeAlias = Model | str | os.PathLike[str] | bytes | bytearray | memoryview
"""A model that is already loaded, the path of a model file, or the bytes of a model file."""
NodeLike: TypeAlias = int | tuple[int, int]
"""A node: its index in the first subgraph, or a pair of a subgraph index and a node index."""
DelegatesLike: TypeAlias = str | Sequence[str | tuple[str, Mapping[str, Any]]]
"""The name of a delegate, or a list of names or pairs of a name and options."""
PathsLike: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A path, or several paths."""
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_FORMER_NAMES = {
    "own_resolver": "assume_ops_registered",
    "replace": "force",
    "proves": "proof",
    "everything": "all",
    "versions": "set_versions",
    "conversion": "to",
}
"""The current name of each renamed argument, keyed by the former name."""
_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def model_of(model: Any, *, any_identifier: bool = False) -> Model:
    """Return a loaded model unchanged, or load a model from a path or from bytes. Raises ModelError.

    A model with the wrong identifier also raises ModelError, unless ``any_identifier`` is true.
    """
    if isinstance(model, Model):
        if not any_identifier:
            require_identifier(model)
        return model
    if not isinstance(model, str | os.PathLike | bytes | bytearray | memoryview):
        raise ModelError(f"a model must be a path, the bytes of a file, or a result of load(), not {kind_of(model)}")
    return load(model, any_identifier=any_identifier)


def public(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Decorate a public function.

    The decorated function raises OptionError if the arguments do not match the signature. It raises LimitError if a model uses
    up the memory or the stack of the process. It accepts former names of arguments, and then gives a DeprecationWarning.
    """

    @functools.wraps(function)
    def call(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        known = getattr(function, "__kwdefaults__", None) or ()
        for former in [name for name in named if name not in known and _FORMER_NAMES.get(name) in known]:
            _rename(named, former)
        try:
            return function(*arguments, **named)
        except TypeError as error:
            refused = _refused(function, arguments, named)
            if refused is None:
                raise
            raise OptionError(refused) from error
        except (MemoryError, RecursionError) as error:
            raise exhausted(error, _path_of(arguments)) from None

    return call


def _path_of(arguments: Sequence[Any]) -> str | None:
    path = getattr(arguments[0], "path", arguments[0]) if arguments else None
    return os.fspath(path) if isinstance(path, str | os.PathLike) else None


def _rename(named: dict[str, Any], former: str) -> None:
    name = _FORMER_NAMES[former]
    if name in named:
        raise OptionError(f"{former} is the old name of {name}: give only one of them")
    warn_of_former_name(former, name)
    named[name] = named.pop(former)


def warn_of_former_name(former: str, name: str) -> None:
    """Give a DeprecationWarning for the caller's line of code. The caller is the innermost frame outside this package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    message = f"{former} is now called {name}; the old name will be removed in the next release"
    warnings.warn(message, DeprecationWarning, stacklevel=level)


def _refused(function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]) -> str | None:
    """Return an error message if the arguments do not match the signature of a function, or None if they match."""
    import inspect  # slow to import, and only needed for an error

    signature = inspect.signature(function)
    try:
        signature.bind(*arguments, **named)
    except TypeError as error:
        text = f"{function.__name__}: {error}; its arguments are {', '.join(signature.parameters)}"
        unknown = [name for name in named if name not in signature.parameters]
        if unknown and "options" in signature.parameters:
            text += f"; an option of the delegate goes into options: options={{'{unknown[0]}': ...}}"
        return text
    return None


def require_bool(name: str, value: object) -> None:
    """Raise OptionError unless an argument is True or False."""
    if not isinstance(value, bool):
        raise OptionError(f"{name} must be True or False, not {kind_of(value)}")


def paths_of(given: Any, what: str) -> list[str]:
    """Return one or several paths as a list of strings. Raises OptionError with a message that starts with ``what``."""
    if isinstance(given, str | os.PathLike):
        given = [given]
    if not isinstance(given, Sequence) or not all(isinstance(path, str | os.PathLike) for path in given):
        raise OptionError(f"{what} takes a path, or a list of paths, not {kind_of(given)}")
    return [os.fsdecode(path) for path in given]


def names_of(given: Any, what: str) -> list[str]:
    """Return one or several names as a list. Raises OptionError with a message that starts with ``what``."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise OptionError(f"{what} takes a name, or a list of names, not {kind_of(given)}")
    return list(given)


def kind_of(value: Any) -> str:
    """Describe a value by its type, because its text may be very long."""
    return "None" if value is None else f"a value of type {type(value).__name__}"
