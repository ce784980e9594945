"""Files of benchmark_model as protobuf, as JSON, and as protobuf's text form in a log."""

from __future__ import annotations

import copy
import json
from contextlib import suppress

import pytest

import delegate_sim
from delegate_sim.device.compare.reconcile import reconcile
from delegate_sim.device.parse.applied_target import setting_of
from delegate_sim.device.parse.log import join_logs, read_log, read_runs_file
from delegate_sim.device.parse.log_contents import LogError
from fixtures.device_logs import Device, HiddenDriver, HiddenRule, write_log
from fixtures.op_profiles import protobuf_message
from tests.support.models import chain_model

MODEL = delegate_sim.load(chain_model(["ADD", "RELU", "ADD", "ROUND"]).bytes())
DEVICE = Device(HiddenDriver(HiddenRule("RELU")), {"feature_level": 30})
KERNEL = "TfLiteNnapiDelegate"
ROWS = ((KERNEL, "[t0]:4"), ("RELU", "[t1]:1"), (KERNEL, "[t2]:5"), ("ROUND", "[t3]:3"))
PROFILE = {
    "model_name": "model.tflite",
    "init_profile": {"subgraph_profiles": [{"per_op_profiles": [{"node_type": "AllocateTensors", "name": "AllocateTensors/0"}]}]},
    "runtime_profile": {
        "subgraph_profiles": [
            {
                "subgraph_name": "main",
                "subgraph_index": 0,
                "per_op_profiles": [
                    {
                        "node_type": op,
                        "name": name,
                        "run_order": place,
                        "times_called": 1,
                        "inference_microseconds": {"avg": 5, "stddev": 0.5},
                    }
                    for place, (op, name) in enumerate(ROWS)
                ],
            }
        ]
    },
}
NODES = [
    {"id": 0, "name": "ADD", "type": "0", "inputs": [0, 1], "outputs": [2], "delegated_to_node_id": 4},
    {"id": 1, "name": "RELU", "type": "19", "inputs": [2], "outputs": [3]},
    {"id": 2, "name": "ADD", "type": "0", "inputs": [3, 1], "outputs": [4], "delegated_to_node_id": 5},
    {"id": 3, "name": "ROUND", "type": "116", "inputs": [4], "outputs": [5]},
    {"id": 4, "name": KERNEL, "delegate_node_details": {"delegate_name": KERNEL, "tflite_node_ids_replaced": [0]}},
    {"id": 5, "name": KERNEL, "delegate_node_details": {"delegate_name": KERNEL, "tflite_node_ids_replaced": [2]}},
]
EDGES = [{"id": 0, "name": "x", "data_type": 1, "shape": [1, 4], "allocation_type": "kTfLiteArenaRw", "size": 16}]
RUNTIME = {
    "subgraphs": [
        {"subgraph_id": 0, "edges": EDGES, "nodes": NODES, "execution_plan": [4, 1, 5, 3], "subgraph_type": 1, "name": "main"}
    ]
}
RESULT = {"latency_metrics": {"avg_ms": 1.5}, "misc_metrics": {"num_runs": 50}}
MESSAGES = {"BenchmarkProfilingData": PROFILE, "ModelRuntimeDetails": RUNTIME, "BenchmarkResult": RESULT}


def message(name):
    pytest.importorskip("google.protobuf", reason="protobuf is not installed")
    return protobuf_message(name, MESSAGES[name])


def ops(log):
    return [row.op for row in log.run_orders[0].rows]


@pytest.mark.parametrize("name", ["BenchmarkProfilingData", "ModelRuntimeDetails"])
def test_a_protobuf_file_tells_which_nodes_ran_on_the_cpu(tmp_path, name):
    path = tmp_path / "profile.pb"
    path.write_bytes(message(name).SerializeToString())
    log = read_runs_file(str(path))[-1]
    assert ops(log) == [KERNEL, "RELU", KERNEL, "ROUND"]
    found = reconcile(MODEL, log, setting_of(log, options={"feature_level": 30}))
    assert (found.status, found.evidence) == ("explained", "run-order")
    assert [node.op for node in found.nodes if node.cause == "driver"] == ["RELU"]


@pytest.mark.parametrize("content", [PROFILE, RUNTIME, PROFILE["runtime_profile"]])
@pytest.mark.parametrize("is_camel", [False, True])
def test_json_has_the_same_fields(tmp_path, content, is_camel):
    text = json.dumps(content)
    if is_camel:
        import re

        text = re.sub(r'_([a-z])(?=[a-z_]*": )', lambda found: found[1].upper(), text)
    path = tmp_path / "profile.json"
    path.write_text(text, encoding="utf-8")
    assert ops(read_runs_file(str(path))[-1]) == [KERNEL, "RELU", KERNEL, "ROUND"]


@pytest.mark.parametrize("has_tables", [False, True])
def test_a_file_beside_the_log_of_the_same_run(tmp_path, has_tables):
    path = tmp_path / "runtime.json"
    path.write_text(json.dumps(RUNTIME), encoding="utf-8")
    log = read_log(write_log(MODEL, DEVICE, has_run_order=has_tables, has_summary=False))
    joined = join_logs([("log", log), ("file", read_runs_file(str(path))[-1])])
    found = reconcile(MODEL, joined)
    assert (found.status, found.evidence) == ("explained", "run-order")
    assert [node.op for node in found.nodes if node.cause == "driver"] == ["RELU"]


def test_the_text_form_in_a_log():
    made = message("BenchmarkProfilingData")
    from google.protobuf import text_format

    start = write_log(MODEL, DEVICE, has_run_order=False, has_summary=False)
    log = read_log(f"{start}INFO: {text_format.MessageToString(made)}\nINFO: done\n")
    assert ops(log) == [KERNEL, "RELU", KERNEL, "ROUND"]
    assert [each.total for each in log.replacements] == [4]


def test_a_result_file_has_times_only(tmp_path):
    path = tmp_path / "result.pb"
    path.write_bytes(message("BenchmarkResult").SerializeToString())
    with pytest.raises(LogError, match=r"result\.pb: is a result file of a benchmark, which has only times"):
        read_runs_file(str(path))


@pytest.mark.parametrize("data", [b"\x12\x00\x01\x02" * 50, b"\x0a\x05\x00\x01\x02\x03\x04"])
def test_other_binary_files(tmp_path, data):
    path = tmp_path / "other.bin"
    path.write_bytes(data)
    with pytest.raises(LogError, match=r"other\.bin: is not a protobuf file"):
        read_runs_file(str(path))


def test_json_of_something_else(tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"a": 1}', encoding="utf-8")
    with pytest.raises(LogError, match="has no lines about a delegate"):
        read_runs_file(str(path))


def places(content, path=()):
    """Yield the path of every value in a message."""
    for key, value in content.items() if isinstance(content, dict) else enumerate(content):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def test_a_name_that_is_no_text_is_none(tmp_path):
    """It would be written out for each place of the execution plan."""
    content = copy.deepcopy(RUNTIME)
    content["subgraphs"][0]["nodes"][1]["name"] = list(range(1000))
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert ops(read_runs_file(str(path))[-1]) == [KERNEL, "", KERNEL, "ROUND"]


DEEP = json.loads("[" * 600 + "]" * 600)


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize(
    "value",
    [None, 5, 0.5, True, "\u00b2", "x", "\ud800", [], {}, [None], [5], {"a": 5}, "9" * 5000, 10**400, DEEP],
    ids=lambda value: ascii(value)[:10],
)
def test_json_with_a_value_of_a_wrong_type(tmp_path, name, value):
    path = tmp_path / "profile.json"
    for *above, last in places(MESSAGES[name]):
        content = copy.deepcopy(MESSAGES[name])
        inner = content
        for key in above:
            inner = inner[key]
        inner[last] = value
        path.write_text(json.dumps(content), encoding="utf-8")
        with suppress(LogError):
            read_runs_file(str(path))
