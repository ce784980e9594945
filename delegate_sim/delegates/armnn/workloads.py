"""The demands of workloads on accepted layers (``QueueDescriptor::Validate``, ``WorkloadData.cpp``).

Both backends validate workloads alike. Only demands that an accepted layer may miss are listed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from .steps import Query
from .tensors import PER_CHANNEL, Info

_NUMBERS = ("FLOAT32", "FLOAT16", "INT8", "UINT8", "INT16")
_WITH_INT32 = (*_NUMBERS, "INT32")
_TYPES: Mapping[str, tuple[str, Sequence[str]]] = {
    "activation": ("Activation", _NUMBERS),
    "batch_to_space": ("BatchToSpaceNd", _NUMBERS),
    "cast": ("Cast", (*_WITH_INT32, "INT64", PER_CHANNEL)),
    "depth_to_space": ("DepthToSpace", _NUMBERS),
    "gather": ("Gather", _WITH_INT32),
    "gather_nd": ("GatherNd", _WITH_INT32),
    "l2_normalization": ("L2Normalization", _NUMBERS),
    "log_softmax": ("LogSoftmax", ("FLOAT32", "FLOAT16")),
    "maximum": ("Maximum", _WITH_INT32),
    "minimum": ("Minimum", _WITH_INT32),
    "add": ("Addition", _WITH_INT32),
    "sub": ("Subtraction", _WITH_INT32),
    "mul": ("Multiplication", _WITH_INT32),
    "div": ("Division", _WITH_INT32),
    "prelu": ("Prelu", _NUMBERS),
    "reduce": ("Reduce", _WITH_INT32),
    "reshape": ("Reshape", (*_WITH_INT32, "BOOL")),
    "resize": ("Resize", _NUMBERS),
    "shape": ("Shape", (*_WITH_INT32, PER_CHANNEL)),
    "softmax": ("Softmax", _NUMBERS),
    "space_to_batch": ("SpaceToBatchNd", _NUMBERS),
    "space_to_depth": ("SpaceToDepth", _NUMBERS),
    "split": ("Splitter", (*_WITH_INT32, "BOOL")),
    "stack": ("Stack", (*_WITH_INT32, "BOOL")),
    "strided_slice": ("StridedSlice", _NUMBERS),
    "tile": ("Tile", (*_WITH_INT32, PER_CHANNEL)),
}
"""The name of the workload, and the types that it takes."""
_RANKS = {"slice": "Slice", "strided_slice": "StridedSlice", "l2_normalization": "L2Normalization"}
"""Workloads of at most 4 dimensions."""
_FIRST_ONLY = frozenset({"cast", "gather", "gather_nd", "shape"})
"""Workloads that look only at the type of the first operand."""
_MOST_DIMENSIONS = 4


class WorkloadProblem(NamedTuple):
    """A demand that a workload does not meet. ``text`` is the text of the exception, or empty if the process ends."""

    found: str
    needed: str
    text: str


def workload_problem(layer: str, call: Query, backend: str) -> WorkloadProblem | None:
    """Return the problem of a workload of a backend, or None."""
    if layer in _TYPES:
        name, types = _TYPES[layer]
        infos = call.inputs[:1] if layer in _FIRST_ONLY else (*call.inputs, *call.outputs[:1])
        wrong = next((info.type for info in infos if info.type not in types), None)
        if wrong is not None:
            text = f"{name}QueueDescriptor:  Tensor type is not supported."
            return WorkloadProblem(f"a tensor of type {wrong}", ", ".join(types), text)
    if layer in _RANKS and call.input.rank > _MOST_DIMENSIONS:
        text = f"{_RANKS[layer]}QueueDescriptor: Input tensors with rank greater than 4 are not supported."
        return WorkloadProblem(f"input of rank {call.input.rank}", "a rank of at most 4", text)
    for checks in (_CHECKS, _CHECKS_BY_BACKEND.get(backend, {})):
        check = checks.get(layer)
        problem = None if check is None else check(call)
        if problem is not None:
            return problem
    return None


def _comparison(call: Query) -> WorkloadProblem | None:
    one, two = call.inputs
    if one.rank != two.rank:
        text = (
            "ComparisonQueueDescriptor: Tensors input_0 & input_1 must have the same number of dimensions in order to be "
            "broadcasted"
        )
        return WorkloadProblem(f"inputs of rank {one.rank} and {two.rank}", "inputs of the same rank", text)
    return None


def _compared_scales(call: Query) -> WorkloadProblem | None:
    per_axis = next((info for info in call.inputs if info.is_per_axis and info.type in ("UINT8", "INT8", "INT16")), None)
    if per_axis is not None:
        return WorkloadProblem(f"a {per_axis.type} input with {per_axis.scales} scales", "one scale", "")
    return None


def _strided_slice(call: Query) -> WorkloadProblem | None:
    if not call.input.is_quantized or call.input.has_space_of(call.output):
        return None
    spaces = [
        f"{side} has offset {info.zero_point} and scale {info.scale:f}"
        for side, info in (("input", call.input), ("output", call.output))
    ]
    text = f"StridedSliceQueueDescriptor: input and output must have the same quantization space, {', '.join(spaces)}"
    return WorkloadProblem(", ".join(spaces), "the same scale and zero point in input and output", text)


def _stack(call: Query) -> WorkloadProblem | None:
    if call.input.rank <= _MOST_DIMENSIONS:
        return None
    text = "StackQueueDescriptor: Input tensor may have up to 4 dimensions."
    return WorkloadProblem(f"inputs of rank {call.input.rank}", "a rank of at most 4", text)


def _transposed(info: Info, is_transposed: bool) -> tuple[int, ...]:
    shape = info.known_shape
    return (*shape[:-2], shape[-1], shape[-2]) if is_transposed else shape


def _batch_mat_mul(call: Query) -> WorkloadProblem | None:
    first = _transposed(call.input, call.values["transpose_x"])
    second = _transposed(call.second, call.values["transpose_y"])
    # Upstream counts the axes of the second operand with the rank of the first one.
    axis = len(first) - 2
    if axis < len(second) and second[axis] == first[-1]:
        return None
    text = (
        "BatchMatMulDescriptor: The final axis of input tensor X must be the same size as the second last axis of input tensor Y."
    )
    return WorkloadProblem(f"inputs of shape {list(first)} and {list(second)}", "inputs of the same rank", text)


def _bias_problem(name: str, call: Query) -> WorkloadProblem | None:
    bias, weights = call.bias, call.weights
    if bias is None or weights is None:
        return None
    needed = call.input.type if call.input.type in ("FLOAT32", "FLOAT16") else "INT32"
    if bias.type != needed:
        return WorkloadProblem(
            f"a bias of type {bias.type}", f"a bias of type {needed}", f"{name}: Expected data type {needed} for bias"
        )
    if bias.zero_point:
        text = f"{name}: Expected zero quantization offset for bias tensor but got {bias.zero_point}"
        return WorkloadProblem(f"a bias with zero point {bias.zero_point}", "the zero point 0", text)
    if (bias.is_per_axis or weights.is_per_axis) and bias.scales != weights.scales:
        text = (
            f"{name}: Expected matching number of per-axis quantization scales for weights and bias, but got different values. "
            f"This is currently unsupported: weights={weights.scales}, biases={bias.scales}"
        )
        return WorkloadProblem(
            f"{weights.scales} scales of weights and {bias.scales} of the bias", "as many scales of both", text
        )
    return None


def _fully_connected(call: Query) -> WorkloadProblem | None:
    name = "FullyConnectedQueueDescriptor"
    for info, side in ((call.output, "output"), (call.input, "input")):
        if info.rank != 2:
            return WorkloadProblem(
                f"{side} of rank {info.rank}", f"{side} of rank 2", f"{name}: Expected 2 dimensions for {side}"
            )
    return _bias_problem(name, call)


def _weighted(name: str) -> Callable[[Query], WorkloadProblem | None]:
    def weights_problem(call: Query) -> WorkloadProblem | None:
        problem = _bias_problem(name, call)
        if problem is not None or call.weights is None or not call.weights.is_per_axis:
            return problem
        weights = call.weights
        if weights.type != PER_CHANNEL:
            text = (
                f"{name}: Expected data type which supports per-axis quantization scheme but got {weights.type} for weight tensor"
            )
            return WorkloadProblem(
                f"{weights.scales} scales of {weights.type} weights", "INT8 weights with a zero point for each scale", text
            )
        return None

    return weights_problem


def _mirrored(call: Query) -> WorkloadProblem | None:
    """Find the types that Compute Library cannot join along the third dimension from the end."""
    pads = call.values["pads"]
    is_joined = call.values["mode"] != "CONSTANT" and len(pads) > 2 and any(pads[-3])
    if not is_joined or call.input.type in ("FLOAT32", "FLOAT16", "INT8", "UINT8"):
        return None
    text = "in configure src/cpu/kernels/CpuConcatenateDepthKernel.cpp:184: Unsupported data type."
    return WorkloadProblem(
        f"{call.input.type} input", "FLOAT32, FLOAT16, INT8 or UINT8 to mirror the third dimension from the end", text
    )


_CHECKS: Mapping[str, Callable[[Query], WorkloadProblem | None]] = {
    "comparison": _comparison,
    "strided_slice": _strided_slice,
    "stack": _stack,
    "batch_mat_mul": _batch_mat_mul,
    "fully_connected": _fully_connected,
    "convolution": _weighted("Convolution2dQueueDescriptor"),
    "convolution_3d": _weighted("Convolution3dQueueDescriptor"),
    "depthwise": _weighted("DepthwiseConvolution2dQueueDescriptor"),
    "transpose_convolution": _weighted("TransposeConvolution2dQueueDescriptor"),
}
_CHECKS_BY_BACKEND: Mapping[str, Mapping[str, Callable[[Query], WorkloadProblem | None]]] = {
    "CpuRef": {"comparison": _compared_scales},
    "CpuAcc": {"pad": _mirrored},
}
