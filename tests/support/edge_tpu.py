"""Models and logs of the Edge TPU's compiler, and logs of failures."""

from __future__ import annotations

from fixtures.builder import ModelBuilder

QUANTIZED = {"scale": 0.5, "zero_point": 0}
COMPILED = "edgetpu-custom-op"
HEAD = (
    "Edge TPU Compiler version 16.0.384591198\nInput: source.tflite\nOutput: source_edgetpu.tflite\n\nOperator  Count  Status\n\n"
)
TABLE = (
    f"{HEAD}RELU                           2          Mapped to Edge TPU\n"
    "RELU                           1          More than one subgraph is not supported\n"
    "LOGISTIC                       1          Operation is working on an unsupported data type\n"
)
SOURCE = ("RELU", "RELU", "LOGISTIC", "RELU")
FAILURE = """Edge TPU Compiler version 16.0.384591198
Started a compilation timeout timer of 180 seconds.
ERROR: Restored original execution plan after delegate application failure.
Compilation failed: Compilation failed due to large activation tensors in model.
Compilation child process completed within timeout period.
Compilation failed!
"""
DISPATCH = """INFO: [environment.cc:30] Creating LiteRT environment with options
WARNING: [npu_registry.cc:34] NPU accelerator could not be loaded and registered: kLiteRtStatusErrorInvalidArgument.
INFO: [environment.cc:30] Creating LiteRT environment with options
INFO: [npu_registry.cc:30] NPU accelerator registered.
INFO: Replacing 2 out of 3 node(s) with delegate (DispatchDelegate) node, yielding 3 partitions for subgraph 0 (main).
"""
INVOKE_FAILS = """INFO: Created TensorFlow Lite delegate for NNAPI.
VERBOSE: Replacing 9 out of 11 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 2 partitions for subgraph 0.
ERROR: NN API returned error ANEURALNETWORKS_OP_FAILED at line 5120 while running computation.
ERROR: Node number 11 (TfLiteNnapiDelegate) failed to invoke.
"""


def edge_tpu_model(*ops):
    """A chain of nodes; names in lower case are custom operators."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("in", "INT8", (1, 4), **QUANTIZED)
    for op in ops:
        result = graph.tensor(op, "INT8", (1, 4), **QUANTIZED)
        is_custom = op == op.lower()
        graph.node("CUSTOM" if is_custom else op, (tensor,), (result,), **({"custom": op} if is_custom else {}))
        tensor = result
    graph.outputs(tensor)
    return builder.bytes()
