"""The description of a kernel of TensorFlow Lite Micro."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..graph.graph import NodeView
from ..rules.rule import Check, Condition, OpRule
from ..rules.source import Source
from .target import TFLM, MicroTarget

TensorShapes: TypeAlias = Callable[[NodeView], Mapping[int, tuple[int, ...]]]
"""A function that returns the shapes that Prepare sets, keyed by the position of the result."""
Scratch: TypeAlias = Callable[[NodeView], tuple[int, ...]]
"""A function that returns the sizes in bytes of the buffers that Prepare requests, in order."""

_KERNELS = "tensorflow/lite/micro/kernels"


@dataclass(frozen=True, slots=True, eq=False)
class MicroKernel:
    """The checks of a kernel's Prepare and Invoke functions, and the kernel's memory requests."""

    prepare: OpRule[MicroTarget]
    invoke: OpRule[MicroTarget]
    shapes: TensorShapes | None = None
    """The shapes that Prepare sets; None if the results keep the shapes that the model file gives."""
    scratch: Scratch | None = None
    """The scratch buffers that Prepare requests; None if there are none."""
    may_lack_results: bool = False
    """True if the kernel ignores a node without results. Other kernels would read invalid memory."""
    persistent: Scratch | None = None
    """The sizes in bytes of large buffers in the tail of the arena; None if there are none."""


def in_source(file: str, symbol: str, *checks: Check[object] | Check[MicroTarget], folder: str = _KERNELS) -> OpRule[MicroTarget]:
    """Return a rule with these checks. Their source is the function ``symbol`` in the runtime's file ``folder/file``.

    A function that refuses nothing has no checks.
    """
    return OpRule(checks).from_source(Source(TFLM, f"{folder}/{file}", symbol))


_AT_INVOKE = Condition[MicroTarget]("when the node runs (Invoke)", lambda _: True)


def all_checks(kernel: MicroKernel) -> OpRule[MicroTarget]:
    """Return the checks of a kernel's Prepare, followed by the checks of Invoke. Each check has its own source."""
    invoke = [check.when(_AT_INVOKE) for check in _with_sources(kernel.invoke)]
    return OpRule((*_with_sources(kernel.prepare), *invoke)).from_source(*kernel.prepare.source, *kernel.invoke.source)


def _with_sources(rule: OpRule[MicroTarget]) -> Iterator[Check[MicroTarget]]:
    for check in rule.checks:
        yield check.from_source(check.source or rule.source[0])


NO_PREPARE: OpRule[MicroTarget] = OpRule(())
"""The rule of a kernel without a Prepare function."""
