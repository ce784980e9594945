"""Data that a delegate declares about itself: its releases, limits, levels and platform, and its signs in a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..releases.catalogue import Release


@dataclass(frozen=True, slots=True)
class ReleaseHistory:
    """The runtime releases for which the delegate's rules are known."""

    known_since: str = ""
    """The oldest release whose rules are known, or an empty string if the delegate is not part of the runtime."""
    starts_at_known: bool = False
    """Whether tables leave out the releases before ``known_since``, because they lack the delegate or their rules are unknown."""
    is_unchanged_since: bool = False
    """Whether the rules are the same in all releases after ``known_since``, so that reports need no note about the rules."""
    changed_in: tuple[Release, ...] | None = None
    """The releases in which ``decide`` changed, apart from added or removed checks; None if these releases are not known."""


@dataclass(frozen=True, slots=True)
class PartitionLimits:
    """The names of the options that limit partitions. A name is empty if the delegate has no such option."""

    option: str = ""
    """The option that limits the number of partitions."""
    unlimited: int = 0
    """The value of ``option`` that removes the limit."""
    minimum_option: str = ""
    """The option for the minimum number of nodes in a partition."""
    fallback: int = 0
    """The limit that applies if the option's value is 0 or less; 0 if such a value removes the limit."""


@dataclass(frozen=True, slots=True)
class LogTraits:
    """Signs of a delegate in a device's log, in addition to the names of its kernels and its provider."""

    is_in_benchmark_model: bool = True
    """Whether benchmark_model can apply the delegate and then prints its own line about the delegate."""
    switch: str = ""
    """benchmark_model's description of the parameter that switches the delegate on, in lower case."""
    prints_refusals: bool = False
    """Whether the delegate prints a line for each reason to refuse an operator."""
    libraries: tuple[str, ...] = ()
    """Libraries that contain the delegate, each given as a part of its file name in lower case."""
    chip: str = ""
    """The only chip for which the delegate is simulated, if the same lines are printed on other chips."""
    has_runtime_behind: bool = False
    """Whether Android's neural networks runtime runs the delegate's partitions, so that a log may have lines of that runtime."""
    speaks_as: str = ""
    """The delegate's name in its own log lines; empty unless another delegate prints lines with the same wording."""
    options_by_kernel: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The option values that a kernel's name implies."""
    hinted_options: Mapping[str, str] = field(default_factory=dict)
    """The option values that apply if a log reports the hint of full delegation."""
    options_by_interface: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The option values that a graphics interface implies, keyed by the name (in lower case) that the delegate prints for the
    interface.
    """

    @property
    def off_flag(self) -> str:
        """benchmark_model's flag that switches the delegate off, derived from the description ``switch``."""
        return f"--{self.switch.replace(' ', '_')}=false"


@dataclass(frozen=True, slots=True)
class Levels:
    """The feature levels of a delegate's targets."""

    option: str
    """The option that sets the level."""
    known: tuple[int, ...]
    """All levels, lowest first."""
    lowest_by_parameter: Mapping[str, int] = field(default_factory=dict)
    """The lowest possible level if benchmark_model prints a certain parameter, keyed by the parameter's description."""


@dataclass(frozen=True, slots=True)
class Platform:
    """The platform of the stage behind the delegate: its key in configurations, and the option for its release.

    ``alone`` is the option's value that turns off the simulation of the stage. ``others`` are further releases that a user can
    name. Their stage is not simulated, or is assumed to be the same as in another release.
    """

    key: str
    option: str
    releases: tuple[str, ...]
    alone: str
    others: tuple[str, ...] = ()
