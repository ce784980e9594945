"""What a stage behind a delegate, such as a runtime of the system or a compiler, makes of what it is given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StageRefusal:
    """What a stage behind the delegate refused: the call and the operation in it, and the line that the delegate prints.

    ``further`` names what it would refuse next. ``is_of_node`` is False where a model as a whole is refused, so that the node is
    only the one that the delegate looked at last.
    """

    call: str
    operation: str
    operand: str
    found: str
    needed: str
    error_line: str
    further: tuple[str, ...] = ()
    is_of_node: bool = True


@dataclass(frozen=True, slots=True)
class StageStep:
    """What a stage behind the delegate runs on one device: operations in running order, with the node that each is for.

    ``bytes_in`` and ``bytes_out`` cross the step's border; constants do not.
    """

    device: str
    operations: tuple[tuple[int, str], ...]
    bytes_in: int
    bytes_out: int

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes of the operations, each once."""
        return tuple(dict.fromkeys([node for node, _ in self.operations]))


@dataclass(frozen=True, slots=True)
class StageSplit:
    """How a stage behind the delegate splits a partition, by the partition's nodes; ``error`` is why another takes it over."""

    nodes: tuple[int, ...]
    steps: tuple[StageStep, ...]
    error: str = ""
