"""The model that a delegate builds from a partition, as plain data.

The next stage, such as Android's NNAPI runtime, receives this model.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from ..refusal import Refusal


@dataclass(frozen=True, slots=True)
class LoweredOperand:
    """One operand: its type, shape and quantization, the source of its value, and its tensor in the graph.

    ``value`` is set if the operand is a number that the delegate adds, such as a stride. ``scales`` has one entry for each index
    along ``channel_dimension``.
    """

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
class LoweredModel:
    """The model that a delegate builds from one partition."""

    subgraph: int
    nodes: tuple[int, ...]
    operands: tuple[LoweredOperand, ...]
    operations: tuple[LoweredOperation, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    calls: tuple[LoweredCall, ...]
    refusals: tuple[Refusal, ...]
    """The calls that the next stage rejects. If the delegate fails to build the rest of the model, the last item says why."""

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain data."""
        entry = asdict(replace(self, refusals=()))
        entry["refusals"] = [{"call": one.call, "node": one.node, "text": one.message} for one in self.refusals]
        for key in ("operands", "operations", "calls"):
            entry[key] = [{name: _plain(value) for name, value in one.items()} for one in entry[key]]
        return {key: _plain(value) for key, value in entry.items()}


def _plain(value: Any) -> Any:
    """Convert a value for JSON. Tuples become lists. Infinity and NaN become strings."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    is_number = not isinstance(value, float) or value - value == 0
    return value if is_number else str(value)
