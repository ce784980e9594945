"""What stands behind the codes that do not belong to one delegate: those of the runtime, and those that delegates share."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .rules import Explanation

RUNTIME: Mapping[str, Explanation] = MappingProxyType(
    {
        "dynamic-tensors": Explanation(
            "dynamic-sized tensor in the graph",
            "Before a delegate is applied, the CPU kernels prepare the graph. If the size of a tensor is then known only while "
            "running, the runtime refuses every delegate that has not declared that it takes such tensors, for the whole graph.",
            "Fix the shapes of the model before converting it, so that what decides shapes becomes constant. The report names "
            "the tensor, the node that makes it dynamic and, if one is to blame, the operand that would have to be constant.",
        ),
        "cpu-kernel-after-remapping": Explanation(
            "CPU node left with float16 constants",
            "The delegate lets nodes read float16 constants directly instead of through DEQUANTIZE, and then did not get all of "
            "these nodes, mostly because of a limit on partitions. The CPU kernels of those left over do not take float16, so "
            "the runtime takes all delegation back.",
            "Raise the limit on partitions so that these nodes are delegated too, or convert without float16 weights.",
        ),
        "cyclic-graph": Explanation(
            "nodes that wait for each other",
            "Some nodes need, directly or through others, their own results, so that the graph cannot be split into partitions "
            "that run one after the other. The runtime gives up on the delegate.",
            "Mend the model file: no converter writes such graphs.",
        ),
    }
)
"""Codes of the runtime itself, whatever the delegate."""

PARTITION_LIMIT: Mapping[str, Explanation] = MappingProxyType(
    {
        "partition-limit": Explanation(
            "beyond the limit on partitions",
            "The delegate accepts the node, but takes only so many partitions, those of most nodes first, and the node's is not "
            "among them.",
            "Raise the limit, if the overhead of more delegate kernels pays off, or remove the refused nodes that split the "
            "graph so that partitions merge.",
        ),
    }
)
"""Delegates that take only some of the partitions offered."""

PARTITION_MINIMUM: Mapping[str, Explanation] = MappingProxyType(
    {
        "partition-minimum": Explanation(
            "below the minimum of nodes",
            "The delegate accepts the node, but leaves partitions of too few nodes to the CPU: handing tensors over would cost "
            "more than such a kernel saves.",
            "Remove the refused nodes that split the graph so that partitions merge, or lower the minimum.",
        ),
    }
)
"""Delegates that take only partitions with enough nodes."""

FLOAT16: Mapping[str, Explanation] = MappingProxyType(
    {
        "float16-dequantize": Explanation(
            "DEQUANTIZE of float16 weights",
            "In a model with float16 weights the nodes read the float16 constants directly, and the DEQUANTIZE nodes that widen "
            "them stay on the CPU, unless every other node is accepted; then the delegate takes the whole graph.",
            "Nothing needs to be done about the node itself: look at the reasons of the other nodes.",
        ),
    }
)
"""Delegates with ``FP16GraphPartitionHelper`` (``delegates/utils.cc``)."""

SHARED: Mapping[str, Explanation] = MappingProxyType({**RUNTIME, **PARTITION_LIMIT, **PARTITION_MINIMUM, **FLOAT16})
"""All of these."""
