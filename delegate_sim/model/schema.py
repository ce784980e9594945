"""The TFLite schema: names of types and operators, and the fields of tables.

The data is in ``tflite_schema.json``, which ``make schema`` generates (``tools/schema.py``).
"""

from __future__ import annotations

import functools
import json
import pkgutil
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

_DATA = json.loads(pkgutil.get_data(__package__, "tflite_schema.json") or b"")

TFLITE_VERSION: str = _DATA["version"]
"""The release of the ``tflite`` package that ``make schema`` read."""

ENUMS: Mapping[str, Mapping[int, str]] = {
    name: {value: member for member, value in members.items()} for name, members in _DATA["enums"].items()
}
"""The members of enums and unions, by value."""

TABLES: Mapping[str, Mapping[str, Sequence[Any]]] = _DATA["tables"]
"""The fields of tables: slot, type, and the default of a number. ``[type]`` is a vector."""

OPTIONS_TABLES: Mapping[str, str] = _DATA["options"]
"""The options table of each builtin operator that has one."""

BITS_PER_ELEMENT: Mapping[str, int] = {
    "FLOAT32": 32,
    "FLOAT16": 16,
    "INT32": 32,
    "UINT8": 8,
    "INT64": 64,
    "BOOL": 8,
    "INT16": 16,
    "COMPLEX64": 64,
    "INT8": 8,
    "FLOAT64": 64,
    "COMPLEX128": 128,
    "UINT64": 64,
    "UINT32": 32,
    "UINT16": 16,
    "INT4": 4,
    "BFLOAT16": 16,
    "INT2": 2,
    "UINT4": 4,
    "FLOAT8_E4M3FN": 8,
    "FLOAT8_E5M2": 8,
}
"""The number of bits of one element, for each type with a fixed size."""

TYPES_WITHOUT_SIZE = frozenset({"STRING", "RESOURCE", "VARIANT"})
"""Types whose elements have no fixed size. Tensors of these types have no size until a value is set."""

NUMPY_TYPES: Mapping[str, str] = {
    "FLOAT32": "<f4",
    "FLOAT16": "<f2",
    "INT32": "<i4",
    "UINT8": "<u1",
    "INT64": "<i8",
    "BOOL": "<u1",
    "INT16": "<i2",
    "COMPLEX64": "<c8",
    "INT8": "<i1",
    "FLOAT64": "<f8",
    "COMPLEX128": "<c16",
    "UINT64": "<u8",
    "UINT32": "<u4",
    "UINT16": "<u2",
}
"""The numpy type of each tensor type that numpy can read directly."""

CUSTOM = 32
"""The builtin code of a custom operator."""

_STRUCT_CODES: Mapping[str, str] = {
    "bool": "?",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float32": "f",
    "float64": "d",
}
"""The format characters of the struct module, keyed by the schema's numeric type."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a table. ``default`` is the value of an absent field."""

    name: str
    slot: int
    type: str
    """The type, as in ``TABLES``."""
    default: Any

    @property
    def format(self) -> str | None:
        """The struct format of a numeric field, or None for a reference."""
        code = _STRUCT_CODES.get(self.type)
        return None if code is None else f"<{code}"

    @property
    def is_vector(self) -> bool:
        """True if the field refers to a vector."""
        return self.type.startswith("[")

    @property
    def element(self) -> str | None:
        """The struct format character of the elements if the field is a vector of numbers. None for all other fields."""
        return _STRUCT_CODES.get(self.type[1:-1]) if self.is_vector else None

    @property
    def target(self) -> str | None:
        """The type of the tables in the field, or None if the field contains no tables."""
        name = self.type.strip("[]")
        return name if name in TABLES else None

    @property
    def size(self) -> int:
        """The size of the field in the table in bytes: a number or a reference."""
        return struct.calcsize(self.format or "<I")

    @property
    def element_size(self) -> int:
        """The size in bytes of one element of the field's vector or string."""
        return 4 if self.target is not None else struct.calcsize(f"<{self.element or 's'}")


def enum_names(name: str) -> Mapping[int, str]:
    """Return the names of the members of an enum or union, by value."""
    return ENUMS[name]


@functools.cache
def enum_values(name: str) -> Mapping[str, int]:
    """Return the values of the members of an enum or union, by name."""
    return MappingProxyType({member: value for value, member in ENUMS[name].items()})


def is_operator(name: str) -> bool:
    """Return whether the schema has a builtin operator of this name."""
    return name in enum_values("BuiltinOperator")


def tensor_type_name(value: int) -> str:
    """Return the name of a tensor type, or ``UNKNOWN(value)`` for a type that is newer than the schema."""
    return ENUMS["TensorType"].get(value, f"UNKNOWN({value})")


def operator_name(value: int) -> str:
    """Return the name of a builtin operator, or ``UNKNOWN(value)`` for an operator that is newer than the schema."""
    return ENUMS["BuiltinOperator"].get(value, f"UNKNOWN({value})")


def builtin_code(op: str) -> int:
    """Return the code of a builtin operator."""
    return enum_values("BuiltinOperator")[op]


def options_table(op: str) -> str:
    """Return the name of a builtin operator's options table, or "" if the operator has no options table."""
    return OPTIONS_TABLES.get(op, "")


@functools.cache
def table_fields(table: str) -> Mapping[str, Field]:
    """Return the fields of a table by name. The result is empty if the schema lacks the table."""
    return MappingProxyType({name: _field(name, *declared) for name, declared in TABLES.get(table, {}).items()})


def _field(name: str, slot: int, declared_type: str, default: Any = None) -> Field:
    field = Field(name, slot, declared_type, default)
    if field.format is None:
        return replace(field, default=() if field.element else "")
    return field


def default_values(table: str) -> dict[str, Any]:
    """Return the default value of each field of a table, by name."""
    return {name: field.default for name, field in table_fields(table).items()}


_TYPES = """
    NO_TYPE FLOAT32 INT32 UINT8 INT64 STRING BOOL INT16 COMPLEX64 INT8 FLOAT16 FLOAT64 COMPLEX128 UINT64 RESOURCE VARIANT
    UINT32 UINT16 INT4 BFLOAT16 INT2 UINT4
"""
_TYPE_NUMBERS = {name: number for number, name in enumerate(_TYPES.split())}


def type_number(name: str) -> int:
    """Return the runtime's number for a type (``TfLiteType``). Model files use other numbers for the types."""
    return _TYPE_NUMBERS.get(name, 0)
