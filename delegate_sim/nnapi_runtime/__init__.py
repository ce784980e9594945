"""What Android's NNAPI runtime does with a model before and around the drivers, as of Android 13 (feature level 8).

Three things, each without a device: whether an operand or an operation is accepted and from which feature level on, whether a
model as a whole is (``ModelBuilder``), and what it is compiled to on a set of devices (``compile_model``). ``validate_operand``,
``validate_operation`` and ``compile`` answer cases that are plain data. ``RULES`` lists what can be refused.

Upstream: packages/modules/NeuralNetworks of Android 13.
"""

from .builder import ModelBuilder
from .cases import compile, validate_operand, validate_operation
from .compilation import Compilation, CompilationOptions, Partitioning, PlanKind, compile_model
from .devices import Costs, CpuDevice, Device, DeviceCost, DriverDevice
from .model import NnModel, NnOperation
from .refusal import RULES, Call, NnRefusal, NnRefused, ProcessAborted, Rule, Violation
from .types import AndroidRelease, OperandType, OperationType, Preference, ResultCode, Version, feature_level

__all__ = [
    "RULES",
    "AndroidRelease",
    "Call",
    "Compilation",
    "CompilationOptions",
    "Costs",
    "CpuDevice",
    "Device",
    "DeviceCost",
    "DriverDevice",
    "ModelBuilder",
    "NnModel",
    "NnOperation",
    "NnRefusal",
    "NnRefused",
    "OperandType",
    "OperationType",
    "Partitioning",
    "PlanKind",
    "Preference",
    "ProcessAborted",
    "ResultCode",
    "Rule",
    "Version",
    "Violation",
    "compile",
    "compile_model",
    "feature_level",
    "validate_operand",
    "validate_operation",
]
