"""Optional capabilities of a delegate. Each class answers as a delegate without the capability does; a delegate overrides it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..graph.partition import Subset
from ..model.model import Model
from ..releases.catalogue import NEWEST, Release
from .decision import Decision, KernelFailure
from .options import OptionValues
from .traits import Platform

if TYPE_CHECKING:
    from .driver import DevicesInterface, DriverInterface
    from .lowered_model import LoweredModel
    from .stage_behind import StageSplit


class StageBehind:
    """The stage behind a delegate, such as a runtime of the system or a compiler, that takes its partitions."""

    platform: Platform | None = None
    """The platform that has the stage, if its releases are told apart."""

    @property
    def driver(self) -> DriverInterface | None:
        """The questions to the driver; None if no driver decides about nodes."""
        return None

    @property
    def devices(self) -> DevicesInterface | None:
        """The devices and their costs; None if nothing chooses among devices."""
        return None

    def notes(self, options: OptionValues) -> Iterator[str]:
        """Yield what is uncertain about the release of the platform that the options name."""
        return iter(())

    def refusal(
        self, decision: Decision, subsets: Sequence[Subset], options: OptionValues, release: Release = NEWEST
    ) -> KernelFailure | None:
        """Return why the stage refuses what it is given; None if it takes all partitions.

        Called once for each subgraph, after all its kernels were made; ``subsets`` are its partitions in running order. A refusal
        counts as a kernel that cannot be made: it undoes the delegation, or is a warning unless ``is_known``.
        """
        return None

    def lowered(self, decision: Decision, options: OptionValues, release: Release = NEWEST) -> Iterator[LoweredModel]:
        """Return the model that is built of each partition for the stage."""
        return iter(())

    def split(
        self, decision: Decision, subsets: Sequence[Subset], options: OptionValues, release: Release = NEWEST
    ) -> Iterator[StageSplit]:
        """Return how the stage splits each partition over devices, where that is known."""
        return iter(())


class Accelerator:
    """The rules of LiteRT 2's CompiledModel for a delegate that is one of its accelerators."""

    registered_operators: frozenset[str] = frozenset()
    """Custom operators that LiteRT registers by itself where the delegate is asked for."""
    fails_with_model: bool = False
    """Whether a failure fails the model, instead of having the runtime go on with the plan as it was."""

    def load_refusal(self, model: Model, options: OptionValues, release: Release = NEWEST) -> tuple[int, KernelFailure] | None:
        """Return why the interface that applies the delegate does not load a model, and in which subgraph; None if it does."""
        return None

    def graph_refusal(
        self, decision: Decision, subsets: Sequence[Subset], options: OptionValues, release: Release = NEWEST
    ) -> KernelFailure | None:
        """Return why a subgraph cannot stay as the delegate leaves it, asked whether or not any node was replaced."""
        return None
