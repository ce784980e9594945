"""TensorFlow Lite Micro as a target like every delegate: its options, its runs, and what an application must provide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..delegates.decision import Decision
from ..delegates.options import Option, OptionValues, parse_options
from ..errors import OptionError
from ..graph.analysis_cache import AnalysisCache
from ..graph.graph import Graph
from ..graph.partition import Subset
from ..model.model import Model
from ..refusal import Effect, Refusal
from ..releases.catalogue import DEFAULT_RELEASE, Release
from ..rules.kinds import Kind
from ..rules.rule import Verdict
from ..runtime.run import Assumptions, OwnRuntime, Run, SubgraphRun
from ..runtime.target import Target
from .checks import external_tensors
from .preparation import RULES, MicroNode, Status, prepare_model
from .report import APPLICATION, MicroReport, Outcome, micro_warnings, refused_text, report_of
from .resolver import ResolverSource, read_resolver
from .target import (
    CHECKED,
    EXTERNAL_BUFFERS,
    KERNELS,
    NAME,
    NOT_RUN,
    RUNTIME_TITLE,
    UNUSABLE,
    WHOLE_KINDS,
    MicroRelease,
    MicroTarget,
    parse_kernels,
    parse_micro_release,
)


def _source(value: object) -> ResolverSource | None:
    return value if value is None or isinstance(value, ResolverSource) else read_resolver(str(value))


class MicroRuntime(OwnRuntime):
    """TensorFlow Lite Micro. A model runs if the resolver has all operators and the kernels accept all nodes."""

    name = NAME
    kernel_name = provider_name = RUNTIME_TITLE
    rules = RULES
    columns = APPLICATION
    options = (
        Option("kernels", parse_kernels, KERNELS[0], "the kernels that the application links", flag="kernels", choices=KERNELS),
        Option(
            "resolver",
            _source,
            None,
            "a file with the C++ source that registers the application's operators",
            flag="resolver",
            is_path=True,
        ),
    )
    default_release = CHECKED
    counts_cpu_partitions = False
    computes_on_cpu = True
    computes_integers = True
    runs_whole_models = True
    has_default_sets = False
    summary = (
        "TensorFlow Lite Micro looks up the kernel of every node. Each kernel first prepares its node (Prepare), and later runs "
        "the node (Invoke). CMSIS-NN is Arm's set of kernels, which an application can link instead of the reference kernels."
    )

    def release_of(self, name: str) -> Release:
        """Return the copy of the runtime that a name means. The default release of LiteRT means the copy that was checked."""
        return CHECKED if name == DEFAULT_RELEASE else parse_micro_release(name)

    @property
    def arguments(self) -> list[str]:
        """The command-line arguments that select the runtime."""
        return ["--micro"]

    @property
    def further_kinds(self) -> Mapping[str, Kind]:
        """The kinds of problem of a whole model."""
        return WHOLE_KINDS

    def unchecked_parts(self, release: Release) -> Iterator[str]:
        """Yield the kernels for every copy but the one with which the rules were compared."""
        if release != CHECKED:
            yield "its kernels"

    def number_risks(self, graph: Graph, subset: Subset, options: OptionValues, release: Release = CHECKED) -> Iterator[Refusal]:
        """Yield the nodes that read data outside the flatbuffer, and such outputs. The runtime does not read this data."""
        outside = external_tensors(graph.model, graph.model.subgraphs[graph.index])
        for index in outside.intersection(graph.model.subgraphs[graph.index].outputs):
            yield EXTERNAL_BUFFERS.refusal("its data is outside the flatbuffer", tensor=index, subgraph=graph.index)
        for index in subset.nodes:
            if not outside.isdisjoint(graph.nodes[index].inputs):
                yield EXTERNAL_BUFFERS.refusal("its weights are outside the flatbuffer", node=index, subgraph=graph.index)

    def evaluate(self, model: Model, target: Target, assumptions: Assumptions, cache: AnalysisCache) -> Run:
        """Return the run of a model. The taken nodes are those that the runtime could run if it ran the model."""
        application, accepted = application_of(target), assumptions.accepted
        preparation = prepare_model(model, application, accepted)
        report = report_of(model, application, preparation, AnalysisCache() if accepted else cache)
        refusal = _refusal(report)
        if refusal is not None and refusal.code == UNUSABLE.name and _are_all(report.nodes, accepted):
            refusal = None
        is_usable = refusal is None or refusal.code != UNUSABLE.name
        nodes: dict[int, list[MicroNode]] = {graph.index: [] for graph in preparation.graphs}
        for node in report.nodes:
            nodes[node.subgraph].append(node)
        runs = tuple([_subgraph(graph, nodes[graph.index], is_usable) for graph in preparation.graphs])
        outcome = "delegated" if any(run.subsets for run in runs) else "none"
        return Run(target, outcome, refusal, (), tuple(micro_warnings(model, report)), runs, application=report)


def _are_all(nodes: Sequence[MicroNode], accepted: Mapping[int, frozenset[int]]) -> bool:
    """Return whether all nodes are assumed to be accepted, and there are nodes. The file is then assumed to be usable."""
    return bool(nodes) and all(node.index in accepted.get(node.subgraph, ()) for node in nodes)


DELEGATE = MicroRuntime()


def micro_target(resolver: str | ResolverSource | None = None, kernels: str | None = None, runtime: str | None = None) -> Target:
    """Return a target: the source of a resolver or its path, the kernels, and the copy of the runtime. Raises OptionError."""
    given = {"resolver": resolver, "kernels": kernels or KERNELS[0]}
    release = DELEGATE.release_of(runtime or DEFAULT_RELEASE)
    return Target(DELEGATE, parse_options(NAME, DELEGATE.options, given), release, "benchmark")


def application_of(target: Target) -> MicroTarget:
    """Return the kernels, the resolver and the copy of the runtime of a target."""
    if not isinstance(target.release, MicroRelease):
        raise OptionError(f"{target.release} is a release of LiteRT or TensorFlow, not a copy of {RUNTIME_TITLE}")
    own = MicroTarget(kernels=target.options["kernels"], runtime=target.release)
    source: ResolverSource | None = target.options["resolver"]
    return own if source is None else source.registered_in(own)


def _refusal(report: MicroReport) -> Refusal | None:
    if report.outcome is Outcome.ALLOCATED and not any(node.status is Status.INVOKE for node in report.nodes):
        return None
    if report.outcome is Outcome.FILE and report.failing_node is None:
        return UNUSABLE.refusal(report.problem)
    place = report.failing_node or next((node.subgraph, node.index) for node in report.nodes if node.status is Status.INVOKE)
    effect = Effect.FAIL_AT_INVOKE if report.outcome is Outcome.ALLOCATED else Effect.FAIL_LATER
    return NOT_RUN.refusal(refused_text(report), subgraph=place[0], node=place[1], effect=effect)


def _subgraph(graph: Graph, nodes: Sequence[MicroNode], is_usable: bool) -> SubgraphRun:
    verdicts = {node.index: Verdict(node.status is Status.OK, node.reasons) for node in nodes}
    taken = tuple([index for index, verdict in verdicts.items() if verdict.is_supported and is_usable])
    left = tuple([index for index, verdict in verdicts.items() if not verdict.is_supported])
    subsets = tuple([Subset(are_taken, part, (), ()) for are_taken, part in ((True, taken), (False, left)) if part and taken])
    return SubgraphRun(graph, Decision(graph, verdicts, taken, subsets), subsets, subsets)
