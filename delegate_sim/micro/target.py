"""The runtime that a model is judged for: TensorFlow Lite Micro with the operators of one application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..errors import OptionError
from ..releases.catalogue import NEWEST, Release
from ..rules.source import Repository

TFLM = Repository("tensorflow/tflite-micro", "90b983c2b3f1480642e040bbd2ddb37b998f3424")
"""The repository from which the rules were read. TensorFlow Lite Micro has no releases."""

Kernels: TypeAlias = Literal["reference", "cmsis-nn"]
"""The kernels that the application links: those of TensorFlow Lite Micro itself, or Arm's CMSIS-NN where it has some."""
KERNELS: tuple[Kernels, ...] = ("reference", "cmsis-nn")


def parse_kernels(name: str) -> Kernels:
    """Return kernels by their name, or raise OptionError."""
    for kernels in KERNELS:
        if kernels == name:
            return kernels
    raise OptionError(f"kernels must be {' or '.join(KERNELS)}, not {name!r}")


@dataclass(frozen=True, slots=True)
class MicroTarget:
    """TensorFlow Lite Micro with the operators that one application registers.

    ``registered`` has the names of builtin and custom operators. None stands for all operators that the runtime has.
    """

    registered: frozenset[str] | None = None
    kernels: Kernels = "reference"

    @property
    def release(self) -> Release:
        """The release that rules see. No rule depends on it, since the runtime has no releases."""
        return NEWEST
