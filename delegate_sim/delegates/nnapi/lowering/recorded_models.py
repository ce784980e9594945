"""NNAPI models of partitions, recorded as calls."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

from ....foundation.limits import bounded
from ....graph.graph import Graph
from ....graph.partition import Subset
from ....nnapi_runtime.builder import ModelBuilder
from ....nnapi_runtime.model import NnModel, NnOperation
from ....nnapi_runtime.operands import NnOperand
from ....nnapi_runtime.refusal import Call
from ....nnapi_runtime.types import MAX_FEATURE_LEVEL, AndroidRelease, OperandType, OperationType, Version, type_of
from ....nnapi_runtime.types import feature_level as level_of
from ....refusal import Refusal
from ....releases.catalogue import Release
from ...driver import LoweredCall, LoweredModel, LoweredOperand, LoweredOperation
from ...options import OptionValues
from ..android.runtime import android_of, runtime_level
from ..partitions import Partitions
from .partition import LoweredPartition

_RELAX = "ANeuralNetworksModel_relaxComputationFloat32toFloat16"


class _Recorder(ModelBuilder):
    def __init__(self, android: AndroidRelease, feature_level: int, on_refusal: Callable[[Refusal], None]) -> None:
        super().__init__(android, feature_level, on_refusal)
        self.calls: list[LoweredCall] = []

    def _call(self, function: str, subject: int | None = None, value: bool | None = None) -> None:
        self.calls.append(LoweredCall(function, subject, value))

    def add_operand(
        self, code: int, dimensions: Sequence[int] = (), scale: float = 0.0, zero_point: int = 0, has_pointer: bool = False
    ) -> int:
        self._call(Call.ADD_OPERAND.value, len(self.operands))
        return super().add_operand(code, dimensions, scale, zero_point, has_pointer)

    def set_channel_quantization(self, index: int, dimension: int, scales: Sequence[float], repeats: int = 1) -> None:
        self._call(Call.SET_CHANNEL_QUANTIZATION.value, index)
        super().set_channel_quantization(index, dimension, scales, repeats)

    def set_value(self, index: int, length: int, value: bytes | None = None) -> None:
        self._call(Call.SET_VALUE.value, index)
        super().set_value(index, length, value)

    def omit(self, index: int, length: int = 0) -> None:
        self._call(Call.SET_VALUE.value, index)
        super().omit(index, length)

    def add_operation(self, code: int, inputs: Sequence[int], outputs: Sequence[int], tag: int | None = None) -> None:
        self._call(Call.ADD_OPERATION.value, len(self.operations))
        super().add_operation(code, inputs, outputs, tag)

    def identify_inputs_and_outputs(
        self, inputs: Sequence[int], outputs: Sequence[int], pointers: tuple[bool, bool] = (False, False)
    ) -> None:
        self._call(Call.IDENTIFY.value)
        super().identify_inputs_and_outputs(inputs, outputs, pointers)

    def relax_to_float16(self, allow: bool = True) -> None:
        self._call(_RELAX, value=allow)
        super().relax_to_float16(allow)

    def check(self) -> Version:
        self._call(Call.FINISH_MODEL.value)
        return super().check()

    def finish(self) -> NnModel:
        raise NotImplementedError("a recorded model is not compiled")


def lowered_models(graph: Graph, subsets: Sequence[Subset], options: OptionValues, release: Release) -> Iterator[LoweredModel]:
    """Yield the NNAPI model of each partition, with the rejected calls if a runtime is simulated."""
    android = android_of(options)
    newest = AndroidRelease.ANDROID_13
    level = level_of(runtime_level(options)) if android is not None else MAX_FEATURE_LEVEL[newest]
    made: list[_Recorder] = []

    def make_model(note: Callable[[Refusal], None]) -> ModelBuilder:
        made.append(_Recorder(android or newest, level, note if android is not None else lambda _: None))
        return made[-1]

    for subset in subsets:
        lowered = Partitions(graph, options, release, make_model).build(subset)
        yield _lowered(graph, subset, lowered, made[-1], lowered.calls if android is not None else ())


def _lowered(
    graph: Graph, subset: Subset, lowered: LoweredPartition, model: _Recorder, refused: Sequence[Refusal]
) -> LoweredModel:
    tensors = {operand: tensor for tensor, operand in lowered.tensors.items()}
    return LoweredModel(
        graph.index,
        subset.nodes,
        tuple([_operand(index, operand, tensors.get(index)) for index, operand in enumerate(model.operands)]),
        tuple(map(_operation, model.operations)),
        tuple(model.inputs),
        tuple(model.outputs),
        tuple(model.calls),
        (*refused, *([] if lowered.failure is None else [lowered.failure])),
    )


def _operation(operation: NnOperation) -> LoweredOperation:
    name = OperationType(operation.type).name
    return LoweredOperation(operation.index, name, operation.tag, operation.inputs, operation.outputs)


def _operand(index: int, operand: NnOperand, tensor: int | None) -> LoweredOperand:
    channels = operand.channels
    return LoweredOperand(
        index,
        str(type_of(operand.type)),
        operand.dimensions,
        operand.scale,
        operand.zero_point,
        None if channels is None else channels.dimension,
        () if channels is None else channels.scales * bounded(channels.repeats, "scales of a tensor"),
        operand.lifetime.value,
        _value(operand),
        tensor,
    )


_FORMATS = {OperandType.INT32: "<i", OperandType.FLOAT32: "<f", OperandType.BOOL: "<?"}


def _value(operand: NnOperand) -> int | float | bool | None:
    form = _FORMATS.get(OperandType(operand.type))
    if form is None or operand.value is None:
        return None
    number: int | float | bool = struct.unpack(form, operand.value)[0]
    return number
