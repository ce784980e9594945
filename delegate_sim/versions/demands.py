"""Why a node's operator has its version: the features of the node for which a converter marks one.

Each operator has a table of demands in the order in which ``GetBuiltinOperatorVersion`` (``op_version.cc`` in
``tflite/converter/tools/versioning``, LiteRT) tests them; the first demand that a node meets sets its version. What is read of
a node is what ``GetOpSignature`` (``op_signature.cc``) collects.

A file keeps one version for all nodes that share an entry of its table of operators, the highest that any of them demands
(``UpdateOpVersion``). So the version that stands at a node may come from another node, also one of another subgraph.

Not all that writes files marks versions by this rule. Measured on models converted with TensorFlow 2.15 and 2.21, it gives every
version, but for those of two quantisers (``quantize_model.cc``: 16-bit activations, and
``converter.experimental_new_quantizer = False``). They mark the version that INT8 data needs (``operator_property.cc``) whatever
the type is, and keep a higher one of the float model. Models of the AI Edge Quantizer have the versions of the float model.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ..graph.graph import NodeView, file_graphs
from ..model.model import Model, Tensor
from ..rules.kinds import Explanation
from .features import FEATURES

Condition = Callable[[NodeView], bool]


@dataclass(frozen=True, slots=True)
class Demand:
    """One test of an operator's rule: the version that a feature demands of a node that meets the condition.

    The condition holds only together with the features ``given``; without one of them, the demand falls away as well.
    """

    version: int
    code: str
    condition: Condition
    given: tuple[str, ...] = ()

    def remains_without(self, codes: Collection[str]) -> bool:
        """Whether the demand does not hang on any of these features."""
        return self.code not in codes and not any(code in codes for code in self.given)


class Feature(NamedTuple):
    """A feature of a node, by its code in ``FEATURES``, and the version that it demands of the node's operator."""

    code: str
    version: int

    @property
    def explanation(self) -> Explanation:
        """What the feature is, and what in the converter or the model controls it."""
        return FEATURES[self.code]


class NodePosition(NamedTuple):
    """Where a node stands in a model."""

    subgraph: int
    node: int


@dataclass(frozen=True, slots=True)
class VersionCause:
    """Why the operator of a node has more than a version.

    ``features`` are those that must go from the nodes at ``nodes``: those that share the operator's entry and demand more.
    Both are empty if ``is_explained`` is false: the rule does not explain the version, or no feature's absence lowers it so far.
    """

    features: tuple[Feature, ...]
    nodes: tuple[NodePosition, ...]
    is_explained: bool


_Met = tuple[Demand, ...]
"""The demands that a node meets, in the rule's order."""


def version_features(node: NodeView) -> tuple[Feature, ...]:
    """Return the features of a node that raise the version of its operator, in the rule's order, each once.

    A feature comes with the first, and so the deciding, version that it demands (``GetBuiltinOperatorVersion``).
    """
    return _features(_met(node))


def expected_version(node: NodeView) -> int:
    """Return the version that a node demands by itself (``GetBuiltinOperatorVersion``); 1 for a custom operator."""
    return _version(_lowest(node), _met(node), ())


def version_without(node: NodeView, codes: Collection[str]) -> int:
    """Return the version that a node would demand without some of its features.

    Raises ValueError for a code that is not in ``FEATURES``.
    """
    return _version(_lowest(node), _met(node), _known(codes))


def features_above(node: NodeView, version: int) -> tuple[Feature, ...] | None:
    """Return the features without which a node demands at most a version; none of them can be left out of the choice.

    There are none if the node demands no more. Returns None if no feature's absence brings the node down to the version.
    """
    return _features_above(_lowest(node), _met(node), version)


def shared_version(node: NodeView, without: Collection[str] = ()) -> int:
    """Return the version that a converter gives to the operator of a node (``UpdateOpVersion``).

    This is the highest that any node demands which shares the operator's entry, in the model's file, without the features
    given. Raises ValueError for a code that is not in ``FEATURES``.
    """
    codes = _known(without)
    return max(_version(_lowest(node), met, codes) for met in _sharers(node))


def version_cause(node: NodeView, version: int) -> VersionCause:
    """Return why the operator of a node has more than a version, looking at all nodes that share the operator's entry.

    There are no features and nodes either where the operator has no more than the version; then that is explained.
    """
    lowest, sharers = _lowest(node), _sharers(node)
    found: dict[str, Feature] = {}
    while above := [met for met in sharers if _version(lowest, met, found) > version]:
        for met in above:
            features = _features_above(lowest, tuple([demand for demand in met if demand.remains_without(found)]), version)
            if features is None:
                return VersionCause((), (), False)
            for feature in features:
                found[feature.code] = max(feature, found.get(feature.code, feature))
    demanding = [positions for met, positions in sharers.items() if _version(lowest, met, ()) > version]
    nodes = tuple(sorted(position for positions in demanding for position in positions))
    return VersionCause(tuple(found.values()), nodes, bool(nodes) or node.version <= version)


def _known(codes: Collection[str]) -> Collection[str]:
    unknown = set(codes).difference(FEATURES)
    if unknown:
        raise ValueError(f"unknown feature {min(unknown)!r}")
    return codes


def _lowest(node: NodeView) -> int:
    return 1 if node.node.is_custom else LOWEST_VERSIONS.get(node.op, 1)


def _met(node: NodeView) -> _Met:
    if node.node.is_custom:
        return ()
    return tuple([demand for demand in DEMANDS.get(node.op, ()) if demand.condition(node)])


def _version(lowest: int, met: _Met, without: Collection[str]) -> int:
    return next((demand.version for demand in met if demand.remains_without(without)), lowest)


def _features(met: Iterable[Demand]) -> tuple[Feature, ...]:
    found: dict[str, int] = {}
    for demand in met:
        found.setdefault(demand.code, demand.version)
    return tuple([Feature(code, version) for code, version in found.items()])


def _features_above(lowest: int, met: _Met, version: int) -> tuple[Feature, ...] | None:
    """Take features away in the rule's order until that is enough, then put back each that need not go."""
    codes: list[str] = []
    for demand in met:
        if _version(lowest, met, codes) <= version:
            break
        if demand.remains_without(codes):
            codes.append(demand.code)
    if _version(lowest, met, codes) > version:
        return None
    for code in tuple(codes):
        others = [other for other in codes if other != code]
        if _version(lowest, met, others) <= version:
            codes = others
    return tuple([feature for feature in _features(met) if feature.code in codes])


_Sharers = Mapping[_Met, tuple[NodePosition, ...]]
"""The nodes that share an entry of the table of operators, by the demands that they meet."""


def _sharers(node: NodeView) -> _Sharers:
    """Return the nodes of the model's file that share the entry of a node; the node alone if it is not of a file."""
    own = {_met(node): (NodePosition(node.graph.index, node.node.index),)}
    return _sharers_by_entry(node.graph.model).get((node.op, node.node.builtin_code, node.version), own)


@functools.lru_cache(maxsize=1)
def _sharers_by_entry(model: Model) -> Mapping[tuple[str, int, int], _Sharers]:
    found: dict[tuple[str, int, int], dict[_Met, list[NodePosition]]] = {}
    for graph in file_graphs(model):
        for node in graph.nodes:
            kinds = found.setdefault((node.op, node.builtin_code, node.version), {})
            kinds.setdefault(_met(graph.view(node)), []).append(NodePosition(graph.index, node.index))
    return {entry: {met: tuple(nodes) for met, nodes in kinds.items()} for entry, kinds in found.items()}


_FLOAT8 = ("FLOAT8_E4M3FN", "FLOAT8_E5M2")
_SUB_BYTE = ("INT4", "INT2")


def _all(*conditions: Condition) -> Condition:
    return lambda node: all(condition(node) for condition in conditions)


def _any(*conditions: Condition) -> Condition:
    return lambda node: any(condition(node) for condition in conditions)


def _not(condition: Condition) -> Condition:
    return lambda node: not condition(node)


def _input(*types: str, at: int = 0) -> Condition:
    return lambda node: node.input(at).type in types


def _output(*types: str, at: int = 0) -> Condition:
    return lambda node: node.output(at).type in types


def _either(*types: str) -> Condition:
    """The first operand or the first result is of one of the types."""
    return _any(_input(*types), _output(*types))


def _both(kind: str) -> Condition:
    """The first operand and the first result are of one type."""
    return _all(_input(kind), _output(kind))


def _set(option: str) -> Condition:
    return lambda node: bool(getattr(node.options, option))


def _equal(option: str, value: int) -> Condition:
    return lambda node: bool(getattr(node.options, option) == value)


def _rank_above(rank: int) -> Condition:
    return lambda node: node.input(0).rank > rank


def _scale_count(tensor: Tensor) -> int:
    return 0 if tensor.quantization is None else len(tensor.quantization.scales)


def _scale_for_each_slice(position: int, dimension: int, at_least: int = 1) -> Condition:
    """There are as many scales as slices of an operand along a dimension."""

    def condition(node: NodeView) -> bool:
        tensor = node.input(position)
        count = _scale_count(tensor)
        return count >= at_least and tensor.shape[dimension : dimension + 1] == (count,)

    return condition


def _is_per_channel(tensor: Tensor) -> bool:
    """Whether there are several scales, as many as slices along the dimension that the tensor names."""
    if tensor.quantization is None or _scale_count(tensor) <= 1:
        return False
    dimension = tensor.quantization.dimension
    return dimension >= 0 and tensor.shape[dimension : dimension + 1] == (_scale_count(tensor),)


def _quantized_scales(*positions: int) -> Condition:
    """One of the operands has scales.

    Upstream asks for a table of parameters, even an empty one. The converter writes one for every tensor, so that its INT16
    tensors always count as quantised; here a table counts only with scales in it.
    """
    return lambda node: any(_scale_count(node.input(position)) > 0 for position in positions)


def _rescales_upwards(node: NodeView) -> bool:
    """The product of the scales of the operands is not below the scale of the result, in single precision."""
    tensors = (node.input(0), node.input(1), node.output(0))
    if not all(map(_scale_count, tensors)):
        return False
    first, second, result = (np.float32(tensor.quantization.scales[0]) for tensor in tensors if tensor.quantization)
    if not (first and second and result):
        return False
    with np.errstate(all="ignore"):
        return bool(first * second / result >= 1)


def _broadcasts_above_rank_4(node: NodeView) -> bool:
    if len(node.inputs) < 2:
        return False
    return node.input(0).shape != node.input(1).shape and max(tensor.rank for tensor in node.inputs) > 4


def _is_grouped(node: NodeView) -> bool:
    """The filter reads fewer channels than the input has."""
    source, weights = node.input(0), node.input(1)
    return source.rank > 0 and source.shape[3:4] != weights.shape[3:4]


def _is_dilated(node: NodeView) -> bool:
    return bool(node.options.dilation_w_factor != 1 or node.options.dilation_h_factor != 1)


def _has_two_inputs(node: NodeView) -> bool:
    """The bias is not even left out: there is no third operand."""
    return len(node.inputs) == 2


def _has_fourth_input(node: NodeView) -> bool:
    return len(node.inputs) == 4 and node.input(3).type != "NO_TYPE"


def _has_sparse_weights(node: NodeView) -> bool:
    return node.input(1).sparsity is not None


def _has_operand_of_rank_5(node: NodeView) -> bool:
    return any(node.input(position).rank == 5 for position in range(3))


_float8 = _input(*_FLOAT8)
_unquantized_int16_data = _all(_input("INT16"), _not(_quantized_scales(0)))
_not_power_of_two = _not(_set("pot_scale_int16"))
_full_lstm = _equal("kernel_type", 0)


def _integer(activations: str, *weights: str) -> Condition:
    """Weights of one of the types between operands and results of a type."""
    return _all(_both(activations), _input(*weights, at=1))


def _hybrid(weights: int, *types: str) -> Condition:
    """Quantised weights between float operands and results."""
    return _all(_both("FLOAT32"), _input("INT8", *types, at=weights))


_hybrid_recurrent = _all(_input("INT8", at=1), _output("FLOAT32"))
"""As the rule asks it of most recurrent operators: not of the operand."""


def _types(*versions: tuple[int, str], at: int = 0) -> tuple[Demand, ...]:
    """Demands of the type of one operand."""
    return tuple([Demand(version, _TYPE_CODES[kind], _input(*_KINDS.get(kind, (kind,)), at=at)) for version, kind in versions])


_KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType({"FLOAT8": _FLOAT8})
_TYPE_CODES: Mapping[str, str] = MappingProxyType(
    {
        kind: f"{kind.lower()}-type"
        for kind in (
            "BFLOAT16",
            "BOOL",
            "COMPLEX64",
            "FLOAT16",
            "FLOAT32",
            "FLOAT64",
            "FLOAT8",
            "INT16",
            "INT2",
            "INT32",
            "INT4",
            "INT64",
            "INT8",
            "STRING",
            "UINT16",
            "UINT32",
            "UINT4",
            "UINT8",
        )
    }
)


def _asymmetric(version: int, hybrid: Condition) -> Demand:
    return Demand(
        version, "asymmetric-quantize-inputs", _all(hybrid, _set("asymmetric_quantize_inputs")), given=("hybrid-weights",)
    )


def _hybrid_pair(asymmetric: int, symmetric: int, hybrid: Condition) -> tuple[Demand, ...]:
    """Demands of an operator with two ways to quantise float operands while running."""
    return (_asymmetric(asymmetric, hybrid), Demand(symmetric, "hybrid-weights", hybrid))


def _quantized_bias(version: int, *weights: str) -> Demand:
    condition = _all(_integer("INT16", *weights), _set("quantized_bias_type"))
    return Demand(version, "quantized-bias-type", condition, given=("int16-type",))


_INT8_DATA = _types((2, "INT8"))
_INT16_INT8_DATA = _types((3, "INT16"), (2, "INT8"))
_INT8_INT16_DATA = _types((2, "INT8"), (2, "INT16"))
_FLOAT16_DATA = _types((2, "FLOAT16"))
_INT16_THROUGHOUT = (Demand(3, "int16-type", _both("INT16")), *_INT8_DATA)
_BROADCAST = Demand(3, "broadcast-rank", _broadcasts_above_rank_4)
_HYBRID_RECURRENT = _hybrid_pair(3, 2, _hybrid_recurrent)

# The types that stand beside the INT8 of weights are those that have a demand further up. They are there for the question
# what would be without that demand's feature: the weights would then be INT8.
_FULLY_CONNECTED = (
    Demand(14, "int2-weights", _input("INT2", at=1)),
    Demand(13, "int4-weights", _integer("INT16", "INT4"), given=("int16-type",)),
    Demand(12, "per-channel", _all(_hybrid(1, "INT2"), _scale_for_each_slice(1, 0)), given=("hybrid-weights",)),
    _quantized_bias(11, "INT8", *_SUB_BYTE),
    Demand(8, "sparse-weights", _has_sparse_weights),
    Demand(7, "int16-type", _integer("INT16", "INT16")),
    Demand(6, "missing-bias", _has_two_inputs),
    Demand(5, "keep-num-dims", _set("keep_num_dims")),
    Demand(10, "int4-weights", _integer("INT8", "INT4"), given=("int8-type",)),
    Demand(4, "int8-type", _integer("INT8", "INT8", *_SUB_BYTE)),
    *_hybrid_pair(9, 3, _hybrid(1, "INT2")),
    Demand(2, "shuffled-weights", _equal("weights_format", 1)),
)

_CONV_2D = (
    _quantized_bias(8, "INT8"),
    Demand(6, "grouped-convolution", _is_grouped),
    # It is the second result that upstream tests, which no convolution has: the version is reserved, not given.
    Demand(4, "int16-type", _all(_input("INT16"), _input("INT16", at=1), _output("INT16", at=1))),
    Demand(7, "int4-weights", _integer("INT8", "INT4"), given=("int8-type",)),
    Demand(3, "int8-type", _integer("INT8", "INT8", "INT4")),
    Demand(5, "per-channel", _all(_hybrid(1), _scale_for_each_slice(1, 0)), given=("hybrid-weights",)),
    Demand(2, "hybrid-weights", _hybrid(1)),
)

_DEPTHWISE_CONV_2D = (
    Demand(5, "int16-type", _all(_input("INT16"), _input("INT16", at=1), _output("INT16", at=1))),
    Demand(6, "per-channel", _all(_hybrid(1), _scale_for_each_slice(1, 3)), given=("hybrid-weights",)),
    Demand(4, "hybrid-weights", _hybrid(1)),
    Demand(7, "int4-weights", _integer("INT8", "INT4"), given=("int8-type",)),
    Demand(3, "int8-type", _integer("INT8", "INT8", "INT4")),
    Demand(2, "dilation", _is_dilated),
)

_TRANSPOSE_CONV = (
    _quantized_bias(5, "INT8"),
    Demand(4, "fused-activation", _set("fused_activation_function")),
    Demand(3, "transposed-convolution-bias", _has_fourth_input),
    *_types((2, "INT8"), at=1),
)

_LSTM = (
    Demand(5, "int16-type", _all(_full_lstm, _both("INT16"), _input("INT8", at=2))),
    *_hybrid_pair(4, 3, _all(_full_lstm, _hybrid(2))),
    Demand(2, "basic-lstm", _equal("kernel_type", 1)),
)

_UNIDIRECTIONAL_SEQUENCE_LSTM = (
    Demand(5, "int16-type", _all(_both("INT16"), _input("INT8", at=2))),
    Demand(4, "diagonal-recurrent-weights", _set("diagonal_recurrent_tensors")),
    *_hybrid_pair(3, 2, _hybrid(2)),
)

_EMBEDDING_LOOKUP = (
    Demand(4, "int4-weights", _input("INT4", at=1)),
    Demand(4, "per-channel", _scale_for_each_slice(1, 0, at_least=2)),
    Demand(5, "int2-weights", _input("INT2", at=1)),
)

_ADD = (
    *_types((6, "FLOAT16")),
    Demand(5, "int16-unquantized", _unquantized_int16_data),
    *_types((4, "INT64")),
    Demand(3, "int16-type", _all(_both("INT16"), _quantized_scales(0), _not_power_of_two)),
    *_INT8_DATA,
)

_SUB = (
    Demand(5, "int16-type", _all(_both("INT16"), _not_power_of_two)),
    *_types((4, "INT64")),
    _BROADCAST,
    *_INT8_DATA,
)

# Some older models have a lower version with an upward rescale: their converter had no version 3 yet.
_MUL = (
    *_types((8, "FLOAT16")),
    Demand(7, "int16-unquantized", _all(_input("INT16"), _not(_quantized_scales(0, 1)))),
    *_types((7, "UINT32"), (6, "COMPLEX64"), (5, "INT64")),
    Demand(4, "int16-type", _all(_input("INT16"), _quantized_scales(0, 1))),
    Demand(3, "upward-rescale", _rescales_upwards),
    *_INT8_DATA,
)

_ABS = (
    *_types((5, "INT32")),
    Demand(4, "int16-unquantized", _unquantized_int16_data),
    Demand(3, "int16-type", _all(_input("INT16"), _quantized_scales(0))),
    *_types((2, "INT8"), (2, "UINT8")),
)

_MAXIMUM_MINIMUM = (Demand(4, "int16-type", _both("INT16")), _BROADCAST, *_INT8_DATA)

_TRANSPOSE = (
    *_types((9, "FLOAT16")),
    Demand(8, "high-rank", _rank_above(6)),
    *_types((8, "BFLOAT16"), (7, "INT4")),
    Demand(6, "high-rank", _rank_above(5)),
    *_types((5, "INT16")),
    Demand(4, "high-rank", _rank_above(4)),
    *_types((3, "BOOL"), (2, "INT8")),
)

_SLICE = (
    *_types((8, "FLOAT16"), (7, "INT4"), (6, "UINT32")),
    Demand(5, "high-rank", _rank_above(4)),
    *_types((4, "INT16"), (3, "STRING"), (2, "INT8")),
)

_STRIDED_SLICE = (
    Demand(8, "slice-offset", _set("offset")),
    *_types((7, "UINT32")),
    Demand(6, "ellipsis-mask", _set("ellipsis_mask")),
    Demand(6, "new-axis-mask", _set("new_axis_mask")),
    *_types((5, "STRING")),
    Demand(4, "high-rank", _rank_above(4)),
    *_types((3, "BOOL"), (2, "INT8")),
)

_GATHER = (
    *_types((8, "FLOAT8"), (7, "INT4")),
    Demand(6, "int16-indices", _input("INT16", at=1)),
    Demand(5, "batch-dims", _set("batch_dims")),
    *_types((4, "INT16"), (3, "BOOL"), (2, "INT8")),
)

_GATHER_ND = (
    *_types((6, "FLOAT8"), (5, "BOOL")),
    Demand(4, "int16-indices", _input("INT16", at=1)),
    *_types((3, "INT16"), (2, "STRING")),
)

_PAD = (
    *_types((6, "FLOAT8"), (5, "BOOL")),
    Demand(4, "high-rank", _rank_above(4)),
    *_INT16_INT8_DATA,
)

_SPACE_TO_BATCH_ND = (
    *_types((4, "INT16")),
    Demand(3, "rank-other-than-4", lambda node: node.input(0).rank != 4),
    *_INT8_DATA,
)

_PACK = (
    *_types((5, "FLOAT8"), (2, "INT8")),
    Demand(3, "int16-type", _both("INT16")),
    *_types((4, "UINT32")),
)

_UNPACK = (
    *_types((6, "FLOAT8"), (2, "INT8"), (2, "UINT8"), (3, "BOOL")),
    Demand(4, "int16-type", _both("INT16")),
    *_types((5, "FLOAT16"), (5, "BFLOAT16")),
)

_SELECT = (
    *_types((4, "UINT32")),
    Demand(3, "high-rank", _has_operand_of_rank_5),
    *_INT8_DATA,
)

_TOPK_V2 = (
    *_types((3, "INT16")),
    Demand(3, "int16-indices", _any(_input("INT16", at=1), _output("INT16", at=1))),
    *_INT8_DATA,
)

_DYNAMIC_UPDATE_SLICE = (
    *_types((6, "BFLOAT16"), (5, "INT4"), (4, "INT16"), (3, "FLOAT16")),
    Demand(2, "int64-indices", _input("INT64", at=2)),
)

# Releases before version 3 of DEQUANTIZE held FLOAT16 gave it version 2, as many models with float16 weights still have it.
_DEQUANTIZE = (
    *_types((9, "FLOAT8"), (8, "UINT4"), (7, "INT2"), (6, "INT4"), (3, "INT16"), (3, "FLOAT16")),
    Demand(5, "per-channel", _all(_input("INT8"), lambda node: _is_per_channel(node.input(0))), given=("int8-type",)),
    *_INT8_DATA,
)

# The quantisers that mark versions by operator (see above) give version 2 to INT8 as well: older INT8 models have it.
_QUANTIZE = (
    Demand(5, "uint4-type", _either("UINT4")),
    Demand(4, "int4-type", _either("INT4")),
    Demand(3, "per-channel", lambda node: _is_per_channel(node.output(0))),
    Demand(2, "int16-type", _output("INT16")),
)

_CAST = (
    Demand(9, "float8-type", _either(*_FLOAT8)),
    Demand(8, "int2-type", _either("INT2")),
    Demand(8, "uint4-type", _either("UINT4")),
    Demand(7, "bfloat16-type", _either("BFLOAT16")),
    Demand(6, "int4-type", _all(_input("INT4"), _output("FLOAT32"))),
    Demand(5, "float64-type", _either("FLOAT64")),
    Demand(5, "float16-type", _either("FLOAT16")),
    Demand(4, "uint16-type", _either("UINT16")),
    Demand(3, "int8-type", _either("INT8")),
    Demand(2, "uint32-type", _either("UINT32")),
)

# Some older models have version 1 with half_pixel_centers: their converter had no version 3 yet.
_RESIZE_BILINEAR = (
    *_types((4, "INT16")),
    Demand(3, "half-pixel-centers", _set("half_pixel_centers")),
    *_INT8_DATA,
)

_RESIZE_NEAREST_NEIGHBOR = (
    *_types((4, "INT16")),
    Demand(3, "half-pixel-centers", _set("half_pixel_centers")),
    Demand(3, "align-corners", _set("align_corners")),
    *_INT8_DATA,
)

DEMANDS: Mapping[str, tuple[Demand, ...]] = MappingProxyType(
    {
        "ABS": _ABS,
        "ADD": _ADD,
        "BATCH_MATMUL": (*_INT16_INT8_DATA, _asymmetric(4, _hybrid(1))),
        "CAST": _CAST,
        "CONCATENATION": _types((7, "FLOAT8"), (6, "FLOAT16"), (5, "INT4"), (4, "UINT32"), (3, "INT16"), (2, "INT8")),
        "CONV_2D": _CONV_2D,
        "DEPTHWISE_CONV_2D": _DEPTHWISE_CONV_2D,
        "DEQUANTIZE": _DEQUANTIZE,
        "DIV": (Demand(2, "broadcast-rank", _broadcasts_above_rank_4),),
        "DYNAMIC_UPDATE_SLICE": _DYNAMIC_UPDATE_SLICE,
        "EMBEDDING_LOOKUP": _EMBEDDING_LOOKUP,
        "EQUAL": _types((5, "INT16"), (3, "STRING"), (2, "INT8")),
        "FAKE_QUANT": (Demand(2, "narrow-range", _set("narrow_range")),),
        "FILL": _types((5, "FLOAT8"), (4, "FLOAT16"), (3, "INT8"), (3, "INT16"), (2, "BOOL"), (2, "STRING"), at=1),
        "FLOOR_DIV": _types((3, "INT16"), (3, "INT8"), (2, "FLOAT32")),
        "FULLY_CONNECTED": _FULLY_CONNECTED,
        "GATHER": _GATHER,
        "GATHER_ND": _GATHER_ND,
        "GELU": _types((3, "FLOAT16"), (2, "INT8"), (2, "UINT8")),
        "L2_NORMALIZATION": (Demand(2, "int8-type", _output("INT8")),),
        "LEAKY_RELU": _types((2, "INT16")),
        "LSTM": _LSTM,
        "MUL": _MUL,
        "NOT_EQUAL": _types((4, "INT16"), (3, "STRING"), (2, "INT8")),
        "PACK": _PACK,
        "QUANTIZE": _QUANTIZE,
        "RANGE": _types((2, "INT64")),
        "RELU": _types((3, "INT16"), (2, "INT8"), (2, "UINT8")),
        "RESIZE_BILINEAR": _RESIZE_BILINEAR,
        "RESIZE_NEAREST_NEIGHBOR": _RESIZE_NEAREST_NEIGHBOR,
        "REVERSE_V2": _types((4, "FLOAT8"), (3, "INT8"), (2, "BOOL")),
        "SELECT": _SELECT,
        "SELECT_V2": _types((2, "UINT32")),
        "SIGN": _types((2, "INT32")),
        "SLICE": _SLICE,
        "SOFTMAX": _types((4, "FLOAT16"), (3, "INT16"), (2, "INT8")),
        "SPARSE_TO_DENSE": _types((3, "INT8"), (3, "UINT8"), (2, "INT64"), at=2),
        # Some older models have version 3 for any data: the first operand, which would have to be INT32, is the axis.
        "SPLIT": _types((5, "FLOAT8"), (4, "INT16"), (3, "INT32"), (2, "INT8"), at=1),
        "SPLIT_V": _types((3, "FLOAT8"), (2, "INT8")),
        "SQUEEZE": _types((2, "STRING")),
        "STRIDED_SLICE": _STRIDED_SLICE,
        "SUB": _SUB,
        "SVDF": (*_types((3, "INT8")), *_hybrid_pair(4, 2, _hybrid(1))),
        "TILE": _types((3, "INT8"), (2, "STRING")),
        "TOPK_V2": _TOPK_V2,
        "TRANSPOSE": _TRANSPOSE,
        "TRANSPOSE_CONV": _TRANSPOSE_CONV,
        "UNIDIRECTIONAL_SEQUENCE_LSTM": _UNIDIRECTIONAL_SEQUENCE_LSTM,
        "UNPACK": _UNPACK,
        "WHERE": (Demand(2, "non-bool-condition", _not(_input("BOOL"))),),
        "BROADCAST_TO": _types((4, "FLOAT8"), (3, "INT8"), (3, "INT16")),
        "FLOOR_MOD": _types((2, "INT16"), (2, "INT8")),
        **dict.fromkeys(("ARG_MAX", "ARG_MIN"), _types((3, "BOOL"), (2, "INT8"))),
        **dict.fromkeys(("AVERAGE_POOL_2D", "LOGISTIC", "MAX_POOL_2D", "TANH"), _INT16_THROUGHOUT),
        **dict.fromkeys(("BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND"), _SPACE_TO_BATCH_ND),
        **dict.fromkeys(
            ("BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN"), _HYBRID_RECURRENT
        ),
        **dict.fromkeys(("COS", "SIN"), _FLOAT16_DATA),
        **dict.fromkeys(
            (
                "DEPTH_TO_SPACE",
                "GREATER",
                "LESS_EQUAL",
                "LOG_SOFTMAX",
                "SPACE_TO_DEPTH",
                "SQUARED_DIFFERENCE",
                "SUM",
            ),
            _INT8_DATA,
        ),
        **dict.fromkeys(("EXP", "LOG", "REDUCE_PROD", "SQRT"), _INT8_INT16_DATA),
        **dict.fromkeys(
            ("GREATER_EQUAL", "LESS", "MEAN", "MIRROR_PAD", "REDUCE_MAX", "REDUCE_MIN", "RELU6", "RSQRT"), _INT16_INT8_DATA
        ),
        **dict.fromkeys(("MAXIMUM", "MINIMUM"), _MAXIMUM_MINIMUM),
        **dict.fromkeys(("PAD", "PADV2"), _PAD),
    }
)
"""What each operator's versions stand for, in the order of the rule. An operator that is not here has version 1 only."""

LOWEST_VERSIONS: Mapping[str, int] = MappingProxyType({"BROADCAST_TO": 2})
"""The version without any feature, where it is not 1. Version 1 of BROADCAST_TO was withdrawn."""
