"""Kinds of change, and the changes that may fix a cause, with their texts and simulated results."""

from __future__ import annotations

import functools
import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ...foundation import converter_attributes as attributes
from ...foundation.columns import OBJECT, YES_OR_NO, Column
from ...hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey
from ...results.report.findings import counts_text
from ...results.report.measures import NOT_RUNNING
from ...results.report.outcome_words import words_of
from ...rules.kinds import Problem
from ...versions.explanation import FEATURE_CHANGES
from ..examiner import Cost


class Suggestion(NamedTuple):
    """A kind of change: its code, a short description, and instructions."""

    code: str
    title: str
    change: str


SUGGESTIONS: Mapping[str, Suggestion] = {
    code: Suggestion(code, **texts)
    for code, texts in json.loads(pkgutil.get_data(__package__, "change_kinds.json") or b"").items()
}
"""All kinds of change, keyed by code. The texts are in ``change_kinds.json``."""

SUGGESTION_FOR: Mapping[Problem, str] = {
    Problem.DYNAMIC_SHAPE: "fix-shapes",
    Problem.OPERATOR_VERSION: "lower-version",
    Problem.OPERATOR: "replace-operator",
    Problem.TARGET_LEVEL: "raise-target-level",
    Problem.DRIVER: "avoid-operation",
    Problem.RANK: "change-rank",
    Problem.TYPE: "change-type",
    Problem.QUANTIZATION: "change-quantization",
    Problem.CONSTANT: "change-constant",
    Problem.OPERANDS: "complete-operands",
    Problem.SHAPE: "change-shape",
    Problem.ATTRIBUTE: "change-attribute",
    Problem.LIMIT: "raise-limit",
    Problem.NEIGHBORS: "replace-operator",
    Problem.MODEL: "repair-node",
    Problem.RELEASE: "other-release",
}
"""The code of the change, keyed by kind of problem.

If a feature raised an operator's version, the code is ``change-converter-setting`` instead.
"""

OF_RUNTIME = "runtime"
"""The ``kind`` of a reason that concerns the whole graph."""


NOT_SIMULATED = "not simulated"
IF_TAKEN = "if the new nodes are taken (counted as one node)"

FULLY_QUANTIZED = (
    f"quantize fully: {attributes.OPTIMIZED}, converter.representative_dataset, and "
    f"{attributes.OPERATORS.format(attributes.INT8)}"
)


class _Conversion(NamedTuple):
    change: str
    name: str


CONVERSIONS: Mapping[str, _Conversion] = {
    "float": _Conversion("convert in float: leave converter.optimizations empty", "float"),
    "int8": _Conversion(FULLY_QUANTIZED, "full integer quantization"),
    "int8-per-tensor": _Conversion(
        f"{FULLY_QUANTIZED}; with {attributes.PER_TENSOR}", "full integer quantization with a single scale for each tensor"
    ),
    "float16": _Conversion(
        f"convert with float16 weights: {attributes.OPTIMIZED} and converter.target_spec.supported_types = [tf.float16]",
        "float16 weights",
    ),
    "per-tensor": _Conversion(
        f"give each weight tensor a single scale: {attributes.PER_TENSOR} (accuracy may suffer)", "one scale per tensor"
    ),
    "dense-per-tensor": _Conversion(
        f"give the weights of FULLY_CONNECTED a single scale: {attributes.DENSE_PER_TENSOR} (accuracy may suffer)",
        "a single scale for the weights of FULLY_CONNECTED",
    ),
    "dynamic-range-per-tensor": _Conversion(
        f"keep dynamic range quantization with {attributes.OLD_DYNAMIC_RANGE_QUANTIZER} and {attributes.PER_TENSOR}",
        "the older quantizer with a single scale for each tensor",
    ),
}
"""The texts of hypothetical conversions."""

INLINED: Mapping[str, tuple[str, str]] = {
    "CALL": ("write the called function in place in the model's code", "the function in place"),
    "IF": (
        "compute both branches in the model's code, and choose between the results with tf.where",
        "computing both branches with tf.where",
    ),
    "STABLEHLO_COMPOSITE": (
        "convert without marking the composite, so that the operators of its body appear in its place",
        "the operators of the composite's body",
    ),
}
"""Instructions and a short name for each operator whose subgraphs can replace it."""

WITHOUT_OPTIONS: Mapping[Problem, str] = {
    Problem.LIMIT: "remove the nodes that split the graph",
    Problem.TARGET_LEVEL: "use another delegate, or leave the nodes on the CPU",
}

_CONVERTED_FEATURES = frozenset(
    [
        *("asymmetric-quantize-inputs", "basic-lstm", "hybrid-weights", "int2-type", "int2-weights", "int4-type", "int4-weights"),
        *("narrow-range", "per-channel", "quantized-bias-type", "uint4-type"),
    ]
)
"""Features of versions that another conversion of the model avoids."""


class ChangeKind(Enum):
    """The kinds of change that a diagnosis treats differently."""

    APPLICATION = "application"
    """The application does the work of the nodes."""
    CONVERSION = "conversion"
    """Other settings of the conversion, such as the types of tensors."""
    DELEGATE = "delegate"
    """Another delegate for the nodes."""
    LAYER = "layer"
    """The layer is written with other operators."""
    OPTIONS = "options"
    """Other options of the delegate."""
    RESHAPE = "reshape"
    """Other dimensions of tensors, by a RESHAPE before or after the node."""
    OTHER = "other"


class Assumed(Enum):
    """The assumption under which a change helps: other changes are made too."""

    NOTHING = ""
    SIZES = "fixed input sizes"
    OTHERS = "the other causes fixed"


@dataclass(frozen=True, slots=True)
class Remedy(HypotheticalChanges):
    """The hypothetical changes that fix a cause in a simulation."""

    accepts: bool = False
    """Whether the simulation also assumes that the delegate takes the cause's nodes."""
    sized_by: NodeKey | None = None
    """The node whose result has the unknown size that ``fixed_shapes`` fixes, if the size comes from a node of the file."""


class Change(NamedTuple):
    """A change that may fix a cause, and its simulated result. Code never reads the texts.

    ``cost`` is the result of making only this change. If the result is not known, ``cost`` is None and ``unknown`` is the
    reason. If only this change does not help, ``with_others`` may have the result with other fixes, which ``assumed`` names.
    ``helps`` is true if the change improves one of the two results.
    """

    text: str
    """The instructions."""
    kind: ChangeKind = ChangeKind.OTHER
    name: str = ""
    """The short name in lists of changes."""
    note: str = ""
    """Further instructions, which follow the result."""
    remedy: Remedy | None = None
    """The hypothetical changes that simulate the change. None if it cannot be simulated."""
    cost: Cost | None = None
    helps: bool = False
    with_others: Cost | None = None
    assumed: Assumed = Assumed.NOTHING
    unknown: str = ""


@dataclass(frozen=True)
class Advice:
    """The changes for a cause. ``code`` is a key of ``SUGGESTIONS``.

    ``changes`` belong together, or, if ``are_alternatives`` is true, each of them is enough. ``tried`` has the changes that
    were simulated in place of each other, in order: changes that help come first.
    """

    code: str
    changes: tuple[Change, ...]
    are_alternatives: bool = False
    tried: tuple[Change, ...] = ()
    is_not_simulated: bool = False
    """Whether the text says that the result of the changes is not simulated."""
    folded: tuple[str, ...] = ()
    """Operators of the cause around which TensorFlow's converter removes the RESHAPE that the changes ask for."""

    @functools.cached_property
    def text(self) -> str:
        """The instructions for a cause, with the results of the changes that were simulated."""
        return "; ".join([("; or " if self.are_alternatives else "; ").join(self._texts), *self.notes])

    @property
    def choices(self) -> tuple[str, ...]:
        """The instructions with their results. One of them is enough."""
        return self._texts if self.are_alternatives else ("; ".join(self._texts),)

    @functools.cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple([_with_result(change) for change in self.changes])

    @property
    def notes(self) -> list[str]:
        """The other changes that were simulated, and notes on all changes."""
        left = [change for change in self.tried if change not in self.changes]
        with_others = [f"{change.name} ({result_words(change.with_others)})" for change in left if change.with_others is not None]
        useless = [_named_with_result(change) for change in left if not change.helps and change.cost is not None]
        unknown = [_named_with_result(change) for change in left if not change.helps and change.cost is None]
        listed = {
            f"helps only with {Assumed.OTHERS.value}": with_others, "does not help": useless, NOT_SIMULATED: unknown,
        }  # fmt: skip
        notes = [f"{words}: {', '.join(changes)}" for words, changes in listed.items() if changes]
        if self.is_not_simulated:
            notes.append(NOT_SIMULATED)
        if self.folded:
            notes.append(
                f"TensorFlow's converter removes a RESHAPE before and after {', '.join(self.folded)}; delegate-sim fix may have "
                "a pass that writes the RESHAPE into the model file"
            )
        return notes


def general_change(code: str) -> Change:
    """Return the instructions for a kind of change. ``code`` is a key of ``SUGGESTIONS``."""
    return Change(SUGGESTIONS[code].change, ChangeKind.CONVERSION if code == "change-quantization" else ChangeKind.OTHER)


def conversion_change(name: str) -> Change:
    """Return a hypothetical conversion as a change. ``name`` is a key of ``CONVERSIONS``."""
    return Change(CONVERSIONS[name].change, ChangeKind.CONVERSION, CONVERSIONS[name].name, remedy=Remedy(conversion=name))


def feature_change(code: str, *, is_continued: bool = False) -> Change:
    """Return the change that avoids a feature of a version. If ``is_continued`` is true, the text does not begin a sentence."""
    text = FEATURE_CHANGES[code]
    kind = ChangeKind.CONVERSION if code in _CONVERTED_FEATURES else ChangeKind.OTHER
    return Change(continued(text) if is_continued else text, kind)


def continued(text: str) -> str:
    """Return a text that does not begin a sentence."""
    return f"{text[0].lower()}{text[1:]}"


def result_words(cost: Cost) -> str:
    """Describe a result in a few words: delegated nodes, delegate kernels, multiply-adds, and results that are wrong.

    For a compiler plugin, the text has the selected partitions instead of delegate kernels.
    """
    measures = cost.measures
    if measures.outcome in NOT_RUNNING:
        return "the model still does not run"
    text = f"{measures.delegated_nodes:,} of {measures.nodes:,} nodes"
    if not measures.delegated_nodes:
        return text
    text += f" in {words_of(cost.delegate).short_kernels(measures.delegate_kernels)}"
    if cost.total_multiply_adds:
        # The share is rounded down, so that 100 % always means all multiply-adds.
        text += f", {cost.multiply_adds * 1000 // cost.total_multiply_adds / 10:g} % of multiply-adds"
    return text + counts_text(measures, ", ")


def result_text(change: Change) -> str:
    """Return the result of a simulated change in words. If the result is not known, return the reason."""
    if change.cost is None:
        return change.unknown
    words = result_words(change.cost)
    if change.with_others is None:
        return words
    return f"with {change.assumed.value}, {result_words(change.with_others)}; alone, {words}"


def _named_with_result(change: Change) -> str:
    return f"{change.name} ({result_text(change)})"


def _with_result(change: Change) -> str:
    result = result_text(change)
    if not result:
        text = change.text
    elif change.kind is ChangeKind.LAYER and change.cost is not None:
        text = f"{change.text}; {IF_TAKEN}: {result if change.helps else f'no gain ({result})'}"
    elif change.kind is ChangeKind.LAYER:
        text = f"{change.text}; {NOT_SIMULATED}: {result}"
    else:
        text = f"{change.text} ({result})" if change.cost is not None else f"{change.text} ({NOT_SIMULATED}: {result})"
    return f"{text}: {change.note}" if change.note else text


CHANGE = (
    *(Column("change", source="text"), Column("helps", YES_OR_NO), Column("unknown")),
    *(Column("alone", OBJECT, source="cost"), Column("with_others", OBJECT)),
)
"""The columns of a simulated change."""
