"""Variations of made-up logs: cut off, mixed with other lines, in other locales, of two devices or three runs, reordered.

What each variation says was written down by reading it: the delegate, its outcome, and the numbers of delegated and of all nodes.
"""

from __future__ import annotations

import io
from typing import NamedTuple

import pytest

from delegate_sim.device.parse.applied_target import may_be_older
from delegate_sim.device.parse.log import read_log, read_runs
from delegate_sim.device.parse.log_runs import separate_runs
from delegate_sim.device.parse.log_summary import summary_of
from tests.support.device.logs import summary
from tests.support.edge_tpu import DISPATCH, INVOKE_FAILS
from tests.support.tables import for_each


class Said(NamedTuple):
    """The statements of one run. ``nodes`` is the most conclusive count: nodes delegated, and nodes in all."""

    delegate: str
    outcome: str
    nodes: tuple[int | None, int | None] | None = None
    failed_running: bool = False
    cause: str = ""


NNAPI = """STARTING!
Graph: [/data/local/tmp/a.tflite]
Use NNAPI: [1]
Loaded model /data/local/tmp/a.tflite
INFO: Created TensorFlow Lite delegate for NNAPI.
VERBOSE: Replacing 40 out of 50 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 5 partitions for the whole graph.
Explicitly applied NNAPI delegate, and the model graph will be partially executed by the delegate w/ 2 delegate kernels.
"""
GPU_REFUSES = """INFO: Created TensorFlow Lite delegate for GPU.
ERROR: Following operations are not supported by GPU delegate:
CAST: Not supported cast case
GATHER: Operation is not supported.
18 operations will run on the GPU, and the remaining 6 operations will run on the CPU.
VERBOSE: Replacing 18 out of 24 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 3 partitions for subgraph 0.
INFO: Initialized OpenCL-based API.
"""
GPU_FAILS = """INFO: Created TensorFlow Lite delegate for GPU.
VERBOSE: Replacing 12 out of 12 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 1 partitions for subgraph 0.
ERROR: TfLiteGpuDelegate Init: CONV_2D: weights are too large
ERROR: TfLiteGpuDelegate Prepare: delegate is not initialized
ERROR: Node number 12 (TfLiteGpuDelegateV2) failed to prepare.
ERROR: Restored original execution plan after delegate application failure.
"""
XNNPACK = """INFO: Created TensorFlow Lite XNNPACK delegate for CPU.
VERBOSE: Replacing 7 out of 8 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 2 partitions for subgraph 0.
"""
HINT = """ERROR: Following operations are not supported by GPU delegate:
TILE: Operation is not supported.
30 operations will run on the GPU, and the remaining 1 operations will run on the CPU.
ERROR: Hint fully delegated to single delegate is set, but the graph is not fully delegated.
E0000 00:00:1780000000.123456   77 engine.cc:800] Failed to create engine: INTERNAL: ERROR: [x.cc:1]
"""
EDGE_TPU = """Replacing 1 out of 3 node(s) with delegate (EdgeTpuDelegateForCustomOp) node, yielding 3 partitions for subgraph 0.
ERROR: Package requires runtime version (14), which is newer than this runtime version (13).
ERROR: Node number 3 (EdgeTpuDelegateForCustomOp) failed to prepare.
"""
HEXAGON = """INFO: TfLiteHexagonDelegate delegate: 20 nodes delegated out of 22 nodes with 2 partitions.

INFO: Replacing 20 node(s) with delegate (TfLiteHexagonDelegate) node, yielding 4 partitions.
"""
TABLE = """STARTING!
Use gpu: [1]
Operator-wise Profiling Info for Regular Benchmark Runs:
============================== Summary by node type ==============================
               [Node type]    [count]    [avg ms]      [avg %]      [cdf %]    [mem KB]  [times called]
       TfLiteGpuDelegateV2          2       9.000      90.000%      90.000%       0.000          2
                   SOFTMAX          1       1.000      10.000%     100.000%       0.000          1

"""
CRASH = """INFO: Created TensorFlow Lite delegate for GPU.
Segmentation fault
"""
BASES = {
    "nnapi": (NNAPI, Said("nnapi", "part", (40, 50))),
    "gpu-refuses": (GPU_REFUSES, Said("gpu", "part", (18, 24))),
    "gpu-fails": (GPU_FAILS, Said("gpu", "failed", (12, 12), cause="weights are too large")),
    "invoke-fails": (INVOKE_FAILS, Said("nnapi", "part", (9, 11), failed_running=True, cause="while running computation")),
    "xnnpack": (XNNPACK, Said("xnnpack", "part", (7, 8))),
    "dispatch": (DISPATCH, Said("", "part", (2, 3))),
    "hint": (HINT, Said("mldrift", "failed", (30, 31), cause="Hint fully delegated")),
    "edge-tpu": (EDGE_TPU, Said("edgetpu", "failed", (1, 3), cause="runtime version (14)")),
    "hexagon": (HEXAGON, Said("hexagon", "part", (20, None))),
    "table": (TABLE, Said("gpu", "part", (None, None))),
}


class Variation(NamedTuple):
    """A variation of logs, and what each of its runs says."""

    name: str
    text: str
    said: tuple[Said, ...]


def prefixed(text, process, tag="tflite"):
    """The lines as logcat prints them for a process."""
    levels = {"ERROR": "E", "WARNING": "W", "VERBOSE": "I", "INFO": "I"}
    lines = []
    for line in text.splitlines():
        word, colon, rest = line.partition(": ")
        level, message = (levels[word], rest) if colon and word in levels else ("I", line)
        lines.append(f"11-20 12:00:00.000 {process} {process} {level} {tag}  : {message}\n")
    return lines


def interleaved(one, other):
    """The lines of two logs in turn."""
    longest = max(len(one), len(other))
    return "".join(line for place in range(longest) for lines in (one, other) for line in lines[place : place + 1])


NOISE = (
    "11-20 12:00:00.000  900  901 I Choreographer: Skipped 30 frames!  The application may be doing too much work.\n",
    "11-20 12:00:00.001  900  902 W System  : ClassLoader: referenced unknown path: /data/app\n",
    "11-20 12:00:00.002 1200 1200 E ANDR-PERF-MPCTL: Invalid profile no. 0, total profiles 0 only\n",
)


def cut(name, lines, *said):
    """A log that ends after some lines."""
    return Variation(f"{name} cut after {lines}", "".join(BASES[name][0].splitlines(keepends=True)[:lines]), said)


def variations():
    for name, (text, said) in BASES.items():
        yield Variation(f"{name} with CRLF", text.replace("\n", "\r\n"), (said,))
        yield Variation(
            f"{name} between other processes",
            interleaved(prefixed(text, 4321), [NOISE[place % 3] for place in range(20)]),
            (said,),
        )
    for name in ("gpu-refuses", "gpu-fails", "invoke-fails", "edge-tpu", "hexagon"):
        text, said = BASES[name]
        german = "".join(f"26. Nov 12:00:00 rechner app[77]: {line}" for line in text.splitlines(keepends=True))
        yield Variation(f"{name} in a German journal", german, (said,))
    french = "".join(f"févr. 26 12:00:00 hôte app[77]: {line}" for line in XNNPACK.splitlines(keepends=True))
    yield Variation("xnnpack in a French journal", french, (BASES["xnnpack"][1],))
    yield Variation("a table with decimal commas", TABLE.replace(".000", ",000"), (BASES["table"][1],))
    yield Variation("a crash in German", CRASH.replace("Segmentation fault", "Speicherzugriffsfehler"), (Said("gpu", "created"),))

    yield cut("nnapi", 1, Said("", "nothing"))
    yield cut("nnapi", 4, Said("nnapi", "requested"))
    yield cut("nnapi", 5, Said("nnapi", "created"))
    yield cut("gpu-refuses", 4, Said("gpu", "created"))
    yield cut("gpu-fails", 2, Said("gpu", "whole", (12, 12)))
    yield cut("gpu-fails", 3, Said("gpu", "failed", (12, 12), cause="weights are too large"))
    yield cut("invoke-fails", 2, Said("nnapi", "part", (9, 11)))
    yield cut("dispatch", 4, Said("", "unknown"))
    yield cut("hint", 3, Said("gpu", "part", (30, 31)))
    yield cut("edge-tpu", 1, Said("edgetpu", "part", (1, 3)))
    yield cut("table", 6, Said("gpu", "applied", (None, None)))
    yield cut("hexagon", 1, Said("hexagon", "part", (20, 22)))
    yield cut("hint", 1, Said("gpu", "created"))
    said = Said("nnapi", "applied", failed_running=True, cause="while running computation")
    yield Variation("invoke-fails without its beginning", "".join(INVOKE_FAILS.splitlines(keepends=True)[2:]), (said,))
    middle = XNNPACK.replace(" node, yielding 2 partitions for subgraph 0.\n", "\n")
    yield Variation("xnnpack cut within its line", middle, (Said("xnnpack", "part", (7, 8)),))
    kernel = HEXAGON.replace("TfLiteHexagonDelegate) node, yielding 4 partitions.", "TfLiteHexago")
    yield Variation("hexagon cut within the kernel's name", kernel, (Said("hexagon", "applied", (20, None)),))

    pairs = (
        ("gpu-refuses", "gpu-fails"),
        ("gpu-fails", "invoke-fails"),
        ("invoke-fails", "xnnpack"),
        ("xnnpack", "edge-tpu"),
        ("edge-tpu", "hexagon"),
        ("hexagon", "gpu-refuses"),
    )
    for one, other in pairs:
        text = interleaved(prefixed(BASES[one][0], 100), prefixed(BASES[other][0], 200))
        yield Variation(f"{one} and {other} of two devices", text, (BASES[one][1], BASES[other][1]))

    for names in (("gpu-refuses", "gpu-refuses", "gpu-fails"), ("gpu-fails", "gpu-refuses", "xnnpack"), ("xnnpack",) * 3):
        text = "".join("".join(prefixed(BASES[name][0], 300 + place)) for place, name in enumerate(names))
        yield Variation(f"three processes: {', '.join(names)}", text, tuple(BASES[name][1] for name in names))
    plain = GPU_REFUSES.replace(" for subgraph 0.", ".").replace(" out of 24", "")
    said = Said("gpu", "part", (18, None))
    yield Variation("three models of one process", plain * 3, (said,) * 3)
    failing = GPU_FAILS.replace(" for subgraph 0.", ".").replace(" out of 12", "")
    failed = Said("gpu", "failed", (12, None), cause="weights are too large")
    yield Variation("three models, of which the second fails", plain + failing + plain, (said, failed, said))
    yield Variation("three runs of benchmark_model", NNAPI * 3, (BASES["nnapi"][1],) * 3)

    left = XNNPACK.replace("7 out of 8", "5 out of 6")
    yield Variation(
        "XNNPACK created before the GPU's delegate", left.splitlines(keepends=True)[0] + GPU_REFUSES, (BASES["gpu-refuses"][1],)
    )
    yield Variation("XNNPACK after the GPU's delegate", GPU_REFUSES + left, (BASES["gpu-refuses"][1],))
    yield Variation(
        "XNNPACK after a GPU that failed", GPU_FAILS + XNNPACK.replace("7 out of 8", "7 out of 12"), (BASES["gpu-fails"][1],)
    )
    yield Variation("NNAPI after a GPU that failed", GPU_FAILS + NNAPI, (BASES["gpu-fails"][1], BASES["nnapi"][1]))


def nodes_of(found):
    """The most conclusive count of the delegate: the runtime's, else its own."""
    by_source = {count.source: (count.delegated, count.total) for count in found.delegate.counts}
    return next((by_source[source] for source in ("replacement", "own", "split", "table") if source in by_source), None)


def check(found, said):
    assert (found.delegate.name, found.delegate.outcome) == (said.delegate, said.outcome)
    assert found.delegate.failed_running == said.failed_running
    assert nodes_of(found) == said.nodes
    assert said.cause in found.cause
    assert bool(found.cause) == bool(said.cause)


@for_each(variations(), lambda variation: variation.name)
def test_a_variation_says(variation):
    if variation.said == (Said("", "nothing"),):
        assert read_log(variation.text).is_empty
        return
    found = [summary_of(log) for log in separate_runs(read_runs(io.StringIO(variation.text, newline="\n")))]
    assert len(found) == len(variation.said)
    for run, said in zip(found, variation.said, strict=True):
        check(run, said)


GPU_PART = """INFO: Created TensorFlow Lite delegate for GPU.
VERBOSE: Replacing 30 out of 33 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 3 partitions for the whole graph.
INFO: Created 2 GPU delegate kernels.
"""
NNAPI_PART = """INFO: Created TensorFlow Lite delegate for NNAPI.
VERBOSE: Replacing 30 out of 33 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 3 partitions for the whole graph.
Explicitly applied NNAPI delegate, and the model graph will be partially executed by the delegate w/ 2 delegate kernels.
"""
DYNAMIC = """INFO: Created TensorFlow Lite XNNPACK delegate for CPU.
WARNING: Attempting to use a delegate that only supports static-sized tensors with a graph that has dynamic-sized tensors \
(tensor#9 is a dynamic-sized tensor).
"""
RESHAPE = """INFO: Created TensorFlow Lite XNNPACK delegate for CPU.
VERBOSE: Replacing 2 out of 5 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 2 partitions for the whole graph.
ERROR: Node number 35 (TfLiteXNNPackDelegate) failed to prepare.
"""
GPU_FAILS_LATER = """INFO: Created TensorFlow Lite delegate for GPU.
VERBOSE: Replacing 2 out of 4 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 3 partitions for the whole graph.
ERROR: TfLiteGpuDelegate Init: Batch size mismatch, expected 1
ERROR: Node number 24 (TfLiteGpuDelegateV2) failed to prepare.
ERROR: Restored original execution plan after delegate application failure.
"""
HEXAGON_PART = """INFO: TfLiteHexagonDelegate delegate: 20 nodes delegated out of 22 nodes with 2 partitions.
VERBOSE: Replacing 20 out of 22 node(s) with delegate (TfLiteHexagonDelegate) node, yielding 4 partitions for the whole graph.
"""
RETRY = """I/tflite: Created TensorFlow Lite delegate for GPU.
E/tflite: Following operations are not supported by GPU delegate:
    CUSTOM Own: Operation is not supported.
    7 operations will run on the GPU, and the remaining 2 operations will run on the CPU.
E/tflite: ModifyGraphWithDelegate is disallowed when graph is immutable.
I/tflite: Created TensorFlow Lite delegate for NNAPI.
I/tflite: Replacing 9 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 1 partitions.
"""

NO_DISPATCH = """litert: [litert_dispatch.cc:97] No dispatch library found in /data/app/lib
litert: [dispatch_delegate.cc:122] Failed to create a dispatch delegate kernel: No usable Dispatch runtime found
"""
SELECTED = "INFO: [b.cc:1] Partitioned subgraph<0>, selected 3 ops, from a total of 10 ops. resulted in 1 partitions.\n"
DRIFT = "VERBOSE: Replacing 8 out of 8 node(s) with delegate (LITERT_CL) node, yielding 1 partitions for subgraph 0.\n"


@pytest.mark.parametrize(
    ("text", "delegates", "cause"),
    [
        (GPU_PART + DYNAMIC, [("gpu", "part", False), ("xnnpack", "none", True)], ""),
        (NNAPI_PART + DYNAMIC, [("nnapi", "part", False), ("xnnpack", "none", True)], ""),
        (GPU_PART + RESHAPE, [("gpu", "part", False), ("xnnpack", "failed", True)], "Node number 35"),
        (HEXAGON_PART + GPU_FAILS_LATER, [("hexagon", "part", False), ("gpu", "failed", True)], "Batch size mismatch"),
        (RETRY, [("gpu", "failed", False), ("nnapi", "whole", True)], "graph is immutable"),
        (XNNPACK.replace("7 out of 8", "40 out of 64") + GPU_REFUSES, [("gpu", "part", False), ("xnnpack", "part", False)], ""),
        (GPU_FAILS + XNNPACK, [("gpu", "failed", False), ("xnnpack", "part", True)], "weights are too large"),
        (f"{NO_DISPATCH}{XNNPACK}", [("", "failed", False), ("xnnpack", "part", True)], "No dispatch library"),
        (f"{NO_DISPATCH}{DRIFT}", [("mldrift", "whole", False), ("", "failed", False)], "No dispatch library"),
        (f"{SELECTED}{DRIFT}", [("mldrift", "whole", False), ("", "requested", False)], ""),
        (
            f"{NNAPI_PART.splitlines()[0]}\n{GPU_PART.splitlines()[0]}\nInternal error: Error applying delegate: \n",
            [("nnapi", "created", False), ("gpu", "failed", True)],
            "",
        ),
        ("Unsupported data type in custom op handler: -1\n", [("edgetpu", "failed", False)], "custom op handler"),
    ],
)
def test_an_error_belongs_to_one_delegate(text, delegates, cause):
    found = summary(text)
    assert [(each.name, each.outcome, each.is_later) for each in (found.delegate, *found.others)] == delegates
    assert cause in found.cause
    assert bool(found.cause) == bool(cause)


TWO_SUBGRAPHS = """\
Replacing 20 out of 20 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 1 partitions for subgraph 0 (main).
VERBOSE: Replacing 5 out of 9 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 2 partitions for subgraph 1 (body).
"""


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        (GPU_PART + RESHAPE, "node 35 is kernel 3 of all delegates (the model's 33 nodes"),
        (HEXAGON_PART + GPU_FAILS_LATER, "node 24 is kernel 3 of all delegates (the model's 22 nodes"),
        (
            f"{TWO_SUBGRAPHS}ERROR: Node number 20 (TfLiteXNNPackDelegate) failed to invoke.\n",
            "node 20 is the delegate's kernel 1 (the model's 20 nodes",
        ),
        (
            f"{TWO_SUBGRAPHS}ERROR: Node number 10 (TfLiteXNNPackDelegate) failed to invoke.\n",
            "node 10 is the delegate's kernel 2 (the model's 9 nodes",
        ),
        (
            f"{TWO_SUBGRAPHS}ERROR: Node number 30 (TfLiteXNNPackDelegate) failed to invoke.\n",
            "node 30 is a kernel of the delegate; it failed when it ran",
        ),
    ],
)
def test_a_kernels_number_is_counted_after_the_first_nodes_of_its_subgraph(text, meaning):
    errors = summary(text).errors
    assert next(error.meaning for error in errors if error.kind == "node-error").startswith(meaning)


OF_ANOTHER = (
    "11-20 12:00:00.000  55  55 F libc    : Fatal signal 11 (SIGSEGV), code 1 in tid 55 (drawer), pid 55 (drawer)\n"
    "11-20 12:00:00.000  66  66 E AndroidRuntime: FATAL EXCEPTION: main\n"
)
NOT_APPLIED = "11-20 12:00:00.000  77  77 E AndroidRuntime: java.lang.IllegalArgumentException: Failed to apply delegate: \n"
TWO_DEVICES = """[one] INFO: Created TensorFlow Lite delegate for NNAPI.
[two] INFO: Created TensorFlow Lite delegate for NNAPI.
[one] VERBOSE: Replacing 8 out of 8 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 1 partitions for the whole graph.
[two] ERROR: NN API returned error ANEURALNETWORKS_OP_FAILED at line 4000 while completing NNAPI compilation.
[one] Explicitly applied NNAPI delegate, and the model graph will be completely executed by the delegate.
[two] Failed to apply NNAPI delegate.
"""

ON_IOS = "2024-06-28 17:03:43.637230+0200 App[510:11326] "
METAL = "Replacing 63 out of 64 node(s) with delegate (TfLiteMetalDelegate) node, yielding 2 partitions for the whole graph.\n"


def labeled(form, text):
    """The lines of a text, each with a name in front."""
    return [form + line for line in text.splitlines(keepends=True)]


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [
        (
            interleaved(labeled("[one] ", "".join(prefixed(GPU_PART, 9))), labeled("[two] ", "".join(prefixed(GPU_FAILS, 9)))),
            [("gpu", "part", 0), ("gpu", "failed", 3)],
        ),
        (
            interleaved(labeled("app-1  | ", GPU_FAILS), labeled("app-2  | ", NNAPI_PART)),
            [("gpu", "failed", 3), ("nnapi", "part", 0)],
        ),
        (labeled("[one] ", NNAPI)[0] + NNAPI, [("nnapi", "part", 0)]),
        (CRASH + GPU_PART, [("gpu", "created", 1), ("gpu", "part", 0)]),
        ("Aborted (core dumped)\n" + NNAPI, [("nnapi", "part", 0)]),
        ("I get a Segmentation fault when I run this:\n" + GPU_PART, [("gpu", "part", 0)]),
        ("Use gpu: [1]\nLoaded model a\nKilled\n", [("gpu", "crashed", 1)]),
        (f"{ON_IOS}{METAL}VERBOSE: {METAL}", [("gpu", "part", 0)]),
        (f"VERBOSE: {METAL}{ON_IOS}{METAL}", [("gpu", "part", 0)]),
        (METAL + METAL, [("gpu", "part", 0), ("gpu", "part", 0)]),
        ("".join(prefixed(GPU_PART, 9)) + OF_ANOTHER, [("gpu", "part", 0)]),
        (OF_ANOTHER + "".join(prefixed(GPU_PART, 9)), [("gpu", "part", 0)]),
        (NOT_APPLIED + "".join(prefixed(GPU_PART, 9)), [("", "failed", 1), ("gpu", "part", 0)]),
        ("".join(prefixed(GPU_PART, 77)) + NOT_APPLIED, [("gpu", "failed", 1)]),
        ("".join(prefixed(GPU_PART, 55)) + OF_ANOTHER, [("gpu", "part", 1)]),
        (TWO_DEVICES, [("nnapi", "whole", 0), ("nnapi", "failed", 1)]),
    ],
)
def test_lines_of_other_processes_and_devices_are_apart(text, outcomes):
    found = [summary_of(log) for log in separate_runs(read_runs(io.StringIO(text)))]
    assert [(each.delegate.name, each.delegate.outcome, len(each.errors)) for each in found] == outcomes


TEFLON_TABLE = """Teflon delegate: loaded etnaviv driver
idx type            ver support     inputs
  0 CONV            v1  supported   in: 88(u8) 8(u8) 6(i32) out: 7(u8)
"""
COMPILER_TABLE = """Edge TPU Compiler version 16.0.384591198
Operator                       Count      Status

ADD                            2          More than one subgraph is not supported
"""


def test_a_table_of_teflon_alone_does_not_show_what_it_took():
    found = summary(TEFLON_TABLE)
    assert (found.delegate.outcome, found.delegate.counts, found.is_cut) == ("created", (), True)


@pytest.mark.parametrize("is_complete", [False, True])
def test_the_sum_of_a_compilers_rows_is_a_lower_bound(is_complete):
    numbers = "Number of operations that will run on Edge TPU: 5\nNumber of operations that will run on CPU: 2\n"
    text = COMPILER_TABLE.replace("Operator", f"{numbers}Operator") if is_complete else COMPILER_TABLE
    (count,) = summary(text).delegate.counts
    assert (count.delegated, count.total, count.is_complete) == ((5, 7, True) if is_complete else (0, 2, False))


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            "Edge TPU Compiler version 16.0\nERROR: Compilation failed due to large activation tensors in model.\n",
            "large activation",
        ),
        (
            "ERROR: Failed to fetch Hexagon NN version. Incompatible.\nHexagon delegate is not supported on this device.\n",
            "Failed to fetch Hexagon NN version",
        ),
        (
            "E/tflite: Op code 67 is currently not delegated to NNAPI\n"
            "E/tflite: Returning error since TFLite returned failure nnapi_delegate.cc:1.\n",
            "Op code 67 is currently not delegated",
        ),
        (
            "ERROR: Delegate kernel was not initialized\nERROR: Node number 9 (TfLiteFlexDelegate) failed to prepare.\n",
            "Delegate kernel was not initialized",
        ),
    ],
)
def test_the_cause_is_the_most_specific_error(text, cause):
    assert cause in summary(text).cause


@pytest.mark.parametrize("separator", [",", ".", "\u202f", "'"])
def test_numbers_with_separators_of_thousands(separator):
    line = "1,351 operations will run on the GPU, and the remaining 1,084 operations will run on the CPU.\n"
    found = summary(line.replace("1,", f"1{separator}"))
    assert [(count.delegated, count.total) for count in found.delegate.counts] == [(1351, 2435)]


def test_a_code_that_is_cut_off():
    found = summary("INFO: Created TensorFlow Lite delegate for NNAPI.\nERROR: NN API returned error ANEURALNETWO")
    assert "cut off" in found.errors[0].meaning


def test_a_later_count_outweighs_a_warning():
    warning = "WARNING: [QNN Delegate] Failed to create device_handle for Backend ID 6, error=14001\n"
    count = "INFO: TfLiteQnnDelegate delegate: 3 nodes delegated out of 3 nodes with 1 partitions.\n"
    assert summary(warning + count).delegate.outcome == "whole"
    assert summary(count + warning).delegate.outcome == "failed"


def test_a_log_of_neutron_without_a_chip_says_so():
    count = "INFO: NeutronDelegate delegate: 3 nodes delegated out of 6 nodes with 3 partitions.\n"
    assert "the chip" in summary(count).delegate.title


def test_a_delegate_takes_no_more_nodes_than_are_left():
    later = "VERBOSE: Replacing 12 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 7 partitions.\n"
    found = [summary_of(log) for log in read_runs(io.StringIO(HEXAGON + later))]
    assert [(each.delegate.name, each.delegate.outcome) for each in found] == [("hexagon", "part"), ("xnnpack", "part")]
    left = later.replace("12", "2")
    assert len(read_runs(io.StringIO(HEXAGON + left))) == 1


@pytest.mark.parametrize(
    ("line", "is_old"),
    [
        ("2020-02-07 23:55:12.471 10236-10280/com.app I/tflite: ", True),
        ("2024-02-07 23:55:12.471 10236-10280/com.app I/tflite: ", False),
        ("2000-01-01 00:00:12.471 10236-10280/com.app I/tflite: ", False),
        ("I0000 00:00:1658183303.208241    8218 stage.cc:78] ", True),
        ("I0000 00:00:1758183303.208241    8218 stage.cc:78] ", False),
        ("E/native: E20220319 23:30:24.713230 30070 graph.cc:805] ", True),
    ],
)
def test_a_log_from_before_the_known_releases_is_old(line, is_old):
    replaced = "Replacing 11 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 1 partitions.\n"
    assert summary(line + replaced).log.is_old == is_old


KNOWN_WORDS = "Replacing 4 out of 7 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 3 partitions for subgraph 0.\n"
OLD = "2020-02-07 23:55:12.471 10236-10280/com.app I/tflite: "


@pytest.mark.parametrize(
    "text",
    [
        f"{OLD}{KNOWN_WORDS}",
        f"{OLD}Tensorflow Version : 2.15.0\n{OLD}Use gpu: [1]\n",
        f"{OLD}Use gpu: [1]\n{OLD.replace('2020', '2024')}Created TensorFlow Lite delegate for GPU.\n",
        f"{OLD}{DRIFT}",
    ],
)
def test_a_wrong_clock_does_not_make_a_log_old(text):
    assert not summary(text).log.is_old


def test_a_delegate_belongs_to_the_run_in_which_it_was_created():
    text = HEXAGON + XNNPACK.replace("7 out of 8", "12").replace(" for subgraph 0", "").replace("2 part", "7 part")
    found = [summary_of(log) for log in read_runs(io.StringIO(text))]
    assert [(each.delegate.name, each.others) for each in found] == [("hexagon", ()), ("xnnpack", ())]


def test_an_error_that_names_the_graph_of_vx_is_of_a_run():
    applied = "Explicitly applied EXTERNAL delegate, and the model graph will be completely executed by the delegate.\n"
    text = f"STARTING!\nExternal delegate path: [/usr/lib/libvx_delegate.so]\n{applied}ERROR: Failed to verify graph\n"
    delegate = summary(text).delegate
    assert (delegate.name, delegate.outcome, delegate.failed_running) == ("vx", "whole", True)


def test_a_list_of_refusals_without_its_beginning():
    text = "".join(GPU_REFUSES.splitlines(keepends=True)[2:]).replace("GATHER: Operation is not supported.", "DEQUANTIZE:")
    assert [op for op, _, _ in summary(text).refusals] == ["CAST", "DEQUANTIZE"]


def test_a_table_without_its_title():
    found = summary("".join(TABLE.splitlines(keepends=True)[4:]))
    assert (found.delegate.name, found.delegate.outcome, dict(found.operators)) == ("gpu", "part", {"SOFTMAX": 1})


@pytest.mark.parametrize("prefix", ["11\u6708 20 12:00:00 host app[77]: ERROR: ", "2024-11-20 12:00:00,123 INFO ERROR: "])
def test_a_prefix_is_no_reason(prefix):
    found = summary(f"{prefix}Node number 64 (TfLiteGpuDelegateV2) failed to prepare.\n")
    assert [error.kind for error in found.errors] == ["node-error"]


def test_the_older_words_about_a_restored_plan():
    assert summary(GPU_FAILS.replace("Restored original", "Restored previous")).log.is_old


def test_a_title_that_names_an_accelerator():
    title = "# a thread (LITERT_CL)\n"
    assert summary(title + GPU_REFUSES.partition("18 op")[0]).delegate.name == "mldrift"
    assert not may_be_older(read_log("NPU accelerator could not be loaded: kLiteRtStatusErrorInvalidArgument.\nAborted\n"))


@pytest.mark.parametrize(
    ("name", "delegate"), [("GpuModelBuilder", "mldrift"), ("QnnDeviceManager", ""), ("LiteRtExecutionPlan", "")]
)
def test_names_that_end_like_names_of_the_nnapi_runtime(name, delegate):
    line = f"W0000 00:00:1795907115.478576    5586 a.cc:3518] Shape mismatch in {name}::UpdateOutputTensors(output of a)"
    assert summary_of(read_log(line)).delegate.name == delegate
