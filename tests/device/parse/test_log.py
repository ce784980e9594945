"""Logs as they are read."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.device.parse.log import join_logs, read_log, read_runs_file
from delegate_sim.device.parse.log_contents import LogError
from delegate_sim.device.parse.tables import Event
from delegate_sim.releases.catalogue import RELEASES, parse_release
from delegate_sim.releases.wording import replacing_line
from fixtures.device_logs import FORMS, Device, HiddenDriver, HiddenRule, write_log
from tests.support.device.logs import SOURCES, SYNAP
from tests.support.models import MIXED, chain_model

LINE = "Replacing 31 out of 31 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 1 partitions for the whole graph."

PREFIXES = (
    "",
    "VERBOSE: ",
    "INFO: ",
    "    VERBOSE: ",
    "11-20 12:00:00.000  1234  1234 I tflite  : ",
    "2026-11-20 12:00:00.000  1234  1234 I tflite  : ",
    "I/tflite  ( 1234): ",
    "11-20 12:00:00.000 I/tflite  ( 1234): ",
    "2026-04-04 17:24:18.428 19036-19036 tflite                  pid-19036                            I  ",
    "05:58:19.796 tflite                  com.example.app  I  ",
    "2026-10-28 14:41:14.151361+0800 TFLiteBenchmark[3921:935759] ",
    "\x1b[32mVERBOSE: \x1b[0m",
)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_line_is_found_behind_what_loggers_put_in_front(prefix, end):
    (found,) = read_log(f"noise\n{prefix}{LINE}{end}").replacements
    assert (found.line, found.kernel, found.replaced, found.total, found.partitions) == (LINE, "TfLiteNnapiDelegate", 31, 31, 1)


@pytest.mark.parametrize("release", RELEASES)
def test_every_wording(release):
    line = replacing_line(
        parse_release(release), replaced=5, total=64, kernel="Vx Delegate", partitions=7, subgraph=2, name="loop (body)"
    )
    (found,) = read_log(f"VERBOSE: {line}\n").replacements
    assert (found.line, found.kernel, found.replaced, found.partitions) == (line, "Vx Delegate", 5, 7)
    assert found.total in (None, 64)
    assert found.subgraph in (None, 2)
    assert found.name in (None, "loop (body)")


def test_a_line_that_was_cut_short():
    (found,) = read_log(
        "INFO: Replacing 64 out of 64 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 1 partitions"
    ).replacements
    assert (found.replaced, found.total) == (64, 64)


def test_delegates_one_after_another():
    line = "VERBOSE: Replacing {} node(s) with delegate ({}) node, yielding 5 partitions for the whole graph.\n"
    log = read_log(line.format("5 out of 64", "TfLiteNnapiDelegate") + line.format("59 out of 62", "TfLiteXNNPackDelegate"))
    assert [each.kernel for each in log.replacements] == ["TfLiteNnapiDelegate", "TfLiteXNNPackDelegate"]


def test_what_benchmark_model_says():
    log = read_log(SYNAP)
    assert log.is_benchmark
    assert log.parameters["graph"] == "/data/local/tmp/model.tflite"
    assert log.tensorflow_version == "2.15.0"
    assert log.parameters["nnapi accelerator name"] == "synap-npu"
    assert log.parameters["nnapi accelerators available"] == "synap-npu,nnapi-reference"
    assert log.created == ("NNAPI",)
    (application,) = log.applications
    assert (application.provider, application.outcome, application.kernels) == ("NNAPI", "completely", 1)


@pytest.mark.parametrize(
    ("line", "outcome", "kernels"),
    [
        (
            "Explicitly applied NNAPI delegate, and the model graph will be partially executed by the delegate "
            "w/ 2 delegate kernels.",
            "partially",
            2,
        ),
        ("Though NNAPI delegate is explicitly applied, the model graph will not be executed by the delegate.", "not", 0),
        ("Failed to apply NNAPI delegate.", "failed", None),
    ],
)
def test_how_a_delegate_was_applied(line, outcome, kernels):
    (found,) = read_log(f"05-31 10:31:13.157 21767 21767 I tflite  : {line}\n").applications
    assert (found.provider, found.outcome, found.kernels) == ("NNAPI", outcome, kernels)


def test_what_goes_wrong():
    log = read_log(
        "ERROR: Attempting to use a delegate that only supports static-sized tensors with a graph that has dynamic-sized tensors "
        "(tensor#-1 is a dynamic-sized tensor).\n"
        "ERROR: NN API returned error ANEURALNETWORKS_OP_FAILED at line 4650 while completing NNAPI compilation.\n"
        "ERROR: Node number 5 (TfLiteNnapiDelegate) failed to prepare.\n"
        "ERROR: Restored original execution plan after delegate application failure.\n"
    )
    assert log.dynamic_tensor == -1
    assert log.has(Event.RESTORED)
    assert [error.kind for error in log.errors] == ["dynamic-error", "api-error", "node-error"]


def test_refusals_are_counted():
    line = "WARNING: Operator CONV_2D (v5) refused by NNAPI delegate: no\n"
    log = read_log(line * 3 + "WARNING: Operator CUSTOM (v1) refused by NNAPI delegate: what: it (is)\n")
    assert log.refusals == {("CONV_2D", 5, "no"): 3, ("CUSTOM", 1, "what: it (is)"): 1}


def _device():
    return Device(HiddenDriver(HiddenRule("RELU")), {"feature_level": 30})


@pytest.mark.parametrize("form", FORMS)
def test_tables(form):
    model = delegate_sim.load(chain_model(["ADD", "RELU", "ADD", "ROUND"]).bytes())
    log = read_log(write_log(model, _device(), form))
    table = log.run_orders[0]
    assert table.is_complete
    assert [(row.op, row.outputs, row.node) for row in table.rows] == [
        ("TfLiteNnapiDelegate", "t0", 4),
        ("RELU", "t1", 1),
        ("TfLiteNnapiDelegate", "t2", 5),
        ("ROUND", "t3", 3),
    ]
    assert dict(log.summaries[0].counts) == {"TfLiteNnapiDelegate": 2, "RELU": 1, "ROUND": 1}


ROWS = """\
============================== Run Order ==============================
{header}
{rows}

"""


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("\t  CONV_2D\t  0.1\t  0.1\t 1.0%\t 1.0%\t 0.0\t 1\t[a, b]:7", ("CONV_2D", "a, b", 7)),
        ("     CONV_2D     0.1   0.1  1.0%   1.0%   0.0     1 [a, b]:7", ("CONV_2D", "a, b", 7)),
        ("CONV_2D, 0.1, 0.1, 1e-05%, 1%, 0, 1, [a\t b]:7", ("CONV_2D", "a b", 7)),
        ("\t CONV_2D\t 0.0\t 0.1\t 0.1\t 1.0%\t 1.0%\t 0.0\t 1\t[a]", ("CONV_2D", "a", None)),
        ("\t CONV_2D/fast\t 0.1\t 0.1\t 1.0%\t 1.0%\t 0.0\t 1\t[a]:7", ("CONV_2D", "a", 7)),
        ("\t Convolution (NHWC, F32) IGEMM\t 0.1\t 0.1\t 1.0%\t 1.0%\t 0.0\t 1\tDelegate/Convolution (NHWC, F32) IGEMM:0",
         ("Convolution (NHWC, F32) IGEMM", "Delegate/Convolution (NHWC, F32) IGEMM", 0)),
        ("\t Delegate/TfLiteNnapiDelegate:3\t 0.1\t 0.1\t 1.0%\t 1.0%\t 0.0\t 1\t[a]:7", ("TfLiteNnapiDelegate", "a", 7)),
        ("\t RELU\t -nan\t 0.1\t inf%\t 1.0%\t 0.0\t 1\t[]:7", ("RELU", "", 7)),
    ],
)  # fmt: skip
def test_rows(row, expected):
    log = read_log(ROWS.format(header="anything", rows=f"noise\n{row}\nmore noise"))
    (found,) = (*log.run_orders[0].rows, *log.inner_rows)
    assert (found.op, found.outputs, found.node) == expected


def test_tables_of_several_subgraphs_and_of_the_initialization():
    model = delegate_sim.load("fixtures/models/several_subgraphs.tflite")
    log = read_log(write_log(model, Device(), "logcat"))
    assert sorted(log.run_orders) == [subgraph.index for subgraph in model.subgraphs if subgraph.nodes]
    assert all(
        row.op not in ("AllocateTensors", "ModifyGraphWithDelegate") for table in log.run_orders.values() for row in table.rows
    )


def test_what_a_delegate_runs_inside_is_left_out():
    internal = "Delegate internal: \n" + ROWS.format(header="heading", rows="X, 0.1, 0.1, 1%, 1%, 0, 1, Delegate/X:0")
    log = read_log(ROWS.format(header="heading", rows="RELU, 0.1, 0.1, 1%, 1%, 0, 1, [a]:0") + internal)
    assert [row.op for row in log.run_orders[0].rows] == ["RELU"]


def test_a_table_that_is_cut_short():
    model = delegate_sim.load(chain_model(MIXED).bytes())
    text = write_log(model, Device(), has_summary=False)
    start = text.rindex("Run Order")
    for end in range(text.index("ROUND", start), text.index("\n\n", start) + 1):
        table = read_log(text[:end]).run_orders[0]
        assert not table.is_complete
        assert all(row.node is not None for row in table.rows)
    assert read_log(text[: text.index("\n\n", start) + 2]).run_orders[0].is_complete


def test_of_several_runs_the_last_counts():
    model = delegate_sim.load(chain_model(MIXED).bytes())
    other = delegate_sim.load(chain_model(["ADD"]).bytes())
    log = read_log(write_log(model, Device()) + write_log(other, Device()))
    assert [each.total for each in log.replacements] == [1]
    assert len(log.run_orders[0].rows) == 1


def test_what_benchmark_model_printed_and_what_logcat_kept_are_joined():
    printed = "INFO: STARTING!\nINFO: Graph: [m]\nINFO: Use NNAPI: [1]\n"
    joined = join_logs([("a", read_log(printed)), ("b", read_log(LINE))])
    assert joined.replacements[0].replaced == 31
    assert joined.parameters["use nnapi"] == "1"
    assert joined.is_benchmark


def test_logs_of_different_runs_are_refused():
    other = LINE.replace("31 out", "30 out")
    with pytest.raises(LogError, match="a and b are not from the same run"):
        join_logs([("a", read_log(LINE)), ("b", read_log(other))])


def test_files(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(SYNAP, encoding="utf-16")
    assert read_runs_file(str(path))[-1] == read_log(SYNAP, SOURCES)
    path.write_bytes(b"\xff\x00\xfe" + SYNAP.encode())
    assert read_runs_file(str(path))[-1].replacements == read_log(SYNAP).replacements
    path.write_text("nothing of interest\n")
    with pytest.raises(LogError, match=r"log\.txt: has no lines about a delegate"):
        read_runs_file(str(path))
    with pytest.raises(LogError, match="No such file"):
        read_runs_file(str(tmp_path / "missing"))
    with pytest.raises(LogError, match="Is a directory"):
        read_runs_file(str(tmp_path))


@pytest.mark.parametrize(
    "piece",
    [
        *("=", " ", "\t1.0", "1", "\x1b[", "\x1b]", "[", "]:1", "Subgraph (name: ", "Operator x (v1) ", "a, 0.1"),
        *("Replacing 1 node(s) ", "I/", "x: [", "A" * 50 + " "),
    ],
)  # fmt: skip
def test_hostile_lines_come_to_an_end(piece):
    # A pattern that is not linear would not, in any time that one waits for a test.
    text = f"{'=' * 30} Run Order {'=' * 30}\n" + piece * (400_000 // len(piece)) + "\n"
    assert not read_log(text).replacements


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ("Graph: [b.tflite]\n", "the parameter graph"),
        ("INFO: Replacing 1 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 1 partitions.\n", "the delegate"),
    ],
)
def test_logs_of_runs_with_other_parameters_or_delegates_are_not_joined(other, what):
    ours = read_log("Graph: [a.tflite]\nINFO: Created TensorFlow Lite delegate for NNAPI.\n")
    with pytest.raises(LogError, match=f"a and b are not from the same run: they differ in {what}"):
        join_logs([("a", ours), ("b", read_log(other))])
