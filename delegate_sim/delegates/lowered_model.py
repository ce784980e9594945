"""The model that a delegate builds from a partition, as plain data.

The next stage, such as Android's NNAPI runtime, receives this model.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..foundation.columns import INTEGER, LIST, NUMBER, Column, Declared, attributes, number_or_text
from ..refusal import Refusal


@dataclass(frozen=True, slots=True)
class LoweredOperand(Declared):
    """One operand: its type, shape and quantization, the source of its value, and its tensor in the graph.

    ``value`` is set if the operand is a number that the delegate adds, such as a stride. ``scales`` has one entry for each index
    along ``channel_dimension``.
    """

    columns = (
        *(Column("index", INTEGER), Column("type"), Column("dimensions", LIST)),
        *(Column("scale", NUMBER, source=lambda operand: number_or_text(operand.scale)), Column("zero_point", INTEGER)),
        Column("channel_dimension", INTEGER),
        Column("scales", LIST, source=lambda operand: map(number_or_text, operand.scales)),
        Column("lifetime"),
        Column("value", NUMBER, source=lambda operand: number_or_text(operand.value)),
        Column("tensor", INTEGER),
    )

    index: int
    type: str
    dimensions: tuple[int, ...]
    scale: float
    zero_point: int
    channel_dimension: int | None
    scales: tuple[float, ...]
    lifetime: str
    value: int | float | bool | None
    tensor: int | None


@dataclass(frozen=True, slots=True)
class LoweredOperation:
    """One operation: its operands in order, and the index of its node."""

    index: int
    name: str
    node: int | None
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LoweredCall:
    """One call to the interface of the next stage.

    ``subject`` is the index of the operand or operation that the call adds or changes, if any. ``value`` is set if the call
    changes a setting of the whole model.
    """

    function: str
    subject: int | None
    value: bool | None = None


@dataclass(frozen=True, slots=True)
class LoweredModel(Declared):
    """The model that a delegate builds from one partition."""

    columns = (
        *(Column("subgraph", INTEGER), *attributes("nodes", "operands", "operations", "inputs", "outputs", "calls", type=LIST)),
        Column("refusals", LIST, parts=(Column("call"), Column("node", INTEGER), Column("text", source="message"))),
    )

    subgraph: int
    nodes: tuple[int, ...]
    operands: tuple[LoweredOperand, ...]
    operations: tuple[LoweredOperation, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    calls: tuple[LoweredCall, ...]
    refusals: tuple[Refusal, ...]
    """The calls that the next stage rejects. If the delegate fails to build the rest of the model, the last item says why."""
