"""Rules of matrix products, against the visits in ``xnnpack_delegate.cc``.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

import numpy as np

from delegate_sim.delegates.xnnpack.rules import matrix
from delegate_sim.model.model import Quantization
from tests.support.delegates.xnnpack_rule_cases import (
    ACTIVATION,
    ATTRIBUTE,
    CONSTANT,
    COUNT,
    DYNAMIC_WEIGHTS,
    HYBRID,
    NO_DYNAMIC_QUANTIZATION,
    QUANTIZATION,
    RANK,
    SHAPE,
    TANH,
    TYPE,
    VERSION,
    FamilyCases,
    assert_verdict,
    weights,
)
from tests.support.graphs import arena, quantized
from tests.support.tables import for_each

TABLE = FamilyCases(matrix)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

MATRIX = arena("FLOAT32", 3, 4)
INT8_MATRIX = quantized(arena("INT8", 3, 4), 0.5)
accepted("FULLY_CONNECTED", [MATRIX, weights(2, 4), weights(2)], [arena("FLOAT32", 3, 2)])
variant("FULLY_CONNECTED", None, inputs=[MATRIX, weights(2, 4)])
variant("FULLY_CONNECTED", None, inputs=[MATRIX, weights(2, 4), None])
variant("FULLY_CONNECTED", None, inputs={1: weights(2, 4, kind="INT8", scales=(0.5,), zero_point=3)})
variant("FULLY_CONNECTED", None, inputs={1: weights(2, 4, kind="INT8")})
variant("FULLY_CONNECTED", HYBRID, inputs={1: weights(2, 4, kind="INT8", scales=(0.5,))}, target=NO_DYNAMIC_QUANTIZATION)
variant("FULLY_CONNECTED", VERSION, version=8)
variant("FULLY_CONNECTED", ATTRIBUTE, weights_format=1)
variant("FULLY_CONNECTED", ATTRIBUTE, quant_spec=(0,))
variant("FULLY_CONNECTED", COUNT, inputs=[MATRIX])
variant("FULLY_CONNECTED", TYPE, inputs={0: arena("INT16", 3, 4)})
variant("FULLY_CONNECTED", QUANTIZATION, inputs={0: arena("INT8", 3, 4)})
variant("FULLY_CONNECTED", RANK, inputs={1: weights(2, 2, 4)})
variant("FULLY_CONNECTED", SHAPE, inputs={1: weights(0, 4)})
variant("FULLY_CONNECTED", TYPE, inputs={1: weights(2, 4, kind="INT16")})
variant("FULLY_CONNECTED", QUANTIZATION, inputs={1: weights(2, 4, kind="UINT8")})
variant("FULLY_CONNECTED", QUANTIZATION, inputs={1: weights(2, 4, kind="INT8", scales=(0.5,) * 4, dimension=1)})
variant("FULLY_CONNECTED", CONSTANT, inputs={1: arena("FLOAT32", 2, 4)})
variant("FULLY_CONNECTED", None, inputs={1: arena("FLOAT32", 2, 4), 2: arena("FLOAT32", 3)}, target=DYNAMIC_WEIGHTS)
variant("FULLY_CONNECTED", SHAPE, inputs={2: weights(3)})
variant("FULLY_CONNECTED", TYPE, inputs={2: weights(2, kind="INT64")})
variant("FULLY_CONNECTED", QUANTIZATION, inputs={2: weights(2, kind="INT32")})
variant("FULLY_CONNECTED", CONSTANT, inputs={2: arena("FLOAT32", 2)})
variant("FULLY_CONNECTED", HYBRID, inputs={2: weights(2, kind="FLOAT16")})
variant("FULLY_CONNECTED", TYPE, outputs=[arena("INT16", 3, 2)])
variant("FULLY_CONNECTED", QUANTIZATION, outputs=[arena("INT8", 3, 2)])
variant("FULLY_CONNECTED", HYBRID, outputs=[arena("FLOAT16", 3, 2)])
variant(
    "FULLY_CONNECTED", QUANTIZATION,
    inputs=[INT8_MATRIX, weights(2, 4, kind="INT8", scales=(0.5,), zero_point=1)], outputs=[quantized(arena("INT8", 3, 2), 0.5)],
)  # fmt: skip
variant("FULLY_CONNECTED", ACTIVATION, fused_activation_function=TANH)


def small_weights(kind, *shape, **changes):
    """Constant INT4 or INT2 weights, which numpy cannot hold."""
    return weights(*shape, kind="INT8", scales=(0.5,) * shape[0])._replace(type=kind, value=None, **changes)


def in_blocks(size, scales_tensor=0):
    """Blockwise quantization."""
    return Quantization("blockwise", np.empty(0, np.float32), np.empty(0, np.int64), 0, size, scales_tensor, -1)


variant("FULLY_CONNECTED", None, inputs={1: small_weights("INT4", 2, 4)})
variant("FULLY_CONNECTED", SHAPE, inputs={1: small_weights("INT4", 2, 3)})
variant("FULLY_CONNECTED", None, inputs={1: small_weights("INT2", 2, 4)})
variant("FULLY_CONNECTED", SHAPE, inputs={1: small_weights("INT2", 2, 6)})
_ONE_SCALE = weights(2, 4, kind="INT8", scales=(0.5,)).quantization
variant("FULLY_CONNECTED", QUANTIZATION, inputs={1: small_weights("INT2", 2, 4, quantization=_ONE_SCALE)})
variant("FULLY_CONNECTED", None, inputs={1: small_weights("INT4", 2, 32, quantization=in_blocks(32))})
variant("FULLY_CONNECTED", QUANTIZATION, inputs={1: small_weights("INT4", 2, 32, quantization=in_blocks(16))})
variant("FULLY_CONNECTED", QUANTIZATION, inputs={1: small_weights("INT4", 2, 32, quantization=in_blocks(32, -1))})

COLUMNS = arena("FLOAT32", 4, 5)
INT8_COLUMNS = quantized(arena("INT8", 4, 5), 0.5)
accepted("BATCH_MATMUL", [MATRIX, COLUMNS], [MATRIX])
variant("BATCH_MATMUL", None, inputs={1: INT8_COLUMNS})
variant("BATCH_MATMUL", None, inputs=[INT8_MATRIX, INT8_COLUMNS], outputs=[INT8_MATRIX])
variant("BATCH_MATMUL", TYPE, inputs={0: arena("INT16", 3, 4)})
variant("BATCH_MATMUL", QUANTIZATION, inputs={0: arena("INT8", 3, 4)})
variant("BATCH_MATMUL", TYPE, inputs={1: arena("INT16", 4, 5)})
variant("BATCH_MATMUL", QUANTIZATION, inputs={1: quantized(arena("INT8", 4, 5), *[0.5] * 4)})
variant("BATCH_MATMUL", None, inputs={1: quantized(arena("INT8", 5, 4), *[0.5] * 5)}, adj_y=True)
variant("BATCH_MATMUL", QUANTIZATION, inputs=[INT8_MATRIX, quantized(arena("INT8", 4, 5), 0.5, zero_point=1)])
variant("BATCH_MATMUL", TYPE, outputs=[arena("INT16", 3, 4)])
variant("BATCH_MATMUL", QUANTIZATION, outputs=[arena("INT8", 3, 4)])
variant("BATCH_MATMUL", HYBRID, inputs={0: INT8_MATRIX})
variant("BATCH_MATMUL", RANK, inputs={0: arena("FLOAT32", 4)})
variant("BATCH_MATMUL", RANK, inputs={1: arena("FLOAT32", 4)})


@for_each(TABLE.cases, lambda case: case.name)
def test_rule(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete_except()
