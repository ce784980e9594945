"""Custom operators on the second path: their own options and the sizes that depend on each other."""

from __future__ import annotations

import struct

import pytest
from flatbuffers import flexbuffers

from delegate_sim.delegates.mldrift.ir import IR_RULES
from delegate_sim.delegates.mldrift.target import MlDriftTarget
from delegate_sim.frozen import changed
from tests.delegates.mldrift.ir_cases import F, G
from tests.graphs import MODEL, arena, constant, node_view


def floats(*shape):
    return arena("FLOAT32", *shape)


def reasons(name, inputs, outputs, options=None, version=1):
    """Judge a custom operator; ``options`` are the bytes that it carries."""
    view = node_view(name, inputs, outputs, version=version, custom=True)
    if options is not None:
        view.graph = changed(view.graph, model=changed(MODEL, content=memoryview(options)))
        view.node = view.node._replace(custom_options=(0, len(options)))
    return IR_RULES.validate(view, MlDriftTarget()).reasons


def said(*node, **fields):
    found = reasons(*node, **fields)
    return found[0].kind if found else None


# MaxPoolingWithArgmax2D


def pool(stride_width=2, stride_height=2, filter_width=2, filter_height=2):
    """``TfLitePoolParams``: padding, strides, filter and activation."""
    return struct.pack("<6i", 1, stride_width, stride_height, filter_width, filter_height, 0)


POOLED = floats(1, 2, 2, 8)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (pool(), None),
        (pool(1, 1, 1, 1), None),
        (pool(filter_height=0), "Unsupported filter size: 0x2"),
        (pool(filter_width=-1), "Unsupported filter size: 2x-1"),
        (pool(stride_height=0, stride_width=3), "Unsupported stride size: 0x3"),
        (pool(stride_width=0), "Unsupported stride size: 2x0"),
        (pool(0, 0, 0, 0), "Unsupported filter size: 0x0"),
        (pool()[:12], "Unsupported filter size: 0x0"),
    ],
)
def test_pooling_takes_windows_and_steps_of_at_least_one(options, expected):
    assert said("MaxPoolingWithArgmax2D", [F], [POOLED, POOLED], options) == expected


def test_pooling_says_what_it_found():
    (reason, *_) = reasons("MaxPoolingWithArgmax2D", [F], [POOLED, POOLED], pool(filter_height=0))
    assert (reason.found, reason.needed) == ("filter 0x2", "filter of at least 1x1")


def test_where_the_largest_were_is_of_a_floating_point_type():
    assert said("MaxPoolingWithArgmax2D", [F], [POOLED, arena("INT32", 1, 2, 2, 8)], pool()).startswith("Unsupported dtype")
    assert said("MaxPoolingWithArgmax2D", [F], [POOLED, floats(2, 8)], pool()) is not None


# Resampler


@pytest.mark.parametrize(
    ("warp", "result", "expected"),
    [
        (floats(1, 6, 5, 2), floats(1, 6, 5, 8), None),
        (floats(1, 6, 5, 3), floats(1, 6, 5, 8), "Input 1 channel dimension must be 2: 3 != 2"),
        (floats(6, 5, 2), floats(1, 6, 5, 8), "Input 0 and input 1 dimensions must match: 4 != 3"),
        (floats(1, 6, 5, 2), floats(6, 5, 8), "Input 0 and output dimensions must match: 4 != 3"),
        (floats(1, 6, 5, 2), floats(1, 6, 4, 8), "Input 1 and output dimensions must match: 5 != 4"),
        (floats(2, 6, 5, 2), floats(1, 6, 5, 8), "Input 1 and output dimensions must match: 2 != 1"),
    ],
)
def test_a_resampler_samples_where_its_warp_points(warp, result, expected):
    assert said("Resampler", [F, warp], [result]) == expected


def test_a_resampler_reads_what_is_computed():
    assert said("Resampler", [constant([[[[1.0]]]], "FLOAT32"), floats(1, 1, 1, 2)], [floats(1, 1, 1, 1)]) is not None


# MaxUnpooling2D


@pytest.mark.parametrize(
    ("source", "indices", "result", "expected"),
    [
        (POOLED, arena("INT32", 1, 2, 2, 8), F, None),
        (POOLED, arena("INT32", 1, 2, 2, 4), F, "Input and indices dimensions must match."),
        (POOLED, arena("INT32", 2, 2, 8), F, "Input and indices dimensions must match."),
        (POOLED, arena("INT32", 1, 2, 2, 8), floats(4, 4, 8), "Output and input dimensions must match: 3 != 4"),
        (floats(2, 8), arena("INT32", 2, 8), floats(4, 8), "Invalid number of input dims: 2, should be between 3 and 5"),
    ],
)
def test_unpooling_puts_each_element_where_its_index_says(source, indices, result, expected):
    assert said("custom_call.MaxUnpooling2D", [source, indices], [result], pool()) == expected


# pixel_shuffle


def groups(**values):
    return bytes(flexbuffers.Dumps(values))


@pytest.mark.parametrize(
    ("source", "result", "options", "expected"),
    [
        (floats(1, 8, 3, 5), floats(1, 2, 6, 10), groups(num_groups=2), None),
        (floats(9, 3, 5), floats(1, 9, 15), groups(num_groups=3), None),
        (floats(1, 4, 3, 5), floats(1, 4, 3, 5), groups(num_groups=1), None),
        (floats(1, 8, 3, 5), floats(1, 2, 6, 10), groups(other=2), "PixelShuffle is missing num_groups."),
        (floats(1, 8, 3, 5), floats(1, 2, 6, 10), None, "PixelShuffle is missing params."),
        (
            floats(1, 8, 3, 5), floats(1, 2, 6, 10), groups(num_groups=0),
            "Invalid number of groups: 0, should be greater than 0",
        ),
        (
            floats(1, 8, 3, 5), floats(1, 2, 6, 10), groups(num_groups=-2),
            "Invalid number of groups: -2, should be greater than 0",
        ),
        (
            floats(1, 8, 3, 5), floats(1, 4, 6, 10), groups(num_groups=2),
            "Invalid shape of 3rd to last dim. Should be in[-3] = out[-3] * num_groups^2. Got in[-3]: 8 num_groups: 2 and "
            "out[-3]: 4",
        ),
        (
            floats(1, 8, 3, 5), floats(1, 2, 5, 10), groups(num_groups=2),
            "Invalid shape of 2nd to last dim. Should be in[-2] * num_groups = out[-2]. Got in[-2]: 3 num_groups: 2 and "
            "out[-2]: 5",
        ),
        (
            floats(1, 8, 3, 5), floats(1, 2, 6, 9), groups(num_groups=2),
            "Invalid shape of last dim. Should be in[-1] * num_groups = out[-1]. Got in[-1]: 5 num_groups: 2 and out[-1]: 9",
        ),
        (floats(1, 8, 3, 5), floats(2, 6, 10), groups(num_groups=2), "Output and input dimensions must match: 3 != 4"),
    ],
)  # fmt: skip
def test_shuffled_pixels_move_from_channels_to_height_and_width(source, result, options, expected):
    assert said("custom_call.pixel_shuffle", [source], [result], options) == expected


# Positional embeddings


@pytest.mark.parametrize(
    ("source", "positions", "is_taken"),
    [
        (floats(1, 6, 4, 8), floats(1, 1, 4, 8), True),
        (floats(1, 6, 4, 8), floats(1, 6, 3, 8), False),
        (floats(6, 4, 8), floats(1, 4, 8), True),
        (floats(1, 6, 1, 8), floats(8, 8), True),  # of two dimensions it has none
        (floats(1, 6, 2, 8), floats(8, 8), False),
    ],
)
def test_positions_are_as_wide_as_what_they_are_added_to(source, positions, is_taken):
    expected = None if is_taken else "src and pos must have the same width for PositionalEmbedding."
    assert said("custom_call.absolute_positional_embedding", [source, positions], [source]) == expected


@pytest.mark.parametrize(
    ("inputs", "outputs", "expected"),
    [
        ([F, G], [G], None),
        ([F, F, G], [G, G], None),
        ([F, G], [G, G], "Invalid number of outputs: 2, while expected 1."),
        ([F, F, G], [G], "Invalid number of outputs: 1, while expected 2."),
        ([F, F, F, G], [G, G, G], "Invalid number of inputs: 4, while expected 2 or 3."),
        ([F, F, floats(1, 4, 5, 8)], [G, G], "src and pos must have the same width for RoPE."),
    ],
)
def test_one_or_two_tensors_are_rotated_by_positions(inputs, outputs, expected):
    assert said("custom_call.rotary_positional_embedding", inputs, outputs) == expected


@pytest.mark.parametrize(("name", "version"), [("custom_call.pixel_shuffle", 2), ("MaxPoolingWithArgmax2D", 3)])
def test_versions_that_are_not_known(name, version):
    assert said(name, [F], [G], version=version) == f"Unsupported version: {version}"
