"""Parse what compilers behind delegates print: Android's NNAPI runtime with ``debug.nn.vlog``, and the Edge TPU compiler.

Sources: ``findBestDeviceForEachOperation``, ``partitionTheWork`` and ``CompoundBody`` (``runtime/ExecutionPlan.cpp``),
``runtime/Manager.cpp`` and ``runtime/CompilationBuilder.cpp`` of Android's ``packages/modules/NeuralNetworks``, Android 10 to
13; output of ``edgetpu_compiler`` 2 to 16 in public logs. The meanings of the compiler's statuses come from the Edge TPU's
documentation (``coral.ai/docs/edgetpu/models-intro`` and ``coral.ai/docs/edgetpu/compiler``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from ...foundation.columns import INTEGER, LIST, YES_OR_NO, Column, Declared, attributes
from ...foundation.printable import counted
from ...foundation.work_budget import spend_steps
from .tables import FORMS, Event, line_in, meaning_by_words, sequence_of


class RuntimeChoice(NamedTuple):
    """The device that was chosen for an operation, and those without support. ``place`` is its index, if it is printed."""

    op: str
    place: int | None
    number: int
    device: str
    refused_by: tuple[str, ...]


class RuntimeStep(NamedTuple):
    """A step of a plan: the number of the device, and the positions of the step's operations in execution order."""

    number: int
    operations: list[int]


class RuntimeFailure(NamedTuple):
    """A failure to compile the step at position ``step``. ``device`` is the failed device, or "" if it is not known."""

    device: str
    why: str
    step: int


@dataclass(slots=True)
class RuntimeCompilation:
    """The compilation of one model. If the log does not show a field, the field is empty or None."""

    choices: list[RuntimeChoice] = field(default_factory=list)
    steps: list[RuntimeStep] = field(default_factory=list)
    operation_count: int | None = None
    device_count: int | None = None
    undone: str = ""
    """The operation that no device supports, or ""."""
    failures: dict[RuntimeFailure, None] = field(default_factory=dict)
    fell_back: bool = False
    """True if the runtime's CPU implementation ran the whole model instead."""

    @property
    def is_complete(self) -> bool:
        """True if the log shows a choice for every operation."""
        return self.operation_count == len(self.choices)

    @property
    def names(self) -> dict[int, str]:
        """Device names, keyed by device number."""
        return {choice.number: choice.device for choice in self.choices if choice.device and choice.number >= 0}


@dataclass(slots=True)
class RuntimeLog:
    """The content of the runtime's lines: the version of each driver by name, and the compilations, in log order."""

    devices: dict[str, str] = field(default_factory=dict)
    compilations: list[RuntimeCompilation] = field(default_factory=list)


class RuntimeReader:
    """Reads the steps of compilations. ``log`` has no compilation of a model that another model references."""

    def __init__(self) -> None:
        self.log = RuntimeLog()
        self.compilation: RuntimeCompilation | None = None

    def read(self, step: str, values: Mapping[str, str]) -> None:
        """Add the step that a line with these values shows."""
        if step == "found":
            self.log.devices.setdefault(values["device"], values.get("version", ""))
        elif step == "started":
            compilation = self._begin(is_main=not int(values.get("source", 0)))
            compilation.operation_count, compilation.device_count = int(values["operations"]), int(values["count"])
        elif step in ("choice", "refused"):
            self._operation(step, values)
        else:
            self._step(step, values, self.compilation or self._begin())

    def repeat(self, times: int) -> int:
        """Add left out identical lines to the last choice, and return their number. Raises LimitError."""
        if self.compilation is None:
            return 0
        choice = self.compilation.choices[-1]
        count = min(times, 1_000_000)
        spend_steps(count * (1 + len(choice.refused_by)), "reading the log")
        self.compilation.choices += [choice] * min(times, 1_000_000)
        return count

    def _begin(self, is_main: bool = True) -> RuntimeCompilation:
        self.compilation = RuntimeCompilation()
        self.log.compilations += [self.compilation] if is_main else []
        self.refused: list[tuple[str, int | None, str]] = []
        self.queues: dict[int, list[int]] = {}
        self.compiling, self.compiled = "", 0
        return self.compilation

    def _operation(self, name: str, values: Mapping[str, str]) -> None:
        op, index = values["op"], int(values["index"]) if "index" in values else None
        choices = [] if self.compilation is None else self.compilation.choices
        # If the line that begins a compilation is missing, the compilation begins with its first operation.
        is_first = index == 0 and bool(choices) and (name == "refused" or choices[0].place == index)
        compilation = self._begin() if is_first or self.compilation is None else self.compilation
        if name == "refused":
            self.refused.append((op, index, values["device"]))
            return
        refused = tuple([device for name, place, device in self.refused if name == op and place == index])
        self.refused.clear()
        compilation.choices.append(RuntimeChoice(op, index, int(values["number"]), values.get("device", ""), refused))

    def _step(self, name: str, values: Mapping[str, str], compilation: RuntimeCompilation) -> None:
        number = int(values.get("number", 0))
        if name == "queued":
            last = compilation.steps[-1] if compilation.steps else None
            queue = last.operations if last is not None and last.number == number else self.queues.setdefault(number, [])
            queue.append(int(values["operation"]))
        elif name == "next" and number >= 0:
            compilation.steps.append(RuntimeStep(number, self.queues.pop(number, [])))
        elif name == "one":
            spend_steps(len(compilation.choices), "reading the log")
            compilation.steps = [RuntimeStep(number, list(range(len(compilation.choices))))]
            self.compiling, self.compiled = values["device"], 1
        elif name == "compiling":
            self.compiling, self.compiled = values["device"], self.compiled + 1
        elif name == "undone":
            compilation.undone = values.get("op", "an operation")
        elif name == "fallback":
            compilation.fell_back = True
        elif name == "failed":
            failure = RuntimeFailure(values.get("device", self.compiling), values["why"].strip(), max(self.compiled - 1, 0))
            compilation.failures[failure] = None


Steps: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""The device of each step, and the operations of the step."""


def device_steps(compilation: RuntimeCompilation) -> Steps | None:
    """Return the steps, or None if some are missing, or if the runtime ran its own CPU code instead."""
    names = compilation.names
    if compilation.fell_back:
        return None
    steps = []
    for step in compilation.steps:
        if any(place >= len(compilation.choices) for place in step.operations):
            return None
        steps.append((names.get(step.number, ""), tuple([compilation.choices[place].op for place in step.operations])))
    listed = sum([len(operations) for _, operations in steps])
    return tuple(steps) if steps and listed == len(compilation.choices) else None


def compilation_text(compilation: RuntimeCompilation) -> str:
    """Return a text about a compilation: operations, steps, operations that each device rejects, failures and fallback."""
    count = compilation.operation_count if compilation.operation_count is not None else len(compilation.choices)
    steps = device_steps(compilation)
    words = [counted(count, "operation")] if count or compilation.operation_count is not None else []
    if not compilation.is_complete and compilation.operation_count is not None:
        words.append(f"the log lists {len(compilation.choices)} of them")
    if steps is not None:
        words.append(f"{counted(len(steps), 'step')}: {steps_text(steps)}")
    refused: dict[str, Counter[str]] = {}
    for choice in compilation.choices:
        for device in choice.refused_by:
            refused.setdefault(device, Counter())[choice.op] += 1
    for device, operators in refused.items():
        words.append(f"{device} does not accept {', '.join([f'{number} {op}' for op, number in operators.items()])}")
    words += [f"{failure.device or 'a device'} failed to compile ({failure.why})" for failure in compilation.failures]
    words += [f"no device accepts {compilation.undone}"] if compilation.undone else []
    words += ["the runtime's CPU took over the whole model"] if compilation.fell_back else []
    return "; ".join(words)


def steps_text(steps: Steps) -> str:
    """Return the number of operations and the device of each step."""
    return "; ".join([f"{counted(len(names), 'operation')} on {device}" for device, names in steps]) or "none"


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

_COMPILER_LINES = sequence_of("compiler")


class EdgeTpuCompilerReader:
    """Parses the lines of the Edge TPU compiler one after another. All other lines are ignored."""

    def __init__(self) -> None:
        self.result = NOT_COMPILED
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
        return (self.result.is_done or bool(self.result.failure)) and line_in(_COMPILER_LINES, text)[0] == "version"

    @property
    def has_begun(self) -> bool:
        """True after the first line that no other program prints."""
        return self.result != NOT_COMPILED or bool(self.rows)

    def _table_line(self, text: str) -> bool:
        if FORMS["compiler-header"].match(text) is not None:
            self.rows, self.is_table = [], True
            return True
        row = FORMS["compiler-row"].match(text)
        if row is None or not (self.is_table or FORMS["compiler-status"].match(row["status"])):
            self.is_table = self.is_table and not text
            return False
        self.rows.append(CompilerRow(row["op"], int(row["count"]), row["status"].strip()))
        self.result = replace(self.result, failure="", is_done=True)
        return True

    def _line(self, text: str) -> bool:
        name, match = line_in(_COMPILER_LINES, text)
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
            if self.result.kernels == 0:
                self.result = replace(self.result, on_tpu=0)
        return True
