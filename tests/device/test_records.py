"""Records of device runs as their published schemas describe them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

import pytest

from delegate_sim.device import record_files
from delegate_sim.device import records as device_records
from delegate_sim.device.parse.log import read_lines
from delegate_sim.device.parse.log_contents import LogError
from delegate_sim.device.record_files import Asked, Recorded, read_records
from delegate_sim.device.records import score_records
from delegate_sim.errors import OptionError
from delegate_sim.model.reader import load
from delegate_sim_cli.text.device.scoreboard import CLASSES
from tools.packaging.wheel import MODEL

ENVIRONMENT = {
    "device": "Phone",
    "soc": None,
    "runtime": "litert",
    "runtime_version": "2.2.0",
    "vendor_sdk": None,
    "os_build": None,
}
RUN = {
    "accelerator": "gpu_mldrift",
    "loads": True,
    "runs": True,
    "env": ENVIRONMENT,
    "date": "2026-08-26",
    "provenance": "measured",
}
DOCUMENT = {"schema_version": "1.0", "model_id": "m", "device": "phone", "artifact": "m.tflite", "quantization": None}
ENTRY = {"op": "GELU", "status": "delegated", "provenance": "measured"}
MATRIX = {"schema_version": "1.3", "litert_version": "2.2.0", "backend": "gpu_mldrift", "generated_at": "2026-08-26"}


@pytest.fixture
def read(tmp_path):
    def read(document):
        path = tmp_path / "record.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
        return [(asked, recorded) for asked, recorded in read_records(str(path))]

    return read


@pytest.mark.parametrize(
    ("changes", "delegate", "recorded"),
    [
        ({}, "mldrift", Recorded(loads=True)),
        ({"accelerator": "cpu_xnnpack", "full_delegation": False}, "xnnpack", Recorded(loads=True, is_whole=False)),
        ({"accelerator": "npu_qnn"}, "", Recorded(loads=True)),
        ({"accelerator": "gpu", "env": ENVIRONMENT | {"runtime": "litert-lm"}}, "", Recorded(loads=True)),
        ({"loads": False, "failure_class": "compile_failed"}, "mldrift", Recorded(loads=False)),
        ({"loads": False, "failure_class": "device_error"}, "mldrift", Recorded()),
        (
            {"delegated_ops": 3, "total_ops": 4, "output_match": False},
            "mldrift",
            Recorded(loads=True, nodes=4, delegated=3, is_right=False),
        ),
    ],
)
def test_a_device_run(read, changes, delegate, recorded):
    ((asked, got),) = read(DOCUMENT | {"results": [RUN | changes]})
    assert (asked.model, asked.delegate, asked.release) == ("m.tflite", delegate, "litert-2.2.0")
    assert got == recorded


@pytest.mark.parametrize(
    ("changes", "accepts"),
    [
        ({}, True),
        ({"status": "incorrect", "conditions": "with a broadcast"}, True),
        ({"status": "fallback"}, False),
        ({"status": "fallback", "constraints": {"operand_a": "constant"}}, None),
        ({"status": "crash"}, None),
        ({"provenance": "inferred"}, None),
    ],
)
def test_an_entry_of_a_matrix(read, changes, accepts):
    ((asked, recorded),) = read(MATRIX | {"entries": [ENTRY | changes]})
    assert (asked.operator, asked.delegate, asked.release) == ("GELU", "mldrift", "litert-2.2.0")
    assert recorded == Recorded(accepts=accepts)


@pytest.mark.parametrize(("unit", "delegate"), [("GPU", "gpu"), ("NPU", "")])
def test_a_profile(read, unit, delegate):
    rows = [
        {"name": "a", "type": "CONV_2D", "compute_unit": unit, "execution_time": 5},
        {"name": "b", "type": "MUL", "compute_unit": "CPU"},
    ]
    ((asked, recorded),) = read({"execution_summary": {"estimated_inference_time": 5}, "execution_detail": rows})
    assert (asked.model, asked.delegate, asked.accelerator, asked.release) == ("", delegate, unit, "")
    assert recorded == Recorded(nodes=2, delegated=1, operators=Counter(CONV_2D=1))


def test_a_log_has_a_record_for_each_run(read):
    line = "INFO: Replacing 3 out of 4 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 2 partitions.\n"
    ((asked, recorded),) = read(f"STARTING!\nGraph: [/data/local/tmp/m.tflite]\n{line}")
    assert isinstance(asked, Asked)
    assert asked.model == "m.tflite"
    assert recorded.log.replacements


@pytest.mark.parametrize(
    "document",
    [
        "{",
        {"artifact": "m.tflite", "results": "none"},
        {"artifact": "m.tflite", "results": []},
        {"artifact": 5, "results": [RUN]},
        {"artifact": "m.tflite", "results": [RUN | {"total_ops": True}]},
        {"artifact": "m.tflite", "results": [5]},
        {"backend": ["gpu"], "entries": [ENTRY]},
        {"execution_detail": {}},
        '{"artifact": "m", "results": ' + "[" * 100_000,
        '{"artifact": "m", "results": [{"total_ops": 1' + "0" * 5000 + "}]}",
    ],
)
def test_what_is_no_record_is_one_error_with_the_file(read, document):
    with pytest.raises(LogError, match=r"record\.json: "):
        read(document)


def test_too_many_records(read, monkeypatch):
    monkeypatch.setattr(record_files, "_MOST_RECORDS", 1)
    with pytest.raises(LogError, match="2 records are more than the limit of 1"):
        read(DOCUMENT | {"results": [RUN, RUN]})


def test_too_many_runs(read, monkeypatch):
    monkeypatch.setattr(record_files, "_MOST_RUNS", 0)
    with pytest.raises(LogError, match="1 runs in a log are more than the limit of 0"):
        read(
            "INFO: Replacing 3 out of 4 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 2 partitions for subgraph 0.\n"
        )


LONG = "m" * (record_files._LONGEST_TEXT + 1)


@pytest.mark.parametrize(
    "document",
    [
        DOCUMENT | {"artifact": LONG, "results": [RUN]},
        DOCUMENT | {"results": [RUN | {"accelerator": LONG}]},
        MATRIX | {"entries": [ENTRY | {"op": LONG}]},
    ],
)
def test_a_text_that_is_too_long(read, document):
    with pytest.raises(LogError, match="more than 1,000 characters"):
        read(document)


RELEASE = "litert-2.3"
GPU = ("gpu", "GPU", RELEASE)


@pytest.fixture
def models():
    return {"m.tflite": str(MODEL)}


def score(models, recorded, target=GPU, **asked):
    board = score_records([(Asked("a.json", "m.tflite", *target, **asked), recorded)], models)
    return board.scores[0]


@pytest.fixture
def predicted(models):
    """Return the predicted number of all nodes and of the delegated nodes."""
    one = score(models, Recorded(delegated=-1)).values[0]
    return 15, int(one.predicted)


@pytest.mark.parametrize(
    ("recorded", "difference"),
    [
        (lambda delegated: Recorded(loads=True, nodes=15, delegated=delegated), ""),
        (lambda delegated: Recorded(delegated=delegated - 1), "more-nodes-predicted"),
        (lambda delegated: Recorded(delegated=delegated + 1), "fewer-nodes-predicted"),
        (lambda delegated: Recorded(is_whole=True), "fewer-nodes-predicted"),
        (lambda delegated: Recorded(is_whole=False), ""),
        (lambda delegated: Recorded(loads=False), "fails-only-recorded"),
        (lambda delegated: Recorded(delegated=delegated, operators=Counter(SUB=delegated)), "other-operators"),
    ],
)
def test_a_value_is_equal_or_has_the_class_of_its_difference(models, predicted, recorded, difference):
    one = score(models, recorded(predicted[1]))
    assert (one.status, [part.difference for part in one.values if part.difference]) == (
        ("different", [difference]) if difference else ("equal", [])
    )
    assert difference in {"", *CLASSES}


@pytest.mark.parametrize(
    ("recorded", "target", "asked", "reason"),
    [
        (Recorded(), GPU, {}, "states-nothing"),
        (Recorded(loads=True), ("", "npu_qnn", RELEASE), {}, "not-simulated"),
        (Recorded(loads=True), ("gpu", "GPU", "litert-0.16.0"), {}, "unknown-release"),
        (Recorded(loads=True), ("gpu", "GPU", "litert-99.0"), {}, "unknown-release"),
        (Recorded(loads=True), GPU, {"sha256": "0" * 64}, "other-model"),
        (Recorded(nodes=4, delegated=2), GPU, {}, "other-model"),
    ],
)
def test_a_record_that_is_not_compared_has_a_reason(models, recorded, target, asked, reason):
    one = score(models, recorded, target, **asked)
    assert (one.status, one.reason) == ("not-compared", reason)


def test_the_digest_of_a_model_is_that_of_its_file(models):
    (path,) = models.values()
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    assert score(models, Recorded(loads=True), sha256=digest).status == "equal"


def test_models_that_are_missing_or_broken(models, tmp_path):
    assert score({}, Recorded(loads=True)).reason == "no-model"
    broken = tmp_path / "broken.tflite"
    broken.write_bytes(b"no model")
    assert score({"m.tflite": str(broken)}, Recorded(loads=True)).reason == "unreadable-model"


@pytest.mark.parametrize(
    ("operator", "accepts", "difference"),
    [
        ("GELU", True, ""),
        ("GELU", False, "accepted-only-predicted"),
        ("HASHTABLE", True, "refused-only-predicted"),
        ("HASHTABLE", False, ""),
    ],
)
def test_an_operator_is_compared_with_the_rules(operator, accepts, difference):
    asked = Asked("a.json", "", "mldrift", "gpu_mldrift", RELEASE, operator=operator)
    (one,) = score_records([(asked, Recorded(accepts=accepts))], {}).scores
    assert one.values[0].difference == difference


def test_a_log_is_reconciled(models, predicted):
    line = "INFO: Replacing {} out of 15 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 3 partitions for subgraph 0."
    own = Asked("a.log", "", "", "", "")
    logs = [read_lines([line.format(count)]) for count in (predicted[1], 3)]
    board = score_records([(own, Recorded(log=log)) for log in logs], models)
    assert [one.accelerator for one in board.scores] == ["gpu", "gpu"]
    assert board.scores[1].values[0].difference in ("log-explained", "log-unexplained")


def test_each_model_is_predicted_once_for_a_target(models, monkeypatch):
    simulated = []
    real = device_records.simulate
    monkeypatch.setattr(device_records, "simulate", lambda *given, **named: simulated.append(given) or real(*given, **named))
    records = [(Asked("a.json", "m.tflite", *GPU), Recorded(loads=True))] * 5
    assert score_records(records, models).count("equal") == 5
    assert len(simulated) == 1


def test_a_broken_model_is_read_once(tmp_path, monkeypatch):
    (tmp_path / "m.tflite").write_bytes(b"no model")
    loaded = []
    real = device_records.load
    monkeypatch.setattr(device_records, "load", lambda path: loaded.append(path) or real(path))
    records = [(Asked("a.json", "m.tflite", *GPU), Recorded(loads=True))] * 5
    assert score_records(records, {"m.tflite": str(tmp_path / "m.tflite")}).classes == {"unreadable-model": 5}
    assert len(loaded) == 1


def test_all_records_of_a_model_share_a_limit(models, monkeypatch):
    monkeypatch.setattr("delegate_sim.graph.effort._MOST_NODES", 1)
    log = read_lines(["INFO: Replacing 3 out of 15 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 3 partitions."])
    records = [(Asked("a.json", "m.tflite", "gpu", "GPU", f"litert-{name}"), Recorded(loads=True)) for name in ("2.1.3", "2.3.0")]
    board = score_records([*records, *records, (Asked("a.log", "", "", "", ""), Recorded(log=log))], models)
    limit = "too-many-simulations"
    assert [score.reason for score in board.scores] == ["", limit, "", limit, limit]
    assert board.scores[2].status == "equal"
    assert {"too-many-simulations"} < set(CLASSES)


def test_an_unknown_release_of_the_user_is_an_error(models):
    with pytest.raises(OptionError, match="is older than the oldest known release"):
        score_records([], models, release="litert-0.1")


def test_each_model_is_read_once(models, monkeypatch):
    read = []
    monkeypatch.setattr(device_records, "load", lambda path: read.append(path) or load(path))
    models = {**models, "other.tflite": str(MODEL.with_name("pooling.tflite"))}
    names = ["m.tflite", "other.tflite"] * 3
    records = [
        (Asked("a.json", name, "gpu", "GPU", f"litert-2.{number // 2}"), Recorded(loads=True))
        for number, name in enumerate(names)
    ]
    assert [found.subject for found in score_records(records, models).scores] == names
    assert sorted(read) == sorted(models.values())
