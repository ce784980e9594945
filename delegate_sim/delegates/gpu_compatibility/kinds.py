"""Kinds of problem that both GPU delegates report with the same wording."""

from __future__ import annotations

from ...rules import kinds

OPERAND_COUNT = kinds.OPERAND_COUNT.reworded(
    title="number of runtime operands, constants and results",
    meaning="Most operators are accepted only with certain numbers of operands that are computed at run time and of "
    "operands from the model file. What the runtime computes while it prepares the graph counts as computed at run time.",
    advice="Fold operators whose operands are all constant, and make shapes, axes and permutations constants of the model.",
    hint="fold operators whose operands are all constant, and make shapes, axes and permutations constants of the model",
)

RANK = kinds.RANK.reworded(
    meaning="GPU tensors have batch, height, width and channels: no operand or result, constants included, may have five or "
    "more dimensions, and some operators demand an exact rank.",
)
