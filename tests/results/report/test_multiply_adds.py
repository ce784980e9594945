from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import delegate_sim
from delegate_sim.model import schema
from delegate_sim.model.model import Tensor
from delegate_sim.results.report.multiply_adds import compute_of, multiply_adds
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from tests.support.graphs import arena, node_view
from tests.support.tables import for_each

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "models"
BASIC = 1
"""Value of the schema's LSTMKernelType."""
COUNTED = (
    "CONV_2D",
    "DEPTHWISE_CONV_2D",
    "TRANSPOSE_CONV",
    "CONV_3D",
    "CONV_3D_TRANSPOSE",
    "FULLY_CONNECTED",
    "BATCH_MATMUL",
    "LSTM",
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "BIDIRECTIONAL_SEQUENCE_LSTM",
    "RNN",
    "UNIDIRECTIONAL_SEQUENCE_RNN",
    "BIDIRECTIONAL_SEQUENCE_RNN",
    "SVDF",
    "STABLEHLO_DOT_GENERAL",
    "STABLEHLO_CONVOLUTION",
)
sizes = st.integers(1, 9)


def tensor(*shape, kind="FLOAT32"):
    return arena(kind, *shape)


def count(op, inputs, output, **options):
    """The multiply-adds of a node; operands are shapes, tensors, or None for one that is left out."""
    operands = [operand if operand is None or isinstance(operand, Tensor) else tensor(*operand) for operand in inputs]
    return multiply_adds(node_view(op, operands, [tensor(*output)], options=options or None))


def test_convolutions():
    # 4 x 4 positions, 8 filters of 3 x 3 x 2.
    assert count("CONV_2D", [(1, 8, 8, 2), (8, 3, 3, 2), (8,)], (1, 4, 4, 8)) == 4 * 4 * 8 * 3 * 3 * 2
    # Four groups: each filter sees 2 of the 8 channels.
    assert count("CONV_2D", [(2, 4, 4, 8), (16, 1, 1, 2), (16,)], (2, 4, 4, 16)) == 2 * 4 * 4 * 16 * 2
    # A filter for each output channel, two for each input channel.
    assert count("DEPTHWISE_CONV_2D", [(1, 8, 8, 4), (1, 3, 3, 8), (8,)], (1, 8, 8, 8)) == 8 * 8 * 3 * 3 * 8
    assert count("CONV_3D", [(1, 4, 4, 4, 2), (2, 2, 2, 2, 5)], (1, 3, 3, 3, 5)) == 27 * 8 * 2 * 5


def test_transposed_convolutions():
    # Each of the 2 x 2 positions of the input is spread with 3 filters of 2 x 2 x 5.
    assert count("TRANSPOSE_CONV", [(4,), (3, 2, 2, 5), (1, 2, 2, 5)], (1, 4, 4, 3)) == 2 * 2 * 3 * 2 * 2 * 5
    assert count("CONV_3D_TRANSPOSE", [(5,), (2, 2, 2, 3, 4), (1, 3, 3, 3, 4)], (1, 6, 6, 6, 3)) == 27 * 8 * 3 * 4


def test_fully_connected():
    assert count("FULLY_CONNECTED", [(5, 8), (16, 8), (16,)], (5, 16)) == 5 * 16 * 8
    assert count("FULLY_CONNECTED", [(2, 3, 8), (16, 8), None], (2, 3, 16), keep_num_dims=True) == 6 * 16 * 8
    assert count("FULLY_CONNECTED", [(2, 4, 2), (16, 8)], (2, 16)) == 2 * 16 * 8
    hybrid = tensor(16, 8, kind="INT4")
    assert count("FULLY_CONNECTED", [(5, 8), hybrid, None], (5, 16), weights_format=1) == 5 * 16 * 8


def test_batch_matmul():
    assert count("BATCH_MATMUL", [(2, 3, 4), (2, 4, 5)], (2, 3, 5)) == 2 * 3 * 4 * 5
    assert count("BATCH_MATMUL", [(2, 4, 3), (2, 4, 5)], (2, 3, 5), adj_x=True) == 2 * 3 * 4 * 5
    assert count("BATCH_MATMUL", [(2, 3, 4), (2, 5, 4)], (2, 3, 5), adj_y=True) == 2 * 3 * 4 * 5
    assert count("BATCH_MATMUL", [(7, 1, 3, 4), (2, 4, 5)], (7, 2, 3, 5)) == 14 * 3 * 4 * 5
    assert count("BATCH_MATMUL", [(2, 3, 4), (2, 5, 4)], (2, 3, 5)) == 0


def test_sizes_that_are_unknown_count_as_1():
    unknown = tensor(1, 1)._replace(shape_signature=(-1, -1))
    assert count("FULLY_CONNECTED", [unknown, (16, 8), None], (1, 16)) == 16 * 8
    assert count("BATCH_MATMUL", [(2, 3, 4), unknown], (2, 3, 1)) == 2 * 3 * 4
    assert count("CONV_2D", [(1, 1, 1, 3), (8, 3, 3, 3), (8,)], (1, 1, 1, 8)) == 8 * 3 * 3 * 3


INPUTS, CELLS, OUTPUTS = 3, 4, 2


def lstm_cell(*, input_gate=True, peepholes=False, projection=False, diagonal=False):
    """Operands 1 to 17 of a cell."""
    outputs = OUTPUTS if projection else CELLS
    recurrent = (CELLS,) if diagonal else (CELLS, outputs)
    gates = [(CELLS, INPUTS)] * 4 + [recurrent] * 4 + [(CELLS,) if peepholes else None] * 3 + [(CELLS,)] * 4
    if not input_gate:
        gates[0] = gates[4] = gates[8] = gates[11] = None
    return [*gates, (outputs, CELLS) if projection else None, None]


@pytest.mark.parametrize(
    ("form", "weights"),
    [
        ({}, 4 * CELLS * (INPUTS + CELLS)),
        ({"input_gate": False}, 3 * CELLS * (INPUTS + CELLS)),
        ({"peepholes": True}, 4 * CELLS * (INPUTS + CELLS) + 3 * CELLS),
        ({"projection": True}, 4 * CELLS * (INPUTS + OUTPUTS) + OUTPUTS * CELLS),
        ({"diagonal": True}, 4 * CELLS * (INPUTS + 1)),
    ],
)
def test_lstm(form, weights):
    cell = lstm_cell(**form)
    states = [(1, 4), (1, 4)]
    assert count("LSTM", [(5, INPUTS), *cell, *states], (5, CELLS)) == 5 * weights
    for time_major in (True, False):
        sequence = count("UNIDIRECTIONAL_SEQUENCE_LSTM", [(7, 5, INPUTS), *cell, *states], (7, 5, CELLS), time_major=time_major)
        assert sequence == 7 * 5 * weights
    both = [(7, 5, INPUTS), *cell, *cell, *states, *states]
    assert count("BIDIRECTIONAL_SEQUENCE_LSTM", [*both, *[None] * 9], (7, 5, 2 * CELLS)) == 7 * 5 * 2 * weights


def test_layer_normalization_is_not_counted():
    cell, states = lstm_cell(), [(1, 4), (1, 4)]
    assert count("LSTM", [(5, INPUTS), *cell, *states, *[(CELLS,)] * 4], (5, CELLS)) == 5 * 4 * CELLS * (INPUTS + CELLS)


def test_auxiliary_inputs():
    both = [(7, 5, INPUTS), *lstm_cell(), *lstm_cell(), *[(1, 4)] * 4]
    weights = 2 * 4 * CELLS * (INPUTS + CELLS)
    auxiliary = [(7, 5, 6), *[(CELLS, 6)] * 8]
    assert count("BIDIRECTIONAL_SEQUENCE_LSTM", [*both, *auxiliary], (7, 5, 8)) == 35 * (weights + 8 * CELLS * 6)
    assert count("BIDIRECTIONAL_SEQUENCE_LSTM", [*both, (7, 5, INPUTS), *[None] * 8], (7, 5, 8)) == 35 * weights
    assert count("BIDIRECTIONAL_SEQUENCE_LSTM", [*both, None, *[(CELLS, 6)] * 8], (7, 5, 8)) == 35 * weights


def test_basic_lstm():
    inputs = [(5, 3), (5, 4), (16, 7), (16,), (5, 4)]
    assert count("LSTM", inputs, (5, 4), kernel_type=BASIC) == 5 * 16 * 7


def test_rnn():
    cell = [(4, 3), (4, 4), (4,), (5, 4)]
    assert count("RNN", [(5, 3), *cell], (5, 4)) == 5 * 4 * (3 + 4)
    assert count("UNIDIRECTIONAL_SEQUENCE_RNN", [(7, 5, 3), *cell], (7, 5, 4), time_major=True) == 35 * 4 * (3 + 4)
    both = [(7, 5, 3), *cell, *cell]
    assert count("BIDIRECTIONAL_SEQUENCE_RNN", [*both, None, None, None], (7, 5, 8)) == 35 * 2 * 4 * (3 + 4)
    auxiliary = [(7, 5, 6), (4, 6), (4, 6)]
    assert count("BIDIRECTIONAL_SEQUENCE_RNN", [*both, *auxiliary], (7, 5, 8)) == 35 * 2 * 4 * (3 + 4 + 6)


def test_svdf():
    assert count("SVDF", [(2, 3), (8, 3), (8, 10), (4,), (2, 80)], (2, 4), rank=2) == 2 * 8 * (3 + 10)


def test_dot_general():
    contracting = {"lhs_contracting_dimensions": (2,), "rhs_contracting_dimensions": (1,)}
    batching = {"lhs_batching_dimensions": (0,), "rhs_batching_dimensions": (0,)}
    assert count("STABLEHLO_DOT_GENERAL", [(2, 3, 4), (2, 4, 5)], (2, 3, 5), **contracting, **batching) == 2 * 3 * 4 * 5
    two = {"lhs_contracting_dimensions": (1, 2), "rhs_contracting_dimensions": (1, 0)}
    assert count("STABLEHLO_DOT_GENERAL", [(2, 3, 4), (4, 3, 5)], (2, 5), **two) == 2 * 3 * 4 * 5


@pytest.mark.parametrize(
    ("left", "right"), [((3,), (1,)), ((-1,), (1,)), ((2, 2), (1, 1)), ((2,), ()), ((1,), (1,)), ((0, 1, 2, 0), (0, 1, 2, 0))]
)
def test_dot_general_over_dimensions_that_do_not_fit(left, right):
    contracting = {"lhs_contracting_dimensions": left, "rhs_contracting_dimensions": right}
    assert count("STABLEHLO_DOT_GENERAL", [(2, 3, 4), (2, 4, 5)], (2, 3, 5), **contracting) == 0


NHWC = {
    "input_feature_dimension": 3,
    "input_spatial_dimensions": (1, 2),
    "kernel_input_feature_dimension": 2,
    "kernel_output_feature_dimension": 3,
    "kernel_spatial_dimensions": (0, 1),
    "output_feature_dimension": 3,
    "output_spatial_dimensions": (1, 2),
    "feature_group_count": 1,
    "batch_group_count": 1,
}


def test_stablehlo_convolution():
    assert count("STABLEHLO_CONVOLUTION", [(1, 8, 8, 2), (3, 3, 2, 5)], (1, 6, 6, 5), **NHWC) == 36 * 9 * 2 * 5
    # As TRANSPOSE_CONV: the positions of the input count, not the holes between them.
    dilated = {**NHWC, "lhs_dilation": (2, 2)}
    assert count("STABLEHLO_CONVOLUTION", [(1, 4, 4, 2), (2, 2, 2, 5)], (1, 8, 8, 5), **dilated) == 16 * 4 * 2 * 5
    wrong = {**NHWC, "kernel_input_feature_dimension": 3}
    assert count("STABLEHLO_CONVOLUTION", [(1, 8, 8, 2), (3, 3, 2, 5)], (1, 6, 6, 5), **wrong) == 0
    assert count("STABLEHLO_CONVOLUTION", [(1, 8, 8, 2), (3, 3, 2, 5)], (1, 6, 6, 5)) == 0


def test_other_operators_are_not_counted():
    assert count("ADD", [(2, 3), (2, 3)], (2, 3)) == 0
    assert count("AVERAGE_POOL_2D", [(1, 4, 4, 2)], (1, 2, 2, 2)) == 0
    custom = node_view("CONV_2D", [tensor(1, 8, 8, 2), tensor(8, 3, 3, 2)], [tensor(1, 4, 4, 8)], custom=True)
    assert multiply_adds(custom) == 0


@given(batch=sizes, height=sizes, width=sizes, channels=sizes, groups=sizes, filters=sizes, window=st.tuples(sizes, sizes))
def test_a_convolution_has_its_filter_at_each_position(batch, height, width, channels, groups, filters, window):
    weights = (filters * groups, *window, channels)
    found = count("CONV_2D", [(batch, 20, 20, channels * groups), weights], (batch, height, width, filters * groups))
    assert found == math.prod(weights) * batch * height * width


@given(st.lists(sizes, max_size=3), sizes, sizes, sizes, st.booleans(), st.booleans(), st.integers(0, 7))
def test_a_matrix_product_has_as_many_as_the_same_product_contracted(batch, rows, depth, columns, adj_x, adj_y, broadcast):
    alone = [1 if broadcast >> axis & 1 else size for axis, size in enumerate(batch)]
    left = (*alone, *((depth, rows) if adj_x else (rows, depth)))
    right = (*batch, *((columns, depth) if adj_y else (depth, columns)))
    result = (*batch, rows, columns)
    expected = math.prod(batch) * rows * depth * columns
    assert count("BATCH_MATMUL", [left, right], result, adj_x=adj_x, adj_y=adj_y) == expected
    contracting = {
        "lhs_contracting_dimensions": (len(left) - (2 if adj_x else 1),),
        "rhs_contracting_dimensions": (len(right) - (1 if adj_y else 2),),
    }
    assert count("STABLEHLO_DOT_GENERAL", [left, right], result, **contracting) == expected


@given(st.lists(sizes, min_size=1, max_size=4), sizes, st.booleans())
def test_rows_of_a_dense_layer_cost_the_same_however_they_are_arranged(shape, units, keep_num_dims):
    *rows, depth = shape
    found = count("FULLY_CONNECTED", [tuple(shape), (units, depth)], (*rows, units), keep_num_dims=keep_num_dims)
    assert found == math.prod(rows) * units * depth


shapes = st.lists(st.integers(-2, 4) | st.sampled_from([-(1 << 31), (1 << 31) - 1]), max_size=6).map(tuple)
NUMBERS = st.integers(-3, 5)
VECTORS = st.lists(NUMBERS, max_size=5).map(tuple)


@st.composite
def hostile(draw):
    """A node that a broken file may hold: any operands, some left out, and options out of range."""
    op = draw(st.sampled_from(COUNTED))
    operands = draw(st.lists(st.none() | shapes.map(lambda shape: tensor(*shape)), max_size=48))
    results = draw(st.lists(shapes.map(lambda shape: tensor(*shape)), max_size=2))
    fields = schema.table_fields(schema.options_table(op)).values()
    options = {field.name: draw(VECTORS if isinstance(field.default, tuple) else NUMBERS) for field in fields}
    return node_view(op, operands, results, options=draw(st.none() | st.just(options)))


@given(hostile())
def test_a_malformed_node_does_not_fail(node):
    assert multiply_adds(node) >= 0


@for_each(COUNTED)
def test_a_node_without_operands_has_none(op):
    assert multiply_adds(node_view(op, [], [])) == 0
    assert multiply_adds(node_view(op, [None] * 48, [tensor(1, 4, 4, 1)])) == 0


def test_the_count_can_be_printed_however_large_a_shape_is():
    huge = (2**31 - 1,) * 256
    contracting = {"lhs_contracting_dimensions": tuple(range(256)), "rhs_contracting_dimensions": tuple(range(256))}
    assert str(count("STABLEHLO_DOT_GENERAL", [huge, huge], huge, **contracting)) == "0"


def two_layers():
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    source, wide, narrow = layers.input("FLOAT32", 1, 8), layers.weights("FLOAT32", 4, 8), layers.weights("FLOAT32", 2, 4)
    hidden = layers.node("FULLY_CONNECTED", [source, wide, -1], "FLOAT32", (1, 4))
    rounded = layers.node("ROUND", [hidden])
    layers.node("FULLY_CONNECTED", [rounded, narrow, -1], "FLOAT32", (1, 2), version=9)
    layers.finish()
    return builder.bytes()


def test_compute_of_a_run():
    [run] = delegate_sim.analyze(two_layers(), "nnapi", defaults="api").runs
    assert run.subgraphs[0].delegated == {0}
    compute = compute_of(run)
    assert compute.by_node == ({0: 32, 2: 8},)
    assert (compute.multiply_adds, compute.delegated_multiply_adds) == (40, 32)
    assert compute.of(0, [0, 1]) == 32


def test_a_subgraph_that_nothing_runs_has_no_multiply_adds():
    builder = ModelBuilder()
    for rows in (1, 3):
        layers = Layers(builder.subgraph())
        layers.node(
            "FULLY_CONNECTED", [layers.input("FLOAT32", rows, 8), layers.weights("FLOAT32", 4, 8), -1], "FLOAT32", (rows, 4)
        )
        layers.finish()
    [run] = delegate_sim.analyze(builder.bytes(), "xnnpack", defaults="api").runs
    compute = compute_of(run)
    assert compute.by_node == ({0: 32}, {})
    assert (compute.multiply_adds, compute.delegated_multiply_adds) == (32, 32)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.tflite")), ids=lambda path: path.stem)
@pytest.mark.parametrize("delegate", ["nnapi", "xnnpack"])
def test_delegated_partitions_make_what_is_delegated(path, delegate):
    [run] = delegate_sim.analyze(path, delegate, defaults="api").runs
    compute = compute_of(run)
    by_partition = sum(
        compute.of(number, subset.nodes)
        for number, subgraph in enumerate(run.subgraphs)
        for subset in subgraph.subsets
        if subset.is_delegated
    )
    assert by_partition == compute.delegated_multiply_adds


def test_a_chain_counts_what_is_left():
    report = delegate_sim.simulate(two_layers(), [("nnapi", {}), ("xnnpack", {})], defaults="api")
    first, second = (compute_of(run) for run in report.runs)
    assert second.multiply_adds == first.multiply_adds - first.delegated_multiply_adds
