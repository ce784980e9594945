"""Activation functions, elementwise arithmetic, conversions and reductions, and rules on IF and WHILE.

The operands of an IF or WHILE must match the inputs and outputs of the models that it runs.

Upstream: common/types/src/Validation.cpp validateIfOperation, validateWhileOperation.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ...foundation.float32 import float32
from ..operands import MINUS_ONE, NnOperand, OptionalInputs
from ..refusal import Call, OperandPart, refuse
from ..types import OperandType, OperationType, Version, element_count, type_of
from .signature import (
    BOOL,
    BOOL_3,
    FLOAT_1,
    FLOAT_2,
    FLOAT_3,
    FLOAT_4,
    INT32,
    MAX_RANK,
    NUMBER_3,
    QUANT8,
    QUANT8_1,
    QUANT8_3,
    REAL_1,
    REAL_2,
    REAL_3,
    SAME,
    SCALAR,
    TENSOR_BOOL8,
    TENSOR_INT32,
    OperationCheck,
    OperationRule,
    OperationView,
    form,
    levels,
    max_rank,
    one_of,
    operation,
)

if TYPE_CHECKING:
    from ..model import NnModel

_O = OperationType


_T = OperandType

_BEYOND_FLOAT32 = (
    "the product of the input scales, which exceeds float32 (because of values such as -3.4e38 in an attention mask)"
)


def _activation(quantized: dict[int, int]) -> OperationRule:
    return operation("Activation.cpp: activation::validate", {**FLOAT_1, **quantized}, form(SAME), checks=(max_rank,))


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


def _arithmetic(table: dict[int, int], *checks: OperationCheck) -> OperationRule:
    return operation("Broadcast.cpp: broadcast::validate", table, form(SAME, SAME, INT32), checks=(*checks, _ranks_of_both))


_PAIR = form(SAME, SAME)
_COMPARISON = operation("Comparisons.cpp: comparisons::validate", {**NUMBER_3, **BOOL_3}, _PAIR, outputs=(form(TENSOR_BOOL8),))
_ELEMENTWISE = operation("Elementwise.cpp: elementwise::validate", FLOAT_3, form(SAME))
_MAXIMUM_MINIMUM = operation("MaximumMinimum.cpp: maximum_minimum::validate", NUMBER_3, _PAIR)
_LOGICAL = operation("LogicalAndOr.cpp: logical::validate", BOOL_3, _PAIR)


def _cast_shape(view: OperationView) -> None:
    given, output = view.inputs[0].dimensions, view.outputs[0].dimensions
    if given and output and given != output and element_count(output):
        needed = f"the dimensions of the input, {list(given)}"
        view.refuse("operation-cast-shape", OperandPart("output", 0, "dimensions"), list(output), needed)


_CAST_ANY = frozenset({_T.TENSOR_FLOAT16, _T.TENSOR_FLOAT32, _T.TENSOR_INT32, _T.TENSOR_QUANT8_ASYMM})
_CAST_SAME = (
    _T.TENSOR_BOOL8,
    _T.TENSOR_QUANT16_ASYMM,
    _T.TENSOR_QUANT16_SYMM,
    _T.TENSOR_QUANT8_ASYMM_SIGNED,
    _T.TENSOR_QUANT8_SYMM,
)


def _cast_output(decider: int) -> Collection[int]:
    return _CAST_ANY if decider in _CAST_ANY else (decider,)


def _reduction(table: dict[int, int], function: str) -> OperationRule:
    return operation(f"Reduce.cpp: reduce::{function}", table, form(SAME, TENSOR_INT32, BOOL), checks=(max_rank,))


_ARG_MIN_MAX = operation(
    "ArgMinMax.cpp: arg_min_max::validate", dict.fromkeys(NUMBER_3, 3), form(SAME, INT32), outputs=(form(TENSOR_INT32),)
)
_LOGICAL_REDUCTION = _reduction(BOOL_3, "validateLogical")
_MAX_MIN_REDUCTION = _reduction(REAL_3, "validateMaxMin")
_PROD_SUM_REDUCTION = _reduction(FLOAT_3, "validateProdSum")

RULES: dict[int, OperationRule] = {
    _O.RELU: _activation(QUANT8_1),
    _O.RELU1: _activation(QUANT8_1),
    _O.RELU6: _activation(QUANT8_1),
    _O.LOGISTIC: _activation(QUANT8_1),
    _O.TANH: _activation(QUANT8_3),
    _O.HARD_SWISH: operation(
        "Activation.cpp: activation::validateHardSwish", {**FLOAT_4, **levels(QUANT8_ASYMM=4, QUANT8_ASYMM_SIGNED=4)}, form(SAME)
    ),
    _O.ELU: operation("Elu.cpp: elu::validate", FLOAT_4, form(SAME, SCALAR)),
    _O.PRELU: operation("PRelu.cpp: prelu::validate", REAL_3, _PAIR),
    _O.L2_NORMALIZATION: operation(
        "L2Normalization.cpp: l2_norm::validate",
        {**FLOAT_1, **QUANT8_3},
        form(SAME),
        form(SAME, INT32, level=3),
        checks=(max_rank, _rank_4_level),
        optional=(OptionalInputs(1, (MINUS_ONE,)),),
    ),
    _O.LOCAL_RESPONSE_NORMALIZATION: operation(
        "LocalResponseNormalization.cpp: local_response_norm::validate",
        FLOAT_1,
        form(SAME, INT32, SCALAR, SCALAR, SCALAR),
        form(SAME, INT32, SCALAR, SCALAR, SCALAR, INT32, level=3),
        checks=(max_rank, _rank_4_level),
        optional=(OptionalInputs(5, (MINUS_ONE,)),),
    ),
    _O.INSTANCE_NORMALIZATION: operation(
        "InstanceNormalization.cpp: instance_normalization::validate", FLOAT_3, form(SAME, SCALAR, SCALAR, SCALAR, BOOL)
    ),
    _O.SOFTMAX: operation(
        "Softmax.cpp: softmax::validate",
        REAL_1,
        form(SAME, SCALAR),
        form(SAME, SCALAR, INT32, level=3),
        checks=(max_rank, lambda view: 1 if view.inputs[0].rank in {0, 2, 4} else 3),
        optional=(OptionalInputs(2, (MINUS_ONE,)),),
    ),
    _O.LOG_SOFTMAX: operation("LogSoftmax.cpp: log_softmax::validate", FLOAT_3, form(SAME, SCALAR, INT32)),
    _O.ADD: _arithmetic({**FLOAT_1, **QUANT8_1, **levels(INT32=4)}),
    _O.MUL: _arithmetic({**FLOAT_1, **QUANT8_1, **levels(INT32=4)}, _mul_scale),
    _O.SUB: _arithmetic({**FLOAT_2, **QUANT8_3, **levels(INT32=4)}),
    # Upstream rejects only unsigned quantized operands of DIV.
    _O.DIV: _arithmetic({**FLOAT_2, **levels(QUANT8_ASYMM_SIGNED=4, INT32=4)}),
    _O.MAXIMUM: _MAXIMUM_MINIMUM,
    _O.MINIMUM: _MAXIMUM_MINIMUM,
    _O.POW: operation("Pow.cpp: pow::validate", FLOAT_3, _PAIR),
    _O.ABS: operation("Elementwise.cpp: elementwise::validateAbs", {**FLOAT_3, **levels(INT32=4)}, form(SAME)),
    _O.EXP: _ELEMENTWISE,
    _O.LOG: _ELEMENTWISE,
    _O.SIN: _ELEMENTWISE,
    _O.SQRT: _ELEMENTWISE,
    _O.RSQRT: operation(
        "Elementwise.cpp: elementwise::validateRsqrt", {**FLOAT_3, **levels(QUANT8_ASYMM=7, QUANT8_ASYMM_SIGNED=7)}, form(SAME)
    ),
    _O.FLOOR: operation("Elementwise.cpp: elementwise::validateFloor", FLOAT_1, form(SAME), checks=(max_rank,)),
    _O.NEG: operation("Neg.cpp: neg::validate", {**FLOAT_3, **levels(INT32=3)}, form(SAME)),
    _O.LOGICAL_NOT: operation("LogicalNot.cpp: logical_not::validate", BOOL_3, form(SAME)),
    _O.LOGICAL_AND: _LOGICAL,
    _O.LOGICAL_OR: _LOGICAL,
    _O.EQUAL: _COMPARISON,
    _O.GREATER: _COMPARISON,
    _O.GREATER_EQUAL: _COMPARISON,
    _O.LESS: _COMPARISON,
    _O.LESS_EQUAL: _COMPARISON,
    _O.NOT_EQUAL: _COMPARISON,
    _O.SELECT: operation(
        "Select.cpp: select_op::validate",
        dict.fromkeys(NUMBER_3, 3),
        form(TENSOR_BOOL8, SAME, SAME),
        decider=OperandPart("input", 1),
    ),
    _O.CAST: operation(
        "Cast.cpp: cast::validate",
        {**dict.fromkeys(_CAST_ANY, 3), **dict.fromkeys(_CAST_SAME, 4)},
        form(SAME),
        outputs=(form(_cast_output),),
        checks=(_cast_shape,),
    ),
    # The type of the output may need a higher level. The check of the operand returns this level.
    _O.QUANTIZE: operation("Quantize.cpp: quantize::validate", FLOAT_3, form(SAME), outputs=(form(one_of(*QUANT8)),)),
    _O.DEQUANTIZE: operation(
        "Dequantize.cpp: dequantize::validate",
        levels(QUANT8_ASYMM=1, QUANT8_ASYMM_SIGNED=3, QUANT8_SYMM=3, QUANT8_SYMM_PER_CHANNEL=3),
        form(SAME),
        outputs=(form(one_of(_T.TENSOR_FLOAT16, _T.TENSOR_FLOAT32)),),
        checks=(max_rank,),
    ),
    _O.MEAN: operation("SimpleMath.cpp: mean::validate", REAL_2, form(SAME, TENSOR_INT32, INT32), checks=(max_rank,)),
    _O.REDUCE_ALL: _LOGICAL_REDUCTION,
    _O.REDUCE_ANY: _LOGICAL_REDUCTION,
    _O.REDUCE_MAX: _MAX_MIN_REDUCTION,
    _O.REDUCE_MIN: _MAX_MIN_REDUCTION,
    _O.REDUCE_PROD: _PROD_SUM_REDUCTION,
    _O.REDUCE_SUM: _PROD_SUM_REDUCTION,
    _O.ARGMAX: _ARG_MIN_MAX,
    _O.ARGMIN: _ARG_MIN_MAX,
}


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
