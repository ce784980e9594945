"""Tables of feature levels. A table has the lowest feature level for each type of the deciding tensor."""

from __future__ import annotations

from ..types import OperandType


def levels(**by_type: int) -> dict[int, int]:
    """Return a table of feature levels by operand type. The keyword arguments are type names without the prefix ``TENSOR_``."""
    return {OperandType[f"TENSOR_{name}"]: level for name, level in by_type.items()}


# A number in a name is the level of the types. But FLOAT16 always needs level 3, and QUANT8_ASYMM_SIGNED needs level 4.
FLOAT_1 = levels(FLOAT32=1, FLOAT16=3)
FLOAT_2 = levels(FLOAT32=2, FLOAT16=3)
FLOAT_3 = levels(FLOAT32=3, FLOAT16=3)
FLOAT_4 = levels(FLOAT32=4, FLOAT16=4)
QUANT8_1 = levels(QUANT8_ASYMM=1, QUANT8_ASYMM_SIGNED=4)
QUANT8_2 = levels(QUANT8_ASYMM=2, QUANT8_ASYMM_SIGNED=4)
QUANT8_3 = levels(QUANT8_ASYMM=3, QUANT8_ASYMM_SIGNED=4)
REAL_1 = {**FLOAT_1, **QUANT8_1}
REAL_2 = {**FLOAT_2, **QUANT8_2}
REAL_3 = {**FLOAT_3, **QUANT8_3}
BOOL_3 = levels(BOOL8=3)
NUMBER_3 = {**REAL_3, **levels(INT32=3)}
NUMBER_7 = dict.fromkeys(NUMBER_3, 7)
