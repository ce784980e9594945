"""Rules of the VX delegate: the checks of each operator, in the delegate's order, and NXP's changes to them.

Source: VeriSilicon/tflite-vx-delegate, ``Delegate::SupportedOp`` (``delegate_main.cc``) and the two tables of mappers
(``op_map.cc``), and ``op_map.cc`` of nxp-imx/tflite-vx-delegate-imx. A mapper checks and translates one operator. No mapper
checks an operator's version.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from ...graph.graph import NodeView
from ...rules.book import RuleBook, Unknown
from ...rules.kinds import HYBRID, RANK, TENSOR_TYPE, by_reshape, in_code
from ...rules.rule import OpRule, Repository, Rules, Source, family_rules, modules_of_families, with_change
from ...rules.vocabulary import refused_if
from . import layers
from .checks import (
    CUSTOM_OPERATOR,
    EIGHT_BITS,
    KINDS,
    NXP_VX_5_15_71,
    NXP_VX_6_6_3,
    OUTPUT_WITH_DIMENSIONS,
    SOURCE,
    VxTarget,
    vx_rule,
)
from .layers import ARGUMENT_WITH_DIMENSIONS, NO_INT32_OUTPUT, NOT_BOTH_ADJOINT


def _is_8_bit_vector(node: NodeView) -> bool:
    source = node.input(0)
    return source.rank == 1 and source.type in EIGHT_BITS


_PACK = (
    refused_if(
        TENSOR_TYPE,
        "a first input that is not INT32",
        lambda node: node.input(0).type == "INT32",
        "an INT32 input",
        in_code("cast to float around the operator"),
    ),
    refused_if(
        RANK,
        "a first input that is not an 8-bit tensor of rank 1",
        _is_8_bit_vector,
        "an 8-bit input of rank 1",
        by_reshape("add a dimension with RESHAPE, and remove it afterwards"),
    ),
)


_NO_INT8_TIMES_FLOAT = refused_if(
    HYBRID,
    "inputs of any types except INT8 followed by FLOAT32",
    lambda node: node.input(0).type == "INT8" and node.input(1).type == "FLOAT32",
    "INT8 and FLOAT32 inputs",
    "quantize both, or neither",
)
_NO_INT8 = refused_if(
    TENSOR_TYPE,
    "inputs of any type except INT8",
    lambda node: "INT8" in (node.input(0).type, node.input(1).type),
    "an INT8 input",
    "quantize to UINT8, or keep the product in float",
)


_NO_INT32_IN_INT8 = refused_if(
    TENSOR_TYPE,
    "an output that is not INT32 if the input is INT8",
    lambda node: node.input(0).type == "INT8" and node.output(0).type == "INT32",
    "an INT8 input and an INT32 output",
    "keep the operator in float",
)


def lf_6_6_3(upstream: RuleBook[VxTarget]) -> RuleBook[VxTarget]:
    """Return the rules of lf-6.6.3_1.0.0, derived from VeriSilicon's rules."""
    changes = {
        "BATCH_MATMUL": vx_rule("BatchMatmul::IsOpSupported", NO_INT32_OUTPUT, _NO_INT8_TIMES_FLOAT, NOT_BOTH_ADJOINT),
        "PACK": vx_rule("PackMapper::IsOpSupported", *_PACK),
    }
    return _changed(upstream, NXP_VX_6_6_3, changes)


def lf_5_15_71(newer: RuleBook[VxTarget]) -> RuleBook[VxTarget]:
    """Return the rules of lf-5.15.71_2.2.0, derived from the rules of lf-6.6.3_1.0.0.

    This release lacks BROADCAST_TO, which is the only operator that accepts INT64 operands in later releases.
    """
    argument = vx_rule("ArgOpMapper::IsOpSupported", _NO_INT32_IN_INT8, ARGUMENT_WITH_DIMENSIONS)
    changes = {
        "ARG_MAX": argument,
        "ARG_MIN": argument,
        "BATCH_MATMUL": vx_rule("BatchMatmul::IsOpSupported", NO_INT32_OUTPUT, _NO_INT8, NOT_BOTH_ADJOINT),
        "RESHAPE": vx_rule("ReshapeMapper::IsOpSupported", OUTPUT_WITH_DIMENSIONS),
    }
    missing = (
        "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "BROADCAST_TO", "CAST", "EMBEDDING_LOOKUP", "GELU",
        "HASHTABLE_LOOKUP", "MIRROR_PAD", "SCATTER_ND", "SHAPE", "SQUARED_DIFFERENCE", "UNIDIRECTIONAL_SEQUENCE_RNN",
    )  # fmt: skip
    arithmetic = "SimpleOpWithFusedActiovationMapper::IsOpSupported"
    mappers = {"ADD": arithmetic, "DIV": arithmetic, "MAXIMUM": "MaximumMapper", "MUL": arithmetic, "SUB": arithmetic}
    return _changed(newer, NXP_VX_5_15_71, changes, missing, mappers)


def _changed(
    book: RuleBook[VxTarget],
    repository: Repository,
    changes: Mapping[str, OpRule[VxTarget]],
    without: Collection[str] = (),
    mappers: Mapping[str, str] = MappingProxyType({}),
) -> RuleBook[VxTarget]:
    """Return the rules for another repository of the delegate.

    ``changes`` has the rules that are replaced. ``without`` has the operators that are dropped. ``mappers`` has the other
    repository's name of a mapper, keyed by operator, if the name differs from the name in ``book``.
    """

    def adapted(rules: Rules[VxTarget]) -> Rules[VxTarget]:
        return {
            op: _placed(changes.get(op, rule), repository, mappers.get(op, "")) for op, rule in rules.items() if op not in without
        }

    return replace(
        book,
        families=tuple(with_change(rules, adapted) for rules in book.families),
        custom=adapted(book.custom),
        source=replace(book.source, repository=repository),
    )


def _placed(rule: OpRule[VxTarget], repository: Repository, mapper: str) -> OpRule[VxTarget]:
    def placed(source: Source) -> Source:
        return replace(source, repository=repository)

    own, *common = map(placed, rule.source)
    checks = tuple(check if check.source is None else check.from_source(placed(check.source)) for check in rule.checks)
    return replace(rule, checks=checks, source=(own.with_symbol(mapper) if mapper else own, *common))


_WITHOUT_MAPPER = "(in the delegate's log: op {builtin_code}) has no mapper"

RULES: RuleBook[VxTarget] = RuleBook(
    "vx",
    families=family_rules(
        __package__,
        modules_of_families(
            arithmetic="activation arithmetic conversion",
            layers="convolution pooling resizing matrix recurrent reduction reshaping slicing joining padding gathering filling",
        ),
    ),
    custom=layers.CUSTOM_RULES,
    kinds=KINDS,
    source=SOURCE,
    unknown=Unknown("an operator that the delegate maps", problem=_WITHOUT_MAPPER),
    unknown_custom=Unknown(
        f"the custom operator {layers.COMPILED_NETWORK}, or a builtin operator", problem=_WITHOUT_MAPPER, kind=CUSTOM_OPERATOR
    ),
)
"""The rules of VeriSilicon's delegate."""

_LF_6_6_3 = lf_6_6_3(RULES)
NXP_RULES: Mapping[str, RuleBook[VxTarget]] = {"lf-6.6.3": _LF_6_6_3, "lf-5.15.71": lf_5_15_71(_LF_6_6_3)}
"""The rules of NXP's variant by release, newest first."""
