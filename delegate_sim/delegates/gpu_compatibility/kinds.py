"""Kinds of problem that both GPU delegates report with the same wording."""

from __future__ import annotations

from ...rules import kinds

OPERAND_COUNT = kinds.OPERAND_COUNT.reworded(
    title="number of runtime operands, constants and results",
    meaning="Most operators are accepted only with a certain number of operands that are computed at run time, and a certain "
    "number of constants from the model file. A tensor that the runtime computes while it prepares the graph counts as "
    "computed at run time.",
    advice="Fold operators whose operands are all constant, and store shapes, axes and permutations in the model as constants.",
    hint="fold operators whose operands are all constant, and store shapes, axes and permutations in the model as constants",
)

RANK = kinds.RANK.reworded(
    meaning="GPU tensors have batch, height, width and channels. No operand or result may have five or more dimensions, not even "
    "a constant, and some operators require an exact rank.",
)
