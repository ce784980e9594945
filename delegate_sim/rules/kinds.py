"""Kinds of problem: the meaning of refusal codes, shared by all delegates, and hints.

The texts are in ``kinds.json``, here for the general kinds, and in the folder of a delegate for its own kinds. A delegate has its
own wording for a general kind only if the general wording does not fit the delegate.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

from ..foundation.columns import LIST, Column, Declared, positions
from ..model.model import Tensor
from ..refusal import Effect, Refusal, Stage


class HintKind(Enum):
    """The part of a model or conversion that a hint changes."""

    CONVERSION = "conversion"
    """The settings of the conversion, such as the types of tensors."""
    RESHAPE = "reshape"
    """The dimensions of tensors, by a RESHAPE before or after the node."""
    OTHER = "other"
    """Something else, such as the code of the model, or an option of the delegate."""


class Hint(str):
    """The text of a hint, with what it changes."""

    __slots__ = ("way",)

    way: HintKind

    def __new__(cls, text: str, way: HintKind) -> Hint:
        """Return a hint."""
        hint = super().__new__(cls, text)
        hint.way = way
        return hint

    def __getnewargs__(self) -> tuple[str, HintKind]:  # type: ignore[override]
        return str(self), self.way


def by_reshape(text: str) -> Hint:
    """Return a hint that changes the dimensions of tensors."""
    return Hint(text, HintKind.RESHAPE)


def in_code(text: str) -> Hint:
    """Return a hint about types or quantization that does not ask for another conversion."""
    return Hint(text, HintKind.OTHER)


class Problem(Enum):
    """The subject of a refusal. The diagnosis groups causes by subject."""

    DYNAMIC_SHAPE = "dynamic-shape"
    OPERATOR_VERSION = "operator-version"
    OPERATOR = "operator"
    TARGET_LEVEL = "target-level"
    DRIVER = "driver"
    RANK = "rank"
    TYPE = "type"
    QUANTIZATION = "quantization"
    CONSTANT = "constant"
    OPERANDS = "operands"
    SHAPE = "shape"
    ATTRIBUTE = "attribute"
    NEIGHBORS = "neighbours"
    LIMIT = "limit"
    MODEL = "model"
    RELEASE = "release"


class Explanation(NamedTuple):
    """The explanation of a code: its title, its meaning, and advice."""

    title: str
    meaning: str
    advice: str


@dataclass(frozen=True, slots=True)
class Explanations(Declared):
    """Explanations by code."""

    document = "explanations"
    columns = (
        Column(
            "codes",
            LIST,
            source=lambda own: [(code, *own.known[code]) for code in sorted(own.known)],
            parts=positions("code", *Explanation._fields),
        ),
    )

    known: Mapping[str, Explanation]


class Kind(NamedTuple):
    """A kind of problem. Checks refer to a kind by its ``name``.

    A delegate's code for the kind is ``DELEGATE-name``, or ``DELEGATE-suffix`` if there is a ``suffix``. If ``is_shared`` is
    true, the code is ``name`` for every delegate. ``title``, ``meaning`` and ``advice`` explain the code. ``hint`` says
    briefly what to change. ``native`` is the delegate's own name for the kind, or "".
    """

    name: str
    problem: Problem
    title: str
    meaning: str
    advice: str
    hint: str
    suffix: str = ""
    native: str = ""
    is_shared: bool = False
    template: str = ""
    """The message of a refusal, with a placeholder for each value. Empty if each refusal has its own message."""
    stage: Stage = Stage.BUILDING
    """The stage that refuses with a kind of failure. Rules of delegates do not use it."""
    effect: Effect = Effect.UNDO

    @property
    def explanation(self) -> Explanation:
        """The explanation of the kind's code."""
        return Explanation(self.title, self.meaning, self.advice)

    def reworded(self, **changes: Any) -> Kind:
        """Return a copy of this kind with the texts of one delegate."""
        return self._replace(**changes)

    def refusal(self, message: str, **fields: Any) -> Refusal:
        """Return a refusal of this kind. ``fields`` are further fields of the refusal."""
        return Refusal(self.name, message, **{"hint": self.hint, "stage": self.stage, "effect": self.effect, **fields})

    def failure(self, tensor: Tensor | None = None, node: int | None = None, **values: Any) -> Refusal:
        """Return a refusal with the template of this kind. ``values`` fill the placeholders of the template."""
        index = None
        if tensor is not None:
            index = tensor.index
            name = f"tensor {index} ({tensor.name})" if tensor.name else f"tensor {index}"
            values = {"tensor": name, "type": tensor.type, "shape": list(tensor.shape), **values}
        return self.refusal(self.template, node=node, tensor=index, values=values)

    def code(self, delegate: str) -> str:
        """Return the code of this kind in the refusals of a delegate."""
        return self.name if self.is_shared else f"{delegate}-{self.suffix or self.name}"


def kinds_data(folder: str) -> dict[str, Any]:
    """Return the content of ``kinds.json`` in a folder of the package, such as ``delegates/gpu``, by section."""
    data: dict[str, Any] = json.loads(pkgutil.get_data("delegate_sim", f"{folder}/kinds.json") or b"")
    return data


def kinds_in(folder: str, section: str, known: Iterable[Kind] = (), **fields: Any) -> Mapping[str, Kind]:
    """Return the kinds in a section of ``kinds.json`` in a folder of the package, by name and in the order of the file.

    An entry has the fields of a kind. An entry without a ``problem`` has the texts of one delegate for a general kind, or for one
    of the kinds in ``known``. A hint that changes something else than usual hints of its kind is an object: the value of the
    ``HintKind``, and the text. ``fields`` are fields of all kinds in the section.
    """
    general = {kind.name: kind for kind in known}

    def kind_of(name: str, entry: dict[str, Any]) -> Kind:
        values = field_values(entry)
        if "problem" in entry:
            return Kind(name, **{**fields, **values})
        return (general.get(name) or _DELEGATES[name]).reworded(**values)

    return MappingProxyType({name: kind_of(name, entry) for name, entry in kinds_data(folder)[section].items()})


def field_values(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry in ``kinds.json``, with members of enums and hints in place of their texts."""
    return {key: _READERS[key](value) if key in _READERS else value for key, value in entry.items()}


def _hint(hint: str | dict[str, str]) -> str:
    return hint if isinstance(hint, str) else next(Hint(text, HintKind(way)) for way, text in hint.items())


_READERS: Mapping[str, Callable[[Any], Any]] = {"problem": Problem, "hint": _hint, "stage": Stage, "effect": Effect}

_DELEGATES = kinds_in("rules", "delegates")
_RUNTIME = kinds_in("rules", "runtime", is_shared=True)

OPERATOR = _DELEGATES["unsupported-operator"]
VERSION = _DELEGATES["operator-version"]
OPERAND_COUNT = _DELEGATES["operand-count"]
MALFORMED_OPERANDS = _RUNTIME["malformed-operands"]
OPTIONAL_OPERAND = _DELEGATES["optional-operand"]
CONSTANT = _DELEGATES["constant-operand"]
TENSOR_TYPE = _DELEGATES["tensor-type"]
HYBRID = _DELEGATES["hybrid"]
RANK = _DELEGATES["rank"]
SHAPE = _DELEGATES["shape"]
BROADCAST = _DELEGATES["broadcast"]
OPERAND_VALUE = _DELEGATES["operand-value"]
ATTRIBUTE = _DELEGATES["attribute-value"]
ACTIVATION = _DELEGATES["activation"]
QUANTIZATION = _DELEGATES["quantization"]
NEIGHBOR = _DELEGATES["neighbouring-node"]
READS_BEYOND_OPERANDS = _DELEGATES["reads-beyond-operands"]
"""A problem that probably causes a refusal. It is not certain, because the delegate reads memory with unknown content."""

DYNAMIC_TENSORS = _RUNTIME["dynamic-tensors"]
CPU_KERNEL_AFTER_REMAPPING = _RUNTIME["cpu-kernel-after-remapping"]
CYCLIC_GRAPH = _RUNTIME["cyclic-graph"]
PARTITION_LIMIT = _RUNTIME["partition-limit"]
PARTITION_MINIMUM = _RUNTIME["partition-minimum"]
FLOAT16_DEQUANTIZE = _RUNTIME["float16-dequantize"]

OPERATOR_NOT_LOADED = _RUNTIME["operator-not-loaded"]
TENSOR_TYPE_NOT_LOADED = _RUNTIME["tensor-type-not-loaded"]
MODEL_NOT_LOADED = _RUNTIME["not-loaded"]
TENSOR_NOT_LOADED = _RUNTIME["tensor-not-loaded"]
NODE_NOT_LOADED = _RUNTIME["node-not-loaded"]
CPU_KERNEL_NOT_PREPARED = _RUNTIME["cpu-kernel-not-prepared"]

OPERATOR_NOT_REGISTERED = _RUNTIME["operator-not-registered"]

STUB_NOT_DELEGATED = _RUNTIME["stub-not-delegated"]
CPU_KERNEL_TYPE = _RUNTIME["cpu-kernel-type"]
CPU_KERNEL_VALUE = _RUNTIME["cpu-kernel-value"]
CPU_KERNEL_UNQUANTIZED = _RUNTIME["cpu-kernel-unquantized"]
CPU_KERNEL_QUANTIZATION = _RUNTIME["cpu-kernel-quantization"]
NOT_ACCELERATED = _RUNTIME["not-fully-accelerated"]

NOT_PREPARED_KINDS = (CPU_KERNEL_NOT_PREPARED, OPERATOR_NOT_REGISTERED)
"""The problems of nodes that the CPU kernels cannot prepare."""

FAILS_IN_INVOKE_KINDS = (CPU_KERNEL_TYPE, CPU_KERNEL_VALUE, CPU_KERNEL_UNQUANTIZED, CPU_KERNEL_QUANTIZATION)
"""The problems of nodes that the CPU kernels prepare and do not compute."""

NOT_LOADED_KINDS = (MODEL_NOT_LOADED, OPERATOR_NOT_LOADED, TENSOR_TYPE_NOT_LOADED, TENSOR_NOT_LOADED, NODE_NOT_LOADED)
"""The problems of models that the runtime cannot load."""

RUNTIME_KINDS = (
    MALFORMED_OPERANDS,
    DYNAMIC_TENSORS,
    CPU_KERNEL_AFTER_REMAPPING,
    CYCLIC_GRAPH,
    *NOT_LOADED_KINDS,
    *NOT_PREPARED_KINDS,
    STUB_NOT_DELEGATED,
    *FAILS_IN_INVOKE_KINDS,
    NOT_ACCELERATED,
)
"""Problems of the runtime itself. They can occur with any delegate."""
