"""Look up installed packages without importing them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path

RUNTIME = "ai_edge_litert"


def package_folder(name: str) -> Path | None:
    """Return the folder of an installed package, or None if the package is not installed."""
    spec = importlib.util.find_spec(name)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def runtime_release() -> str:
    """Return the installed release of LiteRT, such as ``litert-2.3.0``, or "" if LiteRT is not installed."""
    return f"litert-{version}" if (version := package_version("ai-edge-litert")) else ""


def package_version(name: str) -> str:
    """Return the version of an installed package, or "" if the package is not installed.

    ``name`` is the package's name in the package index.
    """
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
