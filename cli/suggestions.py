"""Near matches for mistyped names."""

from __future__ import annotations

from collections.abc import Iterable


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return a clause with near matches of a word, or an empty string if there are no near matches."""
    from difflib import get_close_matches

    by_folded = {name.casefold(): name for name in known}
    near = [by_folded[name] for name in get_close_matches(word.casefold(), by_folded, n=4)]
    return f"; did you mean {', '.join(near)}?" if near else ""
