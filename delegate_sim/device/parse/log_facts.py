"""Facts about a whole log that the meanings of its lines need. Each fact is found once, however many lines need it."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from ...delegates.base import Delegate
from ...delegates.registry import EDGE_TPU
from .delegate_identity import (
    DISPATCH,
    delegate_named,
    names_in,
    other_name,
    plain_name,
    registered_accelerators,
    requested_accelerators,
)
from .kinds import Event
from .log_contents import DeviceLog

_MOST_SUBGRAPHS = 64
"""Largest number of subgraphs in which a failed kernel is looked for."""
_OF_MICRO = "registration from op code"
"""Words of a line that only TensorFlow Lite Micro prints."""


@dataclass(frozen=True, slots=True)
class KernelsSoFar:
    """The kernels that delegates may have created in a subgraph up to a line of the log.

    Their numbers follow the numbers of the subgraph's own nodes, in the order of creation.
    """

    place: int
    """The number of the line."""
    nodes: int | None
    """Number of the subgraph's own nodes, or None if the lines do not give it."""
    most: float
    """Largest possible number of kernels, which is infinite if a line does not give the number of partitions."""
    kernel: str
    has_several: bool
    """True if several delegates created kernels."""

    def after(self, place: int, nodes: int | None, partitions: int | None, kernel: str) -> KernelsSoFar:
        """Return the kernels after one more line about replaced nodes."""
        return KernelsSoFar(
            place,
            self.nodes if nodes is None else max(self.nodes or 0, nodes),
            self.most + (math.inf if partitions is None else partitions),
            kernel,
            self.has_several or self.kernel not in ("", kernel),
        )


_NO_KERNELS = KernelsSoFar(0, None, 0, "", has_several=False)


class LogFacts:
    """A log, and facts about all of its lines."""

    def __init__(self, log: DeviceLog) -> None:
        self.log = log

    @cached_property
    def is_of_micro(self) -> bool:
        """True if TensorFlow Lite Micro printed the log."""
        return any(_OF_MICRO in error.line for error in self.log.errors)

    @cached_property
    def is_of_edge_tpu(self) -> bool:
        """True if the log names the Edge TPU's delegate."""
        return any(other_name(name) == other_name(EDGE_TPU) for name in names_in(self.log))

    @cached_property
    def registered(self) -> frozenset[str]:
        """The accelerators that LiteRT 2 registered."""
        return frozenset(registered_accelerators(self.log))

    @cached_property
    def requested(self) -> frozenset[str]:
        """The accelerators and delegates that a command requests, in lower case."""
        return frozenset(requested_accelerators(self.log))

    @cached_property
    def is_dispatch_needed(self) -> bool:
        """True if an error is about parts of the model that were compiled for an NPU."""
        return any(
            DISPATCH in plain_name(statement.values.get("op", "") + statement.line)
            for statement in self.log.statements_of(Event.FAILURE, Event.NODE_ERROR, Event.CUSTOM_ERROR)
        )

    @cached_property
    def has_default_left_out(self) -> bool:
        """True if the runtime could not apply a delegate that it applies by default."""
        return bool(self.log.statements_of(Event.DEFAULT_LEFT_OUT))

    @cached_property
    def _kernels(self) -> Mapping[int | None, list[KernelsSoFar]]:
        """The kernels after each line about replaced nodes, by subgraph."""
        kernels: dict[int | None, list[KernelsSoFar]] = {}
        for line in self.log.replacements:
            known = kernels.setdefault(line.subgraph, [_NO_KERNELS])
            known.append(known[-1].after(line.place, line.total, line.partitions, line.kernel))
        return kernels

    @cached_property
    def _first_total(self) -> float:
        return min([line.place for line in self.log.replacements if line.total is not None], default=math.inf)

    @cached_property
    def _own_totals(self) -> Mapping[str, int]:
        """Number of nodes in the last line with a delegate's own counts, by delegate."""
        totals = {}
        own = [(count, int(count.values["total"])) for count in self.log.statements_of(Event.OWN_COUNT)]
        own += [
            (split, int(split.values.get("taken", "0")) + int(split.values["left"]))
            for split in self.log.statements_of(Event.SPLIT)
        ]
        for statement, total in own:
            if (delegate := delegate_named(statement.values["name"])) is not None:
                totals[delegate.name] = total
        return totals

    @cached_property
    def _replaced_by(self) -> frozenset[str]:
        """The kernels in the lines about replaced nodes."""
        return frozenset([line.kernel for line in self.log.replacements])

    def kernels_before(self, place: float, op: str, delegate: Delegate) -> tuple[KernelsSoFar, ...] | None:
        """Return the kernels in each subgraph before a line with an error of the kernel ``op`` of a delegate.

        Return None if nothing before the line shows the number of nodes of any subgraph. The result is empty if the log has very
        many subgraphs.
        """
        if self._first_total <= place:
            if len(self._kernels) > _MOST_SUBGRAPHS:
                return ()
            lines = [known[bisect_right(known, place, key=attrgetter("place")) - 1] for known in self._kernels.values()]
            return tuple([kernels for kernels in lines if kernels.nodes is not None])
        total = self._own_totals.get(delegate.name) if self._replaced_by <= {op} else None
        return None if total is None else (KernelsSoFar(0, total, math.inf, op, has_several=False),)
