"""The checks and the log lines of LiteRT's loader, which runs before any plugin, and the kinds of problem of loader and plugins.

Source: ``UnpackTensor``, ``UnpackOp``, ``UnpackSubgraph`` and ``UnpackSignatures`` (``litert/core/model/model_load.cc``),
``MapTensorType`` and ``MapQuantization`` (``litert/core/model/flatbuffer_to_litert.cc``).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...graph.graph import Graph
from ...model import schema
from ...model.flatbuffer import Tables, flatbuffer_of
from ...model.model import Model, Node, Signature, Subgraph, Tensor
from ...model.options import OptionsReader
from ...refusal import Refusal, Stage
from ...releases.catalogue import Release, parse_release
from ...rules.kinds import Kind, kinds_in
from ..base import PublishedRemedy

_RULES = kinds_in("delegates/npu", "rules")
OPERATOR = _RULES["unsupported-operator"]
COMPOSITE = _RULES["composite"]
TENSOR_TYPE = _RULES["tensor-type"]
QUANTIZATION = _RULES["quantization"]
CONSTANT = _RULES["constant-operand"]
ATTRIBUTE = _RULES["attribute-value"]
CPU_CALL = _RULES["cpu-call"]
OP_FILTER = _RULES["op-filter"]
KINDS = tuple(_RULES.values())


_LOADER = {
    name: kind.reworded(
        meaning=f"LiteRT loads the file with its own loader before it calls a compiler plugin. {kind.meaning} If the loader "
        "fails, no part of the model runs on the NPU."
    )
    for name, kind in kinds_in("delegates/npu", "loader", is_shared=True, stage=Stage.READING).items()
}
ELEMENT_TYPE = _LOADER["litert-element-type"]
TENSOR_RANK = _LOADER["litert-tensor-rank"]
CHANNELS = _LOADER["litert-channel-quantization"]
OPERATOR_CODE = _LOADER["litert-operator-code"]
VARIABLE = _LOADER["litert-variable-tensor"]
VARIANT = _LOADER["litert-variant-tensor"]
INTERMEDIATE = _LOADER["litert-intermediate-tensor"]
MUTATING = _LOADER["litert-mutating-input"]
MISSING_TENSOR = _LOADER["litert-missing-tensor"]
SIGNATURE = _LOADER["litert-signature"]
LOADER_KINDS = tuple(_LOADER.values())

_PLUGINS = kinds_in("delegates/npu", "plugins", is_shared=True, stage=Stage.SELECTING)
SOC = _PLUGINS["npu-soc-model"]
FILTER_FILE = _PLUGINS["npu-filter-file"]
INPUT_RANK = _PLUGINS["npu-input-rank"]
ISLANDS = _PLUGINS["npu-partition-limit"]


def plugin_refusal(kind: Kind, graph: Graph, line: str, tensor: int | None = None) -> Refusal:
    """Return the refusal of a subgraph by a plugin. The message is the plugin's log line."""
    return kind.refusal(line, subgraph=graph.index, tensor=tensor, log_lines=(line,))


_GOOGLE_FAQ = "https://developers.google.com/edge/tensor-sdk/tensor-faqs"
_GOOGLE_FLAGS = "https://ai.google.dev/edge/tensor-sdk/compilation-flags"
_LITERT_FLAGS = "https://github.com/google-ai-edge/LiteRT/tree/main/litert/tools/flags/vendors"

GOOGLE_REMEDIES = (
    PublishedRemedy(
        "google_tensor_truncation_type=half google_tensor_sharding_intensity=maximum",
        "the compiler crashes or ends with INTERNAL for a chip before Tensor_G5",
        _GOOGLE_FAQ,
    ),
    PublishedRemedy("google_tensor_int64_to_int32=true", "the model has 64-bit integers", _GOOGLE_FLAGS),
    PublishedRemedy("google_tensor_enable_large_model_support=true", "the model is larger than 2 GB", _GOOGLE_FLAGS),
    PublishedRemedy("google_tensor_enable_4bit_compilation=true", "convolutions have 4-bit weights", _GOOGLE_FLAGS),
)
"""Remedies that Google publishes for nodes that its compiler cannot compile. No compiler was run with these remedies."""
SAMSUNG_REMEDIES = (PublishedRemedy("samsung_large_model_support=true", "the model is large", _LITERT_FLAGS),)


NONE, PER_TENSOR, PER_CHANNEL, BLOCKWISE = "none", "per tensor", "per channel", "blockwise"

_BLOCKWISE_DETAILS = 2
_LAST_OPERATOR = schema.enum_values("BuiltinOperator")["STABLEHLO_COMPOSITE"]

FilePlace = tuple[int, int]
"""The index of a subgraph, and the index of a node or tensor in this subgraph."""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Unusual properties of a model file. Each attribute has the places of the nodes or tensors with one property."""

    variants: frozenset[FilePlace]
    """Tensors with a list of ``variant_tensors``."""
    mutating: frozenset[FilePlace]
    """Nodes with the list ``mutating_variable_inputs``, even if no entry of the list is true."""
    invalid_channels: frozenset[FilePlace]
    """Tensors quantized per channel that do not have one zero point for each scale."""
    unequal_counts: frozenset[FilePlace]
    """All tensors that do not have one zero point for each scale."""
    unknown_operators: tuple[tuple[int, int], ...]
    """The codes of operators that newer releases do not load: the builtin code, and the code for old readers."""
    kinds: Mapping[FilePlace, str]
    """The kind of quantization of each tensor for which ``quantization_kind`` cannot determine the kind."""


def file_facts(model: Model) -> FileFacts:
    """Read the facts from the bytes of a loaded model. The facts of the last two files are cached."""
    return _facts_of(model.same_bytes)


@functools.lru_cache(maxsize=2)
def _facts_of(file: OptionsReader) -> FileFacts:
    root = flatbuffer_of(file.content).root("Model")
    operators = root.child_vectors("operator_codes")[0]
    codes = zip(operators.numbers("builtin_code"), operators.numbers("deprecated_builtin_code"), strict=True)
    subgraphs = root.child_vectors("subgraphs")[0]
    tensors, tensor_counts = subgraphs.child_vectors("tensors")
    nodes, node_counts = subgraphs.child_vectors("operators")
    quantization = tensors.children("quantization")
    scales, zero_points = _counts(quantization, "scale"), _counts(quantization, "zero_point")
    places = _places(tensor_counts)
    invalid, unequal, kinds = set(), set(), {}
    for place, of_scales, of_zero_points, details in zip(
        places, scales, zero_points, quantization.numbers("details_type"), strict=True
    ):
        if details == _BLOCKWISE_DETAILS or not (of_scales or of_zero_points or details):
            continue
        kind = NONE if not of_scales and not of_zero_points else PER_CHANNEL
        if 1 in (of_scales, of_zero_points):
            kind = PER_TENSOR
        if of_scales != of_zero_points:
            unequal.add(place)
            if kind == PER_CHANNEL:
                invalid.add(place)
        if (not of_scales and of_zero_points) or details > _BLOCKWISE_DETAILS:
            kinds[place] = kind
    return FileFacts(
        _chosen(_counts(tensors, "variant_tensors"), tensor_counts),
        _chosen(_counts(nodes, "mutating_variable_inputs"), node_counts),
        frozenset(invalid),
        frozenset(unequal),
        tuple([(code, old) for code, old in codes if max(code, old) > _LAST_OPERATOR]),
        kinds,
    )


def quantization_kind(tensor: Tensor) -> str:
    """Return the kind of quantization that a tensor has in LiteRT. Entries in ``FileFacts.kinds`` override the result."""
    quantization = tensor.quantization
    if quantization is None:
        return NONE
    if quantization.kind == BLOCKWISE:
        return BLOCKWISE
    return PER_TENSOR if len(quantization.scales) == 1 or len(quantization.zero_points) == 1 else PER_CHANNEL


def has_weights(tensor: Tensor) -> bool:
    """Return whether LiteRT treats a tensor as a constant. The buffer of a constant is not empty."""
    return tensor.data is not None and tensor.data[1] > 0


def _counts(tables: Tables, field: str) -> list[int]:
    return tables.lengths(field, f"a vector of {tables.what}")


def _places(counts: Sequence[int]) -> list[FilePlace]:
    # bounded: the reader has counted these tables
    return [(subgraph, index) for subgraph, count in enumerate(counts) for index in range(count)]


def _chosen(has_fault: Sequence[int], counts: Sequence[int]) -> frozenset[FilePlace]:
    return frozenset(itertools.compress(_places(counts), has_fault) if any(has_fault) else ())


_SPARSE_LINE = "Sparsity tensors may not yet be fully supported."
_MOST_DIMENSIONS = 8
_RANK_IS_CHECKED = parse_release("litert-2.3.0")

_CHECKS_CODES_AND_COUNTS = parse_release("litert-2.4")
"""The first release that checks the codes of operators, and the numbers of scales and zero points of all tensors."""

_BEFORE = (
    ("litert-2.1.5", frozenset({"STRING", "FLOAT64", "UINT64", "RESOURCE", "UINT16"})),
    ("litert-2.2.0", frozenset({"UINT4", "FLOAT8_E4M3FN", "FLOAT8_E5M2"})),
    ("litert-2.4", frozenset({"COMPLEX128", "VARIANT"})),
)
"""For each release, the types that LiteRT supports only from this release on."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The loader's log lines, and its failure, if any."""

    lines: tuple[str, ...]
    failure: Refusal | None


@functools.lru_cache(maxsize=2)
def loaded(model: Model, release: Release, ended: frozenset[str]) -> Loaded:
    """Return the result of loading a model. The result is cached, because it does not depend on the plugin."""
    return load(model, file_facts(model), release, ended)


def load(model: Model, facts: FileFacts, release: Release, ended: frozenset[str] = frozenset()) -> Loaded:
    """Simulate LiteRT's loader up to the first error. Ignore errors with a code in ``ended``.

    In each subgraph, the loader reads the tensors first, then the nodes. After all subgraphs, the loader reads the signatures.
    """
    unknown = _unknown_types(model, release)
    lines: list[str] = []
    if release.is_at_least(_CHECKS_CODES_AND_COUNTS) and OPERATOR_CODE.name not in ended:
        for code, old in facts.unknown_operators:
            line = f"Invalid operator code: builtin_code={code}, deprecated_builtin_code={old}"
            return Loaded((line,), OPERATOR_CODE.refusal(line, subgraph=0, log_lines=(line,)))
    for subgraph in model.subgraphs:
        for fault in (*_tensor_faults(subgraph, facts, unknown, release), *_node_faults(subgraph, facts)):
            if isinstance(fault, str):
                lines.append(fault)
            elif fault.code not in ended:
                return Loaded((*lines, *fault.log_lines), fault)
    if SIGNATURE.name not in ended:
        for signature in model.signatures:
            line = _signature_fault(model, signature)
            if line:
                place = signature.subgraph if 0 <= signature.subgraph < len(model.subgraphs) else 0
                failure = SIGNATURE.refusal(f"signature {signature.key}: {line}", subgraph=place)
                return Loaded((*lines, line), failure)
    return Loaded(tuple(lines), None)


def _signature_fault(model: Model, signature: Signature) -> str:
    if not 0 <= signature.subgraph < len(model.subgraphs):
        return "Signature does not refer to a valid subgraph index."
    subgraph = model.subgraphs[signature.subgraph]
    if (len(signature.inputs), len(signature.outputs)) != (len(subgraph.inputs), len(subgraph.outputs)):
        return "Signature has incorrect number of input/outputs"
    for side, tensors in (("input", signature.inputs), ("output", signature.outputs)):
        if any(not 0 <= tensor < len(subgraph.tensors) for tensor in tensors.values()):
            return f"Signature {side} does not refer to a valid tensor index."
    return ""


def _unknown_types(model: Model, release: Release) -> frozenset[str]:
    refused = frozenset[str]().union(*[types for since, types in _BEFORE if not release.is_at_least(parse_release(since))])
    known = frozenset(schema.BITS_PER_ELEMENT).union(("STRING", "RESOURCE", "VARIANT")) - refused
    return frozenset({tensor.type for subgraph in model.subgraphs for tensor in subgraph.tensors}) - known


def _tensor_faults(subgraph: Subgraph, facts: FileFacts, unknown: frozenset[str], release: Release) -> Iterator[Refusal | str]:
    checks_rank, checks_counts = release.is_at_least(_RANK_IS_CHECKED), release.is_at_least(_CHECKS_CODES_AND_COUNTS)
    channels = facts.unequal_counts if checks_counts else facts.invalid_channels
    problem = "Invalid quantization parameters" if checks_counts else "Invalid per-channel quantization parameters"
    for tensor in subgraph.tensors:
        place = (subgraph.index, tensor.index)
        if tensor.type in unknown:
            yield _fault(subgraph, ELEMENT_TYPE, f"Element type ({_number(tensor.type)}) not currently supported", tensor=tensor)
        if checks_rank and len(tensor.shape) > _MOST_DIMENSIONS:
            line = f"Tensor rank ({len(tensor.shape)}) exceeds max rank ({_MOST_DIMENSIONS})"
            yield _fault(subgraph, TENSOR_RANK, line, tensor=tensor)
        if place in channels:
            yield _fault(subgraph, CHANNELS, problem, tensor=tensor)
        if tensor.is_variable:
            yield _fault(subgraph, VARIABLE, "Variable tensors not yet supported.", tensor=tensor)
        if place in facts.variants:
            yield _fault(subgraph, VARIANT, "Variant tensors not yet supported.", tensor=tensor)
        if tensor.sparsity is not None:
            yield _SPARSE_LINE


def _node_faults(subgraph: Subgraph, facts: FileFacts) -> Iterator[Refusal]:
    for node in subgraph.nodes:
        if node.intermediates:
            yield _fault(subgraph, INTERMEDIATE, "Intermediate tensors not yet supported.", node=node)
        if (subgraph.index, node.index) in facts.mutating:
            yield _fault(subgraph, MUTATING, "Mutating variable inputs not yet supported.", node=node)
        for tensor in node.outputs:
            if tensor < 0:
                yield _fault(subgraph, MISSING_TENSOR, f"flatbuffer model has invalid op output index: {tensor}", node=node)
    for side, tensors in (("input", subgraph.inputs), ("output", subgraph.outputs)):
        for tensor in tensors:
            if tensor < 0:
                yield _fault(subgraph, MISSING_TENSOR, f"flatbuffer model has invalid {side} index in subgraph: {tensor}")


def _number(name: str) -> int:
    numbers = schema.enum_values("TensorType")
    return numbers[name] if name in numbers else int(name.removeprefix("UNKNOWN(").removesuffix(")"))


def _fault(subgraph: Subgraph, kind: Kind, line: str, node: Node | None = None, tensor: Tensor | None = None) -> Refusal:
    where = f" of subgraph {subgraph.index}" if subgraph.index else ""
    place = f"subgraph {subgraph.index}"
    if tensor is not None:
        name = f" ({tensor.name})" if tensor.name else ""
        place = f"tensor {tensor.index}{name}{where}, of type {tensor.type}"
    elif node is not None:
        place = f"node {node.index} ({node.op}){where}"
    return kind.refusal(
        f"{place}: {line}",
        subgraph=subgraph.index,
        node=None if node is None else node.index,
        tensor=None if tensor is None else tensor.index,
        log_lines=(line,),
    )
