"""The selection of each plugin, and its refusals: operators, composites, types, filters, SoCs and releases."""

from __future__ import annotations

import numpy as np
import pytest

import delegate_sim
from delegate_sim.delegates.npu.rules import BOOKS, NpuTarget
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.model.model import Quantization
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, parse_release
from fixtures.builder import ModelBuilder
from tests.support.delegates.npu_models import SHAPE, attributes, chain, run, selected, with_composites
from tests.support.graphs import arena, constant, node_view, quantized

PLUGINS = ("npu-google", "npu-intel", "npu-mediatek", "npu-samsung")
FLOAT = arena("FLOAT32", 1, 4)


def verdict(vendor, op, inputs=(FLOAT,), outputs=(FLOAT,), release=DEFAULT_RELEASE, **arguments):
    return BOOKS[vendor].validate(node_view(op, inputs, outputs, **arguments), NpuTarget(parse_release(release)))


def codes(vendor, *arguments, **named):
    return [reason.code for reason in verdict(vendor, *arguments, **named).reasons]


@pytest.mark.parametrize(
    ("op", "takers"),
    [
        ("ADD", {"google", "intel", "mediatek", "samsung"}),
        ("RELU6", {"google", "samsung"}),
        ("GATHER", {"google", "intel", "samsung"}),
        ("SHAPE", {"samsung"}),
        ("WHILE", {"google", "samsung"}),
        ("STABLEHLO_ADD", {"google", "samsung"}),
    ],
)
def test_operators(op, takers):
    assert {vendor for vendor in BOOKS if verdict(vendor, op).is_supported} == takers
    for vendor in BOOKS.keys() - takers:
        assert codes(vendor, op) == [f"npu-{vendor}-unsupported-operator"]


def test_custom_operators():
    assert {vendor for vendor in BOOKS if verdict(vendor, "Mine", custom=True).is_supported} == {"samsung"}


@pytest.mark.parametrize(
    ("vendor", "op", "since"),
    [
        ("google", "CONV_3D", "litert-2.3.0"),
        ("intel", "TILE", "litert-2.2.0"),
        ("mediatek", "L2_NORMALIZATION", "litert-2.1.5"),
        ("mediatek", "LESS", "litert-2.2.0"),
        ("mediatek", "TILE", "litert-2.3.0"),
        ("mediatek", "UNPACK", "litert-2.3.0"),
    ],
)
def test_operators_that_came_with_a_release(vendor, op, since):
    before = {"litert-2.3.0": "litert-2.2.0", "litert-2.2.0": "litert-2.1.5", "litert-2.1.5": "litert-2.1.3"}[since]
    assert verdict(vendor, op, release=since).is_supported
    assert not verdict(vendor, op, release=before).is_supported


def test_intel_needs_to_know_how_many_elements_are_asked_for():
    count = constant([2])._replace(data=(0, 4))
    assert verdict("intel", "TOPK_V2", (FLOAT, count)).is_supported
    assert codes("intel", "TOPK_V2", (FLOAT, arena("INT32", 1))) == ["npu-intel-constant-operand"]
    assert codes("intel", "TOPK_V2", (FLOAT, constant([])._replace(data=(0, 0)))) == ["npu-intel-constant-operand"]
    assert not verdict("intel", "TOPK_V2", (FLOAT, count), release="litert-2.1.5").is_supported


def blockwise(tensor):
    return tensor._replace(quantization=Quantization("blockwise", np.empty(0, np.float32), np.empty(0, np.int64), 0, 32, 1))


def per_channel(tensor, zero_point=0):
    return quantized(tensor, 0.5, 0.25, zero_point=zero_point)


WEIGHTS = {"data": (0, 8)}
TYPES = [
    ("float32", arena("FLOAT32", 4), True),
    ("bool", arena("BOOL", 4), True),
    ("int32", arena("INT32", 4), True),
    ("int8 without quantization", arena("INT8", 4), False),
    ("int8", quantized(arena("INT8", 4), 0.5), True),
    ("int8 per channel", per_channel(arena("INT8", 4)), True),
    ("int8 blockwise", blockwise(arena("INT8", 4)), False),
    ("int4", quantized(arena("INT4", 4), 0.5), True),
    ("int2", quantized(arena("INT2", 4), 0.5), True),
    ("int16", quantized(arena("INT16", 4), 0.5), True),
    ("int16 per channel", per_channel(arena("INT16", 4)), False),
    ("uint16", quantized(arena("UINT16", 4), 0.5), True),
    ("int64, computed", arena("INT64", 4), False),
    ("int64, constant", arena("INT64", 4, **WEIGHTS), True),
    ("int64, constant, blockwise", blockwise(arena("INT64", 4, **WEIGHTS)), False),
    ("int32 per channel, not symmetric", per_channel(arena("INT32", 4), 3), True),
    ("string", arena("STRING", 4), False),
]


@pytest.mark.parametrize(("tensor", "is_taken"), [case[1:] for case in TYPES], ids=[case[0] for case in TYPES])
def test_types_that_mediatek_maps(tensor, is_taken):
    assert verdict("mediatek", "ADD", (FLOAT, tensor)).is_supported == is_taken
    assert verdict("mediatek", "ADD", outputs=(tensor,)).is_supported == is_taken
    assert verdict("intel", "ADD", (FLOAT, tensor)).is_supported


@pytest.mark.parametrize(
    ("tensor", "taken_in"),
    [
        (quantized(arena("INT2", 4), 0.5), {"litert-2.3.0"}),
        (quantized(arena("UINT16", 4), 0.5), {"litert-2.2.0", "litert-2.3.0"}),
        (per_channel(arena("INT32", 4), 3), {"litert-2.1.3", "litert-2.1.5", "litert-2.3.0"}),
        (blockwise(arena("INT64", 4, **WEIGHTS)), {"litert-2.1.3", "litert-2.1.5"}),
    ],
)
def test_types_by_release(tensor, taken_in):
    releases = ("litert-2.1.3", "litert-2.1.5", "litert-2.2.0", "litert-2.3.0")
    assert {each for each in releases if verdict("mediatek", "ADD", (tensor,), release=each).is_supported} == taken_in


def test_operands_left_out_are_not_there():
    assert verdict("mediatek", "FULLY_CONNECTED", (FLOAT, FLOAT, None)).is_supported


def test_mediatek_says_which_type_it_is():
    entry = run(chain(["ADD"], "INT8"), "npu-mediatek")
    assert entry["log_lines"][0] == "Int8 is not supported."
    assert entry["subgraphs"][0]["nodes"][0]["reasons"][0]["code"] == "npu-mediatek-quantization"
    assert run(chain(["ADD"], "INT64"), "npu-mediatek")["log_lines"][0] == "Unsupported element type: 4"


@pytest.mark.parametrize(
    ("name", "content", "takers"),
    [
        ("odml.rms_norm", b"", set(PLUGINS)),
        ("odml.l2_norm", b"", {"npu-mediatek", "npu-samsung"}),
        ("odml.scaled_dot_product_attention", b"", {"npu-google", "npu-samsung"}),
        ("odml.group_norm", attributes(num_groups=1), {"npu-google", "npu-mediatek", "npu-samsung"}),
        ("odml.group_norm", attributes(num_groups=2), {"npu-google", "npu-samsung"}),
        ("odml.group_norm", b"", {"npu-google", "npu-samsung"}),
        ("ODML.RMS_NORM", b"", {"npu-samsung"}),
    ],
)
def test_composites_by_name(name, content, takers):
    builder = with_composites([(name, 1, content)], [["SHAPE"]])
    assert {each for each in PLUGINS if selected(run(builder, each)) == [0]} == takers


def test_google_names_the_first_composite_that_it_does_not_take_twice():
    builder = with_composites([("a", 1, b""), ("b", 2, b"")], [["RELU"], ["RELU"]])
    lines = [line for line in run(builder, "npu-google")["log_lines"] if line.startswith("unsupported")]
    assert lines == [f"unsupported composite op: {name}" for name in "aab"]


def test_op_filters():
    builder = chain(["RELU", "TANH", "RELU"])
    blocked = run(builder, "npu-google", op_filters='filters { op_name_pattern: "t[01]" }')
    assert selected(blocked) == [2]
    assert blocked["subgraphs"][0]["nodes"][0]["reasons"][0]["code"] == "npu-google-op-filter"
    assert blocked["log_lines"][0] == (
        "Op with output tensor 't0' will NOT RUN ON TPU due to MATCHES_NOT_RUN_ON_TPU filter pattern 't[01]'"
    )
    allowed = run(builder, "npu-google", op_filters='filter_behavior: MATCHES_RUN_ON_TPU filters { op_name_pattern: "t1" }')
    assert selected(allowed) == [1]
    assert selected(run(builder, "npu-google", op_filters='filters { op_name_pattern: "t" }')) == [0, 1, 2], "it must match whole"
    assert selected(run(builder, "npu-google", op_filters='filters { op_name_pattern: "t.*" }', release="litert-2.1.3")) == [
        0,
        1,
        2,
    ]


def test_op_filters_in_a_file(tmp_path):
    path = tmp_path / "filters.txt"
    path.write_text('filters { op_name_pattern: "t0" }', encoding="utf-8")
    assert selected(run(chain(["RELU", "RELU"]), "npu-google", op_filters=str(path))) == [1]


@pytest.mark.parametrize(
    ("filters", "line"),
    [
        ("filters { nope: 1 }", "Failed to parse OpFilters proto text from: the given text"),
        ("none", "Failed to open OpFilters file: none"),
    ],
)
def test_op_filters_that_cannot_be_read(filters, line):
    entry = run(chain(["RELU"]), "npu-google", op_filters=filters)
    assert (entry["outcome"], entry["refusal"]["stage"], entry["log_lines"]) == ("refused", "partition", [line])


def test_no_op_filters_are_filters_that_cannot_be_read():
    entry = run(chain(["RELU"]), "npu-google", op_filters=None)
    assert (entry["outcome"], entry["refusal"]["stage"]) == ("refused", "partition")
    assert run(chain(["RELU"]), "npu-google")["outcome"] == "delegated"


@pytest.mark.parametrize(
    ("name", "soc", "line"),
    [
        ("npu-google", "Tensor_G7", "Invalid soc model for device type: Tensor_G7"),
        ("npu-mediatek", "MT6991", "Unexpected SoC model: MT6991"),
    ],
)
def test_unknown_socs(name, soc, line):
    entry = run(chain(["RELU"]), name, soc=soc)
    assert (entry["outcome"], entry["refusal"]["code"], entry["log_lines"]) == ("refused", "npu-soc-model", [line])
    assert not selected(entry)


def test_socs_that_are_taken_all_the_same():
    assert run(chain(["RELU"]), "npu-google", soc="g4")["log_lines"][0].startswith("g3/g4/g5 is deprecated")
    assert run(chain(["RELU"]), "npu-google", soc="")["outcome"] == "delegated"
    assert run(chain(["RELU"]), "npu-samsung", soc="E1")["outcome"] == "delegated"


@pytest.mark.parametrize(("soc", "is_supported"), [("Tensor_G5", True), ("Tensor_G4", False), ("g3", False), ("", False)])
def test_socs_that_google_does_not_support(soc, is_supported):
    warnings = run(chain(["RELU"]), "npu-google", soc=soc)["warnings"]
    assert any("tensor-sdk" in warning for warning in warnings) != is_supported


def test_intel_fails_for_an_input_of_six_dimensions():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1] * 6), graph.tensor("y", "FLOAT32", [1] * 6)
    graph.node("ABS", [source], [result])
    graph.outputs(result)
    entry = run(builder, "npu-intel")
    assert (entry["outcome"], entry["refusal"]["code"]) == ("refused", "npu-input-rank")
    assert entry["log_lines"] == [
        "Model not supported: subgraph input 0 has 6 dimensions (>= 6), skipping partitioning.",
    ]
    assert run(builder, "npu-google")["outcome"] == "delegated"


def test_intel_names_operators_by_number():
    assert run(chain(["SHAPE", "ABS"]), "npu-intel")["log_lines"][0] == "op type 77 is not supported"


def test_samsung_takes_everything_and_says_what_that_means():
    entry = run(chain(["SHAPE", "NEG"]), "npu-samsung")
    assert selected(entry) == [0, 1]
    assert any("NPU" in warning for warning in entry["warnings"])


def test_mediatek_says_which_branch_it_is():
    assert any("8.2.24" in warning for warning in run(chain(["ADD"]), "npu-mediatek")["warnings"])


@pytest.mark.parametrize("name", PLUGINS)
def test_releases_without_the_plugin_are_told(name):
    report = delegate_sim.analyze(chain(["ADD"]).bytes(), name, runtime="tf-2.15", defaults="api")
    assert any("tf-2.15" in warning for warning in report.runs[0].warnings)


@pytest.mark.parametrize(
    ("option", "value"),
    [("partition_strategy", "best"), ("max_partitions", -1), ("subgraphs", "first"), ("op_filters", 3), ("soc", 5)],
)
def test_values_that_options_do_not_take(option, value):
    with pytest.raises(delegate_sim.OptionError, match=option):
        delegate_sim.analyze(chain(["ADD"]).bytes(), "npu-google", {option: value}, defaults="api")


@pytest.mark.parametrize(
    ("signature", "count"), [((1, -1, -1, 4), 1), ((-1, 4, 4, 4), 0), (None, 0)], ids=["open", "open batch", "fixed"]
)
def test_open_sizes_of_an_input_are_told(signature, count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", (1, 4, 4, 4), signature=signature)
    result = graph.tensor("y", "FLOAT32", (1, 4, 4, 4), signature=signature)
    graph.node("RELU", [source], [result])
    graph.outputs(result)
    (run,) = delegate_sim.analyze(builder.bytes(), "npu-google").runs
    assert len([warning for warning in run.warnings if "open" in warning]) == count


def crash_warned(builder):
    return any("will crash" in warning for warning in run(builder, "npu-mediatek")["warnings"])


def test_two_composites_with_one_body_crash():
    assert crash_warned(with_composites([("odml.rms_norm", 1, b""), ("other", 1, b"")], [["RELU"]]))
    assert not crash_warned(with_composites([("odml.rms_norm", 1, b""), ("other", 2, b"")], [["RELU"], ["RELU"]]))


def test_a_result_of_an_inlined_body_that_nobody_reads_crashes():
    def unread(name):
        builder = with_composites([(name, 1, b"")], [["RELU"]])
        body = builder._subgraphs[1]
        body.node("TANH", (0,), (body.tensor("unread", "FLOAT32", SHAPE),))
        return builder

    assert crash_warned(unread("other"))
    assert not crash_warned(unread("odml.rms_norm"))


@pytest.mark.parametrize("name", ["npu-google", "npu-samsung"])
def test_each_remedy_names_options_of_the_vendor_and_its_source(name):
    vendor = name.partition("-")[2]
    remedies = find_delegate(name).remedies_if_not_compiled
    assert remedies
    for remedy in remedies:
        assert all(option.startswith(f"{vendor}_") and "=" in option for option in remedy.options.split())
        assert remedy.source.startswith("https://")
