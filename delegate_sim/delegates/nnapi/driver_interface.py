"""Descriptions of the NNAPI driver and devices, and NNAPI models of partitions, recorded as calls.

``reconcile`` uses the descriptions to explain device logs and to learn from the logs.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ...foundation.columns import schema_of
from ...foundation.limits import bounded
from ...graph.graph import Graph
from ...graph.partition import Subset
from ...nnapi_runtime.builder import ModelBuilder
from ...nnapi_runtime.model import NnModel, NnOperation
from ...nnapi_runtime.operands import NnOperand
from ...nnapi_runtime.refusal import Call
from ...nnapi_runtime.types import MAX_FEATURE_LEVEL, AndroidRelease, OperandType, OperationType, Version, type_of
from ...nnapi_runtime.types import feature_level as level_of
from ...refusal import Refusal
from ...releases.catalogue import NEWEST, Release
from ..decision import Decision
from ..driver import (
    DevicesInterface,
    DeviceTraits,
    DriverInterface,
    DriverQuestion,
    DriverQuestions,
    LoweredCall,
    LoweredModel,
    LoweredOperand,
    LoweredOperation,
    StageOperation,
)
from ..driver_profile import toml_string, toml_strings
from ..options import OptionValues
from .device_profile import MOST_DEVICES, RELAXED_SCALAR, RELAXED_TENSOR, input_signature
from .lowering.partition import node_of
from .options import android_of, asks_driver, device_level, runtime_level
from .partitions import Partitions, is_all_or_nothing, supported_nodes
from .rules import driver_operations
from .target import DRIVER, REFERENCE_DEVICE


def driver_questions(graph: Graph, options: OptionValues, release: Release = NEWEST) -> DriverQuestions | None:
    """Return the questions that the delegate asks the driver about a subgraph.

    Return None if the delegate does not ask the driver, or if a partition cannot be built.
    """
    decision, has_float16 = supported_nodes(graph, options, release)
    if not decision.nodes or not asks_driver(options):
        return None
    questions = []
    partitions = Partitions(decision.graph, options, release)
    for subset in decision.candidates:
        lowered = partitions.lowered(subset)
        if lowered.has_failed:
            return None
        all_or_nothing = is_all_or_nothing(decision.graph, subset.nodes)
        questions.append(DriverQuestion(decision.graph, subset.nodes, lowered.operations, all_or_nothing))
    return DriverQuestions(tuple(questions), has_float16)


_RELAXED = {"FLOAT32": RELAXED_SCALAR, "TENSOR_FLOAT32": RELAXED_TENSOR}


def stage_operations(decision: Decision, subsets: Sequence[Subset]) -> Iterator[tuple[StageOperation, ...]]:
    """Yield the NNAPI operations of each delegated partition, in running order.

    Skip partitions with an NNAPI model that cannot be built.
    """
    if not isinstance(decision.findings, Partitions):
        return
    for subset in subsets:
        lowered = decision.findings.lowered(subset)
        if subset.is_delegated and lowered.model is not None and lowered.is_finished:
            model = lowered.model.finish()
            yield tuple([_stage_operation(model, operation) for operation in model.operations])


def _stage_operation(model: NnModel, operation: NnOperation) -> StageOperation:
    types, shapes = input_signature(model, operation)
    first = types[0] if types else OperandType.TENSOR_FLOAT32.name
    cost = _RELAXED.get(first, first) if model.relaxed else first
    used = dict.fromkeys((*operation.inputs, *operation.outputs))
    sizes = tuple([(index, model.operands[index].byte_size) for index in used])
    return StageOperation(node_of(operation), OperationType(operation.type).name, types, shapes, cost, sizes)


def profile_text(devices: Sequence[DeviceTraits], options: Mapping[str, Any]) -> str:
    """Return the TOML text of a profile of these devices.

    Every device gets the feature level in the options, because logs do not show the feature levels of devices.
    """
    lines = [
        "# The NNAPI devices that a log with debug.nn.vlog shows; written by 'delegate-sim reconcile --learn'.",
        "# Costs are not measured. With these costs, NNAPI chooses the same devices as in the log. Logs do not show feature "
        "levels.",
        f"schema = {toml_string(schema_of('devices'))}",
    ]
    for device in devices:
        refused = [signature.operation for signature in device.rejects if signature.types is None]
        lines += ["", "[[devices]]", f"name = {toml_string(device.name)}", f"feature_level = {device_level(options)}"]
        lines.append(f"execution = {max(device.costs.values(), default=0.5):g}")
        lines += [f"rejects = {toml_strings(refused)}"] if refused else []
        lines += ["fails_to_compile = true"] if device.fails_to_compile else []
        lines += [f"cannot_compile = {toml_strings(device.cannot_compile)}"] if device.cannot_compile else []
        lines += [f"largest_bytes = {device.largest_bytes}"] if device.largest_bytes is not None else []
        if device.costs:
            lines += ["", "[devices.performance]", *[f"{key} = {cost:g}" for key, cost in sorted(device.costs.items())]]
        for signature in device.rejects:
            if signature.types is not None:
                lines += ["", "[[devices.refuses]]", f"operation = {toml_string(signature.operation)}"]
                lines.append(f"types = {toml_strings(signature.types)}")
                lines += [f"shapes = {json.dumps(signature.shapes)}"] if signature.shapes is not None else []
    return "\n".join(lines) + "\n"


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
        model, tensors = made[-1], {operand: tensor for tensor, operand in lowered.tensors.items()}
        # A rejected call that is about the whole model counts for the last node.
        refused = lowered.calls if android is not None else ()
        calls = [call if call.node is not None else replace(call, node=subset.nodes[-1]) for call in refused]
        yield LoweredModel(
            graph.index,
            subset.nodes,
            tuple([_operand(index, operand, tensors.get(index)) for index, operand in enumerate(model.operands)]),
            tuple(map(_operation, model.operations)),
            tuple(model.inputs),
            tuple(model.outputs),
            tuple(model.calls),
            (*calls, *([] if lowered.failure is None else [lowered.failure])),
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


DRIVER_INTERFACE = DriverInterface("driver", "accelerator_name", DRIVER.name, driver_questions, driver_operations())
DEVICES_INTERFACE = DevicesInterface(
    "devices", REFERENCE_DEVICE, MappingProxyType({"disallow_nnapi_cpu": "false"}), stage_operations, MOST_DEVICES, profile_text
)
