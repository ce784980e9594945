"""Parse the output of the Edge TPU compiler: its version, its table of operators, and the reason for a failure.

Sources of the formats: output of ``edgetpu_compiler`` 2 to 16 in public logs. The meanings of the statuses come from the Edge
TPU's documentation (``coral.ai/docs/edgetpu/models-intro`` and ``coral.ai/docs/edgetpu/compiler``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ...foundation.columns import INTEGER, LIST, YES_OR_NO, Column, Declared, attributes
from .kinds import Event
from .tables import meaning_by_words

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
    """The path of the model that was compiled."""
    result: str = ""
    """The path of the compiled model."""
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

_VERSION = re.compile(r"Edge ?TPU Compiler version (?P<version>\d[\w.]{0,40})")
_PATH = re.compile(r"^(?P<which>Input|Output)(?: model)?: (?P<path>\S.{0,400})$")
_NUMBER = re.compile(
    r"^(?:Number of (?:operations that will run on (?P<where>Edge TPU|CPU)|(?P<kernels>Edge TPU subgraphs))|"
    r"(?P<total>Total number of operations)): (?P<count>\d{1,9})"
)
_HEADER = re.compile(r"^Operator +Count +Status$")
_ROW = re.compile(r"^(?P<op>[A-Za-z]\w{0,80}) {2,}(?P<count>\d{1,9}) {2,}(?P<status>[A-Z].{3,300})$")
_ROW_STATUS = re.compile(r"Mapped to Edge TPU|Operation (?:is |not |version )|More than one subgraph|Tensor has |.*Edge TPU")
_FAILED = re.compile(
    r"^(?:Compilation failed: (?P<why>\S.{0,300})|(?P<line>Invalid model: .{0,300}|Model not quantized.{0,100}|"
    r"Compilation failed due to .{0,200}|"
    r"Internal compiler error.{0,200}|Compilation (?:child process )?timed out.{0,100}|Compilation failed!.{0,100}))$"
)
_DONE = re.compile(r"^(?:Model (?:successfully compiled|compiled successfully)\b|Compilation succeeded!)")
_PROGRESS = re.compile(
    r"^(?:Started a compilation timeout timer|Compilation child process completed|Searching for valid delegate|"
    r"Try to compile segment|Intermediate tensors: |(?:Input|Output) size: |(?:On|Off)-chip memory used for|"
    r"On-chip memory remaining for|Operation log: |See the operation log|"
    r"Number of Edge TPU subgraphs|\w{0,40} ?Edge TPU: starting export)"
)
_NEEDLES = (
    "Edge", "ompil", "Operat", "subgraph", "Tensor has", "Input", "Output", "chip memory", "Model ", "Started a", "Searching for",
    "Try to", "Intermediate", "Total number", "Invalid model", "See the", "Number of",
)  # fmt: skip
"""Parts of lines. Every line of the compiler, except rows of a table, contains at least one of these parts."""


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
        if not self.is_table and not any(needle in text for needle in _NEEDLES):
            return False
        return self._table_line(text) or self._line(text)

    def begins_again(self, text: str) -> bool:
        """Return whether a line begins the output about another model."""
        return (self.result.is_done or bool(self.result.failure)) and _VERSION.search(text) is not None

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
        if (match := _VERSION.search(text)) is not None:
            self.result, self.rows = EdgeTpuCompilation(match["version"]), []
        elif (match := _NUMBER.match(text)) is not None:
            self._number(match)
        elif _DONE.match(text) is not None:
            self.result = replace(self.result, failure="", is_done=True)
        elif (match := _FAILED.match(text)) is not None:
            failure = match["why"] or match["line"]
            if not (self.result.failure and failure.startswith("Compilation failed!")):
                self.result = replace(self.result, failure=failure, is_done=False)
        elif self.has_begun and (match := _PATH.match(text)) is not None:
            self._path(match)
        else:
            return _PROGRESS.match(text) is not None
        return True

    def _number(self, match: re.Match[str]) -> None:
        count = int(match["count"])
        if match["kernels"]:
            self.result = replace(self.result, kernels=count)
        elif match["total"]:
            self.result = replace(self.result, total=count)
        elif match["where"] == "CPU":
            self.result = replace(self.result, on_cpu=count)
        else:
            self.result = replace(self.result, on_tpu=count)

    def _path(self, match: re.Match[str]) -> None:
        path = match["path"].strip()
        if match["which"] == "Input":
            self.result = replace(self.result, source=path)
        else:
            self.result = replace(self.result, result=path)
