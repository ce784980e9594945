"""Android's NNAPI runtime behind the delegate: what it refuses, how that is told, and what becomes of the other nodes."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.delegates.nnapi.delegate import DELEGATE
from delegate_sim.delegates.nnapi.refusals import KINDS, change_for
from delegate_sim.delegates.nnapi.target import PREFIX
from delegate_sim.nnapi_runtime.refusal import RULES, ForType, OperandPart
from delegate_sim.nnapi_runtime.types import OperandType
from delegate_sim.nnapi_runtime.types import OperandType as T
from delegate_sim.refusal import Effect, Refusal, Stage
from fixtures.builder import ModelBuilder

RANK = PREFIX + "operation-rank"


def run(builder, **options):
    return delegate_sim.analyze(builder.bytes(), "nnapi", options, defaults="api").to_dict()["runs"][0]


def deep(*ops, rank=5):
    """A chain of nodes on a tensor of rank 5, which the delegate takes and the runtime does not."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    shape = (1,) * (rank - 2) + (2, 2)
    tensor = graph.input("x", "FLOAT32", shape)
    for number, op in enumerate(ops):
        result = graph.tensor(f"y{number}", "FLOAT32", shape)
        graph.node(op, (tensor,), (result,))
        tensor = result
    graph.outputs(tensor)
    return builder


def dense(per_channel=True, units=2):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "INT8", (1, 2), scale=0.5), graph.tensor("y", "INT8", (1, units), scale=0.5)
    scale = [0.5] * units if per_channel else 0.5
    weights = graph.tensor("w", "INT8", (units, 2), data=[1, 2] * units, scale=scale)
    graph.node("FULLY_CONNECTED", (source, weights), (result,), options={})
    graph.outputs(result)
    return builder


# The option


@pytest.mark.parametrize(("value", "name"), [("13", "13"), (10, "10"), (" NONE ", "none"), (None, "none")])
def test_a_runtime_is_named_by_the_release_of_android(value, name):
    assert run(deep("ABS"), nnapi_runtime=value)["options"]["nnapi_runtime"] == name


@pytest.mark.parametrize("value", ["8", 17, True, "android13", ""])
def test_other_runtimes_are_refused(value):
    with pytest.raises(delegate_sim.OptionError, match=r"takes one of none, 8\.1, 9, 10, 11, 12, 13, 14, 15"):
        run(deep("ABS"), nnapi_runtime=value)


def test_the_newest_runtime_is_the_default_and_the_report_names_it():
    assert run(deep("ABS"))["options"]["nnapi_runtime"] == "13"


def test_a_release_says_what_is_known_only_from_its_sources():
    warnings = {name: " ".join(run(deep("ABS"), nnapi_runtime=name)["warnings"]) for name in ("none", "10", "11", "12", "13")}
    assert warnings["none"] == warnings["13"] == ""
    assert ["not verified" in warnings[name] for name in ("10", "11", "12")] == [False, False, True]
    for name in ("10", "11"):
        assert f"Android {name}'s NNAPI runtime" in warnings[name]


def test_a_release_without_known_rules_says_so():
    texts = {name: " ".join(run(deep("RELU"), android=name)["warnings"]) for name in ("8.1", "9", "14", "15", "16")}
    assert "Android 8.1's" in texts["8.1"]
    assert "Android 9's" in texts["9"]
    assert all("Android 13's NNAPI runtime" in texts[name] for name in ("14", "15", "16"))


@pytest.mark.parametrize(("android", "level"), [("8.1", 27), ("9", 28), ("10", 29), ("11", 30), ("12", 31)])
def test_the_release_of_android_sets_the_feature_level(android, level):
    as_runtime = {"nnapi_runtime": "none" if level < 29 else android, "feature_level": level}
    for op in ("ABS", "RELU"):
        found, expected = run(deep(op), android=android), run(deep(op), **as_runtime)
        assert found["subgraphs"] == expected["subgraphs"]
    with pytest.raises(delegate_sim.OptionError, match=f"Android {android} has at most feature level {level}, not 1000006"):
        run(deep("ABS"), android=android, feature_level=1000006)


@pytest.mark.parametrize("level", [33, "35"])
def test_an_api_level_is_no_feature_level(level):
    with pytest.raises(delegate_sim.OptionError, match=r"is the API level of Android 1[35], not a feature level; use --android"):
        run(deep("ABS"), feature_level=level)


def test_an_option_is_given_by_one_of_its_names():
    with pytest.raises(
        delegate_sim.OptionError, match="nnapi_runtime of nnapi is given twice, because android is the same option"
    ):
        run(deep("ABS"), nnapi_runtime="11", android="12")


@pytest.mark.parametrize(("name", "delegated"), [("10", 0), ("11", 0), ("12", 0), ("13", 1), ("14", 1)])
def test_a_release_has_no_higher_level_than_it_came_with(name, delegated):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "FLOAT32", (2, 2))
    graph.node("REVERSE_V2", (graph.input("x", "FLOAT32", (2, 2)), graph.tensor("axis", "INT32", (1,), data=[0])), (result,))
    graph.outputs(result)
    assert run(builder, nnapi_runtime=name)["subgraphs"][0]["nodes_delegated"] == delegated


# A refusal


def test_a_refusal_names_the_call_what_was_found_and_what_to_change():
    found = run(dense())
    assert found["outcome"] == "restored"
    assert found["refusal"] == {
        "code": PREFIX + "operation-input-type",
        "message": "the NNAPI runtime of Android 13 rejects addOperation: FULLY_CONNECTED: input 1, tensor 2 (w): found "
        "TENSOR_QUANT8_SYMM_PER_CHANNEL, needed TENSOR_QUANT8_ASYMM_SIGNED",
        "hint": "quantize dense layers per tensor: "
        "converter._experimental_disable_per_channel_quantization_for_dense_layers = True",
        "subgraph": 0,
        "node": 0,
        "tensor": 2,
        "cause": None,
        "is_predicted": False,
        "call": "addOperation",
        "operation": "FULLY_CONNECTED",
        "operand": "input 1",
        "found": "TENSOR_QUANT8_SYMM_PER_CHANNEL",
        "needed": "TENSOR_QUANT8_ASYMM_SIGNED",
        "error_line": "NN API returned error ANEURALNETWORKS_BAD_DATA at line 1144 while adding operation.",
        "further": [],
    }
    assert found["log_lines"] == [
        found["refusal"]["error_line"],
        "Restored original execution plan after delegate application failure.",
    ]


def test_a_refusal_keeps_its_values_and_names_both_stages():
    refusal = delegate_sim.analyze(dense().bytes(), "nnapi", {"android": "13"}, defaults="api").runs[0].refusal
    below = refusal.below
    assert (refusal.stage, refusal.effect, below.stage) == (Stage.BUILDING, Effect.UNDO, Stage.VALIDATING)
    assert (below.code, below.operand) == ("operation-input-type", OperandPart("input", 1))
    assert below.found is OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL
    assert below.needed == (OperandType.TENSOR_QUANT8_ASYMM_SIGNED,)
    assert (refusal.found, refusal.needed) == (below.found, below.needed)


def test_without_a_chosen_device_every_refused_kernel_prints_a_line_and_the_first_cannot_be_prepared():
    refused = "NN API returned error ANEURALNETWORKS_BAD_DATA at line 1144 while adding operation."
    lines = run(deep("ABS", "RELU", "CEIL", "RELU", "CEIL", "ABS"), disallow_nnapi_cpu=False)["log_lines"]
    assert lines[1:4] == [refused, refused, "Node number 6 (TfLiteNnapiDelegate) failed to prepare."]
    assert lines[4] == "Restored original execution plan after delegate application failure."


def test_after_the_change_nothing_is_refused():
    assert run(dense(per_channel=False))["outcome"] == "delegated"


def test_the_delegate_alone_takes_what_the_runtime_refuses():
    found = run(dense(), nnapi_runtime="none")
    assert (found["outcome"], found["refusal"], found["warnings"]) == ("delegated", None, [])


def test_a_refused_tensor_is_named_in_the_line():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "FLOAT32", (2,), scale=0.5)
    graph.node("RESHAPE", (graph.input("x", "FLOAT32", (2,)), graph.tensor("to", "INT32", (1,), data=[2])), (result,))
    second = graph.tensor("z", "INT32", (0,), data=[])
    graph.outputs(result, second)
    found = run(builder)
    assert found["outcome"] == "delegated"


@pytest.mark.parametrize("name", ["11", "12", "13"])
def test_rank_limits_came_with_android_11(name):
    assert run(deep("RELU"), nnapi_runtime=name)["refusal"]["code"] == RANK
    assert run(deep("RELU"), nnapi_runtime="10")["outcome"] == "delegated"


def test_further_refusals_are_warnings():
    found = run(deep("RELU", "LOGISTIC", "LOGISTIC", "ABS"))
    assert (found["refusal"]["node"], found["refusal"]["operation"]) == (0, "RELU")
    (further,) = found["refusal"]["further"]
    assert "LOGISTIC at 2 nodes (1, 2)" in further
    assert further in found["warnings"]


def test_refusals_of_other_partitions_are_named_too():
    builder = deep("RELU", "CEIL", "LOGISTIC")
    (further,) = run(builder)["refusal"]["further"]
    assert "LOGISTIC at node 2" in further


def test_without_target_devices_the_kernel_fails():
    found = run(deep("RELU"), disallow_nnapi_cpu=False)
    assert found["log_lines"][0].startswith("Replacing 1 out of 1 node(s)")
    assert found["log_lines"][1] == found["refusal"]["error_line"]
    assert found["refusal"]["code"] == RANK


def test_a_model_as_a_whole_is_refused_for_its_level():
    found = run(deep("NEG", rank=2), feature_level=27)
    assert found["outcome"] == "none"
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "FLOAT32", ())
    graph.node("FLOOR", (graph.input("x", "FLOAT32", ()),), (result,))
    graph.outputs(result)
    found = run(builder, feature_level=27)
    assert (found["refusal"]["code"], found["refusal"]["call"]) == (PREFIX + "model-feature-level", "finish")
    options = {**found["options"], "driver": None, "devices": None}
    mildest = next(iter(DELEGATE.remedies(found["refusal"]["code"], options)))
    assert mildest == {"feature_level": 28, "device_feature_level": None}


def test_a_driver_is_not_shown_what_its_level_lacks():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    middle, result = graph.tensor("m", "FLOAT32", (2, 2)), graph.tensor("y", "FLOAT32", (2, 2))
    graph.node("HARD_SWISH", (graph.input("x", "FLOAT32", (2, 2)),), (middle,))
    graph.node("RELU", (middle,), (result,))
    graph.outputs(result)
    nodes = run(builder, device_feature_level=29)["subgraphs"][0]["nodes"]
    assert [node["delegated"] for node in nodes] == [False, True]
    assert nodes[0]["reasons"][0]["code"] == PREFIX + "hidden"


def test_every_rule_that_the_delegate_can_break_has_a_code_with_words():
    control_flow = {code for code in RULES if code.startswith("control-flow")}
    assert {code.removeprefix(PREFIX) for code in KINDS} == set(RULES) - control_flow - {
        "model-submodel-operand",
        "compilation-simulated",
    }
    for code, kind in KINDS.items():
        assert DELEGATE.kinds[code] is kind
        assert all(kind.explanation)
        assert kind.hint


def unmapped_then_refused():
    """A partition with a tensor that NNAPI lacks, and behind a node on the CPU one that the runtime refuses."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    order, wide = graph.tensor("order", "INT32", (2,), data=[1, 0]), graph.tensor("wide", "INT64", (2, 2))
    graph.node("TRANSPOSE", (graph.input("long", "INT64", (2, 2)), order), (wide,))
    shape = (1, 1, 1, 2, 2)
    source = graph.input("x", "FLOAT32", shape)
    middle, result = graph.tensor("y", "FLOAT32", shape), graph.tensor("z", "FLOAT32", shape)
    graph.node("CEIL", (source,), (middle,))
    graph.node("RELU", (middle,), (result,))
    graph.outputs(wide, result)
    return builder


UNMAPPED = "Failed to add NN API tensor: type INT64 is not supported."
RESTORED = "Restored original execution plan after delegate application failure."


def test_a_tensor_that_nnapi_lacks_is_told_in_a_line():
    lines = run(unmapped_then_refused())["log_lines"]
    assert lines == [UNMAPPED, RESTORED]


def test_all_kernels_are_initialized_so_that_the_runtime_may_refuse_one_behind_another_that_is_not_mapped():
    found = run(unmapped_then_refused(), disallow_nnapi_cpu=False)
    assert (found["outcome"], found["refusal"]["code"], found["refusal"]["node"]) == ("restored", RANK, 2)
    last = "Node number 3 (TfLiteNnapiDelegate) failed to prepare."
    assert found["log_lines"][1:] == [UNMAPPED, found["refusal"]["error_line"], last, RESTORED]
    assert any("is INT64" in further for further in found["refusal"]["further"])


@pytest.mark.parametrize(
    ("code", "operation", "found", "needed", "words"),
    [
        ("operation-input-type", "FULLY_CONNECTED", T.TENSOR_QUANT8_SYMM_PER_CHANNEL, T.TENSOR_INT32, "quantize dense layers"),
        ("operation-input-type", "CONV_2D", T.TENSOR_QUANT8_SYMM_PER_CHANNEL, T.TENSOR_INT32, "weights of CONV_2D in float"),
        ("operation-input-count", "CONV_2D", T.TENSOR_QUANT8_SYMM_PER_CHANNEL.value, 9, "a combination of operands"),
        ("operand-zero-point", "", 3, ForType("0", T.TENSOR_QUANT8_SYMM), "use feature level 30"),
        ("operand-zero-point", "", 3, ForType("0", T.TENSOR_INT32), "quantize again"),
        ("operation-type", "TRANSPOSE", T.TENSOR_INT32, T.TENSOR_FLOAT32, "insert a CAST before and after"),
        ("operation-type", "ADD", T.TENSOR_BOOL8, T.TENSOR_FLOAT32, "or insert a CAST"),
        ("operation-input-type", "TRANSPOSE_CONV", T.TENSOR_FLOAT16, T.TENSOR_FLOAT32, "convert with float32 weights"),
    ],
)
def test_advice_follows_from_values(code, operation, found, needed, words):
    values = {"operand": OperandPart("input", 1), "found": found, "needed": needed}
    assert words in change_for(Refusal(code, "", values=values, operation=operation))
