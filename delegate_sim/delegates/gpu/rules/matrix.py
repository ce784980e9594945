"""Matrix products and diagonals."""

from __future__ import annotations

from ....rules.numbers import at_most
from ...gpu_compatibility import matrix
from .checks import gpu_rule

RULES = {
    "BATCH_MATMUL": gpu_rule("BatchedMatMulOperationParser", *matrix.BATCH_MATMUL),
    "FULLY_CONNECTED": gpu_rule("FullyConnectedOperationParser", *matrix.FULLY_CONNECTED, version_in=at_most(9)),
}
