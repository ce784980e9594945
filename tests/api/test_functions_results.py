"""The forms of results: a line, a table in a notebook, data frames, and names of tensors in JSON."""

from __future__ import annotations

import builtins
import html.parser
import json

import pytest

import delegate_sim
from delegate_sim.errors import MissingPackageError
from fixtures.device_logs import Device, HiddenDriver, HiddenRule, write_log
from tests.support.api_models import HOSTILE, hostile_model
from tests.support.models import MIXED, chain_model


@pytest.fixture
def hostile(tmp_path):
    """The path of a model with hostile names, in a file with one."""
    path = tmp_path / "<b>&x\n\x1b.tflite"
    hostile_model().write(path)
    return path


def results(path, folder):
    """Return one of each kind of result."""
    (folder / "delegate-sim.toml").write_text('models = ["*.tflite"]\nbaseline = false\n[targets.t]\ndelegate = "nnapi"\n')
    log = folder / "device.txt"
    log.write_text(write_log(delegate_sim.load(path), Device(HiddenDriver(HiddenRule("ADD")), {}, "tf-2.15")), encoding="utf-8")
    return {
        "Report": delegate_sim.analyze(path, defaults="api"),
        "Diagnosis": delegate_sim.diagnose(path, "nnapi", defaults="api"),
        "Comparison": delegate_sim.whatif(path, batch=2, defaults="api"),
        "Checked": delegate_sim.check(folder / "delegate-sim.toml"),
        "Reconciliation": delegate_sim.reconcile(path, log, "nnapi"),
    }


KINDS = ("Report", "Diagnosis", "Comparison", "Checked", "Reconciliation")


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.tflite"
    chain_model(MIXED).write(path)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_the_repr_is_one_line(model, hostile, tmp_path, kind):
    for path in (model, hostile):
        text = repr(results(path, tmp_path)[kind])
        assert text.startswith(f"<{kind} ")
        assert text.isprintable()
        assert len(text) < 300


def test_what_the_lines_say(model, tmp_path):
    found = {kind: repr(result) for kind, result in results(model, tmp_path).items()}
    assert found["Report"] == "<Report model.tflite: nnapi on litert-2.3: delegated, 2 of 4 nodes in 2 kernels>"
    assert "2 causes, first: " in found["Diagnosis"]
    assert "A model.tflite, nnapi" in found["Comparison"]
    assert found["Checked"] == "<Checked check: 1 passed>"
    assert "model.tflite, nnapi on" in found["Reconciliation"]


def test_models_and_runs_have_one_line_too(hostile):
    report = delegate_sim.analyze(hostile, defaults="api")
    assert repr(report.model).startswith("<Model ")
    assert repr(report.runs[0]) == "<Run nnapi on litert-2.3: none>"
    assert repr(report.model).isprintable()


class _Tags(html.parser.HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_shows_the_table(model, tmp_path, kind):
    page = _Tags(results(model, tmp_path)[kind]._repr_html_())
    assert {"table", "th", "td"} <= set(page.tags)


def test_a_notebook_begins_with_the_verdict_and_ends_with_the_causes(model):
    report = delegate_sim.analyze(model, defaults="api")
    text = _Tags(report._repr_html_()).text
    assert text.startswith("NNAPI on Android 13 runs 50 % of nodes")
    assert text.endswith("as old as the delegate")
    text = _Tags(delegate_sim.diagnose(model, "nnapi", defaults="api")._repr_html_()).text
    assert text.startswith("NNAPI on Android 13 runs 50 % of nodes")
    text = _Tags(delegate_sim.compare(model, None, "nnapi", changed={"delegate": "gpu"}, defaults="api")._repr_html_()).text
    assert text.startswith("A is better: 50 % instead of 25 % of nodes, ")
    assert "A: NNAPI on Android 13 runs 50 % of nodes" in text


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_names_are_escaped_in_a_notebook(hostile, tmp_path, kind):
    written = results(hostile, tmp_path)[kind]._repr_html_()
    assert set(_Tags(written).tags) <= {"div", "p", "b", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert written.isprintable()
    assert "<script" not in written
    assert "<b>&x" not in written


def test_long_tables_are_cut_in_a_notebook(tmp_path):
    path = tmp_path / "long.tflite"
    chain_model(["ROUND"] * 100).write(path)
    page = _Tags(delegate_sim.whatif(path, accept=["ROUND"], defaults="api")._repr_html_())
    assert page.tags.count("tr") < 70
    assert "... and 40 more: to_pandas('nodes') " in page.text


def test_a_report_has_its_parts_as_plain_sequences(model):
    report = delegate_sim.analyze(model, defaults="api")
    (run,) = report.to_dict(advice=True)["runs"]
    (subgraph,) = run["subgraphs"]
    assert list(report.log_lines) == run["log_lines"]
    assert [(node.node, list(node.codes)) for node in report.cpu_nodes] == [
        (node["index"], [reason["code"] for reason in node["reasons"]]) for node in subgraph["nodes"] if not node["delegated"]
    ]
    assert [(refusal.node, refusal.code, refusal.hint) for refusal in report.refusals] == [
        (node["index"], reason["code"], reason["hint"]) for node in subgraph["nodes"] for reason in node["reasons"]
    ]
    assert [(part.number, list(part.nodes), part.bytes_in) for part in report.partitions] == [
        (part["id"], part["nodes"], part["bytes_in"]) for part in subgraph["partition_list"]
    ]
    assert [part.is_delegated for part in report.partitions] == [
        part["kind"] == "delegate" for part in subgraph["partition_list"]
    ]


def test_a_chain_leaves_to_the_cpu_what_no_delegate_takes(model):
    report = delegate_sim.simulate(model, [("nnapi", {}), ("xnnpack", {})], defaults="api")
    placed = report.to_dict()["placement"][0]["nodes"]
    assert [node.node for node in report.cpu_nodes] == [node["index"] for node in placed if node["runs_on"] == "cpu"]
    assert len(report.log_lines) == len([line for run in report.runs for line in run.log_lines])


def test_data_frames_per_node_and_per_partition(model):
    pytest.importorskip("pandas")
    report = delegate_sim.analyze(model, defaults="api")
    nodes = report.to_pandas()
    run = report.to_dict()["runs"][0]["subgraphs"][0]
    assert list(nodes["op"]) == [node["op"] for node in run["nodes"]]
    assert list(nodes["delegated"]) == [node["delegated"] for node in run["nodes"]]
    assert list(nodes["inputs"]) == [tuple(node["inputs"]) for node in run["nodes"]]
    assert nodes.equals(report.to_pandas("nodes"))
    partitions = report.to_pandas("partitions")
    assert list(partitions["bytes_in"]) == [each["bytes_in"] for each in run["partition_list"]]
    assert list(partitions["kind"]) == [each["kind"] for each in run["partition_list"]]


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_becomes_a_data_frame(model, tmp_path, kind):
    pandas = pytest.importorskip("pandas")
    result = results(model, tmp_path)[kind]
    for name in result._tables():
        assert isinstance(result.to_pandas(name), pandas.DataFrame)


def test_a_diagnosis_has_a_row_for_each_cause(model):
    pytest.importorskip("pandas")
    found = delegate_sim.diagnose(model, "nnapi", defaults="api")
    frame = found.to_pandas()
    assert list(frame["cause"]) == [finding.cause.name for finding in found.findings]
    assert list(frame["rank"]) == [1, 2]
    assert len(found.to_pandas("nodes")) == 4


def test_a_chain_has_a_table_of_where_nodes_run(model):
    pytest.importorskip("pandas")
    frame = delegate_sim.simulate(model, [("nnapi", {}), ("xnnpack", {})], defaults="api").to_pandas("placement")
    assert list(frame["runs_on"]) == ["nnapi", "xnnpack", "xnnpack", "nnapi"]


def test_without_pandas_there_is_a_clear_error(model, monkeypatch):
    original = builtins.__import__

    def refuse(name, *arguments):
        if name == "pandas":
            raise ImportError(name)
        return original(name, *arguments)

    report = delegate_sim.analyze(model, defaults="api")
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingPackageError, match=r"needs the package pandas, which is not installed: pip install pandas"):
        report.to_pandas()


def test_nodes_of_the_report_have_the_names_of_their_tensors(model):
    nodes = delegate_sim.analyze(model, defaults="api").to_dict()["runs"][0]["subgraphs"][0]["nodes"]
    assert [(node["inputs"], node["outputs"]) for node in nodes] == [
        (["x", "w"], ["t0"]), (["t0"], ["t1"]), (["t1", "w"], ["t2"]), (["t2", "w"], ["t3"]),
    ]  # fmt: skip


def test_an_operand_that_is_left_out_is_null_and_names_stand_as_they_are(tmp_path):
    from fixtures.builder import ModelBuilder

    builder = ModelBuilder()
    graph = builder.subgraph("main")
    first = graph.input(HOSTILE, "FLOAT32", [1, 4])
    weights = graph.tensor("w", "FLOAT32", [4, 4], data=[0] * 16)
    last = graph.tensor("out", "FLOAT32", [1, 4])
    graph.node("FULLY_CONNECTED", [first, weights, -1], [last], 1, {})
    graph.outputs(last)
    path = tmp_path / "model.tflite"
    builder.write(path)
    (node,) = json.loads(json.dumps(delegate_sim.analyze(path, defaults="api").to_dict()))["runs"][0]["subgraphs"][0]["nodes"]
    assert (node["inputs"], node["outputs"]) == ([HOSTILE, "w", None], ["out"])
