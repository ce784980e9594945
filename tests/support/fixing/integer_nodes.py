"""Nodes around INT64 that passes rewrite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from delegate_sim.model import schema
from tests.support.live.sketch import Sketch, SketchTensor

_NUMBERS = schema.enum_values("TensorType")


def cast(sketch: Sketch, operand: SketchTensor | int, before: str, kind: str, shape: tuple[int, ...]) -> SketchTensor:
    """Add a CAST and return its result."""
    options = {"in_data_type": _NUMBERS[before], "out_data_type": _NUMBERS[kind]}
    sketch.node("CAST", [operand], kind, shape, options)
    return sketch.last()


def _constants(sketch: Sketch) -> None:
    operand = sketch.input_of("FLOAT32", (3, 4))
    op = sketch.choice(("GATHER", "PAD", "TILE", "SLICE", "ONE_HOT", "SPLIT_V"))
    if op == "GATHER":
        sketch.node(op, [operand, sketch.constant("INT64", (2,), (2, 0))], "FLOAT32", (2, 4), {"axis": 0})
    elif op == "PAD":
        sketch.node(op, [operand, sketch.constant("INT64", (2, 2), ((1, 0), (0, 2)))], "FLOAT32", (4, 6), {})
    elif op == "TILE":
        sketch.node(op, [operand, sketch.constant("INT64", (2,), (2, 1))], "FLOAT32", (6, 4), {})
    elif op == "ONE_HOT":
        indices = sketch.constant("INT64", (3,), (0, 5, -1))
        values = [sketch.constant("INT32", (), 4), sketch.constant("FLOAT32", (), 1), sketch.constant("FLOAT32", (), 0)]
        sketch.node(op, [indices, *values], "FLOAT32", (3, 4), {"axis": -1})
    elif op == "SPLIT_V":
        inputs = [operand, sketch.constant("INT64", (2,), (2, 2)), sketch.constant("INT32", (), 1)]
        sketch.node(op, inputs, "FLOAT32", (3, 2), {"num_splits": 2}, outputs=2)
    else:
        begin, size = sketch.constant("INT64", (2,), (1, 0)), sketch.constant("INT64", (2,), (2, 3))
        sketch.node(op, [operand, begin, size], "FLOAT32", (2, 3), {})


def _operands(sketch: Sketch) -> None:
    """Indices that are an input of the model; two nodes may read them."""
    table = sketch.constant("FLOAT32", (5, 2), [[row, -row] for row in range(5)])
    indices = sketch.input_of("INT64", sketch.choice(((3,), (2, 2))))
    for _ in range(sketch.number(1, 2)):
        sketch.node("GATHER", [table, indices], "FLOAT32", (*indices.shape, 2), {"axis": 0})


def _positions(sketch: Sketch) -> None:
    operand = sketch.input_of("FLOAT32", (3, 4))
    op = sketch.choice(("ARG_MAX", "ARG_MIN", "SHAPE"))
    if op == "SHAPE":
        sketch.node(op, [operand], "INT64", (2,), {"out_type": _NUMBERS["INT64"]})
    else:
        axis = sketch.constant("INT32", (), sketch.choice((0, -2)))
        sketch.node(op, [operand, axis], "INT64", (4,), {"output_type": _NUMBERS["INT64"]})
    last = sketch.last()
    cast(sketch, last, "INT64", "FLOAT32", last.shape)


def _moves(sketch: Sketch) -> None:
    operand = sketch.input_of("INT64", (2, 3))
    other = sketch.choice((operand, sketch.input_of("INT64", (2, 3)), sketch.constant("INT64", (2, 3), [[1, 2, 3], [4, 5, -6]])))
    sketch.node("CONCATENATION", [operand, other], "INT64", (4, 3), {"axis": 0})
    if sketch.chance(2):
        sketch.node("TRANSPOSE", [sketch.last(), sketch.constant("INT32", (2,), (1, 0))], "INT64", (3, 4), {})
    if sketch.chance(2):
        shape = sketch.constant("INT32", (1,), (12,))
        sketch.node("RESHAPE", [sketch.last(), shape], "INT64", (12,), {})
    last = sketch.last()
    cast(sketch, last, "INT64", sketch.choice(("INT32", "FLOAT32")), last.shape)
    if sketch.chance(3):
        sketch.node("RESHAPE", [operand, sketch.constant("INT32", (1,), (6,))], "INT64", (6,), {})
        cast(sketch, sketch.last(), "INT64", "FLOAT32", (6,))


def _pairs(sketch: Sketch) -> None:
    kind, wide = sketch.choice((("INT32", "INT64"), ("INT8", "INT32"), ("BOOL", "INT32"), ("UINT8", "INT64")))
    operand = sketch.input_of(kind, (2, 3))
    between = cast(sketch, operand, kind, wide, (2, 3))
    last = cast(sketch, between, wide, sketch.choice((kind, "FLOAT32", "INT32", "INT64", "BOOL")), (2, 3))
    if last.type != "FLOAT32":
        cast(sketch, last, last.type, "FLOAT32", (2, 3))


def _casts_of_constants(sketch: Sketch) -> None:
    before, after = sketch.choice(
        (
            ("INT64", "INT32"),
            ("INT64", "FLOAT32"),
            ("INT32", "FLOAT32"),
            ("FLOAT16", "FLOAT32"),
            ("BOOL", "FLOAT32"),
            ("INT32", "INT8"),
        )
    )
    values = [1, 0, 1] if before == "BOOL" else [1.5, -7, 0] if before == "FLOAT16" else [70001, -7, 0]
    made = cast(sketch, sketch.constant(before, (3,), values), before, after, (3,))
    if after != "FLOAT32":
        made = cast(sketch, made, after, "FLOAT32", (3,))
    sketch.node("ADD", [sketch.input_of("FLOAT32", (2, 3)), made], "FLOAT32", (2, 3), {})


def _arithmetic(sketch: Sketch) -> None:
    op = sketch.choice(("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "FLOOR_MOD", "FLOOR_DIV", "LESS", "EQUAL", "NEG", "ABS"))
    operand = sketch.input_of("INT64", (2, 3))
    other = sketch.constant("INT64", (2, 3), [[1, 2, 3], [4, 5, 6]])
    kind = "BOOL" if op in ("LESS", "EQUAL") else "INT64"
    sketch.node(op, [operand] if op in ("NEG", "ABS") else [operand, other], kind, (2, 3), {}, version=2)
    cast(sketch, sketch.last(), kind, "FLOAT32", (2, 3))


INTEGERS: Mapping[str, Callable[[Sketch], None]] = MappingProxyType(
    {
        "indices-in-int32": _constants,
        "indices-cast-to-int32": _operands,
        "positions-in-int32": _positions,
        "arithmetic-in-int32": _arithmetic,
        "casts-before-moves": _moves,
        "casts-joined": _pairs,
        "casts-of-constants": _casts_of_constants,
    }
)
