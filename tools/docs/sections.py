"""Titles of pages, and their generated sections, between two marks: ``<!-- NAME -->`` and ``<!-- /NAME -->``."""

from __future__ import annotations

import re
from pathlib import Path


def with_section(page: str, name: str, text: str) -> str:
    """Return a page with other text between its marks of this name."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    return page[: page.index(begin) + len(begin)] + f"\n{text}\n" + page[page.index(end) :]


def title(page: Path) -> str:
    """Return the heading of a page."""
    heading = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    return re.sub(r"What (the delegate )?(.+) accepts", r"\2", heading).replace("`", "")
