"""The form of the rules for wrong numbers, and the part of a graph that they read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ....graph.graph import Graph, NodeView, fused_activation
from ....graph.partition import Subset
from ....model.model import Node, Tensor
from ....model.numbers import FlatNumbers, bounds
from ....refusal import Effect, Refusal, Stage
from ....releases.catalogue import Release, parse_release
from ....rules.kinds import Kind, Problem, field_values, kinds_data
from ..rules.checks import integers

CHECKED = tuple([parse_release(f"litert-{version}") for version in ("2.1.6", "2.2.0", "2.3.0", "2.4")])
"""The releases whose numbers were measured, oldest first."""
BACKEND = "webgpu"
"""The backend on which all conditions were measured."""


class GraphPart:
    """The delegated part of a graph. ``outputs`` are its results that outputs of the graph or nodes on the CPU read."""

    def __init__(self, graph: Graph, subset: Subset) -> None:
        self.graph = graph
        self.nodes = frozenset(subset.nodes)
        self.outputs = frozenset(subset.outputs)
        self.is_whole = self.nodes.issuperset(graph.execution_plan)
        self.merged: dict[int, bool] = {}
        """Whether a node is merged into a chain that begins with float weights. Nodes that were not asked about are absent."""
        self.first_appended: dict[int, int | None] = {}
        """The first node that is appended to the kernel of an elementwise node (see ``chains``)."""
        self.passed_on: dict[int, bool] = {}
        """Whether the result of a slice is an output, perhaps behind further slices. Absent as in ``merged``."""
        self._outputs_of: dict[int, frozenset[int]] = {}

    def constant(self, tensor: Tensor) -> FlatNumbers | None:
        """Return the elements of a constant that is not quantized, or None if there are none or they are unknown."""
        is_plain = tensor.is_constant and tensor.quantization is None
        stored = self.graph.model.constant(tensor) if is_plain else None
        return stored if stored is not None and len(stored) else None

    def is_output(self, tensor: Tensor) -> bool:
        """Return whether a tensor is a result of the part."""
        return tensor.index in self.outputs

    def outputs_of(self, node: NodeView) -> frozenset[int]:
        """Return the indices of a node's results that are results of the part. They are looked up once."""
        index = node.node.index
        if index not in self._outputs_of:
            self._outputs_of[index] = self.outputs.intersection(node.node.outputs)
        return self._outputs_of[index]

    def writer_of_read_output(self, tensor: Tensor | None) -> NodeView | None:
        """Return the node that computes an output if exactly one node of the part reads this output, or None."""
        is_read = tensor is not None and self.is_output(tensor) and self.only_reader(tensor) is not None
        return self.writer(tensor) if tensor is not None and is_read else None

    def is_input(self, tensor: Tensor) -> bool:
        """Return whether a tensor enters the part at run time."""
        return tensor.index >= 0 and not tensor.is_constant and self.writer(tensor) is None

    def readers(self, tensor: Tensor) -> Sequence[Node]:
        """Return the nodes of the part that read a tensor. A node that reads the tensor twice is listed twice."""
        return [node for node in self.graph.readers.get(tensor.index, ()) if node.index in self.nodes]

    def only_reader(self, tensor: Tensor) -> NodeView | None:
        """Return the single node of the part that reads a tensor, or None if there are several or none."""
        readers = self.graph.readers.get(tensor.index, ())
        return self.graph.view(readers[0]) if len(readers) == 1 and readers[0].index in self.nodes else None

    def writer(self, tensor: Tensor) -> NodeView | None:
        """Return the node of the part that computes a tensor, or None."""
        writers = self.graph.writers.get(tensor.index, ())
        return self.graph.view(writers[-1]) if writers and writers[-1].index in self.nodes else None


class Affected(NamedTuple):
    """A tensor with wrong numbers. ``values`` fill the message of the rule."""

    tensor: Tensor
    values: Mapping[str, Any] = {}
    is_certain: bool = True
    """Whether the numbers are wrong for ordinary inputs. False if it depends on the values."""


RiskFinder = Callable[[NodeView, GraphPart], Affected | None]


@dataclass(frozen=True, slots=True)
class NumberRule:
    """A condition under which accepted nodes compute other numbers than the CPU. Its texts are in ``kinds.json``.

    ``condition`` and ``result`` are sentences: when the numbers are wrong, and what comes out instead. ``cure`` says how to
    change the model, and ``hint`` says it briefly. ``message`` is the template of the message.
    """

    name: str
    problem: Problem
    title: str
    operators: tuple[str, ...]
    """The operators of the nodes to judge. Empty if the rule judges the inputs and outputs of a graph."""
    condition: str
    result: str
    cure: str
    hint: str
    message: str
    find: RiskFinder | None = field(default=None, compare=False)
    depends_on_values: bool = False
    """Whether the numbers are wrong only for some values."""
    is_before_backend: bool = False
    """Whether the cause precedes the kernels, and so applies to all backends. Others were seen only on ``BACKEND``."""
    fixed_in: Release | None = None
    """The first release without the problem, or None."""
    only_on: str = ""
    """The only backend with the problem. Empty if there may be several."""
    delegate: str = "mldrift"
    """The delegate with the problem. Other delegates share rules with the default one (see ``delegates.gpu.numbers``)."""
    read_in: str = ""
    """The source in which the condition was read, as a sentence. Empty if the condition was measured."""

    @property
    def code(self) -> str:
        """The code of the condition."""
        return f"{self.delegate}-numbers-{self.name}"

    @property
    def truth(self) -> str:
        """The source of the condition as a sentence: the releases and the backend on which it was measured."""
        if self.read_in:
            return self.read_in
        releases = ", ".join([str(release) for release in CHECKED if self.counts_in(release)])
        measured = f"Measured on WebGPU in {releases}." if releases else f"Seen on WebGPU in releases before {self.fixed_in}."
        return (
            f"The cause lies before the kernels, so it applies to every backend. {measured}"
            if self.is_before_backend
            else measured
        )

    @property
    def kind(self) -> Kind:
        """The kind of problem, which explains the code."""
        return Kind(
            self.code,
            self.problem,
            self.title,
            f"{self.condition} {self.result} {self.truth}",
            self.cure,
            self.hint,
            is_shared=True,
            template=self.message,
            stage=Stage.COMPUTING,
            effect=Effect.PERHAPS_WRONG_NUMBERS if self.depends_on_values else Effect.WRONG_NUMBERS,
        )

    def counts_in(self, release: Release) -> bool:
        """Return whether a release has the problem."""
        return self.fixed_in is None or not release.is_at_least(self.fixed_in)

    def risk(self, found: Affected, node: int | None, doubt: str = "") -> Refusal:
        """Return the refusal about a node. ``doubt`` says why it is not known whether the condition holds, or is empty."""
        refusal = self.kind.failure(found.tensor, node, **found.values)
        if doubt:
            refusal = refusal.within("", f"; {doubt}")
        return replace(refusal, effect=Effect.PERHAPS_WRONG_NUMBERS) if doubt or not found.is_certain else refusal


RulesOf = Mapping[str, Sequence[NumberRule]]
"""The rules for the nodes of each operator."""


def by_operator(rules: Iterable[NumberRule]) -> RulesOf:
    """Return rules by the operators that they judge."""
    rules_of: dict[str, list[NumberRule]] = {}
    for rule in rules:
        for op in rule.operators:
            rules_of.setdefault(op, []).append(rule)
    return rules_of


def affected_nodes(part: GraphPart, nodes: Sequence[int], rules_of: RulesOf, release: Release) -> Iterator[AffectedNode]:
    """Yield the nodes whose numbers are wrong, in the order of ``nodes``."""
    finders = {
        op: [(rule, rule.find) for rule in rules if rule.find is not None and rule.counts_in(release)]
        for op, rules in rules_of.items()
    }
    for index in nodes:
        node = part.graph.nodes[index]
        if node.op not in finders or node.is_custom:
            continue
        view = part.graph.view(node)
        for rule, find in finders[node.op]:
            affected = find(view, part)
            if affected is not None:
                yield AffectedNode(rule, affected, index)


class AffectedNode(NamedTuple):
    """A node, what is wrong in it, and the rule that says so."""

    rule: NumberRule
    affected: Affected
    node: int


_TEXTS = kinds_data("delegates/mldrift")["numbers"]


def number_rule(
    name: str,
    operators: tuple[str, ...],
    find: RiskFinder | None = None,
    texts: Mapping[str, Mapping[str, Any]] = _TEXTS,
    **facts: Any,
) -> NumberRule:
    """Return a rule with the texts that ``kinds.json`` has for its name. ``facts`` are further fields of the rule."""
    return NumberRule(name, operators=operators, find=find, **{**field_values(texts[name]), **facts})


_POSITIVE = frozenset({"EXP", "LOGISTIC", "RSQRT", "SOFTMAX"})
"""Operators whose results are positive, unless they underflow."""
_NOT_NEGATIVE = _POSITIVE | {"ABS", "RELU", "RELU6", "RELU_0_TO_1", "SQRT", "SQUARE", "SQUARED_DIFFERENCE"}
"""Operators whose results are never negative."""
_CLIPPED = frozenset({"RELU", "RELU6"})


def vector(node: NodeView, part: GraphPart) -> Affected | None:
    """Find a first operand of rank 1 with several elements."""
    source = node.input(0)
    return Affected(source) if source.rank == 1 and source.element_count > 1 else None


def is_never_negative(part: GraphPart, tensor: Tensor) -> bool:
    """Return whether no element of a tensor is negative: it is such a constant, or the operator that computes it says so."""
    values = part.constant(tensor)
    if values is not None:
        return bool(bounds(values)[0] >= 0)
    writer = part.writer(tensor)
    return writer is not None and (writer.op in _NOT_NEGATIVE or fused_activation(writer) in _CLIPPED)


def is_positive(part: GraphPart, tensor: Tensor) -> bool:
    """Return whether all elements of a tensor are positive: it is such a constant, or the operator that computes it says so."""
    values = part.constant(tensor)
    if values is not None:
        return bool(bounds(values)[0] > 0)
    writer = part.writer(tensor)
    return writer is not None and writer.op in _POSITIVE


def paddings(node: NodeView) -> list[tuple[int, int]]:
    """Return the numbers of elements before and after each dimension, or an empty list if they are unknown."""
    numbers = integers(node, 1)
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True)) if len(numbers) % 2 == 0 else []
    return pairs if len(pairs) == node.input(0).rank else []


def pad_value(node: NodeView) -> float:
    """Return the value with which a PAD or PADV2 fills, as a real number. An unknown value counts as 0."""
    filling = node.input(2)
    stored = node.value(filling) if filling.is_constant else None
    if stored is None or not len(stored):
        return 0.0
    return (float(stored[0]) - filling.zero_point) * filling.scale if filling.scale else float(stored[0])
