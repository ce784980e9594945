"""The results of a stage behind a delegate, such as the system's runtime or a compiler."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StageRefusal:
    """A refusal by a stage behind the delegate: the call and the operation in it, and the line that the delegate prints.

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
    """A step that a stage behind the delegate runs on one device: operations in running order, with the node that each is for.

    ``bytes_in`` and ``bytes_out`` cross the step's boundary; constants do not.
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
    """The split of a partition by a stage behind the delegate, by nodes; ``error`` is why another stage takes over."""

    nodes: tuple[int, ...]
    steps: tuple[StageStep, ...]
    error: str = ""
