"""Checks that many functions of Compute Library make, with the library's messages.

A ``CodeLine`` is a function with its file and line in release 24.11, as the messages name it. The simulated processor has no
half-precision arithmetic, as a Cortex-A72.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ....rules.kinds import HYBRID, QUANTIZATION, RANK, SHAPE, TENSOR_TYPE, Kind
from ....rules.operands import listed
from ..demands import INPUT, OUTPUT, QueryPart
from ..steps import Need, Needs, Query
from ..tensors import PER_CHANNEL, Info

FLOAT32, FLOAT16, INT8, UINT8, INT16, INT32, BOOL = "FLOAT32", "FLOAT16", "INT8", "UINT8", "INT16", "INT32", "BOOL"
EIGHT_BITS = (UINT8, INT8)
FLOATS_AND_EIGHT_BITS = (UINT8, INT8, FLOAT16, FLOAT32)
_NAMES = {
    "FLOAT32": "F32",
    "FLOAT16": "F16",
    "UINT8": "QASYMM8",
    "INT8": "QASYMM8_SIGNED",
    PER_CHANNEL: "QSYMM8_PER_CHANNEL",
    "INT16": "QSYMM16",
    "INT32": "S32",
    "INT64": "S64",
    "BOOL": "U8",
}
"""The library's names of types."""
MOST_DIMENSIONS = 4
_BACKEND_HINT = "add CpuRef to the backends, or convert with other types"


class CodeLine(NamedTuple):
    """A line of the library's source."""

    file: str
    line: int
    function: str = "validate_arguments"

    def says(self, text: str) -> str:
        """Return the library's message."""
        return f"in {self.function} src/{self.file}:{self.line}: {text}"


def _all_infos(call: Query) -> tuple[Info, ...]:
    return tuple([info for info in (*call.inputs, call.weights, call.bias, *call.outputs) if info is not None])


def _unknown(call: Query) -> str | None:
    """Read all sizes (``BuildArmComputeTensorInfo``). Raises Thrown if a size or a rank is not known."""
    for info in _all_infos(call):
        for at in range(info.rank):
            info.size(at)
    return None


KNOWN: Need[Query] = Need(SHAPE, "known sizes of all dimensions", _unknown, hint="fix the shapes before converting")


def known(*demands: Need[Query]) -> Needs:
    """Return demands on tensors that Arm NN first describes to the library."""
    return KNOWN, *demands


def of_types(part: QueryPart, types: tuple[str, ...], place: CodeLine) -> Need[Query]:
    """Demand that a tensor has one of these types."""

    def find(call: Query) -> str | None:
        info = part.of(call)
        return None if info is None or info.type in types else f"{part.name} is {info.type}"

    def said(call: Query) -> str:
        info = part.of(call)
        return place.says(f"ITensor data type {_NAMES[info.type] if info else ''} not supported by this kernel")

    return Need(TENSOR_TYPE, f"{part.name} of type {listed(types)}", find, said, _BACKEND_HINT)


def no_half(place: CodeLine, part: QueryPart = INPUT) -> Need[Query]:
    """Demand that a tensor is not FLOAT16 (``ARM_COMPUTE_RETURN_ERROR_ON_CPU_F16_UNSUPPORTED``).

    The layer is accepted if the backend supports it with FLOAT32 tensors (``NeonLayerSupport::IsLayerSupported``).
    """

    def find(call: Query) -> str | None:
        info = part.of(call)
        return f"{part.name} is FLOAT16" if info is not None and info.type == FLOAT16 else None

    said = place.says("This CPU architecture does not support F16 data type, you need v8.2 or above")
    return Need(
        TENSOR_TYPE, f"{part.name} of another type than FLOAT16", find, said, "convert with FLOAT32 activations", _as_float
    )


def _as_float(call: Query) -> Query:
    def cast(info: Info) -> Info:
        return info._replace(type=FLOAT32)

    return call._replace(
        inputs=tuple(map(cast, call.inputs)),
        outputs=tuple(map(cast, call.outputs)),
        weights=call.weights and cast(call.weights),
        bias=call.bias and cast(call.bias),
    )


def same_type(part: QueryPart, other: QueryPart, place: CodeLine) -> Need[Query]:
    """Demand that two tensors have the same type."""

    def find(call: Query) -> str | None:
        one, two = part.of(call), other.of(call)
        if one is None or two is None or one.type == two.type:
            return None
        return f"{one.type} {part.name} and {two.type} {other.name}"

    hint = "quantize activations too (full int8), or keep float weights"
    said = place.says("Tensors have different data types")
    return Need(HYBRID, f"the same type in {part.name} and {other.name}", find, said, hint)


def same_space(part: QueryPart, other: QueryPart, place: CodeLine) -> Need[Query]:
    """Demand that two quantized tensors have the same scale and zero point."""

    def find(call: Query) -> str | None:
        one, two = part.of(call), other.of(call)
        if one is None or two is None or not one.is_quantized:
            return None
        spaces = [(info.scale, info.zero_point, info.scales) for info in (one, two)]
        if spaces[0] == spaces[1]:
            return None
        return " and ".join([f"scale {scale:g} with zero point {zero}" for scale, zero, _ in spaces])

    said = place.says("Tensors have different quantization information")
    return Need(QUANTIZATION, f"the same scale and zero point in {part.name} and {other.name}", find, said)


def rank_at_most(part: QueryPart, limit: int, place: CodeLine, text: str) -> Need[Query]:
    """Demand that a tensor has at most a number of dimensions."""

    def find(call: Query) -> str | None:
        info = part.of(call)
        return None if info is None or info.rank <= limit else f"{part.name} of rank {info.rank}"

    return Need(RANK, f"{part.name} of rank at most {limit}", find, place.says(text))


def refused(kind: Kind, needed: str, find: Callable[[Query], str | None], said: str, hint: str = "") -> Need[Query]:
    """Return a demand of its own."""
    return Need(kind, needed, find, said, hint)


def trimmed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without sizes of 1 at the front, which the library does not see."""
    first = next((at for at, size in enumerate(shape) if size != 1), len(shape))
    return shape[first:]


def shaped(
    infer: Callable[[Query], tuple[int, ...]], place: CodeLine, text: str = "Tensors have different shapes"
) -> Need[Query]:
    """Demand that the output has the shape that the library infers."""

    def find(call: Query) -> str | None:
        wanted, shape = infer(call), call.output.known_shape
        return None if trimmed(wanted) == trimmed(shape) else f"output of shape {list(shape)}, where {list(wanted)} is computed"

    return Need(SHAPE, "an output of the computed shape", find, place.says(text))


SAME_RESULT = (INPUT, OUTPUT)
"""The two tensors that most functions compare."""
