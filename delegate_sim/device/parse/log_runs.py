"""Split the log of an application that loads several models into runs, and select one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .log_contents import DeviceLog, LogError, Replacement


def separate_runs(logs: Sequence[DeviceLog], subgraphs: int = 1) -> tuple[DeviceLog, ...]:
    """Split each log that has more replacement lines than one run can print for a model with ``subgraphs`` subgraphs.

    A delegate reports at most one replacement per subgraph and run, so additional replacement lines that name no subgraph belong
    to other runs. Lines of other kinds stay with the last run.
    """
    return tuple(part for log in logs for part in _parts(log, max(subgraphs, 1)))


def chosen_run(logs: Sequence[DeviceLog], number: int | None) -> DeviceLog:
    """Return a run by its number, counted from 1; the last run if ``number`` is None. Raises LogError if there is no such run."""
    if number is None:
        return logs[-1]
    if not 1 <= number <= len(logs):
        raise LogError(f"the log has {len(logs)} {'run' if len(logs) == 1 else 'runs'}, so there is no run {number}")
    return logs[number - 1]


def run_note(count: int, number: int | None) -> str:
    """Return a note that names the selected run; empty if the log has only one run."""
    if count < 2:
        return ""
    chosen = f"run {number}" if number is not None else "the last"
    return f"the log has {count} runs, or lines of as many models; {chosen} is used (--run N selects another)"


def _parts(log: DeviceLog, subgraphs: int) -> list[DeviceLog]:
    """Return one log per run, each with the replacements of that run."""
    groups: list[list[Replacement]] = [[]]
    for replacement in log.replacements:
        same = [other for other in groups[-1] if other.kernel == replacement.kernel and other.subgraph is None]
        if replacement.subgraph is None and len(same) >= subgraphs:
            groups.append([])
        groups[-1].append(replacement)
    first = [DeviceLog(replacements=tuple(group), created=log.created, is_benchmark=False) for group in groups[:-1]]
    return [*first, replace(log, replacements=tuple(groups[-1]))]
