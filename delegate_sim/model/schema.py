"""What the TFLite schema says: names of types and operators, and where a table keeps its fields.

The knowledge is that of the ``tflite`` package. Its modules are loaded one by one, and not through the package itself,
which imports all of its several hundred modules. What LiteRT's schema has beyond the package's release is listed below
as additions.
"""

from __future__ import annotations

import builtins
import functools
import importlib.util
import os
import re
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Any

from ..named_tuples import NamedTuple

_NEWER_MEMBERS: Mapping[str, Mapping[int, str]] = MappingProxyType(
    {
        "TensorType": {19: "INT2", 20: "UINT4", 21: "FLOAT8_E4M3FN", 22: "FLOAT8_E5M2"},
        "BuiltinOperator": {209: "STABLEHLO_CASE"},
        "BuiltinOptions2": {23: "StablehloCaseOptions"},
    }
)

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

    ``format`` is the struct format of a scalar and None for a reference; ``element`` is the struct character of the
    elements of a vector of numbers, None for scalars, strings and tables. An absent vector reads as (), an absent string
    as "".
    """

    name: str
    slot: int
    format: str | None
    default: Any
    element: str | None = None


_NEWER_TABLES: Mapping[str, tuple[Field, ...]] = MappingProxyType(
    {"StablehloCaseOptions": (Field("branch_subgraph_indices", 0, None, (), "i"),)}
)


@functools.cache
def _package() -> str:
    spec = importlib.util.find_spec("tflite")
    if spec is None or spec.origin is None:  # pragma: no cover - the package is a dependency
        raise ModuleNotFoundError("the package 'tflite' is not installed")
    return os.path.dirname(spec.origin)


class _StandIn:
    """Stands in for flatbuffers, its modules and types of numbers, in the package's modules: importing it brings numpy along."""

    def __init__(self, name: str) -> None:
        self.name = name.removesuffix("Flags").lower()

    def __getattr__(self, name: str) -> _StandIn:
        return _StandIn(name)

    def __call__(self, number: Any = None) -> Any:
        return number


def _import(name: str, *further: Any) -> Any:
    return _StandIn(name) if name.partition(".")[0] == "flatbuffers" else builtins.__import__(name, *further)


def _module(name: str) -> ModuleType | None:
    path = os.path.join(_package(), f"{name}.py")
    if not os.path.isfile(path):
        return None
    spec = importlib.util.spec_from_file_location(f"{__name__}.{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    vars(module)["__builtins__"] = vars(builtins) | {"__import__": _import}
    spec.loader.exec_module(module)
    return module


@functools.cache
def enum_names(name: str) -> Mapping[int, str]:
    """Return {value: name} of one enum or union of the schema."""
    module = _module(name)
    if module is None:
        raise KeyError(name)
    members = {value: key for key, value in vars(getattr(module, name)).items() if not key.startswith("_")}
    return MappingProxyType({**_NEWER_MEMBERS.get(name, {}), **members})


def is_operator(name: str) -> bool:
    """Whether the schema has a builtin operator of this name."""
    return name in enum_names("BuiltinOperator").values()


def tensor_type_name(value: int) -> str:
    """Return the name of a tensor type, ``UNKNOWN(value)`` for one newer than the schema."""
    return enum_names("TensorType").get(value, f"UNKNOWN({value})")


def operator_name(value: int) -> str:
    """Return the name of a builtin operator, ``UNKNOWN(value)`` for one newer than the schema."""
    return enum_names("BuiltinOperator").get(value, f"UNKNOWN({value})")


_SHARED_OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "AVERAGE_POOL_2D": "Pool2DOptions",
        "CONV_3D_TRANSPOSE": "Conv3DOptions",
        "L2_NORMALIZATION": "L2NormOptions",
        "L2_POOL_2D": "Pool2DOptions",
        "MAXIMUM": "MaximumMinimumOptions",
        "MAX_POOL_2D": "Pool2DOptions",
        "MEAN": "ReducerOptions",
        "MINIMUM": "MaximumMinimumOptions",
        "MULTINOMIAL": "RandomOptions",
        "RANDOM_STANDARD_NORMAL": "RandomOptions",
        "RANDOM_UNIFORM": "RandomOptions",
        "REDUCE_ALL": "ReducerOptions",
        "REDUCE_ANY": "ReducerOptions",
        "REDUCE_MAX": "ReducerOptions",
        "REDUCE_MIN": "ReducerOptions",
        "REDUCE_PROD": "ReducerOptions",
        "SUM": "ReducerOptions",
        "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
    }
)
"""Options tables that are not named after their operator."""


@functools.cache
@functools.lru_cache(maxsize=1 << 10)
def options_table(op: str) -> str:
    """Return the name of a builtin operator's options table, "" if it has none (``flatbuffer_conversions.cc``)."""
    return _SHARED_OPTIONS.get(op) or _options_tables().get(op.replace("_", "").lower(), "")


@functools.cache
def _options_tables() -> Mapping[str, str]:
    tables = [*enum_names("BuiltinOptions").values(), *enum_names("BuiltinOptions2").values()]
    return MappingProxyType({table.removesuffix("Options").lower(): table for table in tables})


_FORMATS: Mapping[str, str] = MappingProxyType(
    {
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
)
"""Struct characters by the names that flatbuffers gives to types of numbers."""


class _BuilderRecorder:
    """Stands in for a flatbuffers builder: records the slot, type and default that a generated Add function names."""

    field: tuple[int, str | None, Any]

    def __getattr__(self, method: str) -> Any:
        kind = _FORMATS.get(method.removeprefix("Prepend").removesuffix("Slot").lower())

        def record(slot: int, _value: Any, default: Any) -> None:
            self.field = (slot, kind and f"<{kind}", default)

        return record


class _TableRecorder:
    """Stands in for a flatbuffers table: records the type of the elements that a generated accessor of a vector names."""

    element: str | None = None

    def Offset(self, slot: int) -> int:  # noqa: N802 - the name that accessors call
        return slot

    def GetVectorAsNumpy(self, flags: Any, _offset: int) -> None:  # noqa: N802 - the name that accessors call
        self.element = _FORMATS[flags.name]


@functools.cache
def table_fields(name: str) -> tuple[Field, ...]:
    """Return the fields of one table of the schema under the schema's own names; none if the table is unknown."""
    module = _module(name)
    if module is None:
        return _NEWER_TABLES.get(name, ())
    fields = []
    for key, add in vars(module).items():
        if key.startswith(f"{name}Add") and callable(add):
            words = key.removeprefix(f"{name}Add")
            element = _element(getattr(module, name), words)
            builder = _BuilderRecorder()
            add(builder, 0)
            slot, kind, default = builder.field
            if kind is None:
                default = () if element else ""
            fields.append(Field(_snake_case(words), slot, kind, default, element))
    return tuple(fields)


def _element(table: type, words: str) -> str | None:
    accessor = getattr(table, f"{words}AsNumpy", None)
    if accessor is None:
        return None
    instance = table()
    instance._tab = recorder = _TableRecorder()
    accessor(instance)
    return recorder.element


def _snake_case(words: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", words).lower()
