"""What the TFLite schema says: names of types and operators, and where a table keeps its fields.

The knowledge is that of the ``tflite`` package. Its modules are loaded one by one, and not through the package itself,
whose start imports all of the several hundred of them. What the schema of LiteRT holds beyond the package's release stands
below as additions.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

_NEWER_TENSOR_TYPES = {19: "INT2", 20: "UINT4", 21: "FLOAT8_E4M3FN", 22: "FLOAT8_E5M2"}
_NEWER_OPERATORS = {209: "STABLEHLO_CASE"}

BITS_PER_ELEMENT: Mapping[str, int] = MappingProxyType(
    {
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
)
"""Size of one element by type, in bits. STRING, RESOURCE, VARIANT and unknown types have no fixed size."""

NUMPY_TYPES: Mapping[str, str] = MappingProxyType(
    {
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
)
"""How numpy reads the elements of a constant, for the types it can read in place."""

CUSTOM = 32
"""The builtin code of a custom operator."""


class Field(NamedTuple):
    """Where a table keeps one field.

    ``format`` is the struct format of a scalar and None for a reference; ``element_size`` is the size in bytes of the
    elements of a vector, None for scalars, strings and tables.
    """

    name: str
    slot: int
    format: str | None
    default: Any
    element_size: int | None = None


@functools.cache
def _package() -> Path:
    spec = importlib.util.find_spec("tflite")
    if spec is None or spec.origin is None:  # pragma: no cover - the package is a dependency
        raise ModuleNotFoundError("the package 'tflite' is not installed")
    return Path(spec.origin).parent


def _module(name: str) -> ModuleType | None:
    path = _package() / f"{name}.py"
    if not path.is_file():
        return None
    spec = importlib.util.spec_from_file_location(f"{__name__}.{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def enum_names(name: str) -> Mapping[int, str]:
    """Return {value: name} of one enum or union of the schema."""
    module = _module(name)
    if module is None:
        raise KeyError(name)
    members = {value: key for key, value in vars(getattr(module, name)).items() if not key.startswith("_")}
    if name == "TensorType":
        members = {**_NEWER_TENSOR_TYPES, **members}
    elif name == "BuiltinOperator":
        members = {**_NEWER_OPERATORS, **members}
    return MappingProxyType(members)


def tensor_type_name(value: int) -> str:
    """Return the name of a tensor type, ``UNKNOWN(value)`` for one newer than the schema."""
    return enum_names("TensorType").get(value, f"UNKNOWN({value})")


def operator_name(value: int) -> str:
    """Return the name of a builtin operator, ``UNKNOWN(value)`` for one newer than the schema."""
    return enum_names("BuiltinOperator").get(value, f"UNKNOWN({value})")


class _FieldRecorder:
    """Stands in for a flatbuffers builder: notes the slot, type and default that a generated Add function names."""

    _FORMATS: Mapping[str, str | None] = MappingProxyType(
        {
            "Bool": "?",
            "Int8": "<b",
            "Uint8": "<B",
            "Int16": "<h",
            "Uint16": "<H",
            "Int32": "<i",
            "Uint32": "<I",
            "Int64": "<q",
            "Uint64": "<Q",
            "Float32": "<f",
            "Float64": "<d",
            "UOffsetTRelative": None,
        }
    )

    field: tuple[int, str | None, Any]
    element_size: int | None = None

    def __getattr__(self, method: str) -> Any:
        kind = self._FORMATS[method.removeprefix("Prepend").removesuffix("Slot")]

        def record(slot: int, _value: Any, default: Any) -> None:
            self.field = (slot, kind, default)

        return record

    def StartVector(self, element_size: int, _count: int, _alignment: int) -> None:  # noqa: N802 - the builder's name
        self.element_size = element_size


@functools.cache
def table_fields(name: str) -> tuple[Field, ...]:
    """Return the fields of one table of the schema under the schema's own names; none if the table is unknown."""
    module = _module(name)
    fields = []
    for key, add in vars(module).items() if module else ():
        if key.startswith(f"{name}Add") and callable(add):
            recorder = _FieldRecorder()
            add(recorder, 0)
            words = key.removeprefix(f"{name}Add")
            start_vector = getattr(module, f"{name}Start{words}Vector", None)
            if start_vector is not None:
                start_vector(recorder, 0)
            fields.append(Field(_snake_case(words), *recorder.field, recorder.element_size))
    return tuple(fields)


def _snake_case(words: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", words).lower()
