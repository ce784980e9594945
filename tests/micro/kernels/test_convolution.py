"""Cases for convolutions, with reference kernels and with CMSIS-NN."""

from __future__ import annotations

from delegate_sim.micro.kernels.convolution import KERNELS
from tests.support.graphs import arena, quantized
from tests.support.micro_cases import (
    ACTIVATION,
    CMSIS,
    COUNT,
    HYBRID,
    QUANTIZATION,
    RANK,
    SHAPE,
    TYPE,
    MicroTable,
    floats,
    found_code,
    int8,
    int16,
    unrefused_checks,
)
from tests.support.tables import for_each

TABLE = MicroTable()
accepted, variant = TABLE.accepted, TABLE.variant
IMAGE, FLOAT_FILTER, FLOAT_BIAS, RESULT = floats(1, 8, 8, 4), floats(8, 3, 3, 4), floats(8), floats(1, 8, 8, 8)
DEPTHWISE = floats(1, 3, 3, 8)
STEPS = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}


def filters(*shape, scales=(0.25,), kind="INT8", dimension=0):
    return quantized(arena(kind, *shape), *scales, dimension=dimension)


def of_int8(op, **changes):
    """Return an INT8 node of an operator as operands and results, some of them changed."""
    depthwise = op == "DEPTHWISE_CONV_2D"
    shape = (1, 3, 3, 8) if depthwise else (8, 3, 3, 4)
    given = {"image": int8(1, 8, 8, 4), "filter": filters(*shape), "bias": quantized(arena("INT32", 8), 0.125), **changes}
    result = given.get("result", int8(1, 8, 8, 8))
    if op == "TRANSPOSE_CONV":
        return {"inputs": [arena("INT32", 4), given["filter"], given["image"], given["bias"]], "outputs": [result]}
    return {"inputs": [given["image"], given["filter"], given["bias"]], "outputs": [result]}


accepted("CONV_2D", [IMAGE, FLOAT_FILTER, FLOAT_BIAS], [RESULT], **STEPS)
accepted("DEPTHWISE_CONV_2D", [IMAGE, DEPTHWISE, FLOAT_BIAS], [RESULT], **STEPS)
accepted("TRANSPOSE_CONV", [arena("INT32", 4), FLOAT_FILTER, IMAGE, FLOAT_BIAS], [RESULT], stride_h=1, stride_w=1)
for op in ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"):
    axis = 3 if op == "DEPTHWISE_CONV_2D" else 0
    shape = (1, 3, 3, 8) if axis else (8, 3, 3, 4)
    plain = arena("INT8", *shape)
    extra = [FLOAT_BIAS] * 2
    source = 2 if op == "TRANSPOSE_CONV" else 0
    many = [IMAGE, FLOAT_FILTER, *extra] if not source else [arena("INT32", 4), FLOAT_FILTER, IMAGE, *extra]
    variant(op, COUNT, inputs=many)
    variant(op, HYBRID, inputs={1: filters(*shape)})
    variant(op, None, **of_int8(op))
    variant(op, None, **of_int8(op), target=CMSIS)
    variant(op, QUANTIZATION, **of_int8(op, filter=plain))
    variant(op, QUANTIZATION, **of_int8(op, filter=filters(*shape, scales=(0.25, 0.5), dimension=axis)))
    variant(op, None, **of_int8(op, filter=filters(*shape, scales=(0.25,) * 8, dimension=axis)))
    variant(op, QUANTIZATION, **of_int8(op, filter=filters(*shape, scales=(0.25,) * 8, dimension=1)))
    variant(op, QUANTIZATION, **of_int8(op, image=arena("INT8", 1, 8, 8, 4)))
    no_scale = int8(1, 8, 8, 8, scale=0.0)
    variant(op, ACTIVATION, **of_int8(op, result=no_scale), fused_activation_function=1)

int16_node = {"image": int16(1, 8, 8, 4), "result": int16(1, 8, 8, 8)}
for op in ("CONV_2D", "DEPTHWISE_CONV_2D"):
    wrong = int16(1, 8, 8, 4, zero_point=1), int16(1, 8, 8, 8, zero_point=1)
    bias = quantized(arena("INT64", 8), 0.125)
    variant(op, None, **of_int8(op, **int16_node, bias=bias), target=CMSIS)
    variant(op, QUANTIZATION, **of_int8(op, image=wrong[0], result=int16_node["result"], bias=bias), target=CMSIS)
    variant(op, QUANTIZATION, **of_int8(op, image=int16_node["image"], result=wrong[1], bias=bias), target=CMSIS)
    variant(op, None, **of_int8(op, image=wrong[0], result=int16_node["result"], bias=bias))
variant("CONV_2D", TYPE, **of_int8("CONV_2D", **int16_node, bias=arena("INT8", 8)))
variant("CONV_2D", TYPE, outputs=[int8(1, 8, 8, 8)])
for position, wrong in ((0, floats(8, 8, 4)), (1, floats(3, 3, 4))):
    variant("CONV_2D", RANK, inputs={position: wrong}, target=CMSIS)
variant("CONV_2D", RANK, outputs=[floats(8, 8, 8)], target=CMSIS)
variant("CONV_2D", SHAPE, outputs=[floats(2, 8, 8, 8)], target=CMSIS)
variant("CONV_2D", SHAPE, inputs={0: floats(1, 8, 8, 6)}, target=CMSIS)
variant("CONV_2D", None, inputs={0: floats(1, 8, 8, 6)})

eight = (0.25,) * 8
for op in ("DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"):
    axis = 3 if op == "DEPTHWISE_CONV_2D" else 0
    shape = (1, 3, 3, 8) if axis else (8, 3, 3, 4)
    uint8 = {"image": quantized(arena("UINT8", 1, 8, 8, 4), 0.5), "result": quantized(arena("UINT8", 1, 8, 8, 8), 0.5)}
    uint8["filter"] = filters(*shape, kind="UINT8")
    int32 = {"image": quantized(arena("INT32", 1, 8, 8, 4), 0.5), "result": quantized(arena("INT32", 1, 8, 8, 8), 0.5)}
    int32["filter"] = filters(*shape, kind="INT32")
    variant(op, TYPE, **of_int8(op, **uint8))
    variant(op, QUANTIZATION, **of_int8(op, **uint8 | {"filter": arena("UINT8", *shape)}))
    variant(op, TYPE, **of_int8(op, **uint8 | {"filter": filters(*shape, kind="UINT8", scales=eight, dimension=axis)}))
    variant(op, QUANTIZATION, **of_int8(op, **uint8, bias=quantized(arena("INT32", 8), 0.5)))
    variant(op, TYPE, **of_int8(op, **int16_node, filter=filters(*shape, kind="INT16", scales=eight, dimension=axis)))
    variant(op, TYPE, **of_int8(op, result=floats(1, 8, 8, 8)))
    variant(op, TYPE, **of_int8(op, **int32))
    variant(op, TYPE, **of_int8(op, **int32), target=CMSIS)
    variant(op, TYPE, **of_int8(op, result=int16(1, 8, 8, 8)), target=CMSIS)
variant("TRANSPOSE_CONV", TYPE, **of_int8("TRANSPOSE_CONV", result=int16(1, 8, 8, 8)))
depthwise_int16 = filters(1, 3, 3, 8, kind="INT16")
variant("DEPTHWISE_CONV_2D", TYPE, **of_int8("DEPTHWISE_CONV_2D", **int16_node, filter=depthwise_int16))
variant("DEPTHWISE_CONV_2D", HYBRID, **of_int8("DEPTHWISE_CONV_2D", **int16_node, filter=depthwise_int16), target=CMSIS)
for wrong in (arena("INT8", 1, 3, 3, 8), filters(1, 3, 3, 8, scales=(0.25, 0.5), dimension=3)):
    variant("DEPTHWISE_CONV_2D", QUANTIZATION, **of_int8("DEPTHWISE_CONV_2D", **int16_node, filter=wrong), target=CMSIS)

SHADOWED = [
    "CONV_2D, check 12: micro-quantization",
    "CONV_2D, check 13: micro-tensor-type",
    "CONV_2D, check 14: micro-tensor-type",
    "CONV_2D, check 16: micro-quantization",
    "CONV_2D, check 17: micro-tensor-type",
]
"""Checks of a function that several kernels call. In this kernel, earlier checks refuse all nodes that these would refuse."""


@for_each(TABLE.cases, lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == SHADOWED
