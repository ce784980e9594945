"""Padding."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.vocabulary import where
from ...gpu_compatibility import shape
from ..demands.checks import (
    Checks,
    version_up_to,
)
from ..demands.parsing import parsed_by
from ..demands.reading import (
    RESULTS,
    float_constant,
    integer_constant,
    readable,
)
from ..demands.tensors import with_tensors

# Padding

_PADDINGS: Checks = (*RESULTS, *readable(0), *integer_constant(1, "matrix"))


def _has_value(node: NodeView) -> bool:
    return len(node.node.inputs) == 3


_PAD = parsed_by("PadOperationParser", *version_up_to(5), *shape.PAD, *_PADDINGS)

RULES = with_tensors(
    {
        "MIRROR_PAD": parsed_by("PadOperationParser", *version_up_to(5), *shape.MIRROR_PAD, *_PADDINGS),
        "PAD": _PAD,
        "PADV2": parsed_by(
            "PadOperationParser",
            *version_up_to(5),
            *shape.PAD,
            *_PADDINGS,
            *where(_has_value, "with a value", *float_constant(2, "scalar")),
        ),
    }
)
