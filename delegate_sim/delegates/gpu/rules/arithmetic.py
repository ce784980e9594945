"""Elementwise arithmetic and reductions."""

from __future__ import annotations

from collections.abc import Mapping

from ....graph.graph import NodeView
from ....model.numbers import as_list
from ....rules.kinds import BROADCAST, NEIGHBOR, SHAPE, by_reshape
from ....rules.operands import counted, operand, result
from ....rules.rule import Check
from ....rules.vocabulary import check, refused_if, typed
from ...gpu_compatibility import arithmetic
from ...gpu_compatibility.checks import COMPATIBILITY, FLOAT, KNOWN_ACTIVATION, runtime_input_count, saying_by_release, shapes
from .. import model
from . import BOOL, SINCE_1_1, SINCE_2_1_6, gpu_rule, single_reader

_ELEMENTWISE = "ElementwiseOperationParser"
_UNARY = ("ABS", "COS", "EXP", "FLOOR", "LOG", "NEG", "RSQRT", "SIGN", "SIN", "SQRT", "SQUARE")
_BINARY = ("FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE")
_COMPARISONS = ("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL")
_SELECTIONS = ("SELECT", "SELECT_V2")
_REDUCTIONS = ("REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM")


def _each_smaller(node: NodeView) -> str | None:
    first, second = node.input(0).shape, node.input(1).shape
    if len(first) != len(second):
        return None
    pairs = list(zip(first, second, strict=True))
    is_each_smaller = any(one < other for one, other in pairs) and any(one > other for one, other in pairs)
    return shapes(node) if is_each_smaller else None


_BROADCAST = arithmetic.PLAIN_BROADCAST.from_release(SINCE_1_1)


def _consumer_gives_no_float(node: NodeView) -> str | None:
    consumers = node.graph.readers.get(node.node.output(0))
    if not consumers:
        return counted(0, "consumer")
    consumer = node.graph.view(consumers[0])
    is_known = consumer.op in ("CAST", "SELECT", "SELECT_V2") and not consumer.node.is_custom
    if is_known and consumer.output(0).type in FLOAT:
        return None
    return f"consumer {consumer.op} with a result of type {consumer.output(0).type}"


_COMPARISON = gpu_rule(
    _ELEMENTWISE,
    single_reader(result(0, "result")).saying("Not supported logical op case"),
    check(NEIGHBOR, "a consumer that is a CAST or SELECT with a float result", _consumer_gives_no_float).saying(
        "Not supported logical op case."
    ),
    version_up_to=2,
    cases=(),
    outputs=BOOL,
)


def _condition_of_another_shape(node: NodeView) -> str | None:
    condition, shape = node.input(0).shape, node.output(0).shape
    offset = len(shape) - len(condition)
    if not condition or (offset >= 0 and all(size in (1, shape[offset + at]) for at, size in enumerate(condition))):
        return None
    return f"condition {list(condition)}, output {list(shape)}"


def _select(check: Check[object]) -> Check[object]:
    values = "as output or constant, scalar."
    return saying_by_release(
        check,
        f"Cond must be float or bool type, if, else tensors must be float and either be same the shape {values}",
        {
            SINCE_1_1: f"Cond must be float or bool type, if, else tensors must be either be same the shape {values}",
            SINCE_2_1_6: f"Cond must be float or bool type, if, else tensors must either be the same shape {values}",
        },
    )


def _selected_value(position: int, name: str) -> tuple[Check[object], ...]:
    value = operand(position)
    rank_says = f"2-D {name} tensor only supported if constant."

    def is_matrix(node: NodeView, is_constant: bool) -> bool:
        tensor = value.tensor(node)
        return tensor.rank == 2 and tensor.is_constant == is_constant

    constant_matrix = refused_if(
        SHAPE,
        f"a {value.name} that is not a constant of rank 2",
        lambda node: is_matrix(node, is_constant=True),
        f"{value.name} of rank 2 and constant",
        by_reshape("give the operand another rank with RESHAPE"),
    )
    runtime_matrix = refused_if(
        SHAPE,
        f"a constant {value.name} if its rank is 2",
        lambda node: is_matrix(node, is_constant=False),
        f"{value.name} of rank 2 and not constant",
        by_reshape("give the operand another rank with RESHAPE"),
    )
    return (
        _select(typed(value, ("FLOAT16", "FLOAT32")).before_release(SINCE_1_1)),
        _select(arithmetic.selected_value(position)),
        constant_matrix.from_release(SINCE_1_1).before_release(SINCE_2_1_6).saying(rank_says),
        runtime_matrix.from_release(SINCE_2_1_6).saying(rank_says),
    )


_SELECT = gpu_rule(
    "SelectV2OperationParser",
    arithmetic.SELECT_OPERANDS,
    _select(arithmetic.SELECT_CONDITION),
    _select(
        check(
            BROADCAST,
            "a condition that can be broadcast to the shape of the output",
            _condition_of_another_shape,
            "give the condition the shape of the output",
        ).from_release(SINCE_2_1_6)
    ),
    *_selected_value(1, "if"),
    *_selected_value(2, "else"),
    version_up_to=1,
    cases=(COMPATIBILITY, COMPATIBILITY.with_symbol("CheckSelectV2GpuDelegateCompatibility")),
    inputs=BOOL,
)


_WITH_ACTIVATION = frozenset({"ADD", "DIV", "MUL", "SUB"})


def parse_one_operand(reader: model.NodeReader) -> None:
    """Parse a unary operator (``ElementwiseOperationParser``)."""
    _check_operands(reader, runtime=1, constant=0)
    reader.add_complete(reader.view.op)


def _parse_two_operands(reader: model.NodeReader) -> None:
    operation = reader.add(reader.view.op)
    if _has_operands(reader, runtime=2, constant=0):
        _add_runtime_operands(reader, operation)
    else:
        _check_operands(reader, runtime=1, constant=1)
        _add_constant_operand(reader, operation)
    reader.add_outputs(operation)
    if reader.view.op in _WITH_ACTIVATION:
        reader.fuse_activation(operation)


def _has_operands(reader: model.NodeReader, runtime: int, constant: int) -> bool:
    # An omitted operand is counted as a constant (``VerifyInputsConstsOutputs``).
    node, count = reader.view.node, runtime_input_count(reader.view)
    return count == runtime and len(node.inputs) - count == constant and len(node.outputs) == 1


def _check_operands(reader: model.NodeReader, runtime: int, constant: int) -> None:
    if not _has_operands(reader, runtime, constant):
        count = runtime_input_count(reader.view)
        raise model.build_error(
            "gpu-build-operand-count", found=f"has {count} runtime operands among {len(reader.view.node.inputs)} operands"
        )


def _add_runtime_operands(reader: model.NodeReader, operation: model.Operation) -> None:
    first, second = reader.view.input(0), reader.view.input(1)
    if first.index != second.index:
        reader.add_input(operation, 0)
        reader.add_input(operation, 1)
    elif reader.view.op in ("ADD", "ADD_N", "MUL"):
        # Upstream replaces the operator by a square, or by a multiplication by two.
        reader.add_input(operation, 0)
    else:
        raise model.build_error("gpu-build-repeated-operand", first)


def _add_constant_operand(reader: model.NodeReader, operation: model.Operation) -> None:
    constant = 0 if reader.is_constant(0) else 1
    tensor = reader.view.input(constant)
    reader.add_input(operation, 1 - constant)
    elements = {"BOOL": model.BOOL_VALUES, "INT32": model.INT32_VALUES}.get(tensor.type, model.FLOAT_VALUES)
    if tensor.element_count == 1:
        layout = model.SCALAR
    elif model.LINEAR.sizes(tensor.shape) is not None:
        layout = model.LINEAR
    else:
        layout = model.HW if tensor.rank == 2 else model.HWC
    operation.attributes = layout
    reader.read(constant, layout, elements)


def _parse_select(reader: model.NodeReader) -> None:
    operation = reader.add("SELECT_V2")
    reader.add_input(operation, 0)
    for position in (1, 2):
        if not reader.is_constant(position):
            reader.add_input(operation, position)
            continue
        tensor = reader.view.input(position)
        if tensor.element_count < 2:
            reader.read(position, model.SCALAR)
            shape: model.Shape = (1, 1, 1, 1)
        elif position == 2 and tensor.rank == 3:
            height, width, channels = reader.read(position, model.HWC)
            shape = (1, height, width, channels)
        else:
            reader.read(position, model.BHWC)
            shape = model.gpu_shape(tensor)
        constant = reader.add_constant(position, shape)
        model.consume(operation, constant)
    reader.add_outputs(operation)


def _parse_reduction(reader: model.NodeReader) -> None:
    operation = reader.add(reader.view.op)
    shape = reader.add_input(operation, 0).shape
    for axis in _axes(reader):
        shape = model.with_size(shape, axis, 1)
    if reader.view.options.keep_dims:
        reader.add_outputs(operation)
    else:
        reader.add_reshaped_output(operation, shape, 0)


def _parse_mean(reader: model.NodeReader) -> None:
    reader.add_complete("MEAN").attributes = frozenset(_axes(reader))


def _axes(reader: model.NodeReader) -> list[int]:
    axes = reader.view.value(reader.view.input(1))
    assert axes is not None  # the rules require a constant INT32
    source = reader.view.input(0)
    return [model.gpu_axis(source, axis) for axis in as_list(axes[: reader.view.input(1).element_count])]


RULES = {
    **dict.fromkeys(_UNARY, gpu_rule(_ELEMENTWISE, *arithmetic.UNARY, version_up_to=2)),
    **dict.fromkeys(_BINARY, gpu_rule(_ELEMENTWISE, *arithmetic.BINARY, version_up_to=2)),
    **dict.fromkeys(("DIV", "SUB"), gpu_rule(_ELEMENTWISE, *arithmetic.BINARY_WITH_ACTIVATION, version_up_to=2)),
    **dict.fromkeys(_COMPARISONS, _COMPARISON),
    **dict.fromkeys(_SELECTIONS, _SELECT),
    **dict.fromkeys(_REDUCTIONS, gpu_rule("ReduceOperationParser", *arithmetic.REDUCTION)),
    "ADD": gpu_rule(_ELEMENTWISE, arithmetic.ADD_OPERANDS, _BROADCAST, version_up_to=2),
    "ADD_N": gpu_rule(_ELEMENTWISE, arithmetic.ADD_N, version_up_to=2),
    "LOGICAL_AND": gpu_rule(_ELEMENTWISE, *arithmetic.BINARY, version_up_to=2, inputs=BOOL, outputs=BOOL),
    "MUL": gpu_rule(
        _ELEMENTWISE,
        arithmetic.MUL_OPERANDS,
        check(BROADCAST, "one operand that is at least as large as the other in every dimension", _each_smaller)
        .before_release(SINCE_1_1)
        .saying("MUL requires one tensor that not less than second in all dimensions."),
        _BROADCAST,
        KNOWN_ACTIVATION,
        version_up_to=3,
    ),
    "CUMSUM": gpu_rule(
        "CumsumOperationParser",
        *arithmetic.CUMSUM,
        version_up_to=1,
        cases=(COMPATIBILITY, COMPATIBILITY.with_symbol("CheckCumsumGpuDelegateCompatibility")),
    ),
    "MEAN": gpu_rule("MeanOperationParser", *arithmetic.MEAN),
}

TWO_OPERANDS = frozenset((*_BINARY, *_COMPARISONS, "ADD", "ADD_N", "DIV", "LOGICAL_AND", "MUL", "SUB"))
"""The elementwise operators whose kernel reads two values at the position of the result."""
PARSERS: Mapping[str, model.Parser] = {
    **dict.fromkeys(_UNARY, parse_one_operand),
    **dict.fromkeys(TWO_OPERANDS, _parse_two_operands),
    **dict.fromkeys(_SELECTIONS, _parse_select),
    **dict.fromkeys(_REDUCTIONS, _parse_reduction),
    "CUMSUM": model.parse_one_to_one,
    "MEAN": _parse_mean,
}
