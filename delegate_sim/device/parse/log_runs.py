"""Split a log into runs when an application loads several models, and choose the one that is meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .log_contents import DeviceLog, LogError, Replacement


def separate_runs(logs: Sequence[DeviceLog], subgraphs: int = 1) -> tuple[DeviceLog, ...]:
    """Separate what a model with so many subgraphs cannot have printed in one run.

    Lines that name no subgraph may be of several subgraphs or of several models: no delegate reports more replacements in one
    run than there are subgraphs. What else the lines say stays with the last.
    """
    return tuple(part for log in logs for part in _parts(log, max(subgraphs, 1)))


def chosen_run(logs: Sequence[DeviceLog], number: int | None) -> DeviceLog:
    """Return a run by its number, counted from 1; the last if there is none. Raises LogError for one that is not there."""
    if number is None:
        return logs[-1]
    if not 1 <= number <= len(logs):
        raise LogError(f"the log has {len(logs)} {'run' if len(logs) == 1 else 'runs'}, so there is no run {number}")
    return logs[number - 1]


def run_note(count: int, number: int | None) -> str:
    """Return which run of several is taken; empty if there is only one."""
    if count < 2:
        return ""
    taken = f"run {number}" if number is not None else "the last"
    return f"the log has {count} runs, or lines of as many models; {taken} is taken, and --run N takes another"


def _parts(log: DeviceLog, subgraphs: int) -> list[DeviceLog]:
    groups: list[list[Replacement]] = [[]]
    for each in log.replacements:
        same = [other for other in groups[-1] if other.kernel == each.kernel and other.subgraph is None]
        if each.subgraph is None and len(same) >= subgraphs:
            groups.append([])
        groups[-1].append(each)
    first = [DeviceLog(replacements=tuple(group), created=log.created, is_benchmark=False) for group in groups[:-1]]
    return [*first, replace(log, replacements=tuple(groups[-1]))]
