"""The target of the simulation: TensorFlow Lite Micro with the operators of one application."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..errors import OptionError
from ..releases.catalogue import NEWEST, Release
from ..rules.source import Repository

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
