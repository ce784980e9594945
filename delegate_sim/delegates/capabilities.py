"""Optional capabilities of a delegate. The default methods describe a delegate without the capability."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..graph.partition import Subset
from ..model.model import Model
from ..refusal import Refusal
from ..releases.catalogue import NEWEST, Release
from .decision import Decision
from .options import OptionValues
from .traits import Platform

if TYPE_CHECKING:
    from .driver import DevicesInterface, DriverInterface
    from .lowered_model import LoweredModel


class StageBehind:
    """The stage that receives a delegate's partitions, such as a system runtime or a compiler."""

    platform: Platform | None = None
    """The platform whose release determines the stage; None if no release affects the stage."""

    @property
    def driver(self) -> DriverInterface | None:
        """A description of the accelerator's driver; None if no driver decides about nodes."""
        return None

    @property
    def devices(self) -> DevicesInterface | None:
        """A description of the devices and their costs; None if the stage does not choose between devices."""
        return None

    def level(self, options: OptionValues) -> int | None:
        """Return the feature level that results from the options, or None if the platform has no feature levels."""
        return None

    def lower_level(self, options: OptionValues) -> int | None:
        """Return the feature level in the options if it is lower than the level of the platform release; otherwise None."""
        return None

    def notes(self, options: OptionValues) -> Iterator[str]:
        """Yield notes about uncertain behavior of the platform release that is set in the options."""
        return iter(())

    def refusal(
        self, decision: Decision, subsets: Sequence[Subset], options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Return the reason why the stage rejects a partition, or None if the stage takes all partitions.

        This method is called once for each subgraph, after all kernels of the subgraph were created. ``subsets`` are the
        subgraph's partitions in running order. If the reason is a prediction, it is only a warning. Otherwise, its effect
        says what follows.
        """
        return None

    def lowered(self, decision: Decision, options: OptionValues, release: Release = NEWEST) -> Iterator[LoweredModel]:
        """For each partition, yield the model that the delegate builds for the stage."""
        return iter(())

    def split(
        self, decision: Decision, subsets: Sequence[Subset], options: OptionValues, release: Release = NEWEST
    ) -> Iterator[StageSplit]:
        """For each partition, yield its division among several devices. Yield nothing if the division is not known."""
        return iter(())


class Accelerator:
    """The behavior of a delegate that is an accelerator of LiteRT 2's CompiledModel."""

    registered_operators: frozenset[str] = frozenset()
    """Custom operators that LiteRT registers, in place of the application, if the accelerator is requested."""
    fails_with_model: bool = False
    """Whether a failure of the delegate makes the whole model fail. If False, the runtime restores the original plan instead."""

    def load_refusal(self, model: Model, options: OptionValues, release: Release = NEWEST) -> Refusal | None:
        """Return the failure of LiteRT's loader, or None if the model loads."""
        return None

    def graph_refusal(
        self, decision: Decision, subsets: Sequence[Subset], options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Return the reason why the runtime rejects a subgraph after delegation, or None.

        This method is called even if no node was replaced.
        """
        return None


@dataclass(frozen=True, slots=True)
class StageStep:
    """A step that a stage behind the delegate runs on one device.

    ``operations`` are in running order, each with the index of its node. ``bytes_in`` and ``bytes_out`` are the bytes that enter
    and leave the step, without constants.
    """

    device: str
    operations: tuple[tuple[int, str], ...]
    bytes_in: int
    bytes_out: int

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes of the step's operations, without duplicates."""
        return tuple(dict.fromkeys([node for node, _ in self.operations]))


@dataclass(frozen=True, slots=True)
class StageSplit:
    """The steps into which the stage divides a partition.

    If another stage takes over, ``error`` says why. Otherwise, ``error`` is empty.
    """

    nodes: tuple[int, ...]
    steps: tuple[StageStep, ...]
    error: str = ""
