"""The runs of one model, grouped by the kinds of devices on which their delegates exist."""

from __future__ import annotations

from collections.abc import Sequence

from ...delegates.devices import GROUPS, ORDER, group_of
from ...runtime.interpreter import Run

_SEVERAL_KINDS = "Most devices"


def in_groups(runs: Sequence[Run]) -> list[tuple[str, list[int]]]:
    """Return titles of kinds of devices, each with the positions of its runs. Runs of one kind of devices have no title."""
    groups = {run.delegate.name: group_of(run.delegate.name) for run in runs}
    if len(set(groups.values()) - {""}) < 2:
        return [("", [*range(len(runs))])]
    sections = []
    order = {delegate: place for place, delegate in enumerate(ORDER)}
    for key, title in (("", _SEVERAL_KINDS), *[(key, group.title) for key, group in GROUPS.items()]):
        own = [position for position, run in enumerate(runs) if groups[run.delegate.name] == key]
        own.sort(key=lambda position: order.get(runs[position].delegate.name, len(order)))
        sections += [(title, own)] if own else []
    return sections
