"""Nodes made without a file, for tests of acceptance rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from delegate_sim.graph.graph import Graph, NodeView
from delegate_sim.model import schema
from delegate_sim.model.model import NO_TENSOR, Allocation, Model, Node, Quantization, Tensor
from delegate_sim.model.options import Options

MODEL = Model(
    path=None,
    size=0,
    version=3,
    description="",
    subgraphs=(),
    operator_codes=(),
    signatures=(),
    metadata={},
    content=memoryview(b""),
)

_CODES = schema.enum_values("BuiltinOperator")


def arena(kind: str, *shape: int, **fields: Any) -> Tensor:
    """An operand or result whose value is known only while running."""
    return NO_TENSOR._replace(type=kind, shape=shape, has_rank=True, **fields)


def constant(value: Any, kind: str = "INT32", **fields: Any) -> Tensor:
    """An operand in the file."""
    array = np.asarray(value, schema.NUMPY_TYPES[kind])
    return arena(kind, *array.shape, value=array, allocation=Allocation.CONSTANT, **fields)


def persistent(value: Any, kind: str = "INT32", **fields: Any) -> Tensor:
    """An operand that an earlier kernel computed while it was prepared."""
    return constant(value, kind, **fields)._replace(allocation=Allocation.PERSISTENT)


def quantized(tensor: Tensor, *scales: float, zero_point: int = 0, dimension: int = 0) -> Tensor:
    """The tensor with affine quantization: one scale, or one for each slice along a dimension."""
    zero_points = np.full(len(scales), zero_point, np.int64)
    quantization = Quantization("affine", np.array(scales, np.float32), zero_points, dimension)
    if len(scales) > 1:
        return tensor._replace(quantization=quantization)
    return tensor._replace(quantization=quantization, scale=float(quantization.scales[0]), zero_point=zero_point)


def node_view(
    op: str,
    inputs: Sequence[Tensor | None],
    outputs: Sequence[Tensor],
    *,
    version: int = 1,
    options: Mapping[str, Any] | None = None,
    custom: bool = False,
    custom_options: bytes | None = None,
    model: Model = MODEL,
) -> NodeView:
    """A node in a graph of its own; None stands for an operand left out.

    ``options`` are those that differ from the schema's defaults. Without them there is no options table.
    """
    if custom_options is not None:
        model = replace(model, content=memoryview(custom_options))
    placed = [tensor for tensor in (*inputs, *outputs) if tensor is not None]
    positions = iter(range(len(placed)))
    node = Node(
        index=0,
        op=op,
        builtin_code=schema.CUSTOM if custom else _CODES[op],
        custom_code=op if custom else None,
        version=version,
        inputs=tuple([-1 if tensor is None else next(positions) for tensor in inputs]),
        outputs=tuple([next(positions) for _ in outputs]),
        intermediates=(),
        options=None,
        custom_options=None if custom_options is None else (0, len(custom_options)),
    )
    graph = Graph(
        model=model,
        index=0,
        name="main",
        tensors=tuple([tensor._replace(index=index) for index, tensor in enumerate(placed)]),
        nodes=(node,),
        inputs=(),
        outputs=node.outputs,
        execution_plan=(0,),
    )
    view = graph.view(node)
    if options is not None:
        table = schema.options_table(op)
        defaults = schema.default_values(table)
        assert options.keys() <= defaults.keys()
        view._options = Options(table, {**defaults, **options})
    return view
