"""Read the tables of this package, which hold what is known about the lines of a log: a row for each line, kind and meaning.

A table is a text file with tabs between the columns. Lines that start with ``#`` are comments. A line ``= NAME<tab>TEXT`` gives a
name to a text, and ``{NAME}`` in a row stands for the text.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias


def rows_of(table: str) -> list[Mapping[str, str]]:
    """Return the rows of a table. Each row maps the names of columns to texts. Texts at the end of a row may be missing."""
    content = (pkgutil.get_data(__package__, f"{table}.tsv") or b"").decode("utf-8").replace("\r", "")
    lines = [line for line in content.split("\n") if line and not line.startswith("# ")]
    named = [line[2:].partition("\t")[::2] for line in lines if line.startswith("= ")]
    header, *rows = [line for line in lines if not line.startswith("= ")]
    for name, text in named:
        rows = [row.replace(f"{{{name}}}", text) for row in rows]
    columns = header.split("\t")
    return [dict(zip_longest(columns, row.split("\t"), fillvalue="")) for row in rows]


def _by_kind() -> Mapping[str, Mapping[str, str]]:
    meanings: dict[str, dict[str, str]] = {}
    for row in rows_of("meanings"):
        meanings.setdefault(row["kind"], {})[row["words"]] = row["meaning"]
    return meanings


MEANINGS = _by_kind()


def meaning_by_words(kind: str, text: str) -> str:
    """Return the meaning of a text by words in it, or "" if the table has no meaning for a text of this kind."""
    return next((meaning for words, meaning in MEANINGS.get(kind, {}).items() if words in text), "")


SequenceLine: TypeAlias = tuple[str, Sequence[str], re.Pattern[str]]


def sequence_of(reader: str) -> tuple[SequenceLine, ...]:
    """Return the lines of one reader in ``sequences.tsv``."""
    rows = [row for row in rows_of("sequences") if row["reader"] == reader]
    return tuple([(row["line"], row["needles"].split("|"), re.compile(row["pattern"])) for row in rows])


def line_in(lines: Sequence[SequenceLine], text: str) -> tuple[str, re.Match[str] | None]:
    """Return the name of the first line that a text has, and the match. The name is "" if there is none."""
    for name, needles, form in lines:
        if any(needle in text for needle in needles) and (match := form.search(text)) is not None:
            return name, match
    return "", None
