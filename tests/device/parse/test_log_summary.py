"""The summary of a log by itself; the logs are made up, each for the wordings of one part."""

from __future__ import annotations

from pathlib import Path

import pytest

from delegate_sim.device.parse.applied_target import may_be_older, setting_of
from delegate_sim.device.parse.delegate_identity import registered_accelerators
from delegate_sim.device.parse.error_meanings import explained_notes
from delegate_sim.device.parse.log import read_log, read_runs
from delegate_sim.device.parse.log_contents import LogError, UnknownDelegateError
from delegate_sim.device.parse.log_runs import chosen_run, run_note, separate_runs
from delegate_sim.device.parse.log_summary import summary_of
from tests.support.device.logs import SOURCES, summary

LOGS = Path(__file__).resolve().parents[3] / "fixtures" / "logs"


def log_of(name):
    return read_log((LOGS / f"{name}.log").read_text(encoding="utf-8"))


def said(name):
    return summary_of(log_of(name))


def numbers(summary):
    return [(each.source, each.delegated, each.total, each.partitions) for each in summary.delegate.counts]


def test_refusals_of_a_delegate_that_lists_operators():
    found = said("gpu_refusals")
    assert (found.delegate.name, found.delegate.outcome) == ("gpu", "part")
    assert numbers(found) == [("split", 18, 25, None), ("replacement", 18, 25, 2)]
    assert [(op, reason) for op, reason, _ in found.refusals] == [
        ("CUMSUM", "Operation is not supported."),
        ("DEQUANTIZE", ""),
        ("TFLite_Detection_PostProcess", "TFLite_Detection_PostProcess"),
    ]
    assert not found.log.unused_count


def test_a_delegate_that_takes_nothing():
    found = said("gpu_refuses_all")
    assert (found.delegate.outcome, numbers(found)) == ("none", [("split", 0, 12, None)])


def test_a_failure_with_its_node_and_call():
    found = said("hexagon_failed")
    assert (found.delegate.name, found.delegate.outcome) == ("hexagon", "failed")
    assert ("own", 9, 12, 3) in numbers(found)
    assert [(error.kind, error.node) for error in found.errors] == [
        ("call-error", None),
        ("node-error", 12),
        ("benchmark-failed", None),
    ]


def test_what_litert_compiles_and_dispatches():
    found = said("litert_npu")
    assert (found.delegate.name, found.delegate.outcome) == ("", "failed")
    assert numbers(found) == [("compiled", 40, 44, 3), ("replacement", 3, 7, 5)]
    assert registered_accelerators(found.log) == ("NPU", "CPU")
    assert [error.kind for error in found.errors] == ["failure"]
    assert "dispatch library" in found.errors[0].meaning
    assert [line for line, _ in explained_notes(found.log)] == ["GPU accelerator could not be loaded and registered."]
    assert not may_be_older(found.log)


def test_devices_that_the_runtime_behind_chose_count_lines_that_logcat_left_out():
    found = said("nn_runtime")
    assert found.log.chosen_devices == {"vendor-npu": 6, "nnapi-reference": 1}
    assert (found.delegate.name, found.delegate.outcome) == ("nnapi", "created")


def test_lines_of_several_models_are_not_added_up():
    runs = separate_runs(read_runs((LOGS / "several_models.log").read_text().splitlines(keepends=True)))
    assert [[each.replaced for each in run.replacements] for run in runs] == [[30], [12]]
    assert chosen_run(runs, 1) is runs[0]
    assert chosen_run(runs, None) is runs[1]
    assert "--run N" in run_note(2, None)
    assert run_note(1, None) == ""
    with pytest.raises(LogError, match="has 2 runs, so there is no run 3"):
        chosen_run(runs, 3)


def test_lines_of_as_many_subgraphs_as_there_are_stay_together():
    logs = read_runs((LOGS / "several_models.log").read_text().splitlines(keepends=True))
    (run,) = separate_runs(logs, subgraphs=2)
    assert [each.replaced for each in run.replacements] == [30, 12]


def test_a_library_that_nobody_knows_is_said_to_be_unknown():
    found = said("external")
    assert (found.delegate.name, found.delegate.outcome, found.delegate.title) == ("", "part", "Something")
    assert numbers(found) == [("replacement", 5, 6, 2), ("application", None, None, None)]
    with pytest.raises(UnknownDelegateError, match="with the kernel Something; give --delegate"):
        setting_of(log_of("external"))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/vendor/lib64/libvx_delegate.so", "vx"),
        (r"C:\libs\vx_delegate.dll", "vx"),
        ("/opt/libarmnnDelegate.so", "armnn"),
        ("/usr/lib/libteflon.so", "teflon"),
        ("/opt/libother.so", None),
    ],
)
def test_whose_a_library_is_tells_its_name(path, name):
    log = read_log(f"STARTING!\nGraph: [a]\nExternal delegate path: [{path}]\nEXTERNAL delegate created.\n")
    assert (summary_of(log).delegate.name or None) == name
    if name is None:
        with pytest.raises(UnknownDelegateError):
            setting_of(log)


def test_errors_alone():
    found = said("errors")
    assert [error.kind for error in found.errors] == ["builtin-error", "custom-error", "node-error"]
    assert "no CONV_2D in version 9" in found.errors[0].meaning
    assert "custom operator MyOp" in found.errors[1].meaning
    assert found.errors[2].node == 4


def test_an_exception_with_the_reason_behind_it():
    found = said("several_lines_in_one")
    assert (found.delegate.outcome, found.delegate.name) == ("failed", "")
    assert [error.kind for error in found.errors] == ["dynamic-error"]


def test_lines_of_label_image_in_a_container():
    found = said("label_image")
    assert (found.delegate.name, found.delegate.outcome) == ("coreml", "part")
    assert numbers(found) == [("own", 8, 9, 2)]
    assert found.log.unused == ("[component_container-1] something else",)
    assert (found.log.unused_count, found.log.line_count) == (1, 3)


def test_a_delegate_that_is_only_known_by_name():
    found = summary("INFO: HailoDelegate: 1 nodes delegated out of 1 nodes with 1 partitions.\n")
    assert (found.delegate.name, found.delegate.outcome) == ("", "whole")
    assert "Hailo" in found.delegate.title


def test_a_log_of_ethos_u():
    found = said("ethosu")
    assert (found.delegate.name, found.delegate.outcome) == ("ethosu-imx93", "whole")


def test_a_delegate_of_which_nothing_is_known_but_its_count():
    log = read_log(
        "INFO: MyDelegate delegate: 3 nodes delegated out of 4 nodes with 1 partitions.\nApplied EXTERNAL delegate.\n"
        "INFO: Created TensorFlow Lite XNNPACK delegate for CPU.\n"
    )
    found = summary_of(log)
    assert (found.delegate.name, found.delegate.title, found.delegate.outcome) == ("", "MyDelegate", "part")
    with pytest.raises(UnknownDelegateError, match="the log is from MyDelegate, which is not simulated"):
        setting_of(log)


def test_an_error_of_litert_without_a_level():
    found = summary("[dispatch_delegate.cc:122] Failed to create a dispatch delegate kernel: No usable Dispatch runtime found\n")
    assert [error.kind for error in found.errors] == ["failure"]


LARGER = "Replacing 5 out of 64 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 5 partitions for the whole graph.\n"
LINE = "Replacing {} out of {} node(s) with delegate ({}) node, yielding {} partitions for subgraph {}.\n"


@pytest.mark.parametrize(
    ("lines", "runs"),
    [
        ([LINE.format(5, 10, "TfLiteXNNPackDelegate", 2, 0), LINE.format(5, 12, "TfLiteXNNPackDelegate", 2, 0)], 2),
        ([LINE.format(5, 10, "TfLiteXNNPackDelegate", 2, 0), LINE.format(5, 12, "TfLiteXNNPackDelegate", 2, 1)], 1),
        ([LINE.format(5, 10, "TfLiteNnapiDelegate", 2, 0), LINE.format(5, 6, "TfLiteXNNPackDelegate", 2, 0)], 1),
        ([LINE.format(5, 10, "TfLiteNnapiDelegate", 2, 0), LINE.format(5, 30, "TfLiteXNNPackDelegate", 2, 0)], 2),
        ([LINE.format(59, 62, "TfLiteXNNPackDelegate", 5, 0)[:-17] + ".\n", LARGER], 2),
        (["Graph: [a]\n", "Loaded model a\n", LINE.format(5, 10, "K", 2, 0), "Graph: [b]\n", "Loaded model b\n"], 2),
        (["Loaded model a\n", LINE.format(5, 10, "K", 2, 0), "Loaded model b\n", LINE.format(1, 3, "J", 2, 1)], 2),
        (["I/tflite  (  11): " + LINE.format(5, 10, "K", 2, 0), "I/tflite  (  12): " + LINE.format(1, 3, "J", 2, 1)], 2),
    ],
)
def test_what_begins_a_new_run(lines, runs):
    assert len(read_runs(lines)) == runs


def test_the_long_format_of_logcat():
    header = "[ 06-08 12:09:32.317  1234: 1234 I/tflite ]\n"
    lines = [header, LINE.format(5, 10, "TfLiteXNNPackDelegate", 2, 0), "\n", header, "Initialized session in 1ms.\n"]
    (log,) = read_runs(lines, SOURCES)
    assert (log.replacements[0].replaced, log.unused_count) == (5, 0)


@pytest.mark.parametrize(
    "line",
    [
        "Op code 67 is currently not delegated to NNAPI",
        "25 cannot be handled by this delegate.  Only the first 30 ops will run on the GPU, and the remaining 1 on the CPU",
        "First 2 operations will run on the GPU, and the remaining 249 on the CPU.",
        "Next operations are not supported by GPU delegate:",
        "Use gpu : [1]",
    ],
)
def test_wordings_that_only_older_releases_have(line):
    assert summary(f"{line}\n").log.is_old


def test_a_kernel_without_a_name_is_of_the_delegate_that_was_switched_on():
    table = (
        "Use nnapi : [1]\nOperator-wise Profiling Info for Regular Benchmark Runs:\n"
        "============================== Summary by node type ==============================\n"
        "\t[Node type]\t[count]\t[avg ms]\t[avg %]\t[cdf %]\t[mem KB]\t[times called]\n"
        "\tDELEGATE\t2\t10.0\t91.0%\t91.0%\t0.0\t2\n\tSOFTMAX\t3\t1.0\t9.0%\t100.0%\t0.0\t3\n\n"
    )
    found = summary(table)
    assert (found.delegate.name, found.delegate.outcome) == ("nnapi", "part")
    assert [(each.kernels, each.on_cpu) for each in found.delegate.counts] == [(2, 3)]


@pytest.mark.parametrize(("count", "outcome"), [(1, "applied"), (0, "none")])
def test_kernels_that_the_gpu_delegate_made(count, outcome):
    found = summary(f"INFO: Created TensorFlow Lite delegate for GPU.\nINFO: Created {count} GPU delegate kernels.\n")
    assert found.delegate.outcome == outcome
    assert [(each.source, each.kernels) for each in found.delegate.counts] == [("kernels", count)]


LOADED = "INFO: [a.cc:1] Loading shared library: /x/libLiteRtDispatch_MediaTek.so\n"
SELECTED = "INFO: [b.cc:1] Partitioned subgraph<0>, selected 63 ops, from a total of 64 ops. resulted in 1 partitions.\n"
NO_DISPATCH = "ERROR: [c.cc:1] Failed to create a dispatch delegate kernel: No usable Dispatch runtime found\n"


@pytest.mark.parametrize(("more", "outcome"), [("", "requested"), (NO_DISPATCH, "failed")])
def test_what_a_plugin_selects_is_not_applied_by_that(more, outcome):
    found = summary(LOADED + SELECTED + more)
    assert found.delegate.outcome == outcome
    assert [(each.source, each.delegated, each.total) for each in found.delegate.counts] == [("compiled", 63, 64)]


def test_delegates_that_are_not_simulated_are_kept_apart():
    found = summary(
        "INFO: NeuronDelegate delegate: 29 nodes delegated out of 31 nodes with 1 partitions.\n"
        "INFO: TfLiteEthosnDelegate delegate: 10 nodes delegated out of 12 nodes with 2 partitions.\n"
    )
    assert [each.total for each in found.delegate.counts] == [31]
    assert [[each.total for each in other.counts] for other in found.others] == [[12]]


def test_a_library_in_the_command_of_label_image():
    found = summary("./label_image -m m.tflite --external_delegate_path=/usr/lib/libfoo.so\nINFO: Applied EXTERNAL delegate.\n")
    assert (found.delegate.name, found.delegate.title, found.delegate.outcome) == ("", "/usr/lib/libfoo.so", "applied")


RAN = (
    "STARTING!",
    "Graph: [/data/local/tmp/m.tflite]",
    "Loaded model /data/local/tmp/m.tflite",
    "Initialized session in 12.3ms.",
    "Inference timings in us: Init: 12300, First inference: 31, Warmup (avg): 24, Inference (avg): 20",
)


@pytest.mark.parametrize(
    ("more", "outcome", "is_cut"),
    [
        ((), "not-shown", False),
        (("INFO: Created TensorFlow Lite XNNPACK delegate for CPU.",), "created", False),
        (("ERROR: Node number 3 (ADD) failed to prepare.",), "not-loaded", False),
    ],
)
def test_a_benchmark_that_came_to_its_end_is_not_cut_short(more, outcome, is_cut):
    found = summary("\n".join([*RAN[:3], *more, *RAN[3:], ""]))
    assert (found.delegate.outcome, found.is_cut) == (outcome, is_cut)


def test_a_benchmark_without_its_end_may_be_cut_short():
    found = summary("\n".join([*RAN[:3], ""]))
    assert (found.delegate.outcome, found.is_cut) == ("unknown", True)


REPLACING = "Replacing {} out of {} node(s) with delegate ({}) node, yielding {} partitions{}.\n"
GPU, XNNPACK, WHOLE_GRAPH = "TfLiteGpuDelegateV2", "TfLiteXNNPackDelegate", " for the whole graph"


@pytest.mark.parametrize(
    ("lines", "on_cpu"),
    [
        ([(29, 65, GPU, 3, WHOLE_GRAPH)], [36]),
        ([(29, 65, GPU, 3, WHOLE_GRAPH), (25, 37, XNNPACK, 2, WHOLE_GRAPH)], [36, 11]),
        ([(29, 65, GPU, 3, WHOLE_GRAPH), (36, 37, XNNPACK, 3, WHOLE_GRAPH)], [36, 0]),
        ([(0, 65, GPU, 0, WHOLE_GRAPH), (25, 65, XNNPACK, 2, WHOLE_GRAPH)], [65, 40]),
        ([(10, 20, GPU, 1, ""), (4, 8, GPU, 1, ""), (10, 11, XNNPACK, 3, ""), (1, 5, XNNPACK, 1, "")], [10, 4, 0, 3]),
        ([(4, 8, GPU, 2, ""), (4, 8, GPU, 2, ""), (1, 5, XNNPACK, 1, "")], [4, 4, None]),
        (
            [(4, 8, GPU, 2, " for subgraph 0"), (9, 9, GPU, 1, " for subgraph 1"), (1, 6, XNNPACK, 1, " for subgraph 0")],
            [4, 0, 3],
        ),
        ([(4, 8, GPU, 2, WHOLE_GRAPH), None, (5, 8, XNNPACK, 3, WHOLE_GRAPH)], [4, 3]),
    ],
)
def test_kernels_of_earlier_delegates_are_no_nodes_on_the_cpu(lines, on_cpu):
    restored = "Restored original execution plan after delegate application failure.\n"
    found = summary("".join([REPLACING.format(*line) if line else restored for line in lines]))
    counts = [count for each in (found.delegate, *found.others) for count in each.counts]
    assert [count.total for count in counts] == [line[1] for line in lines if line]
    assert [count.on_cpu for count in counts] == on_cpu
