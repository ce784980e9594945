"""Look up installed packages without importing them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from ..errors import OptionError
from .printable import printable
from .processes import isolated_python, run

RUNTIME = "ai_edge_litert"


def package_folder(name: str) -> Path | None:
    """Return the folder of an installed package, or None if the package is not installed."""
    spec = importlib.util.find_spec(name)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def runtime_release() -> str:
    """Return the installed release of LiteRT, such as ``litert-2.3.0``, or "" if LiteRT is not installed.

    Development builds are a package of their own, with releases such as ``litert-2.4.0.dev20261026``.
    """
    versions = [package_version(name) for name in ("ai-edge-litert", "ai-edge-litert-nightly")]
    return next((f"litert-{version}" for version in versions if version), "")


def package_version(name: str) -> str:
    """Return the version of an installed package, or "" if the package is not installed.

    ``name`` is the package's name in the package index.
    """
    from importlib import metadata  # reads the folders of packages, which only live runs need

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


class Runtime(NamedTuple):
    """LiteRT as a Python has it. Without LiteRT, ``folder`` is None and ``release`` is empty."""

    folder: Path | None
    release: str
    python: str = sys.executable

    def package_folder(self, name: str) -> Path | None:
        """Return the folder of a package that is installed beside LiteRT, or in this Python."""
        beside = None if self.folder is None else self.folder.parent / name
        return beside if beside is not None and beside.is_dir() else package_folder(name)


def installed_runtime() -> Runtime:
    """Return LiteRT as this Python has it."""
    return Runtime(package_folder(RUNTIME), runtime_release())


_PROBE = """\
import importlib.metadata, importlib.util
print(importlib.util.find_spec("ai_edge_litert").origin)
for name in ("ai-edge-litert", "ai-edge-litert-nightly"):
    try:
        print(importlib.metadata.version(name))
        break
    except importlib.metadata.PackageNotFoundError:
        pass
"""


def runtime_of(python: str) -> Runtime:
    """Return LiteRT as another Python, or the Python of an environment, has it. Raise OptionError if it has none."""
    path = os.path.join(python, "bin", "python") if os.path.isdir(python) else python
    try:
        lines = run(isolated_python("-c", _PROBE, python=os.path.abspath(path)), seconds=60).stdout.decode().splitlines()
    except (OSError, subprocess.TimeoutExpired):
        lines = []
    if len(lines) != 2:
        raise OptionError(printable(f"{python}: is not a Python with ai-edge-litert"))
    return Runtime(Path(lines[0]).parent, f"litert-{lines[1]}", os.path.abspath(path))
