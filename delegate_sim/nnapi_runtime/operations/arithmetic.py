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
from ..refusal import Call, OperandPart, Violation, refuse, rule
from ..types import OperandType, OperationType, Version, element_count, type_of
from .signature import (
    BOOL,
    BOOL_3,
    FLOAT_1,
    FLOAT_2,
    FLOAT_3,
    FLOAT_4,
    INT32,
    NUMBER_3,
    QUANT8_1,
    QUANT8_3,
    RANK_LIMIT,
    REAL_1,
    REAL_2,
    REAL_3,
    SAME,
    SCALAR,
    TENSOR_BOOL8,
    TENSOR_INT32,
    Decider,
    OperationRule,
    OperationView,
    SignatureCheck,
    Slot,
    binary,
    form,
    levels,
    max_rank,
    one_of,
    unary,
)

if TYPE_CHECKING:
    from ..model import NnModel

_O = OperationType


def _activation(quantized: dict[int, int]) -> OperationRule:
    return OperationRule("Activation.cpp: activation::validate", {**FLOAT_1, **quantized}, (form(SAME),), checks=(max_rank(0),))


def _rank_4_level(view: OperationView) -> int:
    return 1 if view.inputs[0].rank == 4 else 3


_T = OperandType

_BEYOND_FLOAT32 = (
    "the product of the input scales, which exceeds float32 (because of values such as -3.4e38 in an attention mask)"
)

MUL_SCALE = rule("operation-mul-output-scale")
MUL_SCALE_SIGNED = rule("operation-mul-output-scale-signed")


def _mul_scale(code: int) -> SignatureCheck:
    def find(view: OperationView) -> Violation | None:
        if view.inputs[0].type != code:
            return None
        product = float32(view.inputs[0].scale * view.inputs[1].scale)
        scale = view.outputs[0].scale
        if scale > product:
            return None
        actual, bound = f"{scale:.4g}", f"{product:.4g}"
        if actual == bound and scale != product:
            actual, bound = str(scale), str(product)
        return OperandPart("output", 0, "scale"), actual, f"more than {bound if math.isfinite(product) else _BEYOND_FLOAT32}"

    return SignatureCheck(MUL_SCALE if code == _T.TENSOR_QUANT8_ASYMM else MUL_SCALE_SIGNED, find)


def _ranks_of_both(view: OperationView) -> Violation | None:
    ranks = [operand.rank for operand in view.inputs[:2]]
    if 0 in ranks or max(ranks) <= 4:
        return None
    return "ranks of inputs 0 and 1", " and ".join(map(str, ranks)), "at most 4"


def _arithmetic(table: dict[int, int], *checks: SignatureCheck) -> OperationRule:
    return OperationRule(
        "Broadcast.cpp: broadcast::validate",
        table,
        (form(SAME, SAME, INT32),),
        checks=(*checks, SignatureCheck(RANK_LIMIT, _ranks_of_both)),
    )


_COMPARISON = binary({**NUMBER_3, **BOOL_3}, "Comparisons.cpp: comparisons::validate", TENSOR_BOOL8)
_ELEMENTWISE = unary(FLOAT_3, "Elementwise.cpp: elementwise::validate")
_MAXIMUM_MINIMUM = binary(NUMBER_3, "MaximumMinimum.cpp: maximum_minimum::validate")
_LOGICAL = binary(BOOL_3, "LogicalAndOr.cpp: logical::validate")

CAST_SHAPE = rule("operation-cast-shape")


def _cast_shape(view: OperationView) -> Violation | None:
    given, output = view.inputs[0].dimensions, view.outputs[0].dimensions
    if not given or not output or given == output or element_count(output) == 0:
        return None
    return OperandPart("output", 0, "dimensions"), list(output), f"the dimensions of the input, {list(given)}"


_CAST_ANY = frozenset({_T.TENSOR_FLOAT16, _T.TENSOR_FLOAT32, _T.TENSOR_INT32, _T.TENSOR_QUANT8_ASYMM})
_CAST_SAME = (
    _T.TENSOR_BOOL8,
    _T.TENSOR_QUANT16_ASYMM,
    _T.TENSOR_QUANT16_SYMM,
    _T.TENSOR_QUANT8_ASYMM_SIGNED,
    _T.TENSOR_QUANT8_SYMM,
)
_CAST_OUTPUT = Slot(lambda decider: _CAST_ANY if decider in _CAST_ANY else frozenset({decider}))


def _reduction(table: dict[int, int], function: str) -> OperationRule:
    return OperationRule(f"Reduce.cpp: reduce::{function}", table, (form(SAME, TENSOR_INT32, BOOL),), checks=(max_rank(0),))


_ARG_MIN_MAX = OperationRule(
    "ArgMinMax.cpp: arg_min_max::validate", dict.fromkeys(NUMBER_3, 3), (form(SAME, INT32),), (form(TENSOR_INT32),)
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
    _O.HARD_SWISH: unary(
        {**FLOAT_4, **levels(QUANT8_ASYMM=4, QUANT8_ASYMM_SIGNED=4)}, "Activation.cpp: activation::validateHardSwish"
    ),
    _O.ELU: OperationRule("Elu.cpp: elu::validate", FLOAT_4, (form(SAME, SCALAR),)),
    _O.PRELU: binary(REAL_3, "PRelu.cpp: prelu::validate"),
    _O.L2_NORMALIZATION: OperationRule(
        "L2Normalization.cpp: l2_norm::validate",
        {**FLOAT_1, **QUANT8_3},
        (form(SAME), form(SAME, INT32, level=3)),
        checks=(max_rank(0),),
        raises=(_rank_4_level,),
        optional=(OptionalInputs(1, (MINUS_ONE,)),),
    ),
    _O.LOCAL_RESPONSE_NORMALIZATION: OperationRule(
        "LocalResponseNormalization.cpp: local_response_norm::validate",
        FLOAT_1,
        (form(SAME, INT32, SCALAR, SCALAR, SCALAR), form(SAME, INT32, SCALAR, SCALAR, SCALAR, INT32, level=3)),
        checks=(max_rank(0),),
        raises=(_rank_4_level,),
        optional=(OptionalInputs(5, (MINUS_ONE,)),),
    ),
    _O.INSTANCE_NORMALIZATION: OperationRule(
        "InstanceNormalization.cpp: instance_normalization::validate", FLOAT_3, (form(SAME, SCALAR, SCALAR, SCALAR, BOOL),)
    ),
    _O.SOFTMAX: OperationRule(
        "Softmax.cpp: softmax::validate",
        REAL_1,
        (form(SAME, SCALAR), form(SAME, SCALAR, INT32, level=3)),
        checks=(max_rank(0),),
        raises=(lambda view: 1 if view.inputs[0].rank in {0, 2, 4} else 3,),
        optional=(OptionalInputs(2, (MINUS_ONE,)),),
    ),
    _O.LOG_SOFTMAX: OperationRule("LogSoftmax.cpp: log_softmax::validate", FLOAT_3, (form(SAME, SCALAR, INT32),)),
    _O.ADD: _arithmetic({**FLOAT_1, **QUANT8_1, **levels(INT32=4)}),
    _O.MUL: _arithmetic(
        {**FLOAT_1, **QUANT8_1, **levels(INT32=4)}, _mul_scale(_T.TENSOR_QUANT8_ASYMM), _mul_scale(_T.TENSOR_QUANT8_ASYMM_SIGNED)
    ),
    _O.SUB: _arithmetic({**FLOAT_2, **QUANT8_3, **levels(INT32=4)}),
    # Upstream rejects only unsigned quantized operands of DIV.
    _O.DIV: _arithmetic({**FLOAT_2, **levels(QUANT8_ASYMM_SIGNED=4, INT32=4)}),
    _O.MAXIMUM: _MAXIMUM_MINIMUM,
    _O.MINIMUM: _MAXIMUM_MINIMUM,
    _O.POW: binary(FLOAT_3, "Pow.cpp: pow::validate"),
    _O.ABS: unary({**FLOAT_3, **levels(INT32=4)}, "Elementwise.cpp: elementwise::validateAbs"),
    _O.EXP: _ELEMENTWISE,
    _O.LOG: _ELEMENTWISE,
    _O.SIN: _ELEMENTWISE,
    _O.SQRT: _ELEMENTWISE,
    _O.RSQRT: unary({**FLOAT_3, **levels(QUANT8_ASYMM=7, QUANT8_ASYMM_SIGNED=7)}, "Elementwise.cpp: elementwise::validateRsqrt"),
    _O.FLOOR: unary(FLOAT_1, "Elementwise.cpp: elementwise::validateFloor", max_rank(0)),
    _O.NEG: unary({**FLOAT_3, **levels(INT32=3)}, "Neg.cpp: neg::validate"),
    _O.LOGICAL_NOT: unary(BOOL_3, "LogicalNot.cpp: logical_not::validate"),
    _O.LOGICAL_AND: _LOGICAL,
    _O.LOGICAL_OR: _LOGICAL,
    _O.EQUAL: _COMPARISON,
    _O.GREATER: _COMPARISON,
    _O.GREATER_EQUAL: _COMPARISON,
    _O.LESS: _COMPARISON,
    _O.LESS_EQUAL: _COMPARISON,
    _O.NOT_EQUAL: _COMPARISON,
    _O.SELECT: OperationRule(
        "Select.cpp: select_op::validate", dict.fromkeys(NUMBER_3, 3), (form(TENSOR_BOOL8, SAME, SAME),), decider=Decider(1)
    ),
    _O.CAST: OperationRule(
        "Cast.cpp: cast::validate",
        {**dict.fromkeys(_CAST_ANY, 3), **dict.fromkeys(_CAST_SAME, 4)},
        (form(SAME),),
        (form(_CAST_OUTPUT),),
        checks=(SignatureCheck(CAST_SHAPE, _cast_shape),),
    ),
    # The type of the output may need a higher level. The check of the operand returns this level.
    _O.QUANTIZE: OperationRule(
        "Quantize.cpp: quantize::validate",
        FLOAT_3,
        (form(SAME),),
        (form(one_of(_T.TENSOR_QUANT8_ASYMM, _T.TENSOR_QUANT8_ASYMM_SIGNED)),),
    ),
    _O.DEQUANTIZE: OperationRule(
        "Dequantize.cpp: dequantize::validate",
        levels(QUANT8_ASYMM=1, QUANT8_ASYMM_SIGNED=3, QUANT8_SYMM=3, QUANT8_SYMM_PER_CHANNEL=3),
        (form(SAME),),
        (form(one_of(_T.TENSOR_FLOAT16, _T.TENSOR_FLOAT32)),),
        checks=(max_rank(0),),
    ),
    _O.MEAN: OperationRule("SimpleMath.cpp: mean::validate", REAL_2, (form(SAME, TENSOR_INT32, INT32),), checks=(max_rank(0),)),
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
        value = f"{type_of(operand.type)} {list(operand.dimensions)}"
        refuse(CONDITION, Call.ADD_OPERATION, subject, value, "TENSOR_BOOL8 [1]")


def _model(view: OperationView, index: int) -> NnModel:
    operand = view.inputs[index]
    if operand.type != OperandType.MODEL:
        refuse(MODEL_OPERAND, Call.ADD_OPERATION, f"input {index}", type_of(operand.type), "MODEL")
    if operand.submodel is None:
        refuse(MODEL_OPERAND, Call.ADD_OPERATION, f"input {index}", "no model", "a finished model")
    return operand.submodel


def _check_count(subject: str, found: int, needed: int) -> None:
    if found != needed:
        refuse(MODEL_COUNT, Call.ADD_OPERATION, subject, found, needed)


def _check_all_compatible(inner: Sequence[NnOperand], outer: Sequence[NnOperand], subject: str) -> None:
    """Check that operands have compatible types, shapes and quantization, pair by pair.

    An unknown rank or dimension is compatible with every rank or dimension. Upstream: Validation.cpp compatible.
    """
    for index, (first, second) in enumerate(zip(inner, outer, strict=False)):
        place = f"{subject} {index}"
        if first.type != second.type:
            refuse(COMPATIBLE, Call.ADD_OPERATION, f"type of {place}", type_of(first.type), type_of(second.type))
        shapes = first.dimensions, second.dimensions
        if all(shapes) and (len(shapes[0]) != len(shapes[1]) or any(a and b and a != b for a, b in zip(*shapes, strict=True))):
            refuse(COMPATIBLE, Call.ADD_OPERATION, f"dimensions of {place}", list(shapes[0]), list(shapes[1]))
        quantization = [(operand.scale, operand.zero_point, operand.channels) for operand in (first, second)]
        if quantization[0] != quantization[1]:
            refuse(COMPATIBLE, Call.ADD_OPERATION, f"quantization of {place}", quantization[0], quantization[1])
