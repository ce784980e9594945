"""Parsers of reductions and sums along an axis (``delegates/gpu/common/model_builder.cc``)."""

from __future__ import annotations

from .reader import NodeReader, gpu_axis, with_size


def parse_reduction(reader: NodeReader) -> None:
    """``ReduceOperationParser``: without keep_dims, a RESHAPE follows."""
    operation = reader.add(reader.view.op)
    shape = reader.add_input(operation, 0).shape
    for axis in _axes(reader):
        shape = with_size(shape, axis, 1)
    if reader.view.options.keep_dims:
        reader.add_outputs(operation)
    else:
        reader.add_reshaped_output(operation, shape, 0)


def parse_mean(reader: NodeReader) -> None:
    """``MeanOperationParser``."""
    reader.add_one_to_one("MEAN")
    _axes(reader)


def _axes(reader: NodeReader) -> list[int]:
    axes = reader.view.value(reader.view.input(1))
    assert axes is not None  # the rules demand a constant INT32
    source = reader.view.input(0)
    return [gpu_axis(source, axis) for axis in axes[: reader.view.input(1).element_count].tolist()]
