"""Prepare functions of pooling."""

from __future__ import annotations

from ..kernel import KernelNode, kernel
from ..windows import ensure_positive, output_size, padding_of, unchecked_output_size


@kernel("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D", changed_in=("litert-2.2.0",))
def prepare_pool_2d(node: KernelNode) -> None:
    """``kernels/pooling.cc: GenericPrepare``.

    If the window is larger than the input, the result is empty. Releases before LiteRT 2.2 compute a negative size instead.
    """
    node.ensure_counts(1, 1)
    result, source = node.output(), node.input(0)
    node.ensure_rank(source, 4)
    node.ensure(source.type == result.type, "input and output have different types")
    options = node.options
    ensure_positive(node, (options.stride_h, options.stride_w), "a stride is not positive")
    batches, height, width, channels = source.shape
    padding = padding_of(node)
    count = output_size if node.since("litert-2.2.0") else unchecked_output_size
    output_width = count(padding, width, options.filter_width, options.stride_w)
    output_height = count(padding, height, options.filter_height, options.stride_h) if output_width is not None else None
    if node.op == "L2_POOL_2D":
        node.ensure(source.type not in ("UINT8", "INT8"), "L2 pooling does not support quantized types")
    node.resize(result, (batches, output_height or 0, output_width or 0, channels))
