"""Reshaping, reduction, gathering, filling and padding."""

from __future__ import annotations

from ....foundation.limits import element_count
from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, OPERAND_COUNT, OPERAND_VALUE, RANK, SHAPE, TENSOR_TYPE
from ....rules.operands import INPUT, OUTPUT, operand
from ..steps import Layer, Need, Query
from ..tensors import Info, Thrown, checked, info_of, input_info, output_info
from .checks import inputs_exactly, outputs_exactly, place, present, readable, unary_call, values_of, visited, wrapped

_SECOND, _THIRD = operand(1), operand(2)
_MOST_DIMENSIONS = 8


def _target_shape(node: NodeView) -> list[int] | None:
    """Return the new shape of RESHAPE, or None if the node has none."""
    stored = [int(size) for size in node.options.new_shape or ()]
    if 0 < len(stored) <= _MOST_DIMENSIONS:
        return stored
    if len(node.node.inputs) != 2:
        return None
    return values_of(node, 1) if node.input(1).rank == 1 else []


def _no_shape(node: NodeView) -> str | None:
    return "no new shape" if _target_shape(node) is None else None


def _wildcards(node: NodeView) -> str | None:
    shape = _target_shape(node) or []
    return f"new shape {shape}" if shape.count(-1) > 1 else None


def _other_count(node: NodeView) -> str | None:
    source, shape = input_info(node, 0), _target_shape(node) or []
    if -1 in shape:
        known = -element_count(shape)
        shape[shape.index(-1)] = source.element_count // known if known else 0
    checked(tuple(shape))
    return None if element_count(shape) == source.element_count else f"new shape {shape} for {source.element_count} elements"


def _reshaped(node: NodeView) -> Query:
    return unary_call(node)._replace(values={"shape": _target_shape(node) or []})


def _squeezed(node: NodeView) -> Query:
    source = input_info(node, 0)
    shape = source.known_shape
    if len(shape) > 4:
        text = f"Input tensor has unexpected number of dimensions:{len(shape)} shape:[{','.join(map(str, shape))}] "
        where = " at function OutputShapeOfSqueeze [delegate/common/src/DelegateUtils.hpp:210]"
        raise Thrown(text + where, f"input of rank {len(shape)}")
    given = [int(axis) for axis in node.options.squeeze_dims or ()]
    if len(given) == 1 and given[0] < 0:
        given = [given[0] + len(shape)]
    axes = given or range(len(shape))
    return Query((source,), (source.with_shape(tuple([size for at, size in enumerate(shape) if at not in axes or size != 1])),))


def _expanded_axis(node: NodeView) -> str | None:
    rank, axes = input_info(node, 0).rank, values_of(node, 1)
    return None if not axes or -(rank + 1) <= axes[0] <= rank else f"axis {axes[0]}"


def _expanded(node: NodeView) -> Query:
    source = input_info(node, 0)
    # The delegate copies each size.
    sizes = [source.size(at) for at in range(source.rank)]
    checked((*sizes, 1))
    return Query((source,), (info_of(node.output(0)),))


def _permuted(node: NodeView) -> Query:
    permutation = values_of(node, 1)
    if len(set(permutation)) != len(permutation):
        text = "Invalid dimension mappings: Two or more source dimensions are mapped to the same output dimension"
        raise Thrown(text, f"permutation {permutation}")
    return unary_call(node)._replace(values={"permutation": permutation})


def _blocks(node: NodeView) -> Query:
    pairs = values_of(node, 2)
    values = {"block": values_of(node, 1), "pairs": [*zip(pairs[::2], pairs[1::2], strict=False)]}
    return unary_call(node)._replace(values=values)


def _depth(node: NodeView) -> Query:
    return unary_call(node)._replace(values={"block": node.options.block_size})


def _axes(node: NodeView, rank: int) -> list[int]:
    return sorted({wrapped(axis, rank) for axis in values_of(node, 1)}) if rank else []


def _mean(node: NodeView) -> Query:
    call = unary_call(node)
    keeps = call.input.rank == call.output.rank
    return call._replace(values={"axes": _axes(node, call.input.rank), "keep_dims": keeps, "kind": "mean"})


def _reduce(node: NodeView) -> Query:
    call = unary_call(node)
    values = {"axes": _axes(node, call.input.rank), "keep_dims": bool(node.options.keep_dims), "kind": node.op}
    return call._replace(values=values)


def _arg(node: NodeView) -> Query:
    return unary_call(node)._replace(values={"axis": next(iter(values_of(node, 1)), 0), "kind": node.op})


def _other_type(node: NodeView) -> str | None:
    return None if node.input(1).type in ("INT32", "INT64") else f"input 1 is {node.input(1).type}"


def _result_type(name: str) -> Need[NodeView]:
    # INT32 is 2 and INT64 is 4 in the schema.
    return Need(
        ATTRIBUTE,
        f"{name} INT32 or INT64",
        lambda node: None if getattr(node.options, name) in (2, 4) else f"{name} {getattr(node.options, name)}",
        lambda node: f"TfLiteArmnnDelegate: output_type data type is not supported in {place(node)}",
    )


def _gather(node: NodeView) -> Query:
    return Query((input_info(node, 0), input_info(node, 1)), (output_info(node),), values={"axis": node.options.axis})


def _gather_axis(node: NodeView) -> str | None:
    rank, axis = input_info(node, 0).rank, node.options.axis
    return None if -rank <= axis < max(rank, 1) else f"axis {axis}"


def _gather_ranks(node: NodeView) -> tuple[int, int, int]:
    return output_info(node).rank, input_info(node, 0).rank, input_info(node, 1).rank


def _gather_rank(node: NodeView) -> str | None:
    output, source, indices = _gather_ranks(node)
    return None if output == source + indices - 1 else f"output of rank {output} from input of rank {source}"


def _gather_rank_line(node: NodeView) -> str:
    output, source, indices = _gather_ranks(node)
    return f"Operation has invalid output dimensions: {output}. Output must be an ({source} + {indices} - 1)-D tensor"


def _fill_type(node: NodeView) -> str | None:
    return None if node.input(1).type in ("FLOAT32", "INT32") else f"value of type {node.input(1).type}"


def _tiled(node: NodeView) -> Query:
    return Query((input_info(node, 0),), (info_of(node.output(0)),), values={"multiples": values_of(node, 1)})


def _multiples(node: NodeView) -> str | None:
    rank, count = input_info(node, 0).rank, input_info(node, 1).element_count
    return None if rank == count else f"{count} multiples for rank {rank}"


def _padded(node: NodeView) -> Query:
    pads = values_of(node, 1)
    kind = ("REFLECT", "SYMMETRIC")[node.options.mode] if node.op == "MIRROR_PAD" and node.options.mode in (0, 1) else "CONSTANT"
    return unary_call(node)._replace(values={"pads": [*zip(pads[::2], pads[1::2], strict=False)], "mode": kind})


def _wide_padding(node: NodeView) -> str | None:
    call = _padded(node)
    is_reflect = call.values["mode"] == "REFLECT"
    for at, pair in enumerate(call.values["pads"]):
        if max(pair) > call.input.size(at) - is_reflect:
            return f"padding {list(pair)} of a dimension of size {call.input.size(at)}"
    return None


def _pad_value_type(node: NodeView) -> str | None:
    kind = node.input(2).type
    return None if kind in ("FLOAT32", "UINT8", "INT8") else f"a padding value of type {kind}"


def _pad_values(node: NodeView) -> str | None:
    count = _pad_value(node).element_count
    return None if count == 1 else f"{count} padding values"


def _pad_value(node: NodeView) -> Info:
    return input_info(node, 2)


_PAD = Layer("PAD", "pad", _padded, "Pad.hpp:156", "VisitPadOperator")
_READ_ONE = (inputs_exactly(1), outputs_exactly(), readable(INPUT, OUTPUT))
_READ_TWO = (inputs_exactly(2), outputs_exactly(), readable(INPUT, _SECOND, OUTPUT))
_BLOCKED = (inputs_exactly(3), outputs_exactly(), readable(INPUT, _SECOND, _THIRD, OUTPUT))


def _reshape_counts(node: NodeView) -> str | None:
    return None if len(node.node.inputs) == 2 else inputs_exactly(1).find(node)


_ARG = visited(
    "ArgMinMax.hpp",
    inputs_exactly(2),
    outputs_exactly(),
    readable(INPUT, OUTPUT),
    Need(
        TENSOR_TYPE,
        "an axis of type INT32 or INT64",
        _other_type,
        lambda node: f"TfLiteArmnnDelegate: Axis value data type is not supported in {place(node)}",
    ),
    present(_SECOND),
    _result_type("output_type"),
    Layer("ARGMINMAX", "arg_min_max", _arg, "ArgMinMax.hpp:97"),
)
_REDUCED = visited(
    "Reduce.hpp",
    inputs_exactly(2),
    outputs_exactly(),
    readable(INPUT, OUTPUT, _SECOND),
    Layer("REDUCE", "reduce", _reduce, "Reduce.hpp:111"),
)

RULES = {
    "RESHAPE": visited(
        "Redefine.hpp:VisitReshapeOperator",
        Need(OPERAND_COUNT, "1 or 2 inputs", _reshape_counts, inputs_exactly(1).said),
        outputs_exactly(),
        readable(INPUT, OUTPUT),
        Need(
            ATTRIBUTE,
            "a new shape",
            _no_shape,
            lambda node: (
                "Target shape not defined in reshape parameters or input tensor. At least one method required in " + place(node)
            ),
        ),
        Need(
            OPERAND_VALUE,
            "at most one -1 in the new shape",
            _wildcards,
            lambda node: f"TfLiteArmnnDelegate: At most one component of shape can be -1 in: {place(node)}",
        ),
        Need(
            SHAPE,
            "a new shape with as many elements as the input",
            _other_count,
            lambda node: "TfLiteArmnnDelegate: Reshape, number of elements in output shape does not match input " + place(node),
        ),
        Layer("RESHAPE", "reshape", _reshaped, "Redefine.hpp:193"),
    ),
    "SQUEEZE": visited(
        "Redefine.hpp:VisitSqueezeOperator",
        inputs_exactly(1),
        outputs_exactly(),
        readable(INPUT),
        Layer("SQUEEZE", "reshape", _squeezed, "Redefine.hpp:279"),
    ),
    "EXPAND_DIMS": visited(
        "Redefine.hpp:VisitExpandDimsOperator",
        inputs_exactly(2),
        outputs_exactly(),
        readable(INPUT, OUTPUT),
        present(_SECOND),
        Need(
            OPERAND_VALUE,
            "an axis within the rank",
            _expanded_axis,
            "TfLiteArmnnOpaqueDelegate: Axis must be in range [0 - (inputDimSize + 1), inputDimSize] inclusive.",
        ),
        Layer("EXPAND_DIMS", "reshape", _expanded, "Redefine.hpp:385"),
    ),
    "TRANSPOSE": visited(
        "Transpose.hpp",
        inputs_exactly(2),
        outputs_exactly(),
        readable(INPUT, OUTPUT),
        present(_SECOND),
        Layer("TRANSPOSE", "transpose", _permuted, "Transpose.hpp:84"),
    ),
    "BATCH_TO_SPACE_ND": visited(
        "BatchSpace.hpp:VisitBatchToSpaceNdOperator",
        *_BLOCKED,
        present(_SECOND),
        present(_THIRD),
        Layer("BATCH_TO_SPACE_ND", "batch_to_space", _blocks, "BatchSpace.hpp:78"),
    ),
    "SPACE_TO_BATCH_ND": visited(
        "BatchSpace.hpp:VisitSpaceToBatchNdOperator",
        *_BLOCKED,
        present(_SECOND),
        present(_THIRD),
        Layer("SPACE_TO_BATCH_ND", "space_to_batch", _blocks, "BatchSpace.hpp:179"),
    ),
    "DEPTH_TO_SPACE": visited(
        "SpaceDepth.hpp:VisitDepthToSpaceOperator",
        *_READ_ONE,
        Layer("DEPTH_TO_SPACE", "depth_to_space", _depth, "SpaceDepth.hpp:118"),
    ),
    "SPACE_TO_DEPTH": visited(
        "SpaceDepth.hpp:VisitSpaceToDepthOperator",
        *_READ_ONE,
        Layer("SPACE_TO_DEPTH", "space_to_depth", _depth, "SpaceDepth.hpp:49"),
    ),
    "SHAPE": visited("Shape.hpp", *_READ_ONE, _result_type("out_type"), Layer("SHAPE", "shape", unary_call, "Shape.hpp:58")),
    "MEAN": visited(
        "Control.hpp:VisitMeanOperator", *_READ_TWO, present(_SECOND), Layer("MEAN", "mean", _mean, "Control.hpp:259")
    ),
    "REDUCE_MAX": _REDUCED,
    "REDUCE_MIN": _REDUCED,
    "REDUCE_PROD": _REDUCED,
    "SUM": _REDUCED,
    "ARG_MAX": _ARG,
    "ARG_MIN": _ARG,
    "GATHER": visited(
        "Gather.hpp",
        *_READ_TWO,
        Need(
            ATTRIBUTE,
            "an axis within the rank",
            _gather_axis,
            lambda node: (
                f"TfLiteArmnnDelegate: Operation has invalid axis: {node.options.axis}. It is out of bounds "
                f"[-{input_info(node, 0).rank}, {input_info(node, 0).rank}))"
            ),
        ),
        Need(
            RANK,
            "output with the rank of input and indices, less 1",
            _gather_rank,
            _gather_rank_line,
            "gather without batch dimensions, with indices of rank 1 or more",
        ),
        Layer("GATHER", "gather", _gather, "Gather.hpp:78", "VisitGatherOperator"),
    ),
    "GATHER_ND": visited(
        "GatherNd.hpp", *_READ_TWO, Layer("GATHER_ND", "gather_nd", _gather, "GatherNd.hpp:55", "VisitGatherNdOperator")
    ),
    "FILL": visited(
        "Fill.hpp",
        outputs_exactly(),
        inputs_exactly(2),
        readable(INPUT, OUTPUT),
        Need(
            TENSOR_TYPE,
            "a value of type FLOAT32 or INT32",
            _fill_type,
            lambda node: f"TfLiteArmnnDelegate: FILL value data type is not supported in {place(node)}",
        ),
        present(_SECOND),
        Layer("FILL", "fill", unary_call, "Fill.hpp:78"),
    ),
    "TILE": visited(
        "Tile.hpp",
        *_READ_TWO,
        Need(
            OPERAND_COUNT,
            "a multiple for each dimension",
            _multiples,
            "TfLiteArmnnDelegate: The Multiples length must be the same as the number of dimension in input tensor",
        ),
        present(_SECOND),
        Layer("TILE", "tile", _tiled, "Tile.hpp:26", "ValidateTileOperator"),
    ),
    "PAD": visited("Pad.hpp", outputs_exactly(), inputs_exactly(2), readable(INPUT, _SECOND, OUTPUT), present(_SECOND), _PAD),
    "PADV2": visited(
        "Pad.hpp",
        outputs_exactly(),
        inputs_exactly(3),
        readable(INPUT, _SECOND, OUTPUT),
        present(_SECOND),
        readable(_THIRD),
        Need(
            OPERAND_COUNT,
            "one padding value",
            _pad_values,
            lambda node: f"TfLiteArmnnDelegate: Multiple padding value are not supported in {place(node)}",
        ),
        Need(
            TENSOR_TYPE,
            "a padding value of type FLOAT32, UINT8 or INT8",
            _pad_value_type,
            lambda node: f"TfLiteArmnnDelegate: Padding value datatype is not supported in {place(node)}",
        ),
        present(_THIRD),
        _PAD,
    ),
    "MIRROR_PAD": visited(
        "Pad.hpp",
        outputs_exactly(),
        inputs_exactly(2),
        readable(INPUT, _SECOND, OUTPUT),
        present(_SECOND),
        Need(
            ATTRIBUTE,
            "the mode REFLECT or SYMMETRIC",
            lambda node: None if node.options.mode in (0, 1) else f"mode {node.options.mode}",
            lambda node: f"TfLiteArmnnDelegate: PaddingMode must be either REFLECT or SYMMETRIC in {place(node)}",
        ),
        Need(
            OPERAND_VALUE,
            "padding within the size of each dimension",
            _wide_padding,
            lambda node: (
                "TfLiteArmnnDelegate: Padding values must be less (Reflect) or equal (Symmetric) to the dimension size "
                f"in {place(node)}"
            ),
        ),
        _PAD,
    ),
}
"""The rules by operator."""
