"""Data that a delegate may state about itself: its releases, limits, levels, platform, and how it shows in a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..releases.catalogue import Release


@dataclass(frozen=True, slots=True)
class ReleaseHistory:
    """The releases of the runtime whose rules are known."""

    known_since: str = ""
    """The oldest of them; empty if the delegate does not come with the runtime."""
    starts_at_known: bool = False
    """Whether earlier releases do not have the delegate, or nothing is known of what they have: tables leave them out."""
    is_unchanged_since: bool = False
    """Whether all later releases have the same rules, so that it does not matter which of two a release's rules are taken
    from.
    """
    changed_in: tuple[Release, ...] | None = None
    """The releases in which ``decide`` changed, besides those in which checks of its rules came or went; None if any may have."""


@dataclass(frozen=True, slots=True)
class PartitionLimits:
    """The options that limit partitions; empty names if there are none."""

    option: str = ""
    """The option that limits the number of partitions."""
    unlimited: int = 0
    """The value of that option with which nothing is left out."""
    minimum_option: str = ""
    """The option that demands a minimum of nodes in a partition."""


@dataclass(frozen=True, slots=True)
class LogTraits:
    """Signs of a delegate in a device's log, besides the names of its kernels and its provider."""

    is_in_benchmark_model: bool = True
    """Whether benchmark_model can apply the delegate, and then prints a line of its own about it."""
    switch: str = ""
    """benchmark_model's description of the parameter that applies the delegate, in lower case."""
    prints_refusals: bool = False
    """Whether the delegate prints a line for each reason why it refuses an operator."""
    libraries: tuple[str, ...] = ()
    """A part of the file name of the library that it comes in, in lower case, where it is loaded from one."""
    has_runtime_behind: bool = False
    """Whether it hands its partitions to Android's neural networks runtime, whose own lines a log may have."""
    speaks_as: str = ""
    """The name in its own lines, if another delegate's lines use the same words."""
    options_by_kernel: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The options that the name of a kernel tells."""
    options_by_interface: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The options that follow from the graphics interface that the delegate says it initializes, in lower case."""

    @property
    def off_flag(self) -> str:
        """benchmark_model's flag that leaves the delegate out; its name is the switch's description."""
        return f"--{self.switch.replace(' ', '_')}=false"


@dataclass(frozen=True, slots=True)
class Levels:
    """Feature levels of a delegate's targets."""

    option: str
    """The option that sets the level."""
    known: tuple[int, ...]
    """All of them, lowest first."""
    lowest_by_parameter: Mapping[str, int] = field(default_factory=dict)
    """The lowest level that is possible where benchmark_model prints a parameter, by its description."""


@dataclass(frozen=True, slots=True)
class Platform:
    """The platform whose part behind the delegate is simulated: its key in configurations, and the option with its releases.

    ``alone`` is the value of the option with which nothing behind the delegate is simulated.
    """

    key: str
    option: str
    releases: tuple[str, ...]
    alone: str
