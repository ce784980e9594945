"""The user's cache folder."""

from __future__ import annotations

import os


def cache_folder(name: str) -> str:
    """Return the default path of the cache folder with this name."""
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "delegate-sim", name)
