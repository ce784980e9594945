"""Short logs: what follows an error, a plan or a crash, vendors' own lines, and reasons on the next line."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from delegate_sim.device.parse.delegate_identity import registered_interfaces
from delegate_sim.device.parse.error_meanings import explained_notes
from delegate_sim.device.parse.log import read_log, read_runs
from delegate_sim.device.parse.log_runs import separate_runs
from tests.support.device.logs import summary

GPU = "Created TensorFlow Lite delegate for GPU.\n"
METAL = "Created TensorFlow Lite delegate for Metal.\n"
NNAPI = "Created TensorFlow Lite delegate for NNAPI.\n"
NO_OPENCL = "Can not open OpenCL library on this device - no such file\nERROR: Falling back to OpenGL\n"
DUMP = "07-11 11:38:30.177 7 7 F DEBUG   : "
QNN = "[Qnn] Could not build cl::Program (-6) for buffer\n"


class Case(NamedTuple):
    """A log, and what it says."""

    text: str
    title: str
    outcome: str
    end: str = ""
    cause: str = ""


CASES = {
    "another interface after an error": Case(
        f"{GPU}ERROR: {NO_OPENCL}INFO: Initialized OpenGL-based API.\nINFO: Created 1 GPU delegate kernels.\n",
        "gpu (OpenGL)",
        "applied",
    ),
    "an error after an interface": Case(
        f"{GPU}INFO: Initialized OpenCL-based API.\nERROR: TfLiteGpuDelegate Init: x\nINFO: Created 1 GPU delegate kernels.\n",
        "gpu (OpenCL)",
        "failed",
        "",
        "Init: x",
    ),
    "no interface after an error": Case(f"{GPU}ERROR: {NO_OPENCL}", "gpu", "created"),
    "the interface of a delegate that is created": Case(METAL, "gpu (Metal)", "created"),
    "a crash dump in which every line is an error": Case(
        f"{NNAPI}{DUMP}*** *** ***\n{DUMP}Build fingerprint: 'x/y'\n{DUMP}ABI: 'arm64'\n{DUMP}uid: 1\n"
        f"{DUMP}signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0\n{DUMP}Cause: null pointer dereference\n",
        "nnapi",
        "created",
        "crashed",
        "null pointer dereference",
    ),
    "the message of an abort": Case(
        f"{NNAPI}{DUMP}Revision: '0'\n{DUMP}signal 6 (SIGABRT), code -1\n{DUMP}Abort message: 'x failed: y'\n",
        "nnapi",
        "created",
        "crashed",
        "x failed: y",
    ),
    "an exception that nothing catches": Case(
        "E/AndroidRuntime: FATAL EXCEPTION: Camera\n    Process: a.b, PID: 5\n    java.lang.IllegalArgumentException: Internal "
        "error: Failed to apply delegate: GpuDelegate Prepare: x\n",
        "gpu",
        "failed",
        "crashed",
        "Prepare: x",
    ),
    "an application's guess after the Edge TPU was found": Case(
        "frigate INFO    : TPU found\nERROR   : No EdgeTPU was detected. If you do not have a Coral device yet, you must "
        "configure CPU detectors.\n",
        "edgetpu",
        "created",
        "exception",
    ),
    "a fallback to the CPU in the line about the Edge TPU": Case(
        "No EdgeTPU detected. Falling back to CPU.\n", "edgetpu", "not-created", "fell-back", "No EdgeTPU detected."
    ),
    "a vendor's error that TIDL ignores": Case(
        "VX_ZONE_ERROR: [ownNodeKernelInit:604] Target kernel failed for node TIDLNode\nTIDL_RT_OVX: ERROR: Verify failed\n",
        "TI's TIDL (TIDL)",
        "requested",
    ),
    "a vendor's error before TIDL runs": Case(
        " Number of subgraphs:1 , 7 nodes delegated out of 7 nodes\nTIDL_RT_OVX: ERROR: Verify OpenVX graph failed\n"
        " ****** tidlDelegate::Invoke ******\n",
        "TI's TIDL (TIDL)",
        "whole",
    ),
    "MediaPipe's calculator that the GPU refuses": Case(
        'CalculatorGraph::Run() failed:\nCalculator::Open() for node "x__InferenceCalculator" failed: Batch size mismatch, '
        "expected 1 but got 8\n",
        "gpu",
        "failed",
        "",
        "Batch size mismatch",
    ),
    "MediaPipe's calculator that does not start": Case(
        f'{NNAPI}Calculator::Open() for node "InferenceCalculator" failed: x is missing\n',
        "nnapi",
        "created",
        "not-run",
        "x is missing",
    ),
    "an error of the Ethos-U": Case(
        "E: NPU error(s) occured during inference. (ethosu_driver.c:542)\nE: NPU status=0x00000804, qread=0, cmd_end_reached=0\n",
        "Ethos-U (Arm Ethos-U)",
        "applied",
        "",
        "NPU error(s)",
    ),
    "an exception in Crashlytics' form": Case(
        "Fatal Exception: java.lang.IllegalArgumentException: Internal error: Failed to apply delegate: GpuDelegate Prepare: x\n",
        "gpu",
        "failed",
        "crashed",
        "Prepare: x",
    ),
    "an activity that cannot be started": Case(
        "java.lang.RuntimeException: Unable to start activity ComponentInfo{a.b/a.b.Main}: java.lang.IllegalArgumentException: "
        "Internal error: Failed to apply delegate: GpuDelegate Prepare: x\n",
        "gpu",
        "failed",
        "crashed",
        "Prepare: x",
    ),
    "the device that NNAPI is told to use": Case(
        f"Use NNAPI: [1]\nNNAPI accelerator name: [qti-gpu]\n{NNAPI}", "nnapi (qti-gpu)", "created"
    ),
    "an environment of WebGPU": Case("I0000 d.cc:238] Created a WebGPU environment.\n", "mldrift (WebGPU)", "requested"),
    "Arm's compiler without its summary": Case(
        "Info: BATCH_MATMUL 'x/MatMul' is a CPU only op\n", "Ethos-U (Arm Ethos-U)", "unknown"
    ),
    "Arm's compiler": Case("CPU operators = 1 (20.0%)\nNPU operators = 4 (80.0%)\n", "Ethos-U (Arm Ethos-U)", "compiled"),
    "an exception while a library is loaded": Case(
        'Traceback (most recent call last):\n  File "x/interpreter.py", line 160, in load_delegate\n',
        "",
        "not-created",
        "exception",
    ),
    "a buffer of Metal that MediaPipe cannot bind": Case(
        'Calculator::Open() for node "InferenceCalculator" failed: ; RET_CHECK failure (x.cc:282) '
        "(TFLGpuDelegateBindMetalBufferToTensor( delegate_.get()))==(true)\n",
        "gpu",
        "applied",
        "not-run",
        "BindMetalBuffer",
    ),
    "an application without the GPU delegate's library": Case(
        'java.lang.UnsatisfiedLinkError: x couldn\'t find "libtensorflowlite_gpu_jni.so"\n', "gpu", "not-created", "", "gpu_jni"
    ),
    "a cached graph that VeriSilicon's driver refuses": Case(
        "vxoBinaryGraph_CheckInputOutput[3188]: tensor shape x\nWARNING: Failed to verify graph\n"
        "RuntimeError: Node number 2 (Vx Delegate) failed to invoke.\n",
        "vx",
        "applied",
        "",
        "tensor shape x",
    ),
    "the Ethos-U's driver alone": Case(
        "I: New NPU driver registered (handle: 0x0x20000de0, NPU: 0x0x48102000)\n", "Ethos-U (Arm Ethos-U)", "requested"
    ),
    "a line that holds only a date": Case(
        "2023-04-29 07:16:12.805786010 ValueError: Failed to load delegate from libedgetpu.so.1.0\n"
        "2023-04-29 07:16:12.805789853 \n",
        "edgetpu",
        "not-created",
        "",
        "libedgetpu.so.1.0",
    ),
    "an exception of Dart": Case(
        f"{GPU}TfLiteGpuDelegate Init: x\nRestored original execution plan after delegate application failure.\n"
        "Unhandled Exception: Invalid argument(s): Unable to create interpreter.\n",
        "gpu",
        "failed",
        "exception",
        "Init: x",
    ),
    "a traceback after a result": Case(
        "TIDL delegate: 0 nodes delegated out of 34 nodes with 0 partitions\nTraceback (most recent call last):\n",
        "TI's TIDL (TIDL)",
        "none",
        "exception",
    ),
    "a traceback before the error that it quotes": Case(
        'Traceback (most recent call last):\n  File "x/edgetpu.py", line 52, in load_edgetpu_delegate\n'
        "ValueError: Failed to load delegate from libedgetpu.so.1\n",
        "edgetpu",
        "not-created",
        "",
        "ValueError: Failed to load delegate from libedgetpu.so.1",
    ),
    "a traceback that is cut": Case('  File "x/edgetpu.py", line 52, in load_edgetpu_delegate\n', "edgetpu", "not-created"),
    "an application that uses the CPU instead": Case(
        "Replacing 130 out of 244 node(s) with delegate\n           (LITERT_OPENGL) node, yielding 2 partitions for subgraph 0.\n"
        "W Ocr: GPU init failed (LiteRtException(Failed to compile model)), falling back to CPU\n",
        "mldrift (LITERT_OPENGL)",
        "failed",
        "fell-back",
        "LiteRtException(Failed to compile model)",
    ),
    "a reason on the next line": Case(
        "E/native: Failed to create litert::ml_drift::DelegateKernelLiteRt:\nUNIMPLEMENTED: x is not implemented.\n",
        "mldrift",
        "failed",
        "",
        "Failed to create litert::ml_drift::DelegateKernelLiteRt: UNIMPLEMENTED: x is not implemented.",
    ),
    "another message on the next line": Case(
        "E/native: Failed to create litert::ml_drift::DelegateKernelLiteRt:\nI/native: hello\n",
        "mldrift",
        "failed",
        "",
        "Failed to create litert::ml_drift::DelegateKernelLiteRt:",
    ),
    "memory of a graphics processor": Case(
        f"sharedmem_gpumem_alloc: mmap failed errno 12 Out of memory\n{QNN}"
        "Failed to apply delegate: qnn_graph_finalize failed. Error 6022\n",
        "Qualcomm's QNN (QNN)",
        "failed",
        "",
        "Out of memory",
    ),
    "a DSP that cannot be reached": Case(
        "QnnDsp <E> createUnsignedPD unsigned PD not supported by HTP\nQnnDsp <E> Transport layer setup failed: 14001\n",
        "Qualcomm's QNN (QNN)",
        "failed",
        "",
        "createUnsignedPD",
    ),
    "a USB transfer before an abort": Case(
        "TPU found\nF :1150] HandleQueuedBulkIn transfer in failed. Not found: USB transfer error 5\n"
        "Fatal Python error: Aborted\n",
        "edgetpu",
        "created",
        "crashed",
        "HandleQueuedBulkIn transfer in failed.",
    ),
    "an Edge TPU that cannot be opened": Case(
        "I tflite/edgetpu_context_direct.cc:401] Failed to open device [Apex (PCIe)] at [/dev/apex_0]: x\n",
        "edgetpu",
        "not-created",
        "",
        "/dev/apex_0",
    ),
    "nodes on the CPU that cannot be prepared": Case(
        "Following operations are not supported by GPU delegate:\nMEAN: Operation is not supported.\n"
        "160 operations will run on the GPU, and the remaining 7 operations will run on the CPU.\n"
        "tensorflow/lite/kernels/conv.cc:272 bias->type != input_type (10 != 1)\nNode number 2 (CONV_2D) failed to prepare.\n",
        "gpu",
        "part",
        "not-run",
        "bias->type",
    ),
    "a check that failed before an abort": Case(
        "Info: ArmNN v30.0.0\nPVR:(Fatal): Debug assertion failed! (count > 0)\nAborted\n",
        "Arm NN (ArmNN v30.0.0)",
        "crashed",
        "",
        "count > 0",
    ),
    "an Ethos-U that stops": Case(
        "W: IRQ received but qread (4) not at end of stream (3988).\nNode ethos-u (number 0) failed to invoke with status 1\n",
        "Ethos-U (Arm Ethos-U)",
        "applied",
        "",
        "qread (4)",
    ),
    "Core ML's runtime": Case(
        "[espresso] [Espresso::ANERuntimeEngine::__forward_segment 0] evaluate returned 0; code=5\n",
        "Core ML's runtime (espresso)",
        "applied",
        "",
        "code=5",
    ),
    "counts without partitions": Case(
        "TfLiteFlexDelegate delegate: 5 nodes delegated out of 105 nodes\n",
        "Flex, which runs TensorFlow's operators (TfLiteFlexDelegate)",
        "part",
    ),
    "a delegate from any library": Case(
        "Neuron stable delegate version: 1.4.3\nSTABLE_DELEGATE delegate created.\n"
        "Explicitly applied STABLE_DELEGATE delegate, and the model graph will be completely executed by the delegate.\n",
        "MediaTek's Neuron (Neuron stable delegate version: 1.4.3)",
        "whole",
    ),
    "a delegate of any name": Case(
        "Explicitly applied FOO delegate, and the model graph will be partially executed by the delegate w/ 3 "
        "delegate kernels.\n",
        "FOO",
        "part",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_log_says(name):
    case = CASES[name]
    found = summary(case.text)
    assert (found.delegate.title, found.delegate.outcome, found.end) == (case.title, case.outcome, case.end)
    assert case.cause in found.cause
    assert bool(found.cause) == bool(case.cause)
    assert found.others == ()


@pytest.mark.parametrize("nodes", [13, 40])
def test_two_interpreters_are_two_runs(nodes):
    """After a delegate took the whole graph in one partition, only one node is left."""
    text = (
        "Replacing 13 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 1 partitions.\nCreated 1 GPU delegate kernels.\n"
        f"Replacing {nodes} node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 3 partitions.\n"
    )
    assert len(separate_runs(read_runs(text.splitlines(keepends=True)))) == 2


def test_kernels_of_a_delegate_that_prints_only_its_own_counts():
    found = summary(
        "TfLiteQnnDelegate delegate: 11 nodes delegated out of 3504 nodes with 7 partitions.\n"
        "Replacing 3145 out of 3500 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 5 partitions.\n"
    )
    (other,) = found.others
    assert [count.on_cpu for count in other.counts] == [348]


def test_devices_and_times_that_a_log_names():
    log = read_log("NNAPI accelerators available: [vsi-npu,nnapi-reference]\n")
    assert log.available_devices == ("vsi-npu", "nnapi-reference")
    notes = explained_notes(read_log("teflon: invoked graph, took 43 ms\nteflon: invoked graph, took 1 ms\n"))
    assert [meaning for _, meaning in notes] == ["2 graphs invoked, in 44 ms in all"]


def test_pythons_logging_says_how_severe_a_line_is():
    found = summary(f"2024-04-29 07:50:25,581 - uvicorn.error - INFO - Started\n{METAL}Failed to create the interpreter.\n")
    assert [error.line for error in found.errors] == ["Failed to create the interpreter."]


@pytest.mark.parametrize(
    ("text", "is_cut"),
    [(METAL, True), (f"{METAL}one image in 127 ms\n", False), ("Initialized TensorFlow Lite runtime.\n", True)],
)
def test_only_a_log_that_ends_among_the_runtimes_lines_is_cut(text, is_cut):
    assert summary(text).is_cut is is_cut


def test_a_plan_before_the_delegate_tries_its_next_interface():
    whole = "Replacing 9 out of 9 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 1 partitions for the whole graph.\n"
    found = summary(f"{GPU}{whole}ERROR: {NO_OPENCL}")
    assert (found.delegate.outcome, found.delegate.is_planned, found.cause) == ("whole", True, "")


def test_operators_that_the_compiler_of_the_ethos_u_leaves():
    refusal = "Warning: {} 'x' is not supported on the NPU. Placing on CPU instead\n"
    found = summary(
        f"{refusal.format('PACK')} - Tensors must not be dynamic\n   Op has dynamic tensor(s): y\n{refusal.format('EXP')}"
        "Warning: Unsupported TensorFlow Lite semantics for ADD 'x'. Placing on CPU instead\n - Must be constant\n"
    )
    assert found.refusals == (
        ("PACK", "Tensors must not be dynamic", 1),
        ("EXP", "not supported on the NPU", 1),
        ("ADD", "Must be constant", 1),
    )


def test_a_chip_in_the_name_of_a_model_is_not_the_device():
    assert read_log("./litert_lm_main --backend=cpu --model_path=/x/A.qualcomm.sm8750.litertlm\n").chips == {}


def test_the_interface_in_the_name_of_an_accelerator():
    log = read_log("INFO: [registry.cc:54] RegisterAccelerator: ptr=0x1, name=GPU WebGPU\n")
    assert registered_interfaces(log) == ("WebGPU",)
