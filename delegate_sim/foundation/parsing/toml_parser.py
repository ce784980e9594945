"""The TOML parser: ``tomllib``, or ``tomli`` on Python 3.10. Only ``toml`` and ``toml_lines`` use it."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    import tomllib as parser
else:
    import tomli as parser

__all__ = ["parser"]
