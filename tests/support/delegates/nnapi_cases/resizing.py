"""Cases of the rules of the family ``resizing``."""

from __future__ import annotations

from tests.support.delegates.nnapi_rule_cases import (
    COMPUTED_PAIR,
    CONSTANT,
    COUNT,
    FLOAT,
    FLOAT_RANK_2,
    INPUT_TYPE,
    INT8,
    INT16,
    LEVEL,
    PAIR,
    PERSISTENT_PAIR,
    RANK,
    VALUE,
    VERSION,
    RuleCases,
)
from tests.support.graphs import arena

CASES = RuleCases()
accepted, variant, without_options = CASES.accepted, CASES.variant, CASES.without_options

accepted("RESIZE_BILINEAR", [FLOAT, PAIR], [FLOAT], version=3)
variant("RESIZE_BILINEAR", COUNT, inputs=[FLOAT])
variant("RESIZE_BILINEAR", CONSTANT, inputs={1: PERSISTENT_PAIR})
variant("RESIZE_BILINEAR", VALUE.below(29), outputs=[arena("FLOAT32", 1, 4, 3, 2)])
variant("RESIZE_BILINEAR", VALUE.below(30), align_corners=True)
variant("RESIZE_BILINEAR", VALUE.below(30), half_pixel_centers=True)
variant("RESIZE_BILINEAR", INPUT_TYPE.below(29), inputs={0: INT8})
variant(
    "RESIZE_BILINEAR", VERSION, RANK, INPUT_TYPE, CONSTANT, VALUE.below(29), VALUE.below(30), VALUE.below(30),
    INPUT_TYPE.below(29),
    inputs=[arena("INT16", 4), COMPUTED_PAIR], outputs=[arena("FLOAT32", 1, 4, 3, 2)], version=4,
    align_corners=True, half_pixel_centers=True,
)  # fmt: skip
variant(
    "RESIZE_BILINEAR", VERSION, RANK, INPUT_TYPE, COUNT, VALUE.below(29), VALUE.below(30), VALUE.below(30),
    INPUT_TYPE.below(29),
    inputs=[arena("INT16", 4)], outputs=[arena("FLOAT32", 1, 4, 3, 2)], version=4,
    align_corners=True, half_pixel_centers=True,
)  # fmt: skip

accepted("RESIZE_NEAREST_NEIGHBOR", [FLOAT, PAIR], [arena("FLOAT32", 1, 4, 3, 2)], LEVEL.below(29), version=3)
variant("RESIZE_NEAREST_NEIGHBOR", LEVEL.below(29), COUNT, inputs=[FLOAT])
variant("RESIZE_NEAREST_NEIGHBOR", LEVEL.below(29), inputs={0: FLOAT_RANK_2})
variant(
    "RESIZE_NEAREST_NEIGHBOR", VERSION, LEVEL.below(29), INPUT_TYPE, CONSTANT, VALUE.below(30), VALUE.below(30),
    inputs=[INT16, COMPUTED_PAIR], version=4, align_corners=True, half_pixel_centers=True,
)  # fmt: skip
variant(
    "RESIZE_NEAREST_NEIGHBOR", VERSION, LEVEL.below(29), INPUT_TYPE, COUNT, VALUE.below(30), VALUE.below(30),
    inputs=[INT16], version=4, align_corners=True, half_pixel_centers=True,
)  # fmt: skip
