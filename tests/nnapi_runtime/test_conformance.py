"""Answers against records of Android 13's own runtime, on a fixed sample.

The records lie beside the repository, in ../shared; without them these tests are skipped.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import random
from pathlib import Path

import pytest

from delegate_sim.nnapi_runtime.builder import ModelBuilder
from delegate_sim.nnapi_runtime.cases import compile, read_device, read_model, validate_operation
from delegate_sim.nnapi_runtime.devices import cpu_device
from delegate_sim.refusal import Refused

SHARED = Path(__file__).resolve().parents[3] / "shared"
RECORDS = SHARED / "oracle-runtime"
TOOL = SHARED / "tools" / "runtime_conformance.py"
SAMPLE = {"operands": 400, "operations": 1000, "partition": 200}
RESULTS = {"accepted", "level", "runtime_only", "first_failure", "code", "reason", "level_after_simplify"}
CALLS = {
    "op": "ANeuralNetworksModel_addOperation",
    "perchannel": "ANeuralNetworksModel_setOperandSymmPerChannelQuantParams",
}

pytestmark = pytest.mark.skipif(
    not (TOOL.exists() and RECORDS.exists()), reason="the records of the runtime (../shared) are not here"
)


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("runtime_conformance", TOOL)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(TOOL.parent)
        spec.loader.exec_module(module)
    return module


def read(kind):
    with gzip.open(RECORDS / f"{kind}.jsonl.gz", "rt") as lines:
        return lines.readlines()


def sample(kind, size):
    rows = read(kind)
    return [json.loads(row) for row in random.Random(7).sample(rows, min(size, len(rows)))]


def needs(version, operation_versions):
    return {
        "fl": version.level,
        "rto": int(version.runtime_only),
        "ops": [one.level * 10 + one.runtime_only for one in operation_versions],
    }


@pytest.mark.parametrize("kind", SAMPLE)
def test_a_sample_agrees_with_the_runtime(tool, kind):
    answers = [tool.unit((kind, record)) for record in sample(kind, SAMPLE[kind])]
    assert [(number, what) for _, is_equal, number, what in answers if not is_equal] == []


def test_the_first_failing_call_and_its_code_agree():
    for record in sample("operations", 500):
        refusal = validate_operation({key: value for key, value in record.items() if key not in RESULTS})["refusal"]
        if record["first_failure"] is None:
            assert refusal is None
        else:
            assert (refusal["call"], refusal["result"]) == (CALLS[record["first_failure"]], record["code"])


@pytest.mark.parametrize("release", [10, 11])
def test_older_releases_accept_the_same(release):
    for record in sample("operations", 500):
        # Those releases' validators ran on their own, without the calls before them.
        if record["first_failure"] != "perchannel":
            assert validate_operation(record, release)["accepted"] == (record[f"android{release}"] is not None), record["id"]


def test_what_models_need_and_what_devices_take_agrees():
    for record in sample("partition", 200):
        result = record["result"]
        if "abort" in result:
            continue
        model = read_model(record["main"], record["subgraphs"])
        assert (model.required.level, model.required.runtime_only) == (result["pre"]["fl"], result["pre"]["rto"])
        assert needs(model.version, model.operation_versions) == result["post"]
        devices = [read_device(one) for one in record["devices"]]
        if record["options"]["devices"] != "explicit_no_cpu":
            devices.append(cpu_device())
        taken = {
            one.index for device in devices for one, takes in zip(model.operations, device.supported(model), strict=True) if takes
        }
        assert [int(index in taken) for index in range(len(model.operations))] == result["supported"]


def test_debug_properties_agree():
    cases = {record["id"]: record for record in map(json.loads, read("partition"))}
    compared = 0
    for record in sample("properties", 100):
        if record["partition_id"] not in cases:
            continue
        answer = compile({**cases[record["partition_id"]], "properties": record["properties"]})
        steps = record["steps"] and [{"exec": one["exec"], "ops": one["ops"]} for one in record["steps"] if "exec" in one]
        expected = {**record, "steps": steps}
        assert {key: answer.get(key) for key in ("compile", "kind", "fallback", "device", "steps")} == {
            key: expected[key] for key in ("compile", "kind", "fallback", "device", "steps")
        }
        compared += 1
    assert compared


class Replay:
    """Calls written as commands: a name and numbers; lists have their length first."""

    def __init__(self):
        self.builder = ModelBuilder()
        self.models = []
        self.failures = []

    def run(self, command):
        name, *words = command.split()
        try:
            getattr(self, name)(*words)
        except Refused as refused:
            self.failures.append([name, int(refused.refusal.result)])
            if name == "finish":
                self.models.append(None)

    def model(self):
        self.builder = ModelBuilder()

    def operand(self, code, rank, *words):
        dimensions, (scale, zero_point) = words[: int(rank)], words[int(rank) :]
        self.builder.add_operand(int(code), list(map(int, dimensions)), float(scale), int(zero_point))

    def value(self, index, length, what):
        if what == "null":
            self.builder.omit(int(index), int(length))
        else:
            self.builder.set_value(int(index), int(length), None if what == "z" else bytes.fromhex(what))

    def valuemem(self, index, length, *_):
        self.builder.set_value_from_memory(int(index), int(length))

    def submodel(self, index, number):
        self.builder.set_value_from_model(int(index), self.models[int(number)])

    def op(self, code, *words):
        self.builder.add_operation(int(code), *self.lists(words))

    def io(self, *words):
        self.builder.identify_inputs_and_outputs(*self.lists(words))

    def finish(self):
        self.models.append(self.builder.finish())

    @staticmethod
    def lists(words):
        numbers = list(map(int, words))
        count = numbers[0]
        return numbers[1 : 1 + count], numbers[2 + count :]


@pytest.mark.parametrize("record", [json.loads(row) for row in read("structure")] if RECORDS.exists() else [])
def test_whole_models_agree(record):
    replay = Replay()
    for command in record["commands"]:
        replay.run(command)
    model = replay.models[-1]
    assert (0 if model else 4) == record["finish"]
    assert replay.failures == [[call.split(":")[0], code] for call, code, _ in record["failures"]]
    if model is not None:
        assert needs(model.version, model.operation_versions) == record["version_after_simplify"]
        assert model.required.level == record["version"]["fl"]
