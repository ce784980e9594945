"""The NNAPI model of a partition while it is built: which tensors it has, and which operations.

Source: ``NNAPIOpBuilder`` and ``NnapiMappingContext`` (``delegates/nnapi/nnapi_delegate.cc``). NNAPI itself is taken to accept
every operand and operation. Some calls of the original ignore that adding a tensor failed; the tensor counts as mapped from
then on, here as there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

from ...graph.graph import Graph, NodeView
from ...model.model import Node, Tensor
from ..base import KernelFailure
from .failures import kernel_failure

OPERAND_TYPES = frozenset({"FLOAT32", "FLOAT16", "UINT8", "INT8", "INT32", "BOOL", "INT16"})
"""Tensor types that have an NNAPI operand type (``NNAPIOpBuilder::AddTensor``)."""

INTERMEDIATE_TYPES = frozenset({"FLOAT32", "UINT8", "INT8"})
"""Types of results between the operations of one node (``AddIntermediateOutputTensor``)."""


class KernelError(Exception):
    """Carries the failure to where its status would be looked at."""

    def __init__(self, failure: KernelFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def kernel_error(code: str, node: int | None, tensor: Tensor | None = None, **found: Any) -> KernelError:
    """Return the error of a failure that is worded from what was found."""
    return KernelError(kernel_failure(code, node, tensor, **found))


class PartitionBuilder:
    """The NNAPI model of a partition while it is built."""

    __slots__ = (
        "densified",
        "dequantized",
        "graph",
        "mapped",
        "operations",
        "runtime_feature_level",
        "state_tensors",
        "target_feature_level",
        "widened",
    )

    def __init__(self, graph: Graph, target_feature_level: int, runtime_feature_level: int) -> None:
        self.graph = graph
        self.target_feature_level = target_feature_level
        self.runtime_feature_level = runtime_feature_level
        self.operations: dict[int, list[str]] = {}
        self.mapped: set[int] = set()
        """Tensors that have an NNAPI index."""
        self.dequantized: set[tuple[int | None, str]] = set()
        """Tensors that a DEQUANTIZE was added for, and the type that it was asked for; None stands for all unmapped ones."""
        self.state_tensors: list[int] = []
        """Inputs that NNAPI gives back as outputs."""
        self.densified: dict[int, Node] = {}
        """The node that unpacks sparse weights, by its output."""
        self.widened: dict[int, Node] = {}
        """The node that widens float16 values at run time, by its output."""

    def add_tensor(self, node: Node, index: int) -> None:
        """``AddTensorInput`` and ``AddTensorOutput`` (``AddTensor``); refuses types that NNAPI lacks."""
        if index in self.mapped:
            return
        if index < 0:
            raise kernel_error("nnapi-absent-operand", node.index)
        self.mapped.add(index)
        tensor = self.graph.tensors[index]
        if tensor.type not in OPERAND_TYPES:
            raise kernel_error("nnapi-tensor-type", node.index, tensor)

    def add_tensor_unchecked(self, node: Node, index: int) -> None:
        """``AddTensorInput`` and ``AddTensorOutput`` where the original ignores their status."""
        with suppress(KernelError):
            self.add_tensor(node, index)

    def add_scalar(self, node: Node, tensor: Tensor) -> None:
        """``AddSingleValueTensorAsScalarOperand``, or for a constant a copy of its value."""
        if tensor.is_constant:
            return
        if tensor.element_count != 1:
            raise kernel_error("nnapi-scalar-value", node.index, tensor, found=tensor.element_count)
        self.mapped.add(tensor.index)

    def add_intermediate(self, node: Node, tensor: Tensor) -> None:
        """``AddIntermediateOutputTensor`` of the type of this tensor."""
        if tensor.type not in INTERMEDIATE_TYPES:
            raise kernel_error("nnapi-intermediate-type", node.index, tensor, op=node.op)

    def add_operation(self, node: Node, operation: str) -> None:
        """``AddOperationToModel``."""
        self.operations.setdefault(node.index, []).append(operation)

    def add_dequantize(self, node: Node, index: int, wanted: str) -> None:
        """``AddDequantize``: once for each tensor and wanted type."""
        key = (index if index in self.mapped else None, wanted)
        if key not in self.dequantized:
            self.dequantized.add(key)
            self.add_operation(node, "DEQUANTIZE")


Step: TypeAlias = Callable[[PartitionBuilder, NodeView], None]
"""A step in mapping one node."""
