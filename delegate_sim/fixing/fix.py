"""Write a fixed model, once it is shown to compute the same and to be analyzed as predicted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import FixError, ModelError
from ..foundation.files import write_chunks
from ..foundation.printable import printable
from ..inference.difference import Continuation, Difference, check_installed, compare
from ..inference.inputs import InputArray, from_file, made_up
from ..model import schema
from ..model.model import Model
from ..model.reader import load
from .flatbuffer.model_writing import write
from .passes.base import Exactness
from .score import standing
from .search import FixPlan
from .splitting import Split, second_model

SAMPLES = 2
"""Inputs that are made up, besides the user's."""
ROUNDING = 1e-3
"""The greatest error that rounding explains, as a share of the greatest value of an output."""
QUANTIZED_ROUNDING = 2e-2
"""The same where activations are quantized on the way, so that an error of rounding can become one of a whole step."""
STEPS = 2
"""The greatest error that rounding explains in an output that is stored as integers with a scale."""
_MOST_BYTES = 1 << 30
"""Between nodes is compared what takes at most so much memory in one model."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """What a search found, the file that was written, and how it compares with the original; None if that was not asked for."""

    plan: FixPlan
    path: str | None
    size: int = 0
    difference: Difference | None = None
    second_path: str | None = None
    """The file of the trailing nodes, None where the model was not split."""
    second_size: int = 0

    @property
    def unread_bytes(self) -> int:
        """Bytes of constants in the file that nodes of the original read, and none of the rewritten model does."""
        before, after = (_read_data(model) for model in (self.plan.model, self.plan.rewritten.model))
        return sum(size for _, size in before - after)


def fix(
    plan: FixPlan, path: str, *, replaces: bool = False, proves: bool = True, data: Sequence[str] = (), samples: int = SAMPLES
) -> Fixed:
    """Write the rewritten model of a plan.

    Both models are run on inputs that are made up and on those of .npz files (``data``). Nothing is written unless they compare
    as the passes promise, and the file is analyzed as the plan says. Raises FixError with what stands against it, OSError where
    the file cannot be written, MissingPackageError without the runtime, OptionError for inputs that do not fit.
    """
    model = plan.model
    second_path = None if plan.split is None else second_path_of(path)
    check_free(model, [path] if second_path is None else [path, second_path], replaces=replaces)
    if not plan.is_changed:
        raise FixError("no pass makes the model better, so there is nothing to write")
    if proves:
        check_installed()
    found: list[Difference | None] = [None]

    def check(first: str, then: Continuation | None = None) -> None:
        _check_foretold(plan, first)
        if proves:
            found[0] = prove(plan, first, data, samples, then)

    def check_first(first: str) -> None:
        split = plan.split
        if split is None or second_path is None:
            check(first)
            return
        chunks, numbers = second_model(split)
        write_chunks(second_path, chunks, lambda second: check(first, continuation(split, second, numbers)))

    write_chunks(path, write(model, plan.rewritten.change, plan.rewritten.weights), check_first)
    second_size = 0 if second_path is None else os.path.getsize(second_path)
    return Fixed(plan, path, os.path.getsize(path), found[0], second_path, second_size)


def second_path_of(path: str) -> str:
    """Return where the trailing nodes go: ``fixed.tail.tflite`` beside ``fixed.tflite``."""
    stem, ending = os.path.splitext(path)
    return f"{stem}.tail{ending}"


def check_free(model: Model, paths: Sequence[str], *, replaces: bool) -> None:
    """Raise FixError if a file that is to be written is the model, or exists and is not to be replaced."""
    for path in filter(os.path.exists, paths):
        if model.path is not None and os.path.exists(model.path) and os.path.samefile(path, model.path):
            raise FixError(printable(f"{path}: is the model itself, which is never written over"))
        if not replaces:
            raise FixError(printable(f"{path}: exists already; --force replaces it"))


def continuation(split: Split, path: str, numbers: Mapping[int, int]) -> Continuation:
    """Return how the second model goes on where the first one ends."""
    graph = split.whole.model.subgraphs[0]
    inputs = [
        (False, graph.inputs.index(index)) if index in graph.inputs else (True, split.first_outputs.index(index))
        for index in split.inputs
    ]
    outputs = [
        (1, split.outputs.index(index)) if index in split.outputs else (0, split.first_outputs.index(index))
        for index in graph.outputs
    ]
    written = {index: numbers[index] for node in split.nodes for index in node.outputs if index >= 0}
    return Continuation(path, tuple(inputs), tuple(outputs), written)


def _check_foretold(plan: FixPlan, path: str) -> None:
    """Raise FixError unless the file is analyzed as the plan says."""
    try:
        model = load(path)
    except ModelError as error:
        raise FixError(f"the rewritten file cannot be read ({error}): please report this") from error
    for foretold in plan.after:
        found = standing(model, foretold.target)
        if found != foretold:
            raise FixError(
                f"the rewritten file is not analysed as foretold for {foretold.target.delegate.name}: please report this"
            )


def _read_data(model: Model) -> frozenset[tuple[int, int]]:
    """Return where the constants are that nodes or outputs read."""
    return frozenset(
        [
            data
            for graph in model.subgraphs
            for index in {*graph.outputs, *(index for node in graph.nodes for index in (*node.inputs, *node.intermediates))}
            if index >= 0 and (data := graph.tensors[index].data) is not None
        ]
    )


def prove(
    plan: FixPlan, path: str, data: Sequence[str] = (), samples: int = SAMPLES, then: Continuation | None = None
) -> Difference:
    """Run the model and its rewritten form; raises FixError unless they compare as the passes promise.

    ``then`` is the model of trailing nodes, which runs behind the first.
    """
    model = plan.model
    graph = model.subgraphs[0]
    inputs: list[Sequence[InputArray]] = [from_file(each, model, graph) for each in data]
    inputs += [made_up(model, graph, seed, plan.shapes) for seed in range(samples)]
    found = compare(model, load(path), inputs, corresponding(model, plan.whole.model), then=then)
    if found.unsteady and plan.exactness < Exactness.APPROXIMATE:
        raise FixError(
            printable(
                f"the runtime computes {found.unsteady!r} of the original model differently from run to run on this CPU, so "
                "nothing can be shown of the rewritten one; --no-proof writes it all the same"
            )
        )
    fault = _fault(plan, found)
    if fault:
        raise FixError(printable(f"nothing is written, as the rewritten model does not compute the same: {fault}"))
    return found


def corresponding(model: Model, other: Model) -> dict[int, str]:
    """Return the tensors, with their names, that nodes of the first subgraph write in both models at the same index.

    Left out is what nothing reads: a loop may leave anything there. Where they would take too much memory there are none.
    """
    first, second = model.subgraphs[0], other.subgraphs[0]
    written = {index for node in second.nodes for index in node.outputs}
    written &= {index for node in first.nodes for index in node.inputs} | set(first.outputs)
    found = {}
    size = 0
    for node in first.nodes:
        for index in node.outputs:
            kind = first.tensors[index].type
            if index in written and kind == second.tensors[index].type and kind in schema.NUMPY_TYPES:
                found[index] = first.tensors[index].name
                size += second.tensors[index].byte_size
    return found if size <= _MOST_BYTES else {}


def _fault(plan: FixPlan, found: Difference) -> str:
    """Return what shows that a pass does not keep its promise, empty if nothing does."""
    if found.problem:
        return found.problem
    if plan.exactness == Exactness.EXACT:
        wrong = next((each for each in (*found.tensors, *found.outputs) if each.bits and not each.unsteady), None)
        if wrong is None:
            return ""
        return f"its passes are exact, but {wrong.bits:,} of {wrong.elements:,} elements of {wrong.name!r} differ"
    if plan.exactness == Exactness.APPROXIMATE:
        return ""
    graph = plan.model.subgraphs[0]
    limit = QUANTIZED_ROUNDING if _quantizes(plan.model) else ROUNDING
    for each, index in zip(found.outputs, graph.outputs, strict=True):
        if graph.tensors[index].scale > 0:
            if each.greatest > STEPS:
                return f"output {each.name!r} differs by {each.greatest:g} steps, too much for rounding ({STEPS})"
        elif each.relative > limit:
            return f"output {each.name!r} differs by {each.greatest:.3g}, {each.relative:.2%} of its range, too much for rounding"
    return ""


def _quantizes(model: Model) -> bool:
    return any(
        tensor.quantization is not None and tensor.type in ("INT8", "UINT8", "INT16", "INT4")
        for subgraph in model.subgraphs
        for tensor in subgraph.tensors
    )
