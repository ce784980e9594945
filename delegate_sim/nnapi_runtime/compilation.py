"""Compile a model for several devices: assign the operations to devices, and compile the steps of the plan.

If compilation fails, the CPU may run the whole model.

Upstream: runtime/CompilationBuilder.cpp finish; runtime/ExecutionPlan.cpp findBestDeviceForEachOperation,
partitionTheWorkInternal, ExecutionStep, CompoundBody::finish, finishStepModel.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from ..refusal import Refusal, Refused
from .devices import Device, cpu_device, operation_cost
from .model import NnModel, NnOperation, ReadyTracker, run_order
from .operands import Lifetime
from .operations.arithmetic import IF_ELSE, IF_THEN, WHILE_BODY, WHILE_CONDITION
from .refusal import RULES, Call, ProcessAborted, refuse
from .types import AndroidRelease, OperationType, Preference, ResultCode

_CONTROL_FLOW = frozenset({OperationType.IF, OperationType.WHILE})


class ControlStep(Enum):
    """The kind of a step that the runtime itself interprets."""

    IF = "if"
    WHILE = "while"
    GOTO = "goto"


@dataclass(frozen=True, slots=True)
class Interpreted:
    """A step that the runtime interprets: an IF, a WHILE, or a jump.

    IF and WHILE have an ``operation``. ``source`` is the number of the model with this operation.
    """

    kind: ControlStep
    source: int = 0
    operation: NnOperation | None = None

    @property
    def inputs(self) -> tuple[int, ...]:
        """The indices of the operands that the step reads."""
        return () if self.operation is None else self.operation.inputs


@dataclass
class PlanStep:
    """Operations of one model that one device runs together.

    ``source`` is the number of the model in the plan. The main model has the number 0, and the models of IF and WHILE follow.
    """

    device: Device
    model: NnModel
    source: int
    operations: list[NnOperation] = field(default_factory=list)
    # The indices of the step's operands, grouped by origin and use.
    model_inputs: list[int] = field(default_factory=list)
    temporary_inputs: list[int] = field(default_factory=list)
    output_inputs: list[int] = field(default_factory=list)
    model_outputs: list[int] = field(default_factory=list)
    temporary_outputs: list[int] = field(default_factory=list)
    written: set[int] = field(default_factory=set)
    _seen: set[int] = field(default_factory=set)

    def add(self, operation: NnOperation) -> None:
        """Add an operation. This step or earlier steps must already contain the operations that write the inputs."""
        self.operations.append(operation)
        for index in operation.inputs:
            if index not in self._seen:
                self._seen.add(index)
                lists = {
                    Lifetime.MODEL_INPUT: self.model_inputs,
                    Lifetime.TEMPORARY: self.temporary_inputs,
                    Lifetime.MODEL_OUTPUT: self.output_inputs,
                }
                if (inputs := lists.get(self.model.operands[index].lifetime)) is not None:
                    inputs.append(index)
        for index in operation.outputs:
            self._seen.add(index)
            self.written.add(index)
            if self.model.operands[index].lifetime == Lifetime.MODEL_OUTPUT:
                self.model_outputs.append(index)

    @property
    def has_inputs(self) -> bool:
        """True if the step reads a model input or a result of another step."""
        return bool(self.model_inputs or self.temporary_inputs or self.output_inputs)

    @property
    def has_outputs(self) -> bool:
        """True if the step writes a model output or a result that another step reads."""
        return bool(self.model_outputs or self.temporary_outputs)

    @property
    def in_run_order(self) -> list[NnOperation]:
        """The operations in run order."""
        return run_order(self.operations, self.written.__contains__)


@dataclass
class Plan:
    """The plan for running a model.

    ``device`` is set if one device runs the whole model. If several devices run the model, ``steps`` has the steps.
    """

    device: Device | None = None
    steps: list[PlanStep | Interpreted] = field(default_factory=list)
    models: list[NnModel] = field(default_factory=list)

    @property
    def execution_steps(self) -> list[PlanStep]:
        """The steps that devices run, without interpreted steps."""
        return [step for step in self.steps if isinstance(step, PlanStep)]


class _StepPartitioner:
    """Adds steps to an empty plan (partitionTheWork). If planning raises Refused, earlier steps stay in the plan."""

    def __init__(self, plan: Plan, devices: Sequence[Device], preference: Preference) -> None:
        self._plan = plan
        self._devices = devices
        self._preference = preference
        # The queue for interpreted control flow follows the queues of all devices.
        self._interpreter = len(devices)

    def partition(self, model: NnModel) -> None:
        """Split a model, and the models of an interpreted IF or WHILE, into steps."""
        source = len(self._plan.models)
        self._plan.models.append(model)
        supported = [device.supported(model) for device in self._devices]
        best = [self._best_device(model, position, supported) for position in range(len(model.operations))]
        if source == 0 and len(set(best)) == 1 and best[0] != self._interpreter:
            self._plan.device = self._devices[best[0]]
            return
        queues: list[deque[int]] = [deque() for _ in (*self._devices, self._interpreter)]
        tracker = ReadyTracker(model.operations, lambda index: model.operands[index].is_produced)

        def enqueue(positions: list[int]) -> None:
            for position in positions:
                queues[best[position]].append(position)

        enqueue(tracker.initially_ready())
        # Later devices in the list run first, so that more inputs may be ready for earlier devices.
        while (chosen := next((i for i in reversed(range(len(queues))) if queues[i]), None)) is not None:
            step = None if chosen == self._interpreter else PlanStep(self._devices[chosen], model, source)
            if step is not None:
                self._plan.steps.append(step)
            while queues[chosen]:
                position = queues[chosen].popleft()
                if step is None:
                    self._interpret(model, source, model.operations[position])
                else:
                    step.add(model.operations[position])
                enqueue(tracker.finish(position))

    def _interpret(self, model: NnModel, source: int, operation: NnOperation) -> None:
        is_if = operation.type == OperationType.IF
        kind, positions = (ControlStep.IF, (IF_THEN, IF_ELSE)) if is_if else (ControlStep.WHILE, (WHILE_CONDITION, WHILE_BODY))
        first, second = (model.operands[operation.inputs[position]].submodel for position in positions)
        self._plan.steps.append(Interpreted(kind, source, operation))
        for submodel, is_followed_by_jump in ((first, True), (second, not is_if)):
            if isinstance(submodel, NnModel):
                self.partition(submodel)
            if is_followed_by_jump:
                self._plan.steps.append(Interpreted(ControlStep.GOTO))

    def _best_device(self, model: NnModel, position: int, supported: list[list[bool]]) -> int:
        """Return the index of the device with the lowest cost among the devices that support an operation.

        If the CPU and other devices have the lowest cost, the CPU is returned. Otherwise, the first device with the lowest cost
        is returned. On Android 12, devices that are updated separately from Android come first.
        """
        operation = model.operations[position]
        is_control_flow = operation.type in _CONTROL_FLOW
        has_unknown_size = is_control_flow and _has_unknown_size(model, operation)
        prefers_updatable = model.android == AndroidRelease.ANDROID_12 and not has_unknown_size
        best, lowest = None, 0.0
        for index, device in enumerate(self._devices):
            if not supported[index][position] or (has_unknown_size and not device.is_cpu):
                continue
            cost = operation_cost(model, operation, device, self._preference)
            is_preferred = device.is_cpu or (
                prefers_updatable and best is not None and device.is_updatable and not self._devices[best].is_updatable
            )
            if best is None or cost < lowest or (cost == lowest and is_preferred):
                best, lowest = index, cost
        if best is None:
            name = OperationType(operation.type).name
            refuse(
                "compilation-no-device",
                Call.FINISH_COMPILATION,
                f"operation {operation.index}",
                f"no device for {name}",
                "a device",
            )
        is_interpreted = is_control_flow and not has_unknown_size and self._devices[best].is_cpu
        return self._interpreter if is_interpreted else best


def _has_unknown_size(model: NnModel, operation: NnOperation) -> bool:
    operands = [model.operands[index] for index in (*operation.inputs, *operation.outputs)]
    inside = [
        operand
        for outer in operands
        if outer.submodel is not None
        for operand in (*outer.submodel.input_operands, *outer.submodel.output_operands)
    ]
    return any(operand.has_unknown_size for operand in (*operands, *inside))


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
            _StepPartitioner(plan, devices, options.preference).partition(model)
            _finish(plan, options)
        except Refused as refused:
            refusal = refused.refusal
            is_caller_error = refusal.result in {ResultCode.UNEXPECTED_NULL, ResultCode.BAD_DATA}
            is_final = is_caller_error or options.partitioning == Partitioning.WITHOUT_FALLBACK
            if is_final or not all(cpu_device(model.android).supported(model)):
                is_empty = plan.device is None and not plan.steps
                return Compilation(refusal.result, PlanKind.EMPTY if is_empty else PlanKind.ERROR, plan, refusal=refusal)
        else:
            return Compilation(0, PlanKind.COMPOUND if plan.device is None else PlanKind.SIMPLE, plan)
    fallback = Plan(cpu_device(model.android), models=[model])
    return Compilation(0, PlanKind.SIMPLE, fallback, fell_back=True, refusal=refusal)


def _finish(plan: Plan, options: CompilationOptions) -> None:
    if plan.device is not None:
        _prepare(plan.device, plan.models[0], plan.models[0].operations)
    else:
        _find_temporary_outputs(plan)
        for step in plan.execution_steps:
            _finish_step(step, plan.models[0].android)
        if plan.models[0].android < _DYNAMIC_SINCE:
            for step in plan.execution_steps:
                _check_sizes(step, "a known size, or the operations that write and read the operand in the same step")
    if options.simulated_failure:
        code = ResultCode(options.simulated_failure)
        refuse("compilation-simulated", Call.FINISH_COMPILATION, "plan", "a simulated failure", "none", code)
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
            writer = writers.pop((step.source, index), None)
            if writer is not None:
                writer.temporary_outputs.append(index)


def _finish_step(step: PlanStep, android: AndroidRelease) -> None:
    if android >= RULES["compilation-step-boundary"].since and not (step.has_inputs and step.has_outputs):
        lacking = "output" if step.has_inputs else "input"
        subject, needed = f"step on {step.device.name}", "an input and an output"
        refuse("compilation-step-boundary", Call.FINISH_COMPILATION, subject, f"no {lacking}", needed, ResultCode.OP_FAILED)
    _prepare(step.device, step.model, step.operations)
    if android >= _DYNAMIC_SINCE and step.device.version.level < _DYNAMIC_LEVEL:
        _check_sizes(step, f"a known size, or a device of feature level {_DYNAMIC_LEVEL}")


def _check_sizes(step: PlanStep, needed: str) -> None:
    unknown = [index for index in step.temporary_outputs if step.model.operands[index].has_unknown_size]
    if unknown:
        subject = f"operand {unknown[0]}, from {step.device.name}"
        refuse("compilation-step-sizes", Call.FINISH_COMPILATION, subject, "unknown size", needed, ResultCode.OP_FAILED)


def _prepare(device: Device, model: NnModel, operations: Sequence[NnOperation]) -> None:
    code = device.prepare(model, operations)
    if code != ResultCode.NO_ERROR:
        refuse("compilation-driver", Call.FINISH_COMPILATION, device.name, f"error {int(code)}", "a compiled model", code)


def _check_outputs_read_later(plan: Plan) -> None:
    """Raise ProcessAborted if a step reads a model output that no step of the main model writes.

    The runtime aborts because an assertion fails. Upstream: findModelOutputsThatAreDownstreamInputs.
    """
    written = {(step.source, index) for step in plan.execution_steps for index in step.model_outputs}
    for step in plan.execution_steps:
        for index in step.output_inputs:
            if step.source != 0 or (step.source, index) not in written:
                raise ProcessAborted(f"a step reads the model output {index}, but no step of the main model writes this output")
