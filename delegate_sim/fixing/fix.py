"""Write a rewritten model, after proving its results and comparing its analysis with the prediction."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import FixError, ModelError, NotRunningError
from ..foundation.columns import INTEGER, LIST, OBJECT, Column, attributes, entry, head, within
from ..foundation.files import write_chunks
from ..foundation.outputs import OutputFile, check_output, is_device
from ..foundation.printable import printable
from ..graph.reachability import subgraphs_from
from ..inference.difference import Continuation, Difference, SignatureInputs, TensorDifference, check_installed, compare
from ..inference.inputs import InputArray, edge_inputs, from_file, generated_inputs
from ..model import schema
from ..model.model import Model, Tensor
from ..model.reader import load
from ..results.report.display import Times
from ..results.report.tables import NOT_SIMULATED, STATE, run_columns
from .descent import FixStep, Trial
from .flatbuffer.model_writing import write
from .passes.base import EXACTNESS, Exactness
from .score import Standing
from .search import Conflict, FixPlan, unregistered_text
from .splitting import Split, second_model

if TYPE_CHECKING:
    from ..results.report.display import Times

SAMPLES = 2
"""Number of random inputs for the comparison of the models, in addition to the user's inputs, if all passes are exact."""
SAMPLES_OF_BOUNDS = 32
"""Number of random inputs if outputs may differ. The largest error of these inputs is the bound that the output names."""
_SECONDS_OF_BOUNDS = 30.0
"""The time limit for these inputs, in seconds. Two inputs always run."""
_BYTES_OF_BOUNDS = 64 << 20
"""Largest total size of these inputs, in bytes."""
ROUNDING = 1e-3
"""Largest error that is accepted as rounding, as a share of the output's largest value."""
QUANTIZED_ROUNDING = 2e-2
"""The value of ``ROUNDING`` for models with quantized activations.

In a quantized model, a rounding error can become a whole quantization step.
"""
STEPS = 2
"""Largest error in a quantized integer output that is accepted as rounding, in quantization steps."""
_MOST_KEPT_BYTES = 384 << 20
"""Largest total size, in bytes, of the intermediate tensors of the two models.

The runtime keeps all these tensors for the comparison.
"""


@dataclass(frozen=True, slots=True)
class Fixed:
    """The plan, and the written file.

    ``difference`` compares the results of the written file with the results of the original model. It is None if the proof was
    skipped.
    """

    plan: FixPlan
    path: str | None
    size: int = 0
    difference: Difference | None = None
    second_path: str | None = None
    """Path of the second model file, which has the trailing nodes. None if the model was not split."""
    second_size: int = 0
    times: tuple[Times, ...] = ()
    """For each target, the measured times of the unchanged model, and bounds on the time that the fix can save.

    Empty if the user gave no op profiles.
    """

    @property
    def unread_bytes(self) -> int:
        """Number of bytes of constants in the rewritten file that no node reads."""
        before, after = (_read_data(model) for model in (self.plan.model, self.plan.rewritten.model))
        return sum(size for _, size in before - after)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data (schema ``delegate-sim/fix/3``)."""
        return fix_document(self.plan, self, self.times or None)


def fix(
    plan: FixPlan,
    path: str,
    *,
    replaces: bool = False,
    proves: bool = True,
    data: Sequence[str] = (),
    samples: int | None = None,
) -> Fixed:
    """Write the rewritten model of a plan.

    If ``proves`` is true, the original and the rewritten model are run on random inputs and on the inputs in the .npz files
    ``data``. ``samples`` is the number of random inputs. By default, it is ``SAMPLES`` if all passes are exact, and otherwise at
    most ``SAMPLES_OF_BOUNDS``.

    Raise FixError if the outputs differ more than the passes promise, or if the file's analysis differs from the plan's
    prediction. No file is then written. Raise OSError if the file cannot be written. Raise MissingPackageError if the runtime
    is not installed. Raise OptionError for inputs that do not fit the model.
    """
    model = plan.model
    second_path = None if plan.split is None else second_path_of(path)
    for output in [path] if second_path is None else [path, second_path]:
        check_output(OutputFile(output, is_forced=replaces), [model.path] if model.path else ())
    if not plan.is_changed:
        raise FixError("nothing is written, because no pass improves the model")
    if proves:
        check_installed()
    differences: list[Difference | None] = [None]
    second_size = 0

    def check(first: str, then: Continuation | None = None) -> None:
        _check_prediction(plan, first)
        if proves:
            try:
                differences[0] = prove(plan, first, data, samples, then)
            except NotRunningError as error:
                # The models run here without the application, so its operators are not registered.
                own = [target._replace(assume_ops_registered=False) for target in plan.targets]
                text = unregistered_text(model, own[0]) if own else ""
                raise FixError(
                    f"{text}; --no-proof writes the file without running the models" if text else str(error)
                ) from error

    def check_first(first: str) -> None:
        nonlocal second_size
        split = plan.split
        if split is None or second_path is None:
            check(first)
            return
        chunks, numbers = second_model(split)
        second_size = write_chunks(
            second_path, chunks, lambda second: check(first, continuation(split, second, numbers)), replaces=replaces
        )

    size = write_chunks(path, write(model, plan.rewritten.change, plan.rewritten.weights), check_first, replaces=replaces)
    return Fixed(plan, path, size, differences[0], second_path, second_size)


def second_path_of(path: str) -> str:
    """Return the path of the model of trailing nodes, for example ``fixed.tail.tflite`` for ``fixed.tflite``."""
    if is_device(path):
        return path
    stem, ending = os.path.splitext(path)
    return f"{stem}.tail{ending}"


def continuation(split: Split, path: str, numbers: Mapping[int, int]) -> Continuation:
    """Return the second model, and the names and indices that connect it to the whole model.

    The result has the whole model's inputs and outputs, and the index of each tensor in the second model.
    """
    graph = split.whole.model.subgraphs[0]
    whole, first, last = map(_positions, (graph.inputs, split.first_outputs, split.outputs))
    inputs = [(False, whole[index]) if index in whole else (True, first[index]) for index in split.inputs]
    outputs = [(1, last[index]) if index in last else (0, first[index]) for index in graph.outputs]
    written = {index: numbers[index] for node in split.nodes for index in node.outputs if index >= 0}
    return Continuation(path, tuple(inputs), tuple(outputs), written)


def _positions(indices: Sequence[int]) -> Mapping[int, int]:
    return {index: position for position, index in reversed([*enumerate(indices)])}


def _check_prediction(plan: FixPlan, path: str) -> None:
    try:
        model = load(path)
    except ModelError as error:
        raise FixError(f"the rewritten file cannot be read ({error}): please report this") from error
    for name in plan.differing(model):
        raise FixError(f"the analysis of the rewritten file differs from the prediction for {name}: please report this")


def _read_data(model: Model) -> frozenset[tuple[int, int]]:
    return frozenset(
        [
            data
            for graph in model.subgraphs
            for index in {*graph.outputs, *(index for node in graph.nodes for index in (*node.inputs, *node.intermediates))}
            if index >= 0 and (data := graph.tensors[index].data) is not None
        ]
    )


def prove(
    plan: FixPlan, path: str, data: Sequence[str] = (), samples: int | None = None, then: Continuation | None = None
) -> Difference:
    """Compare the results of the original and the rewritten model of a plan, and return the difference.

    If the plan splits the model, ``then`` is the second model, which runs after the rewritten model. Raise FixError if the
    results differ more than the passes promise.
    """
    model = plan.model
    graph = model.subgraphs[0]
    seconds = _SECONDS_OF_BOUNDS if samples is None else None
    samples = _default_samples(plan) if samples is None else samples
    inputs: list[Sequence[InputArray]] = [from_file(sample, model, graph) for sample in data]
    inputs += [generated_inputs(model, graph, seed, plan.shapes) for seed in range(samples)]  # bounded: a number from the user
    difference = compare(
        model,
        load(path),
        inputs,
        corresponding(model, plan.whole.model),
        then=then,
        edges=edge_inputs(model, graph, plan.shapes) if samples else (),
        signatures=_signature_inputs(plan, samples),
        seconds=seconds,
    )
    if difference.unsteady and plan.exactness < Exactness.APPROXIMATE:
        raise FixError(
            printable(
                f"the rewritten model cannot be compared, because the values of {difference.unsteady!r} in the original model "
                "differ from run to run on this CPU; use --no-proof to write the rewritten model without a comparison"
            )
        )
    fault = _fault(plan, difference)
    if fault:
        raise FixError(printable(f"nothing is written, because the outputs of the rewritten model differ: {fault}"))
    return difference


def _default_samples(plan: FixPlan) -> int:
    if plan.exactness is Exactness.EXACT:
        return SAMPLES
    graph = plan.whole.model.subgraphs[0]
    size = sum([graph.tensors[index].byte_size for index in graph.inputs if index >= 0])
    return max(SAMPLES, min(SAMPLES_OF_BOUNDS, _BYTES_OF_BOUNDS // max(size, 1)))


def _signature_inputs(plan: FixPlan, samples: int) -> list[SignatureInputs]:
    model, now = plan.model, plan.whole.model
    changed = {
        index for index, (old, new) in enumerate(zip(model.subgraphs, now.subgraphs, strict=True)) if old.nodes != new.nodes
    }
    inputs = []
    for signature in model.signatures:
        if not signature.subgraph or changed.isdisjoint(subgraphs_from(model, [signature.subgraph])):
            continue
        graph = model.subgraphs[signature.subgraph]
        names = {index: name for name, index in signature.inputs.items()}
        if not set(graph.inputs) <= names.keys():
            raise FixError(printable(f"signature {signature.key!r} cannot be run, because it does not name all its inputs"))
        inputs.append(
            SignatureInputs(
                signature.key,
                tuple([names[index] for index in graph.inputs]),
                tuple(signature.outputs),
                [generated_inputs(model, graph, seed, {}) for seed in range(max(samples, 1))],  # bounded: the user's number
                edge_inputs(model, graph, {}) if samples else (),
            )
        )
    return inputs


def _outputs(plan: FixPlan, count: int) -> list[Tensor]:
    model = plan.model
    graph = model.subgraphs[0]
    tensors = [graph.tensors[index] for index in graph.outputs]
    for inputs in _signature_inputs(plan, 0) if count > len(tensors) else ():
        signature = next(candidate for candidate in model.signatures if candidate.key == inputs.key)
        own = model.subgraphs[signature.subgraph].tensors
        tensors += [own[index] for index in signature.outputs.values()]
    return tensors


def corresponding(model: Model, other: Model) -> dict[int, str]:
    """Return the names of tensors in the first subgraph that nodes of both models write, keyed by index.

    Tensors without a reader are omitted, because a loop may write any values into them. If the tensors would take too much
    memory, the result is empty.
    """
    first, second = model.subgraphs[0], other.subgraphs[0]
    written = {index for node in second.nodes for index in node.outputs}
    written &= {index for node in first.nodes for index in node.inputs} | set(first.outputs)
    tensors = {}
    for node in first.nodes:
        for index in node.outputs:
            kind = first.tensors[index].type
            if index in written and kind == second.tensors[index].type and kind in schema.NUMPY_TYPES:
                tensors[index] = first.tensors[index].name
    kept = [own.tensors[index].byte_size for own in (first, second) for node in own.nodes for index in node.outputs]
    return tensors if sum(kept) <= _MOST_KEPT_BYTES else {}


def _fault(plan: FixPlan, difference: Difference) -> str:
    """Describe how the results break the promise of a pass. The text is empty if they keep the promise."""
    if difference.problem:
        return difference.problem
    if plan.exactness == Exactness.EXACT:
        return _broken_bits(plan, difference)
    if plan.exactness == Exactness.APPROXIMATE:
        return ""
    limit = QUANTIZED_ROUNDING if _quantizes(plan.model) else ROUNDING
    for output, tensor in zip(difference.outputs, _outputs(plan, len(difference.outputs)), strict=True):
        if tensor.scale > 0:
            if output.greatest > STEPS:
                return (
                    f"output {output.name!r} differs by {output.greatest:g} quantization steps, too much for rounding ({STEPS})"
                )
        elif output.relative > limit:
            share = f"{output.relative:.2%} of its range"
            return f"output {output.name!r} differs by {output.greatest:.3g}, {share}, which is too much for rounding"
    return ""


def _broken_bits(plan: FixPlan, difference: Difference) -> str:
    """Describe the bits that differ between the results of the models. The text is empty if no bits differ.

    Only plans with exact passes are checked.
    """
    tensors = (*difference.tensors, *difference.outputs)
    wrong: TensorDifference | None = next((tensor for tensor in tensors if tensor.bits and not tensor.unsteady), None)
    where = ""
    edges = difference.edges
    if wrong is None and edges is not None and not plan.holds_for:
        if edges.refused:
            return f"the passes are exact, but on extreme values {edges.refused}"
        wrong, where = edges.wrong, " on extreme values"
    if wrong is None:
        return ""
    return f"the passes are exact, but{where} {wrong.bits:,} of {wrong.elements:,} elements of {wrong.name!r} differ"


def _quantizes(model: Model) -> bool:
    return any(
        tensor.quantization is not None and tensor.type in ("INT8", "UINT8", "INT16", "INT4")
        for subgraph in model.subgraphs
        for tensor in subgraph.tensors
    )


class _Moved(NamedTuple):
    before: Standing
    after: Standing


_TARGET = (
    *(*within("before", run_columns("delegate", "runtime", "options")), *within("after", STATE)),
    *[Column(side, OBJECT, parts=Standing.columns) for side in ("before", "after")],
)
_SPLIT = (
    Column("written", source="fixed.second_path"),
    Column("operators", LIST, source=lambda own: [node.custom_code or node.op for node in own.plan.split.nodes]),
    Column("between", LIST, source="plan.split.between", parts=(*attributes("name", "type"), Column("shape", LIST))),
)


class _Fix(NamedTuple):
    plan: FixPlan
    fixed: Fixed | None
    times: Sequence[Times] | None = None


FIX = (
    *(Column("model", source="plan.model.path"), Column("written", source="fixed.path")),
    *within("plan", [Column("allowed", source="allowed.key"), EXACTNESS, Column("shapes", LIST, source="shape_entries")]),
    Column("targets", LIST, source=lambda own: map(_Moved, own.plan.before, own.plan.after), parts=_TARGET),
    Column("time", LIST, source="times", is_optional=True),
    Column("passes", LIST, source="plan.steps", parts=FixStep.columns),
    Column("not_kept", LIST, source="plan.rejected", parts=Trial.columns),
    Column("conflicts", LIST, source="plan.conflicts", parts=Conflict.columns),
    Column("with_shapes", OBJECT, source="plan.with_shapes", parts=[Column("shapes", source="shape_entries"), Column("after")]),
    *within("plan", [Column("simulations", INTEGER), NOT_SIMULATED]),
    Column("unread_bytes", INTEGER, source=lambda own: own.fixed.unread_bytes if own.fixed and own.fixed.path else None),
    Column("split", OBJECT, source=lambda own: own if own.plan.split else None, parts=_SPLIT),
    Column("difference", OBJECT, source="fixed.difference", parts=Difference.columns),
)
"""The columns of a fix."""


def fix_document(plan: FixPlan, fixed: Fixed | None, times: Sequence[Times] | None = None) -> dict[str, Any]:
    """Return the result of a fix as plain data (schema ``delegate-sim/fix/3``)."""
    return {**head("fix"), **entry(FIX, _Fix(plan, fixed, times))}


def fixes_document(
    path: str, results: Sequence[tuple[FixPlan, Fixed | None]], times: Sequence[Sequence[Times] | None]
) -> dict[str, Any]:
    """Return fixes for single targets as plain data (schema ``delegate-sim/fix-per-target/1``)."""
    fixes = [fix_document(plan, fixed, own) for (plan, fixed), own in zip(results, times, strict=True)]
    return {**head("fix-per-target"), "model": path, "fixes": fixes}
