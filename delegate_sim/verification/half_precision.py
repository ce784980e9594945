"""Find the nodes whose values do not fit into float16, with values that the CPU computes in float32.

Phones compute in float16 by default. Each result is rounded by itself: errors do not spread to later nodes. Sums inside a
convolution or a matrix product are not looked at, because kernels may compute them in float32.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import FixError
from ..foundation.columns import INTEGER, LIST, NUMBER, YES_OR_NO, Column, Declared, attributes
from ..foundation.late_numpy import np
from ..graph.graph import Graph, file_graph
from ..inference.inputs import InputArray
from ..model.model import Model, Node, Tensor
from .execution import CPU, EntryPoint, ExecutionError, ModelExecutor, ProcessExecutor, RunningTime, entries, entry_inputs

LARGEST = 65504.0
"""The largest number of float16."""
_OVERFLOW = 65520.0
"""Numbers of at least this size become infinite in float16."""
_REDUCTIONS = ("SUM", "MEAN")
_DIVISORS: Mapping[str, tuple[int, ...]] = {"DIV": (1,), "LOG": (0,), "RSQRT": (0,)}
"""The operands that must not be zero, keyed by operator."""
_ZERO_IF_OPERAND_IS = frozenset({"ABS", "EXPAND_DIMS", "MUL", "NEG", "RESHAPE", "SQRT", "SQUARE", "SQUEEZE", "TRANSPOSE"})
"""Operators whose results are zero where the operand is zero."""
_ELEMENTWISE = frozenset({"ADD", "DIV", "MAXIMUM", "MINIMUM", "MUL", "SELECT", "SELECT_V2", "SUB", "WHERE"})

RESULT, TOTAL, ZERO_DIVISOR = "result-overflows", "total-overflows", "divisor-vanishes"
CONSTANT_ZERO, CONSTANT_INFINITE = "constant-vanishes", "constant-overflows"
KINDS = (RESULT, TOTAL, ZERO_DIVISOR, CONSTANT_ZERO, CONSTANT_INFINITE)
"""The kinds of problems: a result, or the total of a sum, is too large for float16; a divisor, or a constant, becomes 0; or a
constant is too large."""


@dataclass(frozen=True, slots=True)
class PrecisionProblem(Declared):
    """A value of a node that float16 cannot hold."""

    columns = (
        *(*attributes("subgraph", "node", type=INTEGER), *attributes("op", "kind", "tensor")),
        *(Column("value", NUMBER), Column("elements", INTEGER), Column("is_certain", YES_OR_NO)),
    )

    subgraph: int
    node: int
    op: str
    kind: str
    """One of ``KINDS``."""
    tensor: str
    value: float
    """The value of the largest size, or for a value that becomes 0, the value of the smallest size."""
    elements: int
    """The number of elements, over all samples, that float16 cannot hold."""
    is_certain: bool
    """False if the result may still be right.

    For example, minus infinity is harmless in a mask before SOFTMAX, and a kernel of MEAN may divide before it adds.
    """


@dataclass(frozen=True, slots=True)
class NodeRange(Declared):
    """The range of one result over all samples, and the error of rounding the result to float16."""

    columns = (
        *(*attributes("subgraph", "node", type=INTEGER), *attributes("op", "tensor")),
        *attributes("least", "greatest", "smallest", "rounding", type=NUMBER),
    )

    subgraph: int
    node: int
    op: str
    tensor: str
    least: float
    greatest: float
    smallest: float
    """The smallest size of an element that is not zero. 0 if there is none."""
    rounding: float
    """The largest error of rounding, as a share of the largest value. Elements that become infinite are left out."""


@dataclass(frozen=True, slots=True)
class PrecisionReport(Declared):
    """The values of a model that float16 cannot hold, and the errors of rounding."""

    document = "half-precision"
    columns = (
        *(*attributes("model", "type"), Column("samples", INTEGER), Column("is_right", YES_OR_NO)),
        *(Column("problems", LIST), Column("ranges", LIST)),
    )

    model: str
    samples: int
    problems: tuple[PrecisionProblem, ...]
    """The problems in execution order."""
    ranges: tuple[NodeRange, ...]
    type: str = "FLOAT16"
    """The type to which results are rounded."""

    @property
    def is_right(self) -> bool:
        """Whether no problem is certain."""
        return not any(problem.is_certain for problem in self.problems)

    @property
    def first(self) -> PrecisionProblem | None:
        """The first certain problem, or None."""
        return next((problem for problem in self.problems if problem.is_certain), None)


def half_precision(
    model: Model, data: Sequence[str] = (), samples: int = 2, *, python: str = "", executor: ModelExecutor | None = None
) -> PrecisionReport:
    """Run a model on the CPU with all results kept, and report what float16 does to them.

    The inputs are as in ``verify_on``. Raise OptionError if an input does not fit, and FixError if the model does not run.
    """
    clock = RunningTime()
    runner = executor or ProcessExecutor(CPU, python=python, time=clock)
    chosen = entries(model)
    inputs = entry_inputs(model, chosen, data, samples)
    problems: list[PrecisionProblem] = []
    ranges: list[NodeRange] = []
    most = 0
    for entry, arrays in zip(chosen, inputs, strict=True):
        clock.seconds()
        most = max(most, len(arrays))
        survey = _Survey(model, entry)
        for sample in arrays:
            survey.add(_values(runner, survey, sample))
        problems += survey.problems()
        ranges += survey.ranges()
    return PrecisionReport(model.path or "", most, tuple(problems), tuple(ranges))


def _values(executor: ModelExecutor, survey: _Survey, sample: Sequence[InputArray]) -> Mapping[int, InputArray]:
    try:
        (result,) = executor.run(survey.model, survey.entry, [sample], kept=survey.results)
    except ExecutionError as error:
        raise FixError(f"the model does not run on the CPU: {error}", survey.model.path or "") from error
    return {**result.kept, **dict(zip(survey.entry.input_tensors, sample, strict=True))}


@dataclass(slots=True)
class _SeenValues:
    least: float = math.inf
    greatest: float = -math.inf
    smallest: float = math.inf
    rounding: float = 0.0
    infinite: int = 0
    zero: int = 0
    negative: int = 0
    """The number of elements that become minus infinity."""

    def add(self, array: InputArray) -> None:
        values = array[np.isfinite(array)].astype(np.float64)
        if not values.size:
            return
        sizes = np.abs(values)
        self.least, self.greatest = min(self.least, float(values.min())), max(self.greatest, float(values.max()))
        self.smallest = min(self.smallest, float(sizes[sizes > 0].min(initial=math.inf)))
        with np.errstate(all="ignore"):
            half = values.astype(np.float16).astype(np.float64)
        is_held = np.isfinite(half)
        self.infinite += int((~is_held).sum())
        self.negative += int((values <= -_OVERFLOW).sum())
        self.zero += int(((half == 0) & (values != 0)).sum())
        largest = float(sizes.max())
        if largest:
            errors = np.abs(half - values)[is_held]
            self.rounding = max(self.rounding, float(errors.max(initial=0.0)) / largest)

    @property
    def extreme(self) -> float:
        return max(self.least, self.greatest, key=abs)


def _divisors(graph: Graph) -> set[int]:
    """Return the tensors by which a node divides, and the tensors whose zeros make such a tensor zero."""
    divisors = {node.input(place) for node in graph.nodes for place in _DIVISORS.get(node.op, ())}
    for index in reversed(graph.execution_plan):
        node = graph.nodes[index]
        if node.op in _ZERO_IF_OPERAND_IS and not divisors.isdisjoint(node.outputs):
            divisors.update(node.inputs)
    return divisors


@dataclass
class _Survey:
    model: Model
    entry: EntryPoint
    _seen: dict[int, _SeenValues] = field(default_factory=dict)
    _totals: dict[int, _SeenValues] = field(default_factory=dict)
    _seen_constants: dict[int, tuple[_SeenValues, int] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.graph: Graph = file_graph(self.model, self.model.subgraphs[self.entry.subgraph])
        outputs = [self.graph.tensors[index] for node in self.graph.nodes for index in node.outputs if index >= 0]
        self.results = [tensor.index for tensor in outputs if tensor.type == "FLOAT32"]
        self._divisors = _divisors(self.graph)

    def add(self, values: Mapping[int, InputArray]) -> None:
        for index in self.results:
            if index in values:
                self._seen.setdefault(index, _SeenValues()).add(values[index])
        for node in self.graph.nodes:
            total = self._total(node, values) if node.op in _REDUCTIONS and not node.is_custom else None
            if total is not None:
                self._totals.setdefault(node.index, _SeenValues()).add(total)

    def _total(self, node: Node, values: Mapping[int, InputArray]) -> InputArray | None:
        """Return the totals of a SUM or MEAN before any division, or None if they are not known."""
        source, axes = node.input(0), self._constant(node.input(1))
        if source not in values or axes is None or values[source].dtype != np.float32:
            return None
        rank = values[source].ndim
        chosen = tuple({int(axis) % rank for axis in np.asarray(axes).reshape(-1)}) if rank else ()
        totals: InputArray = np.asarray(values[source].astype(np.float64).sum(axis=chosen))
        return totals

    def _constant(self, index: int) -> InputArray | None:
        stored = self.model.constant(self.graph.tensors[index]) if index >= 0 and self.graph.tensors[index].is_constant else None
        return None if stored is None else np.asarray(stored)

    def ranges(self) -> Iterator[NodeRange]:
        for node in self.graph.nodes:
            for index in node.outputs:
                seen = self._seen.get(index)
                if seen is not None and seen.least <= seen.greatest:
                    smallest = seen.smallest if math.isfinite(seen.smallest) else 0.0
                    spread = (seen.least, seen.greatest, smallest, seen.rounding)
                    yield NodeRange(self.graph.index, node.index, node.op, self.graph.tensors[index].name, *spread)

    def problems(self) -> Iterator[PrecisionProblem]:
        for node in self.graph.nodes:
            if node.op in _ELEMENTWISE:
                yield from self._constants(node)
            totals = self._totals.get(node.index)
            results = [(self.graph.tensors[index], self._seen[index]) for index in node.outputs if index in self._seen]
            if totals is not None and totals.infinite:
                target, is_certain = self.graph.tensors[node.outputs[0]], node.op == "SUM"
                yield self._problem(node, TOTAL, target, totals.extreme, totals.infinite, is_certain=is_certain)
            for tensor, seen in results:
                if seen.infinite and not (totals is not None and totals.infinite):
                    is_certain = seen.infinite > seen.negative
                    yield self._problem(node, RESULT, tensor, seen.extreme, seen.infinite, is_certain=is_certain)
                if seen.zero and tensor.index in self._divisors:
                    yield self._problem(node, ZERO_DIVISOR, tensor, seen.smallest, seen.zero)

    def _constants(self, node: Node) -> Iterator[PrecisionProblem]:
        """Yield the constant operands whose elements all become 0, or with elements that become infinite."""
        for index in node.inputs:
            if index not in self._seen_constants:  # a file decides how many nodes share a constant
                self._seen_constants[index] = self._seen_constant(index)
            known = self._seen_constants[index]
            if known is None:
                continue
            seen, count = known
            tensor = self.graph.tensors[index]
            if seen.zero and seen.zero == count:
                yield self._problem(node, CONSTANT_ZERO, tensor, seen.smallest, seen.zero, is_certain=False)
            if seen.infinite:
                yield self._problem(node, CONSTANT_INFINITE, tensor, seen.extreme, seen.infinite, is_certain=False)

    def _seen_constant(self, index: int) -> tuple[_SeenValues, int] | None:
        """Return the statistics of a float constant, and the number of its elements that are not 0. None for other tensors."""
        values = self._constant(index) if index >= 0 and self.graph.tensors[index].type == "FLOAT32" else None
        if values is None or not values.size:
            return None
        seen = _SeenValues()
        seen.add(values)
        return seen, int(np.count_nonzero(values))

    def _problem(
        self, node: Node, kind: str, tensor: Tensor, value: float, elements: int, *, is_certain: bool = True
    ) -> PrecisionProblem:
        return PrecisionProblem(self.graph.index, node.index, node.op, kind, tensor.name, value, elements, is_certain)
