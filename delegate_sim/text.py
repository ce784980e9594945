"""Text from files and users, made safe to print."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return text as one line that has no effect on a terminal.

    Every character that Unicode does not call printable is written as an escape: controls, line ends, bidirectional
    overrides and other invisible ones, and what could not be decoded. Markup is left as it is.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii") for character in text
    )
