"""Building and finishing models."""

from __future__ import annotations

import pytest

from delegate_sim.nnapi_runtime.builder import ModelBuilder
from delegate_sim.nnapi_runtime.refusal import Call
from delegate_sim.nnapi_runtime.types import AndroidRelease, feature_level
from delegate_sim.refusal import Refused
from tests.support.nnapi_runtime_examples import O, T, add_flag, add_int, add_model, add_tensor, chain, condition_model


class Draft:
    """A builder with one ADD of two inputs, not finished yet."""

    def __init__(self, **options):
        self.builder = ModelBuilder(**options)
        self.inputs = [add_tensor(self.builder), add_tensor(self.builder)]
        self.activation = add_int(self.builder)
        self.result = add_tensor(self.builder)

    def add(self, inputs=None, result=None):
        given = [*(self.inputs if inputs is None else inputs), self.activation]
        self.builder.add_operation(O.ADD, given, [self.result if result is None else result])

    def finish(self, inputs=None, outputs=None):
        self.builder.identify_inputs_and_outputs(
            self.inputs if inputs is None else inputs, [self.result] if outputs is None else outputs
        )
        return self.builder.finish()


def refusal_of(call, *arguments):
    with pytest.raises(Refused) as refused:
        call(*arguments)
    return refused.value.refusal


def test_a_small_model_is_accepted():
    draft = Draft()
    draft.add()
    model = draft.finish()
    assert model.version == (1, False)
    assert model.required == (1, False)
    assert model.order == [0]


def test_an_operand_that_nobody_writes_is_refused_since_android_11():
    draft = Draft()
    draft.add()
    add_tensor(draft.builder)
    assert refusal_of(draft.finish).code == "model-never-written"
    old = Draft(android=AndroidRelease.ANDROID_10)
    old.add()
    add_tensor(old.builder)
    assert old.finish().version.level == 1


def test_constants_and_omitted_operands_may_be_left_unused():
    draft = Draft()
    draft.add()
    add_int(draft.builder)
    draft.builder.omit(add_tensor(draft.builder))
    assert draft.finish().order == [0]


def test_a_result_may_be_left_unread():
    draft = Draft()
    draft.add()
    draft.add(result=add_tensor(draft.builder))
    assert len(draft.finish().operations) == 2


@pytest.mark.parametrize("is_cycle", [True, False])
def test_operations_that_never_get_ready_are_refused(is_cycle):
    draft = Draft()
    between = add_tensor(draft.builder)
    draft.add(inputs=[draft.inputs[0], between])
    if is_cycle:
        draft.add(inputs=[draft.inputs[1], draft.result], result=between)
    refusal = refusal_of(draft.finish)
    assert (refusal.code, refusal.call) == ("model-run-order", Call.FINISH_MODEL)


def test_an_empty_model_is_refused():
    assert refusal_of(ModelBuilder().finish).code == "model-empty"
    assert refusal_of(Draft().finish).code == "model-empty"


def test_nothing_is_written_twice():
    draft = Draft()
    draft.add()
    draft.add()
    assert refusal_of(draft.finish).code == "model-written-twice"
    constant = Draft()
    constant.add()
    constant.builder.set_value(constant.result, 24)
    constant.builder.identify_inputs_and_outputs(constant.inputs, [extra := add_tensor(constant.builder)])
    constant.add(result=extra)
    assert refusal_of(constant.builder.finish).code == "model-written-twice"


def test_lists_of_inputs_and_outputs():
    draft = Draft()
    draft.add()
    builder = draft.builder
    empty = refusal_of(builder.identify_inputs_and_outputs, [], [draft.result])
    assert (empty.code, empty.result) == ("model-boundary-pointers", 3)
    assert refusal_of(builder.identify_inputs_and_outputs, [99], [draft.result]).code == "operand-index"
    twice = refusal_of(builder.identify_inputs_and_outputs, [0, 1, 0], [draft.result])
    assert twice.code == "model-boundary-operand"
    assert refusal_of(builder.finish).code == "model-boundary"


def test_a_constant_is_no_model_input():
    draft = Draft()
    draft.add()
    assert refusal_of(draft.finish, [*draft.inputs, draft.activation]).code == "model-boundary-operand"


def test_indices_of_an_operation_are_those_of_operands():
    draft = Draft()
    assert refusal_of(draft.builder.add_operation, O.RELU, [0], [7]).code == "operand-index"


def test_a_runtime_of_a_lower_level_refuses_what_needs_more():
    assert chain(O.RELU, feature_level=1).version.level == 1
    assert refusal_of(lambda: chain(O.RELU, code=T.TENSOR_FLOAT16, feature_level=2)).code == "model-feature-level"


def test_quantization_of_int32_counts_when_the_model_is_finished():
    for scale, zero_point, code in ((-1.0, 0, "operand-scale"), (0.0, 1, "operand-zero-point")):
        draft = Draft()
        draft.add()
        draft.builder.set_value(draft.builder.add_operand(T.TENSOR_INT32, (1,), scale, zero_point), 4)
        assert refusal_of(draft.finish).code == code


def test_a_per_channel_tensor_needs_its_scales():
    draft = Draft()
    draft.add()
    filter_ = draft.builder.add_operand(T.TENSOR_QUANT8_SYMM_PER_CHANNEL, (2, 3))
    draft.builder.set_value(filter_, 6)
    assert refusal_of(draft.finish).code == "channel-missing"


def test_operations_run_in_the_order_of_a_stack():
    builder = ModelBuilder()
    given, *results = (add_tensor(builder) for _ in range(4))
    for source, result in ((given, results[0]), (given, results[1]), (results[1], results[2])):
        builder.add_operation(O.RELU, [source], [result])
    builder.identify_inputs_and_outputs([given], results)
    assert builder.finish().order == [1, 2, 0]


def convolution(layout=False, dilation=1, code=T.TENSOR_FLOAT32, as_reference=False):
    builder = ModelBuilder()
    given, result = add_tensor(builder, (1, 8, 8, 3)), add_tensor(builder, (1, 8, 8, 16))
    constants = [add_tensor(builder, (16, 3, 3, 3)), add_tensor(builder, (16,))]
    builder.set_value(constants[0], 16 * 27 * 4)
    builder.set_value(constants[1], 64)
    numbers = [add_int(builder) for _ in range(4)]
    options = [add_flag(builder, layout), add_int(builder, dilation), add_int(builder, dilation)]
    if as_reference:
        options[2] = builder.add_operand(T.INT32)
        builder.set_value_from_memory(options[2], 4)
    builder.add_operation(O.CONV_2D, [given, *constants, *numbers, *options], [result])
    builder.identify_inputs_and_outputs([given], [result])
    return builder.finish()


@pytest.mark.parametrize(
    ("options", "count", "level"),
    [
        ({}, 7, 1),
        ({"layout": True}, 8, 3),
        ({"dilation": 2}, 10, 3),
        ({"as_reference": True}, 10, 3),
    ],
)
def test_trailing_defaults_are_dropped_after_the_level_was_compared(options, count, level):
    model = convolution(**options)
    assert len(model.operations[0].inputs) == count
    assert (model.required.level, model.version.level) == (3, level)


def conditional(then=None, condition_code=T.TENSOR_BOOL8, dims=(2, 3)):
    builder = ModelBuilder()
    inputs = [builder.add_operand(condition_code, (1,)), add_tensor(builder, dims)]
    branches = [add_model(builder, model or chain(O.RELU)) for model in (then, None)]
    result = add_tensor(builder)
    builder.add_operation(O.IF, [inputs[0], *branches, inputs[1]], [result])
    builder.identify_inputs_and_outputs(inputs, [result])
    return builder.finish()


def loop(dims=(1,), body=None, condition=None):
    builder = ModelBuilder()
    given, result = add_tensor(builder, dims), add_tensor(builder, dims)
    models = [add_model(builder, condition or condition_model()), add_model(builder, body or chain(O.RELU, dims=(1,)))]
    builder.add_operation(O.WHILE, [*models, given], [result])
    builder.identify_inputs_and_outputs([given], [result])
    return builder.finish()


def test_control_flow_needs_level_4():
    assert conditional().version == (4, False)
    assert loop().version == (4, False)


def test_a_loop_over_unknown_sizes_is_for_the_runtime_alone():
    assert loop(dims=(0,)).version == (4, True)
    assert conditional(dims=(0, 3)).version == (4, False)


def test_control_flow_fits_the_models_it_refers_to():
    assert refusal_of(lambda: conditional(condition_code=T.TENSOR_INT32)).code == "control-flow-condition"
    assert refusal_of(lambda: conditional(dims=(3, 3))).code == "control-flow-compatible"
    assert refusal_of(lambda: conditional(then=chain(O.RELU, code=T.TENSOR_FLOAT16))).code == "control-flow-compatible"
    assert refusal_of(lambda: loop(condition=chain(O.RELU, dims=(1,)))).code == "control-flow-condition"
    two_outputs = Draft()
    two_outputs.add()
    assert refusal_of(lambda: conditional(then=two_outputs.finish())).code == "control-flow-model-operands"


def test_control_flow_refers_to_finished_models():
    builder = ModelBuilder()
    condition, given = builder.add_operand(T.TENSOR_BOOL8, (1,)), add_tensor(builder)
    model, result = builder.add_operand(T.MODEL), add_tensor(builder)
    branches = [condition, model, model]
    assert refusal_of(builder.add_operation, O.IF, branches, [result]).code == "control-flow-model"
    assert refusal_of(builder.add_operation, O.IF, [condition, given, given], [result]).code == "control-flow-model"
    assert refusal_of(builder.add_operation, O.IF, branches[:2], [result]).code == "control-flow-operands"


def test_a_model_operand_must_refer_to_a_model():
    draft = Draft()
    draft.add()
    draft.builder.omit(draft.builder.add_operand(T.MODEL))
    assert refusal_of(draft.finish).code == "model-submodel-operand"


def test_the_text_of_a_refusal_is_one_line():
    with pytest.raises(Refused, match=r"^ANeuralNetworksModel_addOperand refuses: zero point: found 1, needed 0 for INT32$"):
        ModelBuilder().add_operand(T.INT32, (), 0.0, 1)


def test_numbers_of_feature_levels():
    assert [feature_level(number) for number in (26, 27, 29, 31, 33, 1000006, 1000008, 1000009)] == [0, 1, 3, 5, 5, 6, 8, 8]


def test_every_refusal_is_handed_on_and_the_calls_have_their_effect():
    found = []
    builder = ModelBuilder(on_refusal=found.append)
    scalar = builder.add_operand(T.TENSOR_FLOAT32, (), has_pointer=True)
    builder.set_value(scalar, 4)
    builder.set_value(7, 4)
    builder.set_channel_quantization(scalar, 0, [1.0])
    builder.add_operation(O.RELU, [scalar], [9])
    assert [refusal.code for refusal in found] == [
        "operand-dimensions-pointer",
        "value-shape",
        "operand-index",
        "channel-type",
        "operand-index",
    ]
    assert len(builder.operands) == len(builder.operations) == 1


def test_a_check_demands_what_finishing_demands():
    draft = Draft()
    draft.add()
    draft.builder.identify_inputs_and_outputs(draft.inputs, [draft.result])
    assert draft.builder.check() == draft.builder.finish().required
    assert list(draft.builder.inputs) == draft.inputs
    assert list(draft.builder.outputs) == [draft.result]


def test_a_check_finds_cycles_that_come_late():
    draft = Draft()
    later = add_tensor(draft.builder)
    draft.add([draft.inputs[0], later])
    draft.add([draft.inputs[1], draft.result], later)
    draft.builder.identify_inputs_and_outputs(draft.inputs, [draft.result])
    assert refusal_of(draft.builder.check).code == "model-run-order"


def test_operands_that_change_after_an_operation_are_judged_again():
    draft = Draft()
    draft.add()
    weights = draft.builder.add_operand(T.TENSOR_QUANT8_SYMM_PER_CHANNEL, (2, 2))
    draft.builder.set_channel_quantization(weights, 0, [1.0, 1.0])
    draft.builder.set_value(weights, 4)
    assert draft.finish().required.level == 3


@pytest.mark.parametrize(("pointers", "code"), [((False, False), 3), ((True, False), 4)])
def test_an_empty_list_of_inputs_with_a_pointer_is_bad_data(pointers, code):
    draft = Draft()
    draft.add()
    refusal = refusal_of(draft.builder.identify_inputs_and_outputs, [], [draft.result], pointers)
    assert (refusal.code, refusal.result) == ("model-boundary-pointers", code)
