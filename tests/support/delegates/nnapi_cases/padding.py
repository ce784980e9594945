"""Cases of the rules of the family ``padding``."""

from __future__ import annotations

from tests.support.delegates.nnapi_rule_cases import (
    AXIS,
    COMPUTED_PAIR,
    COUNT,
    FLOAT,
    INPUT_TYPE,
    INT8,
    LEVEL,
    LEVEL_7,
    PAIR,
    VALUE,
    VERSION,
    ZERO_SIZE,
    RuleCases,
)
from tests.support.graphs import arena

CASES = RuleCases()
accepted, variant, without_options = CASES.accepted, CASES.variant, CASES.without_options

for _op in ("PAD", "PADV2"):
    accepted(_op, [FLOAT, COMPUTED_PAIR], [FLOAT], LEVEL.below(28), version=2)
    variant(_op, LEVEL.below(28), INPUT_TYPE.below(29), inputs={0: INT8})
    variant(_op, LEVEL.below(28), COUNT.below(29), inputs=[INT8, PAIR, AXIS])
    variant(_op, LEVEL.below(28), COUNT, INPUT_TYPE.below(29), inputs=[INT8])
    variant(_op, VERSION, INPUT_TYPE, LEVEL.below(28), ZERO_SIZE, COUNT.below(29),
            inputs=[arena("INT16", 0), PAIR, AXIS], version=3)  # fmt: skip
    variant(_op, VERSION, INPUT_TYPE, LEVEL.below(28), ZERO_SIZE, COUNT, INPUT_TYPE.below(29),
            inputs=[arena("INT16", 0)], version=3)  # fmt: skip

REFLECT, UNKNOWN_MODE = 0, 2
accepted("MIRROR_PAD", [FLOAT, COMPUTED_PAIR], [FLOAT], LEVEL.below(LEVEL_7), version=2, mode=REFLECT)
variant("MIRROR_PAD", LEVEL.below(LEVEL_7), mode=1)
variant("MIRROR_PAD", LEVEL.below(LEVEL_7), VALUE, mode=UNKNOWN_MODE)
without_options("MIRROR_PAD", LEVEL.below(LEVEL_7), VALUE)
variant("MIRROR_PAD", LEVEL.below(LEVEL_7), COUNT, inputs=[FLOAT, PAIR, AXIS])
variant("MIRROR_PAD", VERSION, LEVEL.below(LEVEL_7), INPUT_TYPE, VALUE, ZERO_SIZE, COUNT,
        inputs=[arena("INT16", 0)], version=3, mode=UNKNOWN_MODE)  # fmt: skip
