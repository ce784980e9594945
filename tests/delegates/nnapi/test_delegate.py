"""The delegate's handling of a subgraph: levels and accelerators, the driver, limits, and its traits."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.delegates.nnapi.delegate import DELEGATE
from delegate_sim.delegates.nnapi.driver_interface import driver_questions
from delegate_sim.delegates.nnapi.options import feature_level
from delegate_sim.delegates.nnapi.rules import driver_operations
from delegate_sim.delegates.nnapi.target import FEATURE_LEVEL_6, FEATURE_LEVEL_8, FEATURE_LEVELS, NNAPI_1_2
from delegate_sim.delegates.options import parse_options
from delegate_sim.graph.graph import file_graph
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder
from tests.support.models import chain_model

DYNAMIC = "dynamic-tensors"


def run(model, options=None):
    return delegate_sim.analyze(model.bytes(), "nnapi", options or {}, defaults="api").to_dict()["runs"][0]


def nodes(result):
    return result["subgraphs"][0]["nodes"]


def delegated(result):
    return [node["index"] for node in nodes(result) if node["delegated"]]


def reasons(result):
    return {node["index"]: [reason["code"] for reason in node["reasons"]] for node in nodes(result) if node["reasons"]}


def reverse_model():
    """One node that only feature level 7 has."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("reversed", "FLOAT32", (2, 2))
    graph.node("REVERSE_V2", (graph.input("x", "FLOAT32", (2, 2)), graph.tensor("axis", "INT32", (1,), data=[0])), (result,))
    graph.outputs(result)
    return builder


def pack_model():
    """One node that the delegate builds from CONCATENATION and RESHAPE below feature level 6."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", (2, 2)), graph.tensor("packed", "FLOAT32", (2, 2, 2))
    graph.node("PACK", (source, source), (result,), options={"axis": 0, "values_count": 2})
    graph.outputs(result)
    return builder


def mul_model():
    """One node of a version that is accepted only where an accelerator is specified."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", (2, 2)), graph.tensor("product", "FLOAT32", (2, 2))
    graph.node("MUL", (source, source), (result,), 3, {})
    graph.outputs(result)
    return builder


def float16_model(*ops):
    """Float16 weights behind DEQUANTIZE, added to the input, and a chain of operators behind."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    weights = graph.tensor("weights", "FLOAT16", (2, 2), data=[1, 2, 3, 4])
    widened, tensor = graph.tensor("widened", "FLOAT32", (2, 2)), graph.tensor("sum", "FLOAT32", (2, 2))
    graph.node("DEQUANTIZE", (weights,), (widened,))
    graph.node("ADD", (graph.input("x", "FLOAT32", (2, 2)), widened), (tensor,), options={})
    for number, op in enumerate(ops):
        result = graph.tensor(f"result{number}", "FLOAT32", (2, 2))
        graph.node(op, (tensor,), (result,))
        tensor = result
    graph.outputs(tensor)
    return builder


# Feature levels


@pytest.mark.parametrize(
    ("given", "level"),
    [
        (27, 27),
        ("1.0", 27),
        (" 1.3 ", 30),
        (31, 31),
        ("5", 31),
        (5, 31),
        (6, FEATURE_LEVEL_6),
        ("1000008", FEATURE_LEVEL_8),
        ("8", FEATURE_LEVEL_8),
    ],
)
def test_names_of_feature_levels(given, level):
    assert feature_level(given) == level


@pytest.mark.parametrize("given", [26, 99, 100, 1000005, 1000009, "1.4", "x", "", None, True, 29.5])
def test_what_is_no_feature_level(given):
    with pytest.raises(ValueError, match=r"takes one of 27, 28, 29, 30, 31, 1000006, .* or 1\.0, .*8, not"):
        feature_level(given)


@pytest.mark.parametrize(
    ("options", "is_taken"),
    [
        ({}, True),
        ({"device_feature_level": 29}, False),
        ({"device_feature_level": 30}, True),
        ({"feature_level": 29, "device_feature_level": 30}, False),
        ({"device_feature_level": 29, "accelerator_name": "dsp"}, False),
        ({"device_feature_level": 29, "accelerator_name": "nnapi-reference"}, True),
        ({"device_feature_level": 29, "disallow_nnapi_cpu": False}, True),
        ({"device_feature_level": 29, "disallow_nnapi_cpu": False, "accelerator_name": "dsp"}, False),
    ],
)
def test_the_accelerators_level_counts_where_devices_are_targeted(options, is_taken):
    result = run(chain_model(["ELU"]), options)
    assert delegated(result) == [0] * is_taken
    assert reasons(result) == ({} if is_taken else {0: ["nnapi-feature-level"]})


@pytest.mark.parametrize(
    ("options", "is_taken"),
    [
        ({}, True),
        ({"feature_level": FEATURE_LEVEL_6}, False),
        ({"device_feature_level": FEATURE_LEVEL_6}, False),
        ({"accelerator_name": "nnapi-reference"}, True),
        ({"disallow_nnapi_cpu": False}, False),
    ],
)
def test_without_target_devices_levels_end_with_androids(options, is_taken):
    result = run(reverse_model(), options)
    assert delegated(result) == [0] * is_taken
    if options == {"disallow_nnapi_cpu": False}:
        assert nodes(result)[0]["reasons"][0]["found"] == "NNAPI feature level 5 (31, Android 12)"


@pytest.mark.parametrize(
    ("options", "is_taken"),
    [
        ({}, True),
        ({"accelerator_name": "dsp"}, True),
        ({"accelerator_name": "nnapi-reference"}, False),
        ({"disallow_nnapi_cpu": False}, False),
        ({"disallow_nnapi_cpu": False, "accelerator_name": "dsp"}, True),
        ({"feature_level": 28}, False),
        ({"feature_level": 28, "accelerator_name": "dsp"}, True),
    ],
)
def test_when_an_accelerator_is_specified(options, is_taken):
    result = run(mul_model(), options)
    assert delegated(result) == [0] * is_taken
    assert reasons(result) == ({} if is_taken else {0: ["nnapi-operator-version"]})


@pytest.mark.parametrize(("options", "is_taken"), [({}, True), ({"device_feature_level": 31}, False)])
def test_partitions_are_built_for_the_accelerators_level(options, is_taken):
    result = run(pack_model(), {"driver_rejects": ["CONCATENATION"], **options})
    assert delegated(result) == [0] * is_taken


# The driver


def test_nodes_that_the_driver_rejects_stay_on_the_cpu():
    result = run(chain_model(["RELU", "TANH", "RELU"]), {"driver_rejects": ["TANH", "SIN"]})
    assert delegated(result) == [0, 2]
    assert reasons(result) == {1: ["nnapi-driver"]}
    (reason,) = nodes(result)[1]["reasons"]
    assert (reason["kind"], reason["found"]) == ("driver", "TANH")
    assert result["subgraphs"][0]["partitions"] == 3


def test_a_driver_that_rejects_everything():
    result = run(chain_model(["RELU", "RELU"]), {"driver_rejects": ["RELU"]})
    assert result["outcome"] == "none"
    assert reasons(result) == {0: ["nnapi-driver"], 1: ["nnapi-driver"]}


@pytest.mark.parametrize(
    "options",
    [{"feature_level": 28, "accelerator_name": "dsp"}, {"disallow_nnapi_cpu": False}, {"accelerator_name": "nnapi-reference"}],
)
def test_when_the_driver_is_not_asked(options):
    assert delegated(run(chain_model(["RELU"]), {"driver_rejects": ["RELU"], **options})) == [0]


def test_float16_weights_are_taken_with_every_other_node():
    result = run(float16_model("RELU", "TANH"), {"driver_rejects": ["SIN"]})
    assert delegated(result) == [0, 1, 2, 3]


def test_the_widening_stays_where_another_node_is_refused():
    result = run(float16_model("RELU", "CEIL"))
    assert delegated(result) == [1, 2]
    assert reasons(result) == {0: ["float16-dequantize"], 3: ["nnapi-operator"]}


def test_one_rejection_leaves_a_model_with_float16_weights_to_the_cpu():
    result = run(float16_model("RELU", "CEIL", "TANH"), {"driver_rejects": ["TANH"]})
    assert result["outcome"] == "none"
    assert result["subgraphs"][0]["partition_list"] == []
    assert reasons(result) == {
        0: ["float16-dequantize"],
        1: ["float16-all-or-nothing"],
        2: ["float16-all-or-nothing"],
        3: ["nnapi-operator"],
        4: ["nnapi-driver"],
    }


@pytest.mark.parametrize("level", [28, NNAPI_1_2])
def test_a_partition_that_cannot_be_built_ends_delegation(level):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    order = graph.tensor("order", "INT32", (2,), data=[1, 0])
    result = graph.tensor("wide", "INT64", (2, 2))
    graph.node("TRANSPOSE", (graph.input("x", "INT64", (2, 2)), order), (result,))
    graph.outputs(result)
    found = run(builder, {"feature_level": level})
    assert (found["outcome"], found["refusal"]["code"]) == ("restored", "nnapi-tensor-type")
    assert delegated(found) == []


def options_with(**given):
    return parse_options("nnapi", DELEGATE.options, given)


def graph_of(builder):
    model = load(builder.bytes())
    return file_graph(model, model.subgraphs[0])


def test_what_the_driver_is_asked():
    graph = graph_of(chain_model(["COS", "CEIL", "ADD"]))
    questions = driver_questions(graph, options_with())
    assert not questions.has_float16
    assert [(part.nodes, dict(part.operations), part.is_all_or_nothing) for part in questions.partitions] == [
        ((0,), {0: ("SUB", "SIN")}, False),
        ((2,), {2: ("ADD",)}, False),
    ]
    assert driver_questions(graph_of(float16_model()), options_with()).has_float16


def test_when_there_is_nothing_to_ask_the_driver():
    graph = graph_of(chain_model(["ADD"]))
    assert driver_questions(graph, options_with(disallow_nnapi_cpu=False)) is None
    assert driver_questions(graph, options_with(feature_level=28)) is None
    assert driver_questions(graph_of(chain_model(["CEIL"])), options_with()) is None


# Limits


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (1, [2, 3, 4]),
        (2, [0, 2, 3, 4]),
        (3, [0, 2, 3, 4, 6]),
        (4, [0, 2, 3, 4, 6, 8]),
        (0, [0, 2, 3, 4, 6, 8]),
        (-1, [0, 2, 3, 4, 6, 8]),
    ],
)
def test_limit_on_partitions(limit, expected):
    model = chain_model(["RELU", "CEIL", "RELU", "RELU", "RELU", "CEIL", "RELU", "CEIL", "RELU"])
    result = run(model, {"max_number_delegated_partitions": limit})
    assert delegated(result) == expected
    left_out = {node["index"] for node in nodes(result) if node["supported"]} - set(expected)
    assert {index for index, codes in reasons(result).items() if codes == ["partition-limit"]} == left_out


def test_the_limit_is_explained_by_the_option_as_it_is_typed():
    result = run(chain_model(["RELU", "CEIL", "RELU"]), {"max_number_delegated_partitions": 1})
    hints = [reason["hint"] for node in nodes(result) for reason in node["reasons"] if reason["code"] == "partition-limit"]
    assert [hint.split(", ")[0] for hint in hints] == ["raise --max-delegated-partitions"]


def test_the_driver_is_asked_before_the_limit():
    options = {"max_number_delegated_partitions": 1, "driver_rejects": ["TANH"]}
    result = run(chain_model(["RELU", "CEIL", "RELU", "TANH", "RELU", "RELU"]), options)
    assert delegated(result) == [4, 5]
    assert reasons(result) == {0: ["partition-limit"], 1: ["nnapi-operator"], 2: ["partition-limit"], 3: ["nnapi-driver"]}


@pytest.mark.parametrize(("count", "warns"), [(16, False), (17, True)])
def test_many_partitions_of_one_size(count, warns):
    found = run(chain_model(["RELU", "CEIL"] * count))["warnings"]
    assert any("limit of 3" in warning for warning in found) == warns


# Dynamic dimensions


@pytest.mark.parametrize(
    ("options", "is_refused"),
    [
        ({}, True),
        ({"allow_dynamic_dimensions": True}, False),
        ({"allow_dynamic_dimensions": True, "feature_level": 28}, False),
        ({"allow_dynamic_dimensions": True, "feature_level": 27}, True),
    ],
)
def test_dynamic_dimensions(options, is_refused):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, shape = graph.input("x", "FLOAT32", (1, 4)), graph.input("shape", "INT32", (2,))
    reshaped, result = (graph.tensor(name, "FLOAT32", (2, 2)) for name in ("reshaped", "result"))
    graph.node("RESHAPE", (source, shape), (reshaped,), options={})
    graph.node("RELU", (reshaped,), (result,))
    graph.outputs(result)
    found = run(builder, options)
    assert (found["outcome"] == "refused") == is_refused
    assert delegated(found) == ([] if is_refused else [1])
    if is_refused:
        assert found["refusal"]["code"] == DYNAMIC
    else:
        assert reasons(found) == {0: ["nnapi-constant-operand"]}


# What the delegate says of itself


def remedies(code, **given):
    return list(DELEGATE.remedies(code, options_with(**given)))


@pytest.mark.parametrize(
    ("given", "levels"),
    [
        ({"feature_level": 30}, (31, 1000006, 1000007, 1000008)),
        ({"feature_level": 27}, FEATURE_LEVELS[1:]),
        ({"device_feature_level": 31}, (1000006, 1000007, 1000008)),
        ({"feature_level": 29, "device_feature_level": 31}, FEATURE_LEVELS[3:]),
        ({}, ()),
    ],
)
def test_higher_levels_remedy_a_level_that_is_too_low(given, levels):
    expected = [{"feature_level": level, "device_feature_level": None} for level in levels]
    assert remedies("nnapi-feature-level", **given) == expected


@pytest.mark.parametrize(
    ("android", "later"), [("8.1", ["9", "10", "11", "12"]), ("9", ["10", "11", "12"]), ("10", ["11", "12"])]
)
def test_a_later_android_release_remedies_a_level_that_is_too_low(android, later):
    changes = remedies("nnapi-feature-level", nnapi_runtime=android)
    assert [change["nnapi_runtime"] for change in changes][: len(later)] == later
    for change in changes:
        options_with(**change)


def test_other_remedies():
    assert remedies("partition-limit") == [{"max_number_delegated_partitions": 0}]
    assert remedies("nnapi-operator", feature_level=27) == []
    assert remedies("partition-minimum") == []


def test_a_remedy_ends_the_refusal():
    options = {"feature_level": 29, "device_feature_level": 28}
    results = [run(chain_model(["ELU"]), {**options, **remedy}) for remedy in remedies("nnapi-feature-level", **options)]
    assert [delegated(result) for result in results] == [[], [0], [0], [0], [0], [0]]


def test_interfaces_for_logs_and_drivers():
    assert DELEGATE.levels.option == "feature_level"
    assert DELEGATE.levels.known == FEATURE_LEVELS
    assert DELEGATE.levels.lowest_by_parameter == {"nnapi accelerators available": NNAPI_1_2}
    names = {option.name for option in DELEGATE.options}
    driver = DELEGATE.behind.driver
    assert {
        DELEGATE.levels.option,
        DELEGATE.limits.option,
        driver.option,
        driver.accelerator_option,
    } <= names
    assert driver.operations is driver_operations()
    assert driver.code in DELEGATE.kinds
    assert driver.questions(graph_of(chain_model(["ADD"])), options_with(), delegate_sim.releases.catalogue.NEWEST)
    assert DELEGATE.log.prints_refusals


def test_codes_of_everything_that_may_happen():
    assert {"nnapi-input-type", "nnapi-empty-pool", "nnapi-driver", "float16-all-or-nothing", "partition-limit", DYNAMIC} <= set(
        DELEGATE.kinds
    )
    assert all(code == kind.code("nnapi") and kind.hint and all(kind.explanation) for code, kind in DELEGATE.kinds.items())


@pytest.mark.parametrize("asked", [{}, {"driver_rejects": ["TANH"]}])
def test_division_by_zero_crashes_the_process(asked):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, weights = graph.input("x", "FLOAT32", [1, 2, 4]), graph.tensor("w", "FLOAT32", [3, 4], [0.0] * 12)
    unknown = graph.tensor("y", "FLOAT32", [])
    graph.node("FULLY_CONNECTED", [source, weights, graph.tensor("b", "FLOAT32", [3], [0.0] * 3)], [unknown],
               options={"keep_num_dims": True})  # fmt: skip
    graph.outputs(unknown)
    options = {"feature_level": 31, "nnapi_runtime": "none", **asked}
    assert delegate_sim.analyze(builder.bytes(), "nnapi", options, defaults="api").runs[0].refusal is None
    run = delegate_sim.analyze(builder.bytes(), "nnapi", options | {"allow_dynamic_dimensions": True}, defaults="api").runs[0]
    assert (run.refusal.code, run.outcome == "restored", run.refusal.node) == ("nnapi-division-by-zero", False, 0)
