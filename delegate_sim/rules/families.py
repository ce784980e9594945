"""Which file of a delegate's rules each operator is in: the same for every delegate.

``delegates/DELEGATE/rules/FAMILY.py`` has the rules of a family; a delegate with no operators in a family has no such file.
A model has operators of a few families, and only the files of these are imported.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TypeVar, cast

from .rule import OpRule, Rules

T = TypeVar("T")

_FAMILIES = {
    "activation": """
        ELU GELU HARD_SWISH L2_NORMALIZATION LEAKY_RELU LOCAL_RESPONSE_NORMALIZATION LOGISTIC LOG_SOFTMAX PRELU RELU RELU6
        RELU_0_TO_1 RELU_N1_TO_1 SOFTMAX TANH
    """,
    "arithmetic": """
        ABS ADD ADD_N ATAN2 BITWISE_XOR CEIL COS DIV EQUAL EXP FLOOR FLOOR_DIV FLOOR_MOD GREATER GREATER_EQUAL LESS LESS_EQUAL LOG
        LOGICAL_AND LOGICAL_NOT LOGICAL_OR MAXIMUM MINIMUM MUL NEG NOT_EQUAL POW RIGHT_SHIFT ROUND RSQRT SELECT SELECT_V2 SIGN SIN
        SQRT SQUARE SQUARED_DIFFERENCE STABLEHLO_CBRT STABLEHLO_CLAMP STABLEHLO_REMAINDER STABLEHLO_SHIFT_LEFT SUB COMPLEX_ABS
        IMAG REAL RFFT2D
    """,
    "conversion": "BITCAST BUCKETIZE CAST DENSIFY DEQUANTIZE FAKE_QUANT QUANTIZE",
    "convolution": """
        AVERAGE_POOL_2D CONV_2D CONV_3D CONV_3D_TRANSPOSE DEPTHWISE_CONV_2D L2_POOL_2D MAX_POOL_2D RESIZE_BILINEAR
        RESIZE_NEAREST_NEIGHBOR TRANSPOSE_CONV
    """,
    "matrix": "BATCH_MATMUL FULLY_CONNECTED MATRIX_DIAG MATRIX_SET_DIAG",
    "reduction": """
        ARG_MAX ARG_MIN CUMSUM MEAN NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN
        REDUCE_PROD SEGMENT_SUM STABLEHLO_REDUCE_WINDOW SUM TOPK_V2 UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_MIN
        UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_SUM
    """,
    "shape": """
        BATCH_TO_SPACE_ND BROADCAST_ARGS BROADCAST_TO CONCATENATION DEPTH_TO_SPACE DYNAMIC_UPDATE_SLICE EMBEDDING_LOOKUP
        EXPAND_DIMS FILL GATHER GATHER_ND HASHTABLE_LOOKUP MIRROR_PAD MULTINOMIAL ONE_HOT PACK PAD PADV2 RANDOM_STANDARD_NORMAL
        RANDOM_UNIFORM RANGE RANK RESHAPE REVERSE_SEQUENCE REVERSE_V2 SCATTER_ND SHAPE SLICE SPACE_TO_BATCH_ND SPACE_TO_DEPTH
        SPARSE_TO_DENSE SPLIT SPLIT_V SQUEEZE STABLEHLO_BROADCAST_IN_DIM STABLEHLO_SCATTER STRIDED_SLICE TILE TRANSPOSE UNIQUE
        UNPACK WHERE ZEROS_LIKE
    """,
    "recurrent": """
        BIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_RNN LSH_PROJECTION LSTM RNN SVDF UNIDIRECTIONAL_SEQUENCE_LSTM
        UNIDIRECTIONAL_SEQUENCE_RNN
    """,
    "variable": """
        ASSIGN_VARIABLE CALL_ONCE HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE READ_VARIABLE VAR_HANDLE
    """,
    "custom": "STABLEHLO_COMPOSITE",
}

FAMILIES: Mapping[str, frozenset[str]] = MappingProxyType({name: frozenset(ops.split()) for name, ops in _FAMILIES.items()})
"""The operators of each family; custom operators belong to the family ``custom``."""


class LazyRules(Mapping[str, OpRule[T]]):
    """Rules that are loaded when one of the operators that may be among them is first asked for."""

    def __init__(self, possible: frozenset[str], load: Callable[[], Rules[T]]) -> None:
        self.possible = possible
        self._load = load

    @functools.cached_property
    def _rules(self) -> Rules[T]:
        return self._load()

    def __getitem__(self, op: str) -> OpRule[T]:
        if op not in self.possible:
            raise KeyError(op)
        return self._rules[op]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)


def family_rules(package: str, *families: str) -> tuple[LazyRules[T], ...]:
    """Return the rules of families: each is ``RULES`` of the module of its name in a package."""

    def load(family: str) -> Rules[T]:
        return cast(Rules[T], import_module(f"{package}.{family}").RULES)

    return tuple(LazyRules(FAMILIES[family], functools.partial(load, family)) for family in families)


def with_change(rules: Rules[T], change: Callable[[Rules[T]], Rules[T]]) -> LazyRules[T]:
    """Return rules with a change to be made when they are loaded; it adds none."""
    possible = rules.possible if isinstance(rules, LazyRules) else frozenset(rules)
    return LazyRules(possible, lambda: change(rules))
