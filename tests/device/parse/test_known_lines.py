"""Lines as releases from TensorFlow 1.13 to LiteRT 2.3, vendors and tools word them, and what they say by themselves."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from delegate_sim.device.parse.applied_target import setting_of
from delegate_sim.device.parse.log import read_log, read_runs
from tests.support.device.logs import summary


class Case(NamedTuple):
    """A log, and what it says."""

    text: str
    delegate: str
    outcome: str
    title: str = ""
    counts: tuple[tuple[str, int | None, int | None], ...] = ()
    """Whose count it is, nodes delegated, nodes in all."""
    errors: tuple[str, ...] = ()
    words: str = ""
    """The parts of the meaning of an error."""
    refused: tuple[str, ...] = ()


CASES = {
    "the first GPU delegate": Case(
        "    java.lang.IllegalArgumentException: Internal error: Failed to apply delegate: GpuDelegate Prepare: "
        "Shader compilation "
        "failed: ERROR: 0:6: 'unknown' : not supported\n    Node number 31 (TfLiteGpuDelegate) failed to prepare.\n",
        "gpu",
        "failed",
        errors=("preparation-error", "node-error"),
        words="at most 31",
    ),
    "a count that begins with First": Case(
        "E/tflite: Next operations are not supported by GPU delegate:\n    SPLIT: Operation is not supported.\n"
        "    First 0 operations will run on the GPU, and the remaining 64 on the CPU.\n",
        "gpu",
        "none",
        counts=(("split", 0, 64),),
        refused=("SPLIT",),
    ),
    "Apple's GPU delegate": Case(
        "INFO: Created TensorFlow Lite delegate for Metal.\n"
        "INFO: Replacing 112 node(s) with delegate (TfLiteMetalDelegate) node, yielding 1 partitions.\n",
        "gpu",
        "whole",
        title="TfLiteMetalDelegate",
        counts=(("replacement", 112, None),),
    ),
    "Apple's GPU delegate, created alone": Case("Created TensorFlow Lite delegate for Metal.\n", "gpu", "created"),
    "a program that Metal does not compile": Case(
        "ERROR: TfLiteMetalDelegate Prepare: newLibraryWithSource: program_source:92:51: error: unknown type name 'a'\n"
        "    MMA(a, b);\n        ^\nprogram_source:94:9: error: use of undeclared identifier 'c'\n        ^\n"
        "ERROR: Node number 31 (TfLiteMetalDelegate) failed to prepare.\n",
        "gpu",
        "failed",
        errors=("preparation-error", "program-error", "node-error"),
        words="Metal could not compile a program that TfLiteMetalDelegate generated",
    ),
    "programs that Metal does not compile, alone": Case(
        "program_source:93:51: error: use of undeclared identifier 'a'\nprogram_source:94:9: error: use of undeclared 'c'\n",
        "",
        "unknown",
        errors=("program-error",),
        words="Metal's compiler does not accept a program",
    ),
    "Micro without a custom operator": Case(
        "Failed to get registration from op code CUSTOM\nAllocateTensors() failed\n",
        "",
        "not-loaded",
        errors=("other-error", "load-error"),
        words="lacks a custom operator of the model",
    ),
    "a tensor that TIM-VX does not create": Case(
        "Vx delegate: error_during_init set to 0.\nE [Init:380]Create tensor fail!\nSegmentation fault\n",
        "vx",
        "created",
        errors=("vendor-error", "crash"),
        words="could not create a tensor",
    ),
    "ML Drift's Metal": Case(
        "INFO: Replacing 5 out of 5 node(s) with delegate (LITERT_METAL) node, yielding 1 partitions for subgraph 0.\n",
        "mldrift",
        "whole",
        title="LITERT_METAL",
        counts=(("replacement", 5, 5),),
    ),
    "refusals of LiteRT 2's GPU": Case(
        "INFO: [auto_registration.cc:270] GPU accelerator registered.\n"
        "ERROR: Following operations are not supported by GPU delegate:\nGATHER_ND: Operation is not supported.\n"
        "10 operations will run on the GPU, and the remaining 5 operations will run on the CPU.\n",
        "mldrift",
        "part",
        counts=(("split", 10, 15),),
        refused=("GATHER_ND",),
    ),
    "Hexagon without its libraries": Case(
        "Use Hexagon: [1]\nINFO: Hexagon Delegate is not supported.\n\nCould not create Hexagon delegate: platform "
        "may not support "
        "delegate or required libraries are missing\n",
        "hexagon",
        "not-created",
        errors=("not-created", "not-created"),
        words="not available on this device",
    ),
    "a Hexagon kernel by the delegate's own count": Case(
        "INFO: TfLiteHexagonDelegate delegate: 70 nodes delegated out of 77 nodes with 4 partitions.\n"
        "ERROR: Node number 79 (TfLiteHexagonDelegate) failed to prepare.\n",
        "hexagon",
        "failed",
        counts=(("own", 70, 77),),
        errors=("node-error",),
        words="kernel 3",
    ),
    "an old GPU delegate that fails while it runs with OpenGL": Case(
        "Internal error: Failed to run on the given Interpreter: OpenCL library not loaded - dlopen failed: library "
        '"libOpenCL-pixel.so" not found\nFalling back to OpenGL\n'
        "TfLiteGpuDelegate Invoke: Write to buffer failed. Source data is larger than buffer.\n"
        "Node number 51 (TfLiteGpuDelegateV2) failed to invoke.\n",
        "gpu",
        "applied",
        errors=("other-error", "other-error", "preparation-error", "node-error"),
        words="failed in Invoke",
    ),
    "MediaPipe, which cannot apply the GPU delegate": Case(
        'Calculator::Open() for node "inference" failed: ; RET_CHECK failure '
        "(mediapipe/calculators/tensor/inference_calculator_gl.cc:195) "
        "(interpreter_->ModifyGraphWithDelegate(delegate_.get()))==(kTfLiteOk)\n",
        "gpu",
        "failed",
        errors=("other-error",),
        words="could not apply the GPU delegate",
    ),
    "a count of an old Hexagon delegate": Case(
        "I/tflite: Hexagon delegate: 95 nodes delegated out of 96 nodes.\n", "hexagon", "part", counts=(("own", 95, 96),)
    ),
    "Flex in several subgraphs": Case(
        "INFO: TfLiteFlexDelegate delegate: 15 nodes delegated out of 188 nodes with 2 partitions.\n"
        "INFO: TfLiteFlexDelegate delegate: 0 nodes delegated out of 3 nodes with 0 partitions.\n",
        "",
        "part",
        title="TfLiteFlexDelegate",
        counts=(("own", 15, 188), ("own", 0, 3)),
    ),
    "a CPU kernel in a loop that fails while the model runs": Case(
        "RuntimeError: tensorflow/lite/kernels/reshape.cc:66 num_input_elements != num_output_elements (0 != 144)"
        "Node number 5 (RESHAPE) failed to prepare.\nNode number 2840 (WHILE) failed to invoke.\n",
        "",
        "unknown",
        errors=("other-error", "node-error", "node-error"),
    ),
    "an exception of which all lines are in one": Case(
        "Internal error: Failed to apply delegate: Can not open OpenCL library on this device - dlopen failed: library "
        '"libOpenCL.so" not found Falling back to OpenGL TfLiteGpuDelegate Init: No shader implementation for transpose '
        "TfLiteGpuDelegate Prepare: delegate is not initialized Node number 390 (TfLiteGpuDelegateV2) failed to prepare. "
        "Restored original execution plan after delegate application failure.\n",
        "gpu",
        "failed",
        errors=("other-error", "other-error", "preparation-error", "preparation-error", "node-error"),
        words="at most 390",
    ),
    "an Edge TPU's library that Python cannot load": Case(
        'Traceback (most recent call last):\n  File "/a/pycoral/utils/edgetpu.py", line 52, in load_edgetpu_delegate\n',
        "edgetpu",
        "not-created",
        errors=("library-error",),
        words="libedgetpu is missing",
    ),
    "a node of an Edge TPU in a line that is cut": Case(
        "RuntimeError: Internal: Unsupported data type: 0Node number 1 (EdgeTpuDelegateForCust\n",
        "edgetpu",
        "failed",
        errors=("other-error",),
        words="memory layouts",
    ),
    "a network that Arm NN has built": Case(
        "INFO: TfLiteArmnnDelegate: Created TfLite ArmNN delegate.\nInfo: ArmnnSubgraph creation\n"
        "Info: Overall ArmnnSubgraph creation time: 13.88 ms\n",
        "armnn",
        "applied",
    ),
    "the first NNAPI delegate, which ends the process": Case(
        "Aborting since NNAPI returned failure nnapi_delegate.cc:1070\n",
        "nnapi",
        "failed",
        errors=("kernel-error",),
        words="does not name the call",
    ),
    "a driver of an Ethos-U without a delegate": Case(
        "E: Failed to initialize Ethos-U device (ethosu_driver.c:418)\n",
        "",
        "unknown",
        errors=("vendor-error",),
        words="could not start the Ethos-U",
    ),
    "a library of VeriSilicon under another runtime": Case(
        "E [vsi_nn_VerifyGraph:795]vsi_nn_VerifyGraph return with ret = -1\n"
        "Tengine Fatal: Pre-run subgraph(0) on TIMVX failed.\n",
        "",
        "unknown",
        errors=("vendor-error",),
        words="does not show whether",
    ),
    "a log that is cut within the line about an applied delegate": Case(
        "I/tflite: Though NNAPI delegate is explicitly applied, the model graph will no\n",
        "nnapi",
        "none",
        counts=(("application", None, None),),
    ),
    "a USB error of an Edge TPU": Case(
        "I driver/usb/local_usb_device.cc:60] ConvertLibUsbError: USB error -99 [OpenDevice]\n",
        "edgetpu",
        "unknown",
        errors=("vendor-error",),
        words="-99 from OpenDevice",
    ),
    "Core ML without a Neural Engine": Case(
        "2021-02-03 12:34:56.789012+0900 App[1:2] This device does not have Neural Engine, so Core ML delegate will not be "
        "enabled. If you want to run Core ML delegate anyway, set enabled_devices to TfLiteCoreMlDelegateAllDevices.\n"
        "INFO: COREML delegate created.\n",
        "coreml",
        "not-created",
        errors=("not-created",),
    ),
    "a library that is not there": Case(
        "ValueError: Failed to load delegate from libedgetpu.so.1\n",
        "edgetpu",
        "not-created",
        errors=("library-error",),
        words="created no delegate",
    ),
    "the Edge TPU's compiler": Case(
        "Number of operations that will run on Edge TPU: 64\nNumber of operations that will run on CPU: 2\n"
        "CONV_2D                        36         Mapped to Edge TPU\n"
        "QUANTIZE                       2          Operation is otherwise supported, but not mapped due to some unspecified "
        "limitation\n",
        "edgetpu",
        "compiled",
        counts=(("compiler", 64, 66),),
        refused=("QUANTIZE",),
    ),
    "a custom operator of the Edge TPU": Case(
        "RuntimeError: Encountered unresolved custom op: edgetpu-custom-op.Node number 0 (edgetpu-custom-op) failed "
        "to prepare.\n",
        "",
        "failed",
        title="Edge TPU",
        errors=("custom-error", "node-error"),
        words="needs Edge TPU",
    ),
    "Ethos-U": Case(
        "INFO: EXTERNAL delegate created.\nINFO: EthosuDelegate: 1 nodes delegated out of 3 nodes with 1 partitions.\n\n"
        "INFO: Explicitly applied EXTERNAL delegate, and the model graph will be partially executed by the delegate "
        "w/ 1 delegate "
        "kernels.\n",
        "ethosu-imx93",
        "part",
        counts=(("own", 1, 3), ("application", None, None)),
    ),
    "QNN, whole": Case(
        "INFO: External delegate path: [/data/local/tmp/libQnnTFLiteDelegate.so]\n"
        "INFO: TfLiteQnnDelegate delegate: 126 nodes delegated out of 126 nodes with 1 partitions.\n"
        "VERBOSE: Replacing 126 out of 126 node(s) with delegate (TfLiteQnnDelegate) node, yielding 1 partitions for "
        "subgraph 0.\n",
        "",
        "whole",
        title="QNN",
        counts=(("own", 126, 126), ("replacement", 126, 126)),
    ),
    "Arm NN's fall-back": Case(
        "INFO: TfLiteArmnnDelegate: Created TfLite ArmNN delegate.\nWarning: WARNING: Layer of type Convolution2d is "
        "not supported "
        "on requested backend CpuAcc for input data type Float32 and output data type Float32 (reason: in validate_arguments), "
        "falling back to the next backend.\n",
        "armnn",
        "created",
        refused=("Convolution2d",),
    ),
    "operators of TensorFlow's own": Case(
        "RuntimeError: Regular TensorFlow ops are not supported by this interpreter. Make sure you apply/link the Flex delegate "
        "before inference.Node number 7 (FlexTensorListReserve) failed to prepare.\n",
        "",
        "not-created",
        title="Flex",
        errors=("flex-error", "node-error"),
        words="link the Flex delegate",
    ),
    "an operator that is too new": Case(
        "ValueError: Didn't find op for builtin opcode 'FULLY_CONNECTED' version '12'. An older version of this builtin might be "
        "supported. Are you using an old TFLite binary with a newer model?\nRegistration failed.\n",
        "",
        "not-loaded",
        errors=("builtin-error", "plain-error"),
        words="older than the model",
    ),
    "a benchmark that ends at a CPU kernel": Case(
        "ERROR: Node number 24 (CONCATENATION) failed to prepare.\nFailed to allocate tensors!\nBenchmarking failed.\n",
        "",
        "not-loaded",
        errors=("node-error", "load-error", "benchmark-failed"),
    ),
    "a kernel that fails while the model runs": Case(
        "E/tflite: Node number 5 (TfLiteGpuDelegateV2) failed to invoke.\n",
        "gpu",
        "applied",
        errors=("node-error",),
        words="it failed when it ran",
    ),
    "the hint of full delegation alone": Case(
        "Hint fully delegated to single delegate is set, but the graph is not fully delegated.\n",
        "mldrift",
        "failed",
        errors=("hint-error",),
        words="nothing is delegated",
    ),
    "a code that the first GPU delegate refuses": Case(
        "Internal error: Failed to apply delegate: WARNING: op code #43 cannot be handled by this delegate.  Only the first 3 "
        "ops will run on the GPU, and the remaining 70 on the CPU.\n",
        "gpu",
        "failed",
        counts=(("split", 3, 73),),
        refused=("SQUEEZE",),
    ),
    "QNN without its DSP": Case(
        "ERROR: [QNN Delegate] Failed to create device_handle for Backend ID 6, error=14001\n"
        "ERROR: Restored original execution plan after delegate application failure.\n",
        "",
        "failed",
        title="QNN",
        errors=("vendor-error",),
        words="cannot reach the DSP",
    ),
    "the parser of Arm NN": Case(
        "Error: Operator not supported. subgraph:0 operator:5 opcode_index:3 opcode:32 / CUSTOM :0 / : at function "
        "ParseUnsupportedOperator\n",
        "",
        "not-loaded",
        title="Arm NN",
        refused=("CUSTOM",),
    ),
    "an Edge TPU that was disconnected": Case(
        "RuntimeError: Failed to execute request. Could not read output.Node number 1 (EdgeTpuDelegateForCustomOp) failed to "
        "invoke.\n",
        "edgetpu",
        "applied",
        errors=("other-error", "node-error"),
        words="disconnected",
    ),
    "Mesa's Teflon": Case(
        "  0 CONV     v1  supported   in: 1(u8)\n  1 SOFTMAX  v1  unsupported in: 2(u8)\n"
        "teflon: compiling graph: 9 tensors 1 operations\n",
        "teflon",
        "part",
        counts=(("own", 1, 2),),
        refused=("SOFTMAX",),
    ),
    "a check of a CPU kernel": Case(
        "RuntimeError: tensorflow/lite/kernels/conv.cc:343 input->dims->data[3] != filter->dims->data[3] (3 != 1)Node number 0 "
        "(CONV_2D) failed to prepare.\n",
        "",
        "not-loaded",
        errors=("other-error", "node-error"),
    ),
    "what XNNPACK says in the same line": Case(
        "VERBOSE: Replacing 100 out of 120 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 9 partitions "
        "for subgraph "
        "0.\nERROR: failed to create XNNPACK runtimeNode number 121 (TfLiteXNNPackDelegate) failed to prepare.\n",
        "xnnpack",
        "failed",
        counts=(("replacement", 100, 120),),
        errors=("other-error", "node-error"),
        words="kernel 2",
    ),
    "NNAPI before names of codes": Case(
        "E/tflite: NN API returned error (4, line 870).\n", "nnapi", "failed", errors=("api-error",), words="BAD_DATA"
    ),
    "NNAPI and scalars": Case(
        "E/tflite: NNAPI doesn't support tensors with rank 0 (index 321 name a/b)\n"
        "E/tflite: Returning error since TFLite returned failure nnapi_delegate.cc:735.\n"
        "E/tflite: Failed to build graph for NNAPI\n",
        "nnapi",
        "failed",
        errors=("kernel-error", "kernel-error", "kernel-error"),
    ),
    "an operation that no device takes": Case(
        "I ExecutionPlan: Device dsp can't do operation RESIZE_BILINEAR:0\n"
        "E ExecutionPlan: No driver can do operation RESIZE_BILINEAR\n"
        "E tflite  : NN API returned error ANEURALNETWORKS_BAD_DATA at line 4131 while completing NNAPI compilation.\n",
        "nnapi",
        "failed",
        errors=("runtime-error", "api-error"),
        words="none of the chosen devices",
    ),
    "MediaTek's Neuron": Case(
        "I tflite  : TfLiteNeuronDelegate delegate: 60 nodes delegated out of 64 nodes with 3 partitions.\n",
        "",
        "part",
        title="Neuron",
        counts=(("own", 60, 64),),
    ),
    "a delegate that nothing is known of": Case(
        "I tflite  : Replacing 60 out of 66 node(s) with delegate (TfLiteEnnDelegate) node, yielding 3 partitions for the whole "
        "graph.\n",
        "",
        "part",
        title="TfLiteEnnDelegate",
        counts=(("replacement", 60, 66),),
    ),
}


def test_a_delegate_that_failed_and_was_applied_later():
    text = (
        "Failed to apply GPU delegate.\nINFO: Created TensorFlow Lite delegate for NNAPI.\n"
        "Explicitly applied NNAPI delegate, and the model graph will be completely executed by the delegate.\n"
    )
    found = summary(text)
    assert (found.delegate.name, found.delegate.outcome) == ("gpu", "failed")
    assert [(other.name, other.outcome) for other in found.others] == [("nnapi", "whole")]


NOISE = (
    "<h1>It does not work</h1>\nHello, I tried this:\n\n",
    "\n\n**bob** commented\nWith --use_gpu=false it is fast. Any idea?\n",
)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("noise", [("", ""), NOISE], ids=["alone", "in a page"])
def test_what_the_lines_say(name, noise):
    case = CASES[name]
    found = summary(noise[0] + case.text + noise[1])
    assert (found.delegate.name, found.delegate.outcome) == (case.delegate, case.outcome)
    assert case.title in found.delegate.title
    assert tuple((each.source, each.delegated, each.total) for each in found.delegate.counts) == case.counts
    assert tuple(error.kind for error in found.errors) == case.errors
    assert any(case.words in error.meaning for error in found.errors) or not case.words
    assert tuple(op for op, _, _ in found.refusals) == case.refused


@pytest.mark.parametrize(
    ("line", "option", "value"),
    [
        (
            "Replacing 1 out of 1 node(s) with delegate (LITERT_WEBGPU) node, yielding 1 partitions for subgraph 0.",
            "backend",
            "webgpu",
        ),
        (
            "Replacing 1 out of 1 node(s) with delegate (LITERT_METAL) node, yielding 1 partitions for subgraph 0.",
            "backend",
            "metal",
        ),
        ("Created TensorFlow Lite delegate for GPU.\nInitialized OpenGL-based API.", "backend", "opengl"),
        ("Created TensorFlow Lite delegate for GPU.\nFalling back to OpenGL", "backend", "opengl"),
    ],
)
def test_kernels_and_interfaces_tell_options(line, option, value):
    setting = setting_of(read_log("".join(f"INFO: {each}\n" for each in line.split("\n"))))
    assert (setting.options[option], option in setting.known) == (value, True)


@pytest.mark.parametrize(
    ("line", "kind", "values"),
    [
        ("WARNING: PAD: not supported by armnn: in IsPadSupported", "operator-refused", {"op": "PAD", "name": "armnn"}),
        ("INFO: TfLiteArmnnDelegate: Requested unknown backend GpuAcc", "noted", {"backend": "GpuAcc"}),
        ("hexagon/ops/src/op_add.c:12:node 3: bad input count 6", "vendor-error", {"why": "node 3: bad input count 6"}),
        ("INFO: Created 2 GPU delegate kernels.", "kernels", {"count": "2", "name": "GPU"}),
        (
            "ERROR: Operator FULLY_CONNECTED is not supported by armnn_delegate.",
            "operator-refused",
            {"op": "FULLY_CONNECTED", "name": "armnn"},
        ),
        (
            "ERROR: Incompatible Neuron SDK major version: bytecode compiled with 8.2.30, but runtime is 9.2.0",
            "other-error",
            {"compiled": "8.2.30", "found": "9.2.0", "major": "9"},
        ),
        (
            "L0 pfnCreate2 result: ZE_RESULT_ERROR_INVALID_NATIVE_BINARY - Incorrect arch. Expected: VPUX37XX vs received: "
            "VPUX40XX",
            "vendor-error",
            {"found": "VPUX37XX", "compiled": "VPUX40XX"},
        ),
        ("E/tflite: Calling prepare multiple times", "other-error", {"name": "Hexagon"}),
        ("ERROR: TfLiteGpuDelegate Init: OpenGL-based API disabled", "preparation-error", {"stage": "Init"}),
        ("ERROR: TfLiteGpuDelegate Init: fuse_auto_input failed", "preparation-error", {"what": "fuse_auto_input"}),
        ("E/tflite: OpenCL library not loaded - dlopen failed: library x not found", "other-error", {}),
        ("ERROR: x/util.cc BytesRequired number of elements overflowed.", "other-error", {}),
        ("Warning in XNNPACK: unable to enable JIT: not compiled with JIT enabled", "noted", {}),
        (
            "RuntimeError: Select TensorFlow op(s), included in the given model, is(are) not supported by this interpreter. Make "
            'sure you apply/link the Flex delegate before inference. For the Android, it can be resolved by adding "org.x:y" '
            "dependency. See instructions: https://example.org/ops_selectNode number 34 (FlexErf) failed to prepare.",
            "flex-error",
            {},
        ),
        ("[a.cc:1] You should provide the `DispatchLibraryDir` option to use NPU.", "not-registered", {"name": "NPU"}),
        ("E0501 10:00:00.123456 9 dispatch.cc:9] [b.cc:1] Failed to create a dispatch delegate kernel", "failure", {}),
        ("E20240501 12:00:00.123456  123 graph.cc:456] INTERNAL: Run() failed", "other-error", {}),
        ("check:7: failed assertion `Compute Function(f): argument params[0] has a length(64).'", "crash", {}),
        (
            "Arena size is too small for all buffers. Needed 21206 but only 19112 was available.",
            "other-error",
            {"needed": "21206", "found": "19112"},
        ),
        ("W0000 00:00:1779377946.63 2260 sampler.cc:3] OpenCL sampler not available, falling back to other options", "noted", {}),
        ("I0000 00:00:1779377946.63 2260 task.cc:8] GPU suport is not available: INTERNAL: no display", "noted", {}),
        (
            "E/AndroidRuntime: java.lang.NoClassDefFoundError: Failed resolution of: Lorg/tensorflow/lite/gpu/GpuDelegate;",
            "library-error",
            {"name": "GPU"},
        ),
        (
            "Invalid argument(s): Failed to lookup symbol (dlsym(RTLD_DEFAULT, TFLGpuDelegateCreate): symbol not found)",
            "library-error",
            {"name": "GPU"},
        ),
        (
            "F :859] transfer on tag 1 failed. Abort. Deadline exceeded: USB transfer error 2 [LibUsbDataOutCallback]",
            "vendor-error",
            {"name": "edgetpu"},
        ),
        (
            "F20220715 11:31:30.963634 9 utils.h:236] Check failed: 'GetEdgeTpuContext(type, index, options)' Must be non NULL",
            "library-error",
            {"name": "edgetpu"},
        ),
        (
            "E/flutter: java.lang.NoClassDefFoundError: Failed resolution of: Lorg/tensorflow/lite/experimental/GpuDelegate;",
            "library-error",
            {"name": "GPU"},
        ),
        (
            "E/AndroidRuntime: java.lang.NoClassDefFoundError: Failed resolution of: Lorg/tensorflow/lite/HexagonDelegate;",
            "library-error",
            {"name": "Hexagon"},
        ),
        (
            "E/AndroidRuntime: java.lang.NoClassDefFoundError: org/tensorflow/lite/nnapi/NnApiDelegate",
            "library-error",
            {"name": "NNAPI"},
        ),
        ("java.lang.NoClassDefFoundError: org/tensorflow/lite/flex/FlexDelegate", "library-error", {"name": "Flex"}),
        (
            'Failed to load libhexagon_interface.so, Error: dlopen failed: library "libadsprpc.so" not found: needed by x.so',
            "library-error",
            {"name": "Hexagon", "path": "libhexagon_interface.so"},
        ),
        (
            "TfLiteGpuDelegate Invoke: Delegate should run on the same thread where it was initialized.",
            "preparation-error",
            {"stage": "Invoke"},
        ),
        ("E [vsi_nn_VerifyGraph:795]vsi_nn_VerifyGraph return with ret = -1", "vendor-error", {}),
        ("ERROR   - E: Failed to switch security state and privilege level (ethosu_device_u55_u65.c:244)", "vendor-error", {}),
        ("E: Failed to initialize Ethos-U device (ethosu_driver.c:418)", "vendor-error", {}),
        ("[00:00:00.000,000] <err> ethos_u: Failed to initialize NPU with ethosu_init().", "vendor-error", {}),
        ("W: No NPU driver handle available.", "vendor-error", {}),
        ("Failed to create context from context binary: Unsupported context binary version.", "vendor-error", {}),
        ("Info: Overall ArmnnSubgraph creation time: 13.88 ms", "applied", {"name": "TfLiteArmnnDelegate"}),
        ("FAILED_PRECONDITION: Can not open OpenCL library on this device - undefined symbol: clX", "other-error", {}),
        ("RuntimeError: Aborted(). Build with -s ASSERTIONS=1 for more info.", "crash", {}),
        (
            "DllNotFoundException: Unable to load DLL 'libtensorflowlite_gpu_gl': not found",
            "library-error",
            {"path": "libtensorflowlite_gpu_gl"},
        ),
    ],
)
def test_more_lines_are_understood_and_used_up(line, kind, values):
    log = read_log(f"{line}\n")
    found = [each for each in log.statements if each.kind == kind]
    assert len(found) == 1
    assert values.items() <= found[0].values.items()
    assert log.unused_count == 0
    assert not any(each.kind == "other-error" for each in log.statements if each is not found[0])


def test_notes_with_different_meanings_are_all_kept():
    text = (
        'I/litert: Failed to load OpenCL library with dlopen: dlopen failed: library "libvndksupport.so" not found. Trying ICD '
        "loader.\nW/litert: a.cc:1] OpenCL not supported on this platform. Using WebGPU instead.\n"
        "INFO: Replacing 2 out of 2 node(s) with delegate (LITERT_WEBGPU) node, yielding 1 partitions for subgraph 0.\n"
    )
    notes = summary(text).to_dict()["notes"]
    assert [note["line"].split()[0] for note in notes] == ["Failed", "OpenCL"]
    assert all("libvndksupport.so" in note["meaning"] for note in notes)


def test_libraries_that_unity_looks_for_are_no_cause():
    text = (
        "E/Unity (16500): Unable to find libtensorflowlite_gpu_delegate\n"
        "E/Unity (16500): Exception: Failed to create TensorFlowLite Interpreter\n"
        "E/Unity (16500):   at TensorFlowLite.Interpreter..ctor (System.Byte[] data) [0x00000] in <0>:0\n"
    )
    found = summary(text)
    assert ([error.kind for error in found.errors], found.cause) == (["load-error"], found.errors[0].line)


def test_a_model_of_which_the_edge_tpu_compiler_maps_nothing():
    (count,) = summary(
        "Edge TPU Compiler version 16.0\nNumber of Edge TPU subgraphs: 0\nTotal number of operations: 268\n"
    ).delegate.counts
    assert (count.delegated, count.on_cpu) == (0, 268)


@pytest.mark.parametrize(
    ("text", "outcome", "nodes", "cause"),
    [
        (
            "Type INT32 (2) not supported.Node ADD (number 4) failed to invoke with status 1.Invoke failed.\n",
            "unknown",
            [4],
            "Type ",
        ),
        (
            "Hybrid models are not supported on TFLite Micro.\nNode FULLY_CONNECTED (number 12f) failed to prepare with status 1",
            "not-loaded",
            [12],
            "Hybrid ",
        ),
    ],
)
def test_operators_that_fail_in_tensorflow_lite_micro(text, outcome, nodes, cause):
    found = summary(text)
    assert found.delegate.outcome == outcome
    assert [error.node for error in found.errors if error.node is not None] == nodes
    assert found.cause.startswith(cause)


def test_a_kernel_that_failed_when_it_ran_was_created():
    text = (
        "Following operations are not supported by GPU delegate:\nCAST: Operation is not supported.\n8 operations will run on "
        "the GPU, and the remaining 1 operations will run on the CPU.\nNode number 9 (TfLiteGpuDelegateV2) failed to invoke.\n"
    )
    found = summary(text)
    assert (found.delegate.outcome, found.delegate.failed_running, found.delegate.is_planned) == ("part", True, False)
    assert not found.is_cut


def test_a_run_of_which_only_times_are_left_is_a_run():
    runs = read_runs(
        ["Average inference timings in us: Warmup: 7, Init: 9933, no stats: 66767.6\n", "STARTING!\n", "Graph: [a.tflite]\n"]
    )
    assert [run.times.init_ms for run in runs] == [9.933, None]
