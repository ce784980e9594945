"""The answers were written before the logs were read: what a person would say after reading the thread in the comment."""

from __future__ import annotations

import pytest

from delegate_sim.device.parse.log import read_log
from delegate_sim.device.parse.log_outcomes import COMPILED_FOR, FAILED, NOT_COMPILED_FOR, PART, WHOLE
from delegate_sim.device.parse.log_runs import NO, NOT_SHOWN, YES, NpuStages
from delegate_sim.device.parse.log_summary import summary_of

PLUGIN = "I litert  : [compiler_plugin.cc:250] Loading plugin at: /data/app/x/lib/arm64/libLiteRtCompilerPlugin_{}.so\n"
SELECTED = (
    "I litert  : [compiler_plugin.cc:738] Partitioned subgraph<{}>, selected {} ops, from a total of {} ops. "
    "resulted in {} partitions.\n"
)
INTERNAL = "ERROR: [compiler_plugin.cc:481] INTERNAL\n"
DISPATCHED = (
    "I tflite  : Replacing {} out of {} node(s) with delegate (DispatchDelegate) node, yielding 1 partitions for subgraph 0.\n"
)
NO_RUNTIME = (
    "E litert  : [dispatch_delegate.cc:122] Failed to create a dispatch delegate kernel: No usable Dispatch runtime found\n"
)
ON_CPU = "I tflite  : Replacing 470 out of 476 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 3 partitions.\n"
TIMES = "Inference timings in us: Init: 100, First inference: 90, Warmup (avg): 80, Inference (avg): 70\n"
NO_DIRECTORY = (
    "W litert  : [npu_registry.cc:34] NPU accelerator could not be loaded and registered: kLiteRtStatusErrorInvalidArgument.\n"
)

CASES = {
    # LiteRT#7598, #8062, #8884: everything is selected, and Google's compiler answers INTERNAL.
    "the compiler fails": (
        PLUGIN.format("google_tensor") + SELECTED.format(0, 363, 363, 1) + INTERNAL,
        NpuStages(363, 363, NO, NO, NO, "INTERNAL"),
        NOT_COMPILED_FOR,
    ),
    # LiteRT#8884, #8943: two subgraphs.
    "the compiler fails for two subgraphs": (
        SELECTED.format(0, 2229, 2229, 1) + SELECTED.format(1, 8, 10, 1) + INTERNAL,
        NpuStages(2237, 2239, NO, NO, NO, "INTERNAL"),
        NOT_COMPILED_FOR,
    ),
    # LiteRT#7629, #9152: the Python API goes on with the next target.
    "Python says that a target is skipped": (
        SELECTED.format(0, 655, 655, 1) + "Skipping failed compilation for Google_Tensor_G5. Error: apply_plugin failed.\n",
        NpuStages(655, 655, NO, NO, NO, "Skipping failed compilation for Google_Tensor_G5. Error: apply_plugin failed."),
        NOT_COMPILED_FOR,
    ),
    "Python reports a compiled model": (
        SELECTED.format(0, 175, 175, 1) + "Subgraph 0 fully compiled:\t175 / 175 ops offloaded to 1 partitions.\n",
        NpuStages(175, 175, YES, NOT_SHOWN, NOT_SHOWN, ""),
        COMPILED_FOR,
    ),
    # LiteRT#7603: a library behind MediaTek's plugin refuses a constant.
    "a library refuses a constant": (
        SELECTED.format(0, 8, 8, 1) + "ERROR: [create_model.cc:103] Failed to set param of per channel quant params\n",
        NpuStages(8, 8, NO, NO, NO, "Failed to set param of per channel quant params"),
        NOT_COMPILED_FOR,
    ),
    # LiteRT-CLI#80: the plugin does not start.
    "the plugin does not start": (
        "ERROR: [qnn_compiler_plugin.cc:350] Failed to create QNN manager: Failed to set up QNN manager\n",
        NpuStages(None, None, NO, NO, NO, "Failed to create QNN manager: Failed to set up QNN manager"),
        FAILED,
    ),
    # LiteRT#9364: the code is for another version of Neuron, although the runtime has made the kernel.
    "the code is for another version": (
        "VERBOSE: Replacing 1 out of 1 node(s) with delegate (DispatchDelegate) node, yielding 1 partitions for subgraph 0 ().\n"
        "ERROR: Incompatible Neuron SDK major version: bytecode compiled with 8.2.30, but runtime is 9.2.0\n",
        NpuStages(
            None, None, YES, NO, NO, "Incompatible Neuron SDK major version: bytecode compiled with 8.2.30, but runtime is 9.2.0"
        ),
        WHOLE,
    ),
    # LiteRT#8501: on the phone, CompiledModel goes on without the NPU.
    "the phone goes on without the NPU": (
        SELECTED.format(0, 470, 476, 2)
        + "E litert  : [compiler_plugin.cc:863] INTERNAL\n"
        + "W litert  : [compiled_model.cc:1245] Failed to apply compiler plugins: INTERNAL\n"
        + ON_CPU,
        NpuStages(470, 476, NO, NO, NO, "INTERNAL"),
        NOT_COMPILED_FOR,
    ),
    # LiteRT#5594: compiled on the phone, but the runtime for compiled parts does not start.
    "compiled, but not loaded": (
        SELECTED.format(0, 175, 175, 1) + "I qnn     : Context binary 0 generated\n" + NO_RUNTIME,
        NpuStages(175, 175, YES, NO, NO, "Failed to create a dispatch delegate kernel: No usable Dispatch runtime found"),
        FAILED,
    ),
    # LiteRT-LM#2079, #2687: a model that was compiled ahead of time.
    "a compiled model is not loaded": (
        DISPATCHED.format(12, 14)
        + "E litert  : [qnn_manager.cc:494] Failed to create QNN context: 1002\n"
        + "E tflite  : Node number 0 (DISPATCH_OP) failed to prepare.\n",
        NpuStages(None, None, YES, NO, NO, "Failed to create QNN context: 1002"),
        FAILED,
    ),
    "loaded": (
        SELECTED.format(0, 175, 175, 1) + DISPATCHED.format(1, 1),
        NpuStages(175, 175, YES, YES, NOT_SHOWN, ""),
        WHOLE,
    ),
    "used": (
        DISPATCHED.format(2, 5) + TIMES,
        NpuStages(None, None, YES, YES, YES, ""),
        PART,
    ),
    # LiteRT#7602: nodes are selected, but the application did not give the directory of the dispatch library.
    "selected, but no NPU is registered": (
        NO_DIRECTORY
        + SELECTED.format(0, 7, 7, 1)
        + "I litert  : [compiled_model.cc:1249] 1 compiler plugins were applied successfully: \n",
        NpuStages(7, 7, YES, NO, NO, "NPU accelerator could not be loaded and registered: kLiteRtStatusErrorInvalidArgument."),
        FAILED,
    ),
    "nothing is selected": (
        SELECTED.format(0, 0, 7, 0) + ON_CPU,
        NpuStages(0, 7, NO, NO, NO, ""),
        NOT_COMPILED_FOR,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_stages(case):
    text, stages, outcome = CASES[case]
    summary = summary_of(read_log(text))
    assert summary.npu == stages
    assert summary.delegate.outcome == outcome


@pytest.mark.parametrize(
    "text",
    [
        # LiteRT#7858: the log of an application without any library of an NPU.
        pytest.param(NO_DIRECTORY + ON_CPU, id="an NPU that nobody asks for"),
        pytest.param(ON_CPU, id="the CPU alone"),
        pytest.param("E tflite  : Failed to create OpenCL context\n" + ON_CPU, id="an error of the GPU"),
    ],
)
def test_logs_without_compiled_parts(text):
    assert summary_of(read_log(text)).npu is None
