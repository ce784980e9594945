"""The target that a log shows."""

from __future__ import annotations

import pytest

from delegate_sim.device.parse.applied_target import setting_of
from delegate_sim.device.parse.log import read_log
from delegate_sim.device.parse.log_contents import ReconcileError
from tests.support.device.logs import REPLACING


def test_a_log_that_shows_no_delegate():
    log = read_log("== Run\n" + "=" * 30 + " Run Order " + "=" * 30 + "\nRELU, 0.1, 0.1, 1%, 1%, 0, 1, [a]:0\n\n")
    with pytest.raises(ReconcileError, match="does not show which delegate was applied; give --delegate"):
        setting_of(log)
    assert setting_of(log, "gpu").delegate.name == "gpu"


@pytest.mark.parametrize(
    ("parameters", "delegate"),
    [
        ("INFO: Use NNAPI: [1]\n", "nnapi"),
        ("INFO: Use gpu: [1]\n", "gpu"),
        ("INFO: Use CoreML: [1]\n", "coreml"),
        ("INFO: Use Hexagon: [1]\n", "hexagon"),
        ("INFO: External delegate path: [libvx_delegate.so]\n", "vx"),
        ("INFO: Use xnnpack: [1]\n", "xnnpack"),
        ("INFO: Use gpu: [1]\nINFO: Use xnnpack: [1]\n", "gpu"),
        ("INFO: Use NNAPI: [0]\nINFO: Use xnnpack: [true]\n", "xnnpack"),
        ("WARN: Operator ADD (v1) refused by NNAPI delegate: no\n", "nnapi"),
    ],
)
def test_the_delegate_that_was_switched_on(parameters, delegate):
    assert setting_of(read_log(f"INFO: STARTING!\n{parameters}")).delegate.name == delegate


@pytest.mark.parametrize(
    ("delegate", "parameter", "option", "value"),
    [
        ("nnapi", "Disallow NNAPI cpu: [0]", "disallow_nnapi_cpu", False),
        ("nnapi", "Allow fp16 in NNAPI: [1]", "allow_fp16", True),
        ("gpu", "Enable running quant models in gpu: [0]", "allow_quant_ops", False),
        ("gpu", "GPU backend: [gl]", "backend", "opengl-only"),
        ("gpu", "GPU backend: [metal]", "backend", None),
        ("gpu", "Index of the first node that could be delegated: [3]", "first_delegate_node_index", 3),
        ("gpu", "Index of the last node that could be delegated: [5]", "last_delegate_node_index", 5),
        ("coreml", "CoreML version: [3]", "coreml_version", 3),
        ("coreml", "Min nodes per partition: [4]", "min_nodes_per_partition", 4),
        ("hexagon", "Max number of delegated partitions: [2]", "max_delegated_partitions", 2),
        ("xnnpack", "xnnpack_force_fp16: [1]", "force_fp16", True),
    ],
)
def test_parameters_are_options(delegate, parameter, option, value):
    setting = setting_of(read_log(f"INFO: STARTING!\nINFO: {parameter}\n"), delegate)
    assert (option in setting.known) == (value is not None)
    assert value is None or setting.options[option] == value


def test_options_of_the_log_and_what_overrides_them():
    text = (
        "INFO: STARTING!\nINFO: Max number of delegated partitions: [3]\nINFO: Use NNAPI: [1]\nINFO: NNAPI accelerator name: []\n"
        "INFO: Disable NNAPI cpu: [0]\nINFO: Allow dynamic dimensions in NNAPI: [1]\nINFO: Min nodes per partition: [x]\n"
    )
    setting = setting_of(read_log(text))
    assert setting.options["max_number_delegated_partitions"] == 3
    assert not setting.options["disallow_nnapi_cpu"]
    assert setting.options["allow_dynamic_dimensions"]
    overridden = setting_of(
        read_log(text), options={"disallow_nnapi_cpu": True, "max_number_delegated_partitions": 1}, runtime="tf-2.15"
    )
    assert overridden.options["max_number_delegated_partitions"] == 1
    assert overridden.options["disallow_nnapi_cpu"]
    assert [str(release) for release in overridden.releases] == ["tf-2.15"]
    broken = setting_of(read_log(text.replace("partitions: [3]", "partitions: [\x1b[1mx\u202e]")))
    assert any("max_number_delegated_partitions is ignored" in note for note in broken.notes)


def test_a_file_that_a_log_names_is_not_opened(tmp_path):
    path = tmp_path / "filters"
    path.write_text('filters { op_name_pattern: ".*" }', encoding="utf-8")
    log = read_log(f"STARTING!\nExternal delegate options: [op_filters:{path}]\n")
    setting = setting_of(log, "npu-google")
    assert setting.options == setting_of(read_log("STARTING!\nGraph: [x]\n"), "npu-google").options
    assert any("op_filters is ignored" in note for note in setting.notes)


@pytest.mark.parametrize(
    ("line", "is_older"),
    [
        ("Replacing 2 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 1 partitions.", True),
        (REPLACING.strip(), False),
        ("Tensorflow Version : 2.9.1", True),
        (f"Tensorflow Version : {'1' * 5000}.2.3", True),
    ],
)
def test_releases_older_than_those_that_are_known(line, is_older):
    log = read_log(f"Use NNAPI: [1]\n{line}\n")
    assert setting_of(log).may_be_older is is_older
