"""Parse the output of the Edge TPU compiler: its version, its table of operators, and the reason for a failure.

Sources of the formats: output of ``edgetpu_compiler`` 2 to 16 in public logs. The meanings of the statuses come from the Edge
TPU's documentation (``coral.ai/docs/edgetpu/models-intro`` and ``coral.ai/docs/edgetpu/compiler``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from ...foundation.columns import INTEGER, LIST, YES_OR_NO, Column, Declared, attributes
from .kinds import Event
from .tables import line_in, meaning_by_words, sequence_of

MAPPED_STATUS = "Mapped to Edge TPU"


@dataclass(frozen=True, slots=True)
class CompilerRow(Declared):
    """A row of the compiler's table: an operator, a number of nodes, and the compiler's status for these nodes."""

    columns = (Column("op"), Column("count", INTEGER), *attributes("status", "meaning"))

    op: str
    count: int
    status: str

    @property
    def is_mapped(self) -> bool:
        """True if the Edge TPU runs the nodes."""
        return self.status.startswith(MAPPED_STATUS)

    @property
    def meaning(self) -> str:
        """The documented meaning of the status, or "" if the status is not documented."""
        return meaning_by_words("compiler-status", self.status)


@dataclass(frozen=True, slots=True)
class EdgeTpuCompilation(Declared):
    """The compiler's output about one model. Missing counts are None, and missing texts are empty."""

    columns = (
        *(*attributes("version", "source", "result"), Column("rows", LIST)),
        *(*attributes("on_tpu", "on_cpu", "kernels", type=INTEGER), Column("failure"), Column("is_done", YES_OR_NO)),
        Column("failure_meaning"),
    )

    version: str = ""
    source: str = ""
    result: str = ""
    rows: tuple[CompilerRow, ...] = ()
    on_tpu: int | None = None
    on_cpu: int | None = None
    total: int | None = None
    kernels: int | None = None
    """The number of compiled parts. Each part becomes one custom operator."""
    failure: str = ""
    """The line that says why nothing was compiled, or "" after a success."""
    is_done: bool = False
    """True if the compiler printed that it compiled the model, or listed the model's operators."""

    @property
    def mapped(self) -> int | None:
        """The number of operators that the Edge TPU runs."""
        return self.on_tpu if self.on_tpu is not None else self._count(is_mapped=True)

    @property
    def left(self) -> int | None:
        """The number of operators that the CPU runs."""
        if self.on_cpu is None and self.on_tpu is not None and self.total is not None:
            return max(self.total - self.on_tpu, 0)
        return self.on_cpu if self.on_cpu is not None else self._count(is_mapped=False)

    @property
    def has_all_counts(self) -> bool:
        """False if a count is only the sum of the rows in the log. The log may lack rows."""
        return not self.rows or (self.on_tpu is not None and (self.on_cpu is not None or self.total is not None))

    @property
    def failure_meaning(self) -> str:
        """The meaning of ``failure``, or "" if it is not known."""
        return meaning_by_words(Event.COMPILER_ERROR, self.failure.casefold())

    def _count(self, *, is_mapped: bool) -> int | None:
        return sum([row.count for row in self.rows if row.is_mapped == is_mapped]) if self.rows else None


NOT_COMPILED = EdgeTpuCompilation()

_LINES = sequence_of("compiler")
_HEADER = re.compile(r"^Operator +Count +Status$")
_ROW = re.compile(r"^(?P<op>[A-Za-z]\w{0,80}) {2,}(?P<count>\d{1,9}) {2,}(?P<status>[A-Z].{3,300})$")
_ROW_STATUS = re.compile(r"Mapped to Edge TPU|Operation (?:is |not |version )|More than one subgraph|Tensor has |.*Edge TPU")


class EdgeTpuCompilerReader:
    """Parses the lines of the Edge TPU compiler one after another. All other lines are ignored."""

    def __init__(self) -> None:
        self.result = NOT_COMPILED
        """The output so far, without the rows of the table."""
        self.rows: list[CompilerRow] = []
        self.is_table = False

    def compilation(self) -> EdgeTpuCompilation:
        """Return what was read."""
        return replace(self.result, rows=tuple(self.rows))

    def read(self, text: str) -> bool:
        """Parse one line. Return whether the line is from the compiler."""
        text = text.strip()
        return self._table_line(text) or self._line(text)

    def begins_again(self, text: str) -> bool:
        """Return whether a line begins the output about another model."""
        return (self.result.is_done or bool(self.result.failure)) and line_in(_LINES, text)[0] == "version"

    @property
    def has_begun(self) -> bool:
        """True after the first line that no other program prints."""
        return self.result != NOT_COMPILED or bool(self.rows)

    def _table_line(self, text: str) -> bool:
        if _HEADER.match(text) is not None:
            self.rows, self.is_table = [], True
            return True
        row = _ROW.match(text)
        if row is None or not (self.is_table or _ROW_STATUS.match(row["status"])):
            self.is_table = self.is_table and not text
            return False
        self.rows.append(CompilerRow(row["op"], int(row["count"]), row["status"].strip()))
        self.result = replace(self.result, failure="", is_done=True)
        return True

    def _line(self, text: str) -> bool:
        name, match = line_in(_LINES, text)
        if match is None or (name in ("source", "result") and not self.has_begun):
            return False
        if name == "version":
            self.result, self.rows = EdgeTpuCompilation(match["version"]), []
        elif name == "done":
            self.result = replace(self.result, failure="", is_done=True)
        elif name == "failed":
            if not (self.result.failure and match["why"].startswith("Compilation failed!")):
                self.result = replace(self.result, failure=match["why"], is_done=False)
        elif name != "other":
            value: Any = match["path"].strip() if name in ("source", "result") else int(match["count"])
            self.result = replace(self.result, **{name: value})
        return True
