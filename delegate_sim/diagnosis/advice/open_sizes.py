"""Sizes of a model's inputs that the file leaves open, as the reason why a model cannot be prepared."""

from __future__ import annotations

from ...errors import DelegateSimError
from ...fixing.given_shapes import with_shapes
from ...graph.effort import Effort
from ...hypothetical.fixed_inputs import open_inputs
from ...model.model import Model, Tensor
from ...runtime.interpreter import simulate
from ...runtime.target import Target
from ..causes.change import result_words
from ..examiner import Examined
from .plain_fix import shapes_command

_TRIED = (32, 64, 128, 256)
"""Sizes that are tried for dimensions that the file leaves open."""
_TOLD = 3


def open_sizes_text(model: Model, target: Target, code: str, effort: Effort) -> str:
    """Return the change of open input sizes after which a target no longer refuses a model with a code, or "" if none is found.

    The first dimension of an input keeps its stored size. All other open dimensions get the same size. ``effort`` limits the
    number of sizes that are tried.
    """
    every = open_inputs(model)
    inputs = [tensor for tensor in every if -1 in (tensor.shape_signature or ())[1:]]
    for size in effort.limit(_TRIED if inputs else ()):
        effort.spend(target.effort)
        shapes = {tensor.index: _with_size(tensor, size) for tensor in every}
        try:
            change = with_shapes(model, shapes, target.release)
            run = simulate(change.model, target)
        except DelegateSimError:
            return ""
        if run.refusal is None or run.refusal.code != code:
            result = result_words(Examined(run, change).cost)
            command = shapes_command([(tensor.name, shapes[tensor.index]) for tensor in every])
            return (
                f"the file leaves sizes open: {_stored(inputs)}. {command} fixes sizes, here with the "
                f"simulated result {result}. Or resize the inputs before you apply the delegate"
            )
    return ""


def _with_size(tensor: Tensor, size: int) -> tuple[int, ...]:
    signature = tensor.shape_signature or tensor.shape
    further = [size if given < 0 else given for given in signature[1:]]
    return (tensor.shape[0], *further)


def _stored(inputs: list[Tensor]) -> str:
    return ", ".join([f"{tensor.name} is stored as {list(tensor.shape)}" for tensor in inputs[:_TOLD]])
