"""How to express operators that delegates often lack with other operators."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

REWRITES: Mapping[str, str] = MappingProxyType(
    {
        "BATCH_MATMUL": "FULLY_CONNECTED for each matrix, which the converter writes with unfold_batchmatmul = True",
        "BROADCAST_TO": "MUL with ones of the result's shape, or leave broadcasting to the node that reads it",
        "CUMSUM": "FULLY_CONNECTED with a triangular matrix of ones",
        "ELU": "SELECT or MAXIMUM with EXP, or another activation such as RELU",
        "EXPAND_DIMS": "RESHAPE",
        "FLOOR_DIV": "DIV and FLOOR",
        "FLOOR_MOD": "DIV, FLOOR, MUL and SUB",
        "GATHER_ND": "RESHAPE and GATHER, with flattened indices",
        "GELU": "MUL, ADD and TANH, or MUL and LOGISTIC (x * sigmoid(1.702 x)), or another activation such as RELU",
        "HARD_SWISH": "ADD, RELU6 and MUL",
        "L2_NORMALIZATION": "MUL, SUM, RSQRT and MUL",
        "LEAKY_RELU": "MAXIMUM of x and a multiple of it, or PRELU with a constant slope",
        "LOG_SOFTMAX": "SOFTMAX and LOG, or SOFTMAX alone where only the order counts",
        "MIRROR_PAD": "PAD with zeros, or padding before the model",
        "NEG": "MUL by -1",
        "ONE_HOT": "EQUAL against a constant range and CAST, or GATHER from an identity matrix",
        "PACK": "CONCATENATION and RESHAPE",
        "RELU_0_TO_1": "MAXIMUM and MINIMUM",
        "RSQRT": "SQRT and DIV, or POW by -0.5",
        "SELECT_V2": "MUL and ADD with the condition as 0 and 1",
        "SQUARE": "MUL of the tensor with itself",
        "SQUARED_DIFFERENCE": "SUB, and MUL of the difference with itself",
        "SQUEEZE": "RESHAPE",
        "SUM": "MEAN and MUL by the number of elements",
        "TILE": "CONCATENATION of the tensor with itself",
        "UNPACK": "SPLIT and RESHAPE",
    }
)
"""What to write instead of an operator, by its name."""
