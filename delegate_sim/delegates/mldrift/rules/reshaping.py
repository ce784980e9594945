"""Reshaping, transposing, and moving blocks between dimensions."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import SHAPE
from ....rules.numbers import counted
from ....rules.vocabulary import check
from ...gpu_compatibility import shape
from ...gpu_compatibility.checks import runtime_operands
from ..demands.checks import (
    other_inputs,
    results,
    runtime_inputs,
    version_up_to,
)
from ..demands.parsing import parsed_by
from ..demands.reading import (
    RESULTS,
    integer_constant,
    readable,
)
from ..demands.tensors import with_tensors


def _permutation(node: NodeView) -> str | None:
    found = node.input(1).element_count
    return None if 2 <= found <= 4 else f"a permutation of {counted(found, 'dimension')}"


RULES = with_tensors(
    {
        "DEPTH_TO_SPACE": parsed_by("DepthToSpaceOperationParser", *shape.BLOCKS, *RESULTS, *readable(0)),
        "RESHAPE": parsed_by("ReshapeOperationParser", *version_up_to(1), runtime_operands(1, 1), *readable(0), *RESULTS),
        "SPACE_TO_DEPTH": parsed_by(
            "SpaceToDepthOperationParser",
            *version_up_to(2),
            *shape.BLOCKS,
            results(1),
            runtime_inputs(1),
            other_inputs(0),
            *RESULTS,
            *readable(0),
        ),
        "TRANSPOSE": parsed_by(
            "TransposeOperationParser",
            *version_up_to(9, older=5),
            runtime_operands(1, 1),
            *readable(0),
            *RESULTS,
            *integer_constant(1, "linear"),
            check(SHAPE, "a permutation of 2 to 4 dimensions", _permutation).saying("Permutation for transpose is invalid."),
        ),
    }
)
