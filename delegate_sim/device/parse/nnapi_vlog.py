"""Parse the ``debug.nn.vlog`` output of Android's NNAPI runtime: each operation's device, and the execution steps.

Source: ``findBestDeviceForEachOperation``, ``partitionTheWork`` and ``CompoundBody`` (``runtime/ExecutionPlan.cpp``),
``runtime/Manager.cpp`` and ``runtime/CompilationBuilder.cpp`` of Android's ``packages/modules/NeuralNetworks``, Android 10 to
13.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ...foundation.work_budget import spend_steps
from .tables import line_in, sequence_of

_LINES = sequence_of("runtime")


@dataclass(frozen=True, slots=True)
class RuntimeChoice:
    """The device that was chosen for an operation, and those without support. ``place`` is its index, if it is printed."""

    op: str
    place: int | None
    number: int
    device: str
    refused_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuntimeStep:
    """A step of a plan: the number of the device, and the positions of the step's operations in execution order."""

    number: int
    operations: list[int]


@dataclass(frozen=True, slots=True)
class RuntimeFailure:
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
    """Parses the lines of the NNAPI runtime. ``log`` has no compilation of a model that another model references."""

    def __init__(self) -> None:
        self.log = RuntimeLog()
        self.compilation: RuntimeCompilation | None = None
        self.is_choice = False

    def read(self, text: str) -> None:
        """Parse one line."""
        was_choice, self.is_choice = self.is_choice, False
        name, match = line_in(_LINES, text)
        if match is None:
            self.is_choice = was_choice and "identical" in text
        elif name == "found":
            self.log.devices.setdefault(match["device"], match["version"] or "")
        elif name == "started":
            compilation = self._begin(is_main=not int(match["source"] or 0))
            compilation.operation_count, compilation.device_count = int(match["operations"]), int(match["count"])
        elif name in ("choice", "refused"):
            self._operation(name, match)
        elif name != "other":
            self._step(name, match, self.compilation or self._begin())

    def repeat(self, times: int) -> int:
        """Add left out identical lines to the last line, and return their number. Raises LimitError."""
        if not self.is_choice or self.compilation is None:
            return 0
        choice, count = self.compilation.choices[-1], min(times, 1_000_000)
        spend_steps(count * (1 + len(choice.refused_by)), "reading the log")
        self.compilation.choices += [choice] * min(times, 1_000_000)
        self.is_choice = False
        return count

    def _begin(self, is_main: bool = True) -> RuntimeCompilation:
        self.compilation = RuntimeCompilation()
        self.log.compilations += [self.compilation] if is_main else []
        self.refused: list[tuple[str, int | None, str]] = []
        self.queues: dict[int, list[int]] = {}
        self.compiling, self.compiled = "", 0
        return self.compilation

    def _operation(self, name: str, match: re.Match[str]) -> None:
        index = None if match["index"] is None else int(match["index"])
        choices = [] if self.compilation is None else self.compilation.choices
        # If the line that begins a compilation is missing, the compilation begins with its first operation.
        is_first = index == 0 and bool(choices) and (name == "refused" or choices[0].place == index)
        compilation = self._begin() if is_first or self.compilation is None else self.compilation
        if name == "refused":
            self.refused.append((match["op"], index, match["device"]))
            return
        refused = [device for op, place, device in self.refused if op == match["op"] and place == index]
        self.refused.clear()
        choice = RuntimeChoice(match["op"], index, int(match["number"]), match["device"] or "", tuple(refused))
        compilation.choices.append(choice)
        self.is_choice = True

    def _step(self, name: str, match: re.Match[str], compilation: RuntimeCompilation) -> None:
        number = int(match.groupdict().get("number") or 0)
        if name == "queued":
            last = compilation.steps[-1] if compilation.steps else None
            queue = last.operations if last is not None and last.number == number else self.queues.setdefault(number, [])
            queue.append(int(match["operation"]))
        elif name == "next" and number >= 0:
            compilation.steps.append(RuntimeStep(number, self.queues.pop(number, [])))
        elif name == "one":
            spend_steps(len(compilation.choices), "reading the log")
            compilation.steps = [RuntimeStep(number, list(range(len(compilation.choices))))]
            self.compiling, self.compiled = match["device"], 1
        elif name == "compiling":
            self.compiling, self.compiled = match["device"], self.compiled + 1
        elif name == "undone":
            compilation.undone = match["op"] or "an operation"
        elif name == "fallback":
            compilation.fell_back = True
        elif name == "failed":
            failure = RuntimeFailure(match["device"] or self.compiling, match["why"].strip(), max(self.compiled - 1, 0))
            compilation.failures[failure] = None
