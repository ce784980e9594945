"""Cases for matrix products, pooling and resizing."""

from __future__ import annotations

from delegate_sim.micro.kernels.layers import KERNELS
from tests.support.graphs import arena, constant, quantized
from tests.support.micro_cases import (
    ACTIVATION,
    CMSIS,
    CONSTANT,
    COUNT,
    HYBRID,
    OPTION,
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
LEFT, RIGHT, PRODUCT = floats(1, 2, 4), floats(1, 4, 3), floats(1, 2, 3)
FLOAT_ROW, FLOAT_FILTER, FLOAT_RESULT = floats(1, 4), floats(8, 4), floats(1, 8)
BIAS = quantized(arena("INT32", 8), 0.125)


def filters(*scales, kind="INT8", dimension=0):
    return quantized(arena(kind, 8, 4), *scales, dimension=dimension)


accepted("BATCH_MATMUL", [LEFT, RIGHT], [PRODUCT])
variant("BATCH_MATMUL", COUNT, outputs=[PRODUCT, PRODUCT])
variant("BATCH_MATMUL", TYPE, inputs={0: arena("INT32", 1, 2, 4)})
variant("BATCH_MATMUL", TYPE, inputs={1: arena("INT32", 1, 4, 3)})
variant("BATCH_MATMUL", HYBRID, inputs={1: int8(1, 4, 3)})
variant("BATCH_MATMUL", TYPE, outputs=[int8(1, 2, 3)])
variant("BATCH_MATMUL", RANK, inputs={0: floats(4)})
variant("BATCH_MATMUL", RANK, inputs={1: floats(4)})
variant("BATCH_MATMUL", RANK, inputs=[floats(1, 1, 1, 2, 4), RIGHT], target=CMSIS)
variant("BATCH_MATMUL", RANK, inputs=[LEFT, floats(1, 1, 1, 4, 3)], target=CMSIS)
for wrong in range(3):
    one, other, product = [
        int16(*shape, zero_point=int(at == wrong)) for at, shape in enumerate(((1, 2, 4), (1, 4, 3), (1, 2, 3)))
    ]
    variant("BATCH_MATMUL", QUANTIZATION, inputs=[one, other], outputs=[product])
variant("BATCH_MATMUL", SHAPE, inputs=[floats(2, 2, 4), floats(3, 4, 3)])
variant("BATCH_MATMUL", SHAPE, inputs={1: floats(1, 5, 3)})
variant("BATCH_MATMUL", None, inputs={1: floats(1, 3, 4)}, adj_y=True)
variant("BATCH_MATMUL", SHAPE, outputs=[floats(2, 4)])
variant("BATCH_MATMUL", None, target=CMSIS)

accepted("FULLY_CONNECTED", [FLOAT_ROW, FLOAT_FILTER], [FLOAT_RESULT])
of_int8 = {"inputs": [int8(1, 4), filters(0.25), BIAS], "outputs": [int8(1, 8)]}
of_int16 = {"inputs": [int16(1, 4), filters(0.25), quantized(arena("INT64", 8), 0.125)], "outputs": [int16(1, 8)]}
several = filters(*[0.25] * 8)
variant("FULLY_CONNECTED", None, **of_int8)
variant("FULLY_CONNECTED", None, inputs=[int8(1, 4), several, BIAS], outputs=[int8(1, 8)])
variant("FULLY_CONNECTED", TYPE, outputs=[int8(1, 8)])
variant("FULLY_CONNECTED", TYPE, inputs={0: arena("INT32", 1, 4)}, outputs=[arena("INT32", 1, 8)], target=CMSIS)
variant("FULLY_CONNECTED", HYBRID, inputs={1: filters(0.25)})
variant("FULLY_CONNECTED", QUANTIZATION, inputs=[int8(1, 4), filters(*[0.25] * 8, kind="INT4"), BIAS], outputs=[int8(1, 8)])
variant("FULLY_CONNECTED", QUANTIZATION, inputs=[int8(1, 4), filters(0.25, 0.25), BIAS], outputs=[int8(1, 8)])
variant(
    "FULLY_CONNECTED", QUANTIZATION, inputs=[int8(1, 4), filters(0.25), quantized(arena("INT32", 8), 0.5)], outputs=[int8(1, 8)]
)
variant("FULLY_CONNECTED", TYPE, inputs={0: arena("INT32", 1, 4), 1: filters(0.25)}, outputs=[arena("INT32", 1, 8)])
variant("FULLY_CONNECTED", ACTIVATION, inputs=of_int8["inputs"][:2], outputs=[int8(1, 8, scale=0.0)], fused_activation_function=1)
variant("FULLY_CONNECTED", None, **of_int16, target=CMSIS)
variant("FULLY_CONNECTED", QUANTIZATION, inputs=[int16(1, 4), several], outputs=[int16(1, 8)], target=CMSIS)
variant("FULLY_CONNECTED", QUANTIZATION, inputs=[int16(1, 4, zero_point=1), filters(0.25)], outputs=[int16(1, 8)], target=CMSIS)
variant("FULLY_CONNECTED", QUANTIZATION, inputs=[int16(1, 4), filters(0.25)], outputs=[int16(1, 8, zero_point=1)], target=CMSIS)

UINT8_RESULT = quantized(arena("UINT8", 1, 8), 0.5)
variant(
    "FULLY_CONNECTED", TYPE, inputs=[quantized(arena("UINT8", 1, 4), 0.5), filters(0.25, kind="UINT8")], outputs=[UINT8_RESULT]
)

SHADOWED = ["FULLY_CONNECTED, check 13: micro-tensor-type"]
"""A check of Invoke. Prepare refuses all nodes that it would refuse."""

IMAGE, SMALL = floats(1, 4, 4, 8), floats(1, 2, 2, 8)
WINDOW = {"filter_height": 2, "filter_width": 2, "stride_h": 2, "stride_w": 2, "padding": 1}
UINT8 = arena("UINT8", 1, 4, 4, 8)

for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
    accepted(op, [IMAGE], [SMALL], **WINDOW)
    variant(op, None, inputs=[int8(1, 4, 4, 8)], outputs=[int8(1, 2, 2, 8)])
    variant(op, QUANTIZATION, inputs=[int8(1, 4, 4, 8)], outputs=[int8(1, 2, 2, 8, scale=1.0)])
    variant(op, QUANTIZATION, inputs=[int16(1, 4, 4, 8)], outputs=[int16(1, 2, 2, 8, zero_point=1)])
    variant(op, TYPE, inputs=[UINT8])
accepted("L2_POOL_2D", [IMAGE], [SMALL], **WINDOW)
variant("L2_POOL_2D", COUNT, outputs=[SMALL, SMALL])
variant("L2_POOL_2D", RANK, inputs=[floats(4, 4, 8)])
variant("L2_POOL_2D", RANK, outputs=[floats(2, 2, 8)])
variant("L2_POOL_2D", TYPE, outputs=[int8(1, 2, 2, 8)])
variant("L2_POOL_2D", TYPE, inputs=[int8(1, 4, 4, 8)], outputs=[int8(1, 2, 2, 8)])

RESIZING_IMAGE, LARGE, SIZE = floats(1, 4, 4, 8), floats(1, 8, 8, 8), constant([8, 8])

for op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
    accepted(op, [RESIZING_IMAGE, SIZE], [LARGE])
    variant(op, COUNT, inputs=[RESIZING_IMAGE, SIZE, SIZE])
    variant(op, RANK, inputs={0: floats(4, 4, 8)})
    variant(op, RANK, inputs={1: constant([[8, 8]])})
    variant(op, TYPE, inputs={1: constant([8, 8], "INT64")})
    variant(op, CONSTANT, inputs={1: arena("INT32", 2)})
    variant(op, TYPE, outputs=[arena("UINT8", 1, 8, 8, 8)])
variant("RESIZE_BILINEAR", OPTION, half_pixel_centers=True, align_corners=True)
variant("RESIZE_BILINEAR", TYPE, outputs=[int16(1, 8, 8, 8)])
variant("RESIZE_NEAREST_NEIGHBOR", None, half_pixel_centers=True, align_corners=True, outputs=[int16(1, 8, 8, 8)])
variant("RESIZE_NEAREST_NEIGHBOR", SHAPE, inputs={1: constant([8, 8, 8])})


@for_each(TABLE.cases, lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == SHADOWED
