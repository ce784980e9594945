"""The interface that every delegate implements, and the limits on partitions that several delegates have.

A delegate is a stateless module-level object. Code outside a delegate's package does not depend on the delegate's name, options
or problem codes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..graph.graph import Graph
from ..graph.partition import Subset
from ..graph.unstable_sort import LONGEST_STABLE, gnu_sorted
from ..refusal import Refusal
from ..releases.catalogue import NEWEST, Release, ReleaseNote, oldest_alike, parse_release
from ..releases.wording import release_notes, unchecked_parts
from ..rules.book import RuleBook
from ..rules.kinds import PARTITION_LIMIT, PARTITION_MINIMUM, RUNTIME_KINDS, Kind
from ..rules.rule import Reason
from .decision import Decision, Float16Remapping, ReleaseOnly, take_supported
from .options import Option, OptionValues, option_as_typed
from .traits import Accelerator, Levels, LogTraits, PartitionLimits, Ranking, ReleaseHistory, StageBehind

if TYPE_CHECKING:
    from .traits import LiveTraits


class Delegate:
    """One delegate. Every subclass sets ``name``, ``kernel_name``, ``provider_name`` and ``rules``; all else has defaults.

    By default, a delegate takes every supported node. A compiler plugin derives from ``CompilerPlugin``.
    """

    name: str
    """The delegate's name on the command line and in reports."""
    kernel_name: str
    """The name of the delegate's kernels in log lines."""
    provider_name: str
    """The delegate's name in the log lines of benchmark_model."""
    title: str = ""
    """The delegate's name in sentences, without an article, if this is not ``provider_name`` (see ``display_name``)."""
    has_article = False
    """Whether sentences put an article before the name."""
    rules: RuleBook[Any]
    """The rules that apply with the default options."""

    default_release: Release = NEWEST
    """The release of the runtime that commands assume."""
    options: tuple[Option, ...] = ()
    summary: str = ""
    """A description of the delegate, with the tools and APIs that apply the delegate; empty if no description is needed."""
    effort: int = 1
    """The relative cost of one simulation with the default options (see ``effort_with``)."""
    semantics: int = 1
    """The version number of the verdicts. Raise it if code changes verdicts but leaves the rule data unchanged."""
    has_default_sets: bool = True
    """Whether the options have defaults of benchmark_model beside those of the API."""
    rule_options: tuple[str, ...] = ()
    """The options that choose between several sets of rules."""
    history: ReleaseHistory = ReleaseHistory()
    log: LogTraits = LogTraits()
    limits: PartitionLimits = PartitionLimits()
    levels: Levels | None = None
    """The feature levels of the delegate's targets; None if the targets have no levels."""
    counts_cpu_partitions: bool = True
    """Whether reports also count partitions on the CPU, as the runtime's log line does. The delegate's own line may not."""
    computes_on_cpu: bool = False
    """Whether the delegate is a library for the CPU and not for an accelerator."""
    runs_whole_models: bool = False
    """Whether the delegate is a runtime that runs all nodes of a model or none, without other delegates beside it."""
    is_applied_by_default: bool = False
    """Whether the runtime applies the delegate by default, after all other delegates."""

    behind: StageBehind = StageBehind()
    """The stage that receives the delegate's partitions. By default, there is no stage behind the delegate."""
    accelerator: Accelerator = Accelerator()
    """The delegate's behavior under LiteRT's CompiledModel, where it differs from the behavior under the interpreter."""
    live: LiveTraits | None = None
    """Settings for running the real delegate on this host; None if the delegate cannot run here."""
    is_live_only: bool = False
    """Whether the delegate can be run but not simulated, for example because closed-source code decides about its nodes."""
    legend: str = ""
    """A description of the delegate for the legend of a table; empty if the name of the delegate is clear."""
    deprecated: str = ""
    """Since when the delegate's platform calls it deprecated, such as "since Android 15"; empty if it is not deprecated."""
    computes_integers: bool = False
    """Whether the accelerator computes in 8-bit integers. It then runs float models slowly, or not at all."""
    builds_by_node: bool = False
    """Whether ``kernel_failure`` checks each node by itself, so that it also has an answer about some nodes of a partition."""
    compiled_on_device: str = ""
    """When the kernels compile their nodes on the device, for use in a sentence; empty if they do not. A node that is taken may
    then still fail."""
    has_number_rules: bool = False
    """Whether conditions are known under which the delegate computes other numbers than the CPU (see ``number_risks``)."""
    compiler: str = ""
    """The compiler that creates every node that the delegate takes; empty if the delegate takes nodes of ordinary models."""
    is_plugin: bool = False
    """Whether the delegate is a compiler plugin. A plugin that can be simulated derives from ``CompilerPlugin``."""

    remedies_if_not_compiled: tuple[PublishedRemedy, ...] = ()
    """The remedies that the vendor publishes for selected nodes that cannot be compiled. No compiler was run with them."""

    @property
    def ranking(self) -> Ranking:
        """The group of delegates with which verdicts compare the delegate."""
        if self.is_plugin:
            return Ranking.PLUGINS
        return Ranking.CPU_LIBRARIES if self.computes_on_cpu else Ranking.ACCELERATORS

    @property
    def arguments(self) -> list[str]:
        """The command-line arguments that select the delegate."""
        return ["--delegate", self.name]

    @property
    def short_name(self) -> str:
        """The delegate's name in sentences, without an article."""
        return self.title or self.provider_name

    @property
    def display_name(self) -> str:
        """The delegate's name at the beginning of a sentence."""
        return f"The {self.short_name}" if self.has_article else self.short_name

    @property
    def software(self) -> str:
        """The name and version of the program that decides about nodes; empty if the delegate's own rules decide."""
        return ""

    @property
    def further_kinds(self) -> Mapping[str, Kind]:
        """Kinds of problem outside the rules, which kernel failures, limits and drivers cause, keyed by code."""
        return MappingProxyType({})

    @functools.cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """Every kind of problem that a node or a graph may have with this delegate, keyed by code."""
        runtime = {kind.name: kind for kind in RUNTIME_KINDS}
        return MappingProxyType({**self.rules.explained, **self.further_kinds, **runtime})

    @property
    def rule_books(self) -> tuple[RuleBook[Any], ...]:
        """Every set of rules that the options can choose."""
        return (self.rules,)

    def rules_for(self, options: OptionValues) -> RuleBook[Any]:
        """Return the rules that apply with these options."""
        return self.rules

    def supports_operator(self, op: str, options: OptionValues) -> bool:
        """Return whether the delegate takes some nodes of an operator with these options."""
        return self.rules_for(options).rule_of(op) is not None

    def release_notes(self, release: Release) -> Iterator[ReleaseNote]:
        """Yield a note if the rules of ``release`` are unknown. The note names the release that is simulated instead."""
        history = self.history
        return release_notes(self.name, release, history.known_since, is_unchanged=history.is_unchanged_since)

    def unchecked_parts(self, release: Release) -> Iterator[str]:
        """Yield the parts of a release that were not checked, such as the CPU kernels. A verdict is then uncertain."""
        return unchecked_parts(release, self.name, self.history.known_since)

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """All names of the delegate's kernels in log lines."""
        return (self.kernel_name,)

    def kernel_name_for(self, options: OptionValues) -> str:
        """Return the name of the delegate's kernels in log lines with these options."""
        return self.kernel_name

    def release_of(self, name: str) -> Release:
        """Return the release of the runtime that a name means. Raises OptionError for an unknown name."""
        return parse_release(name)

    def own_release(self, options: OptionValues) -> str:
        """Return the release of the delegate's own software that is simulated, or "" if the delegate is part of the runtime."""
        return ""

    def allows_dynamic_tensors(self, options: OptionValues, release: Release = NEWEST) -> bool:
        """Return whether the delegate also accepts dynamic tensors (``kTfLiteDelegateFlagsAllowDynamicTensors``).

        If so, it is applied before the CPU kernels are prepared, and receives each graph as stored in the model file.
        """
        return False

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Decide which nodes of a subgraph the delegate replaces in one release: by default, every supported node."""
        return take_supported(graph, self.rules_for(options), ReleaseOnly(release))

    def decides_like(self, release: Release, graph: Graph, options: OptionValues) -> Release:
        """Return the oldest release in which the delegate is known to decide about a graph as in ``release``."""
        history = self.history
        if history.changed_in is None and history.known_since:
            return release
        changes = self.rules_for(options).changed_in(graph.operators)
        return oldest_alike(release, (*(history.changed_in or ()), *changes))

    def run_warnings(self, decision: Decision, prepared: Callable[[], Graph]) -> Sequence[str]:
        """Return warnings about failures at run time. ``prepared`` returns the subgraph after its CPU kernels were prepared."""
        return ()

    def kernel_failure(
        self, decision: Decision, subset: Subset, options: OptionValues, release: Release = NEWEST
    ) -> Refusal | None:
        """Return the failure to initialize or prepare a partition's kernel, or None if no failure is known."""
        return None

    def shape_failure(
        self, decision: Decision, subset: Subset, prepared: Callable[[], Graph], release: Release = NEWEST
    ) -> Refusal | None:
        """Return the failure of a partition's kernel over shapes that only the ``prepared`` subgraph tells, or None."""
        return None

    def number_risks(self, graph: Graph, subset: Subset, options: OptionValues, release: Release = NEWEST) -> Iterator[Refusal]:
        """Yield the nodes of a partition of the decision's graph that are known to compute other numbers than the CPU."""
        return iter(())

    def numbers_are_checked(self, release: Release) -> bool:
        """Return whether the numbers of a release were compared with the numbers of the CPU."""
        return True

    def profiled_operator(self, name: str) -> str:
        """Return the operator that a name in a profile of the delegate's kernels means; empty if it is not known."""
        return ""

    def effort_with(self, options: OptionValues) -> int:
        """Return the relative cost of one simulation. Commands count this number for each simulation."""
        return self.effort

    def remedies(self, code: str, options: OptionValues) -> Iterator[OptionValues]:
        """Yield changed options that may avoid refusals with this code. The mildest change comes first."""
        limits = self.limits
        if code == PARTITION_LIMIT.name and limits.option:
            yield {limits.option: limits.unlimited}
        if code == PARTITION_MINIMUM.name and limits.minimum_option:
            yield {limits.minimum_option: 1}


class PublishedRemedy(NamedTuple):
    """Options of a vendor's compiler, the case in which the vendor recommends them, and the page that says so."""

    options: str
    when: str
    source: str


class ModelDecision(NamedTuple):
    """A compiler plugin's decision about a model: one item for each subgraph, None if the plugin is not asked about it."""

    decisions: tuple[Decision | None, ...]
    log_lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    failure: Refusal | None = None
    """The reason why the plugin takes no node of the model."""
    taken: tuple[frozenset[int], ...] = ()
    """For each subgraph, the nodes that run inside a node of another subgraph. Empty if there are no such nodes."""
    removed: frozenset[int] = frozenset()
    """Subgraphs that are removed from the model after their nodes were moved."""


class CompilerPlugin(Delegate):
    """A delegate that compiles parts of the model file before the runtime loads the file."""

    is_plugin = True
    has_default_sets = False
    has_article = True

    @property
    def short_name(self) -> str:
        """The plugin's name in sentences, without an article."""
        return f"plugin {self.name}"

    def decide_model(
        self, graphs: Sequence[Graph], options: OptionValues, release: Release = NEWEST, ended: frozenset[str] = frozenset()
    ) -> ModelDecision:
        """Decide about all subgraphs of a model file. Ignore failures with a code in ``ended``."""
        raise NotImplementedError


Sort = Callable[[Iterable[Subset], Callable[[Subset], int]], list[Subset]]


def largest_partitions(subsets: Sequence[Subset], limit: int, minimum: int = 0, sort: Sort = gnu_sorted) -> tuple[Subset, ...]:
    """Return the ``limit`` largest partitions with at least ``minimum`` nodes, largest first.

    ``sort`` must order partitions of equal size as the runtime's C++ library does.
    Source: ``GetFirstNLargestPartitions`` (``delegates/utils.cc``).
    """
    largest = sort(subsets, lambda subset: -len(subset.nodes))[:limit]
    return tuple(subset for subset in largest if len(subset.nodes) >= minimum)


def minimum_of_nodes(delegate: Delegate, options: OptionValues) -> int:
    """Return the minimum number of nodes in a partition. An option value of 0 or less means the default."""
    declared = next(option for option in delegate.options if option.name == delegate.limits.minimum_option)
    given: int = options[declared.name]
    return given if given > 0 else int(declared.default)


def keep_largest(delegate: Delegate, decision: Decision, limit: int, minimum: int, sort: Sort = gnu_sorted) -> Decision:
    """Return the decision with only the largest partitions delegated, and with a reason for each dropped node.

    Source: ``GetNodesOfFirstNLargestPartitions`` (``delegates/utils.cc``).
    """
    candidates = decision.candidates
    kept = {node for subset in largest_partitions(candidates, limit, minimum, sort) for node in subset.nodes}
    set_aside = dict(decision.set_aside)
    for subset in candidates:
        if subset.nodes[0] in kept:
            continue
        if len(subset.nodes) < minimum:
            reason = partition_minimum(delegate, len(subset.nodes), minimum)
        else:
            reason = partition_limit(delegate, len(candidates), limit)
        set_aside |= dict.fromkeys(subset.nodes, reason)
    warnings = decision.warnings
    if sort is gnu_sorted and order_depends_on_library(candidates, limit, minimum):
        warnings += (library_order_warning(decision.graph, limit),)
    nodes = tuple(node for node in decision.nodes if node in kept)
    subsets = decision.subsets
    if subsets is not None:
        subsets = tuple([subset._replace(is_delegated=subset.is_delegated and subset.nodes[0] in kept) for subset in subsets])
    return replace(decision, nodes=nodes, set_aside=set_aside, warnings=warnings, subsets=subsets)


def take_largest(
    delegate: Delegate, decision: Decision, remapping: Float16Remapping, limit: int, minimum: int = 0, sort: Sort = gnu_sorted
) -> Decision:
    """Return the decision with all nodes delegated if the delegate supports them, or else with only the largest partitions.

    ``remapping`` has the nodes that the delegate replaces by float16 constants. Source: ``FP16GraphPartitionHelper``
    (``delegates/utils.cc``).
    """
    plan = decision.graph.execution_plan
    if len(decision.nodes) + len(remapping.nodes) == len(plan):
        return replace(decision, nodes=plan)
    return keep_largest(delegate, decision, limit, minimum, sort)


def partition_limit(delegate: Delegate, found: int, limit: int) -> Reason:
    """Return the reason for a CPU node whose partition is dropped because there are too many partitions."""
    largest = "the largest" if limit == 1 else f"among the {limit} largest"
    merge = "merge partitions by removing nodes that split them"
    raised = f"raise {option_as_typed(delegate.options, delegate.limits.option)}, or " if delegate.limits.option else ""
    return Reason(
        PARTITION_LIMIT.name,
        PARTITION_LIMIT.name,
        f"its partition is not {largest} of {found}",
        f"{found} partitions",
        f"at most {limit}",
        f"{raised}{merge}",
        found,
    )


def partition_minimum(delegate: Delegate, found: int, minimum: int) -> Reason:
    """Return the reason for a CPU node whose partition has too few nodes."""
    nodes = "1 node" if found == 1 else f"{found} nodes"
    option = option_as_typed(delegate.options, delegate.limits.minimum_option)
    return Reason(
        PARTITION_MINIMUM.name,
        PARTITION_MINIMUM.name,
        f"its partition has {nodes}; needs at least {minimum}",
        f"a partition of {nodes}",
        f"at least {minimum} nodes",
        f"lower {option}, or merge partitions by removing nodes that split them",
    )


def order_depends_on_library(subsets: Sequence[Subset], limit: int, minimum: int = 0) -> bool:
    """Return whether the C++ library's order of equally large partitions decides which partitions are kept."""
    if len(subsets) <= LONGEST_STABLE or limit >= len(subsets):
        return False
    sizes = sorted((len(subset.nodes) for subset in subsets), reverse=True)
    return sizes[limit - 1] == sizes[limit] >= minimum


def library_order_warning(graph: Graph, limit: int) -> str:
    """Return the warning that the kept partitions depend on the C++ library."""
    return (
        f"subgraph {graph.index}: the limit of {limit} drops some of several partitions of equal size. The runtime's C++ library "
        "decides which partitions are kept; this result is for GNU's library"
    )
