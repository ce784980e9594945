"""Constants of a model file that older releases of the runtime do not treat as constants.

Source: ``InterpreterBuilder::ParseTensors`` (``core/interpreter_builder.cc``) of TensorFlow. The releases were measured with
TensorFlow's wheels.
"""

from __future__ import annotations

from dataclasses import replace

from ..model.model import Allocation, Model, Tensor
from ..releases.catalogue import Release, parse_release

_EMPTY_CONSTANTS = parse_release("tf-2.11")
"""Since this release, a tensor with an empty data buffer is a constant."""

_OFFSETS = parse_release("tf-2.14")
"""The first release that reads buffers stored after the flatbuffer."""


def as_read_by(model: Model, release: Release) -> Model:
    """Return the model as a release reads it.

    Constants that the release does not recognize become computed tensors. If there are no such constants, return the given
    model itself.
    """
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
    """Return a copy of the tensor without data, as if a node computes the tensor."""
    return tensor._replace(data=None, allocation=Allocation.VARIABLE if tensor.is_variable else Allocation.ARENA)
