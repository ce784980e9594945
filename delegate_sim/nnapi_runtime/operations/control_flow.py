"""Rules on IF and WHILE. The operands must match the inputs and outputs of the models that the IF or WHILE runs.

Upstream: common/types/src/Validation.cpp validateIfOperation, validateWhileOperation.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..operands import NnOperand, Submodel
from ..refusal import Call, refuse, rule
from ..types import OperandType, Version, type_name
from .signature import OperationView

# Inputs of IF: condition, then-model, else-model, and inputs of the branches.
# Inputs of WHILE: condition model, body model, and inputs of the loop.
IF_THEN, IF_ELSE, IF_FIRST_INPUT = 1, 2, 3
WHILE_CONDITION, WHILE_BODY, WHILE_FIRST_INPUT = 0, 1, 2

_LEVEL = 4


OPERAND_COUNT = rule("control-flow-operands")
MODEL_OPERAND = rule("control-flow-model")
MODEL_COUNT = rule("control-flow-model-operands")
CONDITION = rule("control-flow-condition")
COMPATIBLE = rule("control-flow-compatible")


def validate_if(view: OperationView) -> Version:
    """Check an IF. Return the version that the IF needs."""
    _check_operand_count(view)
    _check_condition(view.inputs[0], "input 0")
    for index in (IF_THEN, IF_ELSE):
        branch = _model(view, index)
        _check_count(f"inputs of the model in input {index}", len(branch.inputs), len(view.inputs) - IF_FIRST_INPUT)
        _check_count(f"outputs of the model in input {index}", len(branch.outputs), len(view.outputs))
        _check_all_compatible(branch.input_operands, view.inputs[IF_FIRST_INPUT:], f"input of the model in input {index}")
        _check_all_compatible(branch.output_operands, view.outputs, f"output of the model in input {index}")
    return Version(_LEVEL)


def validate_while(view: OperationView) -> Version:
    """Check a WHILE. Return the version that the WHILE needs.

    If an operand has an unknown size, only the runtime itself can run the WHILE.
    """
    _check_operand_count(view)
    outer = view.inputs[WHILE_FIRST_INPUT:]
    condition = _model(view, WHILE_CONDITION)
    _check_count("inputs of the condition model", len(condition.inputs), len(outer))
    _check_count("outputs of the condition model", len(condition.outputs), 1)
    _check_all_compatible(condition.input_operands, outer, "input of the condition model")
    _check_condition(condition.output_operands[0], "output of the condition model")
    body = _model(view, WHILE_BODY)
    _check_count("inputs of the body model", len(body.inputs), len(outer))
    # The body's outputs are the values that the loop returns, and then the loop's own state. Inputs that are only read come last.
    if not len(view.outputs) <= len(body.outputs) <= len(body.inputs):
        needed = f"{len(view.outputs)} to {len(body.inputs)}"
        refuse(MODEL_COUNT, Call.ADD_OPERATION, "outputs of the body model", len(body.outputs), needed)
    _check_all_compatible(body.input_operands, outer, "input of the body model")
    _check_all_compatible(body.output_operands, view.outputs, "output of the body model")
    _check_all_compatible(body.input_operands, body.output_operands, "state of the body model")
    sized = [*outer, *view.outputs, *condition.input_operands, *body.input_operands, *body.output_operands]
    return Version(_LEVEL, runtime_only=any(operand.byte_size == 0 for operand in sized))


def _check_operand_count(view: OperationView) -> None:
    if len(view.inputs) < 3:
        refuse(OPERAND_COUNT, Call.ADD_OPERATION, "inputs", len(view.inputs), "at least 3")
    if not view.outputs:
        refuse(OPERAND_COUNT, Call.ADD_OPERATION, "outputs", 0, "at least 1")


def _check_condition(operand: NnOperand, subject: str) -> None:
    if operand.type != OperandType.TENSOR_BOOL8 or operand.dimensions != (1,):
        value = f"{type_name(operand.type)} {list(operand.dimensions)}"
        refuse(CONDITION, Call.ADD_OPERATION, subject, value, "TENSOR_BOOL8 [1]")


def _model(view: OperationView, index: int) -> Submodel:
    operand = view.inputs[index]
    if operand.type != OperandType.MODEL:
        refuse(MODEL_OPERAND, Call.ADD_OPERATION, f"input {index}", type_name(operand.type), "MODEL")
    if operand.submodel is None:
        refuse(MODEL_OPERAND, Call.ADD_OPERATION, f"input {index}", "no model", "a finished model")
    return operand.submodel


def _check_count(subject: str, found: int, needed: int) -> None:
    if found != needed:
        refuse(MODEL_COUNT, Call.ADD_OPERATION, subject, found, needed)


def _check_all_compatible(inner: Sequence[NnOperand], outer: Sequence[NnOperand], subject: str) -> None:
    for index, (one, other) in enumerate(zip(inner, outer, strict=False)):
        _check_compatible(one, other, f"{subject} {index}")


def _check_compatible(one: NnOperand, other: NnOperand, subject: str) -> None:
    """Check that two operands have compatible types, shapes and quantization.

    An unknown rank or dimension is compatible with every rank or dimension. Upstream: Validation.cpp compatible.
    """
    if one.type != other.type:
        refuse(COMPATIBLE, Call.ADD_OPERATION, f"type of {subject}", type_name(one.type), type_name(other.type))
    shapes = one.dimensions, other.dimensions
    if all(shapes) and (len(shapes[0]) != len(shapes[1]) or any(a and b and a != b for a, b in zip(*shapes, strict=True))):
        refuse(COMPATIBLE, Call.ADD_OPERATION, f"dimensions of {subject}", list(shapes[0]), list(shapes[1]))
    quantization = [(operand.scale, operand.zero_point, operand.channels) for operand in (one, other)]
    if quantization[0] != quantization[1]:
        refuse(COMPATIBLE, Call.ADD_OPERATION, f"quantization of {subject}", quantization[0], quantization[1])
