"""Look up installed packages without importing them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

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
