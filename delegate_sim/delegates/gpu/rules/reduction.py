"""Reductions and running sums."""

from __future__ import annotations

from collections.abc import Mapping

from ...gpu_compatibility import arithmetic
from ...gpu_compatibility.checks import COMPATIBILITY
from ..build.reader import NodeReader, Parser, gpu_axis, parse_one_to_one, with_size
from .checks import UP_TO_1, gpu_rule

_REDUCTION = gpu_rule("ReduceOperationParser", *arithmetic.REDUCTION)

RULES = {
    "CUMSUM": gpu_rule(
        "CumsumOperationParser",
        *arithmetic.CUMSUM,
        version_in=UP_TO_1,
        cases=(COMPATIBILITY, COMPATIBILITY.with_symbol("CheckCumsumGpuDelegateCompatibility")),
    ),
    "MEAN": gpu_rule("MeanOperationParser", *arithmetic.MEAN),
    "REDUCE_MAX": _REDUCTION,
    "REDUCE_MIN": _REDUCTION,
    "REDUCE_PROD": _REDUCTION,
    "SUM": _REDUCTION,
}


# Building the model


def parse_reduction(reader: NodeReader) -> None:
    """Parse a reduction (``ReduceOperationParser``). If keep_dims is off, add a RESHAPE."""
    operation = reader.add(reader.view.op)
    shape = reader.add_input(operation, 0).shape
    for axis in _axes(reader):
        shape = with_size(shape, axis, 1)
    if reader.view.options.keep_dims:
        reader.add_outputs(operation)
    else:
        reader.add_reshaped_output(operation, shape, 0)


def parse_mean(reader: NodeReader) -> None:
    """Parse MEAN (``MeanOperationParser``)."""
    reader.add_one_to_one("MEAN")
    _axes(reader)


def _axes(reader: NodeReader) -> list[int]:
    axes = reader.view.value(reader.view.input(1))
    assert axes is not None  # the rules require a constant INT32
    source = reader.view.input(0)
    return [gpu_axis(source, axis) for axis in axes[: reader.view.input(1).element_count].tolist()]


PARSERS: Mapping[str, Parser] = {
    "CUMSUM": parse_one_to_one,
    "MEAN": parse_mean,
    "REDUCE_MAX": parse_reduction,
    "REDUCE_MIN": parse_reduction,
    "REDUCE_PROD": parse_reduction,
    "SUM": parse_reduction,
}
