"""Prepare of elementwise arithmetic, comparison, logic and selection."""

from __future__ import annotations

import pytest

from delegate_sim.model.model import Allocation
from delegate_sim.prepare.tensors import PrepareError

RELU, RELU_N1_TO_1, RELU6, TANH = 1, 2, 3, 4
"""Values of the schema's ActivationFunctionType, as options hold them."""
PAIRS_OF_FLOATS = ("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "POW", "FLOOR_DIV", "FLOOR_MOD", "SQUARED_DIFFERENCE")
COMPARISONS = ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")


@pytest.mark.parametrize("op", [*PAIRS_OF_FLOATS, *COMPARISONS])
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((2, 3), (2, 3), (2, 3)),
        ((2, 3), (), (2, 3)),
        ((3,), (4, 2, 1), (4, 2, 3)),
        ((0, 3), (1, 3), (0, 3)),
    ],
)
def test_operands_are_broadcast(kernels, op, first, second, expected):
    operands = [kernels.arena("FLOAT32", *first), kernels.arena("FLOAT32", *second)]
    kernels.assert_static(kernels.prepare(op, operands, [kernels.arena("FLOAT32", 7)]), expected)


@pytest.mark.parametrize("op", [*PAIRS_OF_FLOATS, *COMPARISONS, "BITWISE_XOR", "RIGHT_SHIFT"])
@pytest.mark.parametrize(("first", "second"), [((2, 3), (2,)), ((0,), (2,))])
def test_shapes_that_cannot_be_broadcast_are_refused(kernels, op, first, second):
    operands = [kernels.arena("INT32", *first), kernels.arena("INT32", *second)]
    with pytest.raises(PrepareError, match="cannot be broadcast together"):
        kernels.prepare(op, operands, [kernels.arena("INT32")])


@pytest.mark.parametrize("op", [*PAIRS_OF_FLOATS, *COMPARISONS])
def test_float16_constant_beside_float32_is_refused(kernels, op):
    operands = [kernels.arena("FLOAT32", 3), kernels.constant([1, 2, 3], "FLOAT16")]
    with pytest.raises(PrepareError, match="the operands have different types"):
        kernels.prepare(op, operands, [kernels.arena("FLOAT32", 3)])


@pytest.mark.parametrize("op", sorted({*PAIRS_OF_FLOATS, "BITWISE_XOR", "RIGHT_SHIFT"} - {"MUL"}))
def test_result_takes_the_type_of_the_operands(kernels, op):
    node = kernels.prepare(op, [kernels.arena("INT32", 3), kernels.arena("INT32", 3)], [kernels.arena("FLOAT32", 3)])
    assert node.output().type == "INT32"


@pytest.mark.parametrize("op", COMPARISONS)
def test_result_of_a_comparison_is_bool(kernels, op):
    node = kernels.prepare(op, [kernels.arena("INT64", 3), kernels.arena("INT64", 1)], [kernels.arena("INT64")])
    assert node.output().type == "BOOL"


def test_strings_are_equal_or_not_but_have_no_order(kernels):
    operands = [kernels.arena("STRING", 3), kernels.arena("STRING", 3)]
    kernels.assert_static(kernels.prepare("EQUAL", operands, [kernels.arena("BOOL")]), (3,))
    with pytest.raises(PrepareError, match="strings cannot be ordered"):
        kernels.prepare("LESS", operands, [kernels.arena("BOOL")])


@pytest.mark.parametrize(
    ("op", "kind", "message"),
    [
        ("POW", "INT64", "tensor 0 is INT64"),
        ("FLOOR_DIV", "INT64", "tensor 0 is INT64"),
        ("FLOOR_DIV", "FLOAT16", "tensor 0 is FLOAT16"),
        ("FLOOR_MOD", "FLOAT16", "tensor 0 is FLOAT16"),
        ("LOGICAL_AND", "INT8", "tensor 0 is INT8"),
        ("LOGICAL_OR", "FLOAT32", "tensor 0 is FLOAT32"),
    ],
)
def test_binary_operators_refuse_types_they_do_not_know(kernels, op, kind, message):
    with pytest.raises(PrepareError, match=message):
        kernels.prepare(op, [kernels.arena(kind, 3), kernels.arena(kind, 3)], [kernels.arena(kind, 3)])


@pytest.mark.parametrize(
    ("op", "count", "message"),
    [
        ("ADD", 1, "has 1 input and 1 output"),
        ("LESS", 3, "has 3 inputs and 1 output"),
        ("NEG", 2, "has 2 inputs and 1 output"),
        ("SELECT", 2, "has 2 inputs and 1 output"),
        ("ADD_N", 1, "does not have at least two inputs and exactly one output"),
    ],
)
def test_wrong_number_of_operands_is_refused(kernels, op, count, message):
    with pytest.raises(PrepareError, match=message):
        kernels.prepare(op, [kernels.arena("FLOAT32", 3)] * count, [kernels.arena("FLOAT32", 3)])


def test_operand_left_out_is_refused(kernels):
    with pytest.raises(PrepareError, match="input 1 is missing"):
        kernels.prepare("MAXIMUM", [kernels.arena("FLOAT32", 3), None], [kernels.arena("FLOAT32", 3)])


def test_atan2_compares_ranks_but_not_sizes(kernels):
    operands = [kernels.arena("FLOAT32", 2, 3), kernels.arena("FLOAT32", 5, 7)]
    kernels.assert_static(kernels.prepare("ATAN2", operands, [kernels.arena("FLOAT32")]), (2, 3))
    with pytest.raises(PrepareError, match="the operands have different numbers of dimensions"):
        kernels.prepare("ATAN2", [kernels.arena("FLOAT32", 2, 3), kernels.arena("FLOAT32", 3)], [kernels.arena("FLOAT32")])


def prepare_quantized(kernels, op, kind, scales, zero_points=(0, 0, 0), **options):
    """Prepare a binary operator with quantized operands and result; 0 stands for a scale left out."""
    tensors = [
        kernels.quantized(kernels.arena(kind, 3), scale, zero_point=zero_point) if scale else kernels.arena(kind, 3)
        for scale, zero_point in zip(scales, zero_points, strict=True)
    ]
    return kernels.prepare(op, tensors[:2], tensors[2:], **options)


@pytest.mark.parametrize("op", ["ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE"])
def test_quantized_arithmetic(kernels, op):
    kernels.assert_static(prepare_quantized(kernels, op, "INT8", (0.5, 0.25, 0.5), (3, -128, 127)), (3,))


@pytest.mark.parametrize("op", ["ADD", "SUB", "SQUARED_DIFFERENCE"])
@pytest.mark.parametrize("scales", [(0, 0.5, 0.5), (0.5, 0, 0.5)])
def test_sums_without_scales_abort_the_runtime(kernels, op, scales):
    with pytest.raises(PrepareError, match="aborts"):
        prepare_quantized(kernels, op, "INT8", scales)


def test_smallest_scale_of_a_sum(kernels):
    """ADD needs a multiplier below 1. SUB can do with a greater one, but not with 1 itself."""
    smallest = 2 * 0.5 / 2**20
    prepare_quantized(kernels, "ADD", "INT8", (0.5, 0.25, 2 * smallest))
    prepare_quantized(kernels, "SUB", "INT8", (0.5, 0.25, smallest / 2))
    for op, scale in (("ADD", smallest), ("ADD", smallest / 2), ("SUB", smallest)):
        with pytest.raises(PrepareError, match="aborts"):
            prepare_quantized(kernels, op, "INT8", (0.5, 0.25, scale))


def test_smallest_scale_of_a_squared_difference(kernels):
    smallest = (2 * 0.5) ** 2 / 2**14
    prepare_quantized(kernels, "SQUARED_DIFFERENCE", "INT8", (0.5, 0.25, 2 * smallest))
    with pytest.raises(PrepareError, match="aborts"):
        prepare_quantized(kernels, "SQUARED_DIFFERENCE", "INT8", (0.5, 0.25, smallest))


def test_zero_point_out_of_range(kernels):
    prepare_quantized(kernels, "ADD", "INT8", (0.5, 0.5, 0.5), (0, 0, 200))
    for op in ("SUB", "SQUARED_DIFFERENCE"):
        with pytest.raises(PrepareError, match="a zero point is out of range"):
            prepare_quantized(kernels, op, "INT8", (0.5, 0.5, 0.5), (0, 0, 200))


@pytest.mark.parametrize("op", ["ADD", "SUB"])
def test_int16_sum_is_symmetric(kernels, op):
    prepare_quantized(kernels, op, "INT16", (0.3, 0.2, 0.4))
    with pytest.raises(PrepareError, match="a zero point is not 0"):
        prepare_quantized(kernels, op, "INT16", (0.3, 0.2, 0.4), (0, 0, 1))


@pytest.mark.parametrize("op", ["ADD", "SUB"])
def test_int16_sum_of_power_of_two_scales_keeps_the_greater(kernels, op):
    prepare_quantized(kernels, op, "INT16", (0.5, 0.25, 0.5), pot_scale_int16=True)
    prepare_quantized(kernels, op, "INT16", (0.5, 0.25, 1.0), pot_scale_int16=False)
    prepare_quantized(kernels, op, "INT16", (0.5, 0.3, 1.0), pot_scale_int16=True)
    with pytest.raises(PrepareError, match="the output scale is not the larger input scale"):
        prepare_quantized(kernels, op, "INT16", (0.5, 0.25, 1.0), pot_scale_int16=True)


def test_int16_without_quantization_is_added_but_not_subtracted(kernels):
    kernels.assert_static(prepare_quantized(kernels, "ADD", "INT16", (0, 0, 0)), (3,))
    with pytest.raises(PrepareError, match="aborts"):
        prepare_quantized(kernels, "SUB", "INT16", (0, 0, 0))


@pytest.mark.parametrize("op", ["ADD", "SUB", "MUL", "DIV"])
def test_bounds_of_an_activation_must_be_quantizable(kernels, op):
    scales = (1e-10, 1e-10, 1e-10)
    prepare_quantized(kernels, op, "UINT8", scales, fused_activation_function=RELU)
    with pytest.raises(PrepareError, match="the output scale is missing, or too small for the bounds of the fused activation"):
        prepare_quantized(kernels, op, "UINT8", scales, fused_activation_function=RELU6)


def test_mul_keeps_the_declared_type(kernels):
    node = kernels.prepare("MUL", [kernels.arena("INT16", 3), kernels.arena("INT16", 3)], [kernels.arena("FLOAT32", 3)])
    assert node.output().type == "FLOAT32"


def test_mul_refuses_an_activation_on_complex_numbers(kernels):
    operands = [kernels.arena("COMPLEX64", 3), kernels.arena("COMPLEX64", 3)]
    kernels.prepare("MUL", operands, [kernels.arena("COMPLEX64")])
    with pytest.raises(PrepareError, match="a multiplication of COMPLEX64 cannot have a fused activation"):
        kernels.prepare("MUL", operands, [kernels.arena("COMPLEX64")], fused_activation_function=TANH)


@pytest.mark.parametrize(
    ("first", "second", "activation", "expected"),
    [
        ([1, 2], [2, 3], 0, [2, 6]),
        ([[1], [2]], [2, 3], 0, [[2, 3], [4, 6]]),
        ([-1, 9], 3, RELU, [0, 27]),
        ([-1, 9], 3, RELU6, [0, 6]),
        ([-1, 9], 3, RELU_N1_TO_1, [-1, 1]),
        ([1 << 18, 1], [1 << 14, 5], 0, [0, 5]),
    ],
)
def test_product_of_known_operands_is_computed(kernels, first, second, activation, expected):
    operands = [kernels.persistent(first), kernels.constant(second)]
    kernels.assert_persistent(
        kernels.prepare("MUL", operands, [kernels.arena("INT32")], fused_activation_function=activation), expected
    )


def test_product_of_known_floats_is_computed(kernels):
    operands = [kernels.constant([1.5, 2.0], "FLOAT32"), kernels.persistent(3.0, "FLOAT32")]
    kernels.assert_persistent(kernels.prepare("MUL", operands, [kernels.arena("FLOAT32")]), [4.5, 6.0])


def test_product_with_an_unknown_operand_is_left_to_the_run(kernels):
    operands = [kernels.persistent([1, 2]), kernels.arena("INT32", 2)]
    kernels.assert_static(kernels.prepare("MUL", operands, [kernels.arena("INT32")]), (2,))


def test_only_mul_is_computed_at_once(kernels):
    operands = [kernels.persistent([1, 2]), kernels.constant([2, 3])]
    for op in ("ADD", "SUB", "FLOOR_DIV", "MAXIMUM"):
        kernels.assert_static(kernels.prepare(op, operands, [kernels.arena("INT32")]), (2,))


def test_product_of_known_operands_of_a_type_that_cannot_be_multiplied(kernels):
    operands = [kernels.constant([1, 1], "BOOL"), kernels.constant([0, 1], "BOOL")]
    with pytest.raises(PrepareError, match="tensor 2 is BOOL"):
        kernels.prepare("MUL", operands, [kernels.arena("BOOL", 2)])
    unknown = [kernels.arena("BOOL", 2), kernels.constant([0, 1], "BOOL")]
    kernels.assert_static(kernels.prepare("MUL", unknown, [kernels.arena("BOOL", 2)]), (2,))


def test_product_of_known_quantized_operands_has_no_known_value(kernels):
    operands = [kernels.quantized(kernels.constant([1, 2], "INT8"), 0.5) for _ in range(2)]
    result = kernels.prepare("MUL", operands, [kernels.quantized(kernels.arena("INT8", 2), 0.5)]).output()
    assert result.allocation is Allocation.PERSISTENT
    with pytest.raises(PrepareError, match="the value of tensor 2 is not known"):
        result.value()


def test_product_of_known_quantized_int16_is_symmetric(kernels):
    operands = [kernels.quantized(kernels.constant([1, 2], "INT16"), 0.5, zero_point=1) for _ in range(2)]
    with pytest.raises(PrepareError, match="a zero point is not 0"):
        kernels.prepare("MUL", operands, [kernels.quantized(kernels.arena("INT16", 2), 0.5)])


@pytest.mark.parametrize("op", ["ABS", "SIN", "COS", "LOG", "SQRT", "RSQRT", "SQUARE", "RELU", "ELU", "GELU", "TANH", "LOGISTIC"])
def test_unary_operators_keep_the_shape_and_demand_the_type(kernels, op):
    kernels.assert_static(kernels.prepare(op, [kernels.arena("FLOAT32", 2, 3)], [kernels.arena("FLOAT32")]), (2, 3))
    with pytest.raises(PrepareError, match="input and output have different types"):
        kernels.prepare(op, [kernels.arena("FLOAT16", 2, 3)], [kernels.arena("FLOAT32", 2, 3)])


@pytest.mark.parametrize("op", ["ABS", "LOG", "SQRT", "RSQRT", "SQUARE", "CEIL"])
def test_float16_is_refused(kernels, op):
    with pytest.raises(PrepareError, match="tensor 0 is FLOAT16"):
        kernels.prepare(op, [kernels.arena("FLOAT16", 3)], [kernels.arena("FLOAT16", 3)])


@pytest.mark.parametrize("op", ["SIN", "COS", "FLOOR", "ROUND", "NEG", "EXP", "RELU", "SIGN", "SOFTMAX"])
def test_float16_is_accepted(kernels, op):
    kernels.assert_static(kernels.prepare(op, [kernels.arena("FLOAT16", 3)], [kernels.arena("FLOAT16")]), (3,))


@pytest.mark.parametrize("op", ["FLOOR", "CEIL", "ROUND", "NEG", "ZEROS_LIKE", "EXP", "FAKE_QUANT"])
def test_result_takes_the_type_of_the_operand(kernels, op):
    node = kernels.prepare(op, [kernels.arena("FLOAT32", 3)], [kernels.arena("INT32", 3)])
    assert node.output().type == "FLOAT32"


def test_int8_elementwise_needs_quantization(kernels):
    source, result = kernels.arena("INT8", 3), kernels.arena("INT8", 3)
    kernels.prepare("ABS", [kernels.quantized(source, 0.5, zero_point=3)], [kernels.quantized(result, 0.25)])
    for operands in ((source, result), (kernels.quantized(source, 0.5), result), (source, kernels.quantized(result, 0.5))):
        with pytest.raises(PrepareError, match="input and output must have affine quantization"):
            kernels.prepare("ABS", [operands[0]], [operands[1]])


def test_int16_elementwise_is_symmetric_if_it_is_quantized(kernels):
    source, result = kernels.arena("INT16", 3), kernels.arena("INT16", 3)
    kernels.prepare("ABS", [source], [result])
    kernels.prepare("ABS", [kernels.quantized(source, 0.5)], [kernels.quantized(result, 0.5)])
    with pytest.raises(PrepareError, match="the zero point of INT16 is not 0"):
        kernels.prepare("ABS", [kernels.quantized(source, 0.5, 0.5, zero_point=1)], [kernels.quantized(result, 0.5)])


def select_operands(kernels, condition, first, second):
    return [kernels.arena("BOOL", *condition), kernels.arena("INT32", *first), kernels.arena("INT32", *second)]


@pytest.mark.parametrize(
    ("op", "shapes", "expected"),
    [
        ("SELECT", ((2, 3), (2, 3), (2, 3)), (2, 3)),
        ("SELECT", ((), (2, 3), (2, 3)), (2, 3)),
        ("SELECT", ((2,), (2, 3), (2, 3)), (2, 3)),
        ("SELECT_V2", ((3,), (2, 1), ()), (2, 3)),
        ("SELECT_V2", ((1,), (0,), (1,)), (0,)),
    ],
)
def test_select(kernels, op, shapes, expected):
    node = kernels.prepare(op, select_operands(kernels, *shapes), [kernels.arena("FLOAT32", 5)])
    kernels.assert_static(node, expected)
    assert node.output().type == "INT32"


@pytest.mark.parametrize(
    ("op", "shapes", "message"),
    [
        ("SELECT", ((3,), (2, 3), (2, 3)), "the shape of the condition does not match the operands"),
        ("SELECT", ((1, 3), (2, 3), (2, 3)), "the shape of the condition does not match the operands"),
        ("SELECT", ((), (2, 3), (3,)), "the operands have different shapes"),
        ("SELECT_V2", ((2,), (3,), (1,)), "cannot be broadcast together"),
        ("SELECT_V2", ((0,), (3,), (1,)), "cannot be broadcast together"),
        ("SELECT_V2", ((1,) * 9, (2,), (2,)), "the result has more than 8 dimensions"),
    ],
)
def test_select_refuses(kernels, op, shapes, message):
    with pytest.raises(PrepareError, match=message):
        kernels.prepare(op, select_operands(kernels, *shapes), [kernels.arena("INT32", 5)])


def test_select_of_single_elements_keeps_the_declared_shape(kernels):
    node = kernels.prepare("SELECT_V2", select_operands(kernels, (), (1,), (1, 1)), [kernels.arena("INT32", 1, 1, 1)])
    kernels.assert_static(node, (1, 1, 1))


def test_select_demands_a_bool_condition_and_one_type(kernels):
    condition, first = kernels.arena("BOOL", 3), kernels.arena("FLOAT32", 3)
    for operands, message in (
        ([first, first, first], "tensor 0 is FLOAT32"),
        ([condition, first, kernels.arena("FLOAT16", 3)], "the operands have different types"),
    ):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("SELECT_V2", operands, [kernels.arena("FLOAT32", 3)])


def test_add_n_demands_equal_shapes_and_types(kernels):
    first = kernels.arena("INT32", 2, 3)
    node = kernels.prepare("ADD_N", [first, first, first], [kernels.arena("FLOAT32")])
    kernels.assert_static(node, (2, 3))
    assert node.output().type == "INT32"
    for other, message in (
        (kernels.arena("INT32", 1, 3), "the inputs have different shapes"),
        (kernels.arena("FLOAT32", 2, 3), "the inputs have different types"),
    ):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("ADD_N", [first, first, other], [kernels.arena("INT32")])
