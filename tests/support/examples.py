"""The examples of docs/ci.md, each of which names its file in its first line."""

from __future__ import annotations

import re
from pathlib import Path

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "ci.md"
_BLOCK = re.compile(r"^```\w+\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

EXAMPLES = dict(_BLOCK.findall(_PAGE.read_text(encoding="utf-8")))
"""The text of each file."""
