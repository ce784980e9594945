"""The demands of workloads on accepted layers (``QueueDescriptor::Validate``, ``WorkloadData.cpp``).

The table ``workloads.json`` has only demands that an accepted layer may miss. The process ends at a demand without a message.
Both backends validate workloads alike, apart from layers that the table names together with a backend.
"""

from __future__ import annotations

from .demands import DemandProblem, Query
from .tables import read_layers
from .tensors import PER_CHANNEL, Info


def _other_bias_type(call: Query) -> str | None:
    needed = call.input.type if call.input.type in ("FLOAT32", "FLOAT16") else "INT32"
    return None if call.bias is None or call.bias.type == needed else needed


def _other_scales_of_bias(call: Query) -> bool:
    scales = [info.scales for info in (call.bias, call.weights) if info is not None]
    return len(set(scales)) > 1 and max(scales) > 1


def _other_inner_sizes(call: Query) -> list[list[int]] | None:
    shapes = [[*info.known_shape] for info in call.inputs]
    for shape, is_transposed in zip(shapes, (call.values["transpose_x"], call.values["transpose_y"]), strict=True):
        if is_transposed:
            shape[-2:] = shape[:-3:-1]
    first, second = shapes
    # Upstream counts the axes of the second operand with the rank of the first one.
    axis = len(first) - 2
    return None if axis < len(second) and second[axis] == first[-1] else shapes


def _several_scales(call: Query) -> Info | None:
    return next((info for info in call.inputs if info.is_per_axis and info.type in ("UINT8", "INT8", "INT16")), None)


def _mirrored_type(call: Query) -> bool:
    """Return whether Compute Library cannot join the type along the third dimension from the end."""
    pads = call.values["pads"]
    is_joined = call.values["is_mirrored"] and len(pads) > 2 and any(pads[-3])
    return is_joined and call.input.type not in ("FLOAT32", "FLOAT16", "INT8", "UINT8")


FUNCTIONS = {
    "other space": lambda call: call.input.is_quantized and not call.input.has_space_of(call.output),
    "other ranks": lambda call: call.input.rank != call.second.rank,
    "other inner sizes": _other_inner_sizes,
    "other bias type": _other_bias_type,
    "offset of bias": lambda call: call.bias is not None and call.bias.zero_point != 0,
    "other scales of bias": _other_scales_of_bias,
    "scales without per-channel type": lambda call: call.weights.is_per_axis and call.weights.type != PER_CHANNEL,
    "several scales": _several_scales,
    "mirrored type": _mirrored_type,
}
"""The functions that find problems, by the names in the table."""
LAYERS = read_layers("workloads.json", FUNCTIONS)
"""The demands of workloads by layer, or by layer and backend."""


def workload_problem(layer: str, call: Query, backend: str) -> DemandProblem | None:
    """Return the problem of a workload of a backend, or None."""
    demands = (*LAYERS.get(layer, ()), *LAYERS.get(f"{layer} on {backend}", ()))
    return next((problem for demand in demands if (problem := demand.problem(call)) is not None), None)
