"""Activation functions, elementwise arithmetic, conversions and reductions, and rules on IF and WHILE.

The operands of an IF or WHILE must match the inputs and outputs of the models that it runs.

Upstream: common/types/src/Validation.cpp validateIfOperation, validateWhileOperation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...foundation.float32 import float32
from ..operands import MINUS_ONE, NnOperand, OptionalInputs
from ..refusal import Call, OperandPart, refuse
from ..types import OperandType, Version, element_count, type_of
from .signature import MAX_RANK, OperationView, max_rank, operation

if TYPE_CHECKING:
    from ..model import NnModel


_T = OperandType

_BEYOND_FLOAT32 = (
    "the product of the input scales, which exceeds float32 (because of values such as -3.4e38 in an attention mask)"
)


def _rank_4_level(view: OperationView) -> int:
    return 1 if view.inputs[0].rank == 4 else 3


def _mul_scale(view: OperationView) -> None:
    codes = {
        _T.TENSOR_QUANT8_ASYMM: "operation-mul-output-scale",
        _T.TENSOR_QUANT8_ASYMM_SIGNED: "operation-mul-output-scale-signed",
    }
    code = codes.get(_T(view.inputs[0].type))
    product, scale = float32(view.inputs[0].scale * view.inputs[1].scale), view.outputs[0].scale
    if code is None or scale > product:
        return
    actual, bound = f"{scale:.4g}", f"{product:.4g}"
    if actual == bound and scale != product:
        actual, bound = str(scale), str(product)
    needed = f"more than {bound if math.isfinite(product) else _BEYOND_FLOAT32}"
    view.refuse(code, OperandPart("output", 0, "scale"), actual, needed)


def _ranks_of_both(view: OperationView) -> None:
    ranks = [operand.rank for operand in view.inputs[:2]]
    if 0 not in ranks and max(ranks) > MAX_RANK:
        view.refuse("operation-rank", "ranks of inputs 0 and 1", " and ".join(map(str, ranks)), f"at most {MAX_RANK}")


def _cast_shape(view: OperationView) -> None:
    given, output = view.inputs[0].dimensions, view.outputs[0].dimensions
    if given and output and given != output and element_count(output):
        needed = f"the dimensions of the input, {list(given)}"
        view.refuse("operation-cast-shape", OperandPart("output", 0, "dimensions"), list(output), needed)


_ARITHMETIC = "Broadcast.cpp: broadcast::validate"

RULES = (
    operation("RELU RELU1 RELU6 LOGISTIC", "Activation.cpp: activation::validate", "REAL@1", "SAME", checks=(max_rank,)),
    operation("TANH", "Activation.cpp: activation::validate", "FLOAT@1 QUANT8@3", "SAME", checks=(max_rank,)),
    operation("HARD_SWISH", "Activation.cpp: activation::validateHardSwish", "REAL@4", "SAME"),
    operation("ELU", "Elu.cpp: elu::validate", "FLOAT@4", "SAME SCALAR"),
    operation("PRELU", "PRelu.cpp: prelu::validate", "REAL@3", "SAME SAME"),
    operation(
        "L2_NORMALIZATION",
        "L2Normalization.cpp: l2_norm::validate",
        "FLOAT@1 QUANT8@3",
        "SAME",
        "SAME INT32 @3",
        checks=(max_rank, _rank_4_level),
        optional=(OptionalInputs(1, (MINUS_ONE,)),),
    ),
    operation(
        "LOCAL_RESPONSE_NORMALIZATION",
        "LocalResponseNormalization.cpp: local_response_norm::validate",
        "FLOAT@1",
        "SAME INT32 SCALAR*3",
        "SAME INT32 SCALAR*3 INT32 @3",
        checks=(max_rank, _rank_4_level),
        optional=(OptionalInputs(5, (MINUS_ONE,)),),
    ),
    operation(
        "INSTANCE_NORMALIZATION", "InstanceNormalization.cpp: instance_normalization::validate", "FLOAT@3", "SAME SCALAR*3 BOOL"
    ),
    operation(
        "SOFTMAX",
        "Softmax.cpp: softmax::validate",
        "REAL@1",
        "SAME SCALAR",
        "SAME SCALAR INT32 @3",
        checks=(max_rank, lambda view: 1 if view.inputs[0].rank in {0, 2, 4} else 3),
        optional=(OptionalInputs(2, (MINUS_ONE,)),),
    ),
    operation("LOG_SOFTMAX", "LogSoftmax.cpp: log_softmax::validate", "FLOAT@3", "SAME SCALAR INT32"),
    operation("ADD", _ARITHMETIC, "REAL@1 INT32@4", "SAME SAME INT32", checks=(_ranks_of_both,)),
    operation("MUL", _ARITHMETIC, "REAL@1 INT32@4", "SAME SAME INT32", checks=(_mul_scale, _ranks_of_both)),
    operation("SUB", _ARITHMETIC, "FLOAT@2 QUANT8@3 INT32@4", "SAME SAME INT32", checks=(_ranks_of_both,)),
    # Upstream rejects only unsigned quantized operands of DIV.
    operation("DIV", _ARITHMETIC, "FLOAT@2 QUANT8_ASYMM_SIGNED@4 INT32@4", "SAME SAME INT32", checks=(_ranks_of_both,)),
    operation("MAXIMUM MINIMUM", "MaximumMinimum.cpp: maximum_minimum::validate", "REAL@3 INT32@3", "SAME SAME"),
    operation("POW", "Pow.cpp: pow::validate", "FLOAT@3", "SAME SAME"),
    operation("ABS", "Elementwise.cpp: elementwise::validateAbs", "FLOAT@3 INT32@4", "SAME"),
    operation("EXP LOG SIN SQRT", "Elementwise.cpp: elementwise::validate", "FLOAT@3", "SAME"),
    operation("RSQRT", "Elementwise.cpp: elementwise::validateRsqrt", "FLOAT@3 QUANT8@7", "SAME"),
    operation("FLOOR", "Elementwise.cpp: elementwise::validateFloor", "FLOAT@1", "SAME", checks=(max_rank,)),
    operation("NEG", "Neg.cpp: neg::validate", "FLOAT@3 INT32@3", "SAME"),
    operation("LOGICAL_NOT", "LogicalNot.cpp: logical_not::validate", "BOOL8@3", "SAME"),
    operation("LOGICAL_AND LOGICAL_OR", "LogicalAndOr.cpp: logical::validate", "BOOL8@3", "SAME SAME"),
    operation(
        "EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL NOT_EQUAL",
        "Comparisons.cpp: comparisons::validate",
        "REAL@3 INT32@3 BOOL8@3",
        "SAME SAME",
        outputs=("TENSOR_BOOL8",),
    ),
    operation(
        "SELECT",
        "Select.cpp: select_op::validate",
        "FLOAT@3 QUANT8_ASYMM@3 QUANT8_ASYMM_SIGNED@3 INT32@3",
        "TENSOR_BOOL8 SAME SAME",
        decider=("input", 1),
    ),
    operation(
        "CAST",
        "Cast.cpp: cast::validate",
        "FLOAT16@3 FLOAT32@3 INT32@3 QUANT8_ASYMM@3 BOOL8@4 QUANT16_ASYMM@4 QUANT16_SYMM@4 QUANT8_ASYMM_SIGNED@4 QUANT8_SYMM@4",
        "SAME",
        outputs=("CAST",),
        checks=(_cast_shape,),
    ),
    # The type of the output may need a higher level. The check of the operand returns this level.
    operation(
        "QUANTIZE",
        "Quantize.cpp: quantize::validate",
        "FLOAT@3",
        "SAME",
        outputs=("TENSOR_QUANT8_ASYMM|TENSOR_QUANT8_ASYMM_SIGNED",),
    ),
    operation(
        "DEQUANTIZE",
        "Dequantize.cpp: dequantize::validate",
        "QUANT8_ASYMM@1 QUANT8_ASYMM_SIGNED@3 QUANT8_SYMM@3 QUANT8_SYMM_PER_CHANNEL@3",
        "SAME",
        outputs=("TENSOR_FLOAT16|TENSOR_FLOAT32",),
        checks=(max_rank,),
    ),
    operation("MEAN", "SimpleMath.cpp: mean::validate", "REAL@2", "SAME TENSOR_INT32 INT32", checks=(max_rank,)),
    operation(
        "REDUCE_ALL REDUCE_ANY", "Reduce.cpp: reduce::validateLogical", "BOOL8@3", "SAME TENSOR_INT32 BOOL", checks=(max_rank,)
    ),
    operation(
        "REDUCE_MAX REDUCE_MIN", "Reduce.cpp: reduce::validateMaxMin", "REAL@3", "SAME TENSOR_INT32 BOOL", checks=(max_rank,)
    ),
    operation(
        "REDUCE_PROD REDUCE_SUM", "Reduce.cpp: reduce::validateProdSum", "FLOAT@3", "SAME TENSOR_INT32 BOOL", checks=(max_rank,)
    ),
    operation(
        "ARGMAX ARGMIN",
        "ArgMinMax.cpp: arg_min_max::validate",
        "FLOAT@3 QUANT8_ASYMM@3 QUANT8_ASYMM_SIGNED@3 INT32@3",
        "SAME INT32",
        outputs=("TENSOR_INT32",),
    ),
)


# Inputs of IF: condition, then-model, else-model, and inputs of the branches.
# Inputs of WHILE: condition model, body model, and inputs of the loop.
IF_THEN, IF_ELSE, IF_FIRST_INPUT = 1, 2, 3
WHILE_CONDITION, WHILE_BODY, WHILE_FIRST_INPUT = 0, 1, 2

_LEVEL = 4


def validate_if(view: OperationView) -> Version:
    """OperationCheck an IF. Return the version that the IF needs."""
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
    """OperationCheck a WHILE. Return the version that the WHILE needs.

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
        refuse("control-flow-model-operands", Call.ADD_OPERATION, "outputs of the body model", len(body.outputs), needed)
    _check_all_compatible(body.input_operands, outer, "input of the body model")
    _check_all_compatible(body.output_operands, view.outputs, "output of the body model")
    _check_all_compatible(body.input_operands, body.output_operands, "state of the body model")
    sized = [*outer, *view.outputs, *condition.input_operands, *body.input_operands, *body.output_operands]
    return Version(_LEVEL, runtime_only=any(operand.byte_size == 0 for operand in sized))


def _check_operand_count(view: OperationView) -> None:
    if len(view.inputs) < 3:
        refuse("control-flow-operands", Call.ADD_OPERATION, "inputs", len(view.inputs), "at least 3")
    if not view.outputs:
        refuse("control-flow-operands", Call.ADD_OPERATION, "outputs", 0, "at least 1")


def _check_condition(operand: NnOperand, subject: str) -> None:
    if operand.type != OperandType.TENSOR_BOOL8 or operand.dimensions != (1,):
        value = f"{type_of(operand.type)} {list(operand.dimensions)}"
        refuse("control-flow-condition", Call.ADD_OPERATION, subject, value, "TENSOR_BOOL8 [1]")


def _model(view: OperationView, index: int) -> NnModel:
    operand = view.inputs[index]
    if operand.type != OperandType.MODEL:
        refuse("control-flow-model", Call.ADD_OPERATION, f"input {index}", type_of(operand.type), "MODEL")
    if operand.submodel is None:
        refuse("control-flow-model", Call.ADD_OPERATION, f"input {index}", "no model", "a finished model")
    return operand.submodel


def _check_count(subject: str, found: int, needed: int) -> None:
    if found != needed:
        refuse("control-flow-model-operands", Call.ADD_OPERATION, subject, found, needed)


def _check_all_compatible(inner: Sequence[NnOperand], outer: Sequence[NnOperand], subject: str) -> None:
    """OperationCheck that operands have compatible types, shapes and quantization, pair by pair.

    An unknown rank or dimension is compatible with every rank or dimension. Upstream: Validation.cpp compatible.
    """
    for index, (first, second) in enumerate(zip(inner, outer, strict=False)):
        place = f"{subject} {index}"
        if first.type != second.type:
            refuse("control-flow-compatible", Call.ADD_OPERATION, f"type of {place}", type_of(first.type), type_of(second.type))
        shapes = first.dimensions, second.dimensions
        if all(shapes) and (len(shapes[0]) != len(shapes[1]) or any(a and b and a != b for a, b in zip(*shapes, strict=True))):
            refuse("control-flow-compatible", Call.ADD_OPERATION, f"dimensions of {place}", list(shapes[0]), list(shapes[1]))
        quantization = [(operand.scale, operand.zero_point, operand.channels) for operand in (first, second)]
        if quantization[0] != quantization[1]:
            refuse("control-flow-compatible", Call.ADD_OPERATION, f"quantization of {place}", quantization[0], quantization[1])
