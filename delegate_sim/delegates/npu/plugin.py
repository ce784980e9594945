"""The interface that all compiler plugins share (``litert/compiler/plugin``, ``litert/vendors``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...foundation.parsing.invalid_value import InvalidValueError
from ...graph.graph import Graph
from ...refusal import Refusal
from ...releases.catalogue import NEWEST, Release, ReleaseNote, parse_release
from ...releases.wording import release_notes
from ...rules.book import RuleBook
from ...rules.rule import Reason, Verdict
from ..base import CompilerPlugin, ModelDecision
from ..decision import Decision, kinds_by_code
from ..options import Option, OptionValues, integer, text
from ..traits import LogTraits, ReleaseHistory
from .composites import COMPOSITE, bodies, body_decisions, composite_of
from .loader import CPU_CALL, ISLANDS, LOADER_KINDS, SOC, file_facts, loaded
from .partitioning import DEFAULT, STRATEGIES, Ask, PluginAnswer, partition_subgraph
from .rules import NpuTarget


def crash_warnings(graphs: Sequence[Graph], decisions: Sequence[Decision | None], release: Release) -> Iterator[str]:
    """Yield warnings that LiteRT will crash when it writes the compiled model.

    In measurements, LiteRT crashed for every model in which two composites share a body. LiteRT also crashed for nearly every
    model in which an inlined node has an unused result.
    """
    composites = [composite_of(graph.model, node, release) for graph in graphs for node in graph.nodes if node.op == COMPOSITE]
    shared = [
        body
        for body, count in Counter([composite.body for composite in composites if composite is not None]).items()
        if count > 1
    ]
    if shared:
        yield f"LiteRT will crash when it writes the model, because several composites have subgraph {min(shared)} as their body"
    for decision in decisions:
        node = None if decision is None else _unread(decision)
        if decision is not None and node is not None:
            subgraph, index = decision.places[node]
            yield (
                "LiteRT will crash when it writes the model, because a result of the inlined node "
                f"{index} ({decision.graph.nodes[node].op}) of subgraph {subgraph} is unused"
            )


def _unread(decision: Decision) -> int | None:
    graph = decision.graph
    for index in graph.execution_plan:
        if index in decision.places and any(
            tensor >= 0 and tensor not in graph.readers and tensor not in graph.outputs for tensor in graph.nodes[index].outputs
        ):
            return index
    return None


_FIRST_SINCE = parse_release("litert-2.1.3")


def strategy(value: Any) -> str:
    """Parse a partition strategy, given by its name or by its number in LiteRT."""
    names = {**{name: name for name in STRATEGIES}, **{str(number): name for number, name in enumerate(STRATEGIES)}}
    strategy_name = names.get(str(value).strip().lower())
    if isinstance(value, bool) or strategy_name is None:
        raise InvalidValueError(f"takes {' or '.join(f'{name} ({number})' for number, name in enumerate(STRATEGIES))}", value)
    return strategy_name


def natural(value: Any) -> int:
    """Parse an integer that is not negative."""
    number = integer(value)
    if number < 0:
        raise InvalidValueError("takes a whole number of 0 or more", value)
    return number


def subgraph_numbers(value: Any) -> tuple[int, ...]:
    """Parse indices of subgraphs, given as a list, as an index, or as a comma-separated string."""
    if isinstance(value, str):
        value = [part for part in value.split(",") if part.strip()]
    elif isinstance(value, int) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, Sequence):
        raise InvalidValueError("takes indices of subgraphs, separated by commas", value)
    return tuple([natural(number) for number in value])


def soc_option(default: str, known: Sequence[str], note: str) -> Option:
    """Return the option that names the SoC."""
    description = f"the SoC to compile for: {', '.join(known)}; {note}"
    return Option("soc", lambda value: text(value) or "", default, description, choices=tuple(known))


COMMON_OPTIONS = (
    Option(
        "partition_strategy",
        strategy,
        DEFAULT,
        "how selected nodes are grouped: default (0) groups consecutive nodes; weakly_connected (1) groups nodes that read "
        "each other's results",
        choices=STRATEGIES,
    ),
    Option(
        "max_partitions",
        natural,
        0,
        "the maximum number of partitions of a subgraph (from litert-2.2.0 on); if a subgraph has more partitions, nothing "
        "is compiled; 0 means no limit",
    ),
    Option(
        "subgraphs",
        subgraph_numbers,
        (),
        "indices of the subgraphs to pass to the plugin, separated by commas; by default, all subgraphs",
    ),
)


def log_traits(vendor: str) -> LogTraits:
    """Return the log traits of a vendor's plugin. The names of the plugin's libraries show that a log is from this plugin."""
    return LogTraits(libraries=(f"compilerplugin_{vendor}", f"dispatch_{vendor}"), prints_selection=True)


class NpuPlugin(CompilerPlugin):
    """A vendor's compiler plugin."""

    vendor: str
    """The vendor's name in ``--soc VENDOR:SOC``."""
    kernel_name = "DISPATCH_OP"
    provider_name = "NPU"
    further_kinds = kinds_by_code(*LOADER_KINDS, ISLANDS)
    socs: tuple[str, ...] = ()
    """The names of the SoCs that the plugin supports."""
    history = ReleaseHistory("litert-2.1.3", starts_at_known=True)
    rules: RuleBook[NpuTarget]

    def decide(self, graph: Graph, options: OptionValues, release: Release = NEWEST) -> Decision:
        """Return the decision about one subgraph as if it were a whole model."""
        return partition_subgraph(graph, self._ask(graph, options, release), options, release, self._cpu_call).decision

    def decide_model(
        self, graphs: Sequence[Graph], options: OptionValues, release: Release = NEWEST, ended: frozenset[str] = frozenset()
    ) -> ModelDecision:
        """Simulate LiteRT's loader, then ask the plugin about each subgraph that is not the body of a composite."""
        model = graphs[0].model
        found_by_loader = loaded(model, release, ended)
        warnings = tuple(self.warnings(options, release))
        decisions: list[Decision | None] = [None] * len(graphs)
        if found_by_loader.failure is not None:
            return ModelDecision(tuple(decisions), found_by_loader.lines, warnings, found_by_loader.failure)
        lines = list(found_by_loader.lines)
        inner, chosen = bodies(model, release), options["subgraphs"]
        for index in [index for index, _ in enumerate(graphs) if index not in inner and (not chosen or index in chosen)]:
            ask = self._ask(graphs[index], options, release, ended)
            partitioned = partition_subgraph(graphs[index], ask, options, release, self._cpu_call)
            # If the plugin failed before it checked nodes, there are no verdicts, and therefore no decision.
            decisions[index] = partitioned.decision if partitioned.failure is None or partitioned.decision.verdicts else None
            lines += partitioned.lines
            warnings += partitioned.decision.warnings
            if partitioned.failure is not None:
                return ModelDecision(tuple(decisions), tuple(lines), warnings, partitioned.failure)
        warnings += tuple(crash_warnings(graphs, decisions, release))
        completed = body_decisions(graphs, decisions, release)
        return ModelDecision(completed.decisions, tuple(lines), warnings, taken=completed.taken, removed=completed.removed)

    def release_notes(self, release: Release) -> Iterator[ReleaseNote]:
        """Yield a note if the rules of ``release`` are unknown. The note names the release that is simulated instead."""
        if release.family == "tf" or not release.is_at_least(_FIRST_SINCE):
            instead = f"the rules of {self.history.known_since} are used instead"
            yield ReleaseNote(f"the rules of this compiler plugin in {{release}} are not known; {instead}", release)
            return
        yield from release_notes(self.name, release, self.history.known_since, is_unchanged=False)

    def warnings(self, options: OptionValues, release: Release) -> Iterator[str]:
        """Yield warnings about parts of the plugin's decisions that cannot be predicted."""
        return iter(())

    def first_lines(self, options: OptionValues) -> tuple[str, ...]:
        """Return the lines that the plugin logs before it checks a subgraph."""
        return ()

    def fault(self, graph: Graph, options: OptionValues, release: Release) -> Refusal | None:
        """Check a subgraph as a whole, before the nodes are checked. Return the plugin's failure or None."""
        return None

    def target(self, graph: Graph, options: OptionValues, release: Release) -> NpuTarget:
        """Return the target of the rules."""
        return NpuTarget(release, file_facts(graph.model))

    def lines(self, graph: Graph, verdicts: Mapping[int, Verdict], target: NpuTarget) -> Iterator[str]:
        """Yield the lines that the plugin logs while it checks the nodes of a subgraph."""
        for index, verdict in verdicts.items():
            yield from self.lines_of(graph, index, verdict, target)

    def lines_of(self, graph: Graph, index: int, verdict: Verdict, target: NpuTarget) -> Iterator[str]:
        """Yield the lines that the plugin logs about one node."""
        return iter(())

    def _ask(self, graph: Graph, options: OptionValues, release: Release, ended: frozenset[str] = frozenset()) -> Ask:
        base = self.target(graph, options, release)

        def ask(current: Graph, tensors: Mapping[int, tuple[int, int]]) -> PluginAnswer:
            lines, failure = self.first_lines(options), self.fault(current, options, release)
            if failure is not None:
                lines += failure.log_lines
                if failure.code not in ended:
                    return PluginAnswer({}, lines, failure)
            target = base._replace(tensors=tensors)
            verdicts = self.rules.verdicts(current, current.execution_plan, target)
            return PluginAnswer(verdicts, (*lines, *self.lines(current, verdicts, target)))

        return ask

    @property
    def _cpu_call(self) -> Reason:
        message = f"the model assigns the node to the CPU; needs a composite other than {CPU_CALL.name}"
        return Reason(f"{self.name}-cpu-call", CPU_CALL.name, message, "odml.cpu_call", "another composite", CPU_CALL.hint)

    def remedies(self, code: str, options: OptionValues) -> Iterator[OptionValues]:
        """Yield options that avoid a failure. These options remove the limit on partitions, or choose the default SoC."""
        if code == ISLANDS.name:
            yield {"max_partitions": 0}
        if code == SOC.name:
            yield {"soc": self.options[0].default}
        yield from super().remedies(code, options)
