"""Versions of builtin operators that the CPU kernels of each release load.

If a model has another version of an operator, the model does not load, even if a delegate would take the node.
``resolver_table`` lists the versions that ``BuiltinOpResolver`` registers.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping
from dataclasses import dataclass

from ..model import schema
from ..releases.catalogue import Release, parse_release
from .resolver_table import LOADED, MINIMUM, NEWEST_OPERATORS, NEWEST_TYPES

_FAILED = "Registration failed."


class Loads(enum.Enum):
    """Whether a release loads an operator or a type. ``UNKNOWN`` if ``resolver_table`` does not cover the release."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class _Versions:
    maximum: Mapping[str, int]
    highest_code: int
    highest_type: int


def loads(op: str, version: int, release: Release) -> Loads:
    """Return whether a release's own kernels load this version of a builtin operator.

    A release that is not in the table is treated like the next older release in the table. If the table has no older release,
    the result is ``UNKNOWN``.
    """
    known = _versions(release)
    if known is None:
        return Loads.UNKNOWN
    return Loads.YES if MINIMUM.get(op, 1) <= version <= known.maximum.get(op, 0) else Loads.NO


def highest_version(op: str, release: Release) -> int | None:
    """Return the highest version of an operator that a release loads."""
    known = _versions(release)
    return None if known is None else known.maximum.get(op)


def unresolved(op: str, version: int, release: Release) -> str | None:
    """Return a message if a release does not load a version of a builtin operator, or if this is not known."""
    known = _versions(release)
    if known is None:
        return f"it is not known whether {release} loads {op} version {version}"
    maximum = known.maximum.get(op)
    if maximum is None:
        return f"{release} has no CPU kernel for {op}"
    minimum = MINIMUM.get(op, 1)
    if minimum <= version <= maximum:
        return None
    span = f"version {minimum} only" if minimum == maximum else f"versions {minimum} to {maximum}"
    return f"{release} does not load {op} version {version}: it supports {span}"


def refusal_lines(op: str, version: int, release: Release) -> tuple[str, ...]:
    """Return the lines that a release logs if it does not load a builtin operator.

    Return no lines if the release loads the operator, or if the table does not cover the release. ``op`` is ``UNKNOWN(code)``
    for an operator that this package's schema lacks.

    The error of TensorFlow Lite's ``Interpreter`` class in Python contains these lines. The error has no line breaks if the
    release's schema lacks the operator.
    """
    known = _versions(release)
    if known is None or loads(op, version, release) is Loads.YES:
        return ()
    code = schema.enum_values("BuiltinOperator").get(op)
    name = op if code is not None else ""
    if code is None:
        code = int(op.removeprefix("UNKNOWN(").removesuffix(")"))
    if code > known.highest_code:
        return f"Op builtin_code out of range: {code}. Are you using old TFLite binary with newer model?", _FAILED
    return (
        f"Didn't find op for builtin opcode '{name}' version '{version}'. An older version of this builtin might be supported. "
        "Are you using an old TFLite binary with a newer model?",
        _FAILED,
    )


def loads_type(name: str, release: Release, *, is_constant: bool = False) -> Loads:
    """Return whether a release loads tensors of a type.

    ``name`` is ``UNKNOWN(code)`` for a type that this package's schema lacks.
    """
    known = _versions(release)
    if known is None:
        return Loads.UNKNOWN
    is_refused = _type_code(name) > known.highest_type or (is_constant and _is_unpacked(name, release))
    return Loads.NO if is_refused else Loads.YES


def tensor_refusal_line(name: str, tensor: int, release: Release) -> str:
    """Return the line that a release logs for a tensor of a type that it does not load."""
    if _is_unpacked(name, release) and loads_type(name, release) is Loads.YES:
        return f"Tensor {tensor} is invalidly specified in schema."
    return f"Unsupported data type {_type_code(name)} in tensor"


def _is_unpacked(name: str, release: Release) -> bool:
    """Return whether a release expects one byte for each value of a packed type, so that constants of the type are too short."""
    return name == "INT4" and not release.is_at_least(_PACKED)


_PACKED = parse_release("tf-2.12")


def _type_code(name: str) -> int:
    code = schema.enum_values("TensorType").get(name)
    return int(name.removeprefix("UNKNOWN(").removesuffix(")")) if code is None else code


@functools.lru_cache(maxsize=64)
def _versions(release: Release) -> _Versions | None:
    tables = LOADED[release.family]
    if release.version[:2] < min(tables):
        return None
    maximum: dict[str, int] = {}
    for since, changed in tables.items():
        if release.version >= since:
            maximum.update({op: version for version, ops in changed.items() for op in ops.split()})
    newest, newest_type = [
        [name for since, name in table[release.family].items() if (*release.version, 0) >= since][-1]
        for table in (NEWEST_OPERATORS, NEWEST_TYPES)
    ]
    return _Versions(maximum, schema.enum_values("BuiltinOperator")[newest], schema.enum_values("TensorType")[newest_type])
