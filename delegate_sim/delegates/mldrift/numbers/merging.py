"""Wrong numbers of outputs, and of nodes that ML Drift merges with a neighbor or removes.

ML Drift appends an elementwise node to the kernel of the node before it.
"""

from __future__ import annotations

from collections import Counter

from ....graph.graph import NodeView, fused_activation
from ....model.model import Tensor
from ...gpu_compatibility import is_linear
from ..rules.checks import integers
from .rule import Affected, GraphPart, NumberRule, number_rule

_REDUCTIONS = ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD")
_WEIGHTED = ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "FULLY_CONNECTED", "BATCH_MATMUL")
_CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV")
_SLICES = ("SLICE", "STRIDED_SLICE")
_RESIZINGS = ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
_SPLITS = ("SPLIT", "SPLIT_V")
_FLOATS = ("FLOAT32", "FLOAT16")


def _sum_before(node: NodeView, part: GraphPart) -> NodeView | None:
    source = node.input(0)
    total = part.writer(source)
    if total is None or total.op != "ADD" or part.only_reader(source) is None or fused_activation(total) != "NONE":
        return None
    first, second = total.input(0), total.input(1)
    is_plain = not first.is_constant and not second.is_constant and first.shape == second.shape
    return total if is_plain and first.index != second.index else None


def _maximum_of_sum(node: NodeView, part: GraphPart) -> Affected | None:
    total = _sum_before(node, part)
    rank = node.input(0).rank
    axes = {axis % rank for axis in integers(node, 1)} if rank else set()
    has_batch = len(axes) > 1 and 0 in axes
    if total is None or not axes or has_batch:
        return None
    return Affected(node.output(0), {"sum": total.node.index})


def _is_part_of_image(node: NodeView) -> bool:
    # The window of a pool may be smaller or larger than its input.
    options = node.options
    return node.op == "AVERAGE_POOL_2D" and (options.filter_height, options.filter_width) != node.input(0).shape[1:3]


def _output_of_sum(node: NodeView, part: GraphPart) -> Affected | None:
    total = None if _is_part_of_image(node) else _sum_before(node, part)
    if total is None or not part.is_output(total.output(0)):
        return None
    return Affected(total.output(0), {"sum": total.node.index})


def _other_operand(node: NodeView) -> Tensor | None:
    constants = [tensor for tensor in node.inputs if tensor.is_constant]
    others = [tensor for tensor in node.inputs if not tensor.is_constant]
    if len(constants) != 1 or len(others) != 1:
        return None
    constant, source = constants[0], others[0]
    is_fused = constant.element_count == 1 or (is_linear(constant.shape) and constant.shape[-1:] == source.shape[-1:])
    return source if is_fused else None


def is_merged_after_weights(node: NodeView, part: GraphPart) -> bool:
    """Return whether a node has weights into which the next node is merged, or is itself merged into such weights."""
    passed: list[int] = []
    following: NodeView | None = node
    while following is not None and following.node.index not in part.merged and following.op in ("ADD", "MUL"):
        part.merged[following.node.index] = False  # the nodes of a hostile file may form a ring
        passed.append(following.node.index)
        source = _other_operand(following)
        is_merged = source is not None and part.only_reader(source) is not None and fused_activation(following) == "NONE"
        following = part.writer(source) if source is not None and is_merged else None
    known = following is not None and (part.merged.get(following.node.index) or _has_mergeable_weights(following))
    part.merged.update(dict.fromkeys(passed, bool(known)))
    return bool(known)


def _has_mergeable_weights(node: NodeView) -> bool:
    # ML Drift turns a convolution with INT8 weights of height 1 and width 1 into a matrix product, and keeps its weights.
    weights = node.input(1)
    is_weighted = node.op in _WEIGHTED and (node.op != "BATCH_MATMUL" or weights.rank == 2)
    is_widened = node.op in _CONVOLUTIONS and weights.type == "INT8" and node.output(0).type == "FLOAT32"
    is_product = node.op == "CONV_2D" and weights.shape[1:3] == (1, 1)
    is_merged = weights.type in _FLOATS or (is_widened and not is_product)
    return is_weighted and weights.is_constant and is_merged and fused_activation(node) == "NONE"


def _fused_output(node: NodeView, part: GraphPart) -> Affected | None:
    source = _other_operand(node)
    writer = part.writer_of_read_output(source)
    is_merged = writer is not None and is_merged_after_weights(writer, part)
    return Affected(source) if source is not None and is_merged else None


def changes_nothing(node: NodeView) -> bool:
    """Return whether the node copies its input: a slice of everything, or a resize to the same size."""
    return node.op in (*_SLICES, *_RESIZINGS) and node.input(0).shape == node.output(0).shape and not _reverses(node)


def _reverses(node: NodeView) -> bool:
    return node.op == "STRIDED_SLICE" and any(step < 0 for step in integers(node, 3))


def _is_output_behind_slices(node: NodeView, part: GraphPart) -> bool:
    passed: list[int] = []
    following: NodeView | None = node
    is_output = False
    while following is not None and not is_output and following.op in _SLICES and changes_nothing(following):
        index = following.node.index
        if index in part.passed_on:
            is_output = part.passed_on[index]
            break
        part.passed_on[index] = False  # the nodes of a hostile file may form a ring
        passed.append(index)
        is_output = part.is_output(following.output(0))
        following = part.only_reader(following.output(0))
    part.passed_on.update(dict.fromkeys(passed, is_output))
    return is_output


def _removed_behind_output(node: NodeView, part: GraphPart) -> Affected | None:
    source = node.input(0)
    is_removed = changes_nothing(node) and part.writer_of_read_output(source) is not None
    is_written = node.op in _SLICES and is_removed and not _is_output_behind_slices(node, part)
    return Affected(source) if is_removed and not is_written else None


def _comes_early_from_split(tensor: Tensor, part: GraphPart) -> NodeView | None:
    split = part.writer(tensor)
    return split if split is not None and split.op in _SPLITS and split.node.outputs[-1] != tensor.index else None


def _removed_behind_split(node: NodeView, part: GraphPart) -> Affected | None:
    split = _comes_early_from_split(node.input(0), part) if changes_nothing(node) else None
    if split is None or part.only_reader(node.input(0)) is None:
        return None
    others = len(part.outputs_of(split)) - part.is_output(node.input(0))
    is_output = part.is_output(node.output(0)) if node.op in _SLICES else others > 0
    return Affected(node.output(0), {"split": split.node.index}) if is_output else None


def _joined_alone(node: NodeView, part: GraphPart) -> Affected | None:
    source = node.input(0)
    if len(node.node.inputs) != 1:
        return None
    is_shared = part.is_output(source) or part.only_reader(source) is None or _comes_early_from_split(source, part) is not None
    return Affected(node.output(0), is_certain=is_shared) if is_shared or part.is_input(source) else None


def unwritten_outputs(part: GraphPart) -> list[tuple[NumberRule, Tensor]]:
    """Return the outputs of a graph that are never written because of their place among the inputs and outputs."""
    graph = part.graph
    if not part.is_whole:
        return []
    inputs, outputs = frozenset(graph.inputs), Counter(graph.outputs)
    passed = [(INPUT_IS_OUTPUT, graph.tensor(index)) for index in outputs if index in inputs]
    return [*passed, *[(OUTPUT_TWICE, graph.tensor(index)) for index, number in outputs.items() if number > 1]]


INPUT_IS_OUTPUT = number_rule("input-is-output", (), is_before_backend=True)
OUTPUT_TWICE = number_rule("output-twice", (), is_before_backend=True)

RULES = (
    number_rule("add-then-max", ("REDUCE_MAX", "REDUCE_MIN"), _maximum_of_sum, depends_on_values=True, is_before_backend=True),
    number_rule("add-reduce-output", (*_REDUCTIONS, "AVERAGE_POOL_2D"), _output_of_sum, is_before_backend=True),
    number_rule("fused-output", ("ADD", "MUL"), _fused_output, is_before_backend=True),
    number_rule("noop-output", (*_SLICES, *_RESIZINGS), _removed_behind_output, is_before_backend=True),
    number_rule("noop-split", (*_SLICES, *_RESIZINGS), _removed_behind_split, is_before_backend=True),
    number_rule("concat-of-one", ("CONCATENATION",), _joined_alone, is_before_backend=True),
)


_UNARY = frozenset(
    {
        *("ABS", "CAST", "CEIL", "COS", "ELU", "EXP", "FLOOR", "GELU", "HARD_SWISH", "LEAKY_RELU", "LOG", "LOGISTIC", "NEG"),
        *("PRELU", "RELU", "RELU6", "RELU_N1_TO_1", "ROUND", "RSQRT", "SIGN", "SIN", "SQRT", "SQUARE", "TANH"),
    }
)
_BINARY = frozenset({"ADD", "DIV", "FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM", "MUL", "POW", "SQUARED_DIFFERENCE", "SUB"})

ELEMENTWISE = (*sorted(_UNARY), *sorted(_BINARY))
"""The operators of elementwise nodes."""


def runtime_operand(node: NodeView) -> Tensor | None:
    """Return the only operand of an elementwise node that is computed at run time, or None."""
    if node.op in _UNARY:
        return node.input(0)
    runtime = {tensor.index: tensor for tensor in node.inputs if not tensor.is_constant} if node.op in _BINARY else {}
    return next(iter(runtime.values())) if len(runtime) == 1 else None


def _first_appended(node: NodeView, part: GraphPart) -> int | None:
    """Return the first elementwise node that is appended to the kernel of a node; None if the kernel begins with one.

    None also if the kernel begins with a node with a fused activation.
    """
    passed: list[int] = []
    first: int | None = None
    while node.node.index not in part.first_appended:
        passed.append(node.node.index)
        writer = _kernel_before(node, part)
        if writer is None:
            break
        if runtime_operand(writer) is None:
            first = node.node.index if fused_activation(writer) == "NONE" else None
            break
        node = writer
    first = part.first_appended.get(node.node.index, first)
    part.first_appended.update(dict.fromkeys(passed, first))
    return first


def _kernel_before(node: NodeView, part: GraphPart) -> NodeView | None:
    """Return the node before an elementwise node, without nodes that are removed or merged into weights.

    None if the elementwise node begins a kernel: its operand has other readers, is an output or enters the part.
    """
    source, last = runtime_operand(node), node.node.index
    while source is not None and part.only_reader(source) is not None and not part.is_output(source):
        writer = part.writer(source)
        if writer is None or writer.node.index >= last:
            return None
        is_merged = writer.op in ("ADD", "MUL") and is_merged_after_weights(writer, part)
        if not is_merged and not _is_removed(writer):
            return writer
        source, last = (runtime_operand(writer) if is_merged else writer.input(0)), writer.node.index
    return None


def _is_removed(node: NodeView) -> bool:
    is_reshape = node.op == "RESHAPE" and node.input(0).shape == node.output(0).shape
    return is_reshape or (node.op in ("SLICE", "STRIDED_SLICE") and changes_nothing(node))


def _second_slope(node: NodeView, part: GraphPart) -> Affected | None:
    if not node.options.alpha or node.input(0).type != "FLOAT32":
        return None
    first = _first_appended(node, part)
    if first is None or part.graph.nodes[first].op != "PRELU":
        return None
    return Affected(node.output(0), {"first": first})


CHAINS = (number_rule("prelu-then-leaky-relu", ("LEAKY_RELU",), _second_slope),)
