"""Read the tables of this package, which hold what is known about the lines of a log: a row for each line, kind and meaning.

A table is a text file with tabs between the columns. Lines that start with ``#`` are comments. A line ``= NAME<tab>TEXT`` gives a
name to a text, and ``{NAME}`` in a row stands for the text.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from types import MappingProxyType
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


FORMS = MappingProxyType({row["name"]: re.compile(row["pattern"]) for row in rows_of("forms")})
"""The forms of parts of lines. ``forms.tsv`` explains the names."""


class Event:
    """The names of the kinds of lines that code mentions. Other kinds only have a row in the table."""

    OWN_COUNT, SPLIT, KERNELS, EXECUTED, MEASURED = "own-count", "split", "kernels", "executed", "measured"
    LISTED_REFUSALS, LISTED_REFUSAL, OPERATOR_REFUSED = "listed-refusals", "listed-refusal", "operator-refused"
    API_ERROR, NODE_ERROR, BUILTIN_ERROR, CUSTOM_ERROR = "api-error", "node-error", "builtin-error", "custom-error"
    DYNAMIC_ERROR, IMMUTABLE_ERROR, KERNEL_ERROR, HINT_ERROR = "dynamic-error", "immutable-error", "kernel-error", "hint-error"
    BUILD_ERROR, PREPARATION_ERROR, FAILURE = "build-error", "preparation-error", "failure"
    OTHER_ERROR, PLAIN_ERROR, UNSURE_ERROR, COMPILER_ERROR = "other-error", "plain-error", "unsure-error", "compiler-error"
    LIBRARY_ERROR, FLEX_ERROR, VENDOR_ERROR, RUNTIME_ERROR = "library-error", "flex-error", "vendor-error", "runtime-error"
    CRASH, BENCHMARK_FAILED, LOAD_ERROR, WARNED = "crash", "benchmark-failed", "load-error", "warned"
    EXCEPTION, FELL_BACK, NPU_DONE = "exception", "fell-back", "npu-done"
    CREATED, NOT_CREATED, NOT_APPLIED, APPLIED, RESTORED = "created", "not-created", "not-applied", "applied", "restored"
    COMPILED, COMPILED_PART, LIBRARY, LITERT = "compiled", "compiled-part", "library", "litert"
    PLUGINS_APPLIED = "plugins-applied"
    REGISTERED, NOT_REGISTERED, MISSING_SERVICE, VERSION_SAID = "registered", "not-registered", "missing-service", "version-said"
    CHOICE, DRIVER_REFUSAL, RUNTIME, NPU_ROW, NPU_GRAPH = "choice", "driver-refusal", "runtime", "npu-row", "npu-graph"
    NOTED, PROGRESS, VENDOR, INTERFACE_USED = "noted", "progress", "vendor", "interface-used"
    COMPILER_REFUSAL, COMPILER_SUMMARY = "compiler-refusal", "compiler-summary"
    DEFAULT_LEFT_OUT, ALL_REVERTED, REFUSED = "default-left-out", "all-reverted", "refused"


@dataclass(frozen=True, slots=True)
class StatementKind:
    """Everything that is known about a kind of line. ``kinds.tsv`` explains the fields and the names of the traits."""

    rank: int | None
    conclusive: int
    traits: frozenset[str]
    part: str
    meaning: str


KINDS = MappingProxyType(
    {
        row["kind"]: StatementKind(
            int(row["rank"]) if row["rank"] else None,
            int(row["conclusive"] or 0),
            frozenset(filter(None, row["traits"].split(", "))),
            row["part"],
            row["meaning"],
        )
        for row in rows_of("kinds")
    }
)


def kinds_with(trait: str) -> tuple[str, ...]:
    """Return the kinds that have a trait."""
    return tuple([kind for kind, properties in KINDS.items() if trait in properties.traits])


ERRORS = frozenset(kinds_with("is_error"))
CRASHES = kinds_with("is_crash")
