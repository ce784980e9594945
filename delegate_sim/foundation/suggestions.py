"""Near matches for mistyped names."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 4


def suggestion(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a clause with near matches of a word, or an empty string if there are none.

    A name is a near match if it contains the word between dashes: ``tf-2.15`` for ``2.15``. If there is no such name, near
    matches are names with a similarity of at least ``cutoff`` (see ``difflib``).
    """
    from difflib import get_close_matches

    folded, by_folded = word.casefold(), {name.casefold(): name for name in known}
    parts = [name for name in by_folded if folded and f"-{folded}-" in f"-{name}-"]
    near = [by_folded[name] for name in parts[:_MOST] or get_close_matches(folded, by_folded, n=_MOST, cutoff=cutoff)]
    return f"; did you mean {', '.join(near)}?" if near else ""
