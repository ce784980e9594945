"""Real code's decision about a model beside the simulation's: log lines, and the nodes of each partition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from ..model.model import Model
from ..runtime.interpreter import Run
from .decision import LiveDecision, LivePartition
from .engine import Engine

_SHOWN = 3
"""Partitions of each side that are named."""


class LiveResult(NamedTuple):
    """What real code did: its lines, how it ended, and what differs from the simulation; nothing if all is the same."""

    name: str
    software: str
    """What was run, such as ``litert-2.3.0``."""
    lines: tuple[str, ...]
    end: str
    differences: tuple[str, ...]
    is_run: bool = True
    """Whether it could be run at all; ``end`` says what it lacks."""

    @property
    def is_equal(self) -> bool:
        """Whether the simulation says the same."""
        return not self.differences


def compare_live(engine: Engine, model: Model, run: Run) -> LiveResult:
    """Run a delegate's code on a model, and hold what it decides against a simulated run with the same options."""
    live, simulated = engine.decide(model, run.options), engine.expected(model, run)
    name, software = engine.delegate.name, engine.software
    if live.lacks and not simulated.has_failed:
        return LiveResult(name, software, (), f"it cannot be run here: it needs {live.lacks}", (), is_run=False)
    return LiveResult(name, software, live.lines, live.end, tuple(_differences(live, simulated)))


def _differences(live: LiveDecision, simulated: LiveDecision) -> Iterator[str]:
    for one, other in zip_longest(live.lines, simulated.lines, fillvalue="no line"):
        if one != other:
            yield f"live: {one}; simulated: {other}"
    has_crashed_later = live.is_decided and live.lines == simulated.lines
    if live.has_failed != simulated.has_failed and not has_crashed_later:
        yield f"live: {live.end or 'it succeeded'}; simulated: {simulated.end or 'it succeeds'}"
    elif live.partitions is not None and simulated.partitions is not None:
        yield from _missing(simulated.partitions, live.partitions, "simulated, but not live")
        if not live.has_further:
            yield from _missing(live.partitions, simulated.partitions, "live, but not simulated")


def _missing(these: tuple[LivePartition, ...], those: tuple[LivePartition, ...], words: str) -> Iterator[str]:
    """Name partitions that the other side does not have, each as often as it has too few."""
    for partition in list((Counter(these) - Counter(those)).elements())[:_SHOWN]:
        yield f"{words}: a partition of {', '.join([node.words for node in partition])}"
