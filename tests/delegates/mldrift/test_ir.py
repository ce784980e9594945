"""The rules of the second path, of which the sources were read and no release was run."""

from __future__ import annotations

import numpy as np
import pytest
from flatbuffers import flexbuffers

import delegate_sim
from delegate_sim.delegates.mldrift.ir import IR_RULES
from delegate_sim.delegates.mldrift.target import MlDriftTarget
from delegate_sim.graph.graph import file_graphs
from delegate_sim.model.model import Options
from delegate_sim.rules.alike import Judge
from delegate_sim.rules.families import FAMILIES
from fixtures.builder import ModelBuilder
from tests.delegates.mldrift.ir_cases import CASES, EIGHT, FILTER, INT32, MATRIX, VECTOR, F, G, not_fixed, ranked
from tests.graphs import arena, constant, node_view


def said_of(node) -> str | None:
    verdict = IR_RULES.validate(node, MlDriftTarget())
    return verdict.reasons[0].kind if verdict.reasons else None


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.said}"[:60])
def test_what_is_said_of_a_node(case):
    assert said_of(node_view(case.op, case.inputs, case.outputs, version=case.version, options=case.options)) == case.said


def test_what_is_said_of_constant_operands_names_the_tensors_of_each_node():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    for number in range(3):
        operands = [graph.tensor(f"operand{number}{place}", "FLOAT32", (1, 40), data=[1.0] * 40) for place in range(2)]
        result = graph.tensor(f"result{number}", "FLOAT32", (1, 80))
        graph.node("CONCATENATION", operands, (result,), options={"axis": 1})
    (prepared,) = file_graphs(delegate_sim.load(builder.bytes()))
    verdicts = Judge(prepared, IR_RULES, MlDriftTarget()).verdicts(range(3))
    said = [verdict.reasons[0].kind for verdict in verdicts.values()]
    assert said == [f"Invalid all constant inputs: [{first}, {first + 1}]" for first in (0, 3, 6)]


def test_every_operator_has_a_case_that_is_taken_and_one_that_is_refused():
    taken, refused = ({case.op for case in CASES if (case.said is None) is accepts} for accepts in (True, False))
    alike = {op for op, rule in IR_RULES.rules.items() if rule.source[0].file.endswith("support_elementwise.cc")}
    alike |= {"REDUCE_ALL", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "RELU6", "RELU_N1_TO_1", "LEAKY_RELU"}
    others = IR_RULES.rules.keys() - IR_RULES.custom.keys() - alike - {"STABLEHLO_COMPOSITE"}
    twins = {"SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "SELECT", "SELECT_V2", "AVERAGE_POOL_2D", "MAX_POOL_2D", "SUM", "REDUCE_ANY"}
    assert others - twins <= taken & refused | {"RESIZE_NEAREST_NEIGHBOR"}
    assert twins <= taken | refused


def test_rules_stand_in_the_file_of_their_family():
    family_of = {op: family for family, ops in FAMILIES.items() for op in ops}
    for family in IR_RULES.families:
        assert len({family_of[op] for op in family}) == 1


# Composites and custom operators


def composite(name, inputs, outputs, attributes=None):
    node = node_view("STABLEHLO_COMPOSITE", inputs, outputs)
    content = tuple(bytes(flexbuffers.Dumps(attributes or {})))
    node._options = Options("StableHLOCompositeOptions", {"name": name, "composite_attributes": content})
    return said_of(node)


GROUPS = {"num_groups": 2, "epsilon": 1e-5, "_TENSOR_V1_reduction_axes": {"TENSOR_DATA": [3]}}


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "expected"),
    [
        ("odml.group_norm", [F, EIGHT, EIGHT], GROUPS, None),
        ("odml.group_norm", [MATRIX], GROUPS, ranked("inputs[0]", 2, 4, 4)),
        ("odml.group_norm", [F], {**GROUPS, "channel_axis": 1}, "Only channel-last tensor is supported for GroupNorm."),
        ("odml.group_norm", [F, EIGHT], {"epsilon": 1.0}, None),
        ("odml.group_norm", [F], {}, "LayerNorm is missing epsilon."),
        ("odml.rms_norm", [F, EIGHT], {"epsilon": 1.0}, None),
        ("odml.rms_norm", [F, VECTOR], {"epsilon": 1.0}, not_fixed("scale")),
        ("odml.rms_norm", [F, constant(np.ones(4), "FLOAT32")], {}, "scale tensor length doesn't match input tensor channels."),
        ("odml.scaled_dot_product_attention", [F, G, G], {}, None),
        ("odml.scaled_dot_product_attention", [F, MATRIX, G], {}, "K and V must have the same shape."),
        ("odml.sdpa_transposed", [F, G, G], {}, None),
        ("odml.sdpa_transposed", [F, G], {}, "Custom parser odml.sdpa_transposed rejected node."),
        ("odml.rope", [F, G], {}, "Unknown StableHLO composite params: odml.rope"),
    ],
)
def test_composites(name, inputs, attributes, expected):
    assert composite(name, inputs, [G], attributes) == expected


@pytest.mark.parametrize(
    ("name", "inputs", "outputs", "expected"),
    [
        ("Resampler", [F, arena("FLOAT32", 1, 4, 4, 2)], [G], None),
        ("Resampler", [F, G], [G], "Input 1 channel dimension must be 2: 8 != 2"),
        ("Convolution2DTransposeBias", [F, FILTER, EIGHT], [G], None),
        ("Convolution2DTransposeBias", [F], [G], "Invalid number of inputs: 1, while expected 3."),
        ("MaxPoolingWithArgmax2D", [F], [G, G], "Custom pooling op must have custom initial data."),
        ("MaxPoolingWithArgmax2D", [F], [G], "Custom pooling op must have 2 outputs."),
        ("custom_call.MaxUnpooling2D", [F, INT32], [G], "Unpooling2d is missing params."),
        ("custom_call.MaxUnpooling2D", [F, arena("INT32", 8)], [G], "Input and indices dimensions must match."),
        ("custom_call.absolute_positional_embedding", [F, arena("FLOAT32", 1, 4, 8)], [G], None),
        (
            "custom_call.absolute_positional_embedding",
            [F, VECTOR],
            [G],
            "src and pos must have the same width for PositionalEmbedding.",
        ),
        ("custom_call.rotary_positional_embedding", [F, F, G], [G, G], None),
        ("custom_call.rotary_positional_embedding", [F], [G], "Invalid number of inputs: 1, while expected 2 or 3."),
        ("custom_call.pixel_shuffle", [F], [G], "PixelShuffle is missing params."),
        ("odml.cache_update", [F, F, F], [G, G], None),
        ("odml.runtime_bmm", [F, F, F], [G], "Custom parser odml.runtime_bmm rejected node."),
    ],
)
def test_custom_operators(name, inputs, outputs, expected):
    assert said_of(node_view(name, inputs, outputs, custom=True)) == expected


# The path as a whole


def test_what_is_printed_and_that_it_was_not_run():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x = graph.input("x", "FLOAT32", (1, 4))
    tensors = [graph.tensor(name, "FLOAT32", (1, 4)) for name in "abc"]
    graph.node("ABS", [x], [tensors[0]])
    graph.node("L2_NORMALIZATION", [tensors[0]], [tensors[1]])
    graph.node("RELU", [tensors[1]], [tensors[2]], 3)
    graph.outputs(tensors[2])
    (run,) = delegate_sim.analyze(builder.bytes(), "mldrift", {"use_ir_model": True}).to_dict()["runs"]
    assert run["log_lines"][:-1] == [
        "  Not supported by ML Drift:",
        "    L2_NORMALIZATION: ",
        "    RELU: Unsupported version: 3, supported versions are [1, 2]",
        "1 / 3 ops are delegated to ML Drift.",
    ]
    assert any("no release of LiteRT was run with" in warning for warning in run["warnings"])
    (other,) = delegate_sim.analyze(builder.bytes(), "mldrift").to_dict()["runs"]
    assert not any("use_ir_model" in warning for warning in other["warnings"])
