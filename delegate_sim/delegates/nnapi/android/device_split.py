"""The division of a partition among NNAPI devices, as plain data."""

from __future__ import annotations

from collections.abc import Sequence

from ....nnapi_runtime.compilation import Compilation
from ....nnapi_runtime.model import NnModel, NnOperation
from ....nnapi_runtime.operands import Lifetime
from ....nnapi_runtime.planning import PlanStep
from ....nnapi_runtime.types import OperationType
from ...capabilities import StageSplit, StageStep
from ..lowering.partition import node_of


def split_of(nodes: tuple[int, ...], compilation: Compilation) -> StageSplit:
    """Return the steps of a compiled partition and, if NNAPI's CPU took over, the reason."""
    plan = compilation.plan
    if plan.device is not None:
        model = plan.models[0]
        given, results = [*model.inputs], [*model.outputs]
        steps = [_step(plan.device.name, model, model.operations, given, results)]
    else:
        steps = [_planned(step) for step in plan.execution_steps]
    error = compilation.refusal.message if compilation.fell_back and compilation.refusal is not None else ""
    return StageSplit(nodes, tuple(steps), error)


def _planned(step: PlanStep) -> StageStep:
    given = [*step.model_inputs, *step.temporary_inputs, *step.output_inputs]
    return _step(step.device.name, step.model, step.in_run_order, given, [*step.model_outputs, *step.temporary_outputs])


def _step(
    device: str, model: NnModel, operations: Sequence[NnOperation], given: Sequence[int], results: Sequence[int]
) -> StageStep:
    names = tuple([(node_of(operation), OperationType(operation.type).name) for operation in operations])
    return StageStep(device, names, _bytes(model, given), _bytes(model, results))


def _bytes(model: NnModel, indices: Sequence[int]) -> int:
    constants = (Lifetime.CONSTANT_COPY, Lifetime.CONSTANT_REFERENCE, Lifetime.OMITTED)
    return sum([model.operands[index].byte_size for index in indices if model.operands[index].lifetime not in constants])
