"""Windows of convolution and pooling: the number of windows in an input, and the limits of strides and sizes."""

from __future__ import annotations

from collections.abc import Sequence

from ..foundation.limits import element_count
from ..model import schema
from .kernel import KernelNode

INT16_MAX = 2**15 - 1
UINT16_MAX = 2**16 - 1
INT32_MAX = 2**31 - 1
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
    if size < 0 or window <= 0 or stride <= 0 or dilation <= 0 or padding not in ("SAME", "VALID"):
        return None
    count = unchecked_output_size(padding, size, window, stride, dilation)
    return count if count >= 0 else None


def unchecked_output_size(padding: str, size: int, window: int, stride: int, dilation: int = 1) -> int:
    """Return the number of windows along one dimension without any check. The number may be negative.

    Releases before LiteRT 2.2 compute the number in this way. Upstream: ``kernels/padding.h: ComputeOutSize``.
    """
    if stride == 0 or padding not in ("SAME", "VALID"):
        return 0
    reach = size + stride - (1 if padding == "SAME" else dilated(window, dilation))
    count = abs(reach) // abs(stride)  # The division in the kernels rounds toward 0.
    return count if (reach < 0) == (stride < 0) else -count


def dilated(window: int, dilation: int) -> int:
    """Return the size of a window with dilation (``kernels/padding.h: ComputeEffectiveFilterSize``)."""
    return (window - 1) * dilation + 1


def checked_output_sizes(
    node: KernelNode, sizes: Sequence[int], windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[int]:
    """Return the number of windows along height and width. Refuse the node if the window does not fit.

    Releases before LiteRT 2.2 do not check the sizes. A number of windows may then be negative.

    Upstream: ``kernels/padding.h: ComputePaddingHeightWidthChecked``.
    """
    padding = padding_of(node)
    if not node.since("litert-2.2.0"):
        return [unchecked_output_size(padding, *along) for along in zip(sizes, windows, strides, dilations, strict=True)]
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
    node.ensure(element_count(factors) <= INT32_MAX, "a size exceeds the range of int32")


def ensure_positive(node: KernelNode, sizes: Sequence[int], what: str) -> None:
    """Refuse the node with the message ``what`` if one of the sizes is 0 or negative."""
    node.ensure(min(sizes) > 0, what)


def ensure_steps(node: KernelNode, *steps: int, largest: int = INT16_MAX) -> None:
    """Check that all strides and dilations are positive and at most ``largest``."""
    node.ensure(min(steps) > 0 and max(steps) <= largest, "a stride or dilation is out of range")
