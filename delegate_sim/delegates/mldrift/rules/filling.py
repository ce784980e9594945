"""Filling, repeating and counting."""

from __future__ import annotations

from collections.abc import Iterator

from ....graph.graph import NodeView
from ....refusal import Refusal
from ....rules.kinds import SHAPE
from ....rules.rule import Check
from ....rules.vocabulary import check
from ...gpu_compatibility import copying
from ...gpu_compatibility.checks import runtime_operands
from ..build_problems import BuildProblems, constants_read
from ..failures import WEIGHTS
from .checks import (
    INT32,
    RESULTS,
    RESULTS_BEFORE_2_1_5,
    RESULTS_FROM_2_1_5,
    SIGNED,
    SINCE_2_2,
    available,
    before,
    inputs_at_least,
    parsed_by,
    readable,
    results,
    since,
    tensors,
    version_up_to,
)


def _deep_indices(node: NodeView) -> str | None:
    shape = node.input(0).shape
    return f"indices of shape {list(shape)}" if len(shape) >= 4 and shape[3] != 1 else None


def _misspelled(check: Check[object]) -> Check[object]:
    """Return a copy of the check with the misspelled message that ML Drift prints before LiteRT 2.2."""
    say = check.said
    assert say is not None
    return check.saying(lambda node: say(node, None).replace("Unsupported", "Unspported"))


_OLD_ONE_HOT = tuple([_misspelled(check) if check.kind is SHAPE else check for check in copying.ONE_HOT])
_ONE_HOT = parsed_by(
    "OneHotOperationParser",
    *version_up_to(1),
    *before(SINCE_2_2, *_OLD_ONE_HOT, *RESULTS_FROM_2_1_5),
    *since(
        SINCE_2_2,
        inputs_at_least(4),
        results(1),
        *RESULTS,
        available(0),
        copying.ONE_HOT_AXIS.saying("OneHot axis must be -1 or the last dimension."),
        check(SHAPE, "indices of one channel", _deep_indices).saying("OneHot indices channel dimension must be 1."),
    ),
    *readable(0),
    *RESULTS_BEFORE_2_1_5,
    all_tensors=tensors(inputs=INT32),
)

RULES = {
    "ONE_HOT": _ONE_HOT,
    "TILE": parsed_by("TileOperationParser", runtime_operands(1, 1), *readable(0), *RESULTS, all_tensors=tensors(*SIGNED)),
}


# Building the model


def _unusable_values(node: NodeView) -> Iterator[Refusal]:
    yield from constants_read(node, 0)
    for position in (2, 3):
        if not node.input(position).is_constant:
            yield WEIGHTS.failure(node.input(position))


BUILD_PROBLEMS: BuildProblems = {"ONE_HOT": _unusable_values}
