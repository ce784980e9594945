"""Kinds of problem that both GPU delegates report with the same wording."""

from __future__ import annotations

from ...rules import kinds

OPERAND_COUNT = kinds.OPERAND_COUNT.reworded(
    title="number of runtime operands, constants and results",
    meaning="Most operators require a certain number of operands that are computed at run time, and a certain number of "
    "constants. Only values in the model file count as constants. Values that the runtime computes in Prepare do not "
    "count.",
    advice="Fold operators that have only constant operands. Store shapes, axes and permutations in the model as constants.",
    hint="fold operators that have only constant operands, and store shapes, axes and permutations as constants",
)

RANK = kinds.RANK.reworded(
    meaning="GPU tensors have batch, height, width and channels. Operands, constants and results may have at most four "
    "dimensions. Some operators require an exact rank.",
)
