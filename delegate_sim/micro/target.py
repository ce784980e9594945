"""The target of the simulation: TensorFlow Lite Micro with the operators of one application."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..errors import OptionError
from ..graph.graph import NodeView
from ..releases.catalogue import NEWEST, Release
from ..rules.rule import Check, Condition, OpRule
from ..rules.source import Repository, Source

TFLM = Repository("tensorflow/tflite-micro", "90b983c2b3f1480642e040bbd2ddb37b998f3424")
"""The source of the rules. TensorFlow Lite Micro has no releases."""

Kernels: TypeAlias = Literal["reference", "cmsis-nn"]
"""The kernels that the application links: the reference kernels, or CMSIS-NN kernels where Arm provides them."""
KERNELS: tuple[Kernels, ...] = ("reference", "cmsis-nn")


def parse_kernels(name: str) -> Kernels:
    """Return the kernels that ``name`` means. Raises OptionError for an unknown name."""
    for kernels in KERNELS:
        if kernels == name:
            return kernels
    expected = f"kernels must be {' or '.join(KERNELS)}"
    raise OptionError(f"{expected}, not {name!r}", expected)


@dataclass(frozen=True, slots=True)
class MicroTarget:
    """TensorFlow Lite Micro with the operators that one application registers.

    ``registered`` has the names of builtin and custom operators. None means all operators with a kernel in the runtime.
    """

    registered: frozenset[str] | None = None
    kernels: Kernels = "reference"
    without_room: frozenset[str] = frozenset()
    """The operators that the application tries to register after the resolver is full. ``registered`` does not contain them."""
    resolver: str = field(default="", compare=False)
    """The path of the source that registers the operators, if the user gave one."""

    @property
    def arguments(self) -> list[str]:
        """The command-line arguments for this target."""
        resolver = ["--resolver", self.resolver] if self.resolver else []
        return ["--micro", *resolver, *([] if self.kernels == KERNELS[0] else ["--kernels", self.kernels])]

    @property
    def attempted(self) -> int:
        """The number of operators that the application tries to register."""
        return len(self.registered or ()) + len(self.without_room)

    @property
    def release(self) -> Release:
        """A placeholder for the release that rules get. TensorFlow Lite Micro has no releases, so no rule depends on it."""
        return NEWEST


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
