"""The names of XNNPACK's own operators in op profiles.

Sources: ``xnn_operator_type_to_string`` (``include/xnnpack/operator-type-defs.inc``) and ``xnn_get_runtime_profiling_info``
(``src/runtime.c``) of google/XNNPACK.
"""

from __future__ import annotations

from collections.abc import Mapping

_OPERATORS: Mapping[str, str] = {
    "Average Pooling": "AVERAGE_POOL_2D",
    "Batch Matrix Multiply": "BATCH_MATMUL",
    "Convolution": "CONV_2D",
    "Deconvolution": "TRANSPOSE_CONV",
    "Depth To Space": "DEPTH_TO_SPACE",
    "Dynamic Fully Connected": "FULLY_CONNECTED",
    "Fully Connected": "FULLY_CONNECTED",
    "Max Pooling": "MAX_POOL_2D",
    "PReLU": "PRELU",
    "Resize Bilinear": "RESIZE_BILINEAR",
    "Softmax": "SOFTMAX",
    "Space To Depth": "SPACE_TO_DEPTH",
    "Transpose": "TRANSPOSE",
}
_DEPTHWISE_KERNEL = "DWConv"


def profiled_operator(name: str) -> str:
    """Return the TFLite operator of a name, or an empty string if no single operator has this name.

    >>> profiled_operator("Fully Connected (NC, F32) GEMM")
    'FULLY_CONNECTED'
    """
    op = _OPERATORS.get(name.partition(" (")[0], "")
    return "DEPTHWISE_CONV_2D" if op == "CONV_2D" and _DEPTHWISE_KERNEL in name else op
