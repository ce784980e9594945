"""Short logs: the outcome to the end, errors of any wording, runs by arithmetic, and lines behind any prefix."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from delegate_sim.device.parse.error_meanings import has_run
from delegate_sim.device.parse.log import read_log, read_runs, read_runs_file
from delegate_sim.device.parse.log_contents import LogError
from delegate_sim.device.parse.log_summary import summary_of
from tests.support.device.logs import summary

WHOLE = "Replacing 9 out of 9 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 1 partitions for the whole graph.\n"
MADE = "Created TensorFlow Lite XNNPACK delegate for CPU.\n"
NOT_LOADED = "WARNING: [plugin.cc:1] Failed to load plugin at: /x/libLiteRtCompilerPlugin_IntelOpenvino.so with error: x\n"
REVERTED = (
    f"{MADE}Calling prepare multiple times\nNode number 9 (TfLiteGpuDelegateV2) failed to prepare.\n"
    "Error in applying the default TensorFlow Lite delegate indexed at 0, and all previously applied delegates are reverted.\n"
)
LIST = (
    "Following operations are not supported by GPU delegate:\nCAST: Not supported Cast case.\n"
    "GATHER_ND: Operation is not supported.\n"
    "4 operations will run on the GPU, and the remaining 5 operations will run on the CPU.\n"
)
NO_DIRECTORY = "[dispatch_accelerator.cc:9] Dispatch library directory is not set.\nWARNING: [auto_registration.cc:9] "


class Case(NamedTuple):
    """A log, and what it says."""

    text: str
    delegate: str
    outcome: str
    end: str = ""
    cause: str = ""
    errors: tuple[str, ...] = ()


CASES = {
    "a signal after the graph was delegated": Case(
        f"{WHOLE}F/libc (7): Fatal signal 11 (SIGSEGV), code 1 in tid 7\n", "gpu", "whole", "crashed", errors=("crash",)
    ),
    "a debugger's word for a crash": Case(
        f"{WHOLE}stop reason = EXC_BAD_ACCESS (code=1)\n", "gpu", "whole", "crashed", "", ("crash",)
    ),
    "the frames of a crash": Case("#00 pc 0x12732c libX.so\n#01 pc 0x280276 libX.so\n", "", "crashed", errors=("crash",)),
    "a failed assertion": Case(
        "INFO: Vx delegate: device num set to 0.\nx: y.cc:1: f(): Assertion `false' failed.\n",
        "vx",
        "created",
        "crashed",
        "",
        ("crash",),
    ),
    "tensors that cannot be allocated after the graph was delegated": Case(
        f"{WHOLE}Failed to allocate tensors!\n", "gpu", "whole", "not-run", "Failed to allocate tensors!", ("load-error",)
    ),
    "an interpreter that a delegate prevents": Case(
        "Created TensorFlow Lite delegate for Metal.\nFailed to create the interpreter.\n",
        "gpu",
        "failed",
        "",
        "Failed to create the interpreter.",
        ("load-error",),
    ),
    "a reason above a kernel's failure": Case(
        "fail to create job - internal fault code=442\nNode number 3 (NeutronDelegate) failed to invoke.\n",
        "neutron-imx95",
        "applied",
        "",
        "code=442",
        ("other-error", "node-error"),
    ),
    "a warning is no cause": Case(
        f"{NOT_LOADED}E0000 00:00:1.5 1 d.cc:1] Failed to create litert::ml_drift::DelegateKernelLiteRt: INTERNAL: x\n",
        "mldrift",
        "failed",
        "",
        "Failed to create litert::ml_drift",
        ("preparation-error",),
    ),
    "an error that is shown, but is no cause": Case(
        "Created a WebGPU environment.\nFailed to create OpenCL context.\nSegmentation fault\n",
        "mldrift",
        "crashed",
        "",
        "",
        ("crash", "unsure-error"),
    ),
    "nothing but an error": Case("E/native: Something could not be opened\n", "", "unknown", errors=("plain-error",)),
    "an operator's failed check": Case(
        "tensorflow/x/arena.cc:82 it->size != alloc.size (52 != 0)\nFailed to allocate tensors.\n",
        "",
        "not-loaded",
        "",
        "(52 != 0)",
        ("other-error", "load-error"),
    ),
    "a library that a program cannot load": Case(
        "ValueError: could not load library libvx_tidl_rt.so\n", "", "not-created", "", "libvx_tidl_rt.so", ("library-error",)
    ),
    "NNAPI's library, although NNAPI is switched off": Case(
        "Use nnapi : [0]\nnnapi error: unable to open library libneuralnetworks.so\nAverage inference timings in us: Warmup: 9\n",
        "",
        "not-shown",
    ),
    "times without a beginning": Case("INFO: [b.h:9] Inference (avg):      7430.20 ms (10 runs)\n", "", "unknown"),
    "TI's delegate": Case("Number of subgraphs:1 , 11 nodes delegated out of 12 nodes\n", "", "part"),
    "a session that the engine cannot create": Case(
        "failed to initialize session: no OpenCL\n", "", "not-loaded", "", "no OpenCL", ("load-error",)
    ),
    "an Edge TPU that a program opened": Case("frigate.edgetpu INFO : TPU found\n", "edgetpu", "created"),
    "Core ML's compiler": Case(
        "Error compiling model compiler error: x\n", "coreml", "failed", "", "compiler error", ("preparation-error",)
    ),
    "a driver's service that crashed": Case(
        "01-01 10:00:00.000  7  7 A libc : Fatal signal 11 (SIGSEGV), code 1\n"
        "01-01 10:00:00.000  9  9 A DEBUG : pid: 7  >>> /vendor/bin/android.hardware.neuralnetworks@1.1-service-x <<<\n",
        "nnapi",
        "crashed",
        "",
        "",
        ("crash",),
    ),
    "an error of the Edge TPU's interface": Case(
        "E :9] HIB Error. hib_error_status = 1\n", "edgetpu", "applied", cause="HIB Error", errors=("vendor-error",)
    ),
    "the first lines of the Edge TPU's library": Case("I tflite/edgetpu_context_direct.cc:9] USB: False\n", "edgetpu", "unknown"),
    "the source text in a traceback": Case(
        "    raise ValueError('Failed to load delegate from {}'.format(\nValueError: Failed to load delegate from edgetpu.dll\n",
        "edgetpu",
        "not-created",
        "",
        "edgetpu.dll",
        ("library-error",),
    ),
    "a reason in the exception before OpenGL is tried": Case(
        "x.Exception: Internal error: Failed to apply delegate: No selector\n    Falling back to OpenGL\n"
        "    TfLiteGpuDelegate Init: Batch size != 1\n    Node number 9 (TfLiteGpuDelegateV2) failed to prepare.\n",
        "gpu",
        "failed",
        "",
        "Batch size",
        ("other-error", "other-error", "preparation-error", "node-error"),
    ),
    "a driver that the system denies a file": Case(
        "E/Manager: getSupportedOperations_1_2 failure: x\n"
        "E/audit: avc:  denied  { read } for  pid=9 scontext=u:r:hal_neuralnetworks_x:s0\n",
        "nnapi",
        "unknown",
        errors=("runtime-error", "runtime-error"),
    ),
    "a library that the DSP lacks": Case(
        "adsprpc/src/x.c:9: Error f: remote handle64 open failed. name file:///libhexagon_nn_skel_v65.so?x\n",
        "hexagon",
        "not-created",
        "",
        "skel_v65",
        ("library-error",),
    ),
    "an arena that is too small": Case(
        "Failed to resize buffer. Requested: 9, available 7, missing: 2\nAllocateTensors() failed\n"
        "[1]    99 segmentation fault (core dumped)  bin/x\n",
        "",
        "not-loaded",
        "crashed",
        "missing: 2",
        ("other-error", "load-error", "crash"),
    ),
    "WebGPU without a device": Case(
        "E0000 00:00:1.5 1 w.cc:1] Failed to initialize WebGPU environment: INTERNAL: x\n",
        "mldrift",
        "failed",
        "",
        "WebGPU environment",
        ("api-error",),
    ),
    "a backend that a command of LiteRT-LM requests": Case("litert-lm run x.litertlm --backend=gpu\n", "mldrift", "requested"),
    "an inference that takes too long": Case(
        "RuntimeError: ABORTED: The timeout was reached while reading back data.\n",
        "mldrift",
        "applied",
        "",
        "reading back data",
        ("other-error",),
    ),
    "a second application that the runtime leaves out": Case(
        "INFO: Applied XNNPACK delegate.\nERROR: ModifyGraphWithDelegate is disallowed when graph is immutable.\n"
        "ERROR: Ignoring failed application of the default TensorFlow Lite delegate indexed at 0.\n",
        "xnnpack",
        "applied",
    ),
    "a default that does not fit the runtime": Case(
        f"{MADE}INFO: Failed to apply the default TensorFlow Lite delegate indexed at 0 because of x. Ignoring the error\n",
        "xnnpack",
        "failed",
    ),
    "the frames of a traceback": Case(
        "E/flutter (9): Unhandled Exception: Unable to create interpreter.\nE/flutter (9): #0      f (package:a:4:5)\n"
        "E/flutter (9): <asynchronous suspension>\n",
        "",
        "not-loaded",
        "",
        "Unable to create interpreter",
        ("load-error",),
    ),
    "an error that another one quotes": Case(
        "Exception: Cannot create interpreter: Didn't find op for builtin opcode 'ADD' version '5'\n",
        "",
        "not-loaded",
        "",
        "Didn't find op",
        ("builtin-error",),
    ),
    "a reason in the exception of an allocation": Case(
        "Internal error: Unexpected failure when preparing tensor allocations: x.cc number overflowed.\n"
        "Node number 3 (CONV_2D) failed to prepare.\n",
        "",
        "not-loaded",
        "",
        "overflowed",
        ("other-error", "node-error"),
    ),
    "an error behind a time with a colon": Case(
        "04-24 20:31:39.615: E/Unity(16500): Exception: Failed to create TensorFlowLite Interpreter\n",
        "",
        "not-loaded",
        "",
        "Interpreter",
        ("load-error",),
    ),
    "a default that was applied": Case(
        "Successfully applied the default TensorFlow Lite delegate indexed at 0.\n", "xnnpack", "applied"
    ),
    "a default that is reverted": Case(
        f"{MADE}INFO: Error in applying the default TensorFlow Lite delegate indexed at 0, and all are reverted.\n",
        "xnnpack",
        "failed",
    ),
    "a default that is reverted with the delegate before it": Case(
        f"{WHOLE}{REVERTED}", "gpu", "failed", cause="prepare multiple times", errors=("other-error", "node-error")
    ),
    "a delegate of a benchmark that is reverted": Case(
        f"Explicitly applied GPU delegate, and the model graph will be completely executed by the delegate.\n{REVERTED}",
        "gpu",
        "failed",
        cause="prepare multiple times",
        errors=("other-error", "node-error"),
    ),
    "a version that does not fit": Case(
        "ERROR: Incompatible Neuron SDK major version: bytecode compiled with 8.2.30, but runtime is 9.2.0\n"
        "ERROR: [dispatch_delegate.cc:134] Failed to create a dispatch delegate kernel: No usable Dispatch runtime found\n",
        "",
        "failed",
        cause="9.2.0",
        errors=("other-error", "failure"),
    ),
    "a chip that does not fit": Case(
        "ERROR: [dispatch_api.cc:304] Failed to create context from context binary: Exception\nL0 result: ZE_X, Incorrect arch. "
        "Expected: VPUX37XX vs Received: VPUX40XX\n",
        "",
        "failed",
        cause="Incorrect arch",
        errors=("failure", "vendor-error"),
    ),
    "a step of the compiler of shaders": Case(
        "E/tflite: OpenCL library not loaded - dlopen failed\nE/tflite: Falling back to OpenGL\n"
        "E/tflite: TfLiteGpuDelegate Init: fuse_auto_input failed\n",
        "gpu",
        "failed",
        cause="fuse_auto_input failed",
        errors=("other-error", "other-error", "preparation-error"),
    ),
    "a vendor's library that refuses what a delegate counted": Case(
        " Number of subgraphs:1 , 7 nodes delegated out of 9 nodes\nTIDL_RT_OVX: ERROR: Config file size (8 bytes) is wrong\n"
        "VX_ZONE_ERROR:[f:2] Invalid reference\n",
        "",
        "part",
        errors=("vendor-error", "vendor-error"),
    ),
    "an accelerator that is requested and not there": Case(
        f"./litert_lm_main --backend=gpu --model_path=x.litertlm\nERROR: {NO_DIRECTORY}GPU accelerator could not be loaded and "
        "registered.\n",
        "mldrift",
        "not-created",
        cause="GPU accelerator could not be loaded and registered.",
        errors=("not-registered",),
    ),
    "accelerators and plugins that nothing needs": Case(
        f"ERROR: {NO_DIRECTORY}GPU accelerator could not be loaded and registered.\nCPU accelerator registered.\n"
        "WARNING: [compiled_model.cc:9] Failed to apply compiler plugins: Compiler plugin is not configured\n",
        "",
        "unknown",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_log_says(name):
    case = CASES[name]
    found = summary(case.text)
    assert (found.delegate.name, found.delegate.outcome, found.end) == (case.delegate, case.outcome, case.end)
    assert case.cause in found.cause
    assert bool(found.cause) == bool(case.cause) or case.outcome == "unknown"
    assert tuple(error.kind for error in found.errors) == case.errors


def test_a_kernel_that_failed_is_marked_as_failed_while_running():
    assert summary(CASES["a reason above a kernel's failure"].text).delegate.failed_running


@pytest.mark.parametrize(
    ("text", "is_run"),
    [
        (REVERTED, True),
        (f"{REVERTED}Failed to allocate tensors!\n", False),
        ("Restored original execution plan after delegate application failure.\n", None),
        ("Failed to apply GPU delegate.\nInference timings in us: Init: 9, Inference (avg): 7\n", True),
        ("Failed to apply GPU delegate.\nBenchmarking failed.\n", False),
        ("Node number 9 (TfLiteGpuDelegateV2) failed to invoke.\n", False),
    ],
)
def test_whether_a_model_ran_after_a_failure(text, is_run):
    assert has_run(read_log(text)) is is_run


def test_all_delegates_are_reverted_together():
    found = summary(CASES["a default that is reverted with the delegate before it"].text)
    assert [(other.name, other.outcome) for other in found.others] == [("xnnpack", "failed")]


@pytest.mark.parametrize(
    ("text", "is_planned"),
    [
        (LIST, True),
        (f"{LIST}I/tflite: Created 1 GPU delegate kernels.\n", False),
        (f"{LIST}Inference timings in us: Init: 9, Inference (avg): 7\n", False),
        (WHOLE, True),
        (f"{WHOLE}Created 1 GPU delegate kernels.\n", False),
        (WHOLE.replace("TfLiteGpuDelegateV2", "TfLiteXNNPackDelegate"), False),
        (f"{WHOLE}Failed to build program executable - x\n", True),
        (f"{WHOLE}Failed to build program executable - x\nFalling back to OpenGL\nInitialized OpenGL-based API.\n", False),
        (f"Failed to build program executable - x\n{WHOLE}Created 1 GPU delegate kernels.\n", False),
    ],
)
def test_counts_before_the_kernels_are_a_plan(text, is_planned):
    found = summary(text)
    assert (found.delegate.is_planned, found.is_cut) == (is_planned, is_planned)


def test_a_parameter_that_is_printed_again_begins_no_run():
    lines = ["Graph: [a]\n", "Use neuron: [1]\n", "Loaded model a\n", "Use neuron: [1]\n", "Failed to apply Neuron delegate.\n"]
    assert len(read_runs(lines)) == 1
    assert len(read_runs([*lines[:3], "Use neuron: [0]\n", *lines[4:]])) == 2


def test_a_warning_with_two_numbers_is_no_error():
    assert summary("W/Adreno (219,219): <x>: error: cannot open lib\nINFO: Created 1 GPU delegate kernels.\n").errors == ()


def test_an_operator_that_the_cpu_library_refuses():
    found = summary(f"{MADE}failed to delegate ADD node #0. Delegation is off\n")
    assert found.refusals == (("ADD", "Delegation is off", 1),)


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("Error loading a model: [Error: x]\n", True),
        ("Something could not be opened\n", True),
        ("ERROR: no\n", True),
        ("It works.\n", False),
        ("0 errors, 0 failures\n", False),
    ],
)
def test_only_a_log_without_any_failure_is_no_log(tmp_path, text, is_read):
    path = tmp_path / "device.log"
    path.write_text(text, encoding="utf-8")
    if is_read:
        assert len(summary_of(read_runs_file(str(path))[-1]).errors) == 1
    else:
        with pytest.raises(LogError, match="has no lines about a delegate"):
            read_runs_file(str(path))


def test_the_counts_decide_which_lines_are_one_run():
    line = "Replacing {} out of {} node(s) with delegate ({}) node, yielding {} partitions for the whole graph.\n"
    text = line.format(52, 65, "TfLiteXNNPackDelegate", 6) + line.format(29, 65, "TfLiteGpuDelegateV2", 3)
    text += line.format(25, 37, "TfLiteXNNPackDelegate", 2)
    first, second = [[(each.replaced, each.total) for each in log.replacements] for log in read_runs(text.splitlines(True))]
    assert (first, second) == ([(52, 65)], [(29, 65), (25, 37)])


def test_the_run_after_a_measured_run():
    text = f"{WHOLE}Inference timings in us: Init: 9, Inference (avg): 7\nCreated TensorFlow Lite XNNPACK delegate for CPU.\n"
    assert [log.created for log in read_runs(text.splitlines(True))] == [(), ("XNNPACK",)]


PREFIXES = {
    "python": "2023-04-17 15:52:4{}, 123 ERROR ",
    "gstreamer": "0:00:01.23456789{}  1234 0x5{} ERROR tflite ",
    "markdown": "- ",
    "kernel": "[  123.45678{}] benchmark[31{}]: ",
    "unity": "2023-07-14 13:14:52.09{} 22838 22838 Error Unity tflite: ",
    "react native": " LOG  [{}] ",
    "csv": '"13:14:5{}","tflite","',
}


@pytest.mark.parametrize("name", PREFIXES)
def test_a_prefix_is_learned_from_the_lines_that_match(name):
    prefix, end = PREFIXES[name], '"' if name == "csv" else ""
    lines = [f"{prefix.replace('{}', str(number))}{line}{end}\n" for number, line in enumerate(LIST.splitlines())]
    found = summary("".join(lines))
    assert [(op, reason) for op, reason, _ in found.refusals] == [
        ("CAST", "Not supported Cast case."),
        ("GATHER_ND", "Operation is not supported."),
    ]
    assert [(each.delegated, each.total) for each in found.delegate.counts] == [(4, 9)]


@pytest.mark.parametrize("form", ["studio", "docker", "code"])
def test_logs_inside_of_json_and_markdown(tmp_path, form):
    lines = LIST.splitlines()
    if form == "studio":
        header = {"logLevel": "ERROR", "pid": 1, "tag": "tflite"}
        text = json.dumps({"logcatMessages": [{"header": header, "message": line} for line in lines]}, indent=1)
    elif form == "docker":
        text = "".join([json.dumps({"log": f"{line}\n", "stream": "stderr"}) + "\n" for line in lines])
    else:
        text = "".join([f"`{line}`  \n" for line in lines])
    path = tmp_path / "device.log"
    path.write_text(text, encoding="utf-8")
    found = summary_of(read_runs_file(str(path))[-1])
    assert [op for op, _, _ in found.refusals] == ["CAST", "GATHER_ND"]


@pytest.mark.parametrize("end", [20, 60, 75, 85, 100])
def test_a_line_that_a_terminal_has_wrapped(end):
    assert summary(f"{WHOLE[:end]}\n{WHOLE[end:]}").delegate.counts[0].total == 9


def test_a_wrapped_line_with_two_versions():
    text = "Incompatible Neuron SDK major version:\n  bytecode compiled with 8.2.30, but runtime is 7.2.4\n"
    (error,) = summary(text).errors
    assert "compile the model with version 7 " in error.meaning


def test_a_no_break_space_is_a_space():
    text = "54\xa0operations will run on the GPU, and the remaining 5\u202foperations will run on the CPU.\n"
    assert [(each.delegated, each.total) for each in summary(text).delegate.counts] == [(54, 59)]


def test_operators_inside_of_kernels_are_no_nodes():
    rows = "\tAdd (ND, F32)\t 0.1\t 0.1\t 50.0%\t 50.0%\t 0.0\t 1\tDelegate/Add (ND, F32):0\n"
    rows += "\tSQUEEZE\t 0.1\t 0.1\t 50.0%\t100.0%\t 0.0\t 1\t[a]:3\n\n"
    title = "Operator-wise Profiling Info for Regular Benchmark Runs:\n"
    found = summary(f"{title}===== Run Order =====\n{rows}Number of nodes executed: 2\n")
    assert (found.delegate.name, found.delegate.outcome) == ("xnnpack", "part")
    assert dict(found.operators) == {"SQUEEZE": 1}
    assert found.counts == ()


@pytest.mark.parametrize(("text", "warmup", "inference"), [
    ("count=6 first=100521 curr=80282 avg=83420.5 std=7\n", 83.4205, None),
    ("count=1 curr=3512391\n\ncount=50 first=2 curr=2 avg=2.95034e+06 std=1\n", 3512.391, 2950.34),
])  # fmt: skip
def test_the_times_of_a_run_that_is_cut_short(text, warmup, inference):
    times = read_log(f"Initialized session in 65.973ms.\n{text}").times
    assert (times.init_ms, times.warmup_ms, times.inference_ms) == pytest.approx((65.973, warmup, inference))


def test_the_time_that_label_image_prints():
    assert read_log("INFO: invoked\nINFO: average time: 3.882 ms\n").times.inference_ms == 3.882


def test_an_operator_without_the_end_of_its_line_is_refused():
    found = summary("E/tflite: Following operations are not supported by GPU delegate:\n  DEQUANTIZE\n")
    assert (found.delegate.name, found.refusals) == ("gpu", (("DEQUANTIZE", "", 1),))


def test_a_kernel_that_runs_on_another_thread_failed_while_the_model_ran():
    line = "TfLiteGpuDelegate Invoke: GpuDelegate must run on the same thread where it was initialized."
    found = summary(f"E/tflite: {line}\nE/tflite: Node number 31 (TfLiteGpuDelegateV2) failed to invoke.\n")
    assert (found.delegate.outcome, found.delegate.failed_running, found.cause) == ("applied", True, line)
    assert "another thread" in found.errors[0].meaning


def test_an_error_above_a_failed_kernel_is_told_once():
    line = "Failed to clEnqueueNDRangeKernel - Invalid command queue"
    found = summary(f"{line}\nNode number 2068 (LITERT_CL) failed to invoke\n")
    assert [error.line for error in found.errors].count(line) == 1
    assert (found.delegate.name, found.cause) == ("mldrift", line)


COUNTED = "INFO: TfLiteHexagonDelegate delegate: 63 nodes delegated out of 64 nodes with 1 partitions.\n"
FLEX = "INFO: TfLiteFlexDelegate delegate: 4 nodes delegated out of 78 nodes with 2 partitions.\n"
LEFT_OUT = (
    "INFO: Created TensorFlow Lite XNNPACK delegate for CPU.\n"
    "RuntimeError: Attempting to use a delegate that only supports static-sized tensors with a graph that has dynamic-sized "
    "tensors (tensor#105 is a dynamic-sized tensor).Ignoring failed application of the default TensorFlow Lite delegate indexed "
    "at 0.\n"
)
ON_CPU = "RuntimeError: a/kernels/range.cc:39 start != limit was not true.Node number 3 (RANGE) failed to invoke.\n"
SKEL = "E/app: remote_handle_open_domain: dynamic loading failed for file:///libhexagon_nn_skel_v66.so\n"


@pytest.mark.parametrize(
    ("text", "outcome", "end"),
    [
        (COUNTED + SKEL, "failed", ""),
        (SKEL, "not-created", ""),
        (FLEX + LEFT_OUT, "part", ""),
        (LEFT_OUT, "failed", ""),
        (FLEX + ON_CPU, "part", "run-failed"),
    ],
)
def test_a_failure_belongs_to_what_failed(text, outcome, end):
    found = summary(text)
    assert (found.delegate.outcome, found.end) == (outcome, end)


def test_a_default_that_the_runtime_leaves_out_was_not_applied():
    assert [(other.name, other.outcome) for other in summary(FLEX + LEFT_OUT).others] == [("xnnpack", "failed")]


def test_a_count_without_failures_is_no_error():
    assert summary(COUNTED + "test cases:    187 |    187 passed |      0 failed\n").errors == ()


def test_the_compiler_may_only_count_all_operators():
    found = summary("Edge TPU Compiler version 16.0\nModel compiled successfully in 2 ms.\nTotal number of operations: 84\n")
    assert [(count.delegated, count.total) for count in found.delegate.counts] == [(None, 84)]


def test_a_node_that_arm_nn_refuses_after_an_exception_is_no_cause():
    text = "TfLiteArmnnDelegate: Created TfLite ArmNN delegate.\nError: ArmNN Failed to visit node with error: x\n"
    found = summary_of(read_log(f"{text}Segmentation fault\n"))
    assert (found.end, found.cause) == ("crashed", "")


def test_the_first_of_two_models_keeps_its_parameters_and_tables():
    line = "Replacing {} node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 2 partitions for subgraph 0.\n"
    table = "[node type] [first] [avg ms] [%] [cdf%] [mem KB] [times called] [Name]\nADD 0.1 0.1 100.0% 100.0% 0.0 1 [b]:3\n\n"
    log = f"Graph: [a.tflite]\nUse gpu: [1]\n{line.format('3 out of 5')}{table}{line.format('9 out of 12')}"
    first, second = map(summary_of, read_runs(log.splitlines(keepends=True)))
    assert (first.log.graph, first.operators, second.log.graph, second.operators) == ("a.tflite", (("ADD", 1),), "", ())
