"""Instructions for converting a model with inputs of fixed sizes."""

from __future__ import annotations

from collections.abc import Sequence

from ...hypothetical.fixed_inputs import open_inputs
from ...model.model import Model, Tensor

HOW_FIXED = (
    "in TensorFlow from a concrete function whose tf.TensorSpec has no None, in PyTorch by an export without dynamic shapes; the "
    "converter then computes everything that depends on the shapes"
)
_INPUTS_TOLD = 3


def fixed_inputs_change(model: Model) -> str:
    """Return the instructions for a model that has inputs of unknown size."""
    inputs = open_inputs(model)
    only_batch = all(-1 not in (tensor.shape_signature or ())[1:] for tensor in inputs)
    how = "a fixed batch" if only_batch else "inputs of fixed sizes"
    return f"convert with {how}, such as {sizes(inputs)}: {HOW_FIXED}"


def sizes(tensors: Sequence[Tensor]) -> str:
    """Return the names and shapes of the first tensors."""
    return ", ".join([f"{tensor.name} {list(tensor.shape)}" for tensor in tensors[:_INPUTS_TOLD]])


def unknown_sizes(tensors: Sequence[Tensor]) -> str:
    """Return the names and shapes of the first tensors, in which -1 is an unknown size."""
    named = [f"{tensor.name} {list(tensor.shape_signature or ())}" for tensor in tensors[:_INPUTS_TOLD]]
    return ", ".join(named) + (", ..." if len(tensors) > _INPUTS_TOLD else "")
