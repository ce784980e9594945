"""Differences in how older runtime releases read a file: which tensors are constant.

Source: ``InterpreterBuilder::ParseTensors`` (``core/interpreter_builder.cc``) of TensorFlow; measured with its wheels, which give
out the value of a constant before tensors are allocated.
"""

from __future__ import annotations

from dataclasses import replace

from ..model.model import Allocation, Model, Tensor
from ..releases.catalogue import Release, parse_release

_EMPTY_CONSTANTS = parse_release("tf-2.11")
"""Since when a buffer with data of no bytes makes a constant."""

_OFFSETS = parse_release("tf-2.14")
"""Since when bytes behind the flatbuffer are looked for."""


def as_read_by(model: Model, release: Release) -> Model:
    """Return the model with the constants that a release knows as such, the same model if these are all."""
    has_offsets, has_empty = release.is_at_least(_OFFSETS), release.is_at_least(_EMPTY_CONSTANTS)
    if has_empty and (has_offsets or not model.offset_buffers):
        return model

    def is_unread(tensor: Tensor) -> bool:
        if tensor.data is None:
            return False
        return (not has_empty and not tensor.data[1]) or (not has_offsets and tensor.buffer in model.offset_buffers)

    if not any(is_unread(tensor) for subgraph in model.subgraphs for tensor in subgraph.tensors):
        return model
    subgraphs = [
        replace(subgraph, tensors=tuple([_computed(tensor) if is_unread(tensor) else tensor for tensor in subgraph.tensors]))
        for subgraph in model.subgraphs
    ]
    return model.with_same_bytes(subgraphs=tuple(subgraphs))


def _computed(tensor: Tensor) -> Tensor:
    """Return the tensor as one that some node computes, though none does."""
    return tensor._replace(data=None, allocation=Allocation.VARIABLE if tensor.is_variable else Allocation.ARENA)
