"""Small cases for the tests of the NNAPI runtime."""

from __future__ import annotations

from delegate_sim.nnapi_runtime.builder import ModelBuilder
from delegate_sim.nnapi_runtime.devices import Costs, Device, DeviceCost
from delegate_sim.nnapi_runtime.types import OperandType, OperationType

T = OperandType
O = OperationType  # noqa: E741

SHAPE = (1, 8, 8, 3)
QUANTIZED = {
    T.TENSOR_QUANT8_ASYMM,
    T.TENSOR_QUANT8_ASYMM_SIGNED,
    T.TENSOR_QUANT8_SYMM,
    T.TENSOR_QUANT16_ASYMM,
    T.TENSOR_QUANT16_SYMM,
}


def operand(code, dims=None, scale=None, zero_point=0, **more):
    """Return an operand of a case; scalars have no dimensions, quantized tensors a scale."""
    if dims is None:
        dims = SHAPE if code.name.startswith("TENSOR") else ()
    if scale is None:
        scale = 0.5 if code in QUANTIZED else 0.0
    return {"type": int(code), "dims": list(dims), "scale": scale, "zero_point": zero_point, **more}


def tensors(code, *shapes, **more):
    return [operand(code, dims, **more) for dims in shapes]


INT = operand(T.INT32)
FLAG = operand(T.BOOL)
FLOAT = operand(T.FLOAT32)


def operation(name, inputs, outputs, omitted=()):
    return {"op": name, "inputs": list(inputs), "outputs": list(outputs), "omitted": list(omitted)}


def unary(name, code=T.TENSOR_FLOAT32, dims=SHAPE, **more):
    return operation(name, [operand(code, dims, **more)], [operand(code, dims)])


def arithmetic(name, code=T.TENSOR_FLOAT32, dims=SHAPE, output_scale=None):
    return operation(name, [operand(code, dims), operand(code, dims), INT], [operand(code, dims, output_scale)])


def convolution(name="CONV_2D", code=T.TENSOR_FLOAT32, *, numbers=4, options=(), filter_=None, dims=SHAPE, filter_dims=None):
    depth = numbers in {5, 8}
    filter_dims = filter_dims or ((1, 3, 3, 6) if depth else (16, 3, 3, 3))
    bias = T.TENSOR_INT32 if code in QUANTIZED else code
    given = [operand(code, dims), filter_ or operand(code, filter_dims), operand(bias, (6 if depth else 16,))]
    return operation(name, [*given, *[INT] * numbers, *options], [operand(code, dims)])


def fully_connected(dims=(2, 8), weights=(4, 8), bias=(4,), code=T.TENSOR_FLOAT32):
    bias_type = T.TENSOR_INT32 if code in QUANTIZED else code
    given = [operand(code, dims), operand(code, weights), operand(bias_type, bias), INT]
    return operation("FULLY_CONNECTED", given, [operand(code, (2, 4))])


def per_channel(dims, dimension, scales):
    return operand(T.TENSOR_QUANT8_SYMM_PER_CHANNEL, dims, channel_dim=dimension, scales=scales)


def add_tensor(builder, dims=(2, 3), code=T.TENSOR_FLOAT32):
    return builder.add_operand(code, dims)


def add_int(builder, value=0):
    index = builder.add_operand(T.INT32)
    builder.set_value(index, 4, value.to_bytes(4, "little", signed=True))
    return index


def add_flag(builder, value=False):
    index = builder.add_operand(T.BOOL)
    builder.set_value(index, 1, bytes([value]))
    return index


def chain(*codes, dims=(2, 3), code=T.TENSOR_FLOAT32, **options):
    """Return a finished model of one operation after the other, tagged 0, 1, 2..."""
    builder = ModelBuilder(**options)
    first = last = add_tensor(builder, dims, code)
    for tag, operation_code in enumerate(codes):
        result = add_tensor(builder, dims, code)
        inputs = [last] if operation_code == O.RELU else [last, last, add_int(builder)]
        builder.add_operation(operation_code, inputs, [result], tag)
        last = result
    builder.identify_inputs_and_outputs([first], [last])
    return builder.finish()


def condition_model():
    """Return a model that compares a number with itself."""
    builder = ModelBuilder()
    given, result = add_tensor(builder, (1,)), add_tensor(builder, (1,), T.TENSOR_BOOL8)
    builder.add_operation(O.LESS, [given, given], [result], -1)
    builder.identify_inputs_and_outputs([given], [result])
    return builder.finish()


def add_model(builder, model):
    index = builder.add_operand(T.MODEL)
    builder.set_value_from_model(index, model)
    return index


def driver(name="driver", level=8, cost=0.5, takes=lambda tag: True, compiles=True, **more):
    costs = Costs({}, *[DeviceCost(cost, cost)] * 5)
    return Device(name, level, lambda _, one: takes(one.tag), costs, lambda _model, _operations: compiles, **more)


def steps_of(compilation):
    return [(step.device.name, [one.tag for one in step.in_run_order]) for step in compilation.plan.execution_steps]
