"""Prepare of matrix products and diagonals."""

from __future__ import annotations

import pytest
from flatbuffers import flexbuffers

from delegate_sim.model.model import Sparsity
from delegate_sim.prepare.tensors import PrepareError
from delegate_sim.releases.catalogue import parse_release

TANH = 4
"""Value of the schema's ActivationFunctionType."""
INT32, INT64 = 2, 4
"""Values of the schema's TensorType."""
SHUFFLED = 1
"""Value of the schema's FullyConnectedOptionsWeightsFormat."""


def fully_connected(kernels, source, weights, bias=None, result="FLOAT32", **options):
    results = [kernels.arena(result)] if isinstance(result, str) else [result]
    if options.get("weights_format") == SHUFFLED:
        results.append(kernels.arena("UINT8"))
    return kernels.prepare("FULLY_CONNECTED", [source, weights, bias], results, **{"keep_num_dims": False, **options})


def quantized_operands(kernels, kind="INT8", weights="INT8", bias="INT32"):
    scaled = (kernels.arena(kind, 2, 6), kernels.arena(weights, 3, 6), kernels.arena(bias, 3), kernels.arena(kind))
    return [kernels.quantized(tensor, scale) for tensor, scale in zip(scaled, (0.5, 0.5, 0.25, 1.0), strict=True)]


@pytest.mark.parametrize(
    ("source", "keeps", "expected"),
    [((2, 6), False, (2, 3)), ((2, 5, 6), False, (10, 3)), ((2, 5, 6), True, (2, 5, 3)), ((3, 4), False, (2, 3))],
)
def test_fully_connected_shape(kernels, source, keeps, expected):
    node = fully_connected(kernels, kernels.arena("FLOAT32", *source), kernels.arena("FLOAT32", 3, 6), keep_num_dims=keeps)
    kernels.assert_static(node, expected)


@pytest.mark.parametrize(("keeps", "expected"), [(False, (10, 3)), (True, (2, 5, 3))])
def test_fully_connected_empty_weights(kernels, keeps, expected):
    source, weights = kernels.arena("FLOAT32", 2, 5, 0), kernels.arena("FLOAT32", 3, 0)
    kernels.assert_static(fully_connected(kernels, source, weights, keep_num_dims=keeps), expected)


def test_fully_connected_refuses_shapes(kernels):
    source = kernels.arena("FLOAT32", 3, 4)
    with pytest.raises(PrepareError, match="last dimension"):
        fully_connected(kernels, source, kernels.arena("FLOAT32", 3, 6), keep_num_dims=True)
    with pytest.raises(PrepareError, match="dimensions"):
        fully_connected(kernels, source, kernels.arena("FLOAT32", 3, 2, 2))
    with pytest.raises(PrepareError, match="one element"):
        fully_connected(kernels, source, kernels.arena("FLOAT32", 3, 4), kernels.arena("FLOAT32", 4))


@pytest.mark.parametrize("weights", ["UINT8", "INT8", "INT4", "INT2"])
def test_fully_connected_hybrid(kernels, weights):
    source = kernels.arena("FLOAT32", 2, 6)
    node = fully_connected(kernels, source, kernels.arena(weights, 3, 6), kernels.arena("FLOAT32", 3))
    kernels.assert_static(node, (2, 3))
    with pytest.raises(PrepareError, match="INT32"):
        fully_connected(kernels, source, kernels.arena(weights, 3, 6), kernels.arena("INT32", 3))


@pytest.mark.parametrize(
    ("source", "weights", "bias"),
    [
        ("FLOAT32", "FLOAT16", "FLOAT32"),
        ("FLOAT32", "FLOAT32", "FLOAT16"),
        ("FLOAT16", "FLOAT16", "FLOAT16"),
        ("FLOAT32", "INT16", "INT64"),
    ],
)
def test_fully_connected_refuses_types(kernels, source, weights, bias):
    operands = kernels.arena(source, 2, 6), kernels.arena(weights, 3, 6), kernels.arena(bias, 3)
    with pytest.raises(PrepareError, match=r"tensor \d is"):
        fully_connected(kernels, *operands, result=source)


def test_fully_connected_activation(kernels):
    source = kernels.arena("FLOAT32", 2, 6)
    fully_connected(kernels, source, kernels.arena("INT8", 3, 6), fused_activation_function=TANH)
    with pytest.raises(PrepareError, match="activation"):
        fully_connected(kernels, source, kernels.arena("FLOAT32", 3, 6), fused_activation_function=TANH)


def test_fully_connected_scale_of_the_bias(kernels):
    source, weights, bias, result = quantized_operands(kernels)
    kernels.assert_static(fully_connected(kernels, source, weights, bias, result), (2, 3))
    with pytest.raises(PrepareError, match="bias scale"):
        fully_connected(kernels, source, weights, kernels.quantized(bias, 0.28), result)
    per_channel = kernels.quantized(weights, 0.5, 0.25, 1.0)
    kernels.assert_static(fully_connected(kernels, source, per_channel, kernels.quantized(bias, 0.28), result), (2, 3))


def test_fully_connected_scales_are_those_of_the_units(kernels):
    source, weights, bias, result = quantized_operands(kernels)
    with pytest.raises(PrepareError, match="along the units"):
        fully_connected(kernels, source, kernels.quantized(weights, *[0.5] * 6, dimension=1), bias, result)
    source, weights, bias, result = quantized_operands(kernels, "UINT8", "UINT8")
    with pytest.raises(PrepareError, match="UINT8"):
        fully_connected(kernels, source, kernels.quantized(weights, 0.5, 0.25, 1.0), bias, result)


def test_fully_connected_needs_quantization(kernels):
    source, weights, bias, result = quantized_operands(kernels)
    with pytest.raises(PrepareError, match="input has no"):
        fully_connected(kernels, source._replace(quantization=None), weights, bias, result)
    with pytest.raises(PrepareError, match="weights have no"):
        fully_connected(kernels, source, weights._replace(quantization=None), bias, result)


def test_fully_connected_refuses_zero_points_of_narrow_weights(kernels):
    source = kernels.arena("FLOAT32", 2, 6)
    for kind, is_refused in (("INT8", False), ("INT4", True)):
        weights = kernels.quantized(kernels.arena(kind, 3, 6), 0.5, zero_point=1)
        if is_refused:
            with pytest.raises(PrepareError, match="zero point"):
                fully_connected(kernels, source, weights)
        else:
            fully_connected(kernels, source, weights)


def test_fully_connected_type_of_an_int16_bias(kernels):
    operands = quantized_operands(kernels, "INT16", "INT8", "INT64")
    kernels.assert_static(fully_connected(kernels, *operands, quantized_bias_type=INT64), (2, 3))
    with pytest.raises(PrepareError, match="type in the options"):
        fully_connected(kernels, *operands, quantized_bias_type=INT32)
    with pytest.raises(PrepareError, match="no options"):
        kernels.prepare("FULLY_CONNECTED", operands[:3], operands[3:])


def test_fully_connected_shuffled_weights(kernels):
    source, weights, bias, _ = quantized_operands(kernels, "UINT8", "UINT8")
    result = kernels.quantized(kernels.arena("INT16"), 1.0)
    kernels.assert_static(fully_connected(kernels, source, weights, bias, result, weights_format=SHUFFLED), (2, 3))
    with pytest.raises(PrepareError, match="1 output"):
        kernels.prepare("FULLY_CONNECTED", [source, weights, bias], [result], weights_format=SHUFFLED)
    with pytest.raises(PrepareError, match="INT8"):
        fully_connected(kernels, source, weights._replace(type="INT8"), bias, result, weights_format=SHUFFLED)


SPECIFICATION = {"act_dilation": 1.0, "spec": "cint2_fp32_int4_e8m0_drq"}


def specified(kernels, entries, source="FLOAT32", weights="INT2", columns=64, **arguments):
    content = entries if isinstance(entries, bytes) else flexbuffers.Dumps(entries)
    operands = [kernels.arena(source, 2, columns), arguments.pop("filter", None) or kernels.arena(weights, 3, columns), None]
    result, options = kernels.arena("FLOAT32"), {"keep_num_dims": False, "quant_spec": tuple(content)}
    return kernels.prepare("FULLY_CONNECTED", operands, [result], release=parse_release("litert-2.4"), **options)


@pytest.mark.parametrize("dilation", [0, 1, 2.5])
def test_fully_connected_with_a_known_specification(kernels, dilation):
    kernels.assert_static(specified(kernels, SPECIFICATION | {"act_dilation": dilation}), (2, 3))


@pytest.mark.parametrize(
    ("entries", "arguments", "message"),
    [
        (b"\1\2\3garb", {}, "not a flexbuffer"),
        ({}, {}, "unknown quantization"),
        ("cint2_fp32_int4_e8m0_drq", {}, "unknown quantization"),
        (["cint2_fp32_int4_e8m0_drq", 1.0], {}, "unknown quantization"),
        (SPECIFICATION | {"spec": "CINT2_FP32_INT4_E8M0_DRQ"}, {}, "unknown quantization"),
        (SPECIFICATION, {"source": "INT8"}, "float input"),
        (SPECIFICATION, {"weights": "FLOAT32"}, "quantized weights"),
        (SPECIFICATION, {"weights": "INT4"}, "INT4, an unsupported type"),
        (SPECIFICATION, {"columns": 48}, "multiple of 32"),
        ({"spec": SPECIFICATION["spec"]}, {}, "act_dilation"),
        (SPECIFICATION | {"act_dilation": "1.5"}, {}, "act_dilation"),
        (SPECIFICATION | {"act_dilation": -1.0}, {}, "act_dilation"),
        (SPECIFICATION | {"act_dilation": float("inf")}, {}, "act_dilation"),
    ],
)
def test_fully_connected_refuses_specifications(kernels, entries, arguments, message):
    with pytest.raises(PrepareError, match=message):
        specified(kernels, entries, **arguments)


def test_fully_connected_ignored_specifications_before(kernels):
    node = fully_connected(kernels, kernels.arena("FLOAT32", 2, 6), kernels.arena("FLOAT32", 3, 6), quant_spec=(1, 2, 3))
    kernels.assert_static(node, (2, 3))


@pytest.mark.parametrize(
    ("kind", "dimensions", "is_prepared"),
    [
        ("INT8", ((True, 3), (False, 0)), True),
        ("INT8", ((True, 3), (False, 0), (True, 2)), True),
        ("INT8", ((False, 0), (False, 0)), False),
        ("INT8", ((False, 0), (True, 6)), False),
        ("INT8", ((True, 3), (True, 6)), False),
        ("INT8", ((True, 3),), False),
        ("FLOAT32", ((False, 0), (False, 0)), True),
    ],
)
def test_fully_connected_storage_of_sparse_weights(kernels, kind, dimensions, is_prepared):
    weights = kernels.arena(kind, 3, 6)._replace(sparsity=Sparsity((0, 1), (), dimensions))
    arguments = {"release": parse_release("litert-2.4")}
    source = kernels.arena("FLOAT32", 2, 6)
    kernels.assert_static(fully_connected(kernels, source, weights), (2, 3))
    if is_prepared:
        kernels.assert_static(fully_connected(kernels, source, weights, **arguments), (2, 3))
    else:
        with pytest.raises(PrepareError, match="compressed columns"):
            fully_connected(kernels, source, weights, **arguments)


def batch_matmul(kernels, left, right, kinds=("FLOAT32", "FLOAT32", "FLOAT32"), **options):
    inputs = [kernels.arena(kinds[0], *left), kernels.arena(kinds[1], *right)]
    return kernels.prepare("BATCH_MATMUL", inputs, [kernels.arena(kinds[2])], **{"adj_x": False, **options})


@pytest.mark.parametrize(
    ("left", "right", "options", "expected"),
    [
        ((2, 3), (3, 4), {}, (2, 4)),
        ((5, 2, 3), (3, 4), {}, (5, 2, 4)),
        ((5, 1, 2, 3), (6, 3, 4), {}, (5, 6, 2, 4)),
        ((3, 2), (3, 4), {"adj_x": True}, (2, 4)),
        ((2, 3), (4, 3), {"adj_y": True}, (2, 4)),
    ],
)
def test_batch_matmul_shape(kernels, left, right, options, expected):
    kernels.assert_static(batch_matmul(kernels, left, right, **options), expected)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ((2, 3), (4, 3), "the columns of the left matrix do not match the rows of the right matrix"),
        ((3,), (3, 4), "an input does not have 2 to 5 dimensions"),
        ((1,) * 4 + (2, 3), (3, 4), "an input does not have 2 to 5 dimensions"),
        ((5, 2, 3), (6, 3, 4), "cannot be broadcast together"),
    ],
)
def test_batch_matmul_refuses_shapes(kernels, left, right, message):
    with pytest.raises(PrepareError, match=message):
        batch_matmul(kernels, left, right)


@pytest.mark.parametrize("kinds", [("FLOAT32", "INT8", "FLOAT32"), ("INT16", "INT8", "INT16"), ("INT8", "INT8", "INT32")])
def test_batch_matmul_types(kernels, kinds):
    kernels.assert_static(batch_matmul(kernels, (2, 3), (3, 4), kinds), (2, 4))


@pytest.mark.parametrize("kinds", [("FLOAT32", "FLOAT16"), ("INT8", "INT16"), ("FLOAT32", "INT16"), ("UINT8", "UINT8")])
def test_batch_matmul_refuses_types(kernels, kinds):
    with pytest.raises(PrepareError, match=r"tensor \d is"):
        batch_matmul(kernels, (2, 3), (3, 4), (*kinds, kinds[0]))


def test_batch_matmul_quantization(kernels):
    inputs, result = [kernels.arena("INT16", 2, 3), kernels.arena("INT8", 3, 4)], kernels.arena("INT16")
    with pytest.raises(PrepareError, match="zero point"):
        kernels.prepare("BATCH_MATMUL", [inputs[0], kernels.quantized(inputs[1], 0.5, zero_point=3)], [result])
    negative = [kernels.quantized(tensor, scale) for tensor, scale in zip(inputs, (-0.5, 0.5), strict=True)]
    with pytest.raises(PrepareError, match="negative"):
        kernels.prepare("BATCH_MATMUL", negative, [result])
    kernels.prepare("BATCH_MATMUL", negative, [result._replace(type="INT32")])


def test_matrix_diag(kernels):
    node = kernels.prepare("MATRIX_DIAG", [kernels.arena("INT8", 2, 3)], [kernels.arena("FLOAT32")])
    kernels.assert_static(node, (2, 3, 3))
    assert node.output().type == "INT8"
    with pytest.raises(PrepareError, match="scalar"):
        kernels.prepare("MATRIX_DIAG", [kernels.arena("INT8")], [kernels.arena("INT8")])


def test_matrix_set_diag(kernels):
    diagonal = kernels.arena("FLOAT32", 9)
    node = kernels.prepare("MATRIX_SET_DIAG", [kernels.arena("INT8", 2, 3, 4), diagonal], [kernels.arena("INT8")])
    kernels.assert_static(node, (2, 3, 4))
    with pytest.raises(PrepareError, match="dimensions"):
        kernels.prepare("MATRIX_SET_DIAG", [kernels.arena("INT8", 4), diagonal], [kernels.arena("INT8")])
