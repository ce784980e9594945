"""The backend CpuRef: reference code that runs on every processor, slowly.

Source: ``RefLayerSupport.cpp`` (``src/backends/reference``) and ``LayerSupportRules.hpp`` (``src/backends/backendsCommon``), as a
table in ``reference.json``. The backend reports all demands that a layer does not meet, one in each line. No demand is about
strides, padding or sizes. Some lists of types upstream have an empty place, which stands for FLOAT16.
"""

from __future__ import annotations

from functools import partial

from .demands import Backend, Query, read_layers
from .tensors import PER_CHANNEL, Info

_FLOATS = ("FLOAT32", "FLOAT16")
_NUMBERS = (*_FLOATS, "INT8", "UINT8", "INT16")
_EIGHT_BITS = ("INT8", "UINT8", PER_CHANNEL)


def _has_eight_bits(call: Query) -> bool:
    return call.input.type in _EIGHT_BITS


def _bias_of_other_weights(call: Query) -> bool:
    weights: Info = call.part("weights")
    return call.bias is not None and call.bias.type != (weights.type if weights.type in _FLOATS else "INT32")


def _joined(name: str, call: Query) -> dict[str, str] | None:
    """Return the inputs of other types, with the messages about each of them."""
    types, said = set(), []
    for info in call.inputs:
        said += ["input type not supported"] * (info.type not in (*_NUMBERS, "INT32"))
        said += ["input and output types mismatched."] * (info.type != call.output.type)
        types |= {info.type} if said else set()
    return {"types": ", ".join(sorted(types)), "said": f"\n{name}".join(said)} if said else None


def _split(call: Query) -> dict[str, str] | None:
    is_known = call.input.type in _NUMBERS
    said = [] if is_known else ["output type not supported"]
    for info in call.outputs:
        said += [] if is_known else ["input type not supported"]
        said += [] if info.type == call.input.type else ["input and output types mismatched."]
    types = {info.type for info in call.outputs}
    return {"types": ", ".join(sorted(types)), "said": "\nReference splitter: ".join(said)} if said else None


def _rank_of_mean(call: Query) -> int | None:
    axes = call.values["axes"]
    wanted = max(call.input.rank - len(axes), 1) if axes else 1
    wanted = call.input.rank if call.values["keep_dims"] else wanted
    return None if call.output.rank == wanted else wanted


def _mixed_types(call: Query) -> str | None:
    types = [info.type for info in (*call.inputs, call.output)]
    return ", ".join(types) if len(set(types)) > 1 else None


def _no_broadcast(call: Query) -> list[list[int]] | None:
    """Return the shapes of inputs with a size that is neither 1 nor the size of the output, and the shape of the output."""
    for at in range(call.output.rank):
        size = call.output.size(at)
        for info in call.inputs[:2]:
            offset = call.output.rank - info.rank
            if 0 <= offset <= at and info.size(at - offset) not in (1, size):
                return [list(tensor.known_shape) for tensor in (*call.inputs[:2], call.output)]
    return None


FUNCTIONS = {
    "weights of 8-bit input": lambda call: _has_eight_bits(call) and call.weights.type not in _EIGHT_BITS,
    "weights of other input": lambda call: not _has_eight_bits(call) and call.weights.type not in (*_NUMBERS, PER_CHANNEL),
    "mixed weights": lambda call: not _has_eight_bits(call) and call.weights.type != call.input.type,
    "bias of other weights": _bias_of_other_weights,
    "concatenated types": partial(_joined, "Reference concatenation: "),
    "stacked types": partial(_joined, "Reference stack: "),
    "split types": _split,
    "several scales": lambda call: call.input.is_quantized and call.input.is_per_axis,
    "other rank of mean": _rank_of_mean,
    "mixed types": _mixed_types,
    "no broadcast": _no_broadcast,
}
"""The functions that find problems, by the names in the table."""
CPU_REF = Backend("CpuRef", read_layers("reference.json", FUNCTIONS), reports_all=True)
