"""The interface of a delegate.

A delegate is a module-level object without state. Nothing outside its package knows its name, its options or its codes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..graph.calls import ReplacingCall
from ..graph.graph import Graph
from ..graph.partition import Subset, partition
from ..model.model import Model, Tensor
from ..releases.catalogue import NEWEST, Release, oldest_alike
from ..releases.notes import release_notes
from ..rules.book import RuleBook
from ..rules.kinds import PARTITION_LIMIT, PARTITION_MINIMUM, RUNTIME_KINDS, Kind
from ..rules.rule import Reason, Verdict
from .options import Option

if TYPE_CHECKING:
    from .driver import DevicesInterface, DriverInterface
    from .live_traits import LiveTraits
    from .lowered_model import LoweredModel
    from .plugin_selection import ModelDecision
    from .stage_behind import StageRefusal, StageSplit

OptionValues: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class KernelFailure:
    """A delegate kernel, or a CPU kernel whose operands a delegate changed, that cannot be initialised or prepared.

    ``node`` is None if the partition as a whole is to blame, ``tensor`` if no single tensor is. ``is_crash`` says that the
    process ends there: nothing can be restored. ``is_known`` is False where it is read from the sources of another release than
    the one that is simulated: the report marks it as a prediction.
    """

    node: int | None
    tensor: int | None
    code: str
    message: str
    hint: str
    is_crash: bool = False
    is_known: bool = True
    is_later: bool = False
    """Whether it shows only after everything has been applied: it fails the model, though nothing is undone."""
    log_lines: tuple[str, ...] = ()
    """What is printed of it, where that is not only the line of a plan that is restored: after the line of its stage, unless that
    is among them."""
    stage: StageRefusal | None = None


@dataclass(frozen=True, slots=True)
class FailureWording:
    """How a kernel failure is told: a message with places for what was found, and its kind."""

    message: str
    kind: Kind
    is_crash: bool = False


def kernel_failure(
    wordings: Mapping[str, FailureWording], code: str, node: int | None, tensor: Tensor | None = None, **found: Any
) -> KernelFailure:
    """Word a failure; the other arguments are what was found, by the names in the message."""
    wording = wordings[code]
    if tensor is not None:
        name = f"tensor {tensor.index} ({tensor.name})" if tensor.name else f"tensor {tensor.index}"
        found = {"tensor": name, "type": tensor.type, "shape": list(tensor.shape), **found}
    index = None if tensor is None else tensor.index
    return KernelFailure(node, index, code, wording.message.format(**found), wording.kind.hint, wording.is_crash)


FileNode: TypeAlias = tuple[int, int]
"""A node of the file: its subgraph and its index there."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decision:
    """What a delegate decides about one subgraph.

    ``graph`` has the operands as the delegate left them; ``nodes`` are those that it asks the runtime to replace, chosen among
    the partitions of ``preview``; ``set_aside`` says of supported nodes why they are not among them. ``initialised`` are
    partitions whose kernels are known to initialise. A ``failure`` ends everything before any node is replaced.
    """

    graph: Graph
    verdicts: Mapping[int, Verdict]
    nodes: tuple[int, ...] = ()
    preview: tuple[Subset, ...] = ()
    set_aside: Mapping[int, Reason] = field(default_factory=dict)
    initialised: frozenset[Subset] = frozenset()
    failure: KernelFailure | None = None
    warnings: tuple[str, ...] = ()
    log_lines: tuple[str, ...] = ()
    """What the delegate itself prints, before the runtime reports the replacement."""
    findings: object = None
    """What the delegate found out on the way and needs again for its kernels; nobody else looks at it."""
    subsets: tuple[Subset, ...] | None = None
    """All partitions in running order, where the delegate groups the nodes to replace itself; None: the runtime partitions."""
    calls: tuple[ReplacingCall, ...] = ()
    """What the runtime reports, where the delegate has it replace nodes in several calls; ``subsets`` are those in the end."""
    origins: Mapping[int, int] = field(default_factory=dict)
    """Nodes that ``graph`` has behind those of the given graph, each with the node of the given graph that it stems from.

    A delegate that inlines a node takes it off the execution plan and adds others; tensors may be added behind the given ones
    too. Reports show what becomes of the added nodes at the nodes that they stem from.
    """
    skipped: frozenset[int] = frozenset()
    """Subgraphs that no delegate is asked about any more, as this one runs the nodes that stand for them."""

    groups: tuple[tuple[FileNode, ...], ...] | None = None
    """The nodes that a compiler is given together, by where they stand in the file; None where there is no such stage.

    Unlike ``subsets`` they have the nodes of inlined bodies as such, and none of what is compiled without being grouped.
    """
    places: Mapping[int, FileNode] = field(default_factory=dict)
    """Where nodes that ``graph`` has behind those of the given graph stand in the file, as far as they do."""

    @property
    def candidates(self) -> tuple[Subset, ...]:
        """The partitions that the delegate could take."""
        return tuple(subset for subset in self.preview if subset.is_delegated)

    @property
    def keeps_preview(self) -> bool:
        """Whether the nodes to replace are all those of the preview, so that its partitions stand."""
        return sum(len(subset.nodes) for subset in self.candidates) == len(self.nodes)

    def grouped(self) -> tuple[Subset, ...]:
        """Return all partitions in running order; raises ValueError if the delegate's own are of other nodes than ``nodes``."""
        if self.subsets is None:
            return self.preview if self.keeps_preview else partition(self.graph, self.nodes)
        if {node for subset in self.subsets if subset.is_delegated for node in subset.nodes} != set(self.nodes):
            raise ValueError("the delegate groups other nodes than those that it asks the runtime to replace")
        return self.subsets


@dataclass(frozen=True, slots=True)
class LogTraits:
    """How a delegate shows in a device's log, besides the names of its kernels and its provider."""

    switch: str = ""
    """How benchmark_model describes the parameter that applies the delegate, in lower case."""
    prints_refusals: bool = False
    """Whether the delegate prints a line for each reason why it refuses an operator."""
    libraries: tuple[str, ...] = ()
    """A part of the file name of the library that it comes in, in lower case, where it is loaded from one."""
    has_runtime_behind: bool = False
    """Whether it hands its partitions to Android's neural networks runtime, whose own lines a log may have."""
    speaks_as: str = ""
    """What its own lines call it, where another delegate's lines say the same of that one."""
    options_by_kernel: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The options that the name of a kernel tells."""
    options_by_interface: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The options that follow from the graphics interface that the delegate says it initialises, in lower case."""

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


class Delegate:
    """One delegate.

    A subclass sets at least the names and ``rules``, and overrides ``decide`` if it does more than take what is supported.
    """

    name: str
    """The name on the command line and in reports."""
    kernel_name: str
    """The name of its kernels in log lines."""
    provider_name: str
    """The name in benchmark_model's lines."""
    summary: str = ""
    """Which delegate is meant and when one meets it, where the name leaves that open."""
    is_in_benchmark_model: bool = True
    """Whether benchmark_model can apply it, and then prints a line of its own about it."""
    rules: RuleBook[Any]
    """What it accepts with the default options."""
    rule_options: tuple[str, ...] = ()
    """The options that choose among several sets of rules."""
    options: tuple[Option, ...] = ()
    semantics: int = 1
    """Raised by hand when verdicts change though the rules, as data, do not."""

    is_applied_by_default: bool = False
    """Whether the runtime applies it by itself to what other delegates leave."""
    limit_option: str = ""
    """The option that limits the number of partitions; empty if there is none."""
    unlimited: int = 0
    """The value of that option with which nothing is left out."""
    minimum_option: str = ""
    """The option that demands a minimum of nodes in a partition; empty if there is none."""
    fails_with_model: bool = False
    """Whether a failure fails the model, instead of having the runtime go on with the plan as it was."""
    levels: Levels | None = None
    log: LogTraits = LogTraits()
    platform: Platform | None = None
    """The platform behind the delegate, if its releases are told apart."""

    registered_operators: frozenset[str] = frozenset()
    """Custom operators that LiteRT registers by itself where the delegate is asked for."""

    is_plugin: bool = False
    """Whether it compiles parts of the file before the runtime loads it, in place of being applied to what was loaded."""

    live: LiveTraits | None = None
    """How it is run on this host; None if it cannot be."""
    is_live_only: bool = False
    """Whether closed code decides, so that it can be run, but not simulated."""

    known_since: str = ""
    """The oldest release of the runtime whose rules are known; empty if the delegate does not come with the runtime."""
    starts_at_known: bool = False
    """Whether releases before ``known_since`` do not have it, or nothing is known of what they have: tables leave them out."""
    is_unchanged_since: bool = False
    """Whether all later releases have the same rules, so that it does not matter which of two a release's rules are taken
    from.
    """
    changed_in: tuple[Release, ...] | None = None
    """The releases in which ``decide`` changed, besides those in which checks of its rules came or went; None if any may have."""

    @property
    def further_kinds(self) -> Mapping[str, Kind]:
        """Kinds of problem beyond those of the rules, by code: kernels that cannot be made, limits, drivers."""
        return MappingProxyType({})

    @property
    def driver(self) -> DriverInterface | None:
        """What can be known of the driver behind the delegate; None if no driver decides about nodes."""
        return None

    @property
    def devices(self) -> DevicesInterface | None:
        """What can be known of the devices behind the delegate; None if nothing chooses among devices there."""
        return None

    @functools.cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """Every kind of problem that a node or a graph may have with this delegate, by its code."""
        runtime = {kind.name: kind for kind in RUNTIME_KINDS}
        return MappingProxyType({**self.rules.explained, **self.further_kinds, **runtime})

    @property
    def rule_books(self) -> tuple[RuleBook[Any], ...]:
        """Every set of rules that some options choose."""
        return (self.rules,)

    def rules_for(self, options: OptionValues) -> RuleBook[Any]:
        """Return the rules that apply with these options."""
        return self.rules

    def release_notes(self, release: Release) -> Iterator[str]:
        """Say which release's rules are used where those of a release are not known."""
        return release_notes(self.name, release, self.known_since, is_unchanged=self.is_unchanged_since)

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """All names that its kernels may have in log lines."""
        return (self.kernel_name,)

    def kernel_name_for(self, options: OptionValues) -> str:
        """Return the name of its kernels in log lines."""
        return self.kernel_name

    def load_refusal(self, model: Model, options: OptionValues, release: Release = NEWEST) -> tuple[int, KernelFailure] | None:
        """Return why the interface that applies the delegate does not load a model, and in which subgraph; None if it does."""
        return None

    def platform_notes(self, options: OptionValues) -> Iterator[str]:
        """Say what is known less surely of the release of the platform that the options name."""
        return iter(())

    def allows_dynamic_tensors(self, options: OptionValues) -> bool:
        """``kTfLiteDelegateFlagsAllowDynamicTensors``: it sees graphs as they are in the file, dynamic tensors included."""
        return False

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Look at one subgraph and say which nodes to replace, by the rules of a release of the runtime.

        Unless overridden: all nodes that the rules accept for a target that is nothing but the release.
        """
        return take_supported(graph, self.rules_for(options), ReleaseOnly(release))

    def decides_like(self, release: Release, graph: Graph, options: OptionValues) -> Release:
        """Return the oldest release by whose rules ``decide`` does the same with a graph, as far as that is known."""
        if self.changed_in is None:
            return release
        changes = self.rules_for(options).changed_in({(node.op, node.is_custom) for node in graph.nodes})
        return oldest_alike(release, (*self.changed_in, *changes))

    def run_warnings(self, decision: Decision, prepared: Callable[[], Graph]) -> Sequence[str]:
        """Warn of what goes wrong when the kernels of a subgraph run; ``prepared`` returns the subgraph as CPU kernels see it."""
        return ()

    def decide_model(
        self, graphs: Sequence[Graph], options: OptionValues, release: Release = NEWEST, ended: frozenset[str] = frozenset()
    ) -> ModelDecision:
        """Look at all subgraphs of a file before the runtime loads it; only where ``is_plugin``.

        ``ended`` are codes of failures that are taken not to occur.
        """
        raise NotImplementedError

    def kernel_failure(
        self, decision: Decision, subset: Subset, options: OptionValues, release: Release = NEWEST
    ) -> KernelFailure | None:
        """Initialise and prepare the kernel of one partition; None if that works, or if nothing is known of it."""
        return None

    def refusal_behind(
        self, decision: Decision, subsets: Sequence[Subset], options: OptionValues, release: Release = NEWEST
    ) -> KernelFailure | None:
        """Ask the stage behind the delegate, such as a compiler that is given all partitions together; None if it takes them.

        Called once for each subgraph, after all its kernels were made; ``subsets`` are its partitions in running order. What is
        returned counts as a kernel that cannot be made: it undoes the delegation, or is a warning unless ``is_known``.
        """
        return None

    def graph_refusal(
        self, decision: Decision, subsets: Sequence[Subset], options: OptionValues, release: Release = NEWEST
    ) -> KernelFailure | None:
        """Return why a subgraph cannot stay as the delegate leaves it, asked whether or not any node was replaced."""
        return None

    def lowered(self, decision: Decision, options: OptionValues, release: Release = NEWEST) -> Iterator[LoweredModel]:
        """Return the model that is built of each partition for the stage behind the delegate; none if there is no such stage."""
        return iter(())

    def split_behind(
        self, decision: Decision, subsets: Sequence[Subset], options: OptionValues, release: Release = NEWEST
    ) -> Iterator[StageSplit]:
        """Return how the stage behind the delegate splits its partitions over devices, where that is known."""
        return iter(())

    def remedies(self, code: str, options: OptionValues) -> Iterator[OptionValues]:
        """Return changes to the options that may end refusals of this code, each by itself, the mildest first."""
        if code == PARTITION_LIMIT.name and self.limit_option:
            yield {self.limit_option: self.unlimited}
        if code == PARTITION_MINIMUM.name and self.minimum_option:
            yield {self.minimum_option: 1}


class ReleaseOnly(NamedTuple):
    """The target of rules that ask nothing of it but the release of the runtime."""

    release: Release = NEWEST


def take_supported(graph: Graph, rules: RuleBook[Any], target: Any) -> Decision:
    """Ask about every node in plan order, and take all that are supported."""
    verdicts = rules.verdicts(graph, graph.execution_plan, target)
    supported = tuple(index for index in graph.execution_plan if verdicts[index].is_supported)
    return Decision(graph, verdicts, supported, partition(graph, supported) if supported else ())


def kinds_by_code(*kinds: Kind) -> Mapping[str, Kind]:
    """Return shared kinds by their codes."""
    return MappingProxyType({kind.name: kind for kind in kinds})


def kinds_of_failures(wordings: Mapping[str, FailureWording]) -> Mapping[str, Kind]:
    """Return the kinds of kernel failures by their codes."""
    return MappingProxyType({code: wording.kind for code, wording in wordings.items()})
