"""Profiles of NNAPI's devices, and how the runtime splits partitions over them."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.delegates.nnapi import device_profile
from delegate_sim.delegates.nnapi.device_profile import read_devices
from fixtures.builder import ModelBuilder

HEAD = 'schema = "delegate-sim/devices/1"\n'
DSP = '[[devices]]\nname = "dsp"\nfeature_level = 30\nexecution = 0.2\npower = 0.9\ntakes = ["RELU", "TANH"]\n'
GPU = '[[devices]]\nname = "gpu"\nfeature_level = "1.2"\nexecution = 0.5\npower = 0.1\n'


def chain(*ops):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "FLOAT32", (2, 2))
    for number, op in enumerate(ops):
        result = graph.tensor(f"y{number}", "FLOAT32", (2, 2))
        graph.node(op, (tensor,), (result,))
        tensor = result
    graph.outputs(tensor)
    return builder


@pytest.fixture
def apply(tmp_path):
    def run(builder, *devices, **options):
        path = tmp_path / "phone.toml"
        path.write_text(HEAD + "".join(devices), encoding="utf-8")
        return delegate_sim.analyze(builder.bytes(), "nnapi", {"devices": str(path), **options}, defaults="api").to_dict()[
            "runs"
        ][0]

    return run


def steps(run):
    return [
        [(step["device"], [one["operation"] for one in step["operations"]]) for step in split["steps"]]
        for split in run["subgraphs"][0]["split"]
    ]


MIXED = ("RELU", "ABS", "TANH")


def test_each_operation_runs_where_it_costs_least(apply):
    run = apply(chain(*MIXED), DSP, GPU)
    assert steps(run) == [[("dsp", ["RELU"]), ("gpu", ["ABS"]), ("dsp", ["TANH"])]]
    (split,) = run["subgraphs"][0]["split"]
    assert split["partition"] == 0
    assert split["error"] == ""
    assert [(step["bytes_in"], step["bytes_out"]) for step in split["steps"]] == [(16, 16)] * 3


def test_the_preference_decides_what_counts(apply):
    assert steps(apply(chain(*MIXED), DSP, GPU, execution_preference="low_power")) == [[("gpu", list(MIXED))]]


def test_performance_by_type_overrides_the_default(apply):
    slow = DSP + "[devices.performance]\nTENSOR_FLOAT32 = [0.7, 0.7]\n"
    assert steps(apply(chain(*MIXED), slow, GPU)) == [[("gpu", list(MIXED))]]


def test_types_that_a_profile_does_not_name_cost_more_than_the_cpu(apply):
    vague = '[[devices]]\nname = "npu"\nfeature_level = 30\n'
    assert steps(apply(chain("RELU"), vague, disallow_nnapi_cpu=False)) == [[("nnapi-reference", ["RELU"])]]
    assert steps(apply(chain("RELU"), vague)) == [[("npu", ["RELU"])]]


def test_what_no_device_takes_stays_with_the_runtime_of_tflite(apply):
    run = apply(chain(*MIXED), DSP)
    nodes = run["subgraphs"][0]["nodes"]
    assert [node["delegated"] for node in nodes] == [True, False, True]
    assert [reason["code"] for reason in nodes[1]["reasons"]] == ["nnapi-driver"]


def test_nnapis_own_cpu_takes_what_is_left_where_it_is_allowed(apply):
    run = apply(chain(*MIXED), DSP, disallow_nnapi_cpu=False)
    assert steps(run) == [[("dsp", ["RELU"]), ("nnapi-reference", ["ABS"]), ("dsp", ["TANH"])]]


def test_an_accelerator_that_is_named_runs_alone(apply):
    run = apply(chain(*MIXED), DSP, GPU, accelerator_name="gpu")
    assert steps(run) == [[("gpu", list(MIXED))]]


def test_an_accelerator_that_is_not_there_is_an_error(apply):
    run = apply(chain("RELU"), DSP, accelerator_name="tpu")
    assert (run["outcome"], run["refusal"]["code"]) == ("restored", "nnapi-accelerator-unknown")
    assert "tpu" in run["refusal"]["message"]
    assert "dsp" in run["refusal"]["message"]


def test_a_phone_without_an_accelerator_is_given_nothing(apply):
    run = apply(chain("RELU"))
    assert run["outcome"] == "none"
    assert run["subgraphs"][0]["nodes"][0]["reasons"][0]["code"] == "nnapi-driver"


def test_the_highest_level_of_the_devices_counts(apply):
    run = apply(chain("ELU"), GPU)
    assert run["outcome"] == "none"
    assert apply(chain("ELU"), GPU, '[[devices]]\nname = "new"\nfeature_level = 30\nexecution = 0.1\n')["outcome"] == "delegated"


FAILING = DSP + "fails_to_compile = true\n"


def test_a_driver_that_fails_to_compile_undoes_the_delegation(apply):
    run = apply(chain("RELU"), FAILING)
    assert (run["outcome"], run["refusal"]["code"]) == ("restored", "nnapi-runtime-compilation-driver")
    assert run["refusal"]["call"] == "finish"
    assert "NN API returned error ANEURALNETWORKS_OP_FAILED at line 4783 while completing NNAPI compilation." in run["log_lines"]


def test_nnapis_own_cpu_takes_over_from_a_driver_that_fails(apply):
    run = apply(chain("RELU"), FAILING, disallow_nnapi_cpu=False)
    assert steps(run) == [[("nnapi-reference", ["RELU"])]]
    assert "dsp" in run["subgraphs"][0]["split"][0]["error"]


@pytest.mark.parametrize(("bound", "outcome"), [("largest_bytes = 32", "delegated"), ("largest_bytes = 31", "restored")])
def test_a_driver_can_run_out_of_memory(apply, bound, outcome):
    assert apply(chain("RELU"), f"{DSP}{bound}\n")["outcome"] == outcome


def test_a_driver_can_fail_at_an_operation(apply):
    assert apply(chain("RELU", "TANH"), f'{DSP}cannot_compile = ["TANH"]\n')["outcome"] == "restored"


def test_without_a_profile_there_is_no_split():
    run = delegate_sim.analyze(chain("RELU").bytes(), "nnapi", defaults="api").to_dict()["runs"][0]
    assert "split" not in run["subgraphs"][0]


def test_the_report_names_the_file_alone(apply):
    assert apply(chain("RELU"), DSP)["options"]["devices"] == "phone.toml"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"phone.toml:1: schema: schema is missing"),
        ('schema = "other"\n', r"phone.toml:1: schema: takes 'delegate-sim/devices/1'"),
        (HEAD + "[[devices]]\nfeature_level = 30\n", r"name is missing"),
        (HEAD + '[[devices]]\nname = "a"\nfeature_level = 5000\n', r"phone.toml:4: devices.0.feature_level: takes one of 27"),
        (HEAD + DSP + DSP, r"phone.toml:9: devices.1.name: is listed twice"),
        (HEAD + '[[devices]]\nname = "nnapi-reference"\nfeature_level = 30\n', r"is NNAPI's own CPU"),
        (HEAD + DSP + 'rejects = ["CONV"]\n', r"NNAPI has no such operation"),
        (HEAD + DSP + 'types = ["FLOAT"]\n', r"NNAPI has no such operand type"),
        (HEAD + DSP + "largest_bytes = -1\n", r"takes a whole number of 0 or more"),
        (HEAD + DSP + "speed = 3\n", r"there is no such key"),
        (HEAD + DSP + "[devices.performance]\nTENSOR = 1\n", r"has an unknown operand type"),
        (HEAD + DSP + "[devices.performance]\nTENSOR_FLOAT32 = [1, 2, 3]\n", r"takes an execution time and a power"),
        (HEAD + DSP.replace("0.2", "-1"), r"takes a number of 0 or more"),
        (HEAD + DSP + "largest_bytes = " + "9" * 500, r"is not TOML: An integer has more than 64 bits \(at line 8, column 1\)"),
        (HEAD + DSP + "[devices.performance]\nTENSOR_FLOAT32 = 1" + "0" * 400, r"is not TOML: An integer has more than 64 bits"),
        ("[[", r"is not TOML"),
    ],
)
def test_a_profile_with_an_error_names_the_place(tmp_path, content, message):
    path = tmp_path / "phone.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(delegate_sim.OptionError, match=message):
        delegate_sim.analyze(chain("RELU").bytes(), "nnapi", {"devices": str(path)}, defaults="api")


@pytest.mark.parametrize("value", [3, ["a"], True])
def test_a_profile_is_given_by_its_path(value):
    with pytest.raises(delegate_sim.OptionError, match="takes the path of a device profile"):
        delegate_sim.analyze(chain("RELU").bytes(), "nnapi", {"devices": value}, defaults="api")


def test_too_many_devices(tmp_path, monkeypatch):
    path = tmp_path / "devices.toml"
    devices = [f'[[devices]]\nname = "d{number}"\nfeature_level = 30\n' for number in range(3)]
    path.write_text('schema = "delegate-sim/devices/1"\n' + "".join(devices), "utf-8")
    monkeypatch.setattr(device_profile, "MOST_DEVICES", 3)
    assert len(read_devices(str(path)).devices) == 3
    monkeypatch.setattr(device_profile, "MOST_DEVICES", 2)
    with pytest.raises(ValueError, match=r"devices\.toml:2: devices: has 3 devices, but the limit is 2; DELEGATE_SIM_LIMITS=10"):
        read_devices(str(path))


def test_devices_share_the_signatures_of_operations(apply, monkeypatch):
    made = []
    monkeypatch.setattr(
        device_profile, "input_signature", lambda *given, of=device_profile.input_signature: made.append(given) or of(*given)
    )
    counts = []
    for count in (2, 16):
        made.clear()
        refusal = '[[devices.refuses]]\noperation = "RELU"\nshapes = [[7, 7]]\n'
        apply(chain(*MIXED), *[DSP.replace('"dsp"', f'"d{number}"') + refusal for number in range(count)])
        counts.append(len(made))
    assert counts[0] == counts[1] > 0


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(delegate_sim.OptionError, match="No such file"):
        delegate_sim.analyze(chain("RELU").bytes(), "nnapi", {"devices": str(tmp_path / "none.toml")}, defaults="api")


def test_a_profile_needs_a_runtime_that_splits(apply):
    with pytest.raises(delegate_sim.OptionError, match=r"option devices of nnapi: .* set --android to 10 or later"):
        apply(chain("RELU"), DSP, nnapi_runtime="none")


def test_a_driver_that_fails_is_told_as_such(apply):
    refusal = apply(chain("RELU"), FAILING)["refusal"]
    assert refusal["message"].startswith("the NNAPI runtime of Android 13 cannot compile the partition: dsp: found error")
    assert refusal["call"] == "finish"


def test_a_profile_without_devices_says_what_to_do_about_it(apply):
    node = apply(chain("RELU"))["subgraphs"][0]["nodes"][0]
    assert "list the phone's devices in the profile" in node["reasons"][0]["hint"]
