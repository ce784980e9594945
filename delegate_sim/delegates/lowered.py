"""The model that a delegate builds of a partition for the stage behind it, as plain data."""

from __future__ import annotations

from typing import Any

from ..named_tuples import NamedTuple


class LoweredOperand(NamedTuple):
    """One operand: its type and shape, its quantisation, where its value comes from, and the tensor that it stands for.

    ``value`` is that of a number that the delegate gives an operation; ``scales`` lie along ``channel_dimension``.
    """

    index: int  # type: ignore[assignment]  # replaces tuple.index
    type: str
    dimensions: tuple[int, ...]
    scale: float
    zero_point: int
    channel_dimension: int | None
    scales: tuple[float, ...]
    lifetime: str
    value: int | float | bool | None
    tensor: int | None


class LoweredOperation(NamedTuple):
    """One operation, with its operands in order and the node that it was made for."""

    index: int  # type: ignore[assignment]  # replaces tuple.index
    name: str
    node: int | None
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class LoweredCall(NamedTuple):
    """One call, in order.

    ``subject`` is the operand or operation that it is about, if it is about one; ``value`` what it sets of the whole model.
    """

    function: str
    subject: int | None
    value: bool | None = None


class LoweredRefusal(NamedTuple):
    """A call that the stage behind the delegate refuses."""

    call: str
    node: int | None
    text: str


class LoweredModel(NamedTuple):
    """The model of one partition."""

    subgraph: int
    nodes: tuple[int, ...]
    operands: tuple[LoweredOperand, ...]
    operations: tuple[LoweredOperation, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    calls: tuple[LoweredCall, ...]
    refusals: tuple[LoweredRefusal, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain data."""
        entry = self._asdict()
        for key in ("operands", "operations", "calls", "refusals"):
            entry[key] = [{name: _plain(value) for name, value in one._asdict().items()} for one in entry[key]]
        return {key: _plain(value) for key, value in entry.items()}


def _plain(value: Any) -> Any:
    """JSON has no number for infinity and NaN; they are written as text."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    is_number = not isinstance(value, float) or value - value == 0
    return value if is_number else str(value)
