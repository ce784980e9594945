"""Run test cases that are given as plain data. The recorded results of real runtimes have the same format."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from ..foundation.float32 import float32
from ..refusal import Refused
from .builder import ModelBuilder
from .compilation import CompilationOptions, Partitioning, compile_model
from .devices import Costs, Device, DeviceCost, cpu_device
from .model import NnModel, NnOperation, check_level
from .operands import (
    ChannelQuantization,
    Lifetime,
    NnOperand,
    check_channels,
    check_no_value,
    check_operand_type,
    check_value,
    operand_version,
)
from .operations import validate_operation as _operation_version
from .refusal import Call, ProcessAborted, refusal_entry
from .types import MAX_FEATURE_LEVEL, AndroidRelease, OperationType, Preference


def read_operand(case: Mapping[str, Any]) -> NnOperand:
    """Return the operand that addOperand creates for a case. The operand has no channel scales and no value yet."""
    # Infinity and NaN are strings, because JSON has no such numbers.
    return NnOperand(case["type"], tuple(case["dims"]), float32(float(case.get("scale", 0.0))), case.get("zero_point", 0))


def validate_operand(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the verdict on the operand of a case with the keys ``type dims scale zero_point per_channel value``.

    ``per_channel`` is a pair of the channel dimension and the scales. ``value`` is a pair: the length of the value, and its
    kind. The kind "null" means an omitted operand, "mem" means a memory object, and any other text means a pointer.
    """
    operand = read_operand(case)
    try:
        check_operand_type(operand)
        if case.get("per_channel") is not None:
            dimension, scales = case["per_channel"]
            check_channels(operand, ChannelQuantization(dimension, tuple(map(float32, scales))))
        if case.get("value") is not None:
            length, how = case["value"]
            if how == "null":
                check_no_value(length)
            else:
                check_value(operand, length, Call.SET_VALUE_FROM_MEMORY if how == "mem" else Call.SET_VALUE)
    except Refused as refused:
        return {"accepted": False, "refusal": refusal_entry(refused.refusal)}
    return {"accepted": True, "refusal": None}


def _full_operand(case: Mapping[str, Any], is_omitted: bool) -> NnOperand:
    operand = read_operand(case)
    check_operand_type(operand)
    if "scales" in case:
        # The case has only the number of scales. Their values do not matter.
        operand.channels = ChannelQuantization(case["channel_dim"], (1.0,), case["scales"])
        check_channels(operand, operand.channels)
    if is_omitted:
        operand.lifetime = Lifetime.OMITTED
    return operand


def validate_operation(case: Mapping[str, Any], android: int = AndroidRelease.ANDROID_13) -> dict[str, Any]:
    """Return the verdict on the operation of a case with the keys ``op inputs outputs omitted``.

    ``op`` is the name of the operation. ``omitted`` lists the omitted inputs.
    """
    release = AndroidRelease(android)
    omitted = case.get("omitted", ())
    code = OperationType.__members__.get(case["op"], -1)
    refused_answer = {"accepted": False, "level": None, "runtime_only": False}
    try:
        inputs = [_full_operand(one, index in omitted) for index, one in enumerate(case["inputs"])]
        outputs = [_full_operand(one, is_omitted=False) for one in case["outputs"]]
        version = _operation_version(code, inputs, outputs, release)
        for operand in (*inputs, *outputs):
            version = version.combine(operand_version(operand))
        check_level(version, MAX_FEATURE_LEVEL[release])
    except Refused as refused:
        return {**refused_answer, "refusal": refusal_entry(refused.refusal)}
    except ProcessAborted as aborted:
        return {**refused_answer, "abort": str(aborted)}
    return {"accepted": True, "level": version.level, "runtime_only": version.runtime_only, "refusal": None}


def read_model(case: Mapping[str, Any], subgraphs: Sequence[Mapping[str, Any]] = (), relaxed: bool = False) -> NnModel:
    """Return the finished model of a case.

    The case has the keys ``operands operations inputs outputs``, and values of operands by index under
    ``constants_int32 constants_float submodels``.
    """
    builder = ModelBuilder()
    for operand in case["operands"]:
        builder.add_operand(operand["type"], operand["dims"], float(operand["scale"]), operand["zero_point"])
    for index, value in case["constants_int32"].items():
        builder.set_value(int(index), 4, int(value).to_bytes(4, "little", signed=True))
    for index, value in case["constants_float"].items():
        builder.set_value(int(index), 4, struct.pack("<f", value))
    for index, number in case["submodels"].items():
        builder.set_value_from_model(int(index), read_model(subgraphs[number], subgraphs))
    for operation in case["operations"]:
        builder.add_operation(operation["code"], operation["inputs"], operation["outputs"], operation["id"])
    builder.identify_inputs_and_outputs(case["inputs"], case["outputs"])
    builder.relax_to_float16(relaxed)
    return builder.finish()


_CONTROL_FLOW = frozenset({OperationType.IF, OperationType.WHILE})


def read_device(case: Mapping[str, Any]) -> Device:
    """Return the driver of a case. The case identifies operations by their tags."""
    supported = frozenset(case["supports"])
    broken = case["fail_prepare_id"]

    def accepts(_: NnModel, operation: NnOperation) -> bool:
        return case["control_flow"] if operation.type in _CONTROL_FLOW else operation.tag in supported

    def compiles(_: NnModel, operations: Sequence[NnOperation]) -> bool:
        return not case["fail_prepare"] and (broken is None or all(one.tag != broken for one in operations))

    other = [DeviceCost(*case[key]) for key in ("default", "relaxed_scalar", "relaxed_tensor", "if_perf", "while_perf")]
    costs = Costs({int(code): DeviceCost(*cost) for code, cost in case["per_type"].items()}, *other)
    return Device(case["name"], case["feature_level"], accepts, costs, compiles, not case["fail_supported"])


def compile(case: Mapping[str, Any]) -> dict[str, Any]:
    """Compile the model of a case with the keys ``main subgraphs devices options``.

    The case may also have the key ``properties``: the debug.nn.* properties of an engineering build of Android.
    """
    properties, given = case.get("properties", {}), case["options"]
    partitioning, is_free = given["partitioning"], given["devices"] == "all"
    if partitioning is None:
        default = properties.get("debug.nn.partition", Partitioning.WITH_FALLBACK)
        partitioning = int(default) if is_free else Partitioning.WITHOUT_FALLBACK
    options = CompilationOptions(Preference(given["preference"]), Partitioning(partitioning), given["simulate_failure"] or 0)
    devices = [] if is_free and properties.get("debug.nn.cpuonly") == "1" else list(map(read_device, case["devices"]))
    if given["devices"] != "explicit_no_cpu":
        devices.append(cpu_device())
    try:
        model = read_model(case["main"], case["subgraphs"], given["relaxed"])
        compilation = compile_model(model, devices, options)
    except ProcessAborted:
        return {"abort": True}
    except Refused as refused:
        return {"finish": int(refused.refusal.result), "refusal": refusal_entry(refused.refusal)}
    answer: dict[str, Any] = {
        "create": 0,
        "compile": int(compilation.code),
        "kind": compilation.kind.value,
        "fallback": int(compilation.fell_back),
        "order": model.order,
    }
    plan = compilation.plan
    if compilation.kind.value == "SIMPLE" and plan.device is not None:
        answer["device"] = plan.device.name
    elif compilation.kind.value == "COMPOUND":
        answer["steps"] = [
            {"exec": step.device.name, "ops": [one.tag for one in step.in_run_order]} for step in plan.execution_steps
        ]
    return answer
