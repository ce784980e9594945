"""Data that a delegate declares about itself, and optional capabilities, whose defaults describe a delegate without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..foundation import packages
from ..graph.partition import Subset
from ..model.model import Model
from ..refusal import Refusal
from ..releases.catalogue import NEWEST, Release
from .decision import Decision
from .options import OptionValues

if TYPE_CHECKING:
    from .driver import DevicesInterface, DriverInterface, LoweredModel


class Ranking(IntEnum):
    """The groups in which verdicts compare delegates, in order. Plugins only select nodes."""

    ACCELERATORS = 0
    CPU_LIBRARIES = 1
    PLUGINS = 2


class ReleaseHistory(NamedTuple):
    """The runtime releases for which the delegate's rules are known."""

    known_since: str = ""
    """The oldest release with known rules, or an empty string if the delegate is not part of the runtime."""
    starts_at_known: bool = False
    """Whether tables omit releases before ``known_since``, because these releases lack the delegate or have unknown rules."""
    is_unchanged_since: bool = False
    """Whether the rules are the same in all releases from ``known_since`` on, so that reports need no note about the rules."""
    changed_in: tuple[Release, ...] | None = None
    """The releases in which ``decide`` changed, apart from added or removed checks; None if they are unknown."""


class PartitionLimits(NamedTuple):
    """Names of the options that limit partitions. An empty name means that the delegate does not have the option."""

    option: str = ""
    """The option that limits the number of partitions."""
    unlimited: int = 0
    """The value of ``option`` that removes the limit."""
    minimum_option: str = ""
    """The option for the minimum number of nodes in a partition."""
    fallback: int = 0
    """The limit if the option's value is 0 or less. If ``fallback`` is 0, such a value removes the limit."""


@dataclass(frozen=True, slots=True)
class LogTraits:
    """Texts that reveal a delegate in a device's log, in addition to the names of the delegate's kernels and provider."""

    is_in_benchmark_model: bool = True
    """Whether benchmark_model can apply the delegate. If so, benchmark_model prints a line about the delegate."""
    switch: str = ""
    """benchmark_model's description of the parameter that turns the delegate on, in lower case."""
    prints_refusals: bool = False
    """Whether the delegate prints a line for each refusal."""
    prints_selection: bool = False
    """Whether the log counts the nodes that the delegate selects, in place of the nodes that its kernels replace."""
    libraries: tuple[str, ...] = ()
    """Parts of the file names of libraries that contain the delegate, in lower case."""
    chip: str = ""
    """The only chip that is simulated, if the delegate's log lines are the same on every chip; otherwise empty."""
    has_runtime_behind: bool = False
    """Whether Android's NNAPI runtime runs the delegate's partitions. If so, a log may have lines of that runtime."""
    prints_kernels: bool = False
    """Whether the delegate prints the number of its kernels as soon as they exist, so that a log without this line is cut."""
    speaks_as: str = ""
    """The delegate's name in its own log lines. It is set only if another delegate prints lines with the same wording."""
    options_by_kernel: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Option values to assume, keyed by the name of the kernel in a log."""
    hinted_options: Mapping[str, str] = field(default_factory=dict)
    """Option values to assume if a log says that the hint of full delegation was not met."""
    options_by_interface: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Option values to assume, keyed by the printed name of the graphics interface or of the driver, in lower case."""

    tried_options: Mapping[str, Any] = field(default_factory=dict)
    """Option values that may explain a log that differs from the simulation, because no log line shows the option."""
    options_by_words: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Names and values of options to assume, by words in reasons. Several values are joined by commas, in the log's order."""

    @property
    def off_flag(self) -> str:
        """benchmark_model's flag that turns the delegate off, derived from ``switch``."""
        return f"--{self.switch.replace(' ', '_')}=false"


@dataclass(frozen=True, slots=True)
class Levels:
    """The feature levels of a delegate's targets."""

    option: str
    """The option that sets the level."""
    known: tuple[int, ...]
    """All levels, lowest first."""
    lowest_by_parameter: Mapping[str, int] = field(default_factory=dict)
    """The lowest level that a parameter printed by benchmark_model allows, keyed by the parameter's description."""
    in_words: Callable[[int], str] = str
    """Return a level in words."""


class Platform(NamedTuple):
    """The platform of the stage behind the delegate: its key in configuration files, and the option for its release.

    ``alone`` is the option's value that turns off the simulation of the stage. In ``others``, further releases, the stage is not
    simulated, or is assumed to equal the stage of another release.
    """

    key: str
    option: str
    releases: tuple[str, ...]
    alone: str
    others: tuple[str, ...] = ()

    @property
    def all_releases(self) -> tuple[str, ...]:
        """All releases that users can name, oldest first."""
        return tuple(sorted((*self.releases, *self.others), key=float))


@dataclass(frozen=True, slots=True)
class PluginTraits:
    """The settings with which LiteRT's own tool runs a compiler plugin."""

    manufacturer: str
    """The name that LiteRT's tool uses for the vendor."""
    folder: str
    """The plugin's folder under ``vendors`` in LiteRT's package."""
    libraries: tuple[tuple[str, str], ...]
    """Python packages that may contain the vendor's libraries, each with the folder of the libraries in the package."""
    needs: str
    """A text for users: the required libraries, and where to get them."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The options with values that LiteRT's tool reads from a file, and for each option the flag with the file's path."""
    closed_line: str = ""
    """A line that the plugin prints if closed-source code, not the simulated rules, decides about nodes."""
    is_closed: bool = False
    """Whether closed-source code always decides."""
    relative_library: str = ""
    """The path, below the current folder, of the only vendor's library that newer releases of the plugin open."""
    numbered_library: str = ""
    """A regular expression for a library's name. Its groups are the numbers of the version that the plugin is linked to."""
    numbered_needs: str = ""
    """The text of ``needs`` for such a library, with a field for each number."""
    opened: tuple[str, ...] = ()
    """The file names of the vendor's libraries that the plugin and the compiler behind it open on a computer."""
    variable: tuple[str, str] = ("", "")
    """An environment variable that names the SDK, and the folder below it. If it is set, the plugin searches only there."""
    compiler_needs: str = ""
    """A text for users: where the compiler behind the plugin looks for its libraries, and how they get there."""
    compiled_line: str = ""
    """The start of a line that the plugin prints for each compiled partition. Empty if it prints none."""

    def arguments(self, options: Mapping[str, Any]) -> Iterator[str]:
        """Yield the flags of LiteRT's tool for the plugin's options."""
        yield f"--soc_model={options['soc']}"
        yield f"--partition_strategy={options['partition_strategy']}"
        if options["max_partitions"]:
            yield f"--compiler_options_max_partitions={options['max_partitions']}"
        if options["subgraphs"]:
            yield f"--subgraphs={','.join(map(str, options['subgraphs']))}"


class RuntimeTraits(NamedTuple):
    """A delegate that LiteRT's Python interpreter applies by itself, with default options."""


class AcceleratorTraits(NamedTuple):
    """An accelerator that CompiledModel loads from a library in LiteRT's package. The accelerator needs a graphics driver."""

    library: str
    """The library's file name in LiteRT's package."""
    fixed: Mapping[str, Any]
    """Options that Python cannot change, with their values."""
    heading: str
    """The first line that the accelerator prints about refused nodes."""
    last: str
    """A regular expression that matches the last line about refused nodes."""
    adapter: str
    """A text that the log contains if a device was found."""

    def arguments(self, options: Mapping[str, Any]) -> Iterator[str]:
        """Yield CompiledModel's arguments: the accelerators, then the precision."""
        yield "gpu,cpu" if options["cpu_fallback"] else "gpu"
        yield options["precision"]


class VelaTraits(NamedTuple):
    """The settings with which Arm's compiler Vela is run."""

    accelerator: str
    """The configuration of the NPU (``vela --accelerator-config``)."""

    @property
    def version(self) -> str:
        """The installed version of Vela; empty if Vela is not installed."""
        return packages.package_version("ethos-u-vela")

    @property
    def software(self) -> str:
        """The name and the installed version of Vela, such as ``vela-5.2.0``; empty if Vela is not installed."""
        return f"vela-{self.version}" if self.version else ""

    def arguments(self, options: Mapping[str, Any]) -> Iterator[str]:
        """Yield Vela's arguments for the configuration and for the options that are set."""
        yield f"--accelerator-config={self.accelerator}"
        for name, value in options.items():
            if value:
                yield f"--{name.replace('_', '-')}={value}"


LiveTraits: TypeAlias = PluginTraits | RuntimeTraits | AcceleratorTraits | VelaTraits


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
        """Return the reason why the stage rejects one of a subgraph's partitions in running order, or None.

        This method is called after all kernels of the subgraph were created. A predicted reason is only a warning. Otherwise, its
        effect says what follows.
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
        """Return the reason why the runtime rejects a subgraph after delegation, even of no node; or None."""
        return None


class StageStep(NamedTuple):
    """A step that a stage behind the delegate runs on one device: operations in running order, each with its node's index.

    ``bytes_in`` and ``bytes_out`` are the bytes that enter and leave the step, without constants.
    """

    device: str
    operations: tuple[tuple[int, str], ...]
    bytes_in: int
    bytes_out: int

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes of the step's operations, without duplicates."""
        return tuple(dict.fromkeys([node for node, _ in self.operations]))


class StageSplit(NamedTuple):
    """The steps into which the stage divides a partition. ``error`` says why another stage takes over, or is empty."""

    nodes: tuple[int, ...]
    steps: tuple[StageStep, ...]
    error: str = ""
