"""Nodes whose parameters the runtime does not load; what it says of each was seen with ai-edge-litert 2.3.0."""

from __future__ import annotations

import pytest

from delegate_sim.graph.graph import file_graphs
from delegate_sim.model.reader import load
from delegate_sim.runtime.unloadable_nodes import invalid_node
from fixtures.builder import ModelBuilder

PAD = {name: [0, 0] for name in ("edge_padding_low", "edge_padding_high", "interior_padding")}
WINDOW = {"window_dimensions": [1, 1]}


def model(op, options, options_table=None):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, middle, result = graph.input("x", "FLOAT32", [1, 4]), *[graph.tensor(name, "FLOAT32", [1, 4]) for name in "yz"]
    graph.node("ABS", [source], [middle])
    graph.node(op, [middle], [result], options=options, options_table=options_table)
    graph.outputs(result)
    return load(builder.bytes())


def too_many(name, attribute=None):
    line = f"Found too many dimensions in the input array of operation '{name}'."
    return [line] if attribute is None else [line, f"Check the '{attribute}' attribute."]


def other_size(field, found, needed):
    return [f"'{field}' attribute of 'stablehlo.reduce_window' does not have the expected size ({found} != {needed})."]


@pytest.mark.parametrize(
    ("op", "options", "message", "lines"),
    [
        ("LSTM", None, "it has no options", ["No valid LSTM builtin options exist"]),
        ("LSTM", {"kernel_type": 7}, "its kernel_type is 7", ["Unhandled LSTM kernel type: 7"]),
        ("BUCKETIZE", {}, "it has no boundaries", ["boundaries array not provided for operation 'bucketize'."]),
        ("REDUCE_WINDOW", {}, "its reduce_function is 0", []),
        ("REDUCE_WINDOW", {"reduce_function": 7}, "its reduce_function is 7", []),
        ("FULLY_CONNECTED", {"weights_format": 2}, "its weights_format is 2", ["Unhandled fully-connected weights format."]),
        (
            "FULLY_CONNECTED",
            {"weights_format": 2, "quantized_bias_type": 88},
            "its quantized_bias_type is 88",
            ["Unsupported data type 88 in tensor"],
        ),
        ("CAST", {"in_data_type": 77, "out_data_type": 88}, "its in_data_type is 77", ["Unsupported data type 77 in tensor"]),
        *[
            (op, {field: 88}, f"its {field} is 88", ["Unsupported data type 88 in tensor"])
            for op, field in [
                ("ARG_MAX", "output_type"),
                ("ARG_MIN", "output_type"),
                ("CAST", "out_data_type"),
                ("CONV_2D", "quantized_bias_type"),
                ("HASHTABLE", "key_dtype"),
                ("HASHTABLE", "value_dtype"),
                ("SHAPE", "out_type"),
                ("TRANSPOSE_CONV", "quantized_bias_type"),
            ]
        ],
        ("RESHAPE", {"new_shape": [1] * 9}, "its new_shape has 9 elements, more than 8", too_many("reshape")),
        ("SQUEEZE", {"squeeze_dims": [0] * 9}, "its squeeze_dims has 9 elements, more than 8", too_many("squeeze")),
        (
            "STABLEHLO_CASE",
            {},
            "it has no branch_subgraph_indices",
            ["Input array not provided for operation 'stablehlo.case'.", "Check the 'branch subgraph indices' attribute."],
        ),
        (
            "STABLEHLO_CASE",
            {"branch_subgraph_indices": [1] * 21},
            "its branch_subgraph_indices has 21 elements, more than 20",
            too_many("stablehlo.case", "branch subgraph indices"),
        ),
        (
            "STABLEHLO_PAD",
            {**PAD, "edge_padding_high": [0] * 9},
            "its edge_padding_high has 9 elements, more than 8",
            too_many("stablehlo.pad", "edge_padding_high"),
        ),
        (
            "STABLEHLO_PAD",
            {**PAD, "interior_padding": [0]},
            "edge_padding_low, edge_padding_high, interior_padding have different lengths",
            ["'stablehlo.pad' operation parameter array sizes are not consistent."],
        ),
        (
            "STABLEHLO_REDUCE_WINDOW",
            {"window_dimensions": [1] * 9},
            "its window_dimensions has 9 elements, more than 8",
            too_many("stablehlo.reduce_window", "window_dimensions"),
        ),
        *[
            ("STABLEHLO_REDUCE_WINDOW", {**WINDOW, field: [1] * 3}, f"its {field} has 3 elements, not {needed}", lines)
            for field, needed in [("window_strides", 2), ("base_dilations", 2), ("window_dilations", 2), ("padding", 4)]
            for lines in [other_size(field, 3, needed)]
        ],
    ],
)
def test_what_is_wrong_and_what_the_runtime_says(op, options, message, lines):
    found = invalid_node(model(op, options))
    assert (found.subgraph, found.node, found.values["op"]) == (0, 1, op)
    assert (found.message, list(found.log_lines)) == (message, lines)


@pytest.mark.parametrize(
    ("op", "options"),
    [
        ("LSTM", {}),
        ("LSTM", {"kernel_type": 1}),
        ("BUCKETIZE", None),
        ("BUCKETIZE", {"boundaries": []}),
        ("REDUCE_WINDOW", None),
        ("REDUCE_WINDOW", {"reduce_function": 6}),
        ("FULLY_CONNECTED", {"weights_format": 1}),
        ("CAST", None),
        ("RESHAPE", {}),
        ("RESHAPE", {"new_shape": [1] * 8}),
        ("SQUEEZE", {}),
        ("SQUEEZE", {"squeeze_dims": [0] * 8}),
        ("STABLEHLO_CASE", {"branch_subgraph_indices": [1] * 20}),
        ("STABLEHLO_PAD", {name: [0] * 8 for name in PAD}),
        ("STABLEHLO_REDUCE_WINDOW", WINDOW),
        ("STABLEHLO_REDUCE_WINDOW", {**WINDOW, "window_strides": [2, 2], "padding": [0] * 4}),
        ("STABLEHLO_REDUCE_WINDOW", {"window_dimensions": [1] * 8}),
        ("ADD", None),
    ],
)
def test_what_is_loaded(op, options):
    assert invalid_node(model(op, options)) is None


def test_options_of_another_operator_are_none():
    assert "options" in invalid_node(model("LSTM", {}, options_table="AddOptions")).message


def test_custom_operators_have_no_such_parameters():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    graph.node("CUSTOM", [source], [result], custom="LSTM")
    graph.outputs(result)
    read = load(builder.bytes())
    assert file_graphs(read)[0].nodes[0].op == "LSTM"
    assert invalid_node(read) is None
