"""Kernel failures with three causes: shapes, unpacked constants, and variables that a node reads twice.

Sources: the ``Visit...Node`` methods in ``delegates/xnnpack/xnnpack_delegate.cc``, XNNPACK's functions that compute shapes (such
as ``reshape_reduce_operator`` in ``src/subgraph/static-reduce.c``), and ``xnn_subgraph_fusion`` (``src/subgraph.c``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ...foundation.limits import element_count
from ...graph.graph import Graph, NodeView
from ...model.model import Tensor
from ...model.numbers import as_list
from ...refusal import Refusal
from ...releases.catalogue import Release, parse_release
from .rules.checks import padding_mode
from .target import Visit, kernel_failure

_OF_EQUAL_RANK = frozenset({"BATCH_MATMUL", "CONCATENATION"})
"""Operators that fail if an operand has no shape. All other operators treat an operand without a shape as a scalar."""
_READ_WEIGHTS = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"})
_ATTENTION_RANK = 4
_SHAPES_ARE_CHECKED = parse_release("litert-2.1.5")
"""From this release on, XNNPACK refuses more than four dimensions and uneven splits.

Measured with ``ai-edge-litert`` 2.1.3 to 2.3.0.
"""
IMAGE_RANK = 4


def _has_known_rank(tensor: Tensor, inputs: Collection[int]) -> bool:
    """Return whether the rank of a tensor is known.

    A tensor with rank 0 in the model file may have an unknown rank. Rank 0 is certain only for constants and for the model's
    ``inputs``.
    """
    return bool(tensor.shape) or tensor.is_constant or tensor.index in inputs


def missing_axis(node: NodeView, inputs: Collection[int]) -> Refusal | None:
    """Return the failure of a reduction along a missing axis."""
    source, axes = node.input(0), node.value(node.input(1))
    if axes is None or not _has_known_rank(source, inputs):
        return None
    for axis in as_list(axes):
        if not -source.rank <= axis < source.rank:
            return kernel_failure("xnnpack-kernel-axes", node.node.index, source, found=axis)
    return None


def not_an_image(node: NodeView, inputs: Collection[int], release: Release) -> Refusal | None:
    """Return the failure of a pooling or block operator if the operand does not have four dimensions.

    MAX_POOL_2D also accepts more than four dimensions. In old releases, all pooling and block operators do.
    """
    source = node.input(0)
    if not _has_known_rank(source, inputs) or source.rank == IMAGE_RANK:
        return None
    takes_more = node.op == "MAX_POOL_2D" or not release.is_at_least(_SHAPES_ARE_CHECKED)
    if source.rank > IMAGE_RANK and takes_more:
        return None
    return kernel_failure("xnnpack-kernel-image-rank", node.node.index, source, op=node.op)


def uneven_split(node: NodeView, inputs: Collection[int], release: Release) -> Refusal | None:
    """Return the failure of a SPLIT along a missing axis, or into parts of different sizes."""
    value, source = node.value(node.input(0)), node.input(1)
    if value is None or not len(value) or not _has_known_rank(source, inputs):
        return None
    axis, count = int(value[0]), len(node.node.outputs)
    if not -source.rank <= axis < source.rank:
        return kernel_failure("xnnpack-kernel-axes", node.node.index, source, found=axis)
    is_open = -1 in (source.shape_signature or ())
    if is_open or not count or not release.is_at_least(_SHAPES_ARE_CHECKED) or source.shape[axis] % count == 0:
        return None
    return kernel_failure("xnnpack-kernel-uneven-split", node.node.index, source, found=count)


_RESHAPE_IS_CHECKED = parse_release("litert-1.1.2")
"""From this release on, a RESHAPE must keep the number of elements, and two operands must broadcast.

Measured with ``ai-edge-litert`` 1.1.2 to 2.3.0. Older releases were not measured.
"""
_CONCATENATION_IS_CHECKED = parse_release("litert-2.1.6")
"""From this release on, the operands of a CONCATENATION may differ only along the axis.

Measured with ``ai-edge-litert`` 1.1.2 to 2.3.0 and a nightly of 2.4.0.
"""
_ROWS_ARE_CHECKED = parse_release("litert-1.4.0")
"""From this release on, the elements of a FULLY_CONNECTED's input must be whole rows. Measured as above."""
_CHANNELS_ARE_CHECKED = parse_release("litert-2.2.0")
"""From this release on, the channels of inputs and weights of CONV_2D, and of FULLY_CONNECTED with keep_num_dims, must fit.

Measured as above.
"""
_WINDOW_IS_CHECKED = parse_release("litert-2.2.0")
"""From this release on, the window of a convolution must fit into the padded input.

Measured with ``ai-edge-litert`` 2.1.3 to 2.3.0.
"""


def misfit(nodes: Collection[int], prepared: Callable[[], Graph], release: Release) -> Refusal | None:
    """Return the failure of the first node whose window, new shape or second operand does not fit its input, or None.

    These are convolutions without padding whose dilated window is larger than the input, RESHAPE nodes that change the number
    of elements, and operands that cannot be broadcast or concatenated. XNNPACK computes all shapes itself. They are known until
    a CPU kernel refuses a node or a tensor is dynamic, so later nodes are not checked. Nodes behind a TRANSPOSE_CONV, whose
    constant size XNNPACK does not read, or a custom node are not checked either. ``prepared`` returns the subgraph with these
    shapes.

    Upstream: ``reshape_convolution2d_nhwc`` (``src/operators/convolution-nhwc.c``), ``reshape_copy_operator``
    (``src/subgraph/copy.c``).
    """
    if not release.is_at_least(_RESHAPE_IS_CHECKED):
        return None
    known = prepared()
    own = [index for index in nodes if index < len(known.nodes)]  # others replace a composite
    refusals = {index: refusal for index in own if (refusal := _misfit(known.view(known.nodes[index]), release)) is not None}
    ends = {known.dynamic.node if known.dynamic is not None else -1, known.failure.node if known.failure is not None else -1}
    if not refusals or None in ends:
        return None
    for index in known.execution_plan:
        node = known.nodes[index]
        if index in refusals or index in ends or node.op == "TRANSPOSE_CONV" or node.is_custom:
            return refusals.get(index)
    return None


def _misfit(node: NodeView, release: Release) -> Refusal | None:
    source = node.input(0)
    if release.is_at_least(_WINDOW_IS_CHECKED) and _window_is_larger(node):
        window = "x".join(map(str, dilated_window(node)))
        return kernel_failure("xnnpack-kernel-window", node.node.index, source, op=node.op, needed=window)
    if node.op == "RESHAPE" and not node.node.is_custom and len(node.node.inputs) == 2:
        sizes = node.value(node.input(1))
        shape = [] if sizes is None else as_list(sizes)
        if shape and _loses_elements(shape, source.element_count):
            return kernel_failure("xnnpack-kernel-reshape", node.node.index, source, needed=shape)
    problem = None if node.node.is_custom else _combination_problem(node, release)
    return None if problem is None else kernel_failure(_OPERAND_SHAPES, node.node.index, op=node.op, found=problem)


def _loses_elements(shape: Sequence[int], count: int) -> bool:
    known = element_count([size for size in shape if size != -1])
    if min(shape) >= 0 and 0 not in shape:
        return known != count
    return shape.count(-1) == 1 and min(shape) == -1 and known > 0 and count % known != 0


def _combination_problem(node: NodeView, release: Release) -> str | None:
    shape = node.input(0).shape
    if node.op in ("CONV_2D", "FULLY_CONNECTED", "BATCH_MATMUL"):
        return _matrix_problem(node, shape, node.input(1).shape, release)
    for position in range(1, len(node.node.inputs)):
        other = node.input(position).shape
        if node.op in _BROADCASTS and not _broadcasts(shape, other):
            return f"shapes {list(shape)} and {list(other)}, which cannot be broadcast together"
        if node.op == "CONCATENATION" and release.is_at_least(_CONCATENATION_IS_CHECKED) and not _concatenates(node, other):
            return f"shapes {list(shape)} and {list(other)}, which differ in more than one dimension"
    return None


def _matrix_problem(node: NodeView, shape: tuple[int, ...], other: tuple[int, ...], release: Release) -> str | None:
    if node.op == "CONV_2D":
        is_checked = release.is_at_least(_CHANNELS_ARE_CHECKED) and len(shape) == len(other) == IMAGE_RANK
        return _channel_problem(shape, other) if is_checked else None
    options, fits = node.options, True
    if node.op == "FULLY_CONNECTED" and shape and other and other[-1]:
        if options.keep_num_dims:
            fits = shape[-1] == other[-1] or not release.is_at_least(_CHANNELS_ARE_CHECKED)
        else:
            fits = element_count(shape) % other[-1] == 0 or not release.is_at_least(_ROWS_ARE_CHECKED)
    elif node.op == "BATCH_MATMUL" and min(len(shape), len(other)) >= 2:
        fits = shape[-2 if options.adj_x else -1] == other[-1 if options.adj_y else -2] and _broadcasts(shape[:-2], other[:-2])
    return None if fits else f"matrices of shapes {list(shape)} and {list(other)}"


def _channel_problem(shape: Sequence[int], weights: Sequence[int]) -> str | None:
    channels = shape[3]
    if weights[3] and (channels % weights[3] or (channels and weights[0] % (channels // weights[3]))):
        return f"{channels} input channels and weights of shape {list(weights)}"
    return None


def _concatenates(node: NodeView, other: tuple[int, ...]) -> bool:
    shape, axis = node.input(0).shape, node.options.axis
    if len(shape) != len(other) or not -len(shape) <= axis < len(shape):
        return True  # not measured
    along = axis % len(shape)
    return shape[:along] == other[:along] and shape[along + 1 :] == other[along + 1 :]


def _window_is_larger(node: NodeView) -> bool:
    if node.op not in ("CONV_2D", "DEPTHWISE_CONV_2D") or node.node.is_custom or padding_mode(node) != "VALID":
        return False
    source = node.input(0)
    if source.rank != IMAGE_RANK or min(source.shape) <= 0:
        return False
    return any(window > size for window, size in zip(dilated_window(node), source.shape[1:3], strict=True))


def dilated_window(node: NodeView) -> tuple[int, int]:
    """Return the height and width of a convolution's window, with dilation. The weights must have four dimensions."""
    _, height, width, _ = node.input(1).shape
    options = node.options
    return (height - 1) * options.dilation_h_factor + 1, (width - 1) * options.dilation_w_factor + 1


_BROADCASTS = frozenset({"ADD", "DIV", "MAXIMUM", "MINIMUM", "MUL", "SQUARED_DIFFERENCE", "SUB"})
_BINARY = _BROADCASTS | {"PRELU"}
"""Operators that broadcast their two operands."""
_OPERAND_SHAPES = "xnnpack-kernel-operand-shapes"


def operands_of_other_shape(node: NodeView, inputs: Collection[int]) -> Refusal | None:
    """Return the failure of a node with operands that XNNPACK cannot combine.

    The shapes of constants, of the model's ``inputs``, and of tensors that no node computes are certain. All other shapes are
    not compared, because XNNPACK computes them itself.
    """

    def is_certain(tensor: Tensor) -> bool:
        is_given = tensor.index in node.graph.input_indices or tensor.index in node.graph.writers
        return tensor.is_constant or tensor.index in inputs or not is_given

    source = node.input(0)
    if node.node.is_custom or not is_certain(source):
        return None
    problem = next(_shape_problems(node, source, is_certain), None)
    return None if problem is None else kernel_failure(_OPERAND_SHAPES, node.node.index, op=node.op, found=problem)


def _shape_problems(node: NodeView, source: Tensor, is_certain: Callable[[Tensor], bool]) -> Iterator[str]:
    shape = list(source.shape)
    if node.op in _BINARY:
        other = node.input(1)
        if is_certain(other) and not _broadcasts(source.shape, other.shape):
            yield f"shapes {shape} and {list(other.shape)}, which cannot be broadcast together"
    elif node.op == "SOFTMAX" and source.shape[-1:] == (0,):
        yield f"a last dimension of size 0 in shape {shape}"
    elif node.op == "SLICE" and not source.shape and node.input(1).element_count:
        yield "an operand without dimensions"
    elif node.op == "RESHAPE" and len(node.node.inputs) == 2:
        sizes = node.value(node.input(1))
        yield from [f"size {size}" for size in ([] if sizes is None else as_list(sizes)) if size < -1]
    elif node.op == "CONV_2D" and source.rank == IMAGE_RANK:
        yield from filter(None, [_channel_problem(shape, node.input(1).shape)])
    elif node.op == "DEPTHWISE_CONV_2D" and source.rank == IMAGE_RANK:
        channels, multiplier = node.input(1).shape[3], node.options.depth_multiplier
        if channels != shape[3] * multiplier:
            yield f"{shape[3]} input channels, depth_multiplier {multiplier} and {channels} output channels"


def attention_of_other_shapes(node: NodeView) -> Refusal | None:
    """Return the failure of an attention operator with incompatible shapes (``VisitDotAttentionNode``)."""
    problem = next(_attention_problems(node), None)
    return None if problem is None else kernel_failure("xnnpack-kernel-attention", node.node.index, op=node.op, found=problem)


def _attention_problems(node: NodeView) -> Iterator[str]:
    named = {"query": node.input(0), "key": node.input(1), "value": node.input(2)}
    query, key, value = named.values()
    if min(query.rank, key.rank) > 2 and key.shape[2] and query.shape[2] % key.shape[2]:
        yield f"{query.shape[2]} heads in the query and {key.shape[2]} in the key"
    yield from [f"a {name} of shape {list(tensor.shape)}" for name, tensor in named.items() if tensor.rank != _ATTENTION_RANK]
    batches, length, heads, _ = query.shape
    _, key_length, key_heads, _ = key.shape
    if key_heads == 1 and heads != 1 and key.shape[0] != 1:
        yield f"a key with one head and {key.shape[0]} batches"
    if value.shape[1] != key_length:
        yield f"{key_length} keys and {value.shape[1]} values"
    if key_heads == heads and value.shape[2] not in (1, heads):
        yield f"{heads} heads in the query and {value.shape[2]} in the value"
    mask = node.input(3)
    if mask.index >= 0 and not _broadcasts(mask.shape, (batches, heads, length, key_length)):
        yield f"a mask of shape {list(mask.shape)} for products of shape {[batches, heads, length, key_length]}"


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    return all(size in (1, other) or other == 1 for size, other in zip(reversed(shape), reversed(to), strict=False))


def weights_of_other_shape(node: NodeView, visit: Visit) -> Refusal | None:
    """Return a failure if the shape of unpacked weights differs from the shape of their float16 constant."""
    weights = node.node.input(1)
    constant = visit.unpacking.elided_float16.get(weights) if node.op in _READ_WEIGHTS else None
    if constant is None:
        return None
    tensor, source = node.graph.tensor(weights), node.graph.tensor(constant)
    if tensor.shape == source.shape:
        return None
    return kernel_failure("xnnpack-kernel-unpacked-shape", node.node.index, tensor, found=list(source.shape))


def overflowing_constant(graph: Graph, nodes: Collection[int], visit: Visit) -> Refusal | None:
    """Return the failure of a constant that does not fit into the unpacked result."""
    unpacking = visit.unpacking
    for tensor_index, producer in unpacking.producers.items():
        if producer not in nodes or tensor_index in unpacking.elided_float16:
            continue
        node = graph.view(graph.nodes[producer])
        source, result = node.input(0), node.output(0)
        if node.op == "DENSIFY":
            overflows = source.shape != result.shape
        else:
            overflows = source.type == "INT8" and source.element_count > result.element_count
        if overflows:
            return kernel_failure("xnnpack-kernel-unpacked-size", producer, result, found=list(source.shape))
    return None


def variable_read_twice(node: NodeView, positions: Mapping[int, int], outputs: Collection[int]) -> Refusal | None:
    """Return the failure of a node that reads a READ_VARIABLE's result more than once, if no other node reads the result.

    Only operators that need the rank of their operands fail. ``positions`` maps each node of the partition to its position in
    the running order. ``outputs`` are the tensors that leave the partition.
    """
    if node.op not in _OF_EQUAL_RANK or node.node.is_custom:
        return None
    graph, index = node.graph, node.node.index
    for tensor, count in Counter(node.node.inputs).items():
        writers = graph.writers.get(tensor, ()) if count > 1 and tensor not in outputs else ()
        if not writers or writers[-1].op != "READ_VARIABLE" or writers[-1].index not in positions:
            continue
        between = range(positions[writers[-1].index] + 1, positions[index])  # bounded: positions of nodes
        is_read_elsewhere = any(reader.index != index for reader in graph.readers.get(tensor, ()))
        if not is_read_elsewhere and not _is_used(graph, writers[-1].input(0), positions, between):
            return kernel_failure("xnnpack-kernel-variable-twice", index, graph.tensor(tensor), op=node.op)
    return None


def _is_used(graph: Graph, variable: int, positions: Mapping[int, int], between: range) -> bool:
    users = (*graph.readers.get(variable, ()), *graph.writers.get(variable, ()))
    return any(positions.get(user.index) in between for user in users)
