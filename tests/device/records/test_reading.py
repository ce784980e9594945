"""Records of device runs as their published schemas describe them."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from delegate_sim.device.parse.log_contents import LogError
from delegate_sim.device.records import reading
from delegate_sim.device.records.reading import Asked, Recorded, read_records

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
    monkeypatch.setattr(reading, "_MOST_RECORDS", 1)
    with pytest.raises(LogError, match="2 records are more than the limit of 1"):
        read(DOCUMENT | {"results": [RUN, RUN]})


def test_too_many_runs(read, monkeypatch):
    monkeypatch.setattr(reading, "_MOST_RUNS", 0)
    with pytest.raises(LogError, match="1 runs in a log are more than the limit of 0"):
        read(
            "INFO: Replacing 3 out of 4 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 2 partitions for subgraph 0.\n"
        )


LONG = "m" * (reading._LONGEST_TEXT + 1)


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
