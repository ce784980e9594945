"""Which plugins can be run on this host, and what the others lack.

Nothing is shipped or downloaded: LiteRT's wheel has the tool and the plugins, and some need a library of their vendor.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ..delegates.base import Delegate, LiveTraits
from ..delegates.registry import PLUGIN_NAMES, find_delegate
from .process import Finished, run_limited

_PACKAGE = "ai_edge_litert"


class Engine(NamedTuple):
    """A plugin on this host: what it lacks if it cannot be run."""

    delegate: Delegate
    lacks: str = ""
    needs: str = ""
    """What must be there besides, of which nothing is known until the plugin is run."""

    @property
    def is_ready(self) -> bool:
        """Whether the plugin can be run."""
        return not self.lacks


def find_engine(delegate: Delegate) -> Engine:
    """Return a plugin's engine, and which package it lacks; whether a vendor's library is there shows when it is run."""
    traits = delegate.live
    if traits is None:
        return Engine(delegate, "there is no engine for it")
    root = package_folder(_PACKAGE)
    if root is None or not (root / "tools" / "apply_plugin_main").is_file():
        return Engine(delegate, "ai-edge-litert 2.1.5 or newer, with its plugins: pip install ai-edge-litert")
    if not (root / "vendors" / traits.folder / "compiler").is_dir():
        return Engine(delegate, f"a release of ai-edge-litert that has the plugin of {traits.manufacturer}")
    if traits.package and package_folder(traits.package) is None:
        return Engine(delegate, f"the package {traits.package}: pip install {traits.package}")
    return Engine(delegate, needs=traits.needs)


def engines() -> Iterator[Engine]:
    """Return the engine of every plugin."""
    for name in PLUGIN_NAMES:
        yield find_engine(find_delegate(name))


def package_folder(name: str) -> Path | None:
    """Return the folder of an installed package, without importing it; None if it is not there."""
    found = importlib.util.find_spec(name)
    return None if found is None or found.origin is None else Path(found.origin).parent


def installed_release() -> str:
    """Return the release of LiteRT that is installed, such as ``litert-2.3.0``; empty if none is."""
    try:
        return f"litert-{importlib.metadata.version('ai-edge-litert')}"
    except importlib.metadata.PackageNotFoundError:
        return ""


def run_tool(traits: LiveTraits, model: bytes, arguments: list[str]) -> tuple[Finished, bytes | None]:
    """Partition a model with LiteRT's own tool; return how it ended, and the partitions as a model, if it wrote them."""
    root = package_folder(_PACKAGE)
    assert root is not None
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder, "model.tflite"), Path(folder, "partitions.tflite")
        source.write_bytes(model)
        command = [
            str(root / "tools" / "apply_plugin_main"),
            "--cmd=partition",
            f"--model={source}",
            f"--o={result}",
            f"--soc_manufacturer={traits.manufacturer}",
            f"--libs={root / 'vendors' / traits.folder / 'compiler'}",
            *arguments,
        ]
        finished = run_limited(command, _environment(root, traits), folder)
        return finished, result.read_bytes() if result.is_file() and result.stat().st_size else None


def _environment(root: Path, traits: LiveTraits) -> Mapping[str, str]:
    """Return the environment with the folders where libraries are looked for."""
    folders = [str(root)]
    own = package_folder(traits.package) if traits.package else None
    if own is not None:
        folders.insert(0, str(own / traits.libraries))
    given = os.environ.get("LD_LIBRARY_PATH")
    return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join([*folders, *([given] if given else [])])}
