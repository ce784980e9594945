"""Profiles in every form, matched with the plan of a simulation, and profiles that must be refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.api.arguments import target_of
from delegate_sim.device.compare.row_matching import without_commas
from delegate_sim.device.parse.log import read_runs_file
from delegate_sim.device.parse.log_contents import LogError
from delegate_sim.errors import DelegateSimError
from delegate_sim.model.schema import is_operator
from delegate_sim.runtime.interpreter import simulate
from delegate_sim.timing import matching, measured
from delegate_sim.timing.matching import OpProfiles
from delegate_sim.timing.measured import KERNEL, NODE, UNMATCHED, cpu_time, read_op_profile
from fixtures.builder import ModelBuilder
from fixtures.op_profiles import (
    FORMS,
    ProfiledRow,
    messages,
    ms_by_node,
    profiled_rows,
    protobuf_message,
    write_litert_profile,
    write_profile,
)
from tests.support.models import chain_model
from tests.support.work import calls

MODEL = delegate_sim.load(chain_model(["ADD", "RELU", "ROUND", "ADD", "GELU", "ADD"]).bytes())
NNAPI, GPU, XNNPACK = (target_of(name, {}, "litert-2.3", "benchmark") for name in ("nnapi", "gpu", "xnnpack"))
OLD = target_of("xnnpack", {}, "tf-2.10", "benchmark")
RUN = simulate(MODEL, NNAPI)
ROWS = profiled_rows(RUN, ms_by_node(MODEL))
CPU_ROWS = [ProfiledRow(node.op, f"[t{index}]", index, 0.5 + index) for index, node in enumerate(MODEL.subgraphs[0].nodes)]
SHARED = Path(__file__).resolve().parents[3] / "shared"


@pytest.fixture
def timing(tmp_path):
    """Return a function that matches a profile, given as text or bytes."""

    def match(content, model=MODEL, target=NNAPI):
        path = tmp_path / "profile.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return OpProfiles((str(path),)).timings(model, [target])[0]

    return match


def kinds(timing):
    return [(part.kind, part.op, part.ms, [key.node for key in part.nodes]) for part in timing.parts]


def expected(rows, run):
    kernels = iter([list(subset.nodes) for subset in run.subgraphs[0].subsets if subset.is_delegated])
    return [
        (KERNEL, "nnapi", row.ms, next(kernels)) if "Delegate" in row.op else (NODE, row.op, row.ms, [row.node]) for row in rows
    ]


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("summary", "slowest")])
def test_rows_match_nodes_and_kernels_in_every_form(timing, form):
    found = timing(write_profile(ROWS, form))
    assert kinds(found) == expected(ROWS, RUN)
    assert (found.delegates, found.notes) == (("nnapi",), ())
    assert found.total_ms == pytest.approx(sum([row.ms for row in ROWS]))


INNER = [ProfiledRow("Add (ND, F32)", "", 0, 0.25), ProfiledRow("Clamp (NC, F32)", "", 1, 0.5)]


def test_litert_lists_the_operators_inside_of_kernels_among_the_nodes(timing):
    found = timing(write_litert_profile(ROWS, INNER))
    assert kinds(found) == expected(ROWS, RUN)
    assert [(inner.name, inner.ms) for inner in found.inner] == [("Add (ND, F32)", 0.25), ("Clamp (NC, F32)", 0.5)]


def test_the_summary_of_litert_has_averages_of_calls(timing):
    for rows, inner in ((CPU_ROWS, []), (ROWS, INNER)):
        text = write_litert_profile(rows, inner)
        found = timing(text[text.index("Number of nodes") :])
        assert {group.op: group.ms for group in found.groups} == {
            group.op: pytest.approx(group.ms, abs=0.003) for group in timing(write_profile(rows, "summary")).groups
        }


def test_the_slowest_rows_match_too(timing):
    assert sorted(kinds(timing(write_profile(ROWS, "slowest")))) == sorted(expected(ROWS, RUN))


def test_the_slowest_rows_alone_are_not_the_whole_time(timing):
    text = write_profile(CPU_ROWS, "slowest")
    found = timing(text[: text.index("ROUND")])
    assert kinds(found) == [(NODE, row.op, row.ms, [row.node]) for row in reversed(CPU_ROWS[3:])]
    (note,) = found.notes
    assert "3 rows, the slowest, of 6" in note


def test_a_summary_gives_times_of_operators_but_of_no_single_node(timing):
    found = timing(write_profile(CPU_ROWS, "summary"))
    (adds,) = [part.nodes for part in found.parts if part.op == "ADD"]
    assert [key.node for key in adds] == [0, 3, 5]
    assert (cpu_time([found], adds[:1]).ms, cpu_time([found], adds[:1]).unknown) == (0, 1)
    assert cpu_time([found], adds).ms == pytest.approx(0.5 + 3.5 + 5.5)


@pytest.mark.parametrize("name", ["BenchmarkProfilingData", "ModelRuntimeDetails"])
def test_protobuf(timing, name):
    pytest.importorskip("google.protobuf", reason="protobuf is not installed")
    found = timing(protobuf_message(name, messages(ROWS)[name]).SerializeToString())
    assert kinds(found) == expected(ROWS, RUN)


def test_the_encoding_of_windows(timing):
    assert kinds(timing(write_profile(ROWS).encode("utf-16"))) == expected(ROWS, RUN)


def test_times_of_the_whole_run(timing):
    found = timing(write_profile(ROWS))
    assert (found.times.init_ms, found.times.first_ms, found.times.warmup_ms) == (5, 9, 8)
    assert found.outside_ms == pytest.approx(0.5)


def test_the_result_of_litert_benchmark_has_totals_only(timing):
    latency = {"init_ms": 7.5, "warmup_first_ms": 3.5, "warmup_avg_ms": 2.5, "avg_ms": 2.25, "std_ms": 0.5, "num_runs": 50}
    found = timing(json.dumps({"model": "m.tflite", "latency": latency}))
    assert (found.parts, found.times.inference_ms, found.times.runs) == ((), 2.25, 50)
    assert len(found.notes) == 1


def test_kernels_without_an_index_match_by_their_outputs_or_in_order(timing):
    text = write_profile(ROWS)
    for row in ROWS:
        text = text.replace(f"{row.name}:{row.node}\n", f"{row.name}\n")
    assert kinds(timing(text)) == expected(ROWS, RUN)
    for row in ROWS:
        text = text.replace(f"\t{row.name}\n", "\t[]\n")
    assert kinds(timing(text)) == expected(ROWS, RUN)


def test_a_kernel_that_the_simulation_lacks_is_listed_with_its_time(timing):
    rows = [*ROWS[:-1], ProfiledRow("TfLiteNnapiDelegate", "[elsewhere]", 40, 2.5)]
    (lost,) = [part for part in timing(write_profile(rows)).parts if part.kind == UNMATCHED]
    assert (lost.ms, lost.nodes, lost.name) == (2.5, (), "[elsewhere]:40")


def test_a_kernel_of_a_delegate_that_is_not_simulated(timing):
    rows = [ProfiledRow("SomeVendorDelegate", "[t0]", 9, 2.0), *CPU_ROWS[1:]]
    found = timing(write_profile(rows))
    assert [part.op for part in found.parts if part.kind == UNMATCHED] == ["SomeVendorDelegate"]


def test_a_profile_of_the_cpu_gives_every_node_a_time(timing):
    found = timing(write_profile(CPU_ROWS))
    assert (found.delegates, kinds(found)) == ((), [(NODE, row.op, row.ms, [row.node]) for row in CPU_ROWS])


def test_nodes_that_the_device_left_to_the_cpu(timing):
    found = timing(write_profile([*ROWS[:-1], CPU_ROWS[-1]]))
    assert found.parts[-1].nodes == ((0, 5),)
    assert "1 node on the CPU" in found.notes[0]


def test_rows_inside_of_kernels_are_not_counted_twice(timing):
    inner = ProfiledRow("Convolution", "Delegate/Convolution", 0, 3.0)
    found = timing(write_profile([*ROWS, inner]))
    assert found.total_ms == pytest.approx(sum([row.ms for row in ROWS]))
    assert "own total" in "; ".join(found.notes)


MOBILENET = delegate_sim.load(str(Path(__file__).resolve().parents[2] / "fixtures" / "models" / "mobilenet_block.tflite"))


def internal_table(names):
    """Return the table of the operators inside of kernels, as the profiler prints it behind the other tables."""
    share = 100 / len(names)
    rows = [
        f"\tDelegateOpInvoke\t0.2\t0.125\t{share:.3f}%\t{share * (place + 1):.3f}%\t0.0\t1\tDelegate/{name}:{place}\n"
        for place, name in enumerate(names)
    ]
    head = f"{'=' * 30} Run Order {'=' * 30}\n\t[node type]\t[first]\t[avg ms]\t[%]\t[cdf%]\t[mem KB]\t[times called]\t[Name]\n"
    total = f"Timings (microseconds): count=50 first={125 * len(names)} avg={125 * len(names)} std=0\n"
    return f"Delegate internal: \n{head}{''.join(rows)}\n{total}"


@pytest.mark.parametrize(("lost", "is_known"), [(0, True), (1, False)])
def test_operators_inside_of_a_kernel_belong_to_nodes_where_the_order_tells(timing, lost, is_known):
    rows = profiled_rows(simulate(MOBILENET, XNNPACK), ms_by_node(MOBILENET))
    convolutions = [index for index, node in enumerate(MOBILENET.subgraphs[0].nodes) if node.op == "CONV_2D"]
    names = ["Binary Elementwise (ND)", *["Convolution (NHWC, F32) IGEMM"] * (len(convolutions) - lost)]
    found = timing(write_profile(rows) + internal_table(names), MOBILENET, XNNPACK)
    assert [(inner.name, inner.ms) for inner in found.inner] == [(name, 0.125) for name in names]
    nodes = [inner.node and inner.node.node for inner in found.inner]
    assert nodes == [None, *(convolutions if is_known else [None] * (len(convolutions) - 1))]
    assert found.total_ms == pytest.approx(sum([row.ms for row in rows]))
    assert found.notes == ()


@pytest.mark.parametrize(("ops", "node"), [(["ADD", "LOG", "SOFTMAX"], 2), (["SOFTMAX", "LOG", "SOFTMAX"], None)])
def test_an_operator_of_only_one_of_several_kernels_belongs_to_its_node(timing, ops, node):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    last = source = graph.input("x", "FLOAT32", [1, 4])
    for number, op in enumerate(ops):
        result = graph.tensor(f"t{number}", "FLOAT32", [1, 4])
        graph.node(op, [last, source] if op == "ADD" else [last], [result], options={"beta": 1.0} if op == "SOFTMAX" else None)
        last = result
    graph.outputs(last)
    model = delegate_sim.load(builder.bytes())
    rows = profiled_rows(simulate(model, OLD), ms_by_node(model))
    assert [row.op for row in rows] == ["TfLiteXNNPackDelegate", "LOG", "TfLiteXNNPackDelegate"]
    found = timing(write_profile(rows) + internal_table(["Softmax (NC, F32)"]), model, OLD)
    assert [inner.node and inner.node.node for inner in found.inner] == [node]


OTHER = delegate_sim.load(chain_model(["RELU", "ADD", "TANH"]).bytes())
RENAMED = [row._replace(name=row.name.replace("[t", "[other")) for row in CPU_ROWS]
LOGCAT = "11-20 12:00:00.000  99  99 D audio   : frames written 480 of 480, 3.14% of 100% and nothing else\n" * 20_000

BAD = {
    "another model": (write_profile(CPU_ROWS), OTHER, "lists ADD as node 0, but in the model it is RELU"),
    "another model, by its summary": (write_profile(CPU_ROWS, "summary"), OTHER, "counts 3 ADD, but the model has 1"),
    "another model, by its kernels": (
        write_profile([ProfiledRow("TfLiteNnapiDelegate", "[far/away]", 9, 1.0)]),
        MODEL,
        "which the model does not have",
    ),
    "other names": (write_profile(RENAMED), MODEL, "names the output of node 0"),
    "fewer nodes": (write_profile(CPU_ROWS[:4]), MODEL, "lists 4 nodes, but the model has 6"),
    "a node too many": (
        write_profile([*CPU_ROWS, ProfiledRow("ADD", "[t9]", 77, 1.0)]),
        MODEL,
        "as node 77, but the model has no",
    ),
    "another subgraph": (
        write_profile(CPU_ROWS, "json").replace('"subgraph_index": 0', '"subgraph_index": 7'),
        MODEL,
        "subgraph 7",
    ),
    **{
        f"subgraph {number}": (
            write_profile(CPU_ROWS, "json").replace('"subgraph_index": 0', f'"subgraph_index": {number}'),
            MODEL,
            f"lists nodes of subgraph {number}, but the model has no such subgraph",
        )
        for number in (-1, -5)
    },
    "no profile": ("INFO: STARTING!\nINFO: Graph: [m.tflite]\nINFO: Use NNAPI: [1]\n" + LOGCAT, MODEL, "has no"),
    "nothing": ("", MODEL, "has no lines"),
    "an unknown binary file": (b"\x0a\x03\x00\x01\x02\xff\xfe", MODEL, "protobuf"),
    "only the initialization": (json.dumps({"init_profile": {}}), MODEL, "only a profile of the initialization"),
    "JSON of something else": ('{"a": [1, 2]}', MODEL, "has no lines"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_profile_gives_one_clear_line(timing, what):
    content, model, message = BAD[what]
    with pytest.raises(DelegateSimError, match=r"profile\.txt: ") as caught:
        timing(content, model)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ms", ["1e300", "-5.0", "nan", "9" * 30])
def test_impossible_times_are_no_times(timing, ms):
    text = write_profile(CPU_ROWS)
    text = text[: text.index("Top by")].replace("\t       3.500", f"\t{ms}")
    assert ms in text
    assert [part.ms for part in timing(text).parts] == [row.ms for row in CPU_ROWS if row.ms != 3.5]


@pytest.mark.parametrize("count", [10**400, 1e999, "x", None, -1, 0])
def test_impossible_numbers_in_json(timing, count):
    content = json.loads(write_profile(CPU_ROWS, "json"))
    for profile in content["runtime_profile"]["subgraph_profiles"][0]["per_op_profiles"]:
        profile["inference_microseconds"] |= {"sum": count, "count": count, "first": count}
        profile["times_called"] = count
    found = timing(json.dumps(content))
    assert all(0 <= part.ms < 1e12 for part in found.parts)


@pytest.mark.parametrize("noise", [LOGCAT, "\n"])
def test_lines_of_others_around_a_profile_change_nothing(timing, noise):
    assert kinds(timing(noise + write_profile(ROWS, "logcat") + noise)) == expected(ROWS, RUN)


@pytest.mark.parametrize("share", [0.4, 0.55])
def test_a_truncated_profile_says_so_and_matches_nothing_wrong(timing, share):
    text = write_profile(CPU_ROWS)
    text = text[: text.index("Top by")]
    found = timing(text[: int(len(text) * share)])
    assert kinds(found) == [(NODE, row.op, row.ms, [row.node]) for row in CPU_ROWS][: len(found.parts)]
    assert 0 < len(found.parts) < len(CPU_ROWS)
    assert any("cut short" in note or "lacks rows" in note for note in found.notes)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [CPU_ROWS, ROWS])
def test_a_profile_of_another_model_in_every_form(timing, form, rows):
    with pytest.raises(DelegateSimError, match=r"profile\.txt: .*; is the profile from this model\?$") as caught:
        timing(write_profile(rows, form), OTHER)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "summary"])
@pytest.mark.parametrize(("rows", "run"), [(CPU_ROWS, None), (ROWS, RUN)])
def test_a_truncated_profile_in_every_form(timing, form, rows, run):
    """Whatever is left of a file, each row matches its own nodes, or one line says what is missing."""
    text = write_profile(rows, form)
    known = [(NODE, row.op, row.ms, [row.node]) for row in rows] if run is None else expected(rows, run)
    errors = []
    for end in range(len(text) // 7, len(text), len(text) // 7):
        try:
            found = timing(text[:end])
        except DelegateSimError as error:
            errors.append(str(error))
            continue
        assert [part for part in kinds(found) if part not in known] == []
        assert len(found.parts) == len(known) or found.notes
    assert all(re.fullmatch(r".*profile\.txt: .*", error) for error in errors)


VERSIONED = delegate_sim.load(chain_model([*["ADD", "GELU", "ADD"], *["LOG", "ADD", "COS", "ADD"]]).bytes())
"""XNNPACK takes nodes 0 to 2, 4 and 6 in TensorFlow 2.10, and all nodes in LiteRT 2.3."""
CHECK = "check --runtime and the options, or run reconcile with this profile as the log"
OTHER_RELEASES = {
    "older": (
        OLD,
        XNNPACK,
        [(NODE, "LOG", [3]), (NODE, "COS", [5])],
        f"the profile has 2 nodes on the CPU that the simulation delegates and 3 rows that the simulation does not have: {CHECK}",
    ),
    "newer": (
        XNNPACK,
        OLD,
        [],
        "the profile has no row for 2 nodes that the simulation leaves on the CPU and 1 row that the simulation does not have: "
        + CHECK,
    ),
}


@pytest.mark.parametrize("form", [form for form in FORMS if form != "summary"])
@pytest.mark.parametrize("which", OTHER_RELEASES)
def test_a_profile_of_another_release_matches_nothing_wrong(timing, which, form):
    """The last kernels of both releases have the same outputs, but not the same nodes."""
    profiled, simulated, nodes, note = OTHER_RELEASES[which]
    rows = profiled_rows(simulate(VERSIONED, profiled), ms_by_node(VERSIONED))
    found = timing(write_profile(rows, form), VERSIONED, simulated)
    matched = sorted([(part.kind, part.op, [key.node for key in part.nodes]) for part in found.parts if part.nodes])
    assert matched == sorted(nodes)
    lost = sorted([(part.op, part.ms) for part in found.parts if part.kind == UNMATCHED])
    assert lost == sorted([(row.op, row.ms) for row in rows if "Delegate" in row.op])
    assert found.total_ms == pytest.approx(sum([row.ms for row in rows]))
    if form != "slowest":
        assert found.notes == (note,)


@pytest.mark.parametrize(
    ("which", "note"), [("older", "the profile has 2 nodes on the CPU that the simulation delegates"), ("newer", "1 row matches")]
)
def test_the_summary_of_another_release_matches_no_kernel(timing, which, note):
    """A node matches if the CPU has all nodes of its operator."""
    profiled, simulated, nodes, _ = OTHER_RELEASES[which]
    rows = profiled_rows(simulate(VERSIONED, profiled), ms_by_node(VERSIONED))
    found = timing(write_profile(rows, "summary"), VERSIONED, simulated)
    assert sorted([(part.kind, part.op, [key.node for key in part.nodes]) for part in found.parts if part.nodes]) == sorted(nodes)
    assert found.total_ms == pytest.approx(sum([row.ms for row in rows]), abs=0.003)
    assert [text.startswith(note) for text in found.notes] == [True]


def test_equally_many_kernels_with_other_nodes_do_not_match_in_a_summary(timing):
    rows = profiled_rows(simulate(VERSIONED, OLD), ms_by_node(VERSIONED))
    del rows[3]
    found = timing(write_profile(rows, "summary"), VERSIONED, OLD)
    assert [part.op for part in found.parts if part.kind == UNMATCHED] == ["TfLiteXNNPackDelegate"]


@pytest.mark.parametrize("target", [OLD, XNNPACK])
@pytest.mark.parametrize("form", FORMS)
def test_a_profile_of_the_same_release_matches_every_row(timing, target, form):
    rows = profiled_rows(simulate(VERSIONED, target), ms_by_node(VERSIONED))
    found = timing(write_profile(rows, form), VERSIONED, target)
    assert not [part for part in found.parts if part.kind == UNMATCHED]
    assert found.notes == ()


@pytest.mark.parametrize("lost", [1, 3])
def test_a_kernel_that_takes_a_node_of_the_cpu_too_is_not_the_simulated_kernel(timing, lost):
    """The device's kernel has the outputs of the simulated kernel, and the CPU node before it."""
    rows = profiled_rows(simulate(VERSIONED, OLD), ms_by_node(VERSIONED))
    del rows[lost]
    found = timing(write_profile(rows), VERSIONED, OLD)
    kernels = [[key.node for key in part.nodes] for part in found.parts if part.kind == KERNEL]
    assert kernels == ([[0, 1, 2], [6]] if lost == 1 else [[0, 1, 2], [4]])
    assert "1 node" in found.notes[0]


def test_only_a_file_with_times_is_a_profile(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("INFO: Replacing 2 out of 4 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 3 partitions.\n")
    with pytest.raises(LogError, match="--enable_op_profiling=true"):
        read_op_profile(str(path))


REAL = {
    "13": (5.061, 1, None, {}),
    "14": (354.510, 51, None, {}),
    "42": (158.709, 11, 158.715, {}),
    "43": (11.752, 9, None, {}),
    "44": (21.322, 3, None, {"init_ms": 21528.106, "warmup_ms": 27.9174, "inference_ms": 23.3135}),
    "45": (93.463, 35, None, {}),
    "46": (6.549, 1, None, {}),
}
"""Logs that devices printed: the sum of the rows in milliseconds, the number of rows, and the totals of the log."""


def real_log(number):
    paths = list((SHARED / "logs").glob(f"{number}_*"))
    if not paths:
        pytest.skip(f"../shared has no log {number}")
    return str(paths[0])


@pytest.mark.parametrize("number", REAL)
def test_tables_of_real_logs(number):
    path = real_log(number)
    total, count, profiled, times = REAL[number]
    log = read_runs_file(path)[-1]
    if log.run_orders:
        rows = log.run_orders[0].rows
        assert (sum([row.time.ms for row in rows]), len(rows)) == (pytest.approx(total), count)
        shares = sum([row.time.share for row in rows])
        assert log.run_orders[0].lacks_rows == (shares < 99)
    else:
        summary = log.summaries[0]
        assert (sum(summary.times.values()), sum(summary.counts.values())) == (pytest.approx(total), count)
        assert not summary.lacks_rows
    assert log.times.profiled_ms == profiled
    assert {name: getattr(log.times, name) for name in times} == times
    with pytest.raises(DelegateSimError, match="is the profile from this model"):
        OpProfiles((path,)).timings(OTHER, [GPU])


def model_of_rows(rows, summary):
    """Return a model with the CPU nodes that a log shows, at their places. The other nodes are ABS on INT64."""
    builder = ModelBuilder("as in a log")
    graph = builder.subgraph("main")
    source = graph.input("x", "INT64", [1, 4])
    named = [row for row in rows if "Delegate" not in row.op and row.op != "DELEGATE"]
    places = {row.node if row.node is not None else number: row for number, row in enumerate(named)}
    ops = [op for op, count in ({} if rows else summary.counts).items() for _ in range(0 if "Delegate" in op else count)]
    for index in range(max([*places, len(ops) - 1, 0]) + 1):
        row = places.get(index)
        op = ops[index] if ops else "ABS" if row is None else row.op
        outputs = [f"t{index}"] if row is None else row.outputs.split(", ")
        custom = {} if is_operator(op) else {"custom": op}
        graph.node("CUSTOM" if custom else op, [source], [graph.tensor(name, "INT64", [1, 4]) for name in outputs], **custom)
    return delegate_sim.load(builder.bytes())


MATCHED = {
    "14": ({"CONV_2D": 266.475, "DEPTHWISE_CONV_2D": 83.740, "CONCATENATION": 0.483}, {}),
    "42": ({"STRIDED_SLICE": 8.347, "RESIZE_NEAREST_NEIGHBOR": 0.879}, {"TfLiteNnapiDelegate": 149.483}),
    "43": (
        {"CONV_2D": 3.640, "MEAN": 0.492, "CONCATENATION": 3.809, "FULLY_CONNECTED": 3.142},
        {"TfLiteHexagonDelegate": 0.009, "TfLiteGpuDelegateV2": 0.388},
    ),
    "44": ({"SPLIT": 0.013, "ADD": 0.022}, {"DELEGATE": 21.287}),
    "45": (
        {"TRANSPOSE_CONV": 27.507, "STRIDED_SLICE": 1.098, "TANH": 0.052, "DENSIFY": 0.005},
        {"TfLiteXNNPackDelegate": 64.801},
    ),
}
"""Logs that devices printed: the times of CPU nodes that match a model with the same nodes, and of kernels that it lacks."""


@pytest.mark.parametrize("number", MATCHED)
def test_rows_of_real_logs_match_a_model_with_the_same_nodes(number):
    path = real_log(number)
    log = read_runs_file(path)[-1]
    rows = log.run_orders[0].rows if log.run_orders else ()
    found = OpProfiles((path,)).timings(model_of_rows(rows, log.summaries.get(0)), [NNAPI])[0]
    nodes, kernels = MATCHED[number]
    sums = {group.op: group.ms for group in found.groups if group.kind == NODE}
    assert {op: sums[op] for op in nodes} == pytest.approx(nodes)
    assert {part.op: part.ms for part in found.parts if part.kind == UNMATCHED} == kernels
    assert found.total_ms == pytest.approx(REAL[number][0])


def test_the_only_kernel_of_a_real_log_matches():
    builder = ModelBuilder("mobilenet v3 as in the log")
    graph = builder.subgraph("main")
    last = graph.input("x", "FLOAT32", [1, 4])
    for index in range(110):
        output = graph.tensor("MobilenetV3/Predictions/Softmax" if index == 109 else f"t{index}", "FLOAT32", [1, 4])
        graph.node("ABS", [last], [output])
        last = output
    graph.outputs(last)
    (part,) = OpProfiles((real_log("13"),)).timings(delegate_sim.load(builder.bytes()), [GPU])[0].parts
    assert (part.kind, part.op, part.ms, len(part.nodes)) == (KERNEL, "gpu", 5.061, 110)


def test_a_cut_row_of_a_real_log_matches_nothing_wrong():
    with pytest.raises(DelegateSimError, match="is the profile from this model"):
        OpProfiles((real_log("46"),)).timings(MODEL, [NNAPI])


def test_twice_the_rows_and_nodes_is_twice_the_work(tmp_path):
    def match(path, model):
        OpProfiles((str(path),)).timings(model, [NNAPI])

    counts = []
    for count in (100, 100, 200):
        path = tmp_path / f"{count}.txt"
        rows = [ProfiledRow("ADD", f"[another name {number}]", None, 1.0) for number in range(count - 1)]
        path.write_text(profile_text(rows), encoding="utf-8")
        counts.append(calls(match, path, delegate_sim.load(chain_model(["ADD", "RELU"] * (count // 2)).bytes())))
    assert counts[2] < 2.6 * counts[1]


def test_names_are_read_once_for_all_rows(monkeypatch, tmp_path):
    lengths = []

    def counted(names):
        lengths.append(len(names))
        return without_commas(names)

    for module in (matching, measured):
        monkeypatch.setattr(module, "without_commas", counted, raising=False)
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    long = graph.tensor("a" * 100_000, "FLOAT32", [1, 4])
    graph.node("ROUND", [graph.input("x", "FLOAT32", [1, 4])], [long])
    graph.outputs(long)
    model = delegate_sim.load(builder.bytes())
    path = tmp_path / "profile.txt"
    path.write_text(profile_text([ProfiledRow("ROUND", f"[{'a' * 22}]:0", 0, 1.0)] * 100), encoding="utf-8")
    OpProfiles((str(path),)).timings(model, [GPU])
    assert sum(lengths) < 10 * 100_000


def profile_text(rows):
    head = "============================== Run Order ==============================\n"
    columns = "[node type] [first] [avg ms] [%] [cdf%] [mem KB] [times called] [Name]\n"
    return head + columns + "".join([f"{row.op} 0.1 0.1 0.1% 0.1% 0.0 1 {row.name}\n" for row in rows]) + "\n"


@pytest.mark.parametrize("form", ["text", "csv", "summary"])
def test_operators_inside_of_kernels_stand_for_the_kernels(timing, form):
    """Today's benchmark_model lists the CPU library's own operators among the nodes, and leaves out the kernels."""
    model = delegate_sim.load(chain_model(["ADD", "CUMSUM", "RELU"]).bytes())
    rows = [
        ProfiledRow("Add (ND, F32)", "Delegate/Add (ND, F32)", 0, 2.0),
        ProfiledRow("CUMSUM", "[t1]", 1, 4.0),
        ProfiledRow("Clamp (NC, F32)", "Delegate/Clamp (NC, F32)", 1, 3.0),
    ]
    found = timing(write_profile(rows, form), model, NNAPI)
    assert kinds(found) == [(KERNEL, "xnnpack", 5.0, [0, 2]), (NODE, "CUMSUM", 4.0, [1])]
    assert (found.delegates, found.kernel_count, found.total_ms, found.notes) == (("xnnpack",), 2, 9.0, ())
    assert [inner.ms for inner in found.inner] == ([] if form == "summary" else [2.0, 3.0])


def test_a_name_is_searched_for_without_a_walk_over_all_names():
    class Names(list):
        def __iter__(self):
            raise AssertionError

    long = [f"tensor_with_a_long_name_{number:02}" for number in range(50)]
    names = matching._Names((name, name) for name in long)
    names._names = Names(names._names)
    assert list(names.same(long[40])) == [long[40]]
    assert list(names.same("tensor_with_a_long_name_4...")) == long[40:]
    assert list(names.same("tensor_with_a_long_name_x")) == []


def test_an_execution_plan_costs_work(tmp_path, monkeypatch):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"subgraphs": [{"execution_plan": [0] * 2_000}]}), "utf-8")
    for steps, reason in ((20_000, "has no table"), (8_000, "limit of 8,000 steps")):
        monkeypatch.setattr("delegate_sim.foundation.work_budget._MOST_STEPS", steps)
        with pytest.raises(LogError, match=reason):
            read_op_profile(str(path))
