"""The runtime's numbers of tensor types, which differ from the numbers in model files."""

from __future__ import annotations

_TYPES = """
    NO_TYPE FLOAT32 INT32 UINT8 INT64 STRING BOOL INT16 COMPLEX64 INT8 FLOAT16 FLOAT64 COMPLEX128 UINT64 RESOURCE VARIANT
    UINT32 UINT16 INT4 BFLOAT16 INT2 UINT4
"""
_TYPE_NUMBERS = {name: number for number, name in enumerate(_TYPES.split())}


def type_number(name: str) -> int:
    """Return the runtime's number for a type (``TfLiteType``). Model files use other numbers for the types."""
    return _TYPE_NUMBERS.get(name, 0)
