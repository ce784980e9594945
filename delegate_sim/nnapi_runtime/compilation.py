"""Compile a model for several devices: assign the operations to devices, and compile the steps of the plan.

If compilation fails, the CPU may run the whole model.

Upstream: runtime/CompilationBuilder.cpp finish; runtime/ExecutionPlan.cpp CompoundBody::finish, finishStepModel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum

from ..refusal import Refusal, Refused
from .devices import CpuDevice, Device
from .model import NnModel
from .operands import Lifetime
from .planning import Plan, PlanStep, make_plan
from .refusal import Call, ProcessAborted, refuse, rule
from .types import AndroidRelease, OperationType, Preference, ResultCode, is_extension

STEP_BOUNDARY = rule("compilation-step-boundary")
STEP_PREPARED = rule("compilation-driver")
STEP_SIZES = rule("compilation-step-sizes")
SIMULATED = rule("compilation-simulated")

_DYNAMIC_LEVEL = 3
_DYNAMIC_SINCE = AndroidRelease.ANDROID_12
"""From this release on, steps may pass operands of unknown size to other steps."""
_OUTPUTS_FOUND_SINCE = AndroidRelease.ANDROID_12


class Partitioning(IntEnum):
    """The values of the property ``debug.nn.partition``.

    If the application chooses devices, the value WITHOUT_FALLBACK applies.
    """

    CPU_ONLY = 0
    WITH_FALLBACK = 1
    WITHOUT_FALLBACK = 2


class PlanKind(Enum):
    """The kind of a plan: one step (SIMPLE), several steps (COMPOUND), no step yet (EMPTY), or a failed plan (ERROR)."""

    EMPTY = "EMPTY"
    SIMPLE = "SIMPLE"
    COMPOUND = "COMPOUND"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class CompilationOptions:
    """Options of a compilation.

    If ``simulated_failure`` is not 0, the plan fails with this error code, as in the runtime's own tests.
    """

    preference: Preference = Preference.FAST_SINGLE_ANSWER
    partitioning: Partitioning = Partitioning.WITH_FALLBACK
    simulated_failure: int = 0


@dataclass(frozen=True, slots=True)
class Compilation:
    """The result of a compilation.

    ``refusal`` is the first failure. If the CPU runs the model after this failure, ``code`` is the code for success.
    """

    code: int
    kind: PlanKind
    plan: Plan
    fell_back: bool = False
    refusal: Refusal | None = None


def compile_model(model: NnModel, devices: Sequence[Device], options: CompilationOptions) -> Compilation:
    """Compile a finished model for a list of devices.

    Raise ProcessAborted if the runtime aborts the process. The rules of releases before Android 13 were read from source code,
    not measured.

    Upstream: CompilationBuilder.cpp finish.
    """
    refusal = None
    if options.partitioning != Partitioning.CPU_ONLY:
        plan = Plan()
        try:
            make_plan(plan, model, devices, options.preference)
            _finish(plan, options)
        except Refused as refused:
            refusal = refused.refusal
            if not _may_fall_back(model, options, refusal.result):
                is_empty = plan.device is None and not plan.steps
                return Compilation(refusal.result, PlanKind.EMPTY if is_empty else PlanKind.ERROR, plan, refusal=refusal)
        else:
            return Compilation(0, PlanKind.COMPOUND if plan.device is None else PlanKind.SIMPLE, plan)
    fallback = Plan(CpuDevice(model.android), models=[model])
    return Compilation(0, PlanKind.SIMPLE, fallback, fell_back=True, refusal=refusal)


def _may_fall_back(model: NnModel, options: CompilationOptions, code: int) -> bool:
    """Return whether the CPU may run the whole model after a failure with this result code.

    The CPU must not run the model after an error of the caller, if the options forbid a fallback, or if the CPU lacks an
    operation.
    """
    if code in {ResultCode.UNEXPECTED_NULL, ResultCode.BAD_DATA} or options.partitioning == Partitioning.WITHOUT_FALLBACK:
        return False
    return not any(one.type == OperationType.OEM_OPERATION or is_extension(one.type) for one in model.operations)


def _finish(plan: Plan, options: CompilationOptions) -> None:
    if plan.device is not None:
        model = plan.models[0]
        _check_prepared(plan.device.prepare(model, model.operations), plan.device)
    else:
        _find_temporary_outputs(plan)
        for step in plan.execution_steps:
            _finish_step(step, plan.models[0].android)
        if plan.models[0].android < _DYNAMIC_SINCE:
            for step in plan.execution_steps:
                _check_sizes(step, "a known size, or the operations that write and read the operand in the same step")
    if options.simulated_failure:
        code = ResultCode(options.simulated_failure)
        refuse(SIMULATED, Call.FINISH_COMPILATION, "plan", "a simulated failure", "none", code)
    if plan.device is None and plan.models[0].android >= _OUTPUTS_FOUND_SINCE:
        _check_outputs_read_later(plan)


def _find_temporary_outputs(plan: Plan) -> None:
    """Find the temporary operands that another step, or an interpreted IF or WHILE, reads.

    Each of these operands becomes an output of the step that writes the operand.

    Upstream: findTempsAsStepModelOutputs.
    """
    writers = {
        (step.source, index): step
        for step in plan.execution_steps
        for index in step.written
        if step.model.operands[index].lifetime == Lifetime.TEMPORARY
    }
    for step in plan.steps:
        for index in step.temporary_inputs if isinstance(step, PlanStep) else step.inputs:
            writer = writers.get((step.source, index))
            if writer is not None and index not in writer.temporary_outputs:
                writer.temporary_outputs.append(index)


def _finish_step(step: PlanStep, android: AndroidRelease) -> None:
    if android >= STEP_BOUNDARY.since and not (step.has_inputs and step.has_outputs):
        lacking = "output" if step.has_inputs else "input"
        subject, needed = f"step on {step.device.name}", "an input and an output"
        refuse(STEP_BOUNDARY, Call.FINISH_COMPILATION, subject, f"no {lacking}", needed, ResultCode.OP_FAILED)
    _check_prepared(step.device.prepare(step.model, step.operations), step.device)
    if android >= _DYNAMIC_SINCE and step.device.version.level < _DYNAMIC_LEVEL:
        _check_sizes(step, f"a known size, or a device of feature level {_DYNAMIC_LEVEL}")


def _check_sizes(step: PlanStep, needed: str) -> None:
    unknown = [index for index in step.temporary_outputs if step.model.operands[index].has_unknown_size]
    if unknown:
        subject = f"operand {unknown[0]}, from {step.device.name}"
        refuse(STEP_SIZES, Call.FINISH_COMPILATION, subject, "unknown size", needed, ResultCode.OP_FAILED)


def _check_prepared(code: ResultCode, device: Device) -> None:
    if code != ResultCode.NO_ERROR:
        refuse(STEP_PREPARED, Call.FINISH_COMPILATION, device.name, f"error {int(code)}", "a compiled model", code)


def _check_outputs_read_later(plan: Plan) -> None:
    """Raise ProcessAborted if a step reads a model output that no step of the main model writes.

    The runtime aborts because an assertion fails. Upstream: findModelOutputsThatAreDownstreamInputs.
    """
    written = {(step.source, index) for step in plan.execution_steps for index in step.model_outputs}
    for step in plan.execution_steps:
        for index in step.output_inputs:
            if step.source != 0 or (step.source, index) not in written:
                raise ProcessAborted(f"a step reads the model output {index}, but no step of the main model writes this output")
