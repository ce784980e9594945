"""The interface of a delegate.

A delegate is a module-level object without state. Nothing outside its package knows its name, its options or its codes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..graph.graph import Graph
from ..graph.partition import Subset
from ..releases.catalogue import NEWEST, Release, oldest_alike
from ..releases.notes import release_notes
from ..rules.book import RuleBook
from ..rules.kinds import PARTITION_LIMIT, PARTITION_MINIMUM, RUNTIME_KINDS, Kind
from .capabilities import Accelerator, StageBehind
from .decision import Decision, KernelFailure, ReleaseOnly, take_supported
from .options import Option, OptionValues
from .traits import Levels, LogTraits, PartitionLimits, ReleaseHistory

if TYPE_CHECKING:
    from .live_traits import LiveTraits


class Delegate:
    """One delegate.

    Every subclass sets ``name``, ``kernel_name``, ``provider_name`` and ``rules``. Everything else has a default: data about the
    delegate, then methods that it overrides if it does more than take what its rules accept. A compiler plugin is a
    ``CompilerPlugin``, which decides about whole files.
    """

    name: str
    """The name on the command line and in reports."""
    kernel_name: str
    """The name of its kernels in log lines."""
    provider_name: str
    """The name in benchmark_model's lines."""
    rules: RuleBook[Any]
    """The rules that apply with the default options."""

    options: tuple[Option, ...] = ()
    summary: str = ""
    """A description of the delegate and of when one meets it, if the name leaves that open."""
    semantics: int = 1
    """Raised by hand when verdicts change though the rules, as data, do not."""
    rule_options: tuple[str, ...] = ()
    """The options that choose among several sets of rules."""
    history: ReleaseHistory = ReleaseHistory()
    log: LogTraits = LogTraits()
    limits: PartitionLimits = PartitionLimits()
    levels: Levels | None = None
    """The feature levels of its targets, if they have any."""
    is_applied_by_default: bool = False
    """Whether the runtime applies it by itself to what other delegates leave."""

    behind: StageBehind = StageBehind()
    """The stage behind it, which answers nothing unless the delegate has one."""
    accelerator: Accelerator = Accelerator()
    """The rules of LiteRT's CompiledModel for it, if they differ from the interpreter's."""
    live: LiveTraits | None = None
    """The way to run it on this host; None if it cannot be."""
    is_live_only: bool = False
    """Whether closed code decides, so that it can be run, but not simulated."""
    is_plugin: bool = False
    """Whether it is a ``CompilerPlugin``, or would be one if it could be simulated."""

    @property
    def further_kinds(self) -> Mapping[str, Kind]:
        """Kinds of problem beyond those of the rules, by code: kernels that cannot be made, limits, drivers."""
        return MappingProxyType({})

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
        history = self.history
        return release_notes(self.name, release, history.known_since, is_unchanged=history.is_unchanged_since)

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """All names that its kernels may have in log lines."""
        return (self.kernel_name,)

    def kernel_name_for(self, options: OptionValues) -> str:
        """Return the name of its kernels in log lines."""
        return self.kernel_name

    def allows_dynamic_tensors(self, options: OptionValues) -> bool:
        """``kTfLiteDelegateFlagsAllowDynamicTensors``: it sees graphs as they are in the file, dynamic tensors included."""
        return False

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Look at one subgraph and say which nodes to replace, by the rules of a release of the runtime.

        Unless overridden: all nodes that the rules accept for a target that is nothing but the release.
        """
        return take_supported(graph, self.rules_for(options), ReleaseOnly(release))

    def decides_like(self, release: Release, graph: Graph, options: OptionValues) -> Release:
        """Return the oldest release whose rules are known to make the same decision about a graph."""
        if self.history.changed_in is None:
            return release
        changes = self.rules_for(options).changed_in({(node.op, node.is_custom) for node in graph.nodes})
        return oldest_alike(release, (*self.history.changed_in, *changes))

    def run_warnings(self, decision: Decision, prepared: Callable[[], Graph]) -> Sequence[str]:
        """Warn of what goes wrong when the kernels of a subgraph run; ``prepared`` returns the subgraph as CPU kernels see it."""
        return ()

    def kernel_failure(
        self, decision: Decision, subset: Subset, options: OptionValues, release: Release = NEWEST
    ) -> KernelFailure | None:
        """Initialize and prepare the kernel of one partition; None if that works, or if nothing is known of it."""
        return None

    def remedies(self, code: str, options: OptionValues) -> Iterator[OptionValues]:
        """Return changes to the options that may end refusals of this code, each by itself, the mildest first."""
        limits = self.limits
        if code == PARTITION_LIMIT.name and limits.option:
            yield {limits.option: limits.unlimited}
        if code == PARTITION_MINIMUM.name and limits.minimum_option:
            yield {limits.minimum_option: 1}
