"""Windows of convolution and pooling: the number of windows in an input, and the limits of strides and sizes."""

from __future__ import annotations

from collections.abc import Sequence

from ..foundation.limits import element_count
from ..model import schema
from .kernel import KernelNode

INT16_MAX = 2**15 - 1
_INT32_MAX = 2**31 - 1
_UNKNOWN_PADDING = "UNKNOWN"


def padding_of(node: KernelNode) -> str:
    """Return the padding mode of a node (``ConvertPadding``), or UNKNOWN if the node has no options."""
    if node.options.table is None:
        return _UNKNOWN_PADDING
    return schema.enum_names("Padding").get(node.options.padding, _UNKNOWN_PADDING)


def output_size(padding: str, size: int, window: int, stride: int, dilation: int = 1) -> int | None:
    """Return the number of windows that fit along one dimension, or None if the kernel refuses the sizes.

    Upstream: ``kernels/padding.h: ComputeOutSizeChecked``.
    """
    if size < 0 or window <= 0 or stride <= 0 or dilation <= 0:
        return None
    if padding == "SAME":
        return -(-size // stride)
    if padding != "VALID":
        return None
    reach = size + stride - dilated(window, dilation)
    if reach >= 0:
        return reach // stride
    return 0 if -reach < stride else None  # The division in the kernels rounds toward 0.


def dilated(window: int, dilation: int) -> int:
    """Return the size of a window with dilation (``kernels/padding.h: ComputeEffectiveFilterSize``)."""
    return (window - 1) * dilation + 1


def checked_output_sizes(
    node: KernelNode, sizes: Sequence[int], windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[int]:
    """Return the number of windows along height and width. Refuse the node if the window does not fit.

    Upstream: ``kernels/padding.h: ComputePaddingHeightWidthChecked``.
    """
    padding = padding_of(node)
    counts = []
    for size, window, stride, dilation in zip(sizes, windows, strides, dilations, strict=True):
        count = output_size(padding, size, window, stride, dilation)
        if count is None:
            node.fail("the window does not fit into the input")
        total_padding = max(0, (count - 1) * stride + dilated(window, dilation) - size)
        ensure_int32(node, total_padding // 2)
        counts.append(count)
    return counts


def ensure_int32(node: KernelNode, *factors: int) -> None:
    """Refuse the node if the product of the factors overflows the kernel's 32-bit arithmetic."""
    node.ensure(element_count(factors) <= _INT32_MAX, "a size exceeds the range of int32")


def ensure_positive(node: KernelNode, sizes: Sequence[int], what: str) -> None:
    """Refuse the node with the message ``what`` if one of the sizes is 0 or negative."""
    node.ensure(min(sizes) > 0, what)


def ensure_steps(node: KernelNode, *steps: int) -> None:
    """Check that all strides and dilations are positive 16-bit integers."""
    node.ensure(min(steps) > 0 and max(steps) <= INT16_MAX, "a stride or dilation is out of range")
