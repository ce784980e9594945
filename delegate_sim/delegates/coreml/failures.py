"""Failures to initialize the kernel of a partition: problem codes and wording."""

from __future__ import annotations

import functools

from ...refusal import Effect
from ...rules.hints import by_reshape
from ...rules.kinds import Problem, shared_kind
from .. import decision
from ..decision import kinds_by_code

KINDS = kinds_by_code(
    shared_kind(
        "coreml-kernel-operands",
        Problem.OPERANDS,
        "a layer's number of operands",
        "For some operators, the rules do not check the number of operands. If a supported node has a wrong number of "
        "operands or results, the kernel of the whole partition fails. The runtime then undoes all delegation.",
        "Give the node the operands that its layer takes. Replace a TRANSPOSE_CONV that has a bias by a TRANSPOSE_CONV "
        "without a bias and an ADD.",
        "give the node the operands that its layer takes",
        template="{op} has {found}; its layer takes {needed}",
    ),
    shared_kind(
        "coreml-kernel-rank",
        Problem.RANK,
        "more than four dimensions at the boundary of a partition",
        "Inputs and outputs of a partition may have at most four dimensions. Many rules for nodes do not check this limit. "
        "From LiteRT 2.2.0 on, the kernel fails if an input or output has more than four. The runtime then undoes all "
        "delegation.",
        "Fold dimensions with a RESHAPE before the delegated part, and restore them after it.",
        by_reshape("fold dimensions with RESHAPE"),
        template="{tensor} is an input or output of the partition and has {found} dimensions; needs at most 4",
    ),
    shared_kind(
        "coreml-kernel-value",
        Problem.OPERANDS,
        "missing padding value",
        "If a padding node lists three operands, the kernel reads the third as the padding value. If the third entry is "
        "-1 (omitted), the process crashes.",
        "Replace the node by a PAD, which always pads with 0, or give the node a padding value.",
        "use PAD, or give the node a padding value",
        template="{op} has no padding value, but the delegate's kernel reads a padding value",
        effect=Effect.CRASH,
    ),
)
"""The kind of each failure, by its code."""

kernel_failure = functools.partial(decision.kernel_failure, KINDS)
