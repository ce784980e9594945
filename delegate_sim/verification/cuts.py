"""Cut a part of a subgraph out of a model, and find the node at which a model starts to fail, with few runs of parts.

Results between nodes become inputs and outputs of a part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..fixing.flatbuffer.model_writing import write
from ..fixing.pass_workspace import Work, WorkCount
from ..graph.graph import Graph, file_graph
from ..hypothetical.model_editing import Edited, Editor, edited
from ..model.model import Model, Node, Signature
from ..model.reader import load
from .execution import EntryPoint

_KEY = "part"


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a model as a model of its own."""

    model: Model
    entry: EntryPoint
    inputs: tuple[int, ...]
    """The tensors of the original model that are inputs of the part."""
    outputs: tuple[int, ...]
    """The tensors of the original model that are outputs of the part."""


class Cutter:
    """Cuts parts out of one subgraph. ``steps`` are its nodes in execution order, without nodes that only read constants."""

    def __init__(self, model: Model, subgraph: int) -> None:
        self._model = model
        self.graph: Graph = file_graph(model, model.subgraphs[subgraph])
        self._static = frozenset(_static_tensors(self.graph))
        self._static_nodes = [node for node in self.graph.nodes if self._static.issuperset(node.outputs) and node.outputs]
        names = {node.index for node in self._static_nodes}
        self.steps: Sequence[Node] = [node for node in self.graph.nodes if node.index not in names]
        self._aliases: dict[int, int] = {}

    def between(self) -> list[int]:
        """Return the tensors that the nodes compute."""
        return [index for node in self.steps for index in node.outputs if index >= 0]

    def cut(self, start: int, stop: int) -> Cut:
        """Return the model with the steps from ``start`` up to ``stop``, without ``stop``.

        Its inputs are the tensors that the part reads, and its outputs are the tensors that leave the part. The names of inputs
        and outputs are ``input_0``, ``output_0`` and so on. Raise FixError if the model cannot be written.
        """
        inside = self.steps[start:stop]
        inputs, outputs = self._ends(start, stop)
        read = {index for node in inside for index in node.inputs}
        ends = set(self.graph.outputs)
        weights: dict[int, WorkCount] = {}
        aliases: dict[int, int] = {}

        def change(editor: Editor) -> None:
            if editor.subgraph.index != self.graph.index:
                return
            work = Work(editor, None, weights)
            kept = {node.index for node in inside} | {node.index for node in self.needed(inside)}
            editor.nodes = [pair for pair in editor.nodes if pair[0] in kept]
            for index in outputs:
                tensor = editor.tensor(index)
                if index in read and index not in ends and not work.is_open(tensor):
                    # A tensor that nodes read must not become an output, because a delegate may merge such nodes wrongly.
                    aliases[index] = work.result(tensor, "copy")
                    editor.nodes.append((-1, work.reshape(index, aliases[index])))
            editor.inputs = list(inputs)
            editor.outputs = [aliases.get(index, index) for index in outputs]

        changed = edited(self._model, change)
        signature = Signature(
            _KEY,
            self.graph.index,
            {f"input_{place}": index for place, index in enumerate(inputs)},
            {f"output_{place}": aliases.get(index, index) for place, index in enumerate(outputs)},
        )
        others = [own for own in self._model.signatures if own.subgraph != self.graph.index and own.key != _KEY]
        model = changed.model.with_same_bytes(signatures=(signature, *others))
        content = b"".join(map(bytes, write(self._model, Edited(model, changed.origins, changed.original), weights)))
        entry = EntryPoint(_KEY, self.graph.index, tuple(signature.inputs.items()), tuple(signature.outputs.items()))
        return Cut(load(content), entry, tuple(inputs), tuple(outputs))

    def _ends(self, start: int, stop: int) -> tuple[list[int], list[int]]:
        inside = self.steps[start:stop]
        written = dict.fromkeys([index for node in inside for index in node.outputs if index >= 0])
        read = dict.fromkeys([index for node in inside for index in node.inputs if index >= 0])
        inputs = [index for index in read if index not in written and self._is_passed(index)]
        later = {index for node in self.steps[stop:] for index in node.inputs}.union(self.graph.outputs)
        return inputs, [index for index in written if index in later]

    def _is_passed(self, index: int) -> bool:
        return not self.graph.tensors[index].is_constant and index not in self._static

    def needed(self, inside: Sequence[Node]) -> Iterator[Node]:
        """Yield the nodes of constants that some nodes need."""
        needed = {index for node in inside for index in node.inputs}
        for node in reversed(self._static_nodes):
            if not needed.isdisjoint(node.outputs):
                needed.update(node.inputs)
                yield node


def _static_tensors(graph: Graph) -> set[int]:
    """Return the results of nodes that only read constants, such as widened float16 weights, without outputs of the graph."""
    static: set[int] = set()
    for node in graph.nodes:
        inputs = [index for index in node.inputs if index >= 0]
        are_known = all(graph.tensors[index].is_constant or index in static for index in inputs)
        if inputs and are_known and not set(node.outputs) & set(graph.outputs):
            static.update(node.outputs)
    return static


RIGHT, WRONG, FAILED = "right", "wrong", "failed"
"""Outcomes of a part: its outputs are right or wrong, or it does not run."""
_NEIGHBORS = 4
"""The number of neighboring parts to try if a part gives no answer."""

Judge = Callable[[int, int], str]
"""A function that runs the steps from a start up to a stop, with right inputs, and returns the outcome."""


class Window(NamedTuple):
    """The steps at fault. The steps before ``last`` give right results, and the steps up to ``last`` do not."""

    first: int
    """The first step that is needed for the outcome. Equal to ``last`` if the last step alone has the outcome."""
    last: int
    is_narrow: bool = True
    """False if parts did not run, so that the step at fault is one of those from ``first`` to ``last``."""


def find_window(count: int, outcome: str, judge: Judge) -> Window:
    """Return the first steps with an outcome, which is ``WRONG`` or ``FAILED``. All ``count`` steps together have it.

    The number of runs grows with the logarithm of ``count``. If only wrong steps are wanted, a part that does not run gives no
    answer.
    """
    good, bad = 0, count
    while bad - good > 1:
        middle = _split(good, bad, lambda stop: judge(0, stop), outcome)
        if middle is None:
            return Window(good, bad - 1, is_narrow=False)
        step, is_bad = middle
        good, bad = (good, step) if is_bad else (step, bad)
    return Window(_first(bad, outcome, judge), bad - 1)


def _split(good: int, bad: int, judge: Callable[[int], str], outcome: str) -> tuple[int, bool] | None:
    """Return a step between two steps, and whether it has the outcome. Return None if no step gives an answer."""
    for step in _near((good + bad) // 2, good, bad):
        answer = judge(step)
        if answer != FAILED or outcome == FAILED:
            return step, answer == outcome
    return None


def _near(middle: int, low: int, high: int) -> Iterator[int]:
    for distance in range(_NEIGHBORS):
        for step in dict.fromkeys((middle + distance, middle - distance)):
            if low < step < high:
                yield step


def _first(stop: int, outcome: str, judge: Judge) -> int:
    """Return the latest step from which the steps up to ``stop`` have the outcome.

    The step before ``stop`` is tried first, then windows of double size.
    """
    right, start, size = stop, stop - 1, 1
    while start > 0 and judge(start, stop) != outcome:
        size *= 2
        right, start = start, max(stop - size, 0)
    while right - start > 1:
        middle = (start + right) // 2
        if judge(middle, stop) == outcome:
            start = middle
        else:
            right = middle
    return start
