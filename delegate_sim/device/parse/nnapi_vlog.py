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
    """The device that was chosen for an operation.

    ``place`` is the operation's index, or None if the release does not print it.
    """

    op: str
    place: int | None
    number: int
    device: str
    refused_by: tuple[str, ...]
    """The devices that do not support the operation."""


@dataclass(frozen=True, slots=True)
class RuntimeStep:
    """A step of a plan: the number of the device, and the positions of the step's operations in execution order."""

    number: int
    operations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RuntimeFailure:
    """A failure to compile the step at position ``step``. ``device`` is the failed device, or "" if it is not known."""

    device: str
    why: str
    step: int


@dataclass(frozen=True, slots=True)
class RuntimeCompilation:
    """The compilation of one model. If the log does not show a field, the field is empty or None."""

    choices: tuple[RuntimeChoice, ...] = ()
    steps: tuple[RuntimeStep, ...] = ()
    operation_count: int | None = None
    device_count: int | None = None
    undone: str = ""
    """The operation that no device supports, or ""."""
    failures: tuple[RuntimeFailure, ...] = ()
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


@dataclass(frozen=True, slots=True)
class RuntimeLog:
    """The content of the runtime's lines: the compilations, and the name and version of each driver, in log order."""

    devices: tuple[tuple[str, str], ...] = ()
    compilations: tuple[RuntimeCompilation, ...] = ()


NOTHING_COMPILED = RuntimeLog()


@dataclass
class _Open:
    source: int = 0
    operation_count: int | None = None
    device_count: int | None = None
    choices: list[RuntimeChoice] = field(default_factory=list)
    refused: list[tuple[str, int | None, str]] = field(default_factory=list)
    queues: dict[int, list[int]] = field(default_factory=dict)
    steps: list[tuple[int, list[int]]] = field(default_factory=list)
    undone: str = ""
    compiling: str = ""
    compiled: int = 0
    failures: list[RuntimeFailure] = field(default_factory=list)
    fell_back: bool = False

    def close(self) -> RuntimeCompilation:
        """Return the finished compilation."""
        return RuntimeCompilation(
            tuple(self.choices),
            tuple([RuntimeStep(number, tuple(operations)) for number, operations in self.steps]),
            self.operation_count,
            self.device_count,
            self.undone,
            tuple(dict.fromkeys(self.failures)),
            self.fell_back,
        )


class RuntimeReader:
    """Parses the lines of the NNAPI runtime one after another. All other lines are ignored."""

    def __init__(self) -> None:
        self.devices: dict[str, str] = {}
        self.compilations: list[_Open] = []
        self.is_choice = False

    def log(self) -> RuntimeLog:
        """Return the drivers and the compilations. A model that another model references has no compilation here."""
        main = [compilation.close() for compilation in self.compilations if not compilation.source]
        return RuntimeLog(tuple(self.devices.items()), tuple(main))

    def read(self, text: str) -> None:
        """Parse one line."""
        was_choice, self.is_choice = self.is_choice, False
        name, match = line_in(_LINES, text)
        if match is None:
            self.is_choice = was_choice and "identical" in text
        elif name == "choice":
            self._choose(match)
        elif name == "refused":
            index = None if match["index"] is None else int(match["index"])
            is_new = index == 0 and bool(self.compilations) and bool(self.compilations[-1].choices)
            self._current(is_new).refused.append((match["op"], index, match["device"]))
        elif name == "started":
            source = int(match["source"] or 0)
            self.compilations.append(_Open(source, int(match["operations"]), int(match["count"])))
        elif name == "queued":
            self._queue(int(match["operation"]), int(match["number"]))
        elif name == "next" and int(match["number"]) >= 0:
            number, current = int(match["number"]), self._current()
            current.steps.append((number, current.queues.pop(number, [])))
        elif name == "one":
            current = self._current()
            spend_steps(len(current.choices), "reading the log")
            current.steps = [(int(match["number"]), list(range(len(current.choices))))]
            current.compiling, current.compiled = match["device"], 1
        elif name == "compiling":
            current = self._current()
            current.compiling, current.compiled = match["device"], current.compiled + 1
        elif name == "undone":
            self._current().undone = match["op"] or "an operation"
        elif name == "fallback":
            self._current().fell_back = True
        elif name == "found":
            self.devices.setdefault(match["device"], match["version"] or "")
        elif name == "failed":
            current = self._current()
            place = max(current.compiled - 1, 0)
            current.failures.append(RuntimeFailure(match["device"] or current.compiling, match["why"].strip(), place))

    def repeat(self, times: int) -> int:
        """Add ``times`` to the count of the last line, if the logger left out identical lines.

        Return the number of added lines. Raises LimitError.
        """
        if not self.is_choice:
            return 0
        current = self._current()
        count = len(current.choices)
        choice = current.choices[-1]
        spend_steps(min(times, 1_000_000) * (1 + len(choice.refused_by)), "reading the log")
        current.choices += [choice] * min(times, 1_000_000)
        self.is_choice = False
        return len(current.choices) - count

    def _current(self, is_new: bool = False) -> _Open:
        if is_new or not self.compilations:
            self.compilations.append(_Open())
        return self.compilations[-1]

    def _choose(self, match: re.Match[str]) -> None:
        index = None if match["index"] is None else int(match["index"])
        # If the line that begins a compilation is missing, the compilation begins with its first operation.
        seen = bool(self.compilations) and any(choice.place == index for choice in self.compilations[-1].choices[:1])
        current = self._current(index == 0 and seen)
        number = int(match["number"])
        refused = [device for op, place, device in current.refused if op == match["op"] and place == index]
        current.choices.append(RuntimeChoice(match["op"], index, number, match["device"] or "", tuple(refused)))
        current.refused.clear()
        self.is_choice = True

    def _queue(self, operation: int, number: int) -> None:
        current = self._current()
        if current.steps and current.steps[-1][0] == number:
            current.steps[-1][1].append(operation)
        else:
            current.queues.setdefault(number, []).append(operation)
