"""The texts of changes. Code that decides uses ``Change`` and ``Advice``, and never reads these texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ...foundation import converter_attributes as attributes
from ...foundation.columns import OBJECT, YES_OR_NO, Column
from ...graph.unassigned_variables import no_weights_text
from ...results.report.outcome_words import words_of
from ...rules.kinds import Problem
from ...versions.features import FEATURES
from ..advice.change_kinds import SUGGESTIONS
from ..examiner import Cost
from .change import Advice, Assumed, Change, ChangeKind
from .undelegatable_nodes import CHOOSING, IN_APPLICATION

_INPUTS_NAMED = 3
NOT_SIMULATED = "not simulated"
IF_TAKEN = "if the delegate takes the new nodes (counted as one node)"

FULLY_QUANTIZED = (
    f"quantize fully: {attributes.OPTIMIZED}, converter.representative_dataset, and "
    f"{attributes.OPERATORS.format(attributes.INT8)}"
)
_HOW_FIXED = (
    "in Keras, call the model on a keras.Input with batch_shape; in TensorFlow, use a concrete function whose tf.TensorSpec has "
    "no None; in PyTorch, export without dynamic shapes. The converter then computes everything that depends on the shapes"
)
_FIXED_IN_FILE = (
    "delegate-sim fix --shape INPUT=SIZES fixes the sizes in the model file, without another conversion, but may keep nodes that "
    "a new conversion removes"
)
_UNKNOWN = "the result of this change is not known, because the converter will write other nodes"


class _Conversion(NamedTuple):
    """Instructions for a hypothetical conversion, and its short name."""

    change: str
    name: str


CONVERSIONS: Mapping[str, _Conversion] = MappingProxyType(
    {
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
)
"""The texts of hypothetical conversions."""

_INLINED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
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
)
"""Instructions and a short name for each operator whose subgraphs can replace it."""

_UNROLLED: Mapping[str, str] = MappingProxyType(
    {
        "CALL": f"write the called function in place in the model's code; {_UNKNOWN}",
        "IF": "compute both branches and choose between them with tf.where, or let the application run the branches as separate "
        f"models; {_UNKNOWN}",
    }
)
_UNROLLED_LOOP = (
    "unroll the loop if its number of steps is known (unroll=True in Keras' recurrent layers), or let the application run "
    f"its body as a separate model; {_UNKNOWN}"
)

_WITHOUT_OPTIONS: Mapping[Problem, str] = MappingProxyType(
    {
        Problem.LIMIT: "remove the nodes that split the graph",
        Problem.TARGET_LEVEL: "use another delegate, or leave the nodes on the CPU",
    }
)


def _fix_inputs(sizes: str, only_batch: bool, is_loop: bool) -> str:
    how = "a fixed batch" if only_batch else "inputs of fixed sizes"
    fixed = f"convert with {how}, such as {sizes}: {_HOW_FIXED}"
    return f"{fixed}. At the same time, {_UNROLLED_LOOP}" if is_loop else f"{fixed}. {_FIXED_IN_FILE}"


def _fix_shapes(sizes: str) -> str:
    return (
        f"convert again with inputs of fixed sizes, such as {sizes}, because an older converter may have written these nodes for "
        f"unknown sizes: {_HOW_FIXED}"
    )


def _compile(compiler: str, is_compiled: bool, is_quantized: bool) -> str:
    table = "delegate-sim reconcile MODEL --log FILE reads its table of operators"
    if is_compiled:
        return f"{compiler} left these nodes to the CPU: {table}, which says why"
    first = "" if is_quantized else f"{FULLY_QUANTIZED}; then "
    return f"{first}compile the model with {compiler}, which is not simulated ({table})"


def _devices(platform: str, release: str, options: str) -> str:
    devices = f"devices with {platform} {release} or later" if release else "devices with a higher feature level"
    return f"{devices} take the nodes: {options}"


def _feature(code: str, is_continued: bool) -> str:
    advice = FEATURES[code].advice
    return f"{advice[0].lower()}{advice[1:]}" if is_continued else advice


def _keep_weights(variables: int) -> str:
    text = no_weights_text(variables)
    return f"{text[0].lower()}{text[1:]}"


def _limits(options: str, is_lifted: bool, most: int | None) -> str:
    lifted = " (no limit)" if is_lifted else ""
    bound = "" if most is None else f" but not more, because with {most + 1} the delegate rejects the model"
    return f"{options}{lifted}{bound}"


def _rewrites(*rewrites: tuple[str, str]) -> str:
    return "; ".join([f"{op} can be written as {words}" for op, words in rewrites])


WORDS: Mapping[ChangeKind, Callable[..., str]] = MappingProxyType(
    {
        ChangeKind.COMPILE: _compile,
        ChangeKind.COMPUTE_IN_FLOAT: lambda: "compute in float32 in the model's code, with tf.cast before and after",
        ChangeKind.CONVERT: lambda conversion: CONVERSIONS[conversion].change,
        ChangeKind.FEATURE: _feature,
        ChangeKind.FIX_INPUTS: _fix_inputs,
        ChangeKind.FIX_SHAPES: _fix_shapes,
        ChangeKind.GENERAL: lambda code: SUGGESTIONS[code].change,
        ChangeKind.HINT: str,
        ChangeKind.INLINE: lambda op: _INLINED[op][0],
        ChangeKind.KEEP_SIZE: lambda op: CHOOSING[op],
        ChangeKind.KEEP_WEIGHTS: _keep_weights,
        ChangeKind.LEAVE_ARITHMETIC: lambda: "leave the integer arithmetic on the CPU",
        ChangeKind.LEAVE_INTEGERS: lambda: (
            "leave the nodes on the CPU: their tensors have integers that are not quantized, and no conversion changes them"
        ),
        ChangeKind.LEAVE_TEXT: lambda: "the model only processes text, which delegates do not support: run it without a delegate",
        ChangeKind.MASK: lambda value: f"use {value} instead of -3.4e38 in the attention mask, and convert again",
        ChangeKind.OPTIONS: lambda options, is_lifted, most, _: _limits(options, is_lifted, most),
        ChangeKind.OPTIONS_OF_DEVICES: _devices,
        ChangeKind.OTHER_DELEGATES: lambda operators, names: f"other delegates that take {operators}: {', '.join(names)}",
        ChangeKind.REGISTER: lambda: "register the operator in the application (--assume-ops-registered)",
        ChangeKind.RELEASES: lambda releases: f"use {releases} (see 'delegate-sim releases')",
        ChangeKind.RESIZE: lambda: (
            "repeat rows and columns by one node: use tf.image.resize with method='nearest' in place of Keras' UpSampling2D"
        ),
        ChangeKind.SEPARATE_MODELS: lambda: "let the application run the subgraphs as separate models",
        ChangeKind.STORE_IN_FLOAT32: lambda: "store the weights in float32: leave converter.optimizations empty",
        ChangeKind.TO_APPLICATION: lambda op: IN_APPLICATION[op],
        ChangeKind.TEXT_TO_APPLICATION: lambda: (
            "process text (such as splitting and looking up words) in the application, and pass numbers to the model"
        ),
        ChangeKind.UNROLL: lambda op: _UNROLLED.get(op, _UNROLLED_LOOP),
        ChangeKind.WITHOUT_OPTIONS: lambda problem: _WITHOUT_OPTIONS[problem],
        ChangeKind.WRITE_AS: _rewrites,
    }
)
"""The instructions of each kind of change. The arguments are the parameters of the change."""

_NAMES: Mapping[ChangeKind, Callable[..., str]] = MappingProxyType(
    {
        ChangeKind.COMPUTE_IN_FLOAT: lambda: "float32 with tf.cast",
        ChangeKind.CONVERT: lambda conversion: CONVERSIONS[conversion].name,
        ChangeKind.INLINE: lambda op: _INLINED[op][1],
        ChangeKind.MASK: lambda value: f"{value} in the attention mask",
        ChangeKind.OPTIONS: WORDS[ChangeKind.OPTIONS],
        ChangeKind.OPTIONS_OF_DEVICES: lambda _, __, options: options,
    }
)
"""The short names of the changes that a list can name."""


def sizes_text(names_and_sizes: Iterable[tuple[str, Sequence[int]]]) -> str:
    """Return the names and sizes of the first inputs."""
    return ", ".join([f"{name} {list(sizes)}" for name, sizes in list(names_and_sizes)[:_INPUTS_NAMED]])


def change_text(change: Change) -> str:
    """Return the instructions of a change, without the result."""
    return WORDS[change.kind](*change.parameters)


def change_name(change: Change) -> str:
    """Return the short name of a change. The name is empty if no list names such changes."""
    name = _NAMES.get(change.kind)
    return "" if name is None else name(*change.parameters)


def result_words(cost: Cost) -> str:
    """Describe a result in a few words: delegated nodes, multiply-adds, and delegate kernels.

    For a compiler plugin, the text has the selected partitions instead of delegate kernels.
    """
    measures = cost.measures
    text = f"{measures.delegated_nodes:,} of {measures.nodes:,} nodes"
    if not measures.delegated_nodes:
        return text
    text += f" in {words_of(cost.delegate).short_kernels(measures.delegate_kernels)}"
    if cost.total_multiply_adds:
        # The share is rounded down, so that 100 % always means all multiply-adds.
        text += f", {cost.multiply_adds * 1000 // cost.total_multiply_adds / 10:g} % of multiply-adds"
    return text


def result_text(change: Change) -> str:
    """Return the result of a simulated change in words. If the result is not known, return the reason."""
    simulated = change.simulated
    if simulated is None:
        return ""
    if simulated.cost is None:
        return simulated.unknown
    words = result_words(simulated.cost)
    if simulated.with_others is None:
        return words
    return f"{words}; with {simulated.assumed.value}, {result_words(simulated.with_others)}"


def _last_result(change: Change) -> str:
    simulated = change.simulated
    return result_text(change) if simulated is None or simulated.with_others is None else result_words(simulated.with_others)


def advice_text(advice: Advice) -> str:
    """Return the instructions for a cause, with the results of the changes that were simulated."""
    text = ("; or " if advice.are_alternatives else "; ").join(map(_with_result, advice.changes))
    left = [change for change in advice.tried if change not in advice.changes]
    with_others = [f"{change_name(change)} ({_last_result(change)})" for change in left if change.helps]
    useless = [_named_with_result(change) for change in left if not change.helps and change.cost is not None]
    unknown = [_named_with_result(change) for change in left if not change.helps and change.cost is None]
    text += f"; helps only with {Assumed.OTHERS.value}: {', '.join(with_others)}" if with_others else ""
    text += f"; does not help: {', '.join(useless)}" if useless else ""
    text += f"; {NOT_SIMULATED}: {', '.join(unknown)}" if unknown else ""
    if advice.is_not_simulated:
        text = f"{text.removesuffix('.')}; {NOT_SIMULATED}"
    if advice.folded:
        text += (
            f"; TensorFlow's converter removes a RESHAPE before and after {', '.join(advice.folded)}; delegate-sim fix may have "
            "a pass that writes the RESHAPE into the model file"
        )
    return text


def _named_with_result(change: Change) -> str:
    return f"{change_name(change)} ({result_text(change)})"


def _with_result(change: Change) -> str:
    text = change_text(change)
    explanation = change.parameters[-1] if change.kind is ChangeKind.OPTIONS else None
    if change.simulated is not None:
        result = result_text(change)
        is_known = change.cost is not None
        if change.kind is ChangeKind.WRITE_AS:
            text += f"; {IF_TAKEN}: {result}" if is_known else f"; {NOT_SIMULATED}{f': {result}' if result else ''}"
        else:
            text += f" ({result})" if is_known else f" ({NOT_SIMULATED}: {result})"
    return text if explanation is None else f"{text}: {change_text(explanation)}"


CHANGE = (
    *(Column("change", source=change_text), Column("helps", YES_OR_NO)),
    Column("unknown", source=lambda change: "" if change.simulated is None else change.simulated.unknown),
    *(Column("alone", OBJECT, source="cost"), Column("with_others", OBJECT, source="simulated.with_others")),
)
"""The columns of a simulated change."""
