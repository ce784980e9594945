"""What the page calls: the models in a file, and a run of the command line in this process.

Every function takes plain values and returns JSON, because the page's worker passes text between JavaScript and Python.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Sequence

from delegate_sim.bundles.bundle_error import BundleError
from delegate_sim.bundles.formats import MODEL, format_at
from delegate_sim.bundles.members import models_in
from delegate_sim.errors import DelegateSimError
from delegate_sim.foundation.late_numpy import MISSING
from delegate_sim.foundation.limits import exhausted
from delegate_sim_cli.console.terminal import report_progress
from delegate_sim_cli.main import program

_NUMPY = "numpy"


def run(arguments: Sequence[str], progress: Callable[[str, float], object] | None = None) -> str:
    """Run a command and return its exit code and what it printed.

    ``progress`` is called with a description of the current work and the share that is done, or -1 if the share is unknown.
    ``needs`` names the package that the command needed and that is not installed, or is null.
    """
    out, err = _stream(), _stream()
    if progress is not None:
        report_progress(progress)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            program.main(list(arguments))
        except SystemExit as end:
            code = end.code or 0
    output, error = _text(out), _text(err)
    needs = _NUMPY if _says(MISSING, error) or _says(MISSING, output) else None
    return json.dumps({"exit": code, "output": output, "error": error.rstrip("\n"), "needs": needs})


def models(path: str) -> str:
    """Return the addresses of the models in a file, as commands take them. The only model of a model file is the file itself.

    ``error`` is one line if the bundle cannot be read.
    """
    error = ""
    addresses = [path]
    if format_at(path) not in (MODEL, None):
        try:
            addresses = models_in(path)
        except (MemoryError, RecursionError) as fault:
            addresses, error = [], str(exhausted(fault, path))
        except (BundleError, DelegateSimError, OSError) as fault:
            addresses, error = [], str(fault)
    return json.dumps({"models": addresses, "error": error})


def _says(message: str, text: str) -> bool:
    """Return whether a text has a message, which may be broken into lines."""
    return _NUMPY in text and message in " ".join(text.split())


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    content = stream.buffer.getvalue()  # type: ignore[attr-defined]
    return str(content.decode("utf-8"))
