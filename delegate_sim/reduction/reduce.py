"""Find the smallest part of a model that fails as the whole model does."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..bundles.ranged import pieces
from ..errors import DelegateSimError, FixError, LimitError
from ..fixing.flatbuffer.model_writing import write
from ..foundation.columns import INTEGER, LIST, YES_OR_NO, Column, Declared, attributes
from ..foundation.limits import how_to_raise, raised
from ..hypothetical.fixed_inputs import with_shapes
from ..model.model import Model
from ..model.reader import load
from ..releases.catalogue import NEWEST
from ..verification.cuts import FAILED, RIGHT, Cutter, find_window
from .failures import FailureComparison, FailureTest, ObservedFailure, run_candidate
from .part_writing import ContentKind, ModelPart, PartWriter, can_generate

_MOST_SECONDS = 1800
"""The time limit for all runs, in seconds. A quarter of it is left for replacing names and weights."""
_MOST_DIMENSIONS = 64
"""Limit for the sizes of inputs that are made smaller one by one."""


@dataclass(frozen=True, slots=True)
class ReductionStep(Declared):
    """The model after a step of the reduction. ``runs`` is the number of runs in this step."""

    columns = (Column("step"), *attributes("nodes", "bytes", "runs", type=INTEGER))

    step: str
    """``original``, ``nodes``, ``shapes``, ``content`` or ``weights``."""
    nodes: int
    bytes: int
    runs: int


@dataclass(frozen=True, slots=True)
class KeptContent(Declared):
    """Content of the original model that the reduced model still has, because the failure depends on it."""

    columns = (Column("content"), Column("tensor", INTEGER), *attributes("type", "op"), Column("shape", LIST))

    content: str
    """``constant``, or a value of ``Content``."""
    tensor: int | None = None
    """For a constant, the index of the tensor in its subgraph of the reduced model."""
    type: str = ""
    op: str = ""
    """For a constant, the operator of the first node that reads it."""
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reduction(Declared):
    """A model that fails, and the smallest part of it with the same failure."""

    document = "reduction"
    columns = (
        *attributes("model", "software", "status", "message", "original_message"),
        *attributes("nodes", "bytes", "original_nodes", "original_bytes", "runs", type=INTEGER),
        *(Column("is_complete", YES_OR_NO), Column("empty_model_fails", YES_OR_NO)),
        *(Column("operators", LIST), Column("steps", LIST, parts=ReductionStep.columns)),
        Column("kept", LIST, parts=KeptContent.columns),
    )

    model: str
    software: str
    """The name and version of the code that fails. Empty if they are not known."""
    status: str
    """The end of the process. Empty if it does not count."""
    message: str
    """The message for the reduced model. It may differ from the original message in numbers and names."""
    original_message: str
    nodes: int
    bytes: int
    original_nodes: int
    original_bytes: int
    runs: int
    is_complete: bool
    """Whether all steps ended before the time limit."""
    empty_model_fails: bool
    """Whether a model without nodes fails in the same way, so that the failure shows nothing about the nodes."""
    operators: tuple[str, ...]
    steps: tuple[ReductionStep, ...]
    kept: tuple[KeptContent, ...]
    content: memoryview
    """The bytes of the reduced model."""


def reduce_model(model: Model, test: FailureTest, report: Callable[[str], None] = lambda _: None) -> Reduction:
    """Reduce a model that fails. ``report`` is called with a text about the progress.

    Raise FixError if the model does not fail, if its failure changes from run to run, or if it cannot be written.
    """
    return _Reducer(model, test, report).result()


class _Reducer:
    def __init__(self, model: Model, test: FailureTest, report: Callable[[str], None]) -> None:
        self._original, self._test, self._report = model, test, report
        self._comparison = FailureComparison(model)
        self._writer = PartWriter(model)
        self._part = ModelPart(0, ())
        self._failure = ObservedFailure("", "")
        self._answers: dict[ModelPart, bool] = {}
        self._runs = 0
        self._start = time.monotonic()
        self._share = 0.75
        self._steps: list[ReductionStep] = []
        self._is_found = False
        """Whether any part fails as the original model does."""
        self._is_complete = True

    def result(self) -> Reduction:
        original = b"".join(map(bytes, pieces(self._original.content)))
        self._failure = self._stable_failure(original)
        self._note("original", sum([len(graph.nodes) for graph in self._original.subgraphs]), len(original))
        self._start = time.monotonic()
        self._step("nodes", self._remove_nodes)
        self._step("shapes", self._shrink_shapes)
        self._share = 1.0
        self._step("content", self._replace_content)
        self._step("weights", self._replace_weights)
        content = self._writer.write(self._part)
        last = self._test.run(content)
        if last is None or not self._comparison.is_same(last, self._failure):
            raise self._unstable(self._failure, last)
        empty = run_candidate(self._test, self._writer.write(replace(self._part, nodes=())))
        first, nodes = self._steps[0], self._writer.nodes_of(self._part)
        return Reduction(
            self._original.path or "",
            self._test.software,
            last.status,
            last.message,
            self._failure.message,
            len(nodes),
            len(content),
            first.nodes,
            first.bytes,
            self._runs + 2,
            self._is_complete,
            empty is not None and self._comparison.is_same(empty, self._failure),
            tuple([node.custom_code or node.op for node in nodes]),
            tuple(self._steps),
            tuple(self._kept(load(content))),
            memoryview(content),
        )

    def _stable_failure(self, content: bytes) -> ObservedFailure:
        self._runs += 2
        first = self._test.run(content)
        if first is None:
            raise FixError("nothing to reduce, because the model does not fail", self._original.path or "")
        second = self._test.run(content)
        if second is None or not self._comparison.is_same(first, second):
            raise self._unstable(first, second)
        return first

    def _unstable(self, first: ObservedFailure, second: ObservedFailure | None) -> FixError:
        words = ["no failure" if own is None else " ".join(filter(None, own[:2])) for own in (first, second)]
        return FixError(f"the failure changes from run to run: {words[0]}; then {words[1]}", self._original.path or "")

    def _step(self, name: str, step: Callable[[], None]) -> None:
        runs = self._runs
        try:
            step()
        except LimitError:
            if not self._is_found:
                raise
            self._is_complete = False
        self._note(name, len(self._writer.nodes_of(self._part)), len(self._writer.write(self._part)), self._runs - runs)

    def _note(self, name: str, nodes: int, size: int, runs: int = 2) -> None:
        self._steps.append(ReductionStep(name, nodes, size, runs))

    def _fails(self, part: ModelPart) -> bool:
        """Return whether a part fails as the original model does. If so, the part becomes the result so far."""
        if part not in self._answers:
            self._answers[part] = self._runs_alike(self._writer, part)
        if self._answers[part]:
            self._part, self._is_found = part, True
        return self._answers[part]

    def _runs_alike(self, writer: PartWriter, part: ModelPart) -> bool:
        most = raised(_MOST_SECONDS)
        if time.monotonic() - self._start > most * self._share:
            raise LimitError(f"the runs of the command take more than {most:,} seconds{how_to_raise()}")
        self._report(f"run {self._runs}, {len(self._part.nodes):,} nodes left")
        self._runs += 1
        try:
            content = writer.write(part)
        except FixError:
            return False
        failure = run_candidate(self._test, content)
        return failure is not None and self._comparison.is_same(failure, self._failure)

    def _has_failing(self, subgraphs: Sequence[int]) -> bool:
        wholes = [ModelPart(index, tuple(range(len(self._original.subgraphs[index].nodes)))) for index in subgraphs]
        return any(self._fails(part) for part in wholes)

    def _remove_nodes(self) -> None:
        roots = dict.fromkeys([0, *[signature.subgraph for signature in self._original.signatures]])
        if not self._has_failing([*roots]):
            reason = "the failure depends on other parts of the file than the nodes of one subgraph: a copy of them does not fail"
            raise FixError(reason, self._original.path or "")
        for subgraph, nodes in self._test.suspects(self._original):
            if self._fails(self._with_needed(Cutter(self._original, subgraph), nodes)):
                break
        has_failing = True
        while has_failing:
            self._remove_nodes_of(Cutter(self._original, self._part.subgraph))
            _, *called = self._writer.subgraphs_of(self._part)
            has_failing = self._has_failing(called)

    def _remove_nodes_of(self, cutter: Cutter) -> None:
        def chosen() -> list[int]:
            kept = frozenset(self._part.nodes)
            return [node.index for node in cutter.steps if node.index in kept]

        def fails(nodes: Sequence[int]) -> bool:
            return self._fails(self._with_needed(cutter, nodes))

        steps = chosen()
        if len(steps) > 1 and fails(steps):
            find_window(len(steps), FAILED, lambda start, stop: FAILED if fails(steps[start:stop]) else RIGHT)
        _fewer(chosen(), fails)
        _fewer(self._part.nodes, lambda nodes: self._fails(replace(self._part, nodes=tuple(nodes))))

    def _with_needed(self, cutter: Cutter, nodes: Sequence[int]) -> ModelPart:
        graph = self._original.subgraphs[cutter.graph.index]
        needed = [node.index for node in cutter.needed([graph.nodes[node] for node in nodes])]
        return ModelPart(graph.index, tuple(sorted({*nodes, *needed})))

    def _shrink_shapes(self) -> None:
        model = load(self._writer.write(self._part))
        for places in _alike_sizes(model):
            size = 1
            while size:
                smaller = self._with_size(model, places, size)
                if smaller is None:
                    break
                whole = ModelPart(0, tuple(range(len(smaller.subgraphs[0].nodes))))
                writer = PartWriter(smaller)
                if self._runs_alike(writer, whole):
                    self._writer, self._part, self._answers, model = writer, whole, {}, smaller
                    break
                size = _next_size(model, places, size)

    @staticmethod
    def _with_size(model: Model, places: Sequence[tuple[int, int]], size: int) -> Model | None:
        tensors = model.subgraphs[0].tensors
        shapes = {index: list(tensors[index].shape) for index, _ in places}
        for index, axis in places:
            shapes[index][axis] = min(size, shapes[index][axis])
        changed = {index: shape for index, shape in shapes.items() if tuple(shape) != tensors[index].shape}
        if not changed:
            return None
        try:
            return load(b"".join(map(bytes, write(model, with_shapes(model, changed, NEWEST)))))
        except DelegateSimError:
            return None

    def _replace_content(self) -> None:
        for content in ContentKind:
            self._fails(replace(self._part, neutral=self._part.neutral | {content}))

    def _replace_weights(self) -> None:
        graphs = self._writer.model.subgraphs
        places = [place for place in self._writer.constants(self._part) if can_generate(graphs[place[0]].tensors[place[1]])]
        waiting = [places] if places else []
        while waiting:
            tried = waiting.pop()
            if not self._fails(replace(self._part, generated=self._part.generated | {*tried})) and len(tried) > 1:
                middle = len(tried) // 2
                waiting += [tried[middle:], tried[:middle]]

    def _kept(self, reduced: Model) -> Iterator[KeptContent]:
        part, original = self._part, self._writer.model
        nodes = self._writer.nodes_of(part)
        has = {
            ContentKind.METADATA: bool(original.description or original.metadata),
            ContentKind.ATTRIBUTES: any(node.custom_options or node.op == "STABLEHLO_COMPOSITE" for node in nodes),
            ContentKind.NAMES: True,
        }
        yield from [KeptContent(content.value) for content in ContentKind if has[content] and content not in part.neutral]
        for number, subgraph in enumerate(self._writer.subgraphs_of(part)):
            graph = reduced.subgraphs[number]
            for place, index in enumerate(self._writer.tensors_of(part, subgraph)):
                tensor = graph.tensors[place]
                if tensor.data is not None and (subgraph, index) not in part.generated:
                    op = next((node.op for node in graph.nodes if place in node.inputs), "")
                    yield KeptContent("constant", place, tensor.type, op, tensor.shape)


def _fewer(items: Sequence[int], fails: Callable[[Sequence[int]], bool]) -> None:
    """Remove items as long as the others fail, with delta debugging (ddmin). ``fails`` keeps the last items that fail."""
    chunks = 2
    while len(items) > 1:
        size = -(-len(items) // chunks)
        parts = [items[start : start + size] for start in range(0, len(items), size)]
        others = range(len(parts)) if chunks > 2 else ()
        # Each list of others is made when it is tried, because together they have many times as many items.
        without = ([*items[: number * size], *items[(number + 1) * size :]] for number in others)
        smaller = next((own for own in itertools.chain(parts, without) if fails(own)), None)
        if smaller is not None:
            chunks = 2 if len(smaller) <= size else max(chunks - 1, 2)
            items = smaller
        elif chunks >= len(items):
            return
        else:
            chunks = min(2 * chunks, len(items))


def _alike_sizes(model: Model) -> Iterator[list[tuple[int, int]]]:
    """Yield places of sizes, as (tensor, axis), that are made smaller together.

    These are all sizes of the inputs, equal sizes, the sizes of one axis, and single sizes.
    """
    graph = model.subgraphs[0]
    places = [(index, axis) for index in graph.inputs for axis, size in enumerate(graph.tensors[index].shape) if size > 1]
    if not places:
        return
    yield places
    sizes = {(index, axis): graph.tensors[index].shape[axis] for index, axis in places}
    for size in sorted(set(sizes.values()), reverse=True):
        yield [place for place in places if sizes[place] == size]
    for axis in sorted({axis for _, axis in places}):
        yield [place for place in places if place[1] == axis]
    yield from [[place] for place in places[:_MOST_DIMENSIONS]]


def _next_size(model: Model, places: Sequence[tuple[int, int]], size: int) -> int:
    """Return the next larger size to try, which is at most half of the current size. Return 0 if there is none."""
    most = max([model.subgraphs[0].tensors[index].shape[axis] for index, axis in places])
    return size * 4 if size * 8 <= most else 0
