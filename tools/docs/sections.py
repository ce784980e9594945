"""Generated sections of pages, between two marks: ``<!-- NAME -->`` and ``<!-- /NAME -->``."""

from __future__ import annotations


def with_section(page: str, name: str, text: str) -> str:
    """Return a page with other text between its marks of this name."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    return page[: page.index(begin) + len(begin)] + f"\n{text}\n" + page[page.index(end) :]
