"""Changes of the rules by releases of the runtime: for each change, nodes whose verdict changes with that release."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from delegate_sim.delegates.xnnpack.rules import RULES
from delegate_sim.delegates.xnnpack.target import DEFAULT_FLAGS, FLAGS, Visit, XnnpackTarget, datatype
from delegate_sim.graph.graph import NodeView
from delegate_sim.model.model import Quantization
from delegate_sim.releases.catalogue import KNOWN_RELEASES, parse_release
from tests.support.delegates.xnnpack_rule_cases import (
    ATTRIBUTE,
    COUNT,
    EMPTY,
    FLOAT,
    FLOAT16,
    HYBRID,
    INT8,
    NEIGHBOR,
    OPERATOR,
    QUANTIZATION,
    RANK,
    RANK_7,
    SCALAR,
    SHAPE,
    TYPE,
    UINT8,
    VALUE,
    weights,
)
from tests.support.delegates.xnnpack_sketch import Sketch, codes, delegated
from tests.support.graphs import arena, constant, node_view, quantized
from tests.support.tables import for_each

ORDERED = [*[name for name in KNOWN_RELEASES if name.startswith("litert-")], "tf-2.22"]

IMAGE = (1, 4, 4, 2)
ROW = arena("FLOAT32", 3, 4)
RESULT = arena("FLOAT32", 3, 2)
INT8_ROW = quantized(arena("INT8", 3, 4), 0.5)
INT8_RESULT = quantized(arena("INT8", 3, 2), 0.5)


def before(release):
    """The release before this one."""
    return ORDERED[ORDERED.index(release) - 1]


def visit(release, flags=DEFAULT_FLAGS | FLAGS["enable_latest_operators"]):
    return Visit(XnnpackTarget(flags, parse_release(release)))


def code(node, release):
    """The code that a node is refused with in a release, None if it is accepted."""
    reasons = RULES.validate(node, visit(release)).reasons
    return reasons[0].code if reasons else None


def blocks(scales_tensor=0, block_shape=None):
    """INT4 weights that are quantized in blocks."""
    quantization = Quantization("blockwise", np.empty(0, np.float32), np.empty(0, np.int64), 0, 32, scales_tensor)
    sizes = None if block_shape is None else np.array(block_shape, np.int32)
    return weights(2, 4, kind="INT4")._replace(quantization=quantization._replace(block_shape=sizes))


class Change(NamedTuple):
    """A node, and the codes that it is refused with before and from a release (None where it is accepted)."""

    op: str
    release: str
    before: str | None
    after: str | None
    node: NodeView

    @property
    def name(self) -> str:
        return f"{self.op}-{self.release}-{self.before or 'accepted'}-{self.after or 'accepted'}"


CHANGES: list[Change] = []


def change(
    op: str,
    release: str,
    before: str | None,
    after: str | None,
    inputs: Any,
    outputs: Any,
    **options: Any,
) -> None:
    CHANGES.append(Change(op, release, before, after, node_view(op, inputs, outputs, options=options or None)))


# FLOAT16

POOLING = {"stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2}
STRIDES = {"stride_w": 1, "stride_h": 1}
DILATIONS = {"dilation_w_factor": 1, "dilation_h_factor": 1}
KERNEL = weights(2, 3, 3, 2, kind="FLOAT16")
ZEROS, TWOS, ONES = constant([0, 0, 0, 0]), constant([1, 2, 2, 2]), constant([1, 1, 1, 1])
FLOAT16_NODES: list[tuple[str, str, Any, Any, dict[str, Any]]] = [
    *(
        (op, "litert-1.3.0", [FLOAT16], [FLOAT16], {})
        for op in (
            "ABS", "CEIL", "FLOOR", "GELU", "HARD_SWISH", "NEG", "RELU", "RELU6", "RELU_N1_TO_1", "ROUND", "RSQRT", "SQRT",
            "SQUARE",
        )
    ),
    *((op, "litert-2.1.3", [FLOAT16], [FLOAT16], {}) for op in ("ELU", "LOGISTIC", "QUANTIZE", "TANH")),
    ("LEAKY_RELU", "litert-2.1.3", [FLOAT16], [FLOAT16], {"alpha": 0.5}),
    ("DEQUANTIZE", "litert-2.1.3", [INT8], [FLOAT16], {}),
    *(
        (op, "litert-2.1.3", [FLOAT16, FLOAT16], [FLOAT16], {})
        for op in ("ADD", "DIV", "MAXIMUM", "MINIMUM", "MUL", "SQUARED_DIFFERENCE", "SUB")
    ),
    ("PRELU", "litert-2.1.3", [FLOAT16, weights(2, kind="FLOAT16")], [FLOAT16], {}),
    ("CONCATENATION", "litert-2.1.3", [FLOAT16, FLOAT16], [FLOAT16], {"axis": 3}),
    ("SPLIT", "litert-2.1.3", [constant(3), FLOAT16], [FLOAT16, FLOAT16], {"num_splits": 2}),
    ("SLICE", "litert-2.1.3", [FLOAT16, ZEROS, TWOS], [FLOAT16], {}),
    ("STRIDED_SLICE", "litert-2.1.3", [FLOAT16, ZEROS, TWOS, ONES], [FLOAT16], {}),
    ("RESHAPE", "litert-2.1.3", [FLOAT16, constant([8, 4])], [arena("FLOAT16", 8, 4)], {}),
    ("TRANSPOSE", "litert-2.1.3", [FLOAT16, constant([0, 2, 1, 3])], [FLOAT], {}),
    ("SOFTMAX", "litert-2.2.0", [FLOAT16], [FLOAT16], {"beta": 1.0}),
    ("AVERAGE_POOL_2D", "litert-2.2.0", [FLOAT16], [FLOAT16], POOLING),
    ("MAX_POOL_2D", "litert-2.2.0", [FLOAT], [FLOAT16], POOLING),
    ("CONV_2D", "litert-2.2.0", [FLOAT16, KERNEL, weights(2)], [FLOAT16], STRIDES | DILATIONS),
    (
        "DEPTHWISE_CONV_2D",
        "litert-2.2.0",
        [FLOAT16, weights(1, 3, 3, 2, kind="FLOAT16"), weights(2)],
        [FLOAT16],
        STRIDES | DILATIONS | {"depth_multiplier": 1},
    ),
    ("TRANSPOSE_CONV", "litert-2.2.0", [constant([1, 4, 4, 2]), KERNEL, FLOAT], [FLOAT], STRIDES),
    (
        "FULLY_CONNECTED",
        "litert-2.2.0",
        [arena("FLOAT16", 3, 4), weights(2, 4, kind="FLOAT16"), weights(2)],
        [arena("FLOAT16", 3, 2)],
        {},
    ),
    ("BATCH_MATMUL", "litert-2.2.0", [arena("FLOAT16", 3, 4), arena("FLOAT16", 4, 2)], [arena("FLOAT16", 3, 2)], {}),
    *((op, "litert-2.2.0", [FLOAT16, constant([1, 2])], [FLOAT16], {}) for op in ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "SUM")),
    ("PAD", "litert-2.2.0", [FLOAT16, constant(np.ones((4, 2)))], [FLOAT16], {}),
    ("RESIZE_BILINEAR", "litert-2.2.0", [FLOAT, constant([8, 8])], [FLOAT16], {}),
    ("DEPTH_TO_SPACE", "litert-2.2.0", [FLOAT16], [FLOAT16], {"block_size": 2}),
    ("SPACE_TO_DEPTH", "litert-2.2.0", [FLOAT], [FLOAT16], {"block_size": 2}),
]  # fmt: skip
for _op, _release, _inputs, _outputs, _options in FLOAT16_NODES:
    change(_op, _release, TYPE, None, _inputs, _outputs, **_options)


def _with_one_float16():
    """The nodes of FLOAT16 with all tensors but one of FLOAT32."""
    for op, release, inputs, outputs, options in FLOAT16_NODES:
        tensors = [*inputs, *outputs]
        for position, tensor in enumerate(tensors):
            if tensor.type == "FLOAT16":
                mixed = [
                    other._replace(type="FLOAT32") if other.type == "FLOAT16" and index != position else other
                    for index, other in enumerate(tensors)
                ]
                node = node_view(op, mixed[: len(inputs)], mixed[len(inputs) :], options=options or None)
                yield Change(op, release, TYPE, None, node)


WITH_ONE_FLOAT16 = list(_with_one_float16())

# Operators that came with a release

for _op in ("COS", "EXP", "SIN"):
    change(_op, "litert-1.3.0", OPERATOR, None, [FLOAT], [FLOAT])
    change(_op, "litert-1.3.0", OPERATOR, None, [FLOAT16], [FLOAT16])
change("LOG", "litert-2.1.6", OPERATOR, None, [FLOAT], [FLOAT])
for _op in ("REDUCE_MAX", "REDUCE_MIN"):
    change(_op, "litert-1.3.0", OPERATOR, None, [FLOAT, constant([1])], [FLOAT])
change("SUM", "litert-1.1.0", VALUE, None, [FLOAT, constant([1])], [FLOAT])
change("STRIDED_SLICE", "litert-1.1.0", OPERATOR, None, [FLOAT, ZEROS, TWOS, ONES], [FLOAT])

# Arithmetic

_UNARY = (
    "ABS", "CEIL", "FLOOR", "GELU", "HARD_SWISH", "LEAKY_RELU", "LOGISTIC", "NEG", "RELU", "RELU6", "RELU_N1_TO_1", "ROUND",
    "RSQRT", "SQRT", "ELU", "TANH",
)  # fmt: skip
for _op in _UNARY:
    _options = {"alpha": 0.5} if _op == "LEAKY_RELU" else {}
    change(_op, "litert-1.3.0", None, SHAPE, [EMPTY], [FLOAT], **_options)
    change(_op, "litert-1.3.0", None, RANK, [RANK_7], [FLOAT], **_options)
for _op in ("MAXIMUM", "MINIMUM"):
    change(_op, "litert-1.3.0", None, SHAPE, [EMPTY, FLOAT], [FLOAT])
    change(_op, "litert-1.3.0", None, SHAPE, [FLOAT, EMPTY], [FLOAT])
    change(_op, "litert-1.3.0", None, RANK, [RANK_7, FLOAT], [FLOAT])
change("GELU", "litert-1.2.0", ATTRIBUTE, None, [FLOAT], [FLOAT], approximate=True)
change("PRELU", "litert-1.3.0", SHAPE, None, [FLOAT, weights(4, 2)], [FLOAT])
change("PRELU", "litert-1.3.0", SHAPE, None, [FLOAT, weights()], [FLOAT])
change("PRELU", "litert-1.3.0", RANK, None, [SCALAR, weights(2)], [FLOAT])
change("PRELU", "litert-1.3.0", RANK, None, [FLOAT, weights(2)], [SCALAR])
change("PRELU", "litert-1.3.0", SHAPE, SHAPE, [EMPTY, weights(2)], [FLOAT])
change("PRELU", "litert-1.3.0", SHAPE, None, [FLOAT, weights(2)], [EMPTY])

# Weights and biases

for _release, _before in (("litert-1.4.0", None), ("litert-2.2.0", HYBRID)):
    _bias = weights(2, kind="FLOAT16")
    _convolution = [FLOAT, weights(2, 3, 3, 2), _bias]
    change("CONV_2D", _release, _before, HYBRID, _convolution, [FLOAT], **STRIDES, **DILATIONS)
    _convolution = [FLOAT, weights(1, 3, 3, 2), _bias]
    change("DEPTHWISE_CONV_2D", _release, _before, HYBRID, _convolution, [FLOAT], **STRIDES, **DILATIONS, depth_multiplier=1)
    change("FULLY_CONNECTED", _release, _before, HYBRID, [ROW, weights(2, 4), _bias], [RESULT])


def hybrid(kind, *scales, inputs=ROW, outputs=RESULT, zero_point=0):
    return [inputs, weights(2, 4, kind=kind, scales=scales, zero_point=zero_point)], [outputs]


change("FULLY_CONNECTED", "litert-1.3.0", QUANTIZATION, None, [ROW, blocks()], [RESULT])
change("FULLY_CONNECTED", "litert-2.3.0", None, ATTRIBUTE, [ROW, weights(2, 4)], [RESULT], quant_spec=(0,))
change("FULLY_CONNECTED", "litert-2.4-dev", None, QUANTIZATION, [ROW, blocks(block_shape=(1, 32))], [RESULT])
change("FULLY_CONNECTED", "litert-1.3.0", HYBRID, None, *hybrid("INT4", 0.5, 0.5, inputs=INT8_ROW, outputs=INT8_RESULT))
change("FULLY_CONNECTED", "litert-2.1.2", TYPE, None, *hybrid("INT2", 0.5, 0.5))
change("FULLY_CONNECTED", "litert-2.1.5", QUANTIZATION, None, *hybrid("INT4", 0.5))
change(
    "FULLY_CONNECTED",
    "litert-2.1.5",
    None,
    QUANTIZATION,
    *hybrid("INT8", 0.5, inputs=INT8_ROW, outputs=INT8_RESULT, zero_point=1),
)
_FLOAT16_ROW, _FLOAT16_RESULT = arena("FLOAT16", 3, 4), arena("FLOAT16", 3, 2)
change("FULLY_CONNECTED", "litert-2.3.0", HYBRID, None, *hybrid("INT8", 0.5, inputs=_FLOAT16_ROW, outputs=_FLOAT16_RESULT))
change("FULLY_CONNECTED", "litert-1.1.0", RANK, None, [SCALAR, weights(2, 4)], [RESULT])
change("FULLY_CONNECTED", "litert-1.1.0", SHAPE, None, *hybrid("INT8", 0.5, inputs=arena("FLOAT32", 1, 1)))

_INT8_COLUMNS = quantized(arena("INT8", 4, 2), 0.5)
change("BATCH_MATMUL", "litert-1.1.0", ATTRIBUTE, None, [arena("FLOAT32", 4, 3), arena("FLOAT32", 4, 2)], [RESULT], adj_x=True)
change("BATCH_MATMUL", "litert-2.0.2", TYPE, None, [INT8_ROW, _INT8_COLUMNS], [INT8_RESULT])
change(
    "BATCH_MATMUL",
    "litert-2.1.3",
    None,
    QUANTIZATION,
    [INT8_ROW, quantized(arena("INT8", 4, 2), 0.5, zero_point=1)],
    [INT8_RESULT],
)

# Shapes

change("TRANSPOSE", "litert-2.0.2", None, SHAPE, [EMPTY, constant([0, 2, 1, 3])], [FLOAT])
change("TRANSPOSE", "litert-2.0.2", None, RANK, [SCALAR, constant([0])], [FLOAT])
change("CONCATENATION", "litert-2.1.4", None, ATTRIBUTE, [FLOAT, FLOAT], [FLOAT], axis=4)
_SEVEN = arena("FLOAT32", *[2] * 7)
change("SLICE", "litert-2.3.0", None, RANK, [_SEVEN, constant([0] * 7), constant([2] * 7)], [_SEVEN])
change("SLICE", "litert-2.3.0", None, VALUE, [FLOAT, constant([0, 0, 0, -1]), TWOS], [FLOAT])
change("SLICE", "litert-2.4-dev", VALUE, None, [FLOAT, ZEROS, constant([1, 2, 2, -1])], [FLOAT])
change("SLICE", "litert-2.4-dev", VALUE, VALUE, [FLOAT, ZEROS, constant([1, 2, 2, -2])], [FLOAT])
change("SLICE", "litert-2.4-dev", VALUE, VALUE, [FLOAT, ZEROS, constant([1, 2, 2, 0])], [FLOAT])
change("SLICE", "litert-2.4-dev", None, SHAPE, [FLOAT, constant([0]), constant([1])], [FLOAT])
change("SLICE", "litert-2.4-dev", None, SHAPE, [SCALAR, constant([0]), constant([1])], [FLOAT])
_LARGE = constant(np.array([1, 2, 2, 2**63 - 1]), "INT64")
change("SLICE", "litert-2.4-dev", None, VALUE, [FLOAT, constant([0, 0, 0, 1], "INT64"), _LARGE], [FLOAT])
for _size in (0, -1):
    change("RESHAPE", "litert-2.1.3", None, VALUE, [FLOAT, constant([_size])], [FLOAT])
for _start, _end in (([0, 0, 0, 0], [1, 5, 2, 2]), ([0, 5, 0, 0], [1, 2, 2, 2])):
    change("STRIDED_SLICE", "litert-1.4.0", VALUE, None, [FLOAT, constant(_start), constant(_end), ONES], [FLOAT])
change(
    "STRIDED_SLICE",
    "litert-1.4.0",
    VALUE,
    None,
    [FLOAT, constant([0, 1, 0, 0]), constant([1, 4, 2, 2]), ONES],
    [FLOAT],
    offset=True,
)
for _row in (2, 3):
    _paddings = np.zeros((4, 2))
    _paddings[_row] = -1
    change("PAD", "litert-1.4.0", None, VALUE, [FLOAT, constant(_paddings)], [FLOAT])
change("PAD", "litert-1.4.0", VALUE, VALUE, [FLOAT, constant(-np.ones((4, 2)))], [FLOAT])

# Reductions

for _op in ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "SUM"):
    change(_op, "litert-2.0.2", None, SHAPE, [FLOAT, constant(np.empty(0))], [FLOAT])
    change(_op, "litert-2.1.5", None, SHAPE, [SCALAR, constant([0])], [FLOAT])
    change(_op, "litert-2.1.5", None, SHAPE, [FLOAT, constant([0] * 7)], [FLOAT])
for _tensor in (INT8, UINT8):
    change("MEAN", "litert-1.1.0", VALUE, None, [_tensor, constant([1])], [_tensor])
    change("MEAN", "litert-1.1.0", VALUE, None, [_tensor, constant([1, 2])], [_tensor])
change("SUM", "litert-1.1.0", TYPE, None, [INT8, constant([1, 2])], [INT8])


@for_each(CHANGES, lambda case: case.name)
def test_change(case):
    assert code(case.node, before(case.release)) == case.before
    assert code(case.node, case.release) == case.after


@for_each(WITH_ONE_FLOAT16, lambda case: case.name)
def test_one_float16_tensor_is_no_longer_refused_for_its_type(case):
    assert code(case.node, before(case.release)) == TYPE
    assert code(case.node, case.release) in (None, HYBRID)


@pytest.mark.parametrize(("axes", "rank", "keep_dims"), [([1, 2], 4, True), ([2, 1], 2, False)])
def test_means_of_8_bit_images_are_older(axes, rank, keep_dims):
    output = INT8 if rank == 4 else quantized(arena("INT8", 1, 2), 0.5)
    node = node_view("MEAN", [INT8, constant(axes)], [output], options={"keep_dims": keep_dims})
    assert code(node, "litert-1.0.1") is None


def test_float16_weights_with_a_float32_bias_are_refused_for_some_releases():
    sketch = Sketch()
    kernel = sketch.constant("FLOAT16", (2, 3, 3, 2))
    widened = sketch.node("DEQUANTIZE", [kernel], "FLOAT32", (2, 3, 3, 2))
    bias = sketch.constant("FLOAT32", (2,))
    options = {"stride_w": 1, "stride_h": 1, "padding": 0}
    result = sketch.node("CONV_2D", [sketch.input(shape=IMAGE), widened, bias], shape=IMAGE, options=options)
    sketch.graph.outputs(result)
    for release in ("litert-1.3.0", "litert-2.2.0"):
        assert delegated(sketch.run(release=release)) == [0, 1]
    for release in ("litert-1.4.0", "litert-2.1.6"):
        assert codes(sketch.run(release=release)) == [NEIGHBOR, HYBRID]


def test_variables_need_a_flag_before_they_are_always_taken():
    sketch = Sketch()
    handle = sketch.node("VAR_HANDLE", [], "RESOURCE", (), options={"container": "", "shared_name": "state"})
    sketch.graph.node("ASSIGN_VARIABLE", [handle, sketch.input(shape=(2,))], [])
    result = sketch.node("READ_VARIABLE", [handle], shape=(2,))
    assert delegated(sketch.run(result, release="litert-1.3.0")) == [0, 1, 2]
    assert codes(sketch.run(result, release="litert-1.2.0")) == [OPERATOR] * 3
    assert delegated(sketch.run(result, release="litert-1.2.0", variable_operators=True)) == [0, 1, 2]


def test_attention_needs_a_mask_before_it_may_be_left_out():
    node = node_view("STABLEHLO_COMPOSITE", [FLOAT] * 3, [FLOAT], options={"name": "odml.scaled_dot_product_attention"})
    assert code(node, "litert-1.1.2") == COUNT
    assert code(node, "litert-1.2.0") is None


def test_a_constant_int8_dequantize_needed_no_parameters():
    sketch = Sketch()
    widened = sketch.node("DEQUANTIZE", [sketch.constant("INT8")])
    result = sketch.node("RELU", [widened])
    assert delegated(sketch.run(result, release="litert-1.1.2"))[:1] == [0]
    assert codes(sketch.run(result, release="litert-1.2.0"))[0] == QUANTIZATION


def test_dynamic_quantization_is_taken_by_the_flag_of_the_release():
    node = node_view("FULLY_CONNECTED", *hybrid("INT8", 0.5))
    latest = DEFAULT_FLAGS | FLAGS["enable_latest_operators"]
    disabled = DEFAULT_FLAGS | FLAGS["disable_dynamically_quantized_ops"]
    accepted = {
        (release, flags): RULES.validate(node, visit(release, flags)).is_supported
        for release in ("litert-1.4.0", "litert-2.0.2")
        for flags in (DEFAULT_FLAGS, latest, disabled)
    }
    assert accepted == {
        ("litert-1.4.0", DEFAULT_FLAGS): False,
        ("litert-1.4.0", latest): True,
        ("litert-1.4.0", disabled): False,
        ("litert-2.0.2", DEFAULT_FLAGS): True,
        ("litert-2.0.2", latest): True,
        ("litert-2.0.2", disabled): False,
    }


def test_the_runtime_sets_the_flag_for_dynamic_quantization():
    sketch = Sketch()
    kernel = sketch.constant("INT8", (2, 2), scale=0.5, zero_point=0)
    result = sketch.node("FULLY_CONNECTED", [sketch.input(), kernel], options={})
    assert delegated(sketch.run(result, release="litert-1.4.0")) == [0]
    assert codes(sketch.run(result, release="litert-1.4.0", enable_latest_operators=False)) == [HYBRID]


DATATYPES = [
    ("litert-1.4.0", None, "qcint8", weights(2, 2, kind="INT8", scales=(0.5, 0.5)), 1),
    ("litert-2.1.2", None, "qcint2", weights(2, 2, kind="INT2", scales=(0.5, 0.5)), 2),
    ("litert-2.1.2", "qcint8", None, weights(2, 2, kind="INT8", scales=(0.5, 0.5), zero_point=8), 2),
    ("litert-2.1.2", "qcint4", None, weights(2, 2, kind="INT4", scales=(0.5, 0.5), zero_point=1), 2),
    ("litert-2.1.5", None, "qint4", weights(2, 2, kind="INT4", scales=(0.5,)), 1),
]


@pytest.mark.parametrize(("release", "old", "new", "tensor", "zero_points"), DATATYPES)
def test_datatype(release, old, new, tensor, zero_points):
    quantization = tensor.quantization._replace(zero_points=tensor.quantization.zero_points[:zero_points])
    tensor = tensor._replace(quantization=quantization)
    graph = node_view("RELU", [tensor], [tensor]).graph
    assert datatype(graph, tensor, parse_release(before(release))) == old
    assert datatype(graph, tensor, parse_release(release)) == new


# Nothing is left out

BY_OTHER_TESTS = {
    "MaxUnpooling2D",
    "ASSIGN_VARIABLE",
    "READ_VARIABLE",
    "VAR_HANDLE",
    "STABLEHLO_COMPOSITE",
    "moe",
    "odml.scaled_dot_product_attention",
}

RULES_WITH_CASES = {op: rule for op, rule in RULES.rules.items() if op not in BY_OTHER_TESTS}


def is_known(rule, release):
    """Whether the delegate knows the operator before this release."""
    return rule.introduced is None or not rule.introduced.is_at_least(release)


def test_every_change_has_a_case():
    changes = {(op, rule.introduced) for op, rule in RULES_WITH_CASES.items() if rule.introduced is not None}
    for op, rule in RULES_WITH_CASES.items():
        releases = {release for check in rule.checks for release in (check.introduced, check.withdrawn) if release is not None}
        changes |= {(op, release) for release in releases if is_known(rule, release)}
    assert changes == {(case.op, parse_release(case.release)) for case in CHANGES}


def test_every_check_that_ended_has_a_case():
    refused = set()
    for case in (*CHANGES, *WITH_ONE_FLOAT16):
        known, release = visit(before(case.release)), parse_release(before(case.release))
        checks = [(position, check) for position, check in enumerate(RULES.rules[case.op].checks) if check.counts_in(release)]
        first = next((position for position, check in checks if check.finder(case.node, known) is not None), None)
        refused.add((case.op, first))
    for op, rule in RULES_WITH_CASES.items():
        for position, check in enumerate(rule.checks):
            if check.withdrawn is not None and is_known(rule, check.withdrawn):
                assert (op, position) in refused, check.needed
