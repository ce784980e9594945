"""The families of operators. Files with rules, kernels and tests are named after families, or have several small families.

``delegates/NAME/rules/FAMILY.py`` has a delegate's rules, and ``prepare/kernels/FAMILY.py`` has Prepare functions. If a
delegate has no rules for a family, the delegate has no file for the family. Only the families of a model's operators are
imported.
"""

from __future__ import annotations

from collections.abc import Mapping

_OPERATORS = {
    # Activation functions, and normalization over channels or along one dimension.
    "activation": """
        ELU GELU HARD_SWISH L2_NORMALIZATION LEAKY_RELU LOCAL_RESPONSE_NORMALIZATION LOGISTIC LOG_SOFTMAX PRELU RELU RELU6
        RELU_0_TO_1 RELU_N1_TO_1 SOFTMAX TANH
    """,
    # Elementwise arithmetic, comparison, logic and selection.
    "arithmetic": """
        ABS ADD ADD_N ATAN2 BITWISE_XOR CEIL COS DIV EQUAL EXP FLOOR FLOOR_DIV FLOOR_MOD GREATER GREATER_EQUAL LESS LESS_EQUAL LOG
        LOGICAL_AND LOGICAL_NOT LOGICAL_OR MAXIMUM MINIMUM MUL NEG NOT_EQUAL POW RIGHT_SHIFT ROUND RSQRT SELECT SELECT_V2 SIGN SIN
        SQRT SQUARE SQUARED_DIFFERENCE SUB
    """,
    # Copies of all elements in another type or encoding.
    "conversion": "BITCAST BUCKETIZE CAST DENSIFY DEQUANTIZE FAKE_QUANT QUANTIZE",
    # Convolutions and transposed convolutions.
    "convolution": "CONV_2D CONV_3D CONV_3D_TRANSPOSE DEPTHWISE_CONV_2D TRANSPOSE_CONV",
    # Pooling windows.
    "pooling": "AVERAGE_POOL_2D L2_POOL_2D MAX_POOL_2D",
    # Resizing of images.
    "resizing": "RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR",
    # Matrix products and diagonals.
    "matrix": "BATCH_MATMUL FULLY_CONNECTED MATRIX_DIAG MATRIX_SET_DIAG",
    # Layers with a state that passes from step to step.
    "recurrent": """
        BIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_RNN LSTM RNN SVDF UNIDIRECTIONAL_SEQUENCE_LSTM
        UNIDIRECTIONAL_SEQUENCE_RNN
    """,
    # Results computed from all elements, or all earlier elements, along some dimensions.
    "reduction": "ARG_MAX ARG_MIN CUMSUM MEAN REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN REDUCE_PROD SUM",
    # Copies of all elements in another shape or order of dimensions, and the shape itself.
    "reshaping": """
        BATCH_TO_SPACE_ND DEPTH_TO_SPACE EXPAND_DIMS RANK RESHAPE SHAPE SPACE_TO_BATCH_ND SPACE_TO_DEPTH SQUEEZE TRANSPOSE
    """,
    # Reading, writing or reversing ranges of a tensor.
    "slicing": "DYNAMIC_UPDATE_SLICE REVERSE_SEQUENCE REVERSE_V2 SLICE STRIDED_SLICE",
    # Joining several tensors into one tensor, or splitting one tensor into several tensors.
    "joining": "CONCATENATION PACK SPLIT SPLIT_V UNPACK",
    # Adding elements around a tensor.
    "padding": "MIRROR_PAD PAD PADV2",
    # Finding, reading or writing elements by index, key or segment.
    "gathering": """
        CONCAT_EMBEDDINGS EMBEDDING_LOOKUP EMBEDDING_LOOKUP_SPARSE GATHER GATHER_ND HASHTABLE_LOOKUP LSH_PROJECTION SCATTER_ND
        SEGMENT_SUM SKIP_GRAM SPARSE_TO_DENSE TOPK_V2 UNIQUE UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_MIN UNSORTED_SEGMENT_PROD
        UNSORTED_SEGMENT_SUM WHERE
    """,
    # Filling tensors with repeated, counted or constant values.
    "filling": "BROADCAST_ARGS BROADCAST_TO FILL ONE_HOT RANGE TILE ZEROS_LIKE",
    # Random numbers.
    "random": "MULTINOMIAL RANDOM_STANDARD_NORMAL RANDOM_UNIFORM",
    # Calls of other subgraphs, and resources that keep their values between invocations: variables and hash tables.
    "control_flow": """
        ASSIGN_VARIABLE CALL CALL_ONCE DELEGATE HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE IF READ_VARIABLE
        VAR_HANDLE WHILE
    """,
    # Selecting detected boxes.
    "detection": "NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5",
    # Fourier transforms and complex numbers.
    "signal": "COMPLEX_ABS IMAG REAL RFFT2D",
    # StableHLO operators, two of them without the STABLEHLO prefix.
    "stablehlo": """
        DILATE REDUCE_WINDOW STABLEHLO_ABS STABLEHLO_ADD STABLEHLO_AND STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CASE STABLEHLO_CBRT
        STABLEHLO_CLAMP STABLEHLO_COMPARE STABLEHLO_COMPOSITE STABLEHLO_CONCATENATE STABLEHLO_CONVERT STABLEHLO_CONVOLUTION
        STABLEHLO_COSINE STABLEHLO_CUSTOM_CALL STABLEHLO_DIVIDE STABLEHLO_DOT_GENERAL STABLEHLO_DYNAMIC_SLICE
        STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_GATHER STABLEHLO_IOTA STABLEHLO_LOG
        STABLEHLO_LOGISTIC STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_MULTIPLY STABLEHLO_NEGATE STABLEHLO_OR STABLEHLO_PAD
        STABLEHLO_POWER STABLEHLO_REDUCE STABLEHLO_REDUCE_WINDOW STABLEHLO_REMAINDER STABLEHLO_RESHAPE
        STABLEHLO_RNG_BIT_GENERATOR STABLEHLO_RSQRT STABLEHLO_SCATTER STABLEHLO_SELECT STABLEHLO_SHIFT_LEFT STABLEHLO_SLICE
        STABLEHLO_SORT STABLEHLO_SUBTRACT STABLEHLO_TANH STABLEHLO_TRANSPOSE STABLEHLO_WHILE
    """,
    # Custom operators.
    "custom": "",
}

FAMILIES: Mapping[str, frozenset[str]] = {name: frozenset(ops.split()) for name, ops in _OPERATORS.items()}
"""The builtin operators of each family."""

FAMILY_OF: Mapping[str, str] = {op: family for family, ops in FAMILIES.items() for op in ops}
"""The family of each builtin operator."""
