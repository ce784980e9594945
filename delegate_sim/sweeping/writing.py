"""Write a model of a sweep to a file."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import FixError
from ..foundation.files import open_input, write_chunks
from ..foundation.printable import printable
from .sweep_result import Swept

_BLOCK = 1 << 20


def write_best(result: Swept, target: str, path: str, *, replaces: bool = False) -> int:
    """Write the best model for a target to a file, and return the model's size in bytes.

    Raises FixError if there is no best model, if the file exists and ``replaces`` is false, or if the file cannot be written.
    Raises OptionError for an unknown target.
    """
    row = result.best_for(target)
    if row is None:
        raise FixError(f"nothing is written, because no conversion both runs on {target} and is accurate enough")
    try:
        write_chunks(path, _blocks(row.conversion.path), replaces=replaces)
    except OSError as error:
        raise FixError(error.strerror or str(error), printable(path)) from error
    return row.conversion.size


def _blocks(path: str) -> Iterator[bytes]:
    with open_input(path) as file:
        while block := file.read(_BLOCK):
            yield block
