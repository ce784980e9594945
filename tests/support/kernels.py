"""Operands for tests of Prepare functions, and a way to run one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from delegate_sim.model import schema
from delegate_sim.model.model import Allocation, Node, Tensor
from delegate_sim.model.options import Options
from delegate_sim.prepare.kernel import ComputedElements, KernelNode
from delegate_sim.prepare.kernels import find_kernel
from delegate_sim.prepare.tensors import KernelTensor
from delegate_sim.releases.catalogue import NEWEST, Release
from tests.support import graphs
from tests.support.graphs import MODEL


class Kernels:
    """Builds operands and prepares one node that has them."""

    arena = staticmethod(graphs.arena)
    constant = staticmethod(graphs.constant)
    persistent = staticmethod(graphs.persistent)
    quantized = staticmethod(graphs.quantized)

    def prepare(
        self,
        op: str,
        inputs: Sequence[Tensor | None],
        outputs: Sequence[Tensor],
        *,
        version: int = 1,
        intermediates: Sequence[Tensor] = (),
        custom_options: bytes | None = None,
        release: Release = NEWEST,
        **options: Any,
    ) -> KernelNode:
        """Run the Prepare function of ``op``; None stands for an operand left out. No options at all mean an absent table."""
        model = MODEL if custom_options is None else replace(MODEL, content=memoryview(custom_options))
        given = [tensor for tensor in inputs if tensor is not None]
        placed = (*given, *outputs, *intermediates)
        tensors = [KernelTensor(MODEL, tensor._replace(index=index)) for index, tensor in enumerate(placed)]
        positions = iter(range(len(given)))
        outputs_end = len(given) + len(outputs)
        node = Node(
            index=0,
            op=op,
            builtin_code=0,
            custom_code=None,
            version=version,
            inputs=tuple(-1 if tensor is None else next(positions) for tensor in inputs),
            outputs=tuple(range(len(given), outputs_end)),
            intermediates=tuple(range(outputs_end, len(tensors))),
            options=None,
            custom_options=None if custom_options is None else (0, len(custom_options)),
        )
        running = KernelNode(model, node, tensors, None, release, ComputedElements())
        if options:
            running._options = Options(schema.options_table(op), options)
        function = find_kernel(op)
        assert function is not None
        function(running)
        return running

    def assert_static(self, node: KernelNode, *shapes: tuple[int, ...]) -> None:
        """The results lie in the arena and have these shapes."""
        for position, shape in enumerate(shapes):
            result = node.output(position)
            assert result.allocation is Allocation.ARENA
            assert result.shape == shape

    def assert_persistent(self, node: KernelNode, expected: Any) -> None:
        """The result was computed: these are its elements."""
        result = node.output()
        assert result.allocation is Allocation.PERSISTENT
        assert result.shape == np.shape(expected)
        assert result.value().tolist() == np.ravel(expected).tolist()

    def assert_dynamic(self, node: KernelNode, cause: int | None) -> None:
        """The size of the result is known only while running; ``cause`` is the tensor to blame."""
        assert node.output().allocation is Allocation.DYNAMIC
        assert node.cause == cause
