"""Rules of the family ``custom``, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from delegate_sim.delegates.gpu.rules import layers
from delegate_sim.model.model import Tensor
from tests.support.delegates.gpu_table import (
    ACTIVATION,
    COUNT,
    FLOAT,
    RANK,
    RANK_3,
    RELU,
    SHAPE,
    SIGN_BIT,
    VALUE,
    VERSION,
    WEIGHTS,
    Chain,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import arena
from tests.support.tables import for_each

TABLE = FamilyCases(layers, are_custom=True)

_POOL = (1, 2, 2, 2, 2, RELU)


def add_custom(op: str, code: str | None, inputs: Sequence[Tensor], outputs: int, words: Sequence[int] | None, version: int = 1):
    """Add a custom operator whose options are these 32-bit words."""
    chain = Chain()
    operands = [chain.tensor(t.type, *t.shape, **({} if t.value is None else {"data": t.value})) for t in inputs]
    results = [chain.tensor("FLOAT32", 1, 4, 4, 2) for _ in range(outputs)]
    options = None if words is None else struct.pack(f"<{len(words)}i", *words)
    chain.subgraph.node("CUSTOM", operands, results, version, custom=op, custom_options=options)
    chain.case(TABLE, op, code)


add_custom("Convolution2DTransposeBias", None, [FLOAT, WEIGHTS], 1, (1, 2, 2))
add_custom("Convolution2DTransposeBias", COUNT, [FLOAT], 1, (1, 2, 2))
add_custom("Convolution2DTransposeBias", VALUE, [FLOAT, WEIGHTS], 1, None)
add_custom("Convolution2DTransposeBias", VALUE, [FLOAT, WEIGHTS], 1, (1, 0, 2))
add_custom("MaxPoolingWithArgmax2D", None, [FLOAT], 2, _POOL, version=2)
add_custom("MaxPoolingWithArgmax2D", VERSION, [FLOAT], 2, _POOL, version=3)
add_custom("MaxPoolingWithArgmax2D", VALUE, [FLOAT], 2, None)
add_custom("MaxPoolingWithArgmax2D", COUNT, [FLOAT], 1, _POOL)
add_custom("MaxPoolingWithArgmax2D", VALUE, [FLOAT], 2, (1, 2, 2, 0, 2, 0))
add_custom("MaxPoolingWithArgmax2D", VALUE, [FLOAT], 2, (1, 2, 0, 2, 2, 0))
add_custom("MaxPoolingWithArgmax2D", ACTIVATION, [FLOAT], 2, (1, 2, 2, 2, 2, SIGN_BIT))
add_custom("MaxUnpooling2D", None, [FLOAT, FLOAT], 1, _POOL)
add_custom("MaxUnpooling2D", COUNT, [FLOAT], 1, _POOL)
add_custom("MaxUnpooling2D", VALUE, [FLOAT, FLOAT], 1, None)
add_custom("MaxUnpooling2D", VALUE, [FLOAT, FLOAT], 1, (1, 2, 2, 2))
add_custom("MaxUnpooling2D", VALUE, [FLOAT, FLOAT], 1, (1, 0, 2, 2, 2, 0))
add_custom("Resampler", None, [FLOAT, FLOAT], 1, None)
add_custom("Resampler", COUNT, [FLOAT], 1, None)
add_custom("Resampler", RANK, [FLOAT, RANK_3], 1, None)
add_custom("Resampler", SHAPE, [FLOAT, arena("FLOAT32", 2, 4, 4, 2)], 1, None)
add_custom("Resampler", SHAPE, [FLOAT, arena("FLOAT32", 1, 4, 4, 1)], 1, None)


@for_each(TABLE.cases, lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
