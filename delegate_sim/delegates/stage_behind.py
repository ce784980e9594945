"""Results of the stage behind a delegate, such as the system's runtime or a compiler."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StageStep:
    """A step that a stage behind the delegate runs on one device.

    ``operations`` are in running order, each with the index of its node. ``bytes_in`` and ``bytes_out`` are the bytes that enter
    and leave the step, without constants.
    """

    device: str
    operations: tuple[tuple[int, str], ...]
    bytes_in: int
    bytes_out: int

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes of the step's operations, without duplicates."""
        return tuple(dict.fromkeys([node for node, _ in self.operations]))


@dataclass(frozen=True, slots=True)
class StageSplit:
    """The steps into which the stage divides a partition.

    If another stage takes over, ``error`` says why. Otherwise, ``error`` is empty.
    """

    nodes: tuple[int, ...]
    steps: tuple[StageStep, ...]
    error: str = ""
